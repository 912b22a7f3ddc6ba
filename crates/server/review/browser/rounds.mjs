// The rounds of the review page in a browser: each action of a person with the bytes on disk afterwards, what is hostile, what
// is large, and what axe finds. They end with a line that says how many passed.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { deciding } from './deciding.mjs';
import { keeping } from './keeping.mjs';
import { open, serve } from './stand.mjs';

const FILES = process.env.EMEND_FILES;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const path = (name) => join(FILES, name);
const put = (name, content) => writeFileSync(path(name), content);
const text = (name) => readFileSync(path(name), 'utf8');
const patch = (body) => ({ patch: `*** Begin Patch\n${body}\n*** End Patch\n` });

const server = await serve();
const { page, calls, notes, wrong, show, use, allow, stop } = await open(server);
page.setDefaultTimeout(10_000);
const button = (frame, name) => frame.getByRole('button', { name, exact: true });
const called = (name) => calls.filter((call) => call.name === name);

/** Waits until something holds, which the page brings about by itself. */
async function until(what, holds) {
  const end = Date.now() + 15_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `${what} within 15 seconds`);
    await page.waitForTimeout(20);
  }
}

/** Returns what axe finds in the page. */
async function axe(frame) {
  const owner = await (await frame.locator('body').elementHandle()).ownerFrame();
  await owner.evaluate(AXE);
  const found = await owner.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3)}`);
}

const FRUIT = 'apple\nbanana\ncherry\ndate\nelder\nfig\ngrape\n';
const CHANGES =
  '*** Update File: fruit.txt\n@@\n-apple\n+avocado\n@@\n-cherry\n+citron\n@@\n-grape\n+guava\n*** Add File: ';
/** The file that the fourth hunk creates, another one each time. */
let created = '';
let laid = 0;

/** Lays the files anew and shows the preview of four hunks. */
async function fruit(options) {
  put('fruit.txt', FRUIT);
  laid += 1;
  created = `new ${laid}.txt`;
  const shown = await show('edit_preview', { tool: 'apply_patch', ...patch(`${CHANGES}${created}\n+new`) }, options);
  assert.ok(!shown.result.isError, JSON.stringify(shown.result.content));
  await shown.frame.getByRole('heading', { name: 'Hunk 4, line 1' }).waitFor();
  return shown.frame;
}

const rounds = {};

for (const framing of ['direct', 'proxy']) {
  rounds[`some hunks are rejected, the rest is applied once, and taken back (${framing})`] = async () => {
    const frame = await fruit({ framing });
    await button(frame, 'Reject hunk 2').click();
    await button(frame, 'Accept hunk 1').click();
    const apply = frame.locator('#apply');
    assert.equal(await apply.textContent(), 'Apply 3 of 4');
    assert.equal(text('fruit.txt'), FRUIT, 'nothing is written before Apply');
    // A double click, and once more from a script.
    await apply.dblclick({ noWaitAfter: true }).catch(() => {});
    await frame.getByText('Applied as edit').waitFor();
    assert.equal(called('apply_preview').length, 1, 'one call is sent');
    assert.deepEqual(called('apply_preview')[0].args.hunks, [1, 3, 4]);
    assert.equal(text('fruit.txt'), FRUIT.replace('apple', 'avocado').replace('grape', 'guava'));
    assert.equal(text(created), 'new\n');
    await until('the model is told', () => notes.some(({ kind }) => kind === 'context'));
    const told = notes.find(({ kind }) => kind === 'context').what.content[0].text;
    assert.match(told, /rejected hunks 2/);
    await button(frame, 'Take back').click();
    await frame.getByText('Taken back: the files').waitFor();
    assert.equal(text('fruit.txt'), FRUIT);
    assert.throws(() => text(created));
  };
}

rounds['all hunks are applied without naming them'] = async () => {
  const frame = await fruit();
  await button(frame, 'Reject all').click();
  assert.ok(await frame.locator('#apply').isDisabled(), 'there is nothing to apply');
  await button(frame, 'Accept all').click();
  await button(frame, 'Apply all').click();
  await frame.getByText('Applied as edit').waitFor();
  assert.equal(called('apply_preview')[0].args.hunks, undefined);
  assert.equal(text(created), 'new\n');
};

rounds['a whole file is rejected'] = async () => {
  const frame = await fruit();
  await button(frame, 'Reject file fruit.txt').click();
  await button(frame, 'Apply 1 of 4').click();
  await frame.getByText('Applied as edit').waitFor();
  assert.equal(text('fruit.txt'), FRUIT);
  assert.equal(text(created), 'new\n');
};

rounds['a hunk is written by hand, and the choices stay'] = async () => {
  const frame = await fruit();
  await button(frame, 'Reject hunk 1').click();
  await button(frame, 'Edit Hunk 2 by hand').click();
  const area = frame.getByRole('textbox', { name: 'The new text of Hunk 2' });
  assert.equal(await area.inputValue(), 'apple\nbanana\ncitron\ndate\nelder\nfig\n');
  await area.fill('apple\nbanana\nclementine\ncranberry\ndate\nelder\nfig');
  assert.deepEqual(await axe(frame), []);
  await button(frame, 'Use this text').click();
  await frame.getByText('Hunk 2 has your text now.').waitFor();
  assert.equal(text('fruit.txt'), FRUIT, 'nothing is written before Apply');
  await button(frame, 'Apply 3 of 4').click();
  await frame.getByText('Applied as edit').waitFor();
  assert.equal(text('fruit.txt'), FRUIT.replace('cherry', 'clementine\ncranberry').replace('grape', 'guava'));
};

rounds['the keyboard alone is enough'] = async () => {
  const frame = await fruit();
  await frame.locator('#split').focus();
  // Reject the first, accept the second, reject the third and take that back, then the last.
  for (const key of ['j', 'r', 'a', 'r', 'u', 'k', 'j', 'j', 'r']) await page.keyboard.press(key);
  assert.equal(await frame.locator('#count').textContent(), '1 accepted, 2 rejected, 1 open (will be applied)');
  await page.keyboard.press('A');
  assert.ok(await frame.locator('#apply').evaluate((node) => node === document.activeElement));
  await page.keyboard.press('Enter');
  await frame.getByText('Applied as edit').waitFor();
  assert.equal(text('fruit.txt'), FRUIT.replace('cherry', 'citron').replace('grape', 'guava'));
  await page.keyboard.press('u');
  assert.ok(await frame.locator('#undo').evaluate((node) => node === document.activeElement), 'u goes to the button');
  await page.keyboard.press('Enter');
  await frame.getByText('Taken back: the files').waitFor();
  assert.equal(text('fruit.txt'), FRUIT);
};

rounds['a file that changes meanwhile brings a banner, and a new preview in place'] = async () => {
  const frame = await fruit();
  put('fruit.txt', `${FRUIT}honeydew\n`);
  await frame.getByText('Changed since this preview').waitFor();
  assert.equal(await frame.locator('#stale-files').textContent(), 'fruit.txt');
  assert.ok(await frame.locator('#apply').isDisabled());
  await button(frame, 'Preview again').click();
  await frame.getByText('This is a new preview').waitFor();
  await button(frame, 'Apply all').click();
  await frame.getByText('Applied as edit').waitFor();
  assert.match(text('fruit.txt'), /^avocado\n[a-z\n]*honeydew\n$/);
};

rounds['the server refuses what is stale, and the page says it'] = async () => {
  const frame = await fruit();
  await frame.locator('#apply').evaluate((node) => {
    node.dataset.seen = 'yes';
  });
  put('fruit.txt', 'something else\n');
  await frame.locator('#apply').click();
  await frame.locator('#status.problem, #stale:not([hidden])').first().waitFor();
  assert.equal(text('fruit.txt'), 'something else\n');
};

rounds['an edit that was made is shown and taken back'] = async () => {
  put('fruit.txt', FRUIT);
  const edit = { path: 'fruit.txt', old_string: 'banana', new_string: 'blueberry' };
  const { frame, result } = await show('str_replace', edit);
  await frame.getByRole('heading', { name: 'Change 1, line 2' }).waitFor();
  assert.match(await frame.locator('#what').textContent(), new RegExp(result.structuredContent.edit));
  await button(frame, 'Take back').click();
  await frame.getByText('Taken back: the files').waitFor();
  assert.equal(text('fruit.txt'), FRUIT);
};

rounds['a refusal is shown as it is'] = async () => {
  const { frame } = await show('str_replace', { path: 'fruit.txt', old_string: 'no such text', new_string: 'x' });
  await frame.locator('#status.problem').waitFor();
  assert.ok(await frame.locator('#apply').isHidden());
};

rounds['hostile names and contents are text'] = async () => {
  const name = '<img src=x onerror=alert(1)> \u202etxt.html';
  const script = '</script><script>alert(2)</script><!-- ';
  const line = 'word '.repeat(200_000);
  put(name, `one\r\n${line}\nlast`);
  const edit = { tool: 'str_replace', path: name };
  const edits = [
    { old_string: 'one\r\n', new_string: `one ${script}\u202egnp.exe\u200b\r\n` },
    { old_string: 'word \nlast', new_string: 'word Y\nlast' },
  ];
  const { frame, result } = await show('edit_preview', { ...edit, edits });
  assert.ok(!result.isError, JSON.stringify(result.content).slice(0, 500));
  await frame.getByText(script.trim()).first().waitFor();
  const shown = await frame.locator('#hunks').textContent();
  assert.match(shown, /U\+202E/);
  assert.match(shown, /U\+200B/);
  assert.match(shown, /CRLF/);
  assert.match(shown, /no newline at the end of the file/);
  assert.ok((await frame.locator('h2').textContent()).includes('<img src=x onerror=alert(1)> U+202Etxt.html'));
  assert.ok(shown.length < 20_000, `a long line is cut: ${shown.length} characters`);
  assert.ok(await frame.getByRole('button', { name: /more characters/ }).count());
  assert.equal(await frame.locator('img, iframe').count(), 0);
  assert.equal(await frame.locator('script').count(), 1);
};

rounds['a comment on a hunk goes to the model'] = async () => {
  const frame = await fruit();
  await button(frame, 'Comment on Hunk 2').click();
  await frame.getByRole('textbox').fill('Why citron?');
  await button(frame, 'Send to the model').click();
  await frame.getByText('The comment was sent.').waitFor();
  const { what } = notes.find(({ kind }) => kind === 'message');
  assert.deepEqual(what.content, [{ type: 'text', text: 'Hunk 2 of fruit.txt (line 3): Why citron?' }]);
  const silent = await fruit({ takesMessages: false });
  assert.equal(await button(silent, 'Comment on Hunk 2').count(), 0, 'a client that takes no messages has no button');
};

rounds['lines around a hunk open'] = async () => {
  put('long.txt', Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join(''));
  const edit = { tool: 'str_replace', path: 'long.txt', old_string: 'line 30\n', new_string: 'LINE 30\n' };
  const { frame } = await show('edit_preview', edit);
  await button(frame, 'Show 20 lines above').click();
  await frame.getByText('line 7', { exact: true }).waitFor();
  await button(frame, 'Show 20 lines below').click();
  await frame.getByText('line 53', { exact: true }).waitFor();
  await button(frame, 'Show 6 lines above').click();
  await frame.getByText('line 1', { exact: true }).waitFor();
};

rounds['axe finds nothing, in light and dark, in one column and side by side, wide and narrow'] = async () => {
  put('a.rs', 'fn main() {\n    let total = 1; // one\n    println!("{total}");\n}\n');
  const edit = {
    tool: 'str_replace',
    path: 'a.rs',
    old_string: 'let total = 1; // one',
    new_string: 'let total = 22;\u00a0// two',
  };
  for (const theme of ['light', 'dark']) {
    const { frame } = await show('edit_preview', edit, { theme });
    await frame.getByText('22').first().waitFor();
    assert.equal(await frame.locator('html').getAttribute('data-theme'), theme);
    assert.ok((await frame.locator('.changed').count()) > 0, 'changed words are emphasised');
    assert.ok((await frame.locator('.h-keyword').count()) > 0, 'there are colours');
    for (const width of [1100, 380]) {
      await page.setViewportSize({ width, height: 800 });
      for (const pressed of ['true', 'false']) {
        await frame.locator('#split').click();
        assert.equal(await frame.locator('#split').getAttribute('aria-pressed'), pressed);
        assert.deepEqual(await axe(frame), [], `${theme}, ${width}, side by side: ${pressed}`);
        if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${theme}-${width}-${pressed}.png` });
      }
    }
    await button(frame, 'Reject hunk 1').click();
    put('a.rs', 'fn main() {\n    let total = 1; // one\n}\n');
    await frame.getByText('Changed since this preview').waitFor();
    assert.deepEqual(await axe(frame), [], `${theme}, rejected and stale`);
    await page.setViewportSize({ width: 1100, height: 800 });
    put('a.rs', 'fn main() {\n    let total = 1; // one\n    println!("{total}");\n}\n');
  }
  await page.evaluate(() => window.bridge.sendHostContextChange({ theme: 'light' }));
  await until(
    'the theme changes',
    async () => (await page.frameLocator('iframe').locator('html').getAttribute('data-theme')) === 'light',
  );
};

