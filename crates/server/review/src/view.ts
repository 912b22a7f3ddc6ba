// The view: files, hunks and what was chosen, drawn from the server's pages. It draws a hunk when it comes near the window.

import { Boxes } from './boxes.ts';
import { table, visible } from './code.ts';
import { languageOf } from './colours.ts';
import type { ReviewFile, ReviewHunk, ReviewPage } from './contract.ts';
import { described, firstChange, nothing, shiftOf } from './describe.ts';
import { byId, el } from './dom.ts';
import { type Kept, type KeptHunk, keyOf, loosened, type Said, take } from './kept.ts';
import { isWritable, oldCount, proposal, type Row, rows, written } from './lines.ts';
import type { EntryActions } from './list.ts';
import { mayWriteFiles } from './own.ts';
import { type Choice, Staging } from './staging.ts';

/** How many lines around a hunk one click shows. */
const STEP = 20;
/** How many lines of a hunk are drawn at once. */
const PART = 1_000;
/** The height of a line, for hunks that are not drawn yet. */
const LINE = 20;

/** What a person can do with what is drawn. */
export interface Actions extends EntryActions {
  choose(numbers: number[], choice: Choice): void;
  lines(path: string, first: number, last: number): Promise<string[]>;
  /** Has a hunk write this text in place of its own, or what the model wrote. */
  revise(file: ReviewFile, hunk: ReviewHunk, text: string | undefined): Promise<void>;
  /** Something was written. */
  changed(): void;
}

interface Shown {
  hunk: ReviewHunk;
  section: HTMLElement;
  body: HTMLElement;
  /** Stands for what it changes, see `keyOf`. */
  key: string;
  about: string;
  boxes: Boxes;
  above: Row[];
  below: Row[];
  /** How many of its own lines are drawn. */
  part: number;
}

export class View {
  /** Set once, before anything is drawn: what a person does shows something else, with this view. */
  actions!: Actions;
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
  /** What was kept of hunks that are not there yet. */
  private pending: KeptHunk[] = [];
  /** How many hunks something was kept of, and of how many of them it is known that there are no more. */
  carried = { kept: 0, gone: 0 };
  private loose: string[] = [];

