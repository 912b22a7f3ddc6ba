import assert from 'node:assert/strict';
import { test } from 'node:test';
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