// An idle machine takes a third of a second for the first of 500. The limits are for one that others use, and a debug build.
rounds['500 hunks are there at once, and 5,000 do not freeze the page'] = async () => {
  for (const [count, most] of [
    [500, 5_000],
    [5_000, 8_000],
  ]) {
    const lines = Array.from({ length: count * 11 }, (_, at) => `value ${at + 1} of many\n`);
    put('large.txt', lines.join(''));
    const hunks = Array.from(
      { length: count },
      (_, at) => `@@\n-value ${at * 11 + 5} of many\n+VALUE ${at * 11 + 5} of many`,
    );
    const args = { tool: 'apply_patch', ...patch(`*** Update File: large.txt\n${hunks.join('\n')}`) };
    const result = await server.call('edit_preview', args);
    assert.ok(!result.isError, JSON.stringify(result.content).slice(0, 300));
    // A small one first, so that the page is there.
    const frame = await fruit();
    const begun = Date.now();
    await page.evaluate((result) => window.bridge.sendToolResult(result), result);
    await frame.getByRole('cell', { name: 'VALUE 5 of many', exact: true }).waitFor();
    const first = Date.now() - begun;
    const owner = await (await frame.locator('body').elementHandle()).ownerFrame();
    let slowest = 0;
    while ((await frame.locator('.hunk').count()) < count) {
      const asked = Date.now();
      await owner.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
      slowest = Math.max(slowest, Date.now() - asked);
      assert.ok(Date.now() - begun < 60_000, 'all hunks come within a minute');
    }
    const all = Date.now() - begun;
    console.log(`  ${count} hunks: the first after ${first} ms, all after ${all} ms, the longest wait ${slowest} ms`);
    assert.ok(first < most, `the first of ${count} hunks after ${first} ms`);
    assert.ok(slowest < 3_000, `the page answers meanwhile: ${slowest} ms`);
    assert.ok(all < 50_000, `all of ${count} hunks after ${all} ms`);
    await page.keyboard.press('j');
    await button(frame, 'Reject hunk 1').click();
    await button(frame, `Apply ${count - 1} of ${count}`).waitFor();
  }
};

