// The page: what it hears from the client, what it asks the server for, and what a person does on it.

import { Bridge, toParent } from './bridge.ts';
import { visible } from './code.ts';
import type { ReviewEntry, ReviewFile, ReviewHunk, ReviewPage, ToolResult } from './contract.ts';
import { byId, el } from './dom.ts';
import { carried, Keeper, type Kept } from './kept.ts';
import { proposal, written } from './lines.ts';
import { age, type EntryActions, listed, step } from './list.ts';
import { ENDED, isOwnWindow, toServer } from './own.ts';
import { holdClicks, settle } from './settle.ts';
import { once, type Staging } from './staging.ts';
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
let held: { name: string; args: Record<string, unknown>; comment?: string } | undefined;
/** What a person has chosen and written of what they look at, and of what they looked at before. */
const keeper = new Keeper(isOwn ? sessionStorage : undefined);
/** What waits and was previewed, as far as the person was shown it; nothing before the first look. */
let seen: Set<string> | undefined;
/** The newest of what has come since. */
let news: ReviewEntry | undefined;
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
  const text = result.content?.map((block) => block.text ?? '').join('\n') || 'The server gave no answer.';
  // The code at the end of a refusal is for programs.
  return text.replace(/\n\[[a-z-]+\]\s*$/, '');
}

const view = new View({
  choose(numbers, choice) {
    view.staging.choose(numbers, choice);
    refresh();
  },
  async lines(path, start_line, end_line) {
    return (await review({ preview: page?.id, path, start_line, end_line })).lines ?? [];
  },
  revise: (file, hunk, text) => revise(file, hunk, text, true),
  changed: () => keep(),
});

/** Has a hunk write this text, or what the model wrote. It can be taken back, unless it is a step back itself. */
async function revise(file: ReviewFile, hunk: ReviewHunk, text: string | undefined, isStep: boolean): Promise<void> {
  const preview = page?.id ?? '';
  const count = hunk.lines.filter((line) => line[0] === ' ' || line[0] === '-').length;
  const number = hunk.numbers[0] ?? 0;
  const args = { preview, path: file.path, hunk: number, old: hunk.old, count };
  const result = await call('revise', text === undefined ? args : { ...args, text });
  if (result.isError) {
    tell(said(result), true);
    return;
  }
  if (page?.id !== preview) return;
  const before = view.staging;
  if (isStep) before.wrote(file, hunk);
  const kept = view.kept(words().value);
  // The hunks have their numbers still, and this one has another text.
  const hunks = kept.hunks.map(({ key, ...other }) => {
    if (other.number === number) delete other.text;
    return other;
  });
  await show({ preview }, { kept: { ...kept, hunks }, before });
  view.goToNumber([number]);
  tell(
    text === undefined
      ? `Hunk ${number} has the model's text again. Nothing was written yet.`
      : `Hunk ${number} has your text now. Nothing was written yet.`,
  );
  inform(
    text === undefined
      ? `The person has put your text back into hunk ${number} of preview ${preview}.`
      : `The person has rewritten hunk ${number} of preview ${preview} by hand; applying it writes their text.`,
  );
}

function words(): HTMLInputElement {
  return byId('words') as HTMLInputElement;
}

/** Keeps what a person has chosen and written, for when they come back to it. */
function keep(): void {
  if (page === undefined || page.state !== 'waiting') return;
  if (page.subject === 'preview' || page.subject === 'approval') keeper.keep(page.id, view.kept(words().value));
}

/** Returns whether a box has a text that is neither used nor left, which is said. */
function isWriting(): boolean {
  const what = view.unused();
  if (what !== undefined) tell(what, true);
  return what !== undefined;
}

/** Shows a word about what happened; a problem is read out at once. */
function tell(text: string, isProblem = false): void {
  const status = byId('status');
  status.className = isProblem ? 'problem' : '';
  status.replaceChildren(visible(text));
}

interface Showing {
  /** What is kept, where that is not what is remembered of it. */
  kept?: Kept;
  /** What can be taken back in it, in another text of the same preview. */
  before?: Staging;
  /** Whether the address stays, since it led here. */
  isBack?: boolean;
}

async function show(subject: Subject, showing: Showing = {}): Promise<void> {
  generation += 1;
  const own = generation;
  const first = await review(subject);
  if (own !== generation) return;
  if (first.state === 'applied' && first.edit !== undefined) {
    await show({ edit: first.edit }, showing);
    tell(applied(first));
    return;
  }
  const isOther = page?.subject !== first.subject || page.id !== first.id;
  if (isOther || page?.state !== first.state) settle();
  page = first;
  remember(subject, showing.isBack === true);
  if (isOther) {
    tell('');
    byId('diagnostics').replaceChildren();
  }
  const kept = showing.kept ?? keeper.recall(first.id);
  if (first.subject === 'list') showList(first);
  else view.begin(first, kept, showing.before);
  if (isOther || showing.kept) words().value = kept?.words ?? '';
  refresh();
  if (isOther) window.scrollTo(0, 0);
  let next = first.next;
  while (next !== undefined) {
    const more: ReviewPage = await review({ ...subject, again: false, from: next });
    if (own !== generation || more.state !== first.state) return;
    view.add(more);
    refresh();
    next = more.next;
  }
}

