import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Keeper, type KeptHunk, keyOf, loosened, take } from '../src/kept.ts';
import { once, Staging } from '../src/staging.ts';

function staged(together: number[][] = []): Staging {
  const staging = new Staging(together);
  staging.learn([3]);
  staging.learn([1, 2]);
  return staging;
}

test('what is not rejected is taken', () => {
  const staging = staged();
  staging.choose([2], 'rejected');
  staging.choose([3], 'accepted');
  assert.deepEqual(staging.taken(), [1, 3]);
  assert.deepEqual([staging.count('open'), staging.count('rejected')], [1, 1]);
});

test('hunks that go together are chosen together', () => {
  const staging = staged([[1, 3]]);
  staging.choose([3], 'rejected');
  assert.deepEqual(staging.taken(), [2]);
});

test('a choice is taken back as a whole, one after another', () => {
  const staging = staged();
  staging.choose([1], 'accepted');
  staging.choose([1, 2, 3], 'rejected');
  assert.deepEqual(staging.taken(), []);
  assert.ok(staging.back());
  assert.equal(staging.of([1]), 'accepted');
  assert.ok(staging.back());
  assert.equal(staging.of([1]), 'open');
  assert.ok(!staging.back());
});

test('hunks that come later do not forget what was chosen', () => {
  const staging = staged();
  staging.choose([1], 'rejected');
  staging.learn([1, 4]);
  assert.deepEqual(staging.taken(), [2, 3, 4]);
});

test('an action runs once at a time', async () => {
  let runs = 0;
  let end: () => void = () => {};
  const action = once(() => {
    runs += 1;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  const first = action();
  const second = action();
  end();
  await Promise.all([first, second]);
  assert.equal(runs, 1);
  const third = action();
  end();
  await third;
  assert.equal(runs, 2);
});

test('what is chosen stays with what it was chosen of, whatever its number is now', () => {
  const hunk = (number: number, line: string) => ({ file: 0, numbers: [number], old: 0, new: 0, lines: [' a', line] });
  const kept = (number: number, line: string, comments: string[]): KeptHunk => {
    return { number, key: keyOf('f', hunk(number, line)), about: `Hunk ${number}`, choice: 'rejected', comments };
  };
  const pending = [kept(1, '+one', ['Why?']), kept(2, '+two', []), kept(3, '+two', []), kept(4, '+four', ['No.'])];
  assert.equal(take(pending, 7, keyOf('g', hunk(1, '+one'))), undefined, 'of another file');
  assert.equal(take(pending, 3, keyOf('f', hunk(3, '+two')))?.number, 3, 'of equal ones that of the same number');
  assert.equal(take(pending, 9, keyOf('f', hunk(9, '+one')))?.number, 1);
  assert.equal(take(pending, 4, keyOf('f', hunk(4, '+other'))), undefined, 'it changes something else now');
  assert.deepEqual(loosened(pending), ['Hunk 4: No.']);
});

test('what is kept outlives the page where there is a tab to keep it, and is gone when it is forgotten', () => {
  const tab = new Map<string, string>();
  const storage = {
    getItem: (name: string) => tab.get(name) ?? null,
    setItem: (name: string, value: string) => void tab.set(name, value),
    removeItem: (name: string) => void tab.delete(name),
  };
  const kept = { hunks: [], loose: [], words: 'Thanks.' };
  new Keeper(storage).keep('p', kept);
  assert.deepEqual(new Keeper(storage).recall('p'), kept);
  new Keeper(storage).forget('p');
  assert.equal(tab.size, 0);
  const full = { ...storage, setItem: () => assert.fail('full') };
  const keeper = new Keeper(full);
  keeper.keep('p', kept);
  assert.deepEqual(keeper.recall('p'), kept, 'a full tab keeps nothing, and the page does');
});

test('a text that was written is taken back in its turn', () => {
  const staging = staged();
  const file = { path: 'f', change: 'modify' as const, added: 1, removed: 0, hunks: 1 };
  const hunk = { file: 0, numbers: [1], old: 0, new: 0, lines: ['+one'] };
  staging.choose([2], 'rejected');
  staging.wrote(file, hunk);
  const next = staged();
  next.begin([2], 'rejected');
  next.goOnFrom(staging);
  assert.deepEqual(next.back(), { file, hunk });
  assert.equal(next.of([2]), 'rejected');
  next.back();
  assert.equal(next.of([2]), 'open');
});
