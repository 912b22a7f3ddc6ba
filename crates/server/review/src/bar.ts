// What stands around the hunks: the title, banners, counts and buttons.

import { visible } from './code.ts';
import type { ReviewPage } from './contract.ts';
import { byId } from './dom.ts';
import { isOwn, known, mayDecide, view } from './known.ts';
import { mayWriteFiles } from './own.ts';
import { keep } from './words.ts';

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

/** Says that a preview was applied already. */
export function applied(now: ReviewPage): string {
  const by = now.by_client ? 'The assistant has applied this preview' : 'This preview was applied';
  const part = now.applied ? `, hunk${now.applied.length === 1 ? '' : 's'} ${now.applied.join(', ')} of it,` : '';
  return `${by}${part} as edit ${now.edit}.`;
}

/** Brings buttons, counts and banners in line with what is known. */
export function refresh(): void {
  const { page, news, input } = known;
  view.mark();
  keep();
  const [staging, isPreview] = [view.staging, page?.subject === 'preview'];
  const isStale =
    isPreview && page?.state !== 'applied' && ((page?.stale.length ?? 0) > 0 || (isOwn && page?.state === 'lost'));
  const taken = staging.taken().length;
  const all = isPreview ? staging.all().length : 0;
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
  apply.hidden = !isPreview || isLost || page?.state === 'applied' || !mayWriteFiles;
  // Nobody says yes to what is not there yet to be seen.
  apply.disabled = isStale || taken === 0 || page?.state !== 'waiting' || !view.isAllKnown;
  apply.replaceChildren(taken === all ? 'Apply all' : `Apply ${taken} of ${all}`);
  for (const id of ['accept-all', 'reject-all']) byId(id).hidden = !isPreview || isLost;
  const undo = byId('undo') as HTMLButtonElement;
  undo.hidden = page?.subject !== 'edit' || page.state === 'undone' || !mayWriteFiles;
  undo.disabled = page?.state !== 'made';
  byId('remake').hidden =
    page?.subject !== 'edit' || page.state !== 'undone' || page.edit === undefined || !mayWriteFiles;
  byId('stale').hidden = !isStale;
  byId('stale-files').replaceChildren(
    visible(page?.stale.length ? page.stale.join(', ') : 'it cannot be shown as it was'),
  );
  (byId('again') as HTMLButtonElement).disabled = input === undefined && !isOwn;
}

/** Shows or hides all keys. */
export function help(): void {
  const button = byId('help');
  button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') !== 'true'));
  refresh();
}
