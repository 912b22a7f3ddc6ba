//! Lines: which of them a definition has, and whether it begins and ends them.

use std::ops::{Range, RangeInclusive};

use crate::Language;

/// The positions of the lines of a text.
pub(super) struct LineStarts<'t> {
    text: &'t [u8],
    newlines: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, newlines: memchr::memchr_iter(b'\n', text).collect() }
    }

    /// Returns the line of an offset, counted from one.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.newlines.partition_point(|newline| *newline < at)
    }

    /// Returns the line of the last byte before an offset.
    pub(super) fn last_line(&self, end: usize) -> usize {
        self.line(end.saturating_sub(1))
    }

    /// Returns the lines of a range.
    pub(super) fn lines(&self, range: &Range<usize>) -> RangeInclusive<usize> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.line(range.start)..=self.line(last)
    }

    /// Returns whether nothing but white space stands before this offset in its line.
    ///
    /// It looks back only as far as there is white space: a file may be one line of many definitions.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let before = self.text[..at].trim_ascii_end();
        let newline =
            self.newlines.partition_point(|newline| *newline < at).checked_sub(1).map(|at| self.newlines[at]);
        match newline {
            Some(newline) => before.len() <= newline,
            None => before.is_empty() || before == b"\xef\xbb\xbf",
        }
    }

    /// Returns whether nothing follows this offset in its line that does not belong to what ends there, and nothing of
    /// it follows in later lines.
    pub(super) fn ends_line(&self, language: Language, end: usize) -> bool {
        let newline = self.newlines.get(self.newlines.partition_point(|newline| *newline < end));
        let (line, below) =
            self.text[end..].split_at(newline.map_or(self.text.len(), |newline| *newline) - end);
        match ending(language, line) {
            Some(Ending::Separated) => true,
            Some(Ending::Bare) => !is_continued(language, below),
            None => false,
        }
    }

    /// Returns the white space at the beginning of the line of an offset.
    pub(super) fn indentation(&self, at: usize) -> &'t [u8] {
        let before = self.newlines.partition_point(|newline| *newline < at).checked_sub(1);
        let start = before.map_or(0, |before| self.newlines[before] + 1);
        let line = &self.text[start..];
        let line = if start == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        &line[..line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()]
    }
}

/// Returns a range without the white space at its end: some nodes have the end of their line.
pub(super) fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range.clone()].trim_ascii_end().len()
}

/// How a definition ends in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With a separator, which belongs to it.
    Separated,
    Bare,
}

/// Returns how a definition ends that this follows in its line; `None` if it does not end with the line.
fn ending(language: Language, rest: &[u8]) -> Option<Ending> {
    let rest = rest.trim_ascii_start();
    let (ending, rest) = match rest.first() {
        Some(byte) if is_separator(language, *byte) => (Ending::Separated, rest[1..].trim_ascii_start()),
        _ => (Ending::Bare, rest),
    };
    let (to_end, closed) = remarks(language);
    let is_closed = || {
        let inside = rest.strip_prefix(b"/*");
        let end = inside.and_then(|inside| Some(&inside[memchr::memmem::find(inside, b"*/")? + 2..]));
        end.is_some_and(|end| end.trim_ascii().is_empty())
    };
    let is_remark = || to_end.is_some_and(|remark| rest.starts_with(remark)) || (closed && is_closed());
    (rest.is_empty() || is_remark()).then_some(ending)
}

/// Returns whether a definition goes on in the lines below it, or has its separator there: `,` at the beginning of a line.
fn is_continued(language: Language, below: &[u8]) -> bool {
    let (to_end, closed) = remarks(language);
    let mut rest = below.trim_ascii_start();
    loop {
        let length = match () {
            () if to_end.is_some_and(|remark| rest.starts_with(remark)) => memchr::memchr(b'\n', rest),
            () if closed && rest.starts_with(b"/*") => memchr::memmem::find(rest, b"*/").map(|at| at + 2),
            () => break,
        };
        let Some(length) = length else { return false };
        rest = rest[length..].trim_ascii_start();
    }
    // In Bash, `;;` ends the arm of a `case` that the definition stands in.
    rest.starts_with(b",") || (language != Language::Bash && rest.starts_with(b";"))
}

/// Returns whether a byte ends a definition that it follows.
fn is_separator(language: Language, byte: u8) -> bool {
    match language {
        Language::JavaScript | Language::Rust | Language::Tsx | Language::TypeScript => {
            matches!(byte, b';' | b',')
        }
        Language::Json => byte == b',',
        Language::Toml => false,
        _ => byte == b';',
    }
}

/// Returns what begins a comment up to the end of the line, and whether there are comments in `/*` and `*/`.
fn remarks(language: Language) -> (Option<&'static [u8]>, bool) {
    match language {
        Language::Bash | Language::Python | Language::Toml => (Some(b"#"), false),
        Language::Css | Language::Html | Language::Json => (None, true),
        _ => (Some(b"//"), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_bytes() {
        let lines = LineStarts::new(b"a\r\nbc\r\n\r\nd");
        assert_eq!([0, 1, 2, 3, 7, 9].map(|at| lines.line(at)), [1, 1, 1, 2, 3, 4]);
        assert_eq!(lines.lines(&(3..10)), 2..=4);
        assert_eq!(lines.lines(&(3..7)), 2..=2);
        assert_eq!(lines.lines(&(0..0)), 1..=1);
    }

    #[test]
    fn only_one_separator_and_remarks_belong_to_what_they_follow() {
        let is_nothing = |language, rest: &str| ending(language, rest.as_bytes()).is_some();
        for nothing in ["", "  \r", ";", ", // x", "; /* x */", " // } fn b() {"] {
            assert!(is_nothing(Language::Rust, nothing), "{nothing}");
        }
        for something in ["}", " x", "/* x */ y", "/* x", "/* x */ /* y */", "# x", "/*/", ";;", ", ,"] {
            assert!(!is_nothing(Language::Rust, something), "{something}");
        }
        assert!(is_nothing(Language::Python, "  # x") && !is_nothing(Language::Python, "; y = 1"));
        assert!(is_nothing(Language::Css, " /* x */") && !is_nothing(Language::Css, "#b { }"));
        assert!(!is_nothing(Language::Css, "//"));
        assert!(is_nothing(Language::Bash, ";") && !is_nothing(Language::Bash, " ;;"));
        for language in [Language::C, Language::Python, Language::Toml, Language::Java] {
            assert!(!is_nothing(language, ","), "{language:?}");
        }
    }

    #[test]
    fn a_separator_in_a_later_line_continues_a_definition() {
        for below in ["\n, b", "\r\n\n  ,b", "\n// x\n/* y */ , b", "\n;"] {
            assert!(is_continued(Language::JavaScript, below.as_bytes()), "{below}");
        }
        for below in ["", "\n", "\nb, c", "\n// , x", "\n/* ,", "\n}"] {
            assert!(!is_continued(Language::JavaScript, below.as_bytes()), "{below}");
        }
        assert!(!is_continued(Language::Bash, b"\n;;"));
        assert!(is_continued(Language::Json, b"\n,"));
    }
}
