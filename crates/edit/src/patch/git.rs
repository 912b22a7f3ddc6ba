//! The headers of a file in a diff: git's extended ones, `Index:`, and the `---` and `+++` lines.
//!
//! ```text
//! header   = [ "diff --git " name " " name ]  extended*  [ "--- " name  "+++ " name ]
//! extended = "index " hash ".." hash [ " " mode ]  |  ("similarity index " | "dissimilarity index ") percent
//!          | "old mode " mode  |  "new mode " mode  |  "new file mode " mode  |  "deleted file mode " mode
//!          | "rename from " path  |  "rename to " path  |  "copy from " path  |  "copy to " path
//!          | "Index: " path  |  "=" +  |  "GIT binary patch"  |  "Binary files " ... " differ"
//! ```
//!
//! Links, submodules, copies and binary content are refused, since they are no text to edit.

use alloc::string::String;
use alloc::vec::Vec;

use super::lines::{NumberedLine, invalid, shorten};
use super::names::{self, HeaderName};
use crate::problem::Problem;
use crate::problem::malformed::Header as Fault;

/// The headers of a file.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The number of the first header line.
    pub(super) number: usize,
    /// The names of the `---` and `+++` lines.
    pub(super) sides: Option<(HeaderName, HeaderName)>,
    /// The names of the `diff --git` line.
    pub(super) git: Option<(String, String)>,
    /// The name of the `Index:` line.
    pub(super) index: Option<String>,
    pub(super) rename_from: Option<String>,
    pub(super) rename_to: Option<String>,
    /// Whether the old side has the timestamp that `diff -N` writes for an absent file. Existing files may have it too,
    /// so it counts only if the hunk agrees.
    pub(super) old_dated_nothing: bool,
    /// Whether the new side has that timestamp.
    pub(super) new_dated_nothing: bool,
    pub(super) created: bool,
    pub(super) deleted: bool,
    /// Whether the file shall be executable; `None` leaves that as it is.
    pub(super) executable: Option<bool>,
    /// Whether it was executable, where the headers say so.
    pub(super) was_executable: Option<bool>,
}

