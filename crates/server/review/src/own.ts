// The page in a window of its own, on loopback: what the client does elsewhere, done here. Calls of tools go to the server
// that the page comes from, and the rest stays on the page.

import type { Channel } from './bridge.ts';

interface Sent {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
}

/** Returns whether no client shows the page. */
export function isOwnWindow(): boolean {
  return window.parent === window;
}

/** The key for calls. It comes with the page once, and stays where only this origin reads it. */
function key(): string {
  const given = document.querySelector<HTMLMetaElement>('meta[name="emend-key"]');
  if (given) {
    sessionStorage.setItem('emend-key', given.content);
    given.remove();
  }
  return sessionStorage.getItem('emend-key') ?? '';
}

export function toServer(): Channel {
  const own = key();
  let receive: (message: unknown) => void = () => {};
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const theme = () => ({ theme: dark.matches ? 'dark' : 'light' });
  dark.addEventListener('change', () => {
    receive({ jsonrpc: '2.0', method: 'ui/notifications/host-context-changed', params: theme() });
  });

  async function answer({ method, params }: Sent): Promise<unknown> {
    if (method === 'ui/initialize') return { hostContext: theme(), hostCapabilities: {} };
    if (method !== 'tools/call') return {};
    const body = JSON.stringify({ name: params?.name, arguments: params?.arguments ?? {} });
    const headers = { 'content-type': 'application/json', 'x-emend-key': own };
    const response = await fetch('/call', { method: 'POST', headers, body });
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  }

  return {
    send(message) {
      const sent = message as Sent;
      if (sent.id === undefined) return;
      const id = sent.id;
      answer(sent).then(
        (result) => receive({ jsonrpc: '2.0', id, result }),
        (error: Error) => receive({ jsonrpc: '2.0', id, error: { message: gone(error) } }),
      );
    },
    listen(handler) {
      receive = handler;
    },
  };
}

/** What it means that the server cannot be reached. */
export const ENDED = 'emend review has ended. Run it again.';

function gone(error: Error): string {
  return error instanceof TypeError ? ENDED : error.message;
}
