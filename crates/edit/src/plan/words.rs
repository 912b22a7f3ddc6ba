//! Words of the file that a change of text would cut in two.
//!
//! Text may begin and end anywhere in a line. But where text of several lines begins or ends inside a word, its writer
//! may have taken a part of the word for all of it: `return tea` is not the line `return teapot`. So the part of the
//! word that the old text has must be in the new text too, at the same end and with no more letters. Then the word
//! stays as it is. Any other change would alter one part of it and keep the other, and is refused ([`Kind::CutWord`]).
//!
//! A word has ASCII letters, digits and `_`. The letter behind a backslash belongs to an escape and to no word.

use alloc::string::String;
use core::ops::Range;

use crate::find::{self, Haystack};
use crate::problem::Kind;

/// How many bytes of each part of a word are shown.
const SHOWN: usize = 40;

/// Refuses a change of several lines that would cut a word of the file in two at this place.
pub(super) fn check_words(
    h: &Haystack<'_>,
    place: &Range<usize>,
    old: &[u8],
    new: &[u8],
) -> Result<(), Kind> {
    if !old.contains(&b'\n') {
        return Ok(());
    }
    let (above, below) = (&h.text().bytes()[..place.start], &h.text().bytes()[place.end..]);
    let (outside, inside) = (last_word(above), first_word(old));
    let parts = [outside, inside];
    if !parts.contains(&&b""[..]) && !begins_with_word(inside, new, below) {
        return Err(cut_word(h, place, place.start, parts));
    }
    let (inside, outside) = (last_word(old), first_word(below));
    let parts = [inside, outside];
    if !parts.contains(&&b""[..]) && !ends_with_word(inside, new, above) {
        return Err(cut_word(h, place, place.end, parts));
    }
    Ok(())
}

/// Returns whether the first word of `new`, which `below` follows, is this one.
fn begins_with_word(word: &[u8], new: &[u8], below: &[u8]) -> bool {
    let Some(rest) = new.strip_prefix(word) else { return false };
    first_word(if rest.is_empty() { below } else { rest }).is_empty()
}

/// Returns whether the last word of `new`, which follows `above`, is this one.
fn ends_with_word(word: &[u8], new: &[u8], above: &[u8]) -> bool {
    let line = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
    new.ends_with(word) && last_word(&[&above[line..], new].concat()) == word
}

/// Makes the problem that a change at this place would cut a word, of which these are the parts, at `offset`.
fn cut_word(h: &Haystack<'_>, place: &Range<usize>, offset: usize, [left, right]: [&[u8]; 2]) -> Kind {
    let (left, right) = (&left[left.len().saturating_sub(SHOWN)..], &right[..right.len().min(SHOWN)]);
    Kind::CutWord {
        line: h.line_number(offset),
        word: String::from_utf8_lossy(&[left, right].concat()).into_owned(),
        at: left.len(),
        begins: offset == place.start,
        shown: find::shown(h, place),
    }
}

/// Returns whether this byte is part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the word with which a text begins; nothing if it begins with none.
fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !is_word(*byte)).unwrap_or(text.len());
    &text[..end]
}

/// Returns the word with which a text ends; nothing if it ends with none.
fn last_word(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(|byte| !is_word(*byte)).map_or(0, |other| other + 1);
    let (before, word) = text.split_at(start);
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 0 { word } else { &word[escape(word)..] }
}

