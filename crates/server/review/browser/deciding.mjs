// The rounds in which a person decides: on the page of a client that hands a secret over, drops it, or is not trusted with one,
// and in a window of their own, which pages of other origins cannot use.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { review, serve } from './stand.mjs';

const FILES = process.env.EMEND_FILES;
const path = (name) => join(FILES, name);
const put = (name, content) => writeFileSync(path(name), content);
const text = (name) => readFileSync(path(name), 'utf8');
const button = (frame, name) => frame.getByRole('button', { name, exact: true });

let last = 0;

/** Returns the call of an edit of a file that nothing else edits, and what it makes. */
function edit() {
  last += 1;
  const name = `decided ${last}.txt`;
  put(name, 'old\n');
  return { name, args: { path: name, old_string: 'old', new_string: 'new' } };
}

/** Returns what opens the page in a window of its own, and returns it with what it came from. */
export function windows({ page, allow }) {
  return async (theme = 'light') => {
    const started = await review();
    allow(started.origin);
    allow(started.way);
    const window = await (await page.context().browser().newContext()).newPage();
    await window.emulateMedia({ colorScheme: theme });
    const wrong = [];
    window.on('pageerror', (error) => wrong.push(error.message));
    window.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    await window.goto(started.way);
    await window.getByRole('heading', { name: 'Edits', exact: true }).waitFor();
    assert.equal(window.url(), `${started.origin}/`, 'the token is gone from the address');
    const stop = async () => {
      await window.context().close();
      await started.stop();
      assert.deepEqual(wrong, []);
    };
    return { window, ...started, stop, wrong, end: started.stop };
  };
}

