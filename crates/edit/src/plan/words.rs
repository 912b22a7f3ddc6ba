//! Words of the file that a change of text would cut in two.
//!
//! Text may begin and end anywhere in a line. But where it begins or ends inside a word, its writer may have taken a part
//! of the word for all of it: `JOBS=2` is not the setting `JOBS=22`, and `return tea` not the line `return teapot`. So the
//! change must keep the part beside the cut, or it is refused ([`Kind::CutWord`]):
//!
//! - Text of several lines keeps the part of the word that it has, at the same end and with no more letters.
//! - Text of one line keeps at least the letter (of a number, all digits) beside the cut, and its other end is not an end
//!   of the line: a text that reaches from a cut word to an end of its line looks like a whole line.
//!
//! A word has ASCII letters, digits and `_`. The letter behind a backslash belongs to an escape and to no word.

use alloc::string::String;
use core::ops::Range;

use crate::find::{self, Haystack};
use crate::problem::Kind;

/// How many bytes of each part of a word are shown.
const SHOWN: usize = 40;

/// Refuses a change that would cut a word of the file in two at this place.
pub(super) fn check_words(
    h: &Haystack<'_>,
    place: &Range<usize>,
    old: &[u8],
    new: &[u8],
) -> Result<(), Kind> {
    let (above, below) = (&h.text().bytes()[..place.start], &h.text().bytes()[place.end..]);
    let one_line = !old.strip_suffix(b"\n").unwrap_or(old).contains(&b'\n');
    let (outside, inside) = (last_word(above), first_word(old));
    if !outside.is_empty() && !inside.is_empty() {
        let is_kept = match one_line {
            true => {
                !old.ends_with(b"\n")
                    && !ends_line(below)
                    && keeps(&old[..digits(outside, inside)], new, true)
            }
            false => begins_with_word(inside, new, below),
        };
        if !is_kept {
            return Err(cut_word(h, place, place.start, [outside, inside]));
        }
    }
    let (inside, outside) = (last_word(old), first_word(below));
    if !outside.is_empty() && !inside.is_empty() {
        let is_kept = match one_line {
            true => {
                !begins_line(above) && keeps(&old[old.len() - digits_before(inside, outside)..], new, false)
            }
            false => ends_with_word(inside, new, above),
        };
        if !is_kept {
            return Err(cut_word(h, place, place.end, [inside, outside]));
        }
    }
    Ok(())
}

/// Returns whether this place is a part of a longer word.
pub(super) fn is_in_word(h: &Haystack<'_>, place: &Range<usize>, old: &[u8]) -> bool {
    let bytes = h.text().bytes();
    let both = |one: Option<&u8>, other: Option<&u8>| {
        one.is_some_and(|b| is_word(*b)) && other.is_some_and(|b| is_word(*b))
    };
    both(bytes[..place.start].last(), old.first()) || both(old.last(), bytes.get(place.end))
}

/// Returns how many bytes at the beginning of `inside` must stay because `outside` is before it: all digits of a number, else
/// one letter.
fn digits(outside: &[u8], inside: &[u8]) -> usize {
    match outside.last() {
        Some(last) if last.is_ascii_digit() => {
            inside.iter().take_while(|b| b.is_ascii_digit()).count().max(1)
        }
        _ => 1,
    }
}

/// Returns the same for the end of `inside`, which `outside` follows.
fn digits_before(inside: &[u8], outside: &[u8]) -> usize {
    match outside.first() {
        Some(first) if first.is_ascii_digit() => {
            inside.iter().rev().take_while(|b| b.is_ascii_digit()).count().max(1)
        }
        _ => 1,
    }
}

/// Returns whether `new` has this part at the same end. A number must not get more digits.
fn keeps(part: &[u8], new: &[u8], at_start: bool) -> bool {
    let rest = if at_start { new.strip_prefix(part) } else { new.strip_suffix(part) };
    let Some(rest) = rest else { return false };
    let next = if at_start { rest.first() } else { rest.last() };
    !(part[0].is_ascii_digit() && next.is_some_and(u8::is_ascii_digit))
}

/// Returns whether a line begins after these bytes, its indentation aside.
fn begins_line(above: &[u8]) -> bool {
    let line = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
    above[line..].trim_ascii().is_empty()
}

/// Returns whether a line ends before these bytes, blanks at its end aside.
fn ends_line(below: &[u8]) -> bool {
    below[..memchr::memchr(b'\n', below).unwrap_or(below.len())].trim_ascii().is_empty()
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
    fn text_of_one_line_keeps_the_letter_beside_the_cut_and_does_not_reach_to_an_end_of_its_line() {
        let parts = |left: &str, right: &str| Some((left.into(), right.into()));
        for (file, new, expected) in [
            ("make J=[2]2 all\n", "8", parts("2", "2")),
            ("make [J=2]2 all\n", "J=8", parts("2", "2")),
            ("make J=[2]2 all\n", "12", parts("2", "2")),
            ("make J=2[2] all\n", "", parts("2", "2")),
            ("a re[tea]pot b\n", "cup", parts("re", "tea")),
            ("a [get]User()\n", "getAll", parts("get", "User")),
            // Its other end is an end of the line.
            (
                "1[1,Bob]\n",
                "1,Rob",
                parts("1", "1,Bob").map(|(left, _): (String, String)| (left, "1".into())),
            ),
            ("  [x = old_name]s + 1\n", "x = new_name", parts("old_name", "s")),
            ("f(1[1, b)] \n", "1, c)", parts("1", "1")),
            ("1[1,Bob\n]2,Al\n", "1,Rob\n", parts("1", "1")),
            // The part is meant.
            ("f([get_user]_name)\n", "fetch_user", None),
            ("f(a_[get_user(b]))\n", "get_all(b", None),
            ("a J=2[2 b] c\n", "2 d", None),
            ("a J=[b 2]2 c\n", "d 2", None),
            // No word is cut.
            ("f([tea])\n", "cup", None),
            ("\\n[tea] b\n", "cup", None),
        ] {
            assert_eq!(cut(file, new), expected, "{file}");
        }
    }

    #[test]
    fn places_in_words_are_recognised() {
        let text = Text::new(b"a cat concat cats".to_vec()).unwrap();
        let is_in = |place: Range<usize>| is_in_word(&Haystack::new(&text), &place, b"cat");
        assert_eq!([is_in(2..5), is_in(9..12), is_in(13..16)], [false, true, true]);
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
            old in r"[ax\\ ]{0,3}\n[ax\\ ]{1,3}", new in r"[ax\\ ]{0,3}\n?[ax\\ ]{0,3}",
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