/// Returns whether a file's headers begin at this line.
pub(super) fn begins(lines: &[NumberedLine<'_>], at: usize) -> bool {
    let Some(line) = lines.get(at).map(|line| line.text) else { return false };
    let next = lines.get(at + 1).map_or("", |line| line.text);
    line.starts_with("diff --git ")
        || line.starts_with("diff --cc ")
        || line.starts_with("diff --combined ")
        || is_pair(line, next)
        || (line.starts_with("Index: ") && (next.starts_with("====") || next.starts_with("--- ")))
        || (line.starts_with("rename from ") && next.starts_with("rename to "))
        || (line.starts_with("old mode ") && next.starts_with("new mode "))
        || is_mode(line, "new file mode ")
        || is_mode(line, "deleted file mode ")
        || (line.starts_with("Binary files ") && line.ends_with(" differ"))
}

/// Returns whether two lines name the two sides of a file.
pub(super) fn is_pair(line: &str, next: &str) -> bool {
    let named =
        |line: &str, prefix: &str| line.strip_prefix(prefix).is_some_and(|name| !name.trim().is_empty());
    named(line, "--- ") && named(next, "+++ ")
}

fn is_mode(line: &str, prefix: &str) -> bool {
    line.strip_prefix(prefix).is_some_and(|mode| mode.len() == 6 && mode.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads the headers from `at` on, and moves `at` behind them. All problems are reported.
pub(super) fn read(lines: &[NumberedLine<'_>], at: &mut usize) -> Result<Header, Vec<Problem>> {
    let mut header = Header { number: lines.get(*at).map_or(0, |line| line.number), ..Header::default() };
    let mut problems = Vec::new();
    let first = *at;
    let mut git_line = None;
    while let Some(line) = lines.get(*at) {
        let next = lines.get(*at + 1).map_or("", |line| line.text);
        if is_pair(line.text, next) {
            header.take_sides(&line.text[4..], &next[4..]);
            *at += 2;
            break;
        }
        // Another file begins; the first had no hunks.
        if *at > first && line.text.starts_with("diff --") {
            break;
        }
        git_line = git_line.or(line.text.strip_prefix("diff --git "));
        match header.line(*line) {
            Ok(true) => *at += 1,
            Ok(false) => break,
            Err(problem) => {
                problems.push(problem);
                *at += 1;
            }
        }
    }
    if let Some(text) = git_line
        && let Some(new) = header.new_name().map(String::from)
    {
        header.git = names::split_git_line(text, &new).or(header.git);
        if header.git.is_none() {
            let fault = Fault::OtherGitLine { line: shorten(text), other: new };
            problems.push(invalid(header.number, fault));
        }
    }
    if problems.is_empty() { Ok(header) } else { Err(problems) }
}

impl Header {
    /// Exchanges the two sides.
    pub(super) fn reverse(&mut self) {
        self.sides = self.sides.take().map(|(old, new)| (new, old));
        self.git = self.git.take().map(|(old, new)| (new, old));
        core::mem::swap(&mut self.rename_from, &mut self.rename_to);
        core::mem::swap(&mut self.old_dated_nothing, &mut self.new_dated_nothing);
        core::mem::swap(&mut self.created, &mut self.deleted);
        core::mem::swap(&mut self.executable, &mut self.was_executable);
    }

    /// Returns the new name as another header than the `diff --git` line gives it, or the old one of a deleted file.
    fn new_name(&self) -> Option<&str> {
        let path = |name: &'_ HeaderName| matches!(name, HeaderName::Path(_));
        let of_sides = self.sides.as_ref().and_then(|(old, new)| match if path(new) { new } else { old } {
            HeaderName::Path(name) => Some(name.as_str()),
            HeaderName::Nothing => None,
        });
        self.rename_to.as_deref().or(of_sides)
    }

    /// Reads the names after `---` and `+++`.
    pub(super) fn take_sides(&mut self, old: &str, new: &str) {
        self.sides = Some((names::read(old), names::read(new)));
        self.old_dated_nothing = names::is_dated_nothing(old);
        self.new_dated_nothing = names::is_dated_nothing(new);
    }

    /// Reads one extended header; returns `false` if the line is none.
    fn line(&mut self, line: NumberedLine<'_>) -> Result<bool, Problem> {
        let text = line.text;
        let value = |prefix: &str| text.strip_prefix(prefix);
        if let Some(names) = value("diff --git ") {
            self.git = names::from_git_line(names);
        } else if text.starts_with("diff --cc ") || text.starts_with("diff --combined ") {
            return Err(invalid(line.number, Fault::CombinedDiff));
        } else if let Some(path) = value("rename from ") {
            self.rename_from = Some(names::plain(path));
        } else if let Some(path) = value("rename to ") {
            self.rename_to = Some(names::plain(path));
        } else if let Some(mode) = value("new file mode ") {
            self.created = true;
            self.executable = Some(mode_of(line, mode)?);
        } else if let Some(mode) = value("deleted file mode ") {
            self.deleted = true;
            self.was_executable = Some(mode_of(line, mode)?);
        } else if let Some(mode) = value("old mode ") {
            self.was_executable = Some(mode_of(line, mode)?);
        } else if let Some(mode) = value("new mode ") {
            self.executable = Some(mode_of(line, mode)?);
        } else if let Some(index) = value("index ") {
            if let Some((_, mode)) = index.split_once(' ') {
                mode_of(line, mode)?;
            }
        } else if let Some(path) = value("Index: ") {
            self.index = Some(names::plain(path));
        } else if text.starts_with("copy from ") || text.starts_with("copy to ") {
            return Err(invalid(line.number, Fault::CopiedFile));
        } else if text == "GIT binary patch"
            || (text.starts_with("Binary files ") && text.ends_with(" differ"))
        {
            return Err(invalid(line.number, Fault::BinaryFile));
        } else {
            let ignored = ["similarity index ", "dissimilarity index ", "===="];
            return Ok(ignored.iter().any(|prefix| text.starts_with(prefix)));
        }
        Ok(true)
    }
}

/// Returns whether a mode is that of a file that its owner may execute. As in git, the other bits do not count.
fn mode_of(line: NumberedLine<'_>, mode: &str) -> Result<bool, Problem> {
    let fault = match u32::from_str_radix(mode.trim(), 8) {
        Ok(bits @ 0o100_000..=0o100_777) => return Ok(bits & 0o100 != 0),
        Ok(0o120_000) => Fault::SymbolicLink,
        Ok(0o160_000) => Fault::Submodule,
        _ => Fault::UnknownMode { mode: shorten(mode.trim()) },
    };
    Err(invalid(line.number, fault))
}

#[cfg(test)]
mod tests {
    use super::super::lines::numbered;
    use super::*;
    use crate::problem::{Kind, Malformed};

    #[test]
    fn the_headers_of_a_file_begin_where_only_headers_can_stand() {
        for text in [
            "diff --git a/x b/x",
            "diff --cc x",
            "diff --combined x",
            "--- a/x\n+++ b/x",
            "Index: x\n=====",
            "Index: x\n--- x",
            "rename from x\nrename to y",
            "old mode 100644\nnew mode 100755",
            "new file mode 100644",
            "deleted file mode 100644",
            "Binary files a and b differ",
        ] {
            assert!(begins(&numbered(text), 0), "{text}");
        }
        for text in [
            "",
            "diff -u a b",
            "--- a/x",
            "--- a/x\n+++ ",
            "--- \n+++ b/x",
            "Index: x\nx",
            "rename from x\nx",
            "old mode 100644\nx",
            "new file mode 10064",
            "new file mode 10064x",
            "deleted file mode",
            "Binary files are not text",
            "they differ",
        ] {
            assert!(!begins(&numbered(text), 0), "{text}");
        }
    }

    /// Returns the headers of a text and how many lines they take, or the lines and kinds of the faults.
    fn read_all(text: &str) -> Result<(Header, usize), Vec<(usize, Fault)>> {
        let mut at = 0;
        let header = read(&numbered(text), &mut at);
        header.map(|header| (header, at)).map_err(|problems| {
            let fault = |problem: Problem| match *problem.kind {
                Kind::InvalidFormat { line: Some(line), fault: Malformed::Header(fault) } => (line, fault),
                kind => panic!("{kind:?}"),
            };
            problems.into_iter().map(fault).collect()
        })
    }

    #[test]
    fn headers_say_what_becomes_of_a_file_and_end_with_its_two_names() {
        let (header, at) = read_all(
            "diff --git a/x b/y\nsimilarity index 90%\ndissimilarity index 10%\nrename from x\nrename to y\nold mode \
             100644\nnew mode 100755\nindex 012..345 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n",
        )
        .unwrap();
        assert_eq!((header.number, at), (1, 10));
        assert_eq!(header.git, Some(("a/x".into(), "b/y".into())));
        assert_eq!((header.rename_from.as_deref(), header.rename_to.as_deref()), (Some("x"), Some("y")));
        assert_eq!((header.executable, header.created, header.deleted), (Some(true), false, false));
        assert_eq!(header.sides, Some((HeaderName::Path("a/x".into()), HeaderName::Path("b/y".into()))));
        let (header, at) = read_all("Index: x\n=====\nprose\n").unwrap();
        assert_eq!((header.index.as_deref(), at), (Some("x"), 2));
        let (header, at) = read_all("new file mode 100644\nindex 0..1\n").unwrap();
        assert_eq!((header.created, header.deleted, header.executable, at), (true, false, Some(false), 2));
        let (header, at) = read_all("deleted file mode 100755\ndiff --git a/y b/y\n").unwrap();
        assert_eq!((header.created, header.deleted, header.executable, at), (false, true, None, 1));
        let epoch = "--- a/x\t1970-01-01 00:00:00\n+++ b/x\t2026-01-01 00:00:00\n";
        let (header, _) = read_all(epoch).unwrap();
        assert!(header.old_dated_nothing && !header.new_dated_nothing);
    }

    #[test]
    fn what_is_no_text_to_edit_is_refused_with_its_line() {
        let mode = |mode: &str| Fault::UnknownMode { mode: mode.into() };
        for (text, faults) in [
            (
                "diff --git a/x b/x\ncopy from x\ncopy to y\n",
                &[(2, Fault::CopiedFile), (3, Fault::CopiedFile)][..],
            ),
            ("diff --git a/x b/x\nnew file mode 120000\n", &[(2, Fault::SymbolicLink)]),
            ("diff --git a/x b/x\ndeleted file mode 160000\n", &[(2, Fault::Submodule)]),
            ("old mode 040000\nnew mode 101777\n", &[(1, mode("040000")), (2, mode("101777"))]),
            ("diff --git a/x b/x\nindex 012..345 120000\n", &[(2, Fault::SymbolicLink)]),
            ("diff --git a/x b/x\nGIT binary patch\n", &[(2, Fault::BinaryFile)]),
            ("Binary files a/x and b/x differ\n", &[(1, Fault::BinaryFile)]),
            ("diff --cc x\n", &[(1, Fault::CombinedDiff)]),
            ("diff --combined x\n", &[(1, Fault::CombinedDiff)]),
        ] {
            assert_eq!(read_all(text).unwrap_err(), faults, "{text}");
        }
        for (mode, is_executable) in
            [("100644", false), ("100660", false), ("100755", true), ("100770", true)]
        {
            let (header, _) = read_all(&alloc::format!("new file mode {mode}\n")).unwrap();
            assert_eq!(header.executable, Some(is_executable), "{mode}");
        }
    }
}
