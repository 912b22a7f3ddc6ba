// The page: what it hears from the client, what it asks the server for, and what a person does on it.

import { Bridge, toParent } from './bridge.ts';
import { visible } from './code.ts';
import type { ReviewEntry, ReviewPage, ToolResult } from './contract.ts';
import { byId, el } from './dom.ts';
import { listed } from './list.ts';
import { isOwnWindow, toServer } from './own.ts';
import { once } from './staging.ts';
import { View } from './view.ts';

/** The milliseconds between two looks whether the files of a preview are still as they were. */
const LOOK_AGAIN = 2_500;
/** The height up to which the page asks for room in a conversation. */
const TALLEST = 720;

interface HostContext {
  theme?: 'light' | 'dark';
  toolInfo?: { tool?: { name?: string } };
}

type Subject =
  | { preview: string; again?: true }
  | { edit: string }
  | { approval: string }
  | { session: string }
  | Record<string, never>;

/** Whether the page has a window of its own, where a person and no model is at the other end. */
const isOwn = isOwnWindow();
const bridge = new Bridge(isOwn ? toServer() : toParent());
let page: ReviewPage | undefined;
let input: Record<string, unknown> | undefined;
let host: HostContext = {};
/** The secret that came with an edit that waits, by which this page may approve it. */
let secret: { id: string; secret?: string } | undefined;
/** The call that makes the edit that waits, once it is approved. */
let held: { name: string; args: Record<string, unknown> } | undefined;
/** What a person has said of hunks, for the model, where no client takes it at once. */
let comments: string[] = [];
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
  async revise(file, hunk, text) {
    const preview = page?.id ?? '';
    const count = hunk.lines.filter((line) => line[0] === ' ' || line[0] === '-').length;
    const number = hunk.numbers[0];
    const args = { preview, path: file.path, hunk: number, old: hunk.old, count, text };
    const result = await call('revise', args);
    if (result.isError) {
      tell(said(result), true);
      return;
    }
    if (page?.id !== preview) return;
    const before = view.staging;
    await show({ preview });
    for (const known of before.all()) view.staging.choose([known], before.of([known]));
    refresh();
    tell(`Hunk ${number} has your text now. Nothing was written yet.`);
    inform(`The person has rewritten hunk ${number} of preview ${preview} by hand; applying it writes their text.`);
  },
});

/** Shows a word about what happened; a problem is read out at once. */
function tell(text: string, isProblem = false): void {
  const status = byId('status');
  status.className = isProblem ? 'problem' : '';
  status.replaceChildren(visible(text));
}

async function show(subject: Subject): Promise<void> {
  generation += 1;
  const own = generation;
  const first = await review(subject);
  if (own !== generation) return;
  if (first.state === 'applied' && first.edit !== undefined) return show({ edit: first.edit });
  page = first;
  if (first.subject === 'list') view.replace(listed(first.entries ?? [], open));
  else view.begin(first);
  refresh();
  let next = first.next;
  while (next !== undefined) {
    const more: ReviewPage = await review({ ...subject, again: false, from: next });
    if (own !== generation || more.state !== first.state) return;
    view.add(more);
    refresh();
    next = more.next;
  }
}

async function list(): Promise<void> {
  tell('');
  comments = [];
  await show({});
}

/** Opens an entry of the list. */
function open(entry: ReviewEntry): void {
  tell('');
  comments = [];
  held = undefined;
  run(() => show({ [entry.subject]: entry.id } as Subject))();
}

/** Returns whether a yes or no of this page counts. */
function mayDecide(): boolean {
  if (page?.subject !== 'approval' || page.state !== 'waiting') return false;
  return isOwn || (secret?.id === page.id && secret.secret !== undefined);
}

const TITLES = {
  preview: 'Review before it is made',
  edit: 'Edit',
  approval: 'Waits for your approval',
  session: 'What the session has changed',
  list: 'Edits',
};

