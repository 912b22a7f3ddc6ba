// What a person has written to files: a preview is applied, an edit is taken back or made again. Where that needs approval,
// what waits is shown.

import { waits } from './approval.ts';
import { refresh } from './bar.ts';
import { call, inform, said } from './calls.ts';
import type { ToolResult } from './contract.ts';
import { keeper, known, view } from './known.ts';
import { look } from './looking.ts';
import { show } from './showing.ts';
import { once } from './staging.ts';
import { tell } from './status.ts';
import { commentOn, isWriting, spoken } from './words.ts';

export const apply = once(async () => {
  if (known.page?.subject !== 'preview' || known.page.state !== 'waiting' || isWriting()) return;
  const comment = spoken();
  const [taken, all, id] = [view.staging.taken(), view.staging.all(), known.page.id];
  const rejected = all.filter((number) => !taken.includes(number));
  known.page.state = 'lost';
  refresh();
  const preview = known.page.shown === undefined ? id : `${id}:${known.page.shown}`;
  const args = rejected.length === 0 ? { preview } : { preview, hunks: taken };
  const result = await call('apply_preview', args);
  const edit = result.structuredContent?.edit;
  if (result.isError || typeof edit !== 'string') {
    known.page.state = 'waiting';
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

export const undo = once(async () => {
  if (known.page?.subject !== 'edit' || known.page.state !== 'made') return;
  const id = known.page.id;
  if ((await takeBack(id)) === undefined) return;
  await show({ edit: id });
  tell('Taken back: the files are as they were before.');
  inform(`The person took edit ${id} back on the review page.`);
});

/** Makes an edit again that was taken back: what took it back is taken back. */
export const remake = once(async () => {
  if (known.page?.subject !== 'edit' || known.page.state !== 'undone' || known.page.edit === undefined) return;
  const id = known.page.id;
  const result = await takeBack(known.page.edit);
  if (result === undefined) return;
  const edit = result.structuredContent?.edit;
  if (typeof edit !== 'string') {
    tell(said(result), true);
    return;
  }
  await show({ edit });
  tell(`Made again, as edit ${edit}.`);
  inform(`The person made edit ${id} again on the review page, as edit ${edit}.`);
});

/** Has an edit taken back, and returns the answer. If it was not, nothing: what waits is shown, or a problem is said. */
async function takeBack(edit: string): Promise<ToolResult | undefined> {
  const args = { edit };
  const result = await call('undo_edit', args);
  if (!result.isError) return result;
  if (!(await waits(result, { name: 'undo_edit', args }))) tell(said(result), true);
  return undefined;
}
