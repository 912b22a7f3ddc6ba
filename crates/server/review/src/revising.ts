// Another text or another plan of a preview: what a person writes by hand, takes back, or has planned anew.

import { refresh } from './bar.ts';
import { call, inform, said } from './calls.ts';
import type { ReviewFile, ReviewHunk } from './contract.ts';
import { carried } from './kept.ts';
import { isOwn, keeper, known, view } from './known.ts';
import { oldCount, proposal, written } from './lines.ts';
import { show } from './showing.ts';
import { once } from './staging.ts';
import { tell } from './status.ts';
import { words } from './words.ts';

/** Has a hunk write this text, or what the model wrote. It can be taken back, unless it is a step back itself. */
export async function revise(
  file: ReviewFile,
  hunk: ReviewHunk,
  text: string | undefined,
  isStep: boolean,
): Promise<void> {
  const preview = known.page?.id ?? '';
  const number = hunk.numbers[0] ?? 0;
  const args = { preview, path: file.path, hunk: number, old: hunk.old, count: oldCount(hunk) };
  const result = await call('revise', text === undefined ? args : { ...args, text });
  if (result.isError) {
    tell(said(result), true);
    return;
  }
  if (known.page?.id !== preview) return;
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

/** Takes the last choice or text back, and goes to its hunk. */
export async function back(): Promise<void> {
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

export const again = once(async () => {
  const kept =
    known.page?.state === 'waiting' || known.page === undefined
      ? view.kept(words().value)
      : keeper.recall(known.page.id);
  const renewed = () => {
    const { kept, gone } = view.carried;
    tell(`This is a new preview, of the files as they are now.${carried(kept, gone)}`);
  };
  const showing = kept === undefined ? {} : { kept };
  if (isOwn && known.page?.subject === 'preview') {
    await show({ preview: known.page.id, again: true }, showing);
    renewed();
    return;
  }
  if (!known.input) return;
  const result = await call('edit_preview', known.input);
  const preview = result.structuredContent?.preview;
  if (result.isError || typeof preview !== 'string') {
    tell(said(result), true);
    return;
  }
  await show({ preview }, showing);
  renewed();
  inform(`The files had changed, so the person made a new preview: ${preview}.`);
});