/** Brings buttons, counts and banners in line with what is known. */
function refresh(): void {
  view.mark();
  const [staging, isPreview] = [view.staging, page?.subject === 'preview'];
  const isStale = isPreview && ((page?.stale.length ?? 0) > 0 || (isOwn && page?.state === 'lost'));
  const taken = staging.taken().length;
  const all = isPreview ? Math.max(staging.all().length, 0) : 0;
  const title = page?.state === 'undone' ? 'Edit, taken back' : TITLES[page?.subject ?? 'edit'];
  byId('title').replaceChildren(page ? title : 'Review');
  const why = page?.subject === 'approval' ? `It needs your approval, since ${page.rules?.join(', and ')}.` : '';
  byId('why').hidden = why === '';
  byId('why').replaceChildren(visible(why));
  const isLost = isPreview && page?.state === 'lost';
  byId('keys').hidden = !isPreview || isLost;
  byId('list').hidden = page === undefined || page.subject === 'list' || (page.subject === 'preview' && !isOwn);
  byId('session').hidden = page?.subject !== 'edit' || page.session === undefined;
  byId('approve').hidden = !mayDecide();
  byId('deny').hidden = !mayDecide() && !(isOwn && isPreview && page?.state === 'waiting');
  byId('words').hidden = byId('deny').hidden;
  byId('what').replaceChildren(visible(page?.made_by ? `${page.id}, ${page.made_by}` : ''));
  byId('count').replaceChildren(
    isPreview
      ? `${staging.count('accepted')} accepted, ${staging.count('rejected')} rejected, ${staging.count('open')} open`
      : '',
  );
  const apply = byId('apply') as HTMLButtonElement;
  apply.hidden = !isPreview || isLost;
  // Nobody says yes to what is not there yet to be seen.
  apply.disabled = isStale || taken === 0 || page?.state !== 'waiting' || !view.isAllKnown;
  apply.replaceChildren(taken === all ? 'Apply all' : `Apply ${taken} of ${all}`);
  for (const id of ['accept-all', 'reject-all']) byId(id).hidden = !isPreview || isLost;
  const undo = byId('undo') as HTMLButtonElement;
  undo.hidden = page?.subject !== 'edit';
  undo.disabled = page?.state !== 'made';
  byId('stale').hidden = !isStale;
  byId('stale-files').replaceChildren(
    visible(page?.stale.length ? page.stale.join(', ') : 'it cannot be shown as it was'),
  );
  (byId('again') as HTMLButtonElement).disabled = input === undefined && !isOwn;
}

const apply = once(async () => {
  if (page?.subject !== 'preview' || page.state !== 'waiting') return;
  const [taken, all, id] = [view.staging.taken(), view.staging.all(), page.id];
  const rejected = all.filter((number) => !taken.includes(number));
  page.state = 'lost';
  refresh();
  const preview = page.shown === undefined ? id : `${id}:${page.shown}`;
  const args = rejected.length === 0 ? { preview } : { preview, hunks: taken };
  const result = await call('apply_preview', args);
  const edit = result.structuredContent?.edit;
  if (result.isError || typeof edit !== 'string') {
    page.state = 'waiting';
    if (await waits(result, { name: 'apply_preview', args })) return;
    tell(said(result), true);
    await look();
    refresh();
    return;
  }
  await commentOn(id);
  await show({ edit });
  tell(`Applied as edit ${edit}${rejected.length > 0 ? `, without ${rejected.length} that you rejected` : ''}.`);
  const left = rejected.length > 0 ? ` They rejected hunks ${rejected.join(', ')}, which were not applied.` : '';
  inform(`The person reviewed preview ${id} and applied it as edit ${edit}.${left}`);
});

/** Tells the client that asked for a preview what the person says of it. */
async function commentOn(preview: string): Promise<void> {
  const comment = comments.join('\n');
  comments = [];
  if (isOwn && comment !== '') await call('decide', { preview, is_allowed: true, comment });
}

