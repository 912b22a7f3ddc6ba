// The rounds in which a person would lose something: clicks that come too early, choices and texts when something else is
// looked at or files change, and what happens elsewhere meanwhile.

import assert from 'node:assert/strict';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { windows } from './deciding.mjs';
import { serve } from './stand.mjs';

const FILES = process.env.EMEND_FILES;
const path = (name) => join(FILES, name);
const put = (name, content) => writeFileSync(path(name), content);
const text = (name) => readFileSync(path(name), 'utf8');
const button = (frame, name) => frame.getByRole('button', { name, exact: true });

const PATCH = (name) =>
  `*** Begin Patch\n*** Update File: ${name}\n@@\n-one\n+1\n@@\n-five\n+5\n@@\n-nine\n+9\n*** End Patch\n`;
const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';

let last = 0;

export function keeping({ page, calls, allow, axe, fruit, until }) {
  const rounds = {};
  const own = windows({ page, allow });

  /** Opens a preview of three hunks of a new file in a window of its own. */
  async function opened() {
    const server = await serve();
    last += 1;
    const name = `kept ${last}.txt`;
    put(name, LINES);
    const ask = async () =>
      (await server.call('edit_preview', { tool: 'apply_patch', patch: PATCH(name) })).structuredContent.preview;
    const preview = await ask();
    const { window, stop, end } = await own();
    const entry = () => window.locator(`button.entry[data-id="${preview}"]`);
    await entry().click();
    await button(window, 'Reject hunk 3').waitFor();
    const close = async () => {
      await stop();
      server.stop();
    };
    return { server, name, preview, window, entry, ask, end, stop: close };
  }

  for (const gap of [100, 300, 600]) {
    rounds[`a second click where Apply was does nothing (after ${gap} ms)`] = async () => {
      const frame = await fruit();
      const apply = frame.locator('#apply');
      await until('the page is settled', async () => (await apply.getAttribute('aria-disabled')) === null);
      const { x, y, width, height } = await apply.boundingBox();
      await page.mouse.click(x + width / 2, y + height / 2);
      await page.waitForTimeout(gap);
      await page.mouse.click(x + width / 2, y + height / 2);
      await frame.getByText('Applied as edit').waitFor();
      // Wherever the button is, what was on its way when it came does not press it.
      await frame.locator('#undo').click({ force: true, noWaitAfter: true });
      assert.equal(await frame.locator('#title').textContent(), 'Edit');
      assert.match(text('fruit.txt'), /^avocado\n/);
      assert.equal(calls.filter((call) => call.name === 'undo_edit').length, 0);
      await button(frame, 'Take back').click();
      await button(frame, 'Make again').click();
      await frame.getByText('Made again, as edit').waitFor();
      assert.match(text('fruit.txt'), /^avocado\n/);
    };
  }

  rounds['choices, comments and what is being written outlive the list, Back and a reload'] = async () => {
    const { window, name, entry, server, preview, stop } = await opened();
    await button(window, 'Reject hunk 1').click();
    await button(window, 'Accept hunk 2').click();
    await button(window, 'Comment on Hunk 1').click();
    await window.getByRole('textbox', { name: 'Comment on Hunk 1 for the model' }).fill('Why?');
    await button(window, 'Send to the model').click();
    await button(window, 'Comment on Hunk 2').click();
    await window.getByRole('textbox', { name: 'Comment on Hunk 2 for the model' }).fill('Half of');
    await window.getByRole('textbox', { name: 'A word for the model' }).fill('Thanks.');
    const isKept = async () => {
      await window.getByText('1 accepted, 1 rejected, 1 open (will be applied)').waitFor();
      await window.getByText('You: Why?').waitFor();
      const draft = window.getByRole('textbox', { name: 'Comment on Hunk 2 for the model' });
      assert.equal(await draft.inputValue(), 'Half of');
    };
    await isKept();
    await button(window, 'All edits').click();
    await entry().click();
    await isKept();
    await window.reload();
    await isKept();
    await button(window, 'All edits').click();
    await window.getByRole('heading', { name: 'Edits', exact: true }).waitFor();
    await window.goBack();
    await isKept();
    // What is being written is neither lost nor sent by Apply.
    await button(window, 'Apply 2 of 3').click();
    await window.getByText('Hunk 2 of').first().waitFor();
    assert.match(await window.locator('#status').textContent(), /a comment that you are still writing/);
    assert.equal(text(name), LINES);
    await button(window, 'Leave it').click();
    await button(window, 'Apply 2 of 3').click();
    await window.getByText('Applied as edit').waitFor();
    const told = (await server.call('apply_preview', { preview })).content[0].text;
    assert.match(told, /They say: Hunk 1 of kept \d+\.txt \(line 1\): Why\?\nThanks\./);
    await stop();
  };

  rounds['what changed hunks do not touch is carried over when a preview is made again'] = async () => {
    const { window, name, stop } = await opened();
    await button(window, 'Reject hunk 1').click();
    await button(window, 'Reject hunk 2').click();
    await button(window, 'Comment on Hunk 2').click();
    await window.getByRole('textbox', { name: 'Comment on Hunk 2 for the model' }).fill('Half of');
    put(name, `zero\n${LINES}`);
    await window.getByText('Changed since this preview').waitFor();
    await button(window, 'Preview again').click();
    await window.getByText('Your choices and comments stay.').waitFor();
    const draft = window.getByRole('textbox', { name: 'Comment on Hunk 2 for the model' });
    assert.equal(await draft.inputValue(), 'Half of');
    await button(window, 'Leave it').click();
    await button(window, 'Apply 1 of 3').click();
    await window.getByText('Applied as edit').waitFor();
    assert.equal(text(name), `zero\n${LINES.replace('nine', '9')}`);
    await stop();
  };

  rounds['a text that is being written is not left behind by Apply, and boxes stay'] = async () => {
    const frame = await fruit();
    for (const hunk of [1, 2]) await button(frame, `Edit Hunk ${hunk} by hand`).click();
    const area = (hunk) => frame.getByRole('textbox', { name: `The new text of Hunk ${hunk}` });
    await area(1).fill('apricot\nbanana\ncherry\ndate\n');
    await area(2).fill('apple\nbanana\nclementine\ndate\nelder\nfig\n');
    await button(frame, 'Apply all').click();
    await frame.getByText('Hunk 1 of fruit.txt (line 1) has a text that you are still writing').waitFor();
    assert.equal(calls.filter((call) => call.name === 'apply_preview').length, 0);
    assert.deepEqual(await axe(frame), []);
    await button(frame, 'Use this text').first().click();
    await frame.getByText('Hunk 1 has your text now.').waitFor();
    assert.match(await area(2).inputValue(), /clementine/, 'the other box stays');
    assert.equal(await frame.locator('.hunk[aria-current]').getAttribute('data-at'), '0', 'the place stays');
    await area(2).press('Escape');
    assert.equal(await area(2).count(), 0);
    await button(frame, 'Edit Hunk 2 by hand').click();
    assert.match(await area(2).inputValue(), /clementine/, 'what was left is there when the box is opened again');
    await button(frame, 'Leave it').click();
    await button(frame, 'Apply all').click();
    await frame.getByText('Applied as edit').waitFor();
    assert.match(text('fruit.txt'), /^apricot\nbanana\ncitron\n/);
  };

  rounds['a text is taken back by u and by its button, and u goes to what it changed'] = async () => {
    const frame = await fruit();
    await button(frame, 'Reject hunk 3').click();
    await button(frame, 'Comment on Hunk 2').click();
    await frame.getByRole('textbox').fill('Why citron?');
    await button(frame, 'Send to the model').click();
    const write = async (fruit) => {
      await button(frame, 'Edit Hunk 2 by hand').click();
      await frame
        .getByRole('textbox', { name: 'The new text of Hunk 2' })
        .fill(`apple\nbanana\n${fruit}\ndate\nelder\nfig\n`);
      await button(frame, 'Use this text').click();
      await frame.getByRole('cell', { name: fruit, exact: true }).waitFor();
    };
    await write('cranberry');
    await frame.getByText('You: Why citron?').waitFor();
    await frame.getByText('your text', { exact: true }).waitFor();
    await write('clementine');
    await frame
      .locator('.hunk')
      .nth(3)
      .click({ position: { x: 5, y: 5 } });
    const current = () => frame.locator('.hunk[aria-current]').getAttribute('data-at');
    await page.keyboard.press('u');
    await frame.getByRole('cell', { name: 'cranberry', exact: true }).waitFor();
    await until('it goes to the hunk', async () => (await current()) === '1');
    await page.keyboard.press('u');
    await frame.getByRole('cell', { name: 'citron', exact: true }).waitFor();
    assert.equal(await frame.getByText('your text', { exact: true }).count(), 0);
    await page.keyboard.press('u');
    await until('it goes to the hunk', async () => (await current()) === '2');
    assert.equal(await frame.locator('.hunk').nth(2).getAttribute('data-choice'), 'open');
    await write('clementine');
    await button(frame, "Back to the model's text of Hunk 2").click();
    await frame.getByRole('cell', { name: 'citron', exact: true }).waitFor();
  };

  rounds['what comes and what happens elsewhere is told, and the list can be tidied'] = async () => {
    const { window, server, name, preview, stop } = await opened();
    await button(window, 'Reject hunk 1').click();
    put('news.txt', 'old\n');
    await server.call('edit_preview', { tool: 'str_replace', path: 'news.txt', old_string: 'old', new_string: 'new' });
    await window.getByText('There is a new preview: str_replace by rounds.').waitFor();
    const { edit } = (await server.call('apply_preview', { preview, hunks: [1] })).structuredContent;
    await window.getByText(`The assistant has applied this preview, hunk 1 of it, as edit ${edit}.`).waitFor();
    assert.deepEqual(await axe(window), []);
    assert.ok(await window.locator('#apply').isHidden());
    await button(window, 'Show the edit').click();
    await window.getByRole('heading', { name: 'Change 1, line 1' }).waitFor();
    assert.equal(text(name), LINES.replace('one', '1'));
    await button(window, 'All edits').click();
    await window.locator('#what').getByText(FILES).waitFor();
    const dismiss = button(window, 'Dismiss str_replace by rounds').first();
    const entries = window.locator('button.entry');
    const before = await entries.count();
    assert.deepEqual(await axe(window), []);
    await dismiss.click();
    await until('it goes', async () => (await entries.count()) === before - 1);
    await window.keyboard.press('j');
    assert.ok(await entries.first().evaluate((node) => node === document.activeElement));
    await stop();
  };

  rounds['a file that was made on the page and is gone is made again'] = async () => {
    const server = await serve();
    const call = { tool: 'write_file', path: 'made once.txt', content: 'made\n' };
    await server.call('edit_preview', call);
    const { window, stop } = await own();
    const entry = window.getByRole('button', { name: /^write_file by rounds.*made once/ }).first();
    await entry.click();
    await button(window, 'Apply all').click();
    await window.getByText('Applied as edit').waitFor();
    unlinkSync(path('made once.txt'));
    await server.call('edit_preview', call);
    await button(window, 'All edits').click();
    await entry.click();
    await button(window, 'Apply all').click();
    await window.getByText('Applied as edit').waitFor();
    assert.equal(text('made once.txt'), 'made\n');
    await stop();
    server.stop();
  };

  rounds['a page whose program has ended says so by itself'] = async () => {
    const { window, server, stop, end, wrong } = await (async () => {
      const server = await serve();
      return { server, ...(await own()) };
    })();
    await end();
    await window.getByText('emend review has ended. Run it again in the terminal.').waitFor();
    assert.deepEqual(await axe(window), []);
    // The browser complains of what it does not reach.
    wrong.length = 0;
    await stop();
    server.stop();
  };

  return rounds;
}
