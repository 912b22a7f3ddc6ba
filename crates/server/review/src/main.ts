// The page: this joins what a person does on it, what the client says and what the page asks the server for.

import { addressed } from './address.ts';
import { apply, remake, undo } from './applying.ts';
import { approve, deny } from './approval.ts';
import { help, refresh } from './bar.ts';
import { bridge, review } from './calls.ts';
import type { ToolResult } from './contract.ts';
import { byId } from './dom.ts';
import { adopt, heard } from './hearing.ts';
import { keys } from './keys.ts';
import { type HostContext, isOwn, known, view } from './known.ts';
import { dismiss, lookAgain } from './looking.ts';
import { ofPage, person } from './own.ts';
import { again, revise } from './revising.ts';
import { holdClicks } from './settle.ts';
import { list, open, show } from './showing.ts';
import { run, tell } from './status.ts';
import { keep, words } from './words.ts';

/** The milliseconds between two looks whether the files of a preview are still as they were. */
const LOOK_AGAIN = 2_500;
/** The height up to which the page asks for room in a conversation. */
const TALLEST = 720;

view.actions = {
  choose(numbers, choice) {
    view.staging.choose(numbers, choice);
    refresh();
  },
  async lines(path, start_line, end_line) {
    return (await review({ preview: known.page?.id, path, start_line, end_line })).lines ?? [];
  },
  revise: (file, hunk, text) => revise(file, hunk, text, true),
  changed: () => keep(),
  open,
  ...(isOwn ? { dismiss: (entry) => run(() => dismiss(entry))() } : {}),
};

/** Joins the buttons and the keys with what they do. */
function joinButtons(): void {
  byId('apply').addEventListener('click', run(apply));
  byId('undo').addEventListener('click', run(undo));
  byId('remake').addEventListener('click', run(remake));
  byId('help').addEventListener('click', help);
  byId('news-show').addEventListener('click', () => {
    if (known.news) {
      known.seen?.add(known.news.id);
      open(known.news);
      known.news = undefined;
    }
  });
  byId('applied-show').addEventListener(
    'click',
    run(async () => {
      if (known.page?.edit !== undefined) await show({ edit: known.page.edit });
    }),
  );
  words().addEventListener('input', keep);
  holdClicks();
  new ResizeObserver(([header]) => {
    const height = header?.target.getBoundingClientRect().height ?? 0;
    document.documentElement.style.setProperty('--above', `${Math.ceil(height)}px`);
  }).observe(document.querySelector('header') as HTMLElement);
  byId('again').addEventListener('click', run(again));
  byId('approve').addEventListener('click', run(approve));
  byId('deny').addEventListener('click', run(deny));
  byId('list').addEventListener('click', run(list));
  byId('session').addEventListener(
    'click',
    run(async () => {
      if (known.page?.session !== undefined) await show({ session: known.page.session });
    }),
  );
  byId('accept-all').addEventListener('click', () => view.actions.choose(view.staging.all(), 'accepted'));
  byId('reject-all').addEventListener('click', () => view.actions.choose(view.staging.all(), 'rejected'));
  const split = byId('split');
  split.addEventListener('click', () => {
    const isSplit = split.getAttribute('aria-pressed') !== 'true';
    split.setAttribute('aria-pressed', String(isSplit));
    view.setSplit(isSplit);
  });
  document.addEventListener('keydown', keys);
}

/** Joins what the client says with what the page does then, and begins to look now and then. */
function joinClient(): void {
  bridge.on('ui/notifications/tool-input', (params) => {
    known.input = params.arguments as Record<string, unknown> | undefined;
    refresh();
  });
  bridge.on('ui/notifications/tool-result', (params) => heard(params as ToolResult));
  bridge.on('ui/notifications/tool-cancelled', () => tell('The call was cancelled.'));
  bridge.on('ui/notifications/host-context-changed', (params) => adopt(params as HostContext));
  const looking = setInterval(() => {
    if (document.visibilityState === 'visible') lookAgain();
  }, LOOK_AGAIN);
  bridge.on('ui/resource-teardown', () => {
    clearInterval(looking);
    known.generation += 1;
    return {};
  });
}

/** Shows who has signed in, and lets them sign out. */
function showPerson(): void {
  if (person === undefined) return;
  const form = byId('signed-in') as HTMLFormElement;
  byId('person').replaceChildren(person);
  form.action = ofPage('sign-out');
  // What was chosen is not for who signs in next.
  form.addEventListener('submit', () => sessionStorage.clear());
  form.hidden = false;
}

/** Shows what the address names, or the list. The token in the address is used up. */
async function beginOwn(): Promise<void> {
  showPerson();
  const named = addressed();
  window.history.replaceState(null, '', `${window.location.pathname}${window.location.hash}`);
  window.addEventListener(
    'popstate',
    run(() => show(addressed(), { isBack: true })),
  );
  await show(named, { isBack: true });
}

async function begin(): Promise<void> {
  joinButtons();
  joinClient();
  adopt({});
  const answer = (await bridge.request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'emend-review', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  })) as { hostContext?: HostContext; hostCapabilities?: { message?: unknown } };
  adopt(answer.hostContext ?? {});
  if (answer.hostCapabilities?.message !== undefined) {
    view.allowComments(async (about, text) => {
      const content = [{ type: 'text', text: `${about}: ${text}` }];
      await bridge.request('ui/message', { role: 'user', content });
      return 'The comment was sent.';
    }, false);
  } else if (isOwn) {
    view.allowComments(async () => 'The model gets it with your decision.', true);
  }
  bridge.notify('ui/notifications/initialized', {});
  if (isOwn) await beginOwn();
  new ResizeObserver(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    // A frame that is not laid out yet has no size worth telling.
    if (scrollHeight === 0) return;
    bridge.notify('ui/notifications/size-changed', { width: scrollWidth, height: Math.min(scrollHeight, TALLEST) });
  }).observe(document.body);
}

run(begin)();
