import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colours, languageOf } from '../src/colours.ts';
import type { ReviewHunk } from '../src/contract.ts';
import { firstDifference, pairs, proposal, rows, written } from '../src/lines.ts';

const hunk = (lines: string[]): ReviewHunk => ({ file: 0, numbers: [1], old: 9, new: 19, lines });

test('lines have the numbers of both sides', () => {
  const made = rows(hunk([' a', '-b', '+B', '+C', ' d']));
  assert.deepEqual(
    made.map(({ kind, old, new: now }) => [kind, old, now]),
    [
      ['context', 10, 20],
      ['removed', 11, undefined],
      ['added', undefined, 21],
      ['added', undefined, 22],
      ['context', 12, 23],
    ],
  );
});

test('CRLF and a missing final newline are told of their lines', () => {
  const made = rows(hunk(['-a\r', '+b', '\\ No newline at end of file']));
  assert.deepEqual(
    made.map(({ text, hasCr, isUnended }) => [text, hasCr, isUnended]),
    [
      ['a', true, false],
      ['b', false, true],
    ],
  );
});

test('changed words are emphasised in lines that stay alike, and in no others', () => {
  const [removed, added] = rows(hunk(['-let total = 1;', '+let total = 22;']));
  assert.deepEqual([removed?.changed, added?.changed], [[[12, 13]], [[12, 14]]]);
  const others = rows(hunk(['-alpha beta', '+something(else);']));
  assert.deepEqual(
    others.map((row) => row.changed),
    [[], []],
  );
});

test('side by side, what takes the place of what stands beside it', () => {
  const all = rows(hunk([' a', '-b', '-c', '+B', ' d']));
  const shown = pairs(all).map(([left, right]) => [left?.text, right?.text]);
  assert.deepEqual(shown, [
    ['a', 'a'],
    ['b', 'B'],
    ['c', undefined],
    ['d', 'd'],
  ]);
});

test('colours are parts of lines, over several of them too', () => {
  assert.equal(languageOf('src/a.RS'), 'rust');
  assert.equal(languageOf('constructor'), undefined);
  const found = colours(['/* one', 'two */ let'], 'rust');
  assert.deepEqual(found[0], [[0, 6, 'comment']]);
  assert.deepEqual(found[1], [
    [0, 6, 'comment'],
    [7, 10, 'keyword'],
  ]);
  assert.deepEqual(colours(['</script>'], 'xml').length, 1);
});

test('the first difference of two texts', () => {
  assert.equal(firstDifference('abc', 'abd'), 2);
  assert.equal(firstDifference('ab', 'abc'), 2);
});

test('what a person writes keeps the endings of the hunk', () => {
  const hunk = (lines: string[]) => ({ file: 0, numbers: [1], old: 0, new: 0, lines });
  const windows = hunk([' one\r', '-two\r', '+2\r', ' three\r']);
  assert.equal(proposal(windows), 'one\n2\nthree\n');
  assert.equal(written(windows, 'one\nzwei\nmore\nthree'), 'one\r\nzwei\r\nmore\r\nthree\r\n');
  const unended = hunk([' one', '-two', '\\ No newline at end of file', '+2', '\\ No newline at end of file']);
  assert.equal(written(unended, 'one\nzwei'), 'one\nzwei');
  const ended = hunk([' one', '+2', '-two', '\\ No newline at end of file']);
  assert.equal(written(ended, 'one\n2\n'), 'one\n2\n');
  assert.equal(written(hunk(['-one']), ''), '');
  // A blank line at the end of what is shown is a line.
  const blank = hunk([' one', '-two', '+TWO', ' ']);
  assert.equal(proposal(blank), 'one\nTWO\n\n');
  assert.equal(written(blank, 'one\nZwei\n\n'), 'one\nZwei\n\n');
  // Lines that are left keep their endings.
  const mixed = hunk([' one', '-two', '+TWO', ' three\r', ' four']);
  assert.equal(written(mixed, 'one\nZwei\nthree\nfour\n'), 'one\nZwei\nthree\r\nfour\n');
});
