// The page: what it hears from the client, what it asks the server for, and what a person does on it.

import { Bridge, toParent } from './bridge.ts';
import { visible } from './code.ts';
import type { ReviewPage, ToolResult } from './contract.ts';
import { byId, el } from './dom.ts';
import { once } from './staging.ts';
import { View } from './view.ts';

/** The milliseconds between two looks whether the files of a preview are still as they were. */
const LOOK_AGAIN = 2_500;
/** The height up to which the page asks for room in a conversation. */
const TALLEST = 720;

interface HostContext {
  theme?: 'light' | 'dark';
}

const bridge = new Bridge(toParent());
let page: ReviewPage | undefined;
let input: Record<string, unknown> | undefined;
let host: HostContext = {};
/** Grows with each subject, so that a late page of another one is known. */
let generation = 0;

async function call(name: string, args: Record<string, unknown>): Promise<ToolResult> {
  return (await bridge.request('tools/call', { name, arguments: args })) as ToolResult;
}

async function review(args: Record<string, unknown>): Promise<ReviewPage> {
  const result = await call('review', args);
  if (result.isError || !result.structuredContent) throw new Error(said(result));
  return result.structuredContent as unknown as ReviewPage;
}

function said(result: ToolResult): string {
  return result.content?.map((block) => block.text ?? '').join('\n') || 'The server gave no answer.';
}

const view = new View({
  choose(numbers, choice) {
    view.staging.choose(numbers, choice);
    refresh();
  },
  async lines(path, start_line, end_line) {
    return (await review({ preview: page?.id, path, start_line, end_line })).lines ?? [];
  },
});

/** Shows a word about what happened; a problem is read out at once. */
function tell(text: string, isProblem = false): void {
  const status = byId('status');
  status.className = isProblem ? 'problem' : '';
  status.replaceChildren(visible(text));
}

async function show(subject: { preview: string } | { edit: string }): Promise<void> {
  generation += 1;
  const own = generation;
  const first = await review(subject);
  if (own !== generation) return;
  if (first.state === 'applied' && first.edit !== undefined) return show({ edit: first.edit });
  page = first;
  view.begin(first);
  refresh();
  let next = first.next;
  while (next !== undefined) {
    const more: ReviewPage = await review({ ...subject, from: next });
    if (own !== generation || more.state !== first.state) return;
    view.add(more);
    refresh();
    next = more.next;
  }
}

/** Brings buttons, counts and banners in line with what is known. */
function refresh(): void {
  view.mark();
  const [staging, isPreview] = [view.staging, page?.subject === 'preview'];
  const isStale = isPreview && (page?.stale.length ?? 0) > 0;
  const taken = staging.taken().length;
  const all = isPreview ? Math.max(staging.all().length, 0) : 0;
  const title = isPreview ? 'Review before it is made' : page?.state === 'undone' ? 'Edit, taken back' : 'Edit';
  byId('title').replaceChildren(page ? title : 'Review');
  byId('what').replaceChildren(visible(page?.made_by ? `${page.id}, ${page.made_by}` : ''));
  byId('count').replaceChildren(
    isPreview
      ? `${staging.count('accepted')} accepted, ${staging.count('rejected')} rejected, ${staging.count('open')} open`
      : '',
  );
  const apply = byId('apply') as HTMLButtonElement;
  apply.hidden = !isPreview;
  apply.disabled = isStale || taken === 0 || page?.state !== 'waiting' || (taken < all && !view.isAllKnown);
  apply.replaceChildren(taken === all ? 'Apply all' : `Apply ${taken} of ${all}`);
  for (const id of ['accept-all', 'reject-all']) byId(id).hidden = !isPreview;
  const undo = byId('undo') as HTMLButtonElement;
  undo.hidden = isPreview || page === undefined;
  undo.disabled = page?.state !== 'made';
  byId('stale').hidden = !isStale;
  byId('stale-files').replaceChildren(visible((page?.stale ?? []).join(', ')));
  (byId('again') as HTMLButtonElement).disabled = input === undefined;
}

const apply = once(async () => {
  if (page?.subject !== 'preview' || page.state !== 'waiting') return;
  const [taken, all, id] = [view.staging.taken(), view.staging.all(), page.id];
  const rejected = all.filter((number) => !taken.includes(number));
  page.state = 'lost';
  refresh();
  const result = await call('apply_preview', rejected.length === 0 ? { preview: id } : { preview: id, hunks: taken });
  const edit = result.structuredContent?.edit;
  if (result.isError || typeof edit !== 'string') {
    page.state = 'waiting';
    tell(said(result), true);
    await look();
    refresh();
    return;
  }
  await show({ edit });
  tell(`Applied as edit ${edit}${rejected.length > 0 ? `, without ${rejected.length} that you rejected` : ''}.`);
  const left = rejected.length > 0 ? ` They rejected hunks ${rejected.join(', ')}, which were not applied.` : '';
  inform(`The person reviewed preview ${id} and applied it as edit ${edit}.${left}`);
});

