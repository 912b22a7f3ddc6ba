// What the page knows: what it shows, what it has heard from the client and the server, and what a person has chosen. There is
// one of each, since there is one page.

import type { ReviewEntry, ReviewPage } from './contract.ts';
import { Keeper } from './kept.ts';
import { isOwnWindow } from './own.ts';
import { View } from './view.ts';

export interface HostContext {
  theme?: 'light' | 'dark';
  toolInfo?: { tool?: { name?: string } };
}

/** What comes with an edit that waits. */
export interface Secret {
  id: string;
  secret?: string;
}

/** A call, with what a person has said of it already. */
export interface Held {
  name: string;
  args: Record<string, unknown>;
  comment?: string;
}

interface Known {
  page?: ReviewPage | undefined;
  input?: Record<string, unknown> | undefined;
  host: HostContext;
  /** The secret that came with an edit that waits, by which this page may approve it. */
  secret?: Secret | undefined;
  /** The call that makes the edit that waits, once it is approved. */
  held?: Held | undefined;
  /** What waits and was previewed, as far as the person was shown it; nothing before the first look. */
  seen?: Set<string>;
  /** The newest of what has come since. */
  news?: ReviewEntry | undefined;
  /** Grows with each subject, so that a late page of another one is known. */
  generation: number;
}

/** Whether the page has a window of its own, where a person and no model is at the other end. */
export const isOwn = isOwnWindow();

export const known: Known = { host: {}, generation: 0 };

/** What a person has chosen and written of what they look at, and of what they looked at before. */
export const keeper = new Keeper(isOwn ? sessionStorage : undefined);

export const view = new View();

/** Returns whether a yes or no of this page counts. */
export function mayDecide(): boolean {
  const { page, secret } = known;
  if (page?.subject !== 'approval' || page.state !== 'waiting') return false;
  return isOwn || (secret?.id === page.id && secret.secret !== undefined);
}
