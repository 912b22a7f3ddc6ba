// What a person writes about a hunk, below its lines: comments that the model gets, and the boxes in which they write one or
// the new text of the hunk.

import { visible } from './code.ts';
import { el } from './dom.ts';
import type { Said } from './kept.ts';

export interface BoxActions {
  /** Something was typed, opened or closed. */
  changed(): void;
  /** Sends a comment to the model; absent where it takes none. Returns what became of it. */
  comment?: (text: string) => Promise<string>;
  /** Has the hunk write this text; absent where nobody can. */
  revise?: (text: string) => Promise<void>;
}

type Kind = 'draft' | 'text';

export class Boxes {
  readonly node = el('div', { class: 'boxes' });
  /** Made when there is something to put in: there may be thousands of hunks. */
  private readonly parts: Partial<Record<Kind | 'list', HTMLElement>> = {};
  /** What stood in boxes that were closed, for when they are opened again. */
  private readonly left: Partial<Record<Kind, string>> = {};

  constructor(
    private readonly what: string,
    /** The new text of the hunk. */
    private readonly proposed: string,
    readonly said: Said,
    private readonly actions: BoxActions,
  ) {
    for (const comment of said.comments) this.show(comment);
    for (const kind of ['draft', 'text'] as const) if (said[kind] !== undefined) this.fill(kind);
  }

  /** Opens a box, or goes to the one that is open. */
  open(kind: Kind): void {
    if (kind === 'draft' ? !this.actions.comment : !this.actions.revise) return;
    if (this.said[kind] === undefined) {
      this.said[kind] = this.left[kind] ?? (kind === 'text' ? this.proposed : '');
      this.fill(kind);
      this.actions.changed();
    }
    this.focus(kind);
  }

  /** Returns what is written and neither used nor left. */
  unused(): Kind | undefined {
    if (this.said.text !== undefined && this.said.text !== this.proposed) return 'text';
    return this.said.draft !== undefined && this.said.draft.trim() !== '' ? 'draft' : undefined;
  }

  focus(kind: Kind): void {
    this.part(kind).querySelector('textarea')?.focus();
  }

  private part(kind: Kind | 'list'): HTMLElement {
    if (this.parts[kind] === undefined) {
      for (const each of ['list', 'draft', 'text'] as const) this.parts[each] = el('div');
      this.node.append(...Object.values(this.parts));
    }
    return this.parts[kind] as HTMLElement;
  }

  private show(comment: string, became?: string): void {
    this.part('list').append(el('p', { class: 'said' }, visible(`You: ${comment}`)));
    if (became !== undefined) this.part('list').append(el('p', { class: 'hint said', role: 'status' }, became));
  }

  private close(kind: Kind): void {
    const value = this.said[kind];
    if (value !== undefined) this.left[kind] = value;
    delete this.said[kind];
    this.part(kind).replaceChildren();
    this.node.closest<HTMLElement>('.hunk')?.focus({ preventScroll: true });
    this.actions.changed();
  }

  private fill(kind: Kind): void {
    const value = this.said[kind] ?? '';
    const isText = kind === 'text';
    const rows = String(isText ? Math.min(value.split('\n').length + 1, 24) : 2);
    const label = isText ? `The new text of ${this.what}` : `Comment on ${this.what} for the model`;
    const area = el('textarea', { rows, spellcheck: isText ? 'false' : 'true', 'aria-label': label });
    area.value = value;
    area.addEventListener('input', () => {
      this.said[kind] = area.value;
      this.actions.changed();
    });
    area.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close(kind);
    });
    const use = el('button', { type: 'button' }, isText ? 'Use this text' : 'Send to the model');
    const leave = el('button', { type: 'button', click: () => this.close(kind) }, 'Leave it');
    // Not a form: frames that may run scripts may not submit any.
    const row = el('div', { class: 'row' }, use, leave, el('span', { class: 'hint' }, 'Esc leaves it'));
    use.addEventListener('click', () => {
      if (use.disabled || (!isText && area.value.trim() === '')) return;
      use.disabled = true;
      const done = () => {
        use.disabled = false;
      };
      (isText ? this.use(area.value) : this.send(area.value.trim())).then(done, done);
    });
    this.part(kind).replaceChildren(el('div', { class: isText ? 'comment revision' : 'comment' }, area, row));
  }

  private async use(text: string): Promise<void> {
    await this.actions.revise?.(text);
  }

  private async send(comment: string): Promise<void> {
    const became = await this.actions.comment?.(comment);
    this.said.comments.push(comment);
    this.close('draft');
    delete this.left.draft;
    this.show(comment, became);
    this.actions.changed();
  }
}
