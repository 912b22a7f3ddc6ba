//! Excerpts of long lines for answers: a short line is shown whole, a longer one by the stretch that matters, with the
//! sizes of the parts left out. Excerpts are only for readers; no code parses them.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One in this many bytes of an excerpt stands before the place that matters; also how far two votes may differ.
const BEFORE: usize = 4;
/// How many words of a text are searched for in a line to tell where the text stands there.
const WORDS: usize = 32;
/// The shortest word that is searched for; shorter ones are too common.
const TELLING: usize = 4;

/// Returns the line if it fits into `room` bytes, else the stretch of it around `at`.
#[must_use]
pub fn around(line: &[u8], at: usize, room: usize) -> String {
    if line.len() <= room {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = at.saturating_sub(room / BEFORE).min(line.len() - room);
    let (start, end) = (boundary(line, start), boundary(line, start + room));
    let shown = String::from_utf8_lossy(&line[start..end]);
    let before = if start > 0 { format!("({start} bytes) ...") } else { String::new() };
    let after = if end < line.len() { format!("... ({} bytes)", line.len() - end) } else { String::new() };
    format!("{before}{shown}{after}")
}

/// Returns a name as it stands in the line of a list: a line feed in it must not begin a line that nobody wrote.
#[must_use]
pub fn in_line(name: &str) -> Cow<'_, str> {
    if !name.contains(['\n', '\r']) {
        return name.into();
    }
    name.replace('\n', "\\n").replace('\r', "\\r").into()
}

/// Returns the offset of the first difference of two lines; if one is a prefix of the other, its length.
#[must_use]
pub fn first_difference(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Returns where a text begins to differ from a line that contains it or nearly does, as offsets in the line and in the
/// text. Most of the text's words decide where in the line it begins.
#[must_use]
pub fn difference_within(line: &[u8], text: &[u8]) -> (usize, usize) {
    let common = first_difference(line, text);
    if common >= line.len().min(text.len()) / 2 {
        return (common, common);
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let mut starts: Vec<usize> = Vec::new();
    let (mut own, mut words) = (0, 0);
    for word in text.split(|byte| !is_word(byte)) {
        if word.len() >= TELLING && words < WORDS {
            words += 1;
            let found = memchr::memmem::find_iter(line, word).take(WORDS);
            starts.extend(found.filter_map(|at| at.checked_sub(own)));
        }
        own += word.len() + 1;
    }
    starts.sort_unstable();
    let support = |start: usize| starts.iter().filter(|other| other.abs_diff(start) <= BEFORE).count();
    let Some(start) = starts.iter().copied().rev().max_by_key(|&start| support(start)) else {
        return (common, common);
    };
    let common = first_difference(&line[start..], text);
    (start + common, common)
}

/// Returns the start of the character that contains the byte at `at`.
fn boundary(line: &[u8], mut at: usize) -> usize {
    while at > 0 && at < line.len() && line[at] & 0xc0 == 0x80 {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(in_line("a b"), "a b");
        assert_eq!(in_line("a\nM b.txt\r"), "a\\nM b.txt\\r");
    }

    #[test]
    fn a_short_line_is_shown_whole_and_of_a_long_one_what_matters() {
        assert_eq!(around(b"abcdef", 3, 6), "abcdef");
        assert_eq!(around(b"0123456789", 0, 4), "0123... (6 bytes)");
        assert_eq!(around(b"0123456789", 5, 4), "(4 bytes) ...4567... (2 bytes)");
        assert_eq!(around(b"0123456789", 10, 4), "(6 bytes) ...6789");
        assert_eq!(around("\u{e4}\u{e4}\u{e4}\u{e4}".as_bytes(), 4, 3), "(4 bytes) ...\u{e4}... (2 bytes)");
    }

    #[test]
    fn the_first_difference_is_found_where_most_words_stand() {
        let line = b"var a=1;function total(items){return items.length};var b=2;";
        assert_eq!(difference_within(line, b"function total(items){return items.size}"), (43, 35));
        assert_eq!(difference_within(line, b"var a=1;function total(x){}"), (23, 23));
        assert_eq!(difference_within(line, b"zzz"), (0, 0));
    }
}
