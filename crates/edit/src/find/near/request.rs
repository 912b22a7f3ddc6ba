//! The lines of the request, as they may have been meant.
//!
//! A model may send lines with copied line numbers, with entities, or with `\n` for a line break. Such a request is
//! also compared without these, and the better interpretation is shown. This only serves the answer and never an edit.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::tokens::push_words;

/// How many lines of the request are compared; further ones are ignored.
const LINES: usize = 200;
/// How many words of one line are compared.
const WORDS: usize = 64;

/// One line of the request.
#[derive(Debug)]
pub(super) struct RequestLine<'a> {
    /// The line as it may have been meant.
    pub(super) content: Cow<'a, [u8]>,
    /// The line as it was sent.
    pub(super) sent: &'a [u8],
    /// The words of the line, sorted, each once.
    pub(super) words: Vec<u32>,
    /// Whether the line stands for omitted lines.
    pub(super) elision: bool,
}

impl<'a> RequestLine<'a> {
    fn new(content: Cow<'a, [u8]>, sent: &'a [u8]) -> Self {
        let mut words = Vec::new();
        push_words(&content, WORDS, &mut words);
        words.sort_unstable();
        words.dedup();
        let elision = is_elision(&content);
        Self { content, sent, words, elision }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.content.trim_ascii().is_empty()
    }
}

/// Returns the request as it was sent and, if that differs, as it may have been meant.
pub(super) fn interpretations<'a>(wanted: &[&'a [u8]]) -> Vec<Vec<RequestLine<'a>>> {
    let wanted = &wanted[..wanted.len().min(LINES)];
    let mut readings = Vec::new();
    readings.push(wanted.iter().map(|&sent| RequestLine::new(Cow::Borrowed(sent), sent)).collect());
    let numbered = are_numbered(wanted);
    let spaced = numbered && have_space_after_number(wanted);
    let mut meant: Vec<RequestLine<'a>> = Vec::new();
    for &sent in wanted {
        let line = if numbered { without_number(sent).unwrap_or(sent) } else { sent };
        let line = if spaced { line.strip_prefix(b" ").unwrap_or(line) } else { line };
        match unescaped(line) {
            Some(text) => {
                let pieces = text.split(|&byte| byte == b'\n');
                meant.extend(pieces.map(|piece| RequestLine::new(Cow::Owned(piece.to_vec()), sent)));
            }
            None => meant.push(RequestLine::new(Cow::Borrowed(line), sent)),
        }
    }
    // A line break at the very end ends the last line and does not begin another.
    meant.pop_if(|line| line.content.is_empty() && line.sent.ends_with(b"\\n"));
    meant.truncate(LINES);
    if meant.len() != wanted.len() || meant.iter().any(|line| *line.content != *line.sent) {
        readings.push(meant);
    }
    readings
}

/// Returns whether the line stands for omitted ones. A bare `...` may be Python, but then it equals a line of the file.
fn is_elision(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let inside = line.strip_prefix(b"//").or_else(|| line.strip_prefix(b"#")).unwrap_or(line);
    let inside = inside.strip_prefix(b"/*").or_else(|| inside.strip_prefix(b"<!--")).unwrap_or(inside);
    let inside = inside.strip_prefix(b"--").unwrap_or(inside).trim_ascii();
    if line == b"..." || line == "\u{2026}".as_bytes() {
        return true;
    }
    let has_dots = inside.starts_with(b"...") || inside.starts_with("\u{2026}".as_bytes());
    let marked = inside.len() < line.len() || inside.ends_with(b"...") && inside.len() > 3;
    has_dots && marked && line.len() < 200
}

/// Strips a line number as shown before a line: `  12<tab>`, `12|`, `12:`, `12→`.
pub(super) fn without_number(line: &[u8]) -> Option<&[u8]> {
    number(line).map(|(_, rest)| rest)
}

fn number(line: &[u8]) -> Option<(usize, &[u8])> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let value = core::str::from_utf8(&line[..digits]).ok()?.parse().ok()?;
    let rest = &line[digits..];
    let rest = rest.strip_prefix(b" ").filter(|rest| rest.starts_with(b"|")).unwrap_or(rest);
    let rest = match rest {
        [b'\t' | b'|' | b':', rest @ ..] => rest,
        _ => rest.strip_prefix("\u{2192}".as_bytes())?,
    };
    Some((value, rest))
}

/// Returns whether all lines that are not blank have consecutive numbers before them.
fn are_numbered(lines: &[&[u8]]) -> bool {
    let mut last = None;
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        match number(line) {
            Some((value, _)) if last.is_none_or(|(at, before)| value == before + (i - at)) => {
                last = Some((i, value));
            }
            _ => return false,
        }
    }
    last.is_some()
}

/// Returns whether a space that does not belong to the lines follows the numbers: `7 | a`.
fn have_space_after_number(lines: &[&[u8]]) -> bool {
    let rests = || lines.iter().filter_map(|line| without_number(line)).filter(|rest| !rest.is_empty());
    rests().all(|rest| rest.starts_with(b" ")) && rests().any(|rest| !rest[1..].starts_with(b" "))
}