/** Shows an edit that waits for approval, if this answer says that one does. */
async function waits(result: ToolResult, by: typeof held): Promise<boolean> {
  const found = result._meta?.['emend/approval'] as typeof secret;
  // Some clients hand on the text alone.
  const id = found?.id ?? said(result).match(/`emend approve(?: [^`]*)? ([0-9a-f]{12})`/)?.[1];
  if (!result.isError || id === undefined) return false;
  secret = found;
  held = by;
  await show({ approval: id });
  tell(mayDecide() ? 'Nothing was changed yet.' : said(result));
  return true;
}

async function decide(is_allowed: boolean): Promise<void> {
  if (page === undefined) return;
  const about = page.subject === 'preview' ? { preview: page.id } : { approval: page.id };
  const words = byId('words') as HTMLInputElement;
  const comment = [...comments, words.value.trim()].filter((said) => said !== '').join('\n');
  words.value = '';
  const own = secret?.secret === undefined || page.subject === 'preview' ? {} : { secret: secret.secret };
  const result = await call('decide', { ...about, ...own, is_allowed, ...(comment === '' ? {} : { comment }) });
  secret = undefined;
  if (result.isError) {
    tell(said(result), true);
    await show(about);
    return;
  }
  const by = held;
  if (by === undefined) comments = [];
  const made = is_allowed && by ? await call(by.name, by.args) : undefined;
  const edit = made?.structuredContent?.edit;
  held = undefined;
  if (typeof edit === 'string') {
    if (typeof by?.args.preview === 'string') await commentOn(by.args.preview.replace(/:.*/, ''));
    await show({ edit });
    tell(`Approved, and made as edit ${edit}.`);
    inform(`The person approved this edit on the review page, and it is made as edit ${edit}. Do not send it again.`);
    return;
  }
  if (isOwn) await show({});
  else await show(about);
  if (made) tell(said(made), made.isError);
  else
    tell(
      is_allowed
        ? 'Approved: the client makes it when it sends the same call again.'
        : 'Declined. Nothing was changed.',
    );
  if (!is_allowed)
    inform('The person declined this edit on the review page. Do not send it again; ask what they want.');
  else if (!made) inform('The person approved this edit on the review page. Send the same call again.');
}

const approve = once(() => decide(true));
const deny = once(() => decide(false));

const undo = once(async () => {
  if (page?.subject !== 'edit' || page.state !== 'made') return;
  const id = page.id;
  const args = { edit: id };
  const result = await call('undo_edit', args);
  if (result.isError) {
    if (!(await waits(result, { name: 'undo_edit', args }))) tell(said(result), true);
    return;
  }
  await show({ edit: id });
  tell('Taken back: the files are as they were before.');
  inform(`The person took edit ${id} back on the review page.`);
});

const again = once(async () => {
  if (isOwn && page?.subject === 'preview') {
    await show({ preview: page.id, again: true });
    tell('This is a new preview, of the files as they are now.');
    return;
  }
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

/** Looks whether the files are still as the preview found them, or the list is. */
async function look(): Promise<void> {
  if (page?.subject === 'list') return lookAtList();
  if (page?.subject !== 'preview' || page.state !== 'waiting') return;
  const own = generation;
  const now = await review({ preview: page.id, state_only: true });
  if (own !== generation || page.state !== 'waiting') return;
  if (now.state === 'applied' && now.edit !== undefined) return show({ edit: now.edit });
  if (now.shown !== page.shown && now.state === 'waiting') {
    await show({ preview: page.id });
    tell('This preview was planned anew elsewhere: this is what it would make now.', true);
    return;
  }
  page.stale = now.stale;
  refresh();
}

async function lookAtList(): Promise<void> {
  const own = generation;
  const now = await review({});
  const known = (list?: ReviewPage) => JSON.stringify(list?.entries?.map(({ id, is_undone }) => [id, is_undone]));
  if (own !== generation || known(now) === known(page)) return;
  page = now;
  view.replace(listed(now.entries ?? [], open));
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
    typeof content.edit === 'string'
      ? content.edit
      : text.match(/^(?:Success\. |This is )?[Ee]dit ([0-9a-z]+)[.:;]/m)?.[1];
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
  else run(() => refused(result, content))();
}

/** Shows what waits for approval, or what an answer says. */
async function refused(result: ToolResult, content: Record<string, unknown>): Promise<void> {
  const name = host.toolInfo?.tool?.name;
  if (!(await waits(result, name !== undefined && input !== undefined ? { name, args: input } : undefined))) {
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

/** Shows what the address names, or the list. The token in the address is used up. */
async function beginOwn(): Promise<void> {
  const [subject, id] = window.location.hash.slice(1).split('=');
  window.history.replaceState(null, '', '/');
  const known = subject === 'preview' || subject === 'edit' || subject === 'approval';
  await show(known && id ? ({ [subject]: id } as Subject) : {});
}

async function begin(): Promise<void> {
  byId('apply').addEventListener('click', run(apply));
  byId('undo').addEventListener('click', run(undo));
  byId('again').addEventListener('click', run(again));
  byId('approve').addEventListener('click', run(approve));
  byId('deny').addEventListener('click', run(deny));
  byId('list').addEventListener('click', run(list));
  byId('session').addEventListener(
    'click',
    run(async () => {
      if (page?.session !== undefined) await show({ session: page.session });
    }),
  );
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
      return 'The comment was sent.';
    }, false);
  } else if (isOwn) {
    view.allowComments(async (about, text) => {
      comments.push(`${about}: ${text}`);
      return 'The model gets it with your decision.';
    }, true);
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
