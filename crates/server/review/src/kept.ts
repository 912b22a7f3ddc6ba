// What a person has chosen and written of something that they review, kept while they look at something else. It belongs to
// hunks by what these change, so that it stays with them when the same is previewed again.

import type { ReviewHunk } from './contract.ts';
import type { Choice } from './staging.ts';

/** What a person says of a hunk. */
export interface Said {
  /** What was said to the model. */
  comments: string[];
  /** What is being written to the model, in a box that is open. */
  draft?: string;
  /** The new text that is being written, in a box that is open. */
  text?: string;
}

export interface KeptHunk extends Said {
  number: number;
  /** Stands for the file and its removed and added lines; absent where the number alone says which hunk it is. */
  key?: string;
  /** What the hunk is called. */
  about: string;
  choice: Choice;
}

export interface Kept {
  hunks: KeptHunk[];
  /** What was said of hunks that there are no more. */
  loose: string[];
  /** The word for the model beside the buttons. */
  words: string;
}

/** Returns what stands for a hunk's change of a file. */
export function keyOf(path: string, hunk: ReviewHunk): string {
  const changed = hunk.lines.filter((line) => line[0] !== ' ');
  const text = [path, ...changed].join('\n');
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) + one;
  }
  return `${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}.${text.length}`;
}

/** Takes out what was kept of this hunk: by its number, or by what it changes where its number is another now. */
export function take(pending: KeptHunk[], number: number, key: string): KeptHunk | undefined {
  const isOwn = (kept: KeptHunk) => kept.number === number && (kept.key === undefined || kept.key === key);
  const own = pending.findIndex(isOwn);
  const at = own >= 0 ? own : pending.findIndex((kept) => kept.key === key);
  return at < 0 ? undefined : pending.splice(at, 1)[0];
}

/** Returns what was said of these hunks, which there are no more. */
export function loosened(gone: KeptHunk[]): string[] {
  return gone.flatMap((kept) => {
    const drafts = [kept.draft, kept.text].filter((text) => text !== undefined && text.trim() !== '');
    return [...kept.comments, ...drafts].map((text) => `${kept.about}: ${text}`);
  });
}

/** Says what became of what was kept of hunks, of which some are gone. */
export function carried(kept: number, gone: number): string {
  if (kept === 0) return '';
  if (gone === 0) return ' Your choices and comments stay.';
  const were = gone === 1 ? 'one was of a hunk that has changed' : `${gone} were of hunks that have changed`;
  return ` Of your choices and comments on ${kept} hunk${kept === 1 ? '' : 's'}, ${were}: look at ${gone === 1 ? 'it' : 'them'} again.`;
}

/** Where it is kept: in memory, and in the tab where the page has an origin of its own. */
export class Keeper {
  private readonly memory = new Map<string, string>();

  constructor(private readonly tab: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined) {}

  keep(id: string, kept: Kept): void {
    if (kept.hunks.length === 0 && kept.loose.length === 0 && kept.words === '') {
      this.forget(id);
      return;
    }
    const text = JSON.stringify(kept);
    if (this.memory.get(id) === text) return;
    this.memory.set(id, text);
    try {
      this.tab?.setItem(`emend-kept-${id}`, text);
    } catch {
      // The tab is full: it stays in memory.
    }
  }

  recall(id: string): Kept | undefined {
    const text = this.memory.get(id) ?? this.tab?.getItem(`emend-kept-${id}`) ?? undefined;
    return text === undefined ? undefined : (JSON.parse(text) as Kept);
  }

  forget(id: string): void {
    this.memory.delete(id);
    this.tab?.removeItem(`emend-kept-${id}`);
  }
}