/// Entities and escapes, with what they stand for.
pub(super) const ESCAPES: &[(&str, char)] = &[
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#34;", '"'),
    ("&apos;", '\''),
    ("\\n", '\n'),
    ("\\t", '\t'),
    ("\\\"", '"'),
    ("\\'", '\''),
    ("\\\\", '\\'),
];

/// Replaces the entities and escapes of a line, if it has any.
fn unescaped(line: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr2(b'&', b'\\', line)?;
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr2(b'&', b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        // The two of a CRLF are one line break.
        rest = rest.strip_prefix(b"\\r").filter(|rest| rest.starts_with(b"\\n")).unwrap_or(rest);
        match ESCAPES.iter().find(|(escape, _)| rest.starts_with(escape.as_bytes())) {
            Some((escape, char)) => {
                out.push(*char as u8);
                rest = &rest[escape.len()..];
            }
            None => {
                out.push(rest[0]);
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    (out != line).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn meant(lines: &[&str]) -> Option<Vec<String>> {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let meant = interpretations(&lines).into_iter().nth(1)?;
        Some(meant.iter().map(|line| String::from_utf8_lossy(&line.content).into_owned()).collect())
    }

    #[test]
    fn a_request_is_read_as_it_may_have_been_meant() {
        assert_eq!(meant(&["  7\ta", "", "  9\tb"]), Some(["a", "", "b"].map(String::from).to_vec()));
        assert_eq!(meant(&["7|a", "8|\tb"]), Some(["a", "\tb"].map(String::from).to_vec()));
        assert_eq!(meant(&["7 | a", "8 |   b"]), Some(["a", "  b"].map(String::from).to_vec()));
        assert_eq!(meant(&["7: a", "9: b"]), None);
        assert_eq!(meant(&["a &lt; b", "c"]), Some(["a < b", "c"].map(String::from).to_vec()));
        assert_eq!(meant(&["a\\n\\tb(\\\"c\\\")"]), Some(["a", "\tb(\"c\")"].map(String::from).to_vec()));
        assert_eq!(meant(&["a & b"]), None);
        assert_eq!(
            meant(&["&gt;&amp;&quot;&#39;&#34;&apos;\\r\\n\\'\\\\\\x"]),
            Some([">&\"'\"'", "'\\\\x"].map(String::from).to_vec())
        );
    }

    #[test]
    fn a_line_break_ends_its_line_and_the_last_one_begins_no_other() {
        assert_eq!(meant(&["a\\n"]), Some(["a"].map(String::from).to_vec()));
        assert_eq!(meant(&["a\\n", "b"]), Some(["a", "", "b"].map(String::from).to_vec()));
        assert_eq!(meant(&["a\\nb", ""]), Some(["a", "b", ""].map(String::from).to_vec()));
        let read = |wanted: &[&[u8]]| interpretations(wanted).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(read(&[&b"a\\nb"[..]; 150]), [150, LINES]);
        assert_eq!(read(&[&b"a"[..]; LINES + 1]), [LINES]);
    }

    #[test]
    fn numbers_are_those_of_lines_if_every_line_with_text_has_the_next_one() {
        assert_eq!(meant(&["12\u{2192}a"]), Some(["a"].map(String::from).to_vec()));
        assert_eq!(meant(&["123456789\ta"]), Some(["a"].map(String::from).to_vec()));
        assert_eq!(meant(&["1234567890\ta"]), None);
        assert_eq!(meant(&["7:a", "b"]), None);
        assert_eq!(meant(&["7:a", "7:b"]), None);
        assert_eq!(meant(&["7 a", "8 b"]), None);
        assert_eq!(meant(&["", ""]), None);
        // A space after all numbers is not the line's, unless every line is indented.
        assert_eq!(meant(&["7 | a", "8 |", "9 |   b"]), Some(["a", "", "  b"].map(String::from).to_vec()));
        assert_eq!(meant(&["7|  a", "8|   b"]), Some(["  a", "   b"].map(String::from).to_vec()));
        assert_eq!(meant(&["7| a", "8|b"]), Some([" a", "b"].map(String::from).to_vec()));
    }

    #[test]
    fn an_elision_is_known_by_its_dots() {
        for elision in [
            "  // ... existing code ...",
            "# ... rest",
            "... existing code ...",
            "/* ... */",
            "\t...",
            "....",
        ] {
            assert!(is_elision(elision.as_bytes()), "{elision}");
        }
        for elision in ["<!-- ... -->", "-- ...", "  \u{2026}", "// \u{2026} rest", "#..."] {
            assert!(is_elision(elision.as_bytes()), "{elision}");
        }
        for line in ["...args", "// see above", "foo(...)", "\u{2026} rest", "-- see ...", ""] {
            assert!(!is_elision(line.as_bytes()), "{line}");
        }
        let of = |length: usize| ["// ...", &"x".repeat(length - 6)].concat();
        assert!(is_elision(of(199).as_bytes()) && !is_elision(of(200).as_bytes()));
    }
}
