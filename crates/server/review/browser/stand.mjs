// What the rounds stand on: a real server over standard input and output, a browser with the client's page, and checks.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const { EMEND, EMEND_FILES, BROWSER, HOME } = process.env;

const ENV = { ...process.env, HOME, XDG_STATE_HOME: `${HOME}/state` };

/** Starts `emend serve` on the files, as a client that shows apps, which the person's own file may name. */
export async function serve({ mode = 'auto', approvers = [] } = {}) {
  const config = `${HOME}/config-${approvers.length}`;
  mkdirSync(`${config}/emend`, { recursive: true });
  writeFileSync(`${config}/emend/config.toml`, `notify_lsp = false\napprove_in_app = ${JSON.stringify(approvers)}\n`);
  const child = spawn(EMEND, ['serve', '--mode', mode, '--workspace', EMEND_FILES], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...ENV, XDG_CONFIG_HOME: config },
  });
  const waiting = new Map();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { extensions },
    clientInfo: { name: 'rounds', version: '1' },
  });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call = (name, args) => request('tools/call', { name, arguments: args });
  return { request, call, stop: () => child.stdin.end() };
}

/** Starts `emend review` on the files. Returns the address of the file that leads in, and that of the page. */
export async function review() {
  const child = spawn(EMEND, ['review', '--no-open', '--no-config', '--notify-lsp=false', '--workspace', EMEND_FILES], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...ENV, XDG_CONFIG_HOME: `${HOME}/no-config` },
  });
  const file = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('emend review has ended')));
    createInterface({ input: child.stdout }).on('line', (line) => line.endsWith('.html') && resolve(line));
  });
  const [origin] = readFileSync(file, 'utf8').match(/http:\/\/127\.0\.0\.1:\d+/);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { way: `file://${file}`, origin, stop };
}

/** Serves pages on loopback, each with the policy that it has in its header. */
function pages(found) {
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      const page = found[request.url];
      response.writeHead(page ? 200 : 404, { 'content-type': 'text/html', ...(page?.headers ?? {}) });
      response.end(page?.html ?? '');
    });
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, stop: () => server.close() }));
  });
}

// What the page gets from the frame around it and what it says is handed on, as the protocol wants it of a proxy.
const PROXY = `<!doctype html><title>proxy</title><link rel="icon" href="data:,"><script>
let inner;
addEventListener('message', ({ source, data }) => {
  if (inner && source === inner.contentWindow) return parent.postMessage(data, '*');
  if (source !== parent) return;
  if (data.method === 'ui/notifications/sandbox-resource-ready') {
    inner = document.createElement('iframe');
    inner.title = 'page';
    inner.style.cssText = 'width:100%;height:94vh;border:0';
    inner.setAttribute('sandbox', data.params.sandbox);
    inner.srcdoc = data.params.html;
    document.body.append(inner);
  } else inner?.contentWindow.postMessage(data, '*');
});
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
</script>`;
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'";

/** Opens the browser with the client's page. */
export async function open(server) {
  const host = await build({
    entryPoints: ['browser/host.ts'],
    bundle: true,
    write: false,
    format: 'iife',
    charset: 'ascii',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const script = host.outputFiles[0].text.replaceAll('</script', '<\\/script');
  const html = `<!doctype html><html lang="en"><head><title>rounds</title><link rel="icon" href="data:,"></head><body><script>${script}</script>`;
  const hosts = await pages({ '/': { html } });
  // Another port is another origin.
  const proxies = await pages({ '/': { html: PROXY, headers: { 'content-security-policy': POLICY } } });
  const browser = await chromium.launch({
    executablePath: process.env.PATH.split(':')
      .map((folder) => join(folder, BROWSER))
      .find(existsSync),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    headless: true,
  });
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  const [calls, notes, wrong] = [[], [], []];
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(`console: ${message.text()}`);
  });
  const own = [hosts.port, proxies.port].map((port) => `http://127.0.0.1:${port}/`);
  const allow = (prefix) => own.push(prefix);
  let current = server;
  /** Has the page ask another server, or the first again. */
  const use = (other) => {
    current = other ?? server;
  };
  page.on('request', (request) => {
    const url = request.url();
    if (!own.some((known) => url.startsWith(known)) && !url.startsWith('about:') && !url.startsWith('data:'))
      wrong.push(`request: ${url}`);
  });
  await page.exposeFunction('callTool', (name, args) => {
    calls.push({ name, args });
    return current.call(name, args);
  });
  await page.exposeFunction('note', (kind, what) => void notes.push({ kind, what }));
  await page.goto(own[0]);
  const read = await server.request('resources/read', { uri: 'ui://emend/review' });
  const app = read.contents[0].text;

  /** Shows the page, with the arguments and the result of a call, and returns its frame. */
  const show = async (
    tool,
    args,
    { framing = 'direct', theme = 'light', takesMessages = true, change = (result) => result } = {},
  ) => {
    const result = change(await current.call(tool, args));
    calls.length = 0;
    notes.length = 0;
    const given = { html: app, theme, tool, takesMessages, ...(framing === 'proxy' ? { proxy: own[1] } : {}) };
    await page.evaluate((given) => window.show(given), given);
    await page.evaluate((args) => window.bridge.sendToolInput({ arguments: args }), args);
    await page.evaluate((result) => window.bridge.sendToolResult(result), result);
    const outer = page.frameLocator('iframe');
    return { frame: framing === 'proxy' ? outer.frameLocator('iframe') : outer, result };
  };
  const stop = async () => {
    await browser.close();
    hosts.stop();
    proxies.stop();
  };
  return { page, calls, notes, wrong, show, use, allow, stop };
}
