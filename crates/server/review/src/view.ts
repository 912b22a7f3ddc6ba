// The view: files, hunks and what was chosen, drawn from the server's pages. It draws a hunk when it comes near the window.

import { table, visible } from './code.ts';
import { languageOf } from './colours.ts';
import type { ReviewFile, ReviewHunk, ReviewPage } from './contract.ts';
import { byId, el } from './dom.ts';
import { isWritable, proposal, type Row, rows, written } from './lines.ts';
import { type Choice, Staging } from './staging.ts';

/** How many lines around a hunk one click shows. */
const STEP = 20;
/** How many lines of a hunk are drawn at once. */
const PART = 1_000;
/** The height of a line, for hunks that are not drawn yet. */
const LINE = 20;

export interface Actions {
  choose(numbers: number[], choice: Choice): void;
  lines(path: string, first: number, last: number): Promise<string[]>;
  /** Has a hunk write this text in place of its own. */
  revise(file: ReviewFile, hunk: ReviewHunk, text: string): Promise<void>;
}

interface Shown {
  hunk: ReviewHunk;
  section: HTMLElement;
  body: HTMLElement;
  above: Row[];
  below: Row[];
  /** How many of its own lines are drawn. */
  part: number;
}

export class View {
  staging = new Staging([]);
  private files: ReviewFile[] = [];
  private readonly hunks: Shown[] = [];
  private readonly groups: HTMLElement[] = [];
  private current = -1;
  private isSplit = false;
  private canChoose = false;
  private readonly near: IntersectionObserver;
  /** Sends a comment to the model; absent where the client takes none. */
  private comment?: (about: string, text: string) => Promise<string>;
  /** Whether comments go with a decision, so that there are none where there is none to make. */
  private goesWithDecision = false;
  private isDecided = false;

  constructor(private readonly actions: Actions) {
    this.near = new IntersectionObserver(
      (seen) => {
        for (const entry of seen) if (entry.isIntersecting) this.draw(entry.target as HTMLElement);
      },
      { rootMargin: '800px 0px' },
    );
  }

  /** Lets a person comment. What takes the comment says what became of it. */
  allowComments(comment: (about: string, text: string) => Promise<string>, goesWithDecision: boolean): void {
    this.comment = comment;
    this.goesWithDecision = goesWithDecision;
  }

  /** Begins anew with the first page. */
  begin(page: ReviewPage): void {
    this.near.disconnect();
    this.hunks.length = 0;
    this.groups.length = 0;
    this.current = -1;
    this.files = page.files ?? [];
    this.canChoose = page.subject === 'preview';
    this.isDecided = page.subject !== 'preview' && page.subject !== 'approval';
    this.staging = new Staging(page.together ?? []);
    byId('hunks').replaceChildren();
    byId('files').replaceChildren(...this.files.map((file, at) => this.listed(file, at)));
    this.files.forEach((file, at) => {
      this.groups.push(this.group(file, at));
    });
    byId('hunks').append(...this.groups);
    const notes = [...(page.notes ?? []), ...(page.fired ?? []).map((fired) => `ran: ${fired}`)];
    byId('notes').replaceChildren(...notes.map((note) => el('li', {}, visible(note))));
    this.add(page);
  }

  /** Adds the hunks of a further page. */
  add(page: ReviewPage): void {
    for (const hunk of page.hunks) {
      if (this.canChoose) this.staging.learn(hunk.numbers);
      const shown = this.section(hunk, this.hunks.length);
      this.hunks.push(shown);
      this.groups[hunk.file]?.append(shown.section);
      this.near.observe(shown.section);
    }
    this.mark();
  }

  /** Shows this in place of hunks. */
  replace(nodes: Node[]): void {
    this.begin({ subject: 'list', id: '', state: 'made', stale: [], hunks: [], total: 0, files: [] });
    byId('hunks').replaceChildren(...nodes);
  }

  get isAllKnown(): boolean {
    return this.hunks.length >= this.files.reduce((sum, file) => sum + file.hunks, 0);
  }

  get count(): number {
    return this.hunks.length;
  }

