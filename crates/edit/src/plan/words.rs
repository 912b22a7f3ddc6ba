//! Words of the file that the old text of a change splits.
//!
//! Text may begin and end anywhere in a line, but if text of several lines begins or ends inside a word, it is refused
//! ([`Kind::PartOfWord`]): a line that goes on with more letters is another line.

use alloc::string::String;
use core::ops::Range;

use crate::find::{self, Haystack};
use crate::problem::Kind;

/// How many bytes of a split word are shown on each side.
const LONGEST_WORD: usize = 40;

/// Refuses text of several lines that begins or ends inside a word at this place.
pub(super) fn check_words(h: &Haystack<'_>, old: &[u8], place: &Range<usize>) -> Result<(), Kind> {
    let bytes = h.text().bytes();
    let Some(split) = [place.start, place.end].into_iter().find(|&at| splits_word(bytes, at)) else {
        return Ok(());
    };
    if !old.contains(&b'\n') {
        return Ok(());
    }
    let before = bytes[..split].iter().rev().take(LONGEST_WORD).take_while(|b| is_word(**b)).count();
    let after = bytes[split..].iter().take(LONGEST_WORD).take_while(|b| is_word(**b)).count();
    let word = String::from_utf8_lossy(&bytes[split - before..split + after]).into_owned();
    Err(Kind::PartOfWord {
        line: h.line_number(split),
        word,
        begins: split == place.start,
        shown: find::shown(h, place),
    })
}

/// Returns whether this byte is part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether `at` lies inside a word.
fn splits_word(bytes: &[u8], at: usize) -> bool {
    let has_word = |at: usize| bytes.get(at).is_some_and(|&byte| is_word(byte));
    at > 0 && has_word(at - 1) && has_word(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn several_lines_begin_and_end_with_whole_words() {
        let check = |file: &str, old: &str| {
            let text = Text::new(file.into()).unwrap();
            let start = file.find(old).unwrap();
            check_words(&Haystack::new(&text), old.as_bytes(), &(start..start + old.len()))
        };
        let part = |file: &str, old: &str| match check(file, old) {
            Err(Kind::PartOfWord { line, begins, shown, .. }) => (line, begins, shown),
            other => panic!("{other:?}"),
        };
        let shown = [(1, "a()".into()), (2, "return foobar".into())].to_vec();
        assert_eq!(part("a()\nreturn foobar\n", "a()\nreturn foo"), (2, false, shown));
        let shown = [(1, "elif x:".into()), (2, "  y()".into())].to_vec();
        assert_eq!(part("elif x:\r\n  y()\r\n", "if x:\r\n  y()"), (1, true, shown));
        assert_eq!(check("foobar\n", "foo"), Ok(()));
    }
}
