// The round of the suite `team`, as a client plays it: it knows the address of the MCP endpoint alone, and follows what it is
// told from there. Arguments: that address, and the address of the resource whose tokens are opaque.
import { createHash, randomBytes } from 'node:crypto';
import assert from 'node:assert/strict';

const [endpoint, opaque] = process.argv.slice(2);

async function post(token, body, session) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (token) headers.authorization = `Bearer ${token}`;
  if (session) headers['mcp-session-id'] = session;
  return fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
}

// What a challenge says, by name.
function challenge(response) {
  const header = response.headers.get('www-authenticate');
  assert.match(header, /^Bearer /);
  return Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

async function open(token) {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'round', version: '0' },
  };
  const response = await post(token, { id: 0, method: 'initialize', params });
  assert.equal(response.status, 200, await response.clone().text());
  const session = response.headers.get('mcp-session-id');
  await post(token, { method: 'notifications/initialized' }, session);
  return session;
}

async function call(token, session, name, args) {
  const response = await post(token, { id: 1, method: 'tools/call', params: { name, arguments: args } }, session);
  if (response.status !== 200) return { response };
  const text = await response.text();
  const data = text.startsWith('{') ? text : text.split('\n').find((line) => line.startsWith('data: {')).slice(6);
  return { response, result: JSON.parse(data).result };
}

async function json(url) {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return response.json();
}

async function token(endpoint, form, credentials) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  if (credentials) headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const response = await fetch(endpoint, { method: 'POST', headers, body: new URLSearchParams(form) });
  const said = await response.json();
  assert.equal(response.status, 200, JSON.stringify(said));
  return said.access_token;
}

// What a browser keeps. Both servers are on one machine, so it sends all of it to both.
const cookies = new Map();

async function browse(url, init = {}) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });
  for (const set of response.headers.getSetCookie()) {
    const [name, ...value] = set.split(';')[0].split('=');
    cookies.set(name, value.join('='));
  }
  return response;
}

// Follows redirects until one leads to an address that begins so, and returns that.
async function follow(from, to) {
  let at = from;
  for (let turns = 0; !at.startsWith(to); turns += 1) {
    assert.ok(turns < 12, `redirected for ever, now to ${at}`);
    const response = await browse(at);
    assert.ok([302, 303].includes(response.status), `${at}: ${response.status} ${await response.text()}`);
    at = new URL(response.headers.get('location'), at).href;
  }
  return at;
}

// From the first refusal to the authority.
const refused = await post(undefined, { id: 1, method: 'tools/list' });
assert.equal(refused.status, 401);
const { resource_metadata: metadataUrl, scope } = challenge(refused);
assert.equal(scope, 'files:read files:write');
const metadata = await json(metadataUrl);
assert.equal(metadata.resource, endpoint);
const authority = await json(`${metadata.authorization_servers[0]}/.well-known/openid-configuration`);

// A client for itself, which is of the tenant `blue`.
const credentials = (resource, scope) =>
  token(authority.token_endpoint, { grant_type: 'client_credentials', scope, resource }, 'robot:robots-secret');
const reading = await credentials(metadata.resource, 'files:read');
let session = await open(reading);
const read = await call(reading, session, 'read_file', { path: 'a.txt' });
assert.match(read.result.content[0].text, /blue/);
const edit = { path: 'a.txt', old_string: 'blue', new_string: 'robot' };
const short = await call(reading, session, 'str_replace', edit);
assert.equal(short.response.status, 403);
const more = challenge(short.response);
assert.equal(more.error, 'insufficient_scope');
const writing = await credentials(metadata.resource, more.scope);
const written = await call(writing, session, 'str_replace', edit);
assert.equal(written.result.isError, false, JSON.stringify(written.result));

// A token that says nothing, about which the server asks; and one for another server.
const silent = await credentials(opaque, 'files:read');
assert.ok(!silent.includes('.'));
session = await open(silent);
assert.match((await call(silent, session, 'read_file', { path: 'a.txt' })).result.content[0].text, /robot/);
const elsewhere = await credentials('https://elsewhere.example/mcp', 'files:read files:write');
assert.equal((await post(elsewhere, { id: 1, method: 'tools/list' })).status, 401);

// A person, of the tenant `red`: the authorization code flow with PKCE.
const verifier = randomBytes(32).toString('base64url');
const redirect = 'http://127.0.0.1:9/callback';
const asked = new URL(authority.authorization_endpoint);
const parameters = {
  client_id: 'desk',
  response_type: 'code',
  redirect_uri: redirect,
  scope,
  resource: metadata.resource,
  state: 'state',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};
asked.search = new URLSearchParams(parameters);
const at = await follow(asked.href, redirect);
const code = new URL(at).searchParams.get('code');
assert.ok(code, at);
const form = { grant_type: 'authorization_code', client_id: 'desk', code, redirect_uri: redirect };
const persons = await token(authority.token_endpoint, { ...form, code_verifier: verifier, resource: metadata.resource });
session = await open(persons);
const own = await call(persons, session, 'str_replace', { path: 'a.txt', old_string: 'red', new_string: 'person' });
assert.equal(own.result.isError, false, JSON.stringify(own.result));
const history = await call(persons, session, 'edit_history', {});
assert.match(history.result.content[0].text, /round \(ann\) \(you\)/);

// The same person on the review page: they sign in, see what was edited in their tenant alone, take it back and make it again.
const { origin } = new URL(endpoint);
const back = await follow(`${origin}/review`, `${origin}/review/signed-in`);
assert.equal((await browse(back)).status, 200);
assert.match(await (await browse(`${origin}/review`)).text(), /<meta name="emend-person" content="ann">/);

async function onPage(name, args, headers = { origin }) {
  const body = JSON.stringify({ name, arguments: args });
  const type = { 'content-type': 'application/json' };
  return browse(`${origin}/review/call`, { method: 'POST', headers: { ...type, ...headers }, body });
}

const { structuredContent: list } = await (await onPage('review', {})).json();
assert.deepEqual(list.entries.map(({ title }) => title), ['str_replace by round (ann)']);
const taken = await (await onPage('undo_edit', { edit: list.entries[0].id })).json();
assert.equal(taken.isError, false, JSON.stringify(taken));
const again = await (await onPage('undo_edit', { edit: taken.structuredContent.edit })).json();
assert.equal(again.isError, false, JSON.stringify(again));
assert.equal((await onPage('review', {}, { origin: 'http://127.0.0.1:9' })).status, 403);
assert.equal((await browse(`${origin}/review/sign-out`, { method: 'POST', headers: { origin } })).status, 200);
assert.equal((await onPage('review', {})).status, 401);

// A token whose end was changed on its way.
const [head, , signature] = persons.split('.');
const forged = JSON.parse(Buffer.from(persons.split('.')[1], 'base64url'));
forged.scope = 'files:read files:write files:approve';
const changed = `${head}.${Buffer.from(JSON.stringify(forged)).toString('base64url')}.${signature}`;
assert.equal((await post(changed, { id: 1, method: 'tools/list' })).status, 401);
console.log('a client for itself, a person with PKCE and on the review page, an opaque token, and two that are no good');
