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

    /// Returns whether nothing follows this offset in its line that does not belong to what ends there.
    pub(super) fn ends_line(&self, language: Language, end: usize) -> bool {
        let newline = self.newlines.get(self.newlines.partition_point(|newline| *newline < end));
        is_nothing(language, &self.text[end..newline.copied().unwrap_or(self.text.len())])
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

/// Returns whether what follows a definition in its line belongs to it: a separator, a remark.
fn is_nothing(language: Language, rest: &[u8]) -> bool {
    let separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b',');
    let separators = rest.iter().take_while(|byte| separator(byte)).count();
    let rest = &rest[separators..];
    let (to_end, closed) = match language {
        Language::Bash | Language::Python | Language::Toml => (Some("#"), false),
        Language::Css | Language::Html | Language::Json => (None, true),
        _ => (Some("//"), true),
    };
    let is_closed = || {
        let inside = rest.strip_prefix(b"/*");
        let end = inside.and_then(|inside| Some(&inside[memchr::memmem::find(inside, b"*/")? + 2..]));
        end.is_some_and(|end| end.trim_ascii().is_empty())
    };
    rest.is_empty()
        || to_end.is_some_and(|remark| rest.starts_with(remark.as_bytes()))
        || (closed && is_closed())
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
    fn only_separators_and_remarks_belong_to_what_they_follow() {
        for nothing in ["", "  \r", ";", ", // x", "; /* x */", " // } fn b() {"] {
            assert!(is_nothing(Language::Rust, nothing.as_bytes()), "{nothing}");
        }
        for something in ["}", " x", "/* x */ y", "/* x", "/* x */ /* y */", "# x", "/*/"] {
            assert!(!is_nothing(Language::Rust, something.as_bytes()), "{something}");
        }
        assert!(is_nothing(Language::Python, b"  # x") && !is_nothing(Language::Python, b"; y = 1"));
        assert!(is_nothing(Language::Css, b" /* x */") && !is_nothing(Language::Css, b"#b { }"));
        assert!(!is_nothing(Language::Css, b"//"));
    }
}
