// What a person has chosen so far, by the server's hunk numbers. Nothing here reaches a file: all of it is staged until Apply.

import type { ReviewFile, ReviewHunk } from './contract.ts';

export type Choice = 'open' | 'accepted' | 'rejected';

/** What can be taken back: a choice, with what was chosen before, or a text, with the hunk as it was. */
export type Step = { before: Map<number, Choice> } | { file: ReviewFile; hunk: ReviewHunk };

export class Staging {
  /** The hunks that are only taken together, by each of them. */
  private readonly units = new Map<number, number[]>();
  private readonly choices = new Map<number, Choice>();
  private past: Step[] = [];

  constructor(together: number[][]) {
    for (const unit of together) for (const number of unit) this.units.set(number, unit);
  }

  /** Learns of hunks, which are open. */
  learn(numbers: number[]): void {
    for (const number of numbers) if (!this.choices.has(number)) this.choices.set(number, 'open');
  }

  /** Returns all hunks that go with these. */
  unit(numbers: number[]): number[] {
    return [...new Set(numbers.flatMap((number) => this.units.get(number) ?? [number]))];
  }

  choose(numbers: number[], choice: Choice): void {
    const before = new Map<number, Choice>();
    for (const number of this.unit(numbers)) {
      const known = this.choices.get(number) ?? 'open';
      if (known !== choice) before.set(number, known);
      this.choices.set(number, choice);
    }
    if (before.size > 0) this.past.push({ before });
  }

  /** Remembers that a hunk has another text now. */
  wrote(file: ReviewFile, hunk: ReviewHunk): void {
    this.past.push({ file, hunk });
  }

  /** Takes the last choice back, and returns it; of a text it is for the caller to bring back the one before. */
  back(): Step | undefined {
    const step = this.past.pop();
    if (step && 'before' in step) for (const [number, choice] of step.before) this.choices.set(number, choice);
    return step;
  }

  /** Goes on from another of the same preview. */
  goOnFrom(other: Staging): void {
    this.past = other.past;
  }

  /** Sets what was chosen before this began, which is nothing to take back. */
  begin(numbers: number[], choice: Choice): void {
    for (const number of numbers) this.choices.set(number, choice);
  }

  of(numbers: number[]): Choice {
    return this.choices.get(numbers[0] ?? -1) ?? 'open';
  }

  all(): number[] {
    return [...this.choices.keys()].sort((a, b) => a - b);
  }

  /** Returns the hunks that Apply takes: all that are not rejected. */
  taken(): number[] {
    return this.all().filter((number) => this.choices.get(number) !== 'rejected');
  }

  count(choice: Choice): number {
    return [...this.choices.values()].filter((chosen) => chosen === choice).length;
  }
}

/** Runs an action at most once at a time: a second call while it runs is the same call. */
export function once<T>(action: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= action().finally(() => {
      running = undefined;
    });
    return running;
  };
}