/// Returns how many of the bytes behind a backslash belong to its escape, as in `\n`, `\x41` and `\u00e9`.
fn escape(word: &[u8]) -> usize {
    let Some((kind, digits)) = word.split_first() else { return 0 };
    let most = match kind {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    1 + digits.iter().take(most).take_while(|byte| byte.is_ascii_hexdigit()).count()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::text::Text;
    use proptest::prelude::*;

    /// What is said of a change of the text between the brackets to `new`: the parts of the word that it would cut.
    fn cut(file: &str, new: &str) -> Option<(String, String)> {
        let start = file.find('[').unwrap();
        let end = file.find(']').unwrap();
        let (old, text) = (&file[start + 1..end], file.replace(['[', ']'], ""));
        cut_at(&text, start..end - 1, old, new)
    }

    fn cut_at(file: &str, place: Range<usize>, old: &str, new: &str) -> Option<(String, String)> {
        let text = Text::new(file.into()).unwrap();
        match check_words(&Haystack::new(&text), &place, old.as_bytes(), new.as_bytes()) {
            Ok(()) => None,
            Err(Kind::CutWord { word, at, .. }) => Some((word[..at].into(), word[at..].into())),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_word_that_old_and_new_text_share_is_not_cut() {
        for (file, new) in [
            ("foo b[ar\nbaz] qux\n", "ar\nqux"),
            ("foo b[ar\nba]z qux\n", "ar\nnew\nba"),
            ("a b[ar\nx\nba]z\n", "ar\nba"),
            ("x[1\ny = 1]2\n", "1\nz = 1"),
            ("[a()\nreturn tea]pot\n", "b()\nreturn tea"),
            ("[a()\nreturn tea]pot\n", "tea"),
        ] {
            assert_eq!(cut(file, new), None, "{file} {new}");
        }
    }

    #[test]
    fn a_word_of_which_a_part_would_change_or_go_is_cut() {
        for (file, new, left, right) in [
            ("[a()\nreturn tea]pot\n", "a()\nreturn cup", "tea", "pot"),
            ("[a()\nreturn tea]pot\n", "a()\nreturn pea", "tea", "pot"),
            ("[a()\nreturn tea]pot\n", "a()\nreturn tea\nx()", "tea", "pot"),
            ("[a()\nreturn tea]pot\n", "", "tea", "pot"),
            ("[y\nx = 1]2\n", "y\nx = 11", "1", "2"),
            ("[y\nx = 1]2\n", "y\nx = 21", "1", "2"),
            ("[y\nx = 1]2\n", "y\nx = 13", "1", "2"),
            ("el[if x:\n  y()]\n", "while x:\n  y()", "el", "if"),
            ("el[if x:\n  y()]\n", "iffy x:\n  y()", "el", "if"),
            ("el[if x:\n  y()]\n", "z()\nif x:\n  y()", "el", "if"),
            ("b[ar\nba]r\n", "ar", "b", "ar"),
            ("b[ar\n]x\n", "ar", "b", "ar"),
        ] {
            assert_eq!(cut(file, new), Some((left.into(), right.into())), "{file} {new}");
        }
    }

    #[test]
    fn an_escape_is_no_part_of_the_word_that_follows_it() {
        for file in
            ["\\n[foo\na]\n", "\\\\\\t[foo\na]\n", "\\x41[foo\na]\n", "\\u00e9[foo\na]\n", "[a\nb\\n]foo\n"]
        {
            assert_eq!(cut(file, "bar"), None, "{file}");
        }
        let parts = |left: &str, right: &str| Some((left.into(), right.into()));
        assert_eq!(cut("\\\\n[foo\na]\n", "bar\na"), parts("n", "foo"));
        assert_eq!(cut("\\nb[ar\na]\n", "or\na"), parts("b", "ar"));
        assert_eq!(cut("[a\n\\nfo]o\n", "a\n\\nba"), parts("fo", "o"));
        assert_eq!(cut("[a\n\\nfo]o\n", "b\n\\tfo"), None);
        assert_eq!(cut("[a\n\\nfo]o\n", "b\nnfo"), parts("fo", "o"));
    }

    #[test]
    fn a_word_is_named_whole_up_to_forty_bytes_on_each_side() {
        let named = |file: &str| cut(file, "").unwrap();
        assert_eq!(named("[a()\n_foo1]bar()\n"), ("_foo1".into(), "bar".into()));
        assert_eq!(named("my_[a\nb]\n"), ("my_".into(), "a".into()));
        let (long, shown) = ("x".repeat(SHOWN + 1), "x".repeat(SHOWN));
        assert_eq!(named(&format!("[a\n{long}]{long}")), (shown.clone(), shown));
        // An end beside a sign, or of the file, splits nothing.
        for file in ["a[.b\nc]", "[a\nb]-c"] {
            assert_eq!(cut(file, ""), None, "{file}");
        }
    }

    #[test]
    fn one_line_is_text_wherever_it_stands() {
        assert_eq!(cut("re[tea]pot\n", "cup"), None);
    }

    /// The words of a text with their places, read from its beginning.
    fn words(text: &str) -> Vec<(Range<usize>, String)> {
        let (bytes, mut words, mut at) = (text.as_bytes(), Vec::new(), 0);
        while at < bytes.len() {
            let rest = &bytes[at..];
            let letters = |bytes: &[u8]| bytes.iter().take_while(|b| is_word(**b)).count();
            let len = match rest {
                [b'\\', b'x', b'a', b'a', ..] => 4,
                [b'\\', b'x', b'a', ..] => 3,
                [b'\\', _, ..] => 2,
                _ => match letters(rest) {
                    0 => 1,
                    len => {
                        words.push((at..at + len, text[at..at + len].into()));
                        len
                    }
                },
            };
            at += len;
        }
        words
    }

    proptest! {
        /// The words that the edges of the old text split are in the result, just as far from its edges.
        #[test]
        fn a_change_keeps_every_word_that_its_edges_split(
            above in r"[ax\\ ]{0,5}", below in r"[ax\\ ]{0,5}",
            old in r"[ax\\ ]{0,3}\n[ax\\ ]{0,3}", new in r"[ax\\ ]{0,3}\n?[ax\\ ]{0,3}",
        ) {
            let (before, after) = (format!("{above}{old}{below}"), format!("{above}{new}{below}"));
            let (start, end) = (above.len(), above.len() + old.len());
            let result = words(&after);
            let stays = |word: &(Range<usize>, String), edge: usize| {
                let moved = if edge == end { new.len().wrapping_sub(old.len()) } else { 0 };
                let place = word.0.start.wrapping_add(moved)..word.0.end.wrapping_add(moved);
                result.contains(&(place, word.1.clone()))
            };
            let kept = words(&before).iter().all(|word| {
                let split = |edge: &usize| word.0.start < *edge && *edge < word.0.end;
                let part = word.0.end.min(end).saturating_sub(word.0.start.max(start));
                let kept = |edge: &usize| part <= new.len() && stays(word, *edge);
                [start, end].iter().filter(|edge| split(edge)).all(kept)
            });
            prop_assert_eq!(cut_at(&before, start..end, &old, &new).is_none(), kept, "{} {}", before, after);
        }
    }
}