  constructor() {
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

  /** Begins anew with the first page, with what a person has chosen and written of it before; in another text of the
   * same preview with what they can take back. */
  begin(page: ReviewPage, kept?: Kept, before?: Staging): void {
    this.pending = [...(kept?.hunks ?? [])];
    this.carried = { kept: this.pending.length, gone: 0 };
    this.loose = [...(kept?.loose ?? [])];
    this.drawLoose();
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
    if (before) this.staging.goOnFrom(before);
    this.add(page);
  }

  /** Adds the hunks of a further page. */
  add(page: ReviewPage): void {
    for (const hunk of page.hunks) {
      const key = keyOf(this.files[hunk.file]?.path ?? '', hunk);
      const kept = take(this.pending, hunk.numbers[0] ?? this.hunks.length, key);
      if (this.canChoose) this.staging.learn(hunk.numbers);
      if (this.canChoose && kept && kept.choice !== 'open') this.staging.begin(hunk.numbers, kept.choice);
      const said: Said = { comments: [...(kept?.comments ?? [])] };
      if (kept?.draft !== undefined) said.draft = kept.draft;
      if (kept?.text !== undefined) said.text = kept.text;
      const shown = this.section(hunk, this.hunks.length, key, said);
      this.hunks.push(shown);
      this.groups[hunk.file]?.append(shown.section);
      this.near.observe(shown.section);
    }
    if (this.isAllKnown && this.pending.length > 0) {
      this.carried.gone = this.pending.length;
      this.loose.push(...loosened(this.pending));
      this.pending = [];
      this.drawLoose();
    }
    this.mark();
  }

  /** Returns what a person has chosen and written. */
  kept(words: string): Kept {
    const own = this.hunks.map(({ hunk, key, about, boxes: { said } }, at): KeptHunk => {
      const choice = this.canChoose ? this.staging.of(hunk.numbers) : 'open';
      return { number: hunk.numbers[0] ?? at, key, about, choice, ...said };
    });
    const isSomething = ({ choice, comments, draft, text }: KeptHunk) =>
      choice !== 'open' || comments.length > 0 || draft !== undefined || text !== undefined;
    return { hunks: [...own.filter(isSomething), ...this.pending], loose: this.loose, words };
  }

  /** Returns what a person says to the model of hunks. */
  comments(): string[] {
    const own = this.hunks.flatMap(({ about, boxes }) => boxes.said.comments.map((said) => `${about}: ${said}`));
    return [...own, ...this.loose];
  }

  /** Goes to the first hunk with a box whose text is neither used nor left. Returns what to do about it, if there is one. */
  unused(): string | undefined {
    const at = this.hunks.findIndex(({ boxes }) => boxes.unused() !== undefined);
    const shown = this.hunks[at];
    const kind = shown?.boxes.unused();
    if (!shown || kind === undefined) return undefined;
    this.goTo(at);
    shown.boxes.focus(kind);
    const buttons = kind === 'text' ? 'Use this text' : 'Send to the model';
    const what = kind === 'text' ? 'a text' : 'a comment';
    return `${shown.about} has ${what} that you are still writing: press "${buttons}" or "Leave it" first.`;
  }

  private drawLoose(): void {
    byId('loose').replaceChildren(
      ...this.loose.map((said) => el('li', {}, visible(`You, of what has changed: ${said}`))),
    );
  }

  /** Shows this in place of hunks. */
  replace(nodes: Node[]): void {
    this.begin({ subject: 'list', id: '', state: 'made', stale: [], hunks: [], total: 0, files: [] });
    byId('hunks').replaceChildren(...nodes);
  }

  get isAllKnown(): boolean {
    return this.hunks.length >= this.files.reduce((sum, file) => sum + file.hunks, 0);
  }

  setSplit(isSplit: boolean): void {
    this.isSplit = isSplit;
    for (const shown of this.hunks) if (shown.body.childElementCount > 0) this.draw(shown.section, true);
  }

  /** Goes to the hunk that is so many further. */
  go(steps: number): void {
    if (this.hunks.length === 0) return;
    this.goTo(Math.min(Math.max(this.current + steps, 0), this.hunks.length - 1));
  }

  /** Goes to the first hunk with one of these numbers. */
  goToNumber(numbers: number[]): void {
    const at = this.hunks.findIndex(({ hunk }) => hunk.numbers.some((number) => numbers.includes(number)));
    if (at >= 0) this.goTo(at);
  }

  /** Opens a box of the hunk that is selected. */
  openBox(kind: 'draft' | 'text'): void {
    if (this.current < 0) this.go(1);
    this.hunks[this.current]?.boxes.open(kind);
  }

  private goTo(to: number): void {
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

  private section(hunk: ReviewHunk, at: number, key: string, said: Said): Shown {
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
      hunk.is_by_hand ? el('span', { class: 'kind' }, 'your text') : undefined,
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
    const about = `${what} of ${file.path} (line ${firstChange(hunk)})`;
    const mayWrite = this.canChoose && mayWriteFiles && isWritable(file, hunk);
    const sends = this.goesWithDecision && this.isDecided ? undefined : this.comment;
    const boxes = new Boxes(what, mayWrite ? proposal(hunk) : '', said, {
      changed: this.actions.changed,
      ...(sends ? { comment: (text: string) => sends(about, text) } : {}),
      ...(mayWrite ? { revise: (text: string) => this.actions.revise(file, hunk, written(hunk, text)) } : {}),
    });
    const button = (label: string, name: string, click: () => void) =>
      head.append(el('button', { type: 'button', 'aria-label': name, click }, label));
    if (mayWrite) button('Edit', `Edit ${what} by hand`, () => boxes.open('text'));
    if (hunk.is_by_hand)
      button(
        "Model's text",
        `Back to the model's text of ${what}`,
        () => void this.actions.revise(file, hunk, undefined),
      );
    if (sends) button('Comment', `Comment on ${what}`, () => boxes.open('draft'));
    section.append(boxes.node);
    section.style.containIntrinsicSize = `auto ${Math.min(hunk.lines.length, PART) * LINE + 50}px`;
    section.addEventListener('focusin', () => this.select(at));
    section.addEventListener('click', () => this.select(at));
    return { hunk, section, body, key, about, boxes, above: [], below: [], part: PART };
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
    const end = (other: ReviewHunk) => other.old + oldCount(other);
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
