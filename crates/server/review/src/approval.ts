// An edit that waits for approval: it is shown, and a person says yes or no to it.

import { call, inform, said } from './calls.ts';
import type { ToolResult } from './contract.ts';
import { type Held, isOwn, keeper, known, mayDecide, type Secret } from './known.ts';
import { show } from './showing.ts';
import { once } from './staging.ts';
import { tell } from './status.ts';
import { commentOn, isWriting, spoken } from './words.ts';

/** Shows an edit that waits for approval, if this answer says that one does. */
export async function waits(result: ToolResult, by: Held | undefined): Promise<boolean> {
  const found = result._meta?.['emend/approval'] as Secret | undefined;
  // Some clients hand on the text alone.
  const id = found?.id ?? said(result).match(/`emend approve(?: [^`]*)? ([0-9a-f]{12})`/)?.[1];
  if (!result.isError || id === undefined) return false;
  known.secret = found;
  known.held = by;
  await show({ approval: id });
  tell(mayDecide() ? 'Nothing was changed yet.' : said(result));
  return true;
}

async function decide(is_allowed: boolean): Promise<void> {
  if (known.page === undefined || isWriting()) return;
  const id = known.page.id;
  const about = known.page.subject === 'preview' ? { preview: known.page.id } : { approval: known.page.id };
  const by = known.held;
  // What was said of a preview goes to whoever asked for that, with what is said of the approval.
  const comment = [by?.comment ?? '', spoken()].filter((said) => said !== '').join('\n');
  const own =
    known.secret?.secret === undefined || known.page.subject === 'preview' ? {} : { secret: known.secret.secret };
  const result = await call('decide', { ...about, ...own, is_allowed, ...(comment === '' ? {} : { comment }) });
  known.secret = undefined;
  if (result.isError) {
    tell(said(result), true);
    await show(about);
    return;
  }
  keeper.forget(id);
  const made = is_allowed && by ? await call(by.name, by.args) : undefined;
  const edit = made?.structuredContent?.edit;
  known.held = undefined;
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

export const approve = once(() => decide(true));
export const deny = once(() => decide(false));