export function deciding({ page, calls, show, use, allow, axe }) {
  const rounds = {};

  /** Shows an edit that waits, by a client that the person has named or not, and with what becomes of its `_meta`. */
  async function waiting(isNamed, metaOf = (meta) => meta) {
    const server = await serve({ mode: 'ask', approvers: isNamed ? ['rounds'] : [] });
    use(server);
    const { name, args } = edit();
    const { frame, result } = await show('str_replace', args, {
      change: ({ _meta, ...rest }) => ({ ...rest, ...(metaOf(_meta) ? { _meta: metaOf(_meta) } : {}) }),
    });
    assert.ok(result.isError);
    await frame.getByRole('heading', { name: 'Waits for your approval' }).waitFor();
    await frame.getByText('It needs your approval, since the mode is ask.').waitFor();
    const stop = () => {
      server.stop();
      use();
    };
    return { server, frame, name, args, result, stop };
  }

  rounds['a person approves on the page of a client that they have named, and it is made once'] = async () => {
    const { server, frame, name, args, stop } = await waiting(true);
    assert.equal(text(name), 'old\n');
    assert.deepEqual(await axe(frame), []);
    await frame
      .locator('#approve')
      .dblclick({ noWaitAfter: true })
      .catch(() => {});
    await frame.getByText('Approved, and made as edit').waitFor();
    assert.equal(text(name), 'new\n');
    const decided = calls.filter((call) => call.name === 'decide');
    assert.equal(decided.length, 1, 'one call is sent');
    put(name, 'old\n');
    assert.ok((await server.call('str_replace', args)).isError, 'the yes was for one time');
    assert.ok((await server.call('decide', decided[0].args)).isError, 'and so was the secret');
    assert.equal(text(name), 'old\n');
    stop();
  };

  rounds['a person declines on the page of a client, and the model is told'] = async () => {
    const { server, frame, name, args, stop } = await waiting(true);
    await button(frame, 'Decline').click();
    await frame.getByText('Declined. Nothing was changed.').waitFor();
    const again = await server.call('str_replace', args);
    assert.match(again.content[0].text, /declined this edit/);
    assert.equal(text(name), 'old\n');
    stop();
  };

  rounds['a client that drops what is for the page shows the command instead of a button'] = async () => {
    const { frame, name, stop } = await waiting(true, () => undefined);
    await frame.getByText(/emend approve .*[0-9a-f]{12}/).waitFor();
    assert.ok(await frame.locator('#approve').isHidden());
    assert.ok(await frame.locator('#deny').isHidden());
    assert.equal(text(name), 'old\n');
    stop();
  };

  rounds['a client that is not named has no secret that its model could read'] = async () => {
    const { server, frame, name, args, result, stop } = await waiting(false);
    assert.ok(!JSON.stringify(result).includes('secret'));
    assert.ok(await frame.locator('#approve').isHidden());
    // What a model that sees everything can try.
    const { id } = result._meta['emend/approval'];
    for (const secret of [undefined, '', id, '0'.repeat(32)]) {
      const said = await server.call('decide', {
        approval: id,
        is_allowed: true,
        ...(secret === undefined ? {} : { secret }),
      });
      assert.ok(said.isError, JSON.stringify(said));
    }
    for (const uri of ['emend://history', 'ui://emend/review', 'skill://emend/SKILL.md']) {
      const read = await server.request('resources/read', { uri }).catch((error) => error.message);
      assert.ok(!JSON.stringify(read).includes(`"secret":"`), uri);
    }
    assert.ok((await server.call('str_replace', args)).isError);
    assert.equal(text(name), 'old\n');
    stop();
  };

  const own = windows({ page, allow });

  for (const theme of ['light', 'dark']) {
    rounds[`in a window of its own, hunks of another process are chosen, applied and taken back (${theme})`] =
      async () => {
        const server = await serve();
        put('own.txt', 'one\ntwo\nthree\nfour\nfive\n');
        const patch = '*** Begin Patch\n*** Update File: own.txt\n@@\n-one\n+1\n@@\n-five\n+5\n*** End Patch\n';
        const { preview } = (await server.call('edit_preview', { tool: 'apply_patch', patch })).structuredContent;
        const { window, stop } = await own(theme);
        assert.deepEqual(await axe(window), []);
        assert.equal(await window.evaluate(() => document.documentElement.dataset.theme), theme);
        await window
          .getByRole('button', { name: /^apply_patch by rounds/ })
          .first()
          .click();
        await button(window, 'Reject hunk 1').click();
        await button(window, 'Comment on Hunk 1').click();
        await window.getByRole('textbox', { name: 'Comment on Hunk 1 for the model' }).fill('Leave it.');
        await button(window, 'Send to the model').click();
        await window.getByText('The model gets it with your decision.').waitFor();
        assert.deepEqual(await axe(window), []);
        await button(window, 'Apply 1 of 2').click();
        await window.getByText('Applied as edit').waitFor();
        assert.equal(text('own.txt'), 'one\ntwo\nthree\nfour\n5\n');
        const told = await server.call('apply_preview', { preview });
        assert.match(told.content[0].text, /without its hunk 1\..*Leave it\./s);
        await button(window, 'Whole session').click();
        await window.getByRole('heading', { name: 'What the session has changed' }).waitFor();
        await button(window, 'All edits').click();
        await window
          .getByRole('button', { name: /^apply_patch by emend review/ })
          .first()
          .click();
        await button(window, 'Take back').click();
        await window.getByText('Taken back: the files').waitFor();
        assert.equal(text('own.txt'), 'one\ntwo\nthree\nfour\nfive\n');
        await window.reload();
        await window.getByText('taken back').first().waitFor();
        await stop();
        server.stop();
      };
  }

  rounds['in a window of its own, what waits is approved and declined'] = async () => {
    const server = await serve({ mode: 'ask' });
    const [yes, no] = [edit(), edit()];
    for (const { args } of [yes, no]) assert.ok((await server.call('str_replace', args)).isError);
    const { window, stop } = await own();
    await window.getByRole('button', { name: new RegExp(yes.name) }).click();
    await button(window, 'Approve').click();
    await window.getByText('Approved. Tell the assistant to try again').waitFor();
    await window.getByRole('button', { name: new RegExp(no.name) }).click();
    await window.getByRole('textbox', { name: 'A word for the model' }).fill('Write it twice.');
    await button(window, 'Decline').click();
    await window.getByText('Declined. Nothing was changed.').waitFor();
    assert.ok(!(await server.call('str_replace', yes.args)).isError);
    const told = await server.call('str_replace', no.args);
    assert.match(told.content[0].text, /says: Write it twice\./);
    assert.deepEqual([text(yes.name), text(no.name)], ['new\n', 'old\n']);
    await stop();
    server.stop();
  };

  rounds['in a window of its own, a preview whose file has changed is made anew'] = async () => {
    const server = await serve();
    const { name, args } = edit();
    await server.call('edit_preview', { tool: 'str_replace', ...args });
    const { window, stop } = await own();
    await window.getByRole('button', { name: new RegExp(name) }).click();
    await button(window, 'Apply all').waitFor();
    put(name, 'first\nold\n');
    await window.getByText('Changed since this preview').waitFor();
    await button(window, 'Preview again').click();
    await window.getByText('This is a new preview').waitFor();
    await button(window, 'Apply all').click();
    await window.getByText('Applied as edit').waitFor();
    assert.equal(text(name), 'first\nnew\n');
    await stop();
    server.stop();
  };

  rounds['a page of another origin, or without the cookie, decides on nothing'] = async () => {
    const server = await serve({ mode: 'ask' });
    const { name, args } = edit();
    assert.ok((await server.call('str_replace', args)).isError);
    const { window, origin, way, stop } = await own();
    const id = (await (await fetchIn(window, '/call', { name: 'review', arguments: {} })).json).structuredContent
      .entries[0].id;
    const yes = JSON.stringify({ name: 'decide', arguments: { approval: id, is_allowed: true } });
    // Another port of this machine is the same site, so that the browser may send the cookie along.
    const evil = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>evil</title>');
    });
    await new Promise((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const other = await window.context().newPage();
    await other.goto(`http://127.0.0.1:${evil.address().port}/`);
    const tried = await other.evaluate(
      async ({ origin, yes }) => {
        const found = [];
        for (const type of ['application/json', 'text/plain']) {
          for (const mode of ['cors', 'no-cors']) {
            const sent = fetch(`${origin}/call`, {
              method: 'POST',
              mode,
              credentials: 'include',
              headers: { 'content-type': type },
              body: yes,
            });
            found.push(
              await sent.then(
                (answer) => answer.type === 'opaque' || !answer.ok,
                () => true,
              ),
            );
          }
        }
        const frame = document.createElement('iframe');
        frame.src = `${origin}/`;
        document.body.append(frame);
        await new Promise((resolve) => setTimeout(resolve, 300));
        let seen = '';
        try {
          seen = frame.contentDocument?.body.textContent ?? '';
        } catch {
          // It is not readable, as it should be.
        }
        return { found, seen };
      },
      { origin, yes },
    );
    assert.deepEqual(tried.found, [true, true, true, true]);
    assert.ok(!tried.seen.includes('approval'));
    await other.close();
    evil.close();
    const stranger = await page.context().browser().newContext();
    const strange = await stranger.newPage();
    assert.equal((await strange.goto(`${origin}/`)).status(), 403);
    await strange.goto(way);
    await strange.getByText('This address leads in once.').waitFor();
    await stranger.close();
    assert.ok((await server.call('str_replace', args)).isError);
    assert.equal(text(name), 'old\n');
    await stop();
    server.stop();
  };

  return rounds;
}

/** Calls the server as the page does. */
async function fetchIn(window, path, call) {
  const json = await window.evaluate(
    async ({ path, call }) => {
      const key = sessionStorage.getItem('emend-key') ?? '';
      const headers = { 'content-type': 'application/json', 'x-emend-key': key };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(call) })).json();
    },
    { path, call },
  );
  return { json };
}
