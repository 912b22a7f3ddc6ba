// The client of the rounds: the official bridge, with the page in a sandboxed frame, directly or behind a proxy of another
// origin as the protocol describes it. Calls of tools go to the rounds, which have the server.

import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

interface Given {
  html: string;
  proxy?: string;
  theme: 'light' | 'dark';
  tool: string;
  takesMessages: boolean;
}

declare global {
  interface Window {
    callTool(name: string, args: unknown): Promise<unknown>;
    note(kind: string, what: unknown): Promise<void>;
    show(given: Given): Promise<void>;
    bridge: AppBridge;
  }
}

const CSP = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

window.show = async ({ html, proxy, theme, tool, takesMessages }) => {
  document.querySelector('iframe')?.remove();
  const frame = document.createElement('iframe');
  frame.title = 'Review';
  frame.style.cssText = 'width: 100%; height: 95vh; border: 0';
  const capabilities = { serverTools: {}, updateModelContext: {}, ...(takesMessages ? { message: {} } : {}) };
  const toolInfo = { tool: { name: tool, inputSchema: { type: 'object' as const } } };
  const hostContext = { theme, toolInfo };
  const bridge = new AppBridge(null, { name: 'rounds', version: '1' }, capabilities, { hostContext });
  window.bridge = bridge;
  bridge.oncalltool = async ({ name, arguments: args }) => (await window.callTool(name, args ?? {})) as never;
  bridge.onmessage = async (params) => {
    await window.note('message', params);
    return {};
  };
  bridge.onupdatemodelcontext = async (params) => {
    await window.note('context', params);
    return {};
  };
  bridge.onsizechange = (params) => void window.note('size', params);
  const ready = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  frame.setAttribute('sandbox', proxy ? 'allow-scripts allow-same-origin' : 'allow-scripts');
  if (proxy) frame.src = proxy;
  document.body.append(frame);
  const window_ = frame.contentWindow as Window;
  bridge.onsandboxready = () => void bridge.sendSandboxResourceReady({ html, sandbox: 'allow-scripts' });
  await bridge.connect(new PostMessageTransport(window_, window_));
  if (!proxy) {
    const policy = `<meta http-equiv="Content-Security-Policy" content="${CSP}">`;
    frame.srcdoc = html.replace('<head>', () => `<head>${policy}`);
  }
  await ready;
};
