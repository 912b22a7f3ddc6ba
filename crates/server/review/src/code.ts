// The table of a hunk's lines, in one column or side by side.

import { type Piece, pieces } from './characters.ts';
import { type Colour, colours } from './colours.ts';
import { el } from './dom.ts';
import { firstDifference, type Kind, pairs, type Row } from './lines.ts';

/** The characters of a line that are shown before somebody asks for more. */
const SHOWN = 400;
/** The characters before a change that are shown of a long line. */
const BEFORE = 80;
/** The longest line that is coloured. */
const COLOURED = 5_000;

const SIGNS: Record<Kind, string> = { context: ' ', removed: '-', added: '+' };

/** Returns a text with its hidden characters shown by their numbers. */
export function visible(text: string): DocumentFragment {
  const shown = document.createDocumentFragment();
  for (const piece of pieces(text)) shown.append(node(piece));
  return shown;
}

function node(piece: Piece): Node {
  if (piece.hidden === undefined) return document.createTextNode(piece.text);
  return el('span', { class: 'hidden-character', title: piece.hidden }, piece.text);
}

export function table(all: Row[], language: string | undefined, isSplit: boolean, label: string): HTMLTableElement {
  const body = el('tbody');
  const coloured = colourRows(all, language);
  const other = new Map<Row, Row>();
  for (const [removed, added] of pairs(all)) {
    if (removed && added && removed !== added) {
      other.set(removed, added);
      other.set(added, removed);
    }
  }
  const cell = (row: Row) => text(row, coloured.get(row) ?? [], other.get(row));
  if (isSplit) {
    for (const [left, right] of pairs(all)) {
      const isContext = left === right;
      body.append(el('tr', {}, ...half(left, left?.old, cell, isContext), ...half(right, right?.new, cell, isContext)));
    }
  } else {
    for (const row of all) {
      body.append(
        el(
          'tr',
          { class: row.kind },
          number(row.old),
          number(row.new),
          sign(row),
          el('td', { class: 'text' }, cell(row)),
        ),
      );
    }
  }
  return el('table', { class: isSplit ? 'code split' : 'code', 'aria-label': label }, body);
}

function half(
  row: Row | undefined,
  at: number | undefined,
  cell: (row: Row) => Node,
  isContext: boolean,
): HTMLElement[] {
  if (!row) return [number(undefined), el('td', { class: 'sign' }), el('td', { class: 'text none' })];
  const kind = isContext ? 'context' : row.kind;
  const made = [number(at), sign(row), el('td', { class: 'text' }, cell(row))];
  for (const each of made) each.classList.add(kind);
  return made;
}

function number(at: number | undefined): HTMLElement {
  return el('td', { class: 'number' }, at === undefined ? '' : String(at));
}

function sign(row: Row): HTMLElement {
  return el('td', { class: 'sign' }, SIGNS[row.kind]);
}

/** Colours the old and the new side for themselves, since each is a text of its own. */
function colourRows(all: Row[], language: string | undefined): Map<Row, Colour[]> {
  const found = new Map<Row, Colour[]>();
  for (const side of ['removed', 'added'] as const) {
    const own = all.filter((row) => row.kind === 'context' || row.kind === side);
    if (own.some((row) => row.text.length > COLOURED)) continue;
    const shown = colours(
      own.map((row) => row.text),
      language,
    );
    own.forEach((row, at) => {
      found.set(row, shown[at] ?? []);
    });
  }
  return found;
}

function text(row: Row, coloured: Colour[], other: Row | undefined): Node {
  const shown = document.createDocumentFragment();
  const long = row.text.length > SHOWN * 1.5;
  if (!long) {
    // A line through what is rejected spares its indentation.
    const ink = row.text.length - row.text.trimStart().length;
    if (ink > 0) shown.append(styled(row, coloured, 0, ink));
    shown.append(el('span', { class: 'ink' }, styled(row, coloured, ink, row.text.length)));
  } else {
    const change = other ? firstDifference(row.text, other.text) : 0;
    const start = change > SHOWN - BEFORE ? change - BEFORE : 0;
    const part = el('span', { class: 'ink' }, styled(row, [], start, Math.min(row.text.length, start + SHOWN)));
    const left = row.text.length - SHOWN;
    const more = el(
      'button',
      {
        type: 'button',
        class: 'more',
        click: () => {
          part.replaceChildren(styled(row, [], 0, row.text.length));
          more.remove();
        },
      },
      `${start > 0 ? `from character ${start + 1}; ` : ''}show ${left.toLocaleString('en')} more characters`,
    );
    shown.append(part, more);
  }
  if (row.hasCr) shown.append(el('span', { class: 'ending', title: 'this line ends in CRLF' }, 'CRLF'));
  if (row.isUnended) shown.append(el('span', { class: 'ending' }, 'no newline at the end of the file'));
  return shown;
}

/** Returns a part of a line with its colours, its changed words and its hidden characters. */
function styled(row: Row, coloured: Colour[], from: number, to: number): DocumentFragment {
  const shown = document.createDocumentFragment();
  const edges = new Set([from, to]);
  for (const [start, end] of [...row.changed, ...coloured]) {
    if (start > from && start < to) edges.add(start);
    if (end > from && end < to) edges.add(end);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  let colour = 0;
  for (let at = 0; at + 1 < sorted.length; at += 1) {
    const [start, end] = [sorted[at] as number, sorted[at + 1] as number];
    while ((coloured[colour]?.[1] ?? Number.POSITIVE_INFINITY) <= start) colour += 1;
    const scope = coloured[colour];
    const isChanged = row.changed.some(([first, last]) => first <= start && end <= last);
    const classes = [scope && scope[0] <= start ? `h-${scope[2]}` : '', isChanged ? 'changed' : ''].filter(Boolean);
    const part = visible(row.text.slice(start, end));
    shown.append(classes.length > 0 ? el('span', { class: classes.join(' ') }, part) : part);
  }
  return shown;
}
