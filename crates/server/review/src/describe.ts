// What files and hunks are called on the page.

import { visible } from './code.ts';
import type { ReviewFile, ReviewHunk } from './contract.ts';
import { el } from './dom.ts';

/** Returns the number of the first line that changes, of the new side. */
export function firstChange(hunk: ReviewHunk): number {
  const context = hunk.lines.findIndex((line) => line[0] !== ' ');
  return hunk.new + Math.max(context, 0) + 1;
}

export function shiftOf(hunk: ReviewHunk): number {
  return hunk.lines.reduce((sum, line) => sum + (line[0] === '+' ? 1 : line[0] === '-' ? -1 : 0), 0);
}

const WORDS = { create: 'new', modify: 'changed', delete: 'deleted', move: 'moved' };

export function described(file: ReviewFile): Node[] {
  const from = file.moved_from === undefined ? [] : [el('span', { class: 'path' }, visible(file.moved_from)), ' to '];
  const parts = [
    el('span', { class: `kind ${file.change}` }, WORDS[file.change]),
    ' ',
    ...from,
    el('span', { class: 'path' }, visible(file.path)),
    ' ',
    el('span', { class: 'plus' }, `+${file.added}`),
    ' ',
    el('span', { class: 'minus' }, `-${file.removed}`),
    file.modes ? el('span', { class: 'kind' }, 'mode') : '',
    file.encoding ? el('span', { class: 'kind' }, file.encoding) : '',
  ];
  return parts.map((part) => (typeof part === 'string' ? document.createTextNode(part) : part));
}

/** Says what happens to a file of which no line changes. */
export function nothing(file: ReviewFile): string {
  if (file.change === 'create') return 'An empty file is created.';
  if (file.change === 'delete') return 'An empty file is deleted.';
  if (file.change === 'move') return 'The file is moved; its content stays as it is.';
  return 'No line changes.';
}