  setSplit(isSplit: boolean): void {
    this.isSplit = isSplit;
    for (const shown of this.hunks) if (shown.body.childElementCount > 0) this.draw(shown.section, true);
  }

  /** Goes to the hunk that is so many further. */
  go(steps: number): void {
    if (this.hunks.length === 0) return;
    const to = Math.min(Math.max(this.current + steps, 0), this.hunks.length - 1);
    this.select(to);
    const section = (this.hunks[to] as Shown).section;
    this.draw(section);
    section.focus({ preventScroll: true });
    section.scrollIntoView({ block: 'nearest' });
  }

  /** Chooses for the hunk that is selected, and goes to the next. */
  chooseCurrent(choice: Choice): void {
    if (!this.canChoose) return;
    if (this.current < 0) this.select(0);
    const hunk = this.hunks[this.current]?.hunk;
    if (!hunk) return;
    this.actions.choose(hunk.numbers, choice);
    if (this.current + 1 < this.hunks.length) this.go(1);
  }

  /** Shows what was chosen. */
  mark(): void {
    for (const { hunk, section } of this.hunks) {
      const choice = this.canChoose ? this.staging.of(hunk.numbers) : 'open';
      if (section.dataset.choice === choice) continue;
      section.dataset.choice = choice;
      for (const button of section.querySelectorAll<HTMLElement>('button[data-choice]')) {
        button.setAttribute('aria-pressed', String(button.dataset.choice === choice));
      }
    }
  }

  private select(at: number): void {
    const before = this.hunks[this.current]?.section;
    before?.removeAttribute('aria-current');
    this.current = at;
    this.hunks[at]?.section.setAttribute('aria-current', 'true');
  }

