//! Detection of the format of a request, by its first structural line.
//!
//! ```text
//! v4a             "*** Begin Patch", or "*** Add|Update|Delete|Move File:"
//! search-replace  "<<<<<<< SEARCH" or "------- SEARCH"
//! unified         "diff --git ", "--- a" and below it "+++ b", or "@@ " before a line of a hunk
//! context         "*** a" and below it "--- b", or "***************" and below it "*** 1,2 ****"
//! ed, rcs         a command, as the first line of the text or of its fence
//! whole           none of these, and a fence
//! ```
//!
//! Such marks count only at the beginning of a line, and **the first one decides**: later ones may be content, since
//! the edited file may itself contain patches. A V4A line may be indented if it is the very first of the text or its
//! fence, or if nothing else is structural. A text that its parser refuses is not given to another parser.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::envelope::{self, Fence, agree};
use super::lines::{invalid_text, shorten};
use super::wrapper::Wrapper;
use super::{Patch, context, ed, print, rcs, search_replace, unified, v4a, whole};
use crate::problem::malformed::Header;
use crate::problem::{Malformed, Problem};

/// An edit format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A patch in Codex's format.
    V4a,
    /// A unified diff, also git's.
    Unified,
    /// A context diff.
    Context,
    /// An ed script.
    Ed,
    /// An RCS script, as `diff -n` writes it.
    Rcs,
    /// SEARCH/REPLACE blocks.
    SearchReplace,
    /// Whole files in fences.
    Whole,
}

impl Format {
    /// Every format, in the order in which documents list them.
    pub const ALL: &'static [Self] =
        &[Self::V4a, Self::Unified, Self::SearchReplace, Self::Whole, Self::Context, Self::Ed, Self::Rcs];

    /// Returns the name of the format in requests.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V4a => "v4a",
            Self::Unified => "unified",
            Self::Context => "context",
            Self::Ed => "ed",
            Self::Rcs => "rcs",
            Self::SearchReplace => "search-replace",
            Self::Whole => "whole",
        }
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name)
    }
}

/// Reads a request in this format, or in the detected one. `path` is its file if it names none.
pub fn parse(text: &str, format: Option<Format>, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let parsed = match format.or_else(|| recognise(text)) {
        Some(Format::V4a) => v4a::parse(text).and_then(|patch| match path {
            Some(path) => check_names(patch, path),
            None => Ok(patch),
        }),
        Some(Format::Unified) => unified::parse(text, path),
        Some(Format::Context) => context::parse(text, path),
        Some(Format::Ed) => ed::parse(text, path),
        Some(Format::Rcs) => rcs::parse(text, path),
        Some(Format::SearchReplace) => search_replace::parse(text, path),
        Some(Format::Whole) if format.is_none() => whole::parse_named(text, path),
        Some(Format::Whole) => whole::parse(text, path),
        None => Err(vec![unknown(text)]),
    };
    match has_escaped_breaks(text) {
        true => parsed.map_err(|_| vec![invalid_text(Malformed::EscapedBreaks)]),
        false => parsed,
    }
}

/// Refuses a patch that names other files and not this one, which may also be their folder.
fn check_names(patch: Patch, path: &str) -> Result<Patch, Vec<Problem>> {
    // A root has its name before the path.
    let file = path.rsplit(':').next().unwrap_or(path).trim_end_matches('/');
    let is_in = |name: &str| name.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'));
    let agrees = |name| file.is_empty() || file == "." || agree(file, name) || is_in(name);
    let other = patch.paths().next().filter(|_| !patch.paths().any(agrees));
    match other.map(String::from) {
        Some(named) => Err(vec![invalid_text(Header::AnotherFile { path: path.into(), named, other: None })]),
        None => Ok(patch),
    }
}

/// Returns whether the text is one line, and several with a format if each `\n` in it is a line break.
fn has_escaped_breaks(text: &str) -> bool {
    let text = text.trim();
    let plain = || text.replace("\\r\\n", "\n").replace("\\n", "\n");
    !text.contains('\n') && text.contains("\\n") && recognise(&plain()).is_some()
}

/// Prints a unified diff as the one that takes its changes back. `None` for a text in another format, and for what no diff
/// can say.
pub fn reverse(text: &str, path: Option<&str>) -> Result<Option<String>, Vec<Problem>> {
    if recognise(text) != Some(Format::Unified) {
        return Ok(None);
    }
    Ok(print::unified(&unified::parse_reversed(text, path)?))
}

