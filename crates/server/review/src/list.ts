// The list of what there is to review: what waits, what was previewed, and what was edited.

import { visible } from './code.ts';
import type { ReviewEntry } from './contract.ts';
import { el } from './dom.ts';

const HEADS = {
  approval: 'Waits for your approval',
  preview: 'Previewed',
  edit: 'Edited',
} as const;

export interface EntryActions {
  open(entry: ReviewEntry): void;
  /** Takes an entry off the list; absent where nobody can. */
  dismiss?: (entry: ReviewEntry) => void;
}

/** Returns the list, in which a click opens an entry. */
export function listed(entries: ReviewEntry[], actions: EntryActions): HTMLElement[] {
  const groups = (Object.keys(HEADS) as (keyof typeof HEADS)[]).flatMap((subject) => {
    const own = entries.filter((entry) => entry.subject === subject);
    if (own.length === 0) return [];
    const items = own.map((entry) => el('li', {}, button(entry, actions.open), dismissal(entry, actions.dismiss)));
    return [el('section', { class: 'entries' }, el('h2', {}, HEADS[subject]), el('ul', {}, ...items))];
  });
  return groups.length > 0 ? groups : [el('p', { class: 'hint' }, 'Nothing waits, and nothing was edited yet.')];
}

function button(entry: ReviewEntry, open: (entry: ReviewEntry) => void): HTMLElement {
  const undone = entry.is_undone ? el('span', { class: 'kind' }, 'taken back') : undefined;
  const files = entry.files.map((file) => el('span', { class: 'path' }, visible(file)));
  const age = el('span', { class: 'hint', 'data-time': String(entry.time) }, ago(entry.time, Date.now()));
  const title = el('span', {}, visible(entry.title), ', ', age, ' ', undone);
  const attributes = { type: 'button', class: 'entry', 'data-id': entry.id, click: () => open(entry) };
  return el('button', attributes, title, ...files);
}

function dismissal(entry: ReviewEntry, dismiss: EntryActions['dismiss']): HTMLElement | undefined {
  if (entry.subject !== 'preview' || !dismiss) return undefined;
  const title = 'Takes it off this list. The assistant is told nothing.';
  const label = `Dismiss ${entry.title}`;
  return el('button', { type: 'button', title, 'aria-label': label, click: () => dismiss(entry) }, 'Dismiss');
}

/** Says how long ago a time was. */
export function ago(time: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - time) / 1000));
  const [count, unit] =
    seconds < 60
      ? [seconds, 'second']
      : seconds < 3_600
        ? [Math.floor(seconds / 60), 'minute']
        : seconds < 86_400
          ? [Math.floor(seconds / 3_600), 'hour']
          : [Math.floor(seconds / 86_400), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

/** Lets the ages that are shown run. */
export function age(): void {
  for (const shown of document.querySelectorAll<HTMLElement>('[data-time]'))
    shown.textContent = ago(Number(shown.dataset.time), Date.now());
}

/** Goes to the entry that is so many further. */
export function step(steps: number): void {
  const all = [...document.querySelectorAll<HTMLElement>('button.entry')];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? 0 : Math.min(Math.max(at + steps, 0), all.length - 1);
  all[to]?.focus();
}
