// The list of what there is to review: what waits, what was previewed, and what was edited.

import { visible } from './code.ts';
import type { ReviewEntry } from './contract.ts';
import { el } from './dom.ts';

const HEADS = {
  approval: 'Waits for your approval',
  preview: 'Previewed',
  edit: 'Edited',
} as const;

/** Returns the list, in which a click opens an entry. */
export function listed(entries: ReviewEntry[], open: (entry: ReviewEntry) => void): HTMLElement[] {
  const groups = (Object.keys(HEADS) as (keyof typeof HEADS)[]).flatMap((subject) => {
    const own = entries.filter((entry) => entry.subject === subject);
    if (own.length === 0) return [];
    const items = own.map((entry) => el('li', {}, button(entry, open)));
    return [el('section', { class: 'entries' }, el('h2', {}, HEADS[subject]), el('ul', {}, ...items))];
  });
  return groups.length > 0 ? groups : [el('p', { class: 'hint' }, 'Nothing waits, and nothing was edited yet.')];
}

function button(entry: ReviewEntry, open: (entry: ReviewEntry) => void): HTMLElement {
  const undone = entry.is_undone ? el('span', { class: 'kind' }, 'taken back') : undefined;
  const files = entry.files.map((file) => el('span', { class: 'path' }, visible(file)));
  const title = el('span', {}, visible(entry.title), ' ', undone);
  return el('button', { type: 'button', class: 'entry', click: () => open(entry) }, title, ...files);
}