const undo = once(async () => {
  if (page?.subject !== 'edit' || page.state !== 'made') return;
  const id = page.id;
  const result = await call('undo_edit', { edit: id });
  if (result.isError) {
    tell(said(result), true);
    return;
  }
  await show({ edit: id });
  tell('Taken back: the files are as they were before.');
  inform(`The person took edit ${id} back on the review page.`);
});

const again = once(async () => {
  if (!input) return;
  const result = await call('edit_preview', input);
  const preview = result.structuredContent?.preview;
  if (result.isError || typeof preview !== 'string') {
    tell(said(result), true);
    return;
  }
  await show({ preview });
  tell('This is a new preview, of the files as they are now.');
  inform(`The files had changed, so the person made a new preview: ${preview}.`);
});

/** Tells the model what a person did, for its next turn. A client that takes no such word loses nothing. */
function inform(text: string): void {
  bridge.request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => {});
}

/** Looks whether the files are still as the preview found them. */
async function look(): Promise<void> {
  if (page?.subject !== 'preview' || page.state !== 'waiting') return;
  const own = generation;
  const now = await review({ preview: page.id, state_only: true });
  if (own !== generation || page.state !== 'waiting') return;
  if (now.state === 'applied' && now.edit !== undefined) return show({ edit: now.edit });
  page.stale = now.stale;
  refresh();
}

function run(action: () => Promise<unknown>): () => void {
  return () => {
    action().catch((error: Error) => tell(error.message, true));
  };
}

function heard(result: ToolResult): void {
  const content = result.structuredContent ?? {};
  // Some clients hand on the text alone.
  const text = result.isError ? '' : said(result);
  const preview = typeof content.preview === 'string' ? content.preview : text.match(/\bpreview-[0-9a-f]{32}\b/)?.[0];
  const edit =
    typeof content.edit === 'string' ? content.edit : text.match(/^(?:Success\. )?Edit ([0-9a-z]+)[.:]$/m)?.[1];
  const servers = Array.isArray(content.diagnostics) ? content.diagnostics : [];
  byId('diagnostics').replaceChildren(
    ...servers.flatMap((server: { diagnostics?: unknown[] }) =>
      (server.diagnostics ?? []).map((found) =>
        el('li', {}, visible(typeof found === 'string' ? found : JSON.stringify(found))),
      ),
    ),
  );
  if (!result.isError && preview !== undefined) run(() => show({ preview }))();
  else if (!result.isError && edit !== undefined) run(() => show({ edit }))();
  else {
    tell(said(result), result.isError);
    const diff = typeof content.diff === 'string' ? content.diff : '';
    byId('hunks').replaceChildren(...(diff ? [el('pre', { class: 'plain' }, visible(diff))] : []));
  }
}

function adopt(context: HostContext): void {
  host = { ...host, ...context };
  document.documentElement.dataset.theme = host.theme === 'dark' ? 'dark' : 'light';
}

function keys(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches('textarea, input, select')) return;
  const actions: Record<string, () => void> = {
    j: () => view.go(1),
    k: () => view.go(-1),
    a: () => view.chooseCurrent('accepted'),
    r: () => view.chooseCurrent('rejected'),
    u: () => {
      if (page?.subject === 'edit') byId('undo').focus();
      else if (view.staging.back()) refresh();
    },
  };
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
}

async function begin(): Promise<void> {
  byId('apply').addEventListener('click', run(apply));
  byId('undo').addEventListener('click', run(undo));
  byId('again').addEventListener('click', run(again));
  byId('accept-all').addEventListener('click', () => {
    view.staging.choose(view.staging.all(), 'accepted');
    refresh();
  });
  byId('reject-all').addEventListener('click', () => {
    view.staging.choose(view.staging.all(), 'rejected');
    refresh();
  });
  const split = byId('split');
  split.addEventListener('click', () => {
    const isSplit = split.getAttribute('aria-pressed') !== 'true';
    split.setAttribute('aria-pressed', String(isSplit));
    view.setSplit(isSplit);
  });
  document.addEventListener('keydown', keys);
  bridge.on('ui/notifications/tool-input', (params) => {
    input = params.arguments as Record<string, unknown> | undefined;
    refresh();
  });
  bridge.on('ui/notifications/tool-result', (params) => heard(params as ToolResult));
  bridge.on('ui/notifications/tool-cancelled', () => tell('The call was cancelled.'));
  bridge.on('ui/notifications/host-context-changed', (params) => adopt(params as HostContext));
  const looking = setInterval(() => {
    if (document.visibilityState === 'visible') look().catch(() => {});
  }, LOOK_AGAIN);
  bridge.on('ui/resource-teardown', () => {
    clearInterval(looking);
    generation += 1;
    return {};
  });
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
    });
  }
  bridge.notify('ui/notifications/initialized', {});
  new ResizeObserver(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    // A frame that is not laid out yet has no size worth telling.
    if (scrollHeight === 0) return;
    bridge.notify('ui/notifications/size-changed', { width: scrollWidth, height: Math.min(scrollHeight, TALLEST) });
  }).observe(document.body);
}

run(begin)();
