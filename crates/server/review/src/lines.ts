// The lines of a hunk as rows, and what of them is emphasised. The lines are the server's: what is compared here are the words
// of a line with those of the line that takes its place, never two files.

import { diffWordsWithSpace } from 'diff';
import type { ReviewFile, ReviewHunk } from './contract.ts';

export type Kind = 'context' | 'removed' | 'added';

export interface Row {
  kind: Kind;
  /** The numbers of the line on both sides, counted from 1. */
  old?: number;
  new?: number;
  text: string;
  hasCr: boolean;
  isUnended: boolean;
  /** The parts that changed, as offsets of the text. */
  changed: [number, number][];
}

/** The longest lines of which words are compared. */
const COMPARED = 2_000;
/** The share of a line that has to stay for its changed words to be worth an emphasis. */
const KEPT = 0.3;

const KINDS: Record<string, Kind> = { ' ': 'context', '-': 'removed', '+': 'added' };

export function rows(hunk: ReviewHunk): Row[] {
  const all: Row[] = [];
  let before = hunk.old;
  let after = hunk.new;
  for (const line of hunk.lines) {
    const kind = KINDS[line[0] ?? ''];
    if (kind === undefined) {
      // `\ No newline at end of file` is about the line above.
      const last = all[all.length - 1];
      if (last) last.isUnended = true;
      continue;
    }
    const hasCr = line.endsWith('\r');
    const row: Row = {
      kind,
      text: line.slice(1, hasCr ? -1 : undefined),
      hasCr,
      isUnended: false,
      changed: [],
    };
    if (kind !== 'added') {
      before += 1;
      row.old = before;
    }
    if (kind !== 'removed') {
      after += 1;
      row.new = after;
    }
    all.push(row);
  }
  for (const [removed, added] of pairs(all)) if (removed && added) emphasise(removed, added);
  return all;
}

/** Returns the rows beside each other: what takes the place of what. Lines of context stand on both sides. */
export function pairs(all: Row[]): [Row | undefined, Row | undefined][] {
  const found: [Row | undefined, Row | undefined][] = [];
  let at = 0;
  while (at < all.length) {
    const row = all[at] as Row;
    if (row.kind === 'context') {
      found.push([row, row]);
      at += 1;
      continue;
    }
    const removed: Row[] = [];
    const added: Row[] = [];
    while (all[at]?.kind === 'removed') removed.push(all[at++] as Row);
    while (all[at]?.kind === 'added') added.push(all[at++] as Row);
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) found.push([removed[i], added[i]]);
  }
  return found;
}

function emphasise(removed: Row, added: Row): void {
  if (removed === added || removed.text.length > COMPARED || added.text.length > COMPARED) return;
  const changes = diffWordsWithSpace(removed.text, added.text);
  let kept = 0;
  let old = 0;
  let now = 0;
  const [gone, come]: [[number, number][], [number, number][]] = [[], []];
  for (const { value, added: isAdded, removed: isRemoved } of changes) {
    if (isAdded) come.push([now, now + value.length]);
    else if (isRemoved) gone.push([old, old + value.length]);
    else kept += value.trim().length;
    if (!isAdded) old += value.length;
    if (!isRemoved) now += value.length;
  }
  const most = Math.max(removed.text.trim().length, added.text.trim().length);
  if (kept < most * KEPT) return;
  removed.changed = gone;
  added.changed = come;
}

/** Returns the first offset at which two texts differ. */
export function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Returns whether a person can write the new text of a hunk: it is one hunk, whole, and of a file that stays. */
export function isWritable(file: ReviewFile, hunk: ReviewHunk): boolean {
  // A return inside of a line would be a line ending in a text field.
  const hasReturn = hunk.lines.some((line) => line.slice(0, -1).includes('\r'));
  return hunk.numbers.length === 1 && !hunk.is_cut && hunk.lines.length > 0 && !file.is_fixed && !hasReturn;
}

/** Returns the new text of a hunk for a person to write on. Each line ends, but for one that ends the file without it. */
export function proposal(hunk: ReviewHunk): string {
  const lines = newLines(hunk).map(withoutReturn);
  return lines.join('\n') + (lines.length > 0 && !isUnended(hunk) ? '\n' : '');
}

/** Returns how many lines of the file as it was a hunk shows. */
export function oldCount(hunk: ReviewHunk): number {
  return hunk.lines.filter((line) => line[0] === ' ' || line[0] === '-').length;
}

/** Returns what a person has written. Lines that they left have their endings, and new ones that of the line beside them. */
export function written(hunk: ReviewHunk, text: string): string {
  const own = text === '' ? [] : text.split('\n');
  // Whoever ends the last line means no empty one after it.
  if (own.length > 1 && own[own.length - 1] === '') own.pop();
  const before = newLines(hunk);
  const same = (at: number, there: number) => own[at] === withoutReturn(before[there] ?? '');
  const most = Math.min(own.length, before.length);
  let head = 0;
  while (head < most && same(head, head)) head += 1;
  let tail = 0;
  while (tail < most - head && same(own.length - 1 - tail, before.length - 1 - tail)) tail += 1;
  const beside = before[head] ?? before[head - 1] ?? hunk.lines[0] ?? '';
  const ending = (at: number): string => {
    if (at === own.length - 1 && isUnended(hunk)) return '';
    const shift = before.length - own.length;
    const line = at < head ? before[at] : at >= own.length - tail ? before[at + shift] : beside;
    return line?.endsWith('\r') ? '\r\n' : '\n';
  };
  return own.map((line, at) => line + ending(at)).join('');
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Returns whether the last new line of a hunk ends the file without a line ending. */
function isUnended(hunk: ReviewHunk): boolean {
  const last = hunk.lines.length - 1;
  return hunk.lines[last]?.[0] === '\\' && hunk.lines[last - 1]?.[0] !== '-';
}

function newLines(hunk: ReviewHunk): string[] {
  return hunk.lines.filter((line) => line[0] === ' ' || line[0] === '+').map((line) => line.slice(1));
}
