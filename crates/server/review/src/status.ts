// The line of the page that says what happened, and what went wrong.

import { visible } from './code.ts';
import { byId } from './dom.ts';

/** Shows a word about what happened; a problem is read out at once. */
export function tell(text: string, isProblem = false): void {
  const status = byId('status');
  status.className = isProblem ? 'problem' : '';
  status.replaceChildren(visible(text));
}

/** Returns what runs an action, and says it if that fails. */
export function run(action: () => Promise<unknown>): () => void {
  return () => {
    action().catch((error: Error) => tell(error.message, true));
  };
}
