// The keys: each does what a button does, or goes to the button where that writes to files.

import { help } from './bar.ts';
import { byId } from './dom.ts';
import { known, view } from './known.ts';
import { step } from './list.ts';
import { back } from './revising.ts';
import { run } from './status.ts';

export function keys(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches('textarea, input, select')) return;
  const actions: Record<string, () => void> = {
    j: () => view.go(1),
    k: () => view.go(-1),
    a: () => view.chooseCurrent('accepted'),
    r: () => view.chooseCurrent('rejected'),
    u: () => {
      if (known.page?.subject === 'edit') byId('undo').focus();
      else run(back)();
    },
    e: () => view.openBox('text'),
    c: () => view.openBox('draft'),
    A: () => byId('apply').focus(),
    '?': help,
  };
  if (known.page?.subject === 'list') Object.assign(actions, { j: () => step(1), k: () => step(-1) });
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
}