rounds['a hunk of 30,000 lines is shown part by part'] = async () => {
  const lines = Array.from({ length: 30_000 }, (_, at) => `+value ${at + 1} of many\n`).join('');
  laid += 1;
  const args = { tool: 'apply_patch', ...patch(`*** Add File: huge ${laid}.txt\n${lines.trimEnd()}`) };
  const result = await server.call('edit_preview', args);
  assert.ok(!result.isError, JSON.stringify(result.content).slice(0, 300));
  const frame = await fruit();
  const begun = Date.now();
  await page.evaluate((result) => window.bridge.sendToolResult(result), result);
  await frame.getByRole('cell', { name: 'value 1000 of many', exact: true }).waitFor();
  assert.ok(Date.now() - begun < 5_000, `shown after ${Date.now() - begun} ms`);
  assert.equal(await frame.locator('.hunk tr').count(), 1_000);
  await button(frame, 'Show 1000 of 29000 more lines').click();
  await frame.getByRole('cell', { name: 'value 2000 of many', exact: true }).waitFor();
  await button(frame, 'Show 1000 of 28000 more lines').waitFor();
  assert.deepEqual(await axe(frame), []);
};

rounds['an edit is shown that a client hands on as text alone'] = async () => {
  put('fruit.txt', FRUIT);
  const result = await server.call('str_replace', { path: 'fruit.txt', old_string: 'cherry', new_string: 'citron' });
  assert.ok(!result.isError, JSON.stringify(result.content));
  const frame = await fruit();
  await page.evaluate((content) => window.bridge.sendToolResult({ content }), result.content);
  await frame.getByRole('heading', { name: 'Change 1, line 3' }).waitFor();
};

const stage = { page, calls, notes, show, use, allow, axe, fruit, until };
Object.assign(rounds, deciding(stage), keeping(stage));

let failed = 0;
const only = process.argv[2];
for (const [name, round] of Object.entries(rounds)) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  wrong.length = 0;
  try {
    await round();
    assert.deepEqual(wrong, [], 'nothing else happens');
    console.log(`${name}: ${Date.now() - begun} ms`);
  } catch (error) {
    failed += 1;
    console.error(`${name}: FAILED\n${error.stack}\n${wrong.join('\n')}`);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/failed-${failed}.png` });
  }
}
await stop();
server.stop();
console.log(failed === 0 ? `${Object.keys(rounds).length} rounds passed` : `${failed} rounds failed`);
process.exitCode = failed === 0 ? 0 : 1;