  private listed(file: ReviewFile, at: number): HTMLElement {
    const go = () => {
      const group = this.groups[at];
      group?.scrollIntoView({ block: 'start' });
      group?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true });
    };
    return el('li', {}, el('button', { type: 'button', class: 'file', click: go }, ...described(file)));
  }

  private group(file: ReviewFile, at: number): HTMLElement {
    const numbers = () => this.hunks.filter(({ hunk }) => hunk.file === at).flatMap(({ hunk }) => hunk.numbers);
    const button = (choice: Choice, label: string) =>
      el(
        'button',
        {
          type: 'button',
          'aria-label': `${label} file ${file.path}`,
          click: () => this.actions.choose(numbers(), choice),
        },
        `${label} file`,
      );
    const buttons = this.canChoose ? [button('accepted', 'Accept'), button('rejected', 'Reject')] : [];
    const modes = file.modes ? el('pre', { class: 'modes' }, visible(file.modes.trimEnd())) : undefined;
    const empty = file.hunks === 0 ? el('p', { class: 'modes' }, 'No line of it is shown.') : undefined;
    const head = el('div', { class: 'head' }, el('h2', { tabindex: '-1' }, ...described(file)), ...buttons);
    return el('section', { class: 'group', 'aria-label': file.path }, head, modes, empty);
  }

  private section(hunk: ReviewHunk, at: number): Shown {
    const file = this.files[hunk.file] as ReviewFile;
    const what = this.canChoose ? `Hunk ${hunk.numbers.join(', ')}` : `Change ${at + 1}`;
    const body = el('div', { class: 'body' });
    const choose = (choice: Choice, label: string) =>
      el(
        'button',
        {
          type: 'button',
          'data-choice': choice,
          'aria-pressed': 'false',
          'aria-label': `${label} hunk ${hunk.numbers.join(', ')}`,
          click: () => this.actions.choose(hunk.numbers, this.staging.of(hunk.numbers) === choice ? 'open' : choice),
        },
        label,
      );
    const together = this.canChoose ? this.staging.unit(hunk.numbers) : [];
    const others = together.filter((number) => !hunk.numbers.includes(number));
    const head = el(
      'div',
      { class: 'head' },
      el('h3', {}, `${what}, line ${firstChange(hunk)}`),
      others.length > 0 ? el('span', { class: 'hint' }, `goes with ${others.join(', ')}`) : undefined,
      ...(this.canChoose ? [choose('accepted', 'Accept'), choose('rejected', 'Reject')] : []),
    );
    const section = el(
      'section',
      { class: 'hunk', tabindex: '-1', 'data-at': String(at), 'aria-label': `${what} of ${file.path}` },
      head,
      hunk.forgiven === undefined ? undefined : el('p', { class: 'forgiven' }, visible(hunk.forgiven)),
      hunk.is_cut ? el('p', { class: 'forgiven' }, 'Very long lines are shown around their change.') : undefined,
      body,
    );
    if (this.canChoose && isWritable(file, hunk)) head.append(this.revising(section, what, file, hunk));
    if (this.comment && !(this.goesWithDecision && this.isDecided))
      head.append(this.commenting(section, what, file, hunk));
    section.style.containIntrinsicSize = `auto ${Math.min(hunk.lines.length, PART) * LINE + 50}px`;
    section.addEventListener('focusin', () => this.select(at));
    section.addEventListener('click', () => this.select(at));
    return { hunk, section, body, above: [], below: [], part: PART };
  }

  private revising(section: HTMLElement, what: string, file: ReviewFile, hunk: ReviewHunk): HTMLElement {
    const open = el('button', { type: 'button', 'aria-label': `Edit ${what} by hand` }, 'Edit');
    open.addEventListener('click', () => {
      if (section.querySelector('.revision')) return;
      const proposed = proposal(hunk);
      const rows = String(Math.min(proposed.split('\n').length + 1, 30));
      const text = el('textarea', { rows, spellcheck: 'false', 'aria-label': `The new text of ${what}` });
      text.value = proposed;
      const use = el('button', { type: 'button' }, 'Use this text');
      const form = el('div', { class: 'comment revision' }, text, use);
      const leave = el('button', { type: 'button', click: () => form.remove() }, 'Leave it');
      form.append(leave);
      use.addEventListener('click', () => {
        use.disabled = true;
        const done = () => {
          use.disabled = false;
        };
        this.actions.revise(file, hunk, written(hunk, text.value)).then(done, done);
      });
      section.append(form);
      text.focus();
    });
    return open;
  }

  private commenting(section: HTMLElement, what: string, file: ReviewFile, hunk: ReviewHunk): HTMLElement {
    const open = el('button', { type: 'button', 'aria-label': `Comment on ${what}` }, 'Comment');
    open.addEventListener('click', () => {
      if (section.querySelector('.comment')) return;
      const text = el('textarea', { rows: '2', 'aria-label': `Comment on ${what} for the model` });
      const send = el('button', { type: 'button' }, 'Send to the model');
      // Not a form: frames that may run scripts may not submit any.
      const form = el('div', { class: 'comment' }, text, send);
      send.addEventListener('click', () => {
        if (text.value.trim() === '' || send.disabled) return;
        send.disabled = true;
        const about = `${what} of ${file.path} (line ${firstChange(hunk)})`;
        this.comment?.(about, text.value.trim()).then(
          (said) => {
            const own = el('p', { class: 'said' }, visible(`You: ${text.value.trim()}`));
            form.replaceChildren(own, el('p', { class: 'hint', role: 'status' }, said));
          },
          () => {
            send.disabled = false;
          },
        );
      });
      section.append(form);
      text.focus();
    });
    return open;
  }

  private draw(section: HTMLElement, again = false): void {
    const at = Number(section.dataset.at);
    const shown = this.hunks[at];
    if (!shown || shown.section !== section || (shown.body.childElementCount > 0 && !again)) return;
    this.near.unobserve(section);
    const { hunk, above, below } = shown;
    const file = this.files[hunk.file] as ReviewFile;
    if (hunk.lines.length === 0) {
      shown.body.replaceChildren(el('p', { class: 'hint' }, nothing(file)));
      return;
    }
    const own = rows(hunk);
    const left = own.length - shown.part;
    const all = left > 0 ? [...above, ...own.slice(0, shown.part)] : [...above, ...own, ...below];
    const drawn = table(all, languageOf(file.path), this.isSplit, section.getAttribute('aria-label') ?? '');
    const end = left > 0 ? this.further(shown, left) : this.opener(shown, at, 'below');
    shown.body.replaceChildren(...[this.opener(shown, at, 'above'), drawn, end].filter((node) => node !== undefined));
  }

  /** Returns the button that shows more of a long hunk, of which so many lines are left. */
  private further(shown: Shown, left: number): HTMLElement {
    const show = () => {
      shown.part += PART;
      this.draw(shown.section, true);
    };
    const label = `Show ${Math.min(left, PART)} of ${left} more lines`;
    return el('button', { type: 'button', class: 'opener', click: show }, label);
  }

  /** Returns the button that shows lines above or below a hunk, as far as there are any between it and its neighbour. */
  private opener(shown: Shown, at: number, side: 'above' | 'below'): HTMLElement | undefined {
    const { hunk } = shown;
    const file = this.files[hunk.file] as ReviewFile;
    if (!this.canChoose || file.lines === undefined) return undefined;
    const end = (other: ReviewHunk) =>
      other.old + other.lines.filter((line) => line[0] === ' ' || line[0] === '-').length;
    const neighbour = this.hunks[at + (side === 'above' ? -1 : 1)]?.hunk;
    const sibling = neighbour?.file === hunk.file ? neighbour : undefined;
    if (side === 'below' && sibling) return undefined;
    const from = side === 'above' ? (sibling ? end(sibling) : 0) : end(hunk) + shown.below.length;
    const to = side === 'above' ? hunk.old - shown.above.length : file.lines;
    const count = Math.min(STEP, to - from);
    if (count <= 0) return undefined;
    const first = side === 'above' ? to - count : from;
    const show = async () => {
      const shift = hunk.new - hunk.old + (side === 'below' ? shiftOf(hunk) : 0);
      const lines = await this.actions.lines(file.path, first + 1, first + count);
      const more = lines.map((line, i): Row => {
        const hasCr = line.endsWith('\r');
        const text = hasCr ? line.slice(0, -1) : line;
        const [old, now] = [first + i + 1, first + i + 1 + shift];
        return { kind: 'context', old, new: now, text, hasCr, isUnended: false, changed: [] };
      });
      if (side === 'above') shown.above.unshift(...more);
      else shown.below.push(...more);
      this.draw(shown.section, true);
    };
    const label = `Show ${count} line${count === 1 ? '' : 's'} ${side}`;
    return el('button', { type: 'button', class: 'opener', click: () => void show() }, label);
  }
}

