// The address of the page in a window of its own, which names what is shown.

import { isOwn } from './known.ts';

/** What can be shown: nothing named is the list. */
export type Subject =
  | { preview: string; again?: true }
  | { edit: string }
  | { approval: string }
  | { session: string }
  | Record<string, never>;

/** Has the address name what is shown, so that Back and a reload lead to it. */
export function remember(subject: Subject, isBack: boolean): void {
  if (!isOwn) return;
  const named = Object.entries(subject).find(([name]) => name !== 'again');
  const address = named ? `#${named[0]}=${named[1]}` : '';
  if (address === window.location.hash) return;
  const whole = `${window.location.pathname}${address}`;
  if (isBack) window.history.replaceState(null, '', whole);
  else window.history.pushState(null, '', whole);
}

/** Returns what the address names. */
export function addressed(): Subject {
  const [subject, id] = window.location.hash.slice(1).split('=');
  const isKnown = subject === 'preview' || subject === 'edit' || subject === 'approval' || subject === 'session';
  return isKnown && id ? ({ [subject]: id } as Subject) : {};
}