/** Has the address name what is shown, so that Back and a reload lead to it. */
function remember(subject: Subject, isBack: boolean): void {
  if (!isOwn) return;
  const named = Object.entries(subject).find(([name]) => name !== 'again');
  const address = named ? `#${named[0]}=${named[1]}` : '';
  if (address === window.location.hash) return;
  if (isBack) window.history.replaceState(null, '', `/${address}`);
  else window.history.pushState(null, '', `/${address}`);
}

function showList(list: ReviewPage): void {
  const entries = list.entries ?? [];
  const focused = (document.activeElement as HTMLElement | null)?.dataset.id;
  const actions: EntryActions = { open };
  if (isOwn) actions.dismiss = (entry) => run(() => dismiss(entry))();
  view.replace(listed(entries, actions));
  const again = [...document.querySelectorAll<HTMLElement>('button.entry')].find(
    ({ dataset }) => dataset.id === focused,
  );
  again?.focus();
  seen = new Set(entries.map(({ id }) => id));
  news = undefined;
}

async function dismiss(entry: ReviewEntry): Promise<void> {
  const result = await call('decide', { preview: entry.id, is_allowed: false, is_dismissed: true });
  if (result.isError) tell(said(result), true);
  keeper.forget(entry.id);
  await look();
}

async function list(): Promise<void> {
  await show({});
}

/** Opens an entry of the list. */
function open(entry: ReviewEntry): void {
  held = undefined;
  run(() => show({ [entry.subject]: entry.id } as Subject))();
}

/** Says that a preview was applied already. */
function applied(now: ReviewPage): string {
  const by = now.by_client ? 'The assistant has applied this preview' : 'This preview was applied';
  const part = now.applied ? `, hunk${now.applied.length === 1 ? '' : 's'} ${now.applied.join(', ')} of it,` : '';
  return `${by}${part} as edit ${now.edit}.`;
}

/** Returns whether a yes or no of this page counts. */
function mayDecide(): boolean {
  if (page?.subject !== 'approval' || page.state !== 'waiting') return false;
  return isOwn || (secret?.id === page.id && secret.secret !== undefined);
}

/** The keys in a line, for each kind of page. */
const KEYS = {
  preview: 'j k next, previous; a accept; r reject; u take back; e edit; c comment; A Apply; ? all keys',
  edit: 'j k next, previous; u Take back',
  approval: 'j k next, previous; c comment',
  session: 'j k next, previous',
  list: 'j k choose; Enter opens',
};

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
  keep();
  const [staging, isPreview] = [view.staging, page?.subject === 'preview'];
  const isStale =
    isPreview && page?.state !== 'applied' && ((page?.stale.length ?? 0) > 0 || (isOwn && page?.state === 'lost'));
  const taken = staging.taken().length;
  const all = isPreview ? Math.max(staging.all().length, 0) : 0;
  const title = page?.state === 'undone' ? 'Edit, taken back' : TITLES[page?.subject ?? 'edit'];
  byId('title').replaceChildren(page ? title : 'Review');
  const why = page?.subject === 'approval' ? `It needs your approval, since ${page.rules?.join(', and ')}.` : '';
  byId('why').hidden = why === '';
  byId('why').replaceChildren(visible(why));
  const isLost = isPreview && page?.state === 'lost';
  byId('help').hidden = !isPreview || isLost;
  byId('keys').hidden = byId('help').hidden || byId('help').getAttribute('aria-expanded') !== 'true';
  byId('short').replaceChildren(page ? KEYS[page.subject] : '');
  byId('short').hidden = page === undefined || isLost || !byId('keys').hidden;
  byId('applied').hidden = !isPreview || page?.state !== 'applied';
  byId('applied-text').replaceChildren(page?.state === 'applied' ? applied(page) : '');
  byId('news').hidden = news === undefined || page?.subject === 'list';
  byId('news-text').replaceChildren(
    news
      ? visible(
          `${news.subject === 'approval' ? 'An edit waits for your approval' : 'There is a new preview'}: ${news.title}.`,
        )
      : '',
  );
  byId('list').hidden = page === undefined || page.subject === 'list' || (page.subject === 'preview' && !isOwn);
  byId('session').hidden = page?.subject !== 'edit' || page.session === undefined;
  byId('approve').hidden = !mayDecide();
  byId('deny').hidden = !mayDecide() && !(isOwn && isPreview && page?.state === 'waiting');
  byId('words').hidden = byId('deny').hidden;
  byId('what').replaceChildren(
    visible(
      page?.made_by ? `${page.id}, ${page.made_by}` : page?.subject === 'list' ? (page.folders ?? []).join(', ') : '',
    ),
  );
  byId('count').replaceChildren(
    isPreview
      ? `${staging.count('accepted')} accepted, ${staging.count('rejected')} rejected, ${staging.count('open')} open (will be applied)`
      : '',
  );
  const apply = byId('apply') as HTMLButtonElement;
  apply.hidden = !isPreview || isLost || page?.state === 'applied';
  // Nobody says yes to what is not there yet to be seen.
  apply.disabled = isStale || taken === 0 || page?.state !== 'waiting' || !view.isAllKnown;
  apply.replaceChildren(taken === all ? 'Apply all' : `Apply ${taken} of ${all}`);
  for (const id of ['accept-all', 'reject-all']) byId(id).hidden = !isPreview || isLost;
  const undo = byId('undo') as HTMLButtonElement;
  undo.hidden = page?.subject !== 'edit' || page.state === 'undone';
  undo.disabled = page?.state !== 'made';
  byId('remake').hidden = page?.subject !== 'edit' || page.state !== 'undone' || page.edit === undefined;
  byId('stale').hidden = !isStale;
  byId('stale-files').replaceChildren(
    visible(page?.stale.length ? page.stale.join(', ') : 'it cannot be shown as it was'),
  );
  (byId('again') as HTMLButtonElement).disabled = input === undefined && !isOwn;
}

