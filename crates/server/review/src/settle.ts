// A second in which clicks do nothing, after something else has come under the mouse: a double click, or one that was on its
// way, was meant for what was there before. The keyboard is not held up, since its focus does not move by itself.

import { byId } from './dom.ts';

const SETTLING = 1_000;
/** What does something that a person would have to take back. */
const ACTING = ['apply', 'undo', 'remake', 'approve', 'deny', 'again'];

let settling: ReturnType<typeof setTimeout> | undefined;

export function settle(): void {
  for (const id of ACTING) byId(id).setAttribute('aria-disabled', 'true');
  clearTimeout(settling);
  settling = setTimeout(() => {
    for (const id of ACTING) byId(id).removeAttribute('aria-disabled');
  }, SETTLING);
}

/** Has clicks of the mouse on what is not settled do nothing. */
export function holdClicks(): void {
  document.addEventListener(
    'click',
    (event) => {
      const isHeld = event.detail > 0 && (event.target as Element).closest('[aria-disabled="true"]') !== null;
      if (!isHeld) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
}
