//! The body of a hunk of a unified diff: which lines belong to it, and their kinds.
//!
//! ```text
//! body = (" " line | "-" line | "+" line | "" | line | "\ No newline at end of file")+
//! ```
//!
//! The end of a body is found in one of two ways. The counts of the header decide if they fit: only they can tell that
//! `--- x` is a removed line `-- x`. Models miscount, so if the counts do not fit, the body ends at the next line that
//! can only belong to the diff itself: a header, an `@@`, a closing fence, the signature of a mail.

use alloc::vec::Vec;

use super::lines::{NumberedLine, invalid};
use super::wrapper::Wrapper;
use super::{Line, git};
use crate::problem::Problem;
use crate::problem::malformed::Unified;

/// The body of a hunk.
#[derive(Debug, Default)]
pub(super) struct HunkBody {
    pub(super) lines: Vec<Line>,
    /// Which of the lines ended in CRLF though the first line of the hunk did not.
    pub(super) crs: Vec<bool>,
    /// Whether the last line of the old side is marked as without newline, and so is the last of the file.
    pub(super) old_unended: bool,
    /// Whether the last line of the new side is marked so.
    pub(super) new_unended: bool,
    /// Whether the counts of the header decided where the body ends.
    pub(super) counted: bool,
}

/// The lines in which hunks are read, and what is opened around them, each with the number of its first line.
#[derive(Clone, Copy)]
pub(super) struct BodyScope<'a, 'b> {
    pub(super) lines: &'b [NumberedLine<'a>],
    pub(super) wrappers: &'b [(Wrapper<'a>, usize)],
}

impl BodyScope<'_, '_> {
    fn text(&self, at: usize) -> Option<&str> {
        self.lines.get(at).map(|line| line.text)
    }

    /// Returns whether the line can only belong to the diff itself, so that a hunk before it has ended.
    pub(super) fn ends_hunk(&self, at: usize) -> bool {
        let Some(line) = self.text(at) else { return true };
        line.starts_with("@@")
            || self.wrappers.iter().any(|(wrapper, _)| wrapper.is_closed_by(line))
            || git::begins(self.lines, at)
            || self.is_signature(at)
            || (line.starts_with("From ") && line.len() > 45 && line[5..].bytes().take(40).all(is_hex))
            || (line.starts_with("diff -") && line.len() > 8)
            || line == "GIT binary patch"
    }

    /// Returns whether git's mail signature stands here: `-- ` and a version.
    pub(super) fn is_signature(&self, at: usize) -> bool {
        let is_version = |line: &str| {
            line.starts_with(|c: char| c.is_ascii_digit())
                && line.contains('.')
                && line.len() < 40
                && !line.contains(';')
        };
        matches!(self.text(at), Some("-- " | "--"))
            && self.text(at + 1).is_none_or(|next| next.is_empty() || is_version(next))
    }

    /// Returns where the body that starts at `from` ends by its counts, if they fit.
    fn counted_end(&self, from: usize, (mut old, mut new): (usize, usize)) -> Option<usize> {
        let mut at = from;
        while (old, new) != (0, 0) {
            let line = self.text(at)?;
            match line.as_bytes().first() {
                Some(b'\\') if is_no_newline(line) => {}
                Some(b'-') => old = old.checked_sub(1)?,
                Some(b'+') => new = new.checked_sub(1)?,
                first => {
                    if !matches!(first, Some(b' ') | None) && self.ends_hunk(at) {
                        return None;
                    }
                    old = old.checked_sub(1)?;
                    new = new.checked_sub(1)?;
                }
            }
            at += 1;
        }
        while self.text(at).is_some_and(is_no_newline) {
            at += 1;
        }
        (at > from && self.nothing_more(at)).then_some(at)
    }

    /// Returns whether the hunk does not go on at `at`; if it does, its counts were too small.
    fn nothing_more(&self, at: usize) -> bool {
        let Some(blank) =
            self.lines.get(at..).map(|rest| rest.iter().take_while(|l| l.text.is_empty()).count())
        else {
            return true;
        };
        let next = at + blank;
        // Inside a wrapper, only the diff can follow; outside, prose may.
        self.ends_hunk(next)
            || (self.wrappers.is_empty()
                && !self.text(next).is_some_and(|line| line.starts_with([' ', '-', '+'])))
    }

