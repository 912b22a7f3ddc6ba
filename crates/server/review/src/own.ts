// The page in a window of its own, on loopback or on a server over HTTP: what the client does elsewhere, done here. Calls of
// tools go to the server that the page comes from, and the rest stays on the page.

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

/** Returns what the server of the page says of who asks for it. */
function told(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="emend-${name}"]`)?.content;
}

/** The name of the person who has signed in, where that is needed. */
export const person = told('person');

/** Whether the person may change files. */
export const mayWriteFiles = (told('scopes') ?? 'files:write').split(' ').includes('files:write');

/** Returns the address of something that belongs to the page. */
export function ofPage(name: string): string {
  return `${window.location.pathname.replace(/\/$/, '')}/${name}`;
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
    const response = await fetch(ofPage('call'), { method: 'POST', headers, body });
    if (response.status === 401) throw new Error(SIGNED_OUT);
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
export const ENDED =
  person === undefined ? 'emend review has ended. Run it again in the terminal.' : 'The server cannot be reached.';
/** What it means that the server does not know the person any more. */
export const SIGNED_OUT = 'You are signed out. Load this page again to sign in.';

function gone(error: Error): string {
  return error instanceof TypeError ? ENDED : error.message;
}
