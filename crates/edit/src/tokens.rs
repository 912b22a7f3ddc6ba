//! The hashed words of a text, by which the search for the nearest lines compares lines.
//!
//! A word is a run of ASCII letters, digits and underscores, whatever their case. Every other letter is a word of its
//! own, so that scripts without spaces have words too. A line of punctuation alone is one word. Equal hashes count as
//! equal words: a collision costs a worse suggestion, never a wrong edit.

use alloc::vec::Vec;

/// How many words of one line are kept; the rest is ignored.
const PER_LINE: usize = 16_384;
/// How many words of a text are kept: 16 MiB. Later lines are not found.
const PER_TEXT: usize = 4 << 20;

/// The hashed words of each line of a text.
#[derive(Debug)]
pub(crate) struct Tokens {
    hashes: Vec<u32>,
    /// The index at which each line's words end.
    ends: Vec<u32>,
}

impl Tokens {
    /// Hashes the words of these lines, as far as there is room.
    pub(crate) fn from_lines<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut hashes, mut ends) = (Vec::new(), Vec::new());
        for line in lines {
            if hashes.len() >= PER_TEXT {
                break;
            }
            push_words(line, PER_LINE, &mut hashes);
            ends.push(hashes.len() as u32);
        }
        Self { hashes, ends }
    }

    /// Returns how many lines were hashed.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the words of line `index`; none for a line that was not hashed.
    pub(crate) fn line(&self, index: usize) -> &[u32] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.hashes[start as usize..end as usize]
    }
}

/// The class of a byte: between words, in a word, or part of a non-ASCII letter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Gap,
    Word,
    Wide,
}

const CLASSES: [CharClass; 256] = {
    let mut classes = [CharClass::Gap; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' {
            classes[byte] = CharClass::Word;
        } else if b >= 0x80 {
            classes[byte] = CharClass::Wide;
        }
        byte += 1;
    }
    classes
};

const SEED: u32 = 0x811c_9dc5;

fn add(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// Mixes the high bits into the low ones, which index tables.
fn finish(hash: u32) -> u32 {
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash ^ (hash >> 13)
}

/// Appends the hashes of at most `limit` words of `line`.
pub(crate) fn push_words(line: &[u8], limit: usize, out: &mut Vec<u32>) {
    let before = out.len();
    let mut at = 0;
    while at < line.len() && out.len() - before < limit {
        match CLASSES[line[at] as usize] {
            CharClass::Gap => at += 1,
            CharClass::Word => {
                let mut hash = SEED;
                while at < line.len() && CLASSES[line[at] as usize] == CharClass::Word {
                    // Sets the lower-case bit; digits and underscores stay distinct.
                    hash = add(hash, line[at] | 0x20);
                    at += 1;
                }
                out.push(finish(hash));
            }
            CharClass::Wide => {
                let start = at;
                at += 1;
                while at < line.len() && line[at] & 0xc0 == 0x80 {
                    at += 1;
                }
                if !is_mark(&line[start..at]) {
                    out.push(finish(line[start..at].iter().fold(SEED, |hash, &byte| add(hash, byte))));
                }
            }
        }
    }
    let trimmed = line.trim_ascii();
    if out.len() == before && !trimmed.is_empty() && limit > 0 {
        let trimmed = &trimmed[..trimmed.len().min(256)];
        out.push(finish(trimmed.iter().fold(SEED, |hash, &byte| add(hash, byte))));
    }
}

/// Returns whether this is a typographic mark or a no-break space, which requests often write otherwise.
fn is_mark(char: &[u8]) -> bool {
    matches!(char, [0xc2, 0xa0] | [0xe2, 0x80 | 0x81, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<u32> {
        let mut out = Vec::new();
        push_words(line.as_bytes(), 100, &mut out);
        out
    }

    #[test]
    fn words_are_equal_whatever_is_between_them() {
        assert_eq!(words("let x_1 = Foo(\"a\")"), words("  let\tx_1 =foo(\u{201c}a\u{201d}) "));
        assert_ne!(words("let x_1"), words("let x1"));
        assert_eq!(words("日本").len(), 2);
        assert_eq!(words("  });"), words("});"));
        assert!(words(" \t").is_empty());
    }

    #[test]
    fn each_line_has_its_own_words() {
        let tokens = Tokens::from_lines([&b"a b"[..], b"", b"c"].into_iter());
        assert_eq!([0, 1, 2, 3].map(|i| tokens.line(i).len()), [2, 0, 1, 0]);
    }
}
