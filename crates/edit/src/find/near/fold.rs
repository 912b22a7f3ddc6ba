//! What lines are when some difference is left out of account: white space, typography, case.

use alloc::string::String;

/// Whether the lines are equal but for white space, case and typography.
pub(super) fn loosely_equal(a: &[u8], b: &[u8]) -> bool {
    loosely(a).eq(loosely(b))
}

/// Whether the lines are equal but for white space.
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

/// A quotation mark or apostrophe as the straight one.
pub(super) fn quote(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{b4}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
        c => c,
    }
}

/// A dash as a hyphen.
pub(super) fn dash(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}' => '-',
        c => c,
    }
}

/// A space of whatever width as the ordinary one.
pub(super) fn space(c: char) -> char {
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        c => c,
    }
}

/// Characters that take no room.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

pub(super) fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Whether the texts are equal once a letter with a mark of its own equals the letter composed with it.
/// Which letter it is composed of is not looked up: this only names a difference.
pub(super) fn equal_but_composition(a: &str, b: &str) -> bool {
    let is_mark = |c: char| matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}');
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) => {
                let (mut marks_a, mut marks_b) = (0, 0);
                while a.next_if(|&c| is_mark(c)).is_some() {
                    marks_a += 1;
                }
                while b.next_if(|&c| is_mark(c)).is_some() {
                    marks_b += 1;
                }
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