const apply = once(async () => {
  if (page?.subject !== 'preview' || page.state !== 'waiting' || isWriting()) return;
  const comment = spoken();
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
    if (await waits(result, { name: 'apply_preview', args, comment })) return;
    tell(said(result), true);
    await look();
    refresh();
    return;
  }
  keeper.forget(id);
  await commentOn(id, comment);
  await show({ edit });
  tell(`Applied as edit ${edit}${rejected.length > 0 ? `, without ${rejected.length} that you rejected` : ''}.`);
  const left = rejected.length > 0 ? ` They rejected hunks ${rejected.join(', ')}, which were not applied.` : '';
  inform(`The person reviewed preview ${id} and applied it as edit ${edit}.${left}`);
});

/** Returns what a person says to the model, where it goes with what they decide. */
function spoken(): string {
  const own = words().hidden ? '' : words().value.trim();
  return [...(isOwn ? view.comments() : []), own].filter((said) => said !== '').join('\n');
}

/** Tells the client that asked for a preview what the person says of it. */
async function commentOn(preview: string, comment: string): Promise<void> {
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
  if (page === undefined || isWriting()) return;
  const id = page.id;
  const about = page.subject === 'preview' ? { preview: page.id } : { approval: page.id };
  const by = held;
  // What was said of a preview goes to whoever asked for that, with what is said of the approval.
  const comment = [by?.comment ?? '', spoken()].filter((said) => said !== '').join('\n');
  const own = secret?.secret === undefined || page.subject === 'preview' ? {} : { secret: secret.secret };
  const result = await call('decide', { ...about, ...own, is_allowed, ...(comment === '' ? {} : { comment }) });
  secret = undefined;
  if (result.isError) {
    tell(said(result), true);
    await show(about);
    return;
  }
  keeper.forget(id);
  const made = is_allowed && by ? await call(by.name, by.args) : undefined;
  const edit = made?.structuredContent?.edit;
  held = undefined;
  if (typeof edit === 'string') {
    if (typeof by?.args.preview === 'string') {
      const preview = by.args.preview.replace(/:.*/, '');
      keeper.forget(preview);
      await commentOn(preview, comment);
    }
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
        ? 'Approved. Tell the assistant to try again: it makes the edit when it sends the same call.'
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

/** Makes an edit again that was taken back: what took it back is taken back. */
const remake = once(async () => {
  if (page?.subject !== 'edit' || page.state !== 'undone' || page.edit === undefined) return;
  const id = page.id;
  const args = { edit: page.edit };
  const result = await call('undo_edit', args);
  const edit = result.structuredContent?.edit;
  if (result.isError || typeof edit !== 'string') {
    if (!(await waits(result, { name: 'undo_edit', args }))) tell(said(result), true);
    return;
  }
  await show({ edit });
  tell(`Made again, as edit ${edit}.`);
  inform(`The person made edit ${id} again on the review page, as edit ${edit}.`);
});

const again = once(async () => {
  const kept = page?.state === 'waiting' || page === undefined ? view.kept(words().value) : keeper.recall(page.id);
  const renewed = () => {
    const { kept, gone } = view.carried;
    tell(`This is a new preview, of the files as they are now.${carried(kept, gone)}`);
  };
  const showing = kept === undefined ? {} : { kept };
  if (isOwn && page?.subject === 'preview') {
    await show({ preview: page.id, again: true }, showing);
    renewed();
    return;
  }
  if (!input) return;
  const result = await call('edit_preview', input);
  const preview = result.structuredContent?.preview;
  if (result.isError || typeof preview !== 'string') {
    tell(said(result), true);
    return;
  }
  await show({ preview }, showing);
  renewed();
  inform(`The files had changed, so the person made a new preview: ${preview}.`);
});

/** Tells the model what a person did, for its next turn. A client that takes no such word loses nothing. */
function inform(text: string): void {
  bridge.request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => {});
}

/** Looks what has become of what is shown, and in a window of its own whether there is something new. */
async function look(): Promise<void> {
  age();
  if (isOwn || page?.subject === 'list') await lookAtList();
  if (page?.subject !== 'preview' || page.state !== 'waiting') return;
  const own = generation;
  const now = await review({ preview: page.id, state_only: true });
  if (own !== generation || page.state !== 'waiting') return;
  if (now.state === 'applied' && now.edit !== undefined) {
    // What is shown stays: it says what the person was about to choose.
    page = { ...page, ...now, files: page.files ?? [], hunks: page.hunks, total: page.total };
    settle();
    refresh();
    return;
  }
  if (now.shown !== page.shown && now.state === 'waiting') {
    await show({ preview: page.id }, { kept: view.kept(words().value) });
    tell('This preview was planned anew elsewhere: this is what it would make now.', true);
    return;
  }
  page.stale = now.stale;
  refresh();
}

async function lookAtList(): Promise<void> {
  const own = generation;
  const now = await review({});
  if (own !== generation) return;
  const known = (list?: ReviewPage) => JSON.stringify(list?.entries?.map(({ id, is_undone }) => [id, is_undone]));
  if (page?.subject === 'list') {
    if (known(now) === known(page)) return;
    page = now;
    showList(now);
  } else {
    const waiting = (now.entries ?? []).filter(({ subject }) => subject !== 'edit');
    seen ??= new Set(waiting.map(({ id }) => id));
    const isNew = ({ id }: ReviewEntry) => !seen?.has(id) && id !== page?.id;
    news = waiting.find(isNew);
  }
  refresh();
}

/** Looks now and then, and says so if the server of the page has ended. */
function lookAgain(): void {
  const gone = byId('gone');
  const ended = (error: Error) => {
    if (isOwn && error.message === ENDED) gone.hidden = false;
  };
  look().then(() => {
    gone.hidden = true;
  }, ended);
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

/** Takes the last choice or text back, and goes to its hunk. */
async function back(): Promise<void> {
  const done = view.staging.back();
  if (done === undefined) return;
  if ('before' in done) {
    refresh();
    view.goToNumber([...done.before.keys()]);
    return;
  }
  const { file, hunk } = done;
  await revise(file, hunk, hunk.is_by_hand ? written(hunk, proposal(hunk)) : undefined, false);
}

function help(): void {
  const button = byId('help');
  button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') !== 'true'));
  refresh();
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
      else run(back)();
    },
    e: () => view.openBox('text'),
    c: () => view.openBox('draft'),
    A: () => byId('apply').focus(),
    '?': help,
  };
  if (page?.subject === 'list') Object.assign(actions, { j: () => step(1), k: () => step(-1) });
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
}

/** Shows what the address names, or the list. The token in the address is used up. */
async function beginOwn(): Promise<void> {
  const named = addressed();
  window.history.replaceState(null, '', `/${window.location.hash}`);
  window.addEventListener(
    'popstate',
    run(() => show(addressed(), { isBack: true })),
  );
  await show(named, { isBack: true });
}

/** Returns what the address names. */
function addressed(): Subject {
  const [subject, id] = window.location.hash.slice(1).split('=');
  const isKnown = subject === 'preview' || subject === 'edit' || subject === 'approval' || subject === 'session';
  return isKnown && id ? ({ [subject]: id } as Subject) : {};
}

async function begin(): Promise<void> {
  byId('apply').addEventListener('click', run(apply));
  byId('undo').addEventListener('click', run(undo));
  byId('remake').addEventListener('click', run(remake));
  byId('help').addEventListener('click', help);
  byId('news-show').addEventListener('click', () => {
    if (news) {
      seen?.add(news.id);
      open(news);
      news = undefined;
    }
  });
  byId('applied-show').addEventListener(
    'click',
    run(async () => {
      if (page?.edit !== undefined) await show({ edit: page.edit });
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
    if (document.visibilityState === 'visible') lookAgain();
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
