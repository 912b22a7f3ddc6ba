// What is shown: a subject, page by page, with what a person has chosen and written of it before.

import { remember, type Subject } from './address.ts';
import { applied, refresh } from './bar.ts';
import { review } from './calls.ts';
import type { ReviewEntry, ReviewPage } from './contract.ts';
import { byId } from './dom.ts';
import type { Kept } from './kept.ts';
import { keeper, known, view } from './known.ts';
import { listed } from './list.ts';
import { settle } from './settle.ts';
import type { Staging } from './staging.ts';
import { run, tell } from './status.ts';
import { words } from './words.ts';

interface Showing {
  /** What is kept, where that is not what is remembered of it. */
  kept?: Kept;
  /** What can be taken back in it, in another text of the same preview. */
  before?: Staging;
  /** Whether the address stays, since it led here. */
  isBack?: boolean;
}

export async function show(subject: Subject, showing: Showing = {}): Promise<void> {
  known.generation += 1;
  const own = known.generation;
  const first = await review(subject);
  if (own !== known.generation) return;
  if (first.state === 'applied' && first.edit !== undefined) {
    await show({ edit: first.edit }, showing);
    tell(applied(first));
    return;
  }
  const isOther = known.page?.subject !== first.subject || known.page.id !== first.id;
  if (isOther || known.page?.state !== first.state) settle();
  known.page = first;
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
    if (own !== known.generation || more.state !== first.state) return;
    view.add(more);
    refresh();
    next = more.next;
  }
}

export function showList(list: ReviewPage): void {
  const entries = list.entries ?? [];
  const focused = (document.activeElement as HTMLElement | null)?.dataset.id;
  view.replace(listed(entries, view.actions));
  const again = [...document.querySelectorAll<HTMLElement>('button.entry')].find(
    ({ dataset }) => dataset.id === focused,
  );
  again?.focus();
  known.seen = new Set(entries.map(({ id }) => id));
  known.news = undefined;
}

export async function list(): Promise<void> {
  await show({});
}

/** Opens an entry of the list. */
export function open(entry: ReviewEntry): void {
  known.held = undefined;
  run(() => show({ [entry.subject]: entry.id } as Subject))();
}
