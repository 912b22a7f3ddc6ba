// What a person has said so far, in the boxes below hunks and in the line beside the buttons: how it is kept, and how it
// reaches the model.

import { call } from './calls.ts';
import { byId } from './dom.ts';
import { isOwn, keeper, known, view } from './known.ts';
import { tell } from './status.ts';

export function words(): HTMLInputElement {
  return byId('words') as HTMLInputElement;
}

/** Keeps what a person has chosen and written, for when they come back to it. */
export function keep(): void {
  const { page } = known;
  if (page === undefined || page.state !== 'waiting') return;
  if (page.subject === 'preview' || page.subject === 'approval') keeper.keep(page.id, view.kept(words().value));
}

/** Returns whether a box has a text that is neither used nor left, which is said. */
export function isWriting(): boolean {
  const what = view.unused();
  if (what !== undefined) tell(what, true);
  return what !== undefined;
}

/** Returns what a person says to the model, where it goes with what they decide. */
export function spoken(): string {
  const own = words().hidden ? '' : words().value.trim();
  return [...(isOwn ? view.comments() : []), own].filter((said) => said !== '').join('\n');
}

/** Tells the client that asked for a preview what the person says of it. */
export async function commentOn(preview: string, comment: string): Promise<void> {
  if (isOwn && comment !== '') await call('decide', { preview, is_allowed: true, comment });
}
