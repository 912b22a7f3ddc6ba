import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bridge } from '../src/bridge.ts';

function connected() {
  const sent: Record<string, unknown>[] = [];
  let receive: (message: unknown) => void = () => {};
  const bridge = new Bridge({
    send: (message) => void sent.push(message as Record<string, unknown>),
    listen: (listener) => {
      receive = listener;
    },
  });
  return { bridge, sent, receive: (message: unknown) => receive(message) };
}

test('an answer goes to the request of its id, and a refusal is an error', async () => {
  const { bridge, sent, receive } = connected();
  const [one, two] = [bridge.request('tools/call', {}), bridge.request('tools/call', {})];
  receive({ jsonrpc: '2.0', id: sent[1]?.id, error: { message: 'no' } });
  receive({ jsonrpc: '2.0', id: sent[0]?.id, result: 1 });
  assert.equal(await one, 1);
  await assert.rejects(two, /^Error: no$/);
});

test('requests of the client are answered, unknown ones and failures with an error', async () => {
  const { bridge, sent, receive } = connected();
  bridge.on('ui/resource-teardown', () => ({}));
  bridge.on('fails', () => Promise.reject(new Error('why')));
  for (const method of ['ping', 'ui/resource-teardown', 'other', 'fails'])
    receive({ jsonrpc: '2.0', id: method, method });
  await new Promise((resolve) => setImmediate(resolve));
  const by = Object.fromEntries(sent.map((message) => [message.id, message]));
  assert.deepEqual(by.ping?.result, {});
  assert.deepEqual(by['ui/resource-teardown']?.result, {});
  assert.deepEqual(by.other?.error, { code: -32601, message: 'unknown method' });
  assert.deepEqual(by.fails?.error, { code: -32603, message: 'why' });
});

test('what is no message of ours is left alone', () => {
  const { sent, receive } = connected();
  for (const message of [
    undefined,
    null,
    'text',
    {},
    { jsonrpc: '2.0', id: 9, result: 1 },
    { jsonrpc: '2.0', method: 'x' },
  ]) {
    receive(message);
  }
  assert.deepEqual(sent, []);
});
