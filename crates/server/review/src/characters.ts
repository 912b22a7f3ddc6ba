// Characters that nobody sees, or that change the order of others: they are shown by their numbers, so that no line looks like
// something that it is not.

const NAMES: Record<string, string> = {
  '\u00a0': 'no-break space',
  '\u00ad': 'soft hyphen',
  '\u200b': 'zero width space',
  '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'pop directional formatting',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'pop directional isolate',
  '\ufeff': 'byte order mark',
};

// Other controls, spaces, fillers, format characters, tags and variation selectors. Tab is text.
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these characters is meant alone
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}\p{Co}\p{Cn}]/gu;

export interface Piece {
  text: string;
  /** What a hidden character is called, if this is one. */
  hidden?: string;
}

/** Parts a text into what is seen and what is not. */
export function pieces(text: string): Piece[] {
  const parts: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const character = match[0];
    if (character === '\t') continue;
    if (match.index > at) parts.push({ text: text.slice(at, match.index) });
    at = match.index + character.length;
    const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    parts.push({ text: code, hidden: NAMES[character] ? `${code} ${NAMES[character]}` : `${code}, not visible` });
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at) });
  return parts;
}
