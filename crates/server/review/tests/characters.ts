import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces } from '../src/characters.ts';

test('what nobody sees is shown by its number', () => {
  for (const hidden of [
    '\u202e',
    '\u2066',
    '\u200b',
    '\ufeff',
    '\u00ad',
    '\u0000',
    '\u001b',
    '\u00a0',
    '\u{e0041}',
    '\ufe0f',
    '\u3164',
  ]) {
    const shown = pieces(`a${hidden}b`);
    assert.equal(shown.length, 3, hidden.codePointAt(0)?.toString(16));
    assert.match(shown[1]?.text ?? '', /^U\+[0-9A-F]{4,}$/);
    assert.ok(shown[1]?.hidden);
  }
});

test('text stays text', () => {
  for (const text of ['', 'plain', 'a\tb', 'grün', '日本語', '😀', '</script><b>']) {
    assert.deepEqual(pieces(text), [{ text }]);
  }
});
