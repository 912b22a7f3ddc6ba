//! The numbered lines of a request, its code fence, and the problems of its lines.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::envelope::Fence;
use super::wrapper::Wrapper;
use crate::problem::{Kind, Malformed, Problem};

/// A line of a request with its one-based number, without its ending.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedLine<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// Whether the line ended in CRLF.
    pub(super) cr: bool,
}

/// Returns the lines of a text. A final newline ends the last one and does not begin another.
pub(super) fn numbered(text: &str) -> Vec<NumberedLine<'_>> {
    let mut lines = Vec::new();
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let text = line.strip_suffix('\r').unwrap_or(line);
        lines.push(NumberedLine { number: i + 1, text, cr: text.len() < line.len() });
    }
    lines
}

/// Makes the problem of a line of the request.
pub(super) fn invalid(line: usize, fault: impl Into<Malformed>) -> Problem {
    Problem::new(Kind::InvalidFormat { line: Some(line), fault: fault.into() })
}

/// Makes the problem of a request as a whole.
pub(super) fn invalid_text(fault: impl Into<Malformed>) -> Problem {
    Problem::new(Kind::InvalidFormat { line: None, fault: fault.into() })
}

/// Shortens a line for a message.
pub(super) fn shorten(line: &str) -> String {
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.into(),
    }
}

/// Returns the lines without blank ones before the first and after the last.
pub(super) fn trimmed<'a, 'b>(lines: &'b [NumberedLine<'a>]) -> &'b [NumberedLine<'a>] {
    let is_filled = |line: &NumberedLine<'_>| !line.text.trim().is_empty();
    let first = lines.iter().position(is_filled).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_filled).map_or(first, |last| last + 1);
    &lines[first..end]
}

/// Returns the lines inside what stands around all of them, or all lines if nothing does.
pub(super) fn unwrapped<'a, 'b>(mut lines: &'b [NumberedLine<'a>]) -> &'b [NumberedLine<'a>] {
    while let [first, inner @ .., last] = trimmed(lines)
        && Wrapper::opened_by(first.text).is_some_and(|wrapper| wrapper.is_closed_by(last.text))
    {
        lines = inner;
    }
    lines
}

/// Returns the lines inside what stands around all of them, and refuses a fence that does not.
pub(super) fn without_fence<'a, 'b>(
    lines: &'b [NumberedLine<'a>],
    not_around: impl Into<Malformed>,
) -> Result<&'b [NumberedLine<'a>], Problem> {
    let lines = unwrapped(lines);
    match trimmed(lines).first() {
        Some(first) if Fence::opened_by(first.text).is_some() => Err(invalid(first.number, not_around)),
        _ => Ok(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::malformed::Unified;

    #[test]
    fn lines_have_numbers_and_know_how_they_ended() {
        let read = |text: &'static str| -> Vec<(usize, &str, bool)> {
            numbered(text).iter().map(|line| (line.number, line.text, line.cr)).collect()
        };
        assert_eq!(read("a\r\n\nb"), [(1, "a", true), (2, "", false), (3, "b", false)]);
        assert_eq!(read("a\r\r\n"), [(1, "a\r", true)]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn a_line_of_more_than_eighty_characters_is_cut_in_a_message() {
        let line = "\u{e9}".repeat(80);
        assert_eq!(shorten(&line), line);
        assert_eq!(shorten(&format!("{line}x")), format!("{line}..."));
    }

    #[test]
    fn the_fence_around_all_lines_is_taken_off_and_one_around_some_is_refused() {
        let inside = |text: &str| match without_fence(&numbered(text), Unified::NoDiff) {
            Ok(lines) => Ok(lines.iter().map(|line| line.text.into()).collect::<Vec<String>>().join("|")),
            Err(problem) => match *problem.kind {
                Kind::InvalidFormat { line, .. } => Err(line),
                kind => panic!("{kind:?}"),
            },
        };
        assert_eq!(inside("a\nb\n"), Ok("a|b".into()));
        assert_eq!(inside("\n```diff\na\nb\n```\n\n"), Ok("a|b".into()));
        assert_eq!(inside("```\n```"), Ok("".into()));
        assert_eq!(inside("\n"), Ok("".into()));
        for text in ["\n```\na\n```\nb\n", "\n````\na\n```\n", "\n```\n"] {
            assert_eq!(inside(text), Err(Some(2)), "{text}");
        }
    }
}
