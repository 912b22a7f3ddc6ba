// Looks now and then: what has become of what is shown, and what else there is meanwhile.

import { refresh } from './bar.ts';
import { call, review, said } from './calls.ts';
import type { ReviewEntry, ReviewPage } from './contract.ts';
import { byId } from './dom.ts';
import { isOwn, keeper, known, view } from './known.ts';
import { age } from './list.ts';
import { ENDED, SIGNED_OUT } from './own.ts';
import { settle } from './settle.ts';
import { show, showList } from './showing.ts';
import { tell } from './status.ts';
import { words } from './words.ts';

/** Looks what has become of what is shown, and in a window of its own whether there is something new. */
export async function look(): Promise<void> {
  age();
  if (isOwn || known.page?.subject === 'list') await lookAtList();
  if (known.page?.subject !== 'preview' || known.page.state !== 'waiting') return;
  const own = known.generation;
  const now = await review({ preview: known.page.id, state_only: true });
  if (own !== known.generation || known.page.state !== 'waiting') return;
  if (now.state === 'applied' && now.edit !== undefined) {
    // What is shown stays: it says what the person was about to choose.
    known.page = {
      ...known.page,
      ...now,
      files: known.page.files ?? [],
      hunks: known.page.hunks,
      total: known.page.total,
    };
    settle();
    refresh();
    return;
  }
  if (now.shown !== known.page.shown && now.state === 'waiting') {
    await show({ preview: known.page.id }, { kept: view.kept(words().value) });
    tell('This preview was planned anew elsewhere: this is what it would make now.', true);
    return;
  }
  known.page.stale = now.stale;
  refresh();
}

async function lookAtList(): Promise<void> {
  const own = known.generation;
  const now = await review({});
  if (own !== known.generation) return;
  const which = (list?: ReviewPage) => JSON.stringify(list?.entries?.map(({ id, is_undone }) => [id, is_undone]));
  if (known.page?.subject === 'list') {
    if (which(now) === which(known.page)) return;
    known.page = now;
    showList(now);
  } else {
    const waiting = (now.entries ?? []).filter(({ subject }) => subject !== 'edit');
    known.seen ??= new Set(waiting.map(({ id }) => id));
    const isNew = ({ id }: ReviewEntry) => !known.seen?.has(id) && id !== known.page?.id;
    known.news = waiting.find(isNew);
  }
  refresh();
}

/** Looks now and then, and says so if the server of the page has ended, or knows the person no more. */
export function lookAgain(): void {
  const gone = byId('gone');
  const ended = (error: Error) => {
    if (!isOwn || ![ENDED, SIGNED_OUT].includes(error.message)) return;
    gone.replaceChildren(`${error.message} What you have chosen here is not applied.`);
    gone.hidden = false;
  };
  look().then(() => {
    gone.hidden = true;
  }, ended);
}

/** Takes an entry off the list. */
export async function dismiss(entry: ReviewEntry): Promise<void> {
  const result = await call('decide', { preview: entry.id, is_allowed: false, is_dismissed: true });
  if (result.isError) tell(said(result), true);
  keeper.forget(entry.id);
  await look();
}