/** Returns the number of the first line that changes, of the new side. */
function firstChange(hunk: ReviewHunk): number {
  const context = hunk.lines.findIndex((line) => line[0] !== ' ');
  return hunk.new + Math.max(context, 0) + 1;
}

function shiftOf(hunk: ReviewHunk): number {
  return hunk.lines.reduce((sum, line) => sum + (line[0] === '+' ? 1 : line[0] === '-' ? -1 : 0), 0);
}

const WORDS = { create: 'new', modify: 'changed', delete: 'deleted', move: 'moved' };

function described(file: ReviewFile): Node[] {
  const from = file.moved_from === undefined ? [] : [el('span', { class: 'path' }, visible(file.moved_from)), ' to '];
  const parts = [
    el('span', { class: `kind ${file.change}` }, WORDS[file.change]),
    ' ',
    ...from,
    el('span', { class: 'path' }, visible(file.path)),
    ' ',
    el('span', { class: 'plus' }, `+${file.added}`),
    ' ',
    el('span', { class: 'minus' }, `-${file.removed}`),
    file.modes ? el('span', { class: 'kind' }, 'mode') : '',
    file.encoding ? el('span', { class: 'kind' }, file.encoding) : '',
  ];
  return parts.map((part) => (typeof part === 'string' ? document.createTextNode(part) : part));
}

/** Says what happens to a file of which no line changes. */
function nothing(file: ReviewFile): string {
  if (file.change === 'create') return 'An empty file is created.';
  if (file.change === 'delete') return 'An empty file is deleted.';
  if (file.change === 'move') return 'The file is moved; its content stays as it is.';
  return 'No line changes.';
}