fn unknown(text: &str) -> Problem {
    let first = text.lines().find(|line| !line.trim().is_empty());
    invalid_text(Malformed::NoFormat(first.map(shorten)))
}

/// Detects the format of a text.
#[must_use]
pub fn recognise(text: &str) -> Option<Format> {
    let lines = without_examples(envelope::lines(text));
    let opening = first(&lines).is_some_and(|line| v4a::opens(line.trim_start()));
    let structural = || (0..lines.len()).find_map(|at| evidence(&lines, at));
    opening
        .then_some(Format::V4a)
        .or_else(structural)
        .or_else(|| lines.iter().any(|line| v4a::opens(line.trim_start())).then_some(Format::V4a))
        .or_else(|| script(&lines))
        .or_else(|| {
            lines.iter().any(|line| search_replace::is_nearly_a_marker(line)).then_some(Format::SearchReplace)
        })
        .or_else(|| lines.iter().any(|line| Fence::opened_by(line).is_some()).then_some(Format::Whole))
}

/// Blanks the lines of fences that are in other ones, below other lines of those: they are examples in a file.
fn without_examples(mut lines: Vec<&str>) -> Vec<&str> {
    let (mut outer, mut inner): (Option<Fence<'_>>, Option<Fence<'_>>) = (None, None);
    let mut has_text = false;
    for line in &mut lines {
        let fence = Fence::opened_by(line);
        match (outer, inner) {
            (_, Some(open)) => {
                inner = inner.filter(|_| !open.is_closed_by(line));
                *line = "";
            }
            (Some(open), None) if open.is_closed_by(line) => outer = None,
            // A fence with a language opens another one, however long it is.
            (Some(open), None)
                if has_text && fence.is_some_and(|one| !one.info.is_empty() || !open.could_hold(line)) =>
            {
                inner = fence;
            }
            (Some(_), None) => has_text |= !line.trim().is_empty(),
            (None, None) => (outer, has_text) = (fence, false),
        }
    }
    lines
}

/// Returns the format that line `at` shows, if it is structural.
fn evidence(lines: &[&str], at: usize) -> Option<Format> {
    let line = lines[at];
    let next = lines.get(at + 1).copied().unwrap_or("");
    if v4a::opens(line) {
        Some(Format::V4a)
    } else if search_replace::opens_block(line) {
        Some(Format::SearchReplace)
    } else if line.starts_with("diff --git ")
        || (line.starts_with("--- ") && next.starts_with("+++ "))
        || opens_hunk(line, next)
    {
        Some(Format::Unified)
    } else if (line.starts_with("***************") && next.starts_with("*** "))
        || (line.starts_with("*** ") && next.starts_with("--- "))
    {
        Some(Format::Context)
    } else {
        None
    }
}

/// Returns whether this is `@@ -1 +1 @@`, `@@ ... @@` or `@@`, with a line of a hunk below it.
fn opens_hunk(line: &str, next: &str) -> bool {
    let Some(rest) = line.strip_prefix("@@") else { return false };
    let header = rest.is_empty() || rest.starts_with([' ', '@']);
    header && (next.is_empty() || next.starts_with([' ', '-', '+', '@']))
}

/// Returns the first line of the text, or of what is around it.
fn first<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut filled = lines.iter().filter(|line| !line.trim().is_empty());
    let first = *filled.next()?;
    if Wrapper::opened_by(first).is_some() { filled.next().copied() } else { Some(first) }
}

/// Detects ed and RCS scripts. Their commands are so short that only the very first line counts.
fn script(lines: &[&str]) -> Option<Format> {
    let first = first(lines)?;
    if is_rcs(first) {
        return Some(Format::Rcs);
    }
    let line = first.trim_end();
    let command = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
    let addressed = command.len() < line.len();
    let has_text = lines.contains(&".");
    let is_ed = match command {
        "d" => true,
        "a" | "c" | "i" => has_text,
        _ => command.starts_with("s/") && command[2..].contains('/'),
    };
    (addressed && is_ed).then_some(Format::Ed)
}

