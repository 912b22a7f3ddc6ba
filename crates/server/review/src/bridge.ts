// The bridge to the client that shows the page: JSON-RPC by postMessage, as MCP Apps (2026-01-26) have it. It listens to the
// frame around it alone, and keeps no state but the requests that wait for their answers.

type Params = Record<string, unknown>;

interface Message {
  jsonrpc?: string;
  id?: number | string;
  method?: string;
  params?: Params;
  result?: unknown;
  error?: { message?: string };
}

/** Where messages go to and come from: the window, or its double in tests. */
export interface Channel {
  send(message: unknown): void;
  listen(receive: (message: unknown) => void): void;
}

export function toParent(): Channel {
  return {
    // The host's origin is not known, and nothing that is sent is a secret.
    send: (message) => window.parent.postMessage(message, '*'),
    listen: (receive) =>
      window.addEventListener('message', (event) => {
        if (event.source === window.parent) receive(event.data);
      }),
  };
}

export class Bridge {
  private readonly waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  private readonly handlers = new Map<string, (params: Params) => unknown>();
  private last = 0;

  constructor(private readonly channel: Channel) {
    this.on('ping', () => ({}));
    channel.listen((message) => this.receive(message as Message));
  }

  /** Sets what answers a request or takes a notification of this method. */
  on(method: string, handler: (params: Params) => unknown): void {
    this.handlers.set(method, handler);
  }

  request(method: string, params: Params): Promise<unknown> {
    this.last += 1;
    const id = this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.channel.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method: string, params: Params): void {
    this.channel.send({ jsonrpc: '2.0', method, params });
  }

  private receive(message: Message): void {
    if (message?.jsonrpc !== '2.0') return;
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id as number);
      if (!waiting) return;
      this.waiting.delete(message.id as number);
      if (message.error) waiting.reject(new Error(message.error.message ?? 'the client refused'));
      else waiting.resolve(message.result);
      return;
    }
    const handler = this.handlers.get(message.method);
    if (message.id === undefined) {
      handler?.(message.params ?? {});
      return;
    }
    const id = message.id;
    if (handler) {
      Promise.resolve(handler(message.params ?? {})).then(
        (result) => this.channel.send({ jsonrpc: '2.0', id, result: result ?? {} }),
        (error: Error) => this.channel.send({ jsonrpc: '2.0', id, error: { code: -32603, message: error.message } }),
      );
    } else {
      this.channel.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } });
    }
  }
}