    /// Returns where the body that starts at `from` ends by the lines that follow it.
    fn structural_end(&self, from: usize) -> usize {
        let mut end = from;
        while !self.ends_hunk(end) {
            end += 1;
        }
        while end > from && self.lines[end - 1].text.is_empty() {
            end -= 1;
        }
        end
    }

    /// Reads the body from `at` on, and moves `at` behind it.
    pub(super) fn read(&self, at: &mut usize, counts: Option<(usize, usize)>) -> Result<HunkBody, Problem> {
        let from = *at;
        let counted = counts.and_then(|counts| self.counted_end(from, counts));
        *at = counted.unwrap_or_else(|| self.structural_end(from));
        let mut body = HunkBody { counted: counted.is_some(), ..HunkBody::default() };
        for line in &self.lines[from..*at] {
            let is_marker = is_no_newline(line.text);
            let again = match body.lines.last() {
                // A side that has ended cannot go on.
                _ if !is_marker => match kind(line.text) {
                    Line::Added(_) => body.new_unended,
                    Line::Removed(_) => body.old_unended,
                    Line::Context(_) | Line::Bare(_) => body.old_unended || body.new_unended,
                },
                None => true,
                Some(last) => {
                    body.old_unended |= last.before().is_some();
                    body.new_unended |= last.after().is_some();
                    false
                }
            };
            if again {
                return Err(invalid(line.number, Unified::NoNewlineInside));
            }
            if !is_marker {
                body.lines.push(kind(line.text));
                body.crs.push(line.cr && from.checked_sub(1).is_some_and(|header| !self.lines[header].cr));
            }
        }
        Ok(body)
    }
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// Returns whether the line is `\ No newline at end of file`, in any language.
fn is_no_newline(line: &str) -> bool {
    line.starts_with("\\ ") && line.len() >= 12
}

fn kind(line: &str) -> Line {
    match line.as_bytes().first() {
        None => Line::Context("".into()),
        Some(b' ') => Line::Context(line[1..].into()),
        Some(b'-') => Line::Removed(line[1..].into()),
        Some(b'+') => Line::Added(line[1..].into()),
        Some(_) => Line::Bare(line.into()),
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::super::lines::numbered;
    use super::*;
    use crate::problem::Kind;

    fn scope_of<T>(text: &str, fence: Option<&str>, ask: impl FnOnce(BodyScope<'_, '_>) -> T) -> T {
        let wrappers: Vec<_> =
            fence.and_then(Wrapper::opened_by).map(|wrapper| (wrapper, 1)).into_iter().collect();
        ask(BodyScope { lines: &numbered(text), wrappers: &wrappers })
    }

    /// Returns the number of lines of the body and whether its counts decided that.
    fn length(text: &str, fence: Option<&str>, counts: Option<(usize, usize)>) -> (usize, bool) {
        scope_of(text, fence, |scope| {
            let mut at = 0;
            let body = scope.read(&mut at, counts).unwrap();
            (at, body.counted)
        })
    }

    #[test]
    fn a_hunk_ends_at_a_line_that_only_the_diff_can_have() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let ends = |text: &str| scope_of(text, Some("```"), |scope| scope.ends_hunk(0));
        for line in [
            "@@ -1 +1 @@",
            "```",
            "````",
            "diff --git a/x b/x",
            "diff -u a b",
            "--- a\n+++ b",
            "-- \n2.53.0",
            "--\n",
            "GIT binary patch",
            &format!("From {hash} Mon Sep 17 00:00:00 2001"),
            "",
        ] {
            let line = if line.is_empty() { line.into() } else { format!("{line}\n") };
            assert!(ends(&line), "{line:?}");
        }
        for line in [
            "\n",
            " @@",
            "``",
            "```py",
            "diff -r",
            "diff",
            "--- a",
            "-- \n2",
            "-- \n1.5;",
            "-- \nSELECT 1.5",
            "-- x",
            "GIT binary patches",
            "From here on it is the same as what was before this",
            &format!("From {hash}"),
            &format!("From {}g Mon Sep 17 00:00:00 2001", &hash[1..]),
            &format!("-- \n1.{}", "2".repeat(38)),
        ] {
            assert!(!ends(&format!("{line}\n")), "{line:?}");
        }
        let closes = |fence| scope_of("```\n", fence, |scope| scope.ends_hunk(0));
        assert!(closes(Some("```diff")) && !closes(Some("````")) && !closes(None));
    }

    #[test]
    fn the_counts_decide_where_a_body_ends_if_they_fit() {
        let hunk = " a\n-b\n+c\n d\n";
        assert_eq!(length(hunk, None, Some((3, 3))), (4, true));
        for wrong in [(2, 2), (4, 4), (3, 2), (2, 3), (0, 0)] {
            assert_eq!(length(hunk, None, Some(wrong)), (4, false), "{wrong:?}");
        }
        assert_eq!(length(hunk, None, None), (4, false));
        // What looks like a header is a removed and an added line.
        let like_header = " a\n--- x\n+++ y\n@@ -1 +1 @@\n";
        assert_eq!(length(like_header, None, Some((2, 2))), (3, true));
        assert_eq!(length(like_header, None, None), (1, false));
        // Prose may follow, but not in a fence; nor may the hunk go on, even below a blank line.
        let prose = |between: &str| format!("{hunk}{between}Prose.\n");
        assert_eq!(length(&prose(""), None, Some((3, 3))), (4, true));
        assert_eq!(length(&prose("\n"), None, Some((3, 3))), (4, true));
        assert_eq!(length(&prose(""), Some("```"), Some((3, 3))), (5, false));
        assert_eq!(length(&format!("{hunk}```\n"), Some("```"), Some((3, 3))), (4, true));
        assert_eq!(length(&format!("{hunk}@@\n"), None, Some((3, 3))), (4, true));
        for more in [" e", "-e", "+e"] {
            assert_eq!(length(&format!("{hunk}\n{more}\n"), None, Some((3, 3))), (6, false), "{more}");
        }
        // A blank line is context, and so is one that has lost its sign, unless it is the diff's own.
        assert_eq!(length("-a\n\nb\n", None, Some((3, 2))), (3, true));
        assert_eq!(length("-a\n@@\n", None, Some((2, 1))), (1, false));
        assert_eq!(length("-a\n\n\n", None, None), (1, false), "blank lines at its end are left out");
    }

    /// Returns which sides are without newline, or the line that says so at a wrong place.
    fn unended(text: &str) -> Result<(bool, bool), Option<usize>> {
        let text = text.replace('%', "\\ No newline at end of file");
        scope_of(&text, None, |scope| match scope.read(&mut 0, None) {
            Ok(body) => Ok((body.old_unended, body.new_unended)),
            Err(problem) => match *problem.kind {
                Kind::InvalidFormat { line, .. } => Err(line),
                kind => panic!("{kind:?}"),
            },
        })
    }

    #[test]
    fn a_side_that_has_ended_does_not_go_on() {
        for (text, sides) in [
            ("-a\n+b\n", (false, false)),
            ("-a\n%\n+b\n", (true, false)),
            ("-a\n+b\n%\n", (false, true)),
            ("-a\n%\n+b\n%\n", (true, true)),
            (" a\n%\n", (true, true)),
            ("+b\n%\n-a\n", (false, true)),
        ] {
            assert_eq!(unended(text), Ok(sides), "{text}");
        }
        for (text, line) in [
            ("%\n-a\n", 1),
            ("-a\n%\n-b\n", 3),
            ("-a\n%\n b\n", 3),
            ("+a\n%\n+b\n", 3),
            ("+a\n%\n b\n", 3),
            ("-a\n%\n+b\nc\n", 4),
            (" a\n%\n-b\n", 3),
            (" a\n%\n+b\n", 3),
        ] {
            assert_eq!(unended(text), Err(Some(line)), "{text}");
        }
    }

    #[test]
    fn the_marker_of_a_missing_newline_is_known_in_any_language() {
        let is_marker = |line: &str| is_no_newline(line);
        assert!(
            is_marker("\\ No newline at end of file")
                && is_marker("\\ Kein Umbr.")
                && is_marker("\\ 0123456789")
        );
        assert!(
            !is_marker("\\ 012345678") && !is_marker("\\begin{document}") && !is_marker(" \\ No newline")
        );
        let kinds: Vec<Line> = ["", " a", "-a", "+a", "a"].map(kind).into();
        let text = || String::from("a");
        assert_eq!(
            kinds,
            [
                Line::Context(String::new()),
                Line::Context(text()),
                Line::Removed(text()),
                Line::Added(text()),
                Line::Bare(text())
            ]
        );
    }
}
