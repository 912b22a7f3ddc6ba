//! Comparisons of lines that ignore some differences: white space, typography, case.

use alloc::string::String;
use core::iter::from_fn;

/// Returns whether the lines are equal except for white space, case and typography.
pub(super) fn loosely_equal(a: &[u8], b: &[u8]) -> bool {
    loosely(a).eq(loosely(b))
}

/// Returns whether the lines are equal except for white space.
pub(super) fn equal_but_space(a: &[u8], b: &[u8]) -> bool {
    let words = |line| <[u8]>::iter(line).filter(|byte| !byte.is_ascii_whitespace());
    words(a).eq(words(b))
}

fn loosely(line: &[u8]) -> impl Iterator<Item = char> {
    let chars = line.utf8_chunks().flat_map(|chunk| {
        chunk.valid().chars().chain((!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER))
    });
    chars.filter(|&c| !c.is_whitespace() && !is_invisible(c)).map(|c| dash(quote(c)).to_ascii_lowercase())
}

/// Replaces a quotation mark or apostrophe by the straight one.
pub(super) fn quote(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{b4}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
        c => c,
    }
}

/// Replaces a dash by a hyphen.
pub(super) fn dash(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}' => '-',
        c => c,
    }
}

/// Replaces a space of any width by the ordinary one.
pub(super) fn space(c: char) -> char {
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        c => c,
    }
}

/// Returns whether a character has no width.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

pub(super) fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns whether the texts are equal if a letter with combining marks equals any composed letter. The composition is
/// not looked up, since this only names a difference.
pub(super) fn equal_but_composition(a: &str, b: &str) -> bool {
    let is_mark = |c: &char| matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}');
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) => {
                let [marks_a, marks_b] =
                    [&mut a, &mut b].map(|text| from_fn(|| text.next_if(is_mark)).count());
                let same = x == y && marks_a == marks_b;
                let composed = marks_a > 0 && marks_b == 0 && !y.is_ascii()
                    || marks_b > 0 && marks_a == 0 && !x.is_ascii();
                if !same && !composed {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_loosely_equal_whatever_their_white_space_case_and_typography() {
        for (a, b) in [
            ("Foo (a)", "foo(\tA )"),
            ("\u{2018}a\u{2019} \u{2014} \u{201c}b\u{201d}", "'a' - \"b\""),
            ("a\u{200b}b\u{feff}", "ab"),
            ("a\u{a0}b", "a b"),
        ] {
            assert!(loosely_equal(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
        for (a, b) in [("ab", "ac"), ("ab", "abc"), ("a-b", "ab"), ("'a'", "\"a\"")] {
            assert!(!loosely_equal(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
        // Bytes that are not UTF-8 are not left out.
        assert!(loosely_equal(b"a\xff b", b"A\xffb") && !loosely_equal(b"a\xff", b"a"));
    }

    #[test]
    fn lines_are_equal_but_for_space_if_all_else_is() {
        assert!(equal_but_space(b" a b\t", b"ab") && equal_but_space(b"", b" "));
        assert!(!equal_but_space(b"a b", b"A b") && !equal_but_space(b"ab", b"abc"));
    }
}