/// Returns whether this is a command such as `a3 2` or `d3 2`.
fn is_rcs(line: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    line.strip_prefix(['a', 'd'])
        .and_then(|rest| rest.trim_end().split_once(' '))
        .is_some_and(|(line, count)| is_number(line) && is_number(count))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_v4a_patch_names_the_file_of_the_call_or_one_in_its_folder() {
        let patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch\n";
        for path in ["src/a.py", "lib:src/a.py", "/w/src/a.py", "src", "src/", ".", "lib:"] {
            assert!(parse(patch, None, Some(path)).is_ok(), "{path}");
        }
        for path in ["src/b.py", "sr", "a", "lib:b.py"] {
            assert!(parse(patch, None, Some(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn each_format_is_told_by_its_first_structural_line() {
        for (text, format) in [
            ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", Format::V4a),
            ("So:\n\n```\n*** Begin Patch ***\n", Format::V4a),
            ("*** Update File: a\n@@\n-x\n+y\n*** End Patch", Format::V4a),
            (" *** Begin Patch\n *** Delete File: a\n *** End Patch", Format::V4a),
            ("\n *** Begin Patch\n  *** Update File: a \n@@\n-x\n+y\n*** End Patch \n", Format::V4a),
            (
                "I would write\n\n  *** Begin Patch\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n",
                Format::Unified,
            ),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", Format::SearchReplace),
            ("------- SEARCH\nx\n=======\ny\n+++++++ REPLACE", Format::SearchReplace),
            ("-- SEARCH\nx\n=======\ny\n+++++++ REPLACE", Format::SearchReplace),
            ("diff --git a/x b/y\nrename from x\nrename to y\n", Format::Unified),
            ("So:\n```diff\n--- a/x\n+++ b/x\n@@ ... @@\n-x\n+y\n```", Format::Unified),
            ("@@ -1 +1 @@\n-x\n+y\n", Format::Unified),
            (
                "*** a.txt\tMon\n--- b.txt\tTue\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n",
                Format::Context,
            ),
            ("3,4c\nx\n.\n1d\n", Format::Ed),
            ("```\n$a\nx\n.\n```", Format::Ed),
            ("d3 1\na3 1\nx\n", Format::Rcs),
            ("a.py\n```\nx\n```", Format::Whole),
        ] {
            assert_eq!(recognise(text), Some(format), "{text}");
        }
    }

    #[test]
    fn a_fence_below_prose_is_no_whole_file_unless_something_says_so() {
        for text in ["Here:\n\n```\n3c\nX\n.\n```\n", "Change this:\n\n```\n-wait\n+WAIT\n```\n"] {
            let problems = parse(text, None, Some("a.txt")).unwrap_err();
            assert!(problems[0].to_string().contains("UnknownContent"), "{problems:?}");
            assert!(parse(text, Some(Format::Whole), Some("a.txt")).is_ok());
        }
        assert!(parse("a.txt\n```\nx\n```\n", None, Some("a.txt")).is_ok());
    }

    #[test]
    fn content_of_one_format_in_another_does_not_deceive() {
        let block = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE";
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y";
        let v4a = format!("*** Begin Patch\n*** Update File: a\n@@\n{block}\n{diff}\n*** End Patch");
        assert_eq!(recognise(&v4a), Some(Format::V4a));
        let inner = diff.replace("@@ -1", "*** Begin Patch\n@@ -1");
        let in_block = format!("a\n<<<<<<< SEARCH\n{inner}\n=======\ny\n>>>>>>> REPLACE");
        assert_eq!(recognise(&in_block), Some(Format::SearchReplace));
        let in_diff = "--- a/x.md\n+++ b/x.md\n@@ -1,3 +1,4 @@\n ```\n <<<<<<< SEARCH\n-------- SEARCH\n+*** Begin Patch\n";
        assert_eq!(recognise(in_diff), Some(Format::Unified));
        let prose = "Title\n-----\n--- \n*** \n  <<<<<<< SEARCH and so on\n3 of 4\n";
        assert_eq!(recognise(prose), None);
    }

    #[test]
    fn a_format_that_is_named_is_not_guessed() {
        assert!(parse("a.md\n```\n*** Begin Patch\n```", Some(Format::Whole), None).is_ok());
        for format in Format::ALL {
            assert_eq!(Format::named(format.as_str()), Some(*format));
        }
        assert_eq!(Format::named("diff"), None);
    }

    #[test]
    fn text_without_a_format_is_told_its_first_line_and_what_would_do() {
        let refused = |text: &str| parse(text, None, Some("a")).unwrap_err()[0].to_string();
        assert!(refused("\nInvalid diff\nmore").contains(r#"Some("Invalid diff")"#));
        assert!(refused(" \n").contains("NoFormat(None)") && refused("").contains("NoFormat(None)"));
    }
}
