//! The manner of an answer: Emend's own words, or those of a tool that a model knows from another system.
//!
//! Words of another system come in front of a refusal, which stays whole, since it says how to mend the call; in a success
//! and in a reading they take the place of ours. A success in such words is text alone.

use std::fmt::Write;

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::reading::Reading;
use crate::wire::{Outcome, WireFile};

/// The words of a tool. Where it has none, Emend's are used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    /// What is said of an edit that was made, with what the file looks like now.
    pub done: Option<fn(&Done<'_>) -> String>,
    /// How a reading is shown.
    pub reading: Option<fn(&Reading) -> String>,
    /// What is said in front of a refusal, if anything.
    pub refused: Option<fn(&Refused<'_>) -> Option<String>>,
}

impl Words {
    /// Emend's own words everywhere.
    pub const OURS: Self = Self { done: None, reading: None, refused: None };
}

/// An edit that was made by one call.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// The files that it changed.
    pub files: &'a [WireFile],
    diff: &'a str,
    arguments: &'a JsonObject,
}

/// A call that was refused.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The code of the first problem.
    pub code: &'a str,
    /// The lines of the file in question.
    pub lines: &'a [usize],
    path: Option<&'a str>,
    arguments: &'a JsonObject,
}

/// The names under which a client sees our tools and their arguments.
pub(crate) trait Naming {
    /// Returns how one of our names is called here.
    fn of_ours(&self, ours: &'static str) -> &'static str;

    /// Says how the tools and arguments of ours are called here that a text names, and which of them are not there.
    fn in_text(&self, text: &str) -> Option<String>;
}

/// The manner of the answer to one call.
#[derive(Clone, Copy)]
pub struct Manner<'a> {
    /// The words of the tool by whose name the call was made.
    pub words: Words,
    /// The arguments of the call under our names.
    pub arguments: &'a JsonObject,
    /// The names under which the client sees our tools and their arguments.
    pub(crate) names: &'a dyn Naming,
}

impl Manner<'_> {
    /// Returns the words for an edit that was made, if there are any.
    pub(crate) fn done(&self, outcome: &Outcome) -> Option<String> {
        let files = outcome.files.as_deref()?;
        Some(self.words.done?(&Done { files, diff: &outcome.diff, arguments: self.arguments }))
    }

    /// Returns how a reading is shown.
    pub(crate) fn reading(&self, reading: &Reading) -> String {
        self.words.reading.map_or_else(
            || reading.text_with(self.names.of_ours("read_file"), self.names.of_ours("offset")),
            |show| show(reading),
        )
    }

    /// Returns the text of a refused edit.
    pub(crate) fn refused(&self, outcome: &Outcome, text: String) -> String {
        let first = outcome.problems.iter().flatten().next();
        let path = first.and_then(|first| first.path.as_deref());
        let lines = first.and_then(|first| first.lines.as_deref()).unwrap_or_default();
        let code = outcome.error.as_ref().map_or("", |error| &error.code);
        self.in_front(code, lines, path, text)
    }

    /// Returns the text of a reading that was refused.
    pub(crate) fn not_read(&self, code: &str, path: Option<&str>, text: String) -> String {
        self.in_front(code, &[], path, text)
    }

    fn in_front(&self, code: &str, lines: &[usize], path: Option<&str>, text: String) -> String {
        let refused = Refused { code, lines, path, arguments: self.arguments };
        let words = self.words.refused.and_then(|words| words(&refused));
        let text = words.map(|words| format!("{words}\n{text}")).unwrap_or(text);
        match self.names.in_text(&text) {
            Some(names) => put_before_code(text, &format!("(Here {names}.)")),
            None => text,
        }
    }
}

/// Puts a line before the last line, if that has the code of the refusal, else behind the text.
fn put_before_code(mut text: String, line: &str) -> String {
    match text.trim_end().rfind("\n[") {
        Some(at) if text.trim_end().ends_with(']') => text.insert_str(at + 1, &format!("{line}\n")),
        _ => {
            let _ = write!(text, "\n{line}");
        }
    }
    text
}

impl<'a> Done<'a> {
    /// Returns the path as the call named it.
    #[must_use]
    pub fn path(&self) -> &'a str {
        let written = text(self.arguments, "path");
        if written.is_empty() { self.files.first().map_or("", |file| file.path.as_str()) } else { written }
    }

    /// Returns whether the one file was created.
    #[must_use]
    pub fn is_new(&self) -> bool {
        matches!(self.files, [only] if only.change == "create")
    }

    /// Returns whether every place was replaced.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.arguments.get("replace_all") == Some(&Value::Bool(true))
    }

    /// Returns how many places were changed.
    #[must_use]
    pub fn places(&self) -> usize {
        self.files.iter().flat_map(|file| &file.hunks).map(|hunk| hunk.places.unwrap_or(1)).sum()
    }

    /// Returns the changed lines and those around them, as `cat -n` would show them now, with `...` between two places. Above
    /// those of one of several files stands which of them it is.
    #[must_use]
    pub fn snippet(&self) -> String {
        let mut snippet = String::new();
        let mut number = 0;
        for line in self.diff.lines() {
            if let Some(start) = first_new_line(line) {
                if number > 0 {
                    snippet.push_str("...\n");
                }
                number = start;
            } else if number > 0
                && let Some(content) = line.strip_prefix([' ', '+'])
            {
                let _ = writeln!(snippet, "{number:>6}\t{content}");
                number += 1;
            } else if line.starts_with("*** File ") || line.starts_with("...") {
                let _ = writeln!(snippet, "{line}");
                number = 0;
            }
        }
        snippet
    }
}

/// Returns the first line of the new text that a header of a hunk names.
fn first_new_line(header: &str) -> Option<usize> {
    let (_, new) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let digits = new.find(|c: char| !c.is_ascii_digit()).unwrap_or(new.len());
    new[..digits].parse().ok()
}

impl<'a> Refused<'a> {
    /// Returns the path as the call named it.
    #[must_use]
    pub fn path(&self) -> &'a str {
        let written = text(self.arguments, "path");
        if written.is_empty() { self.path.unwrap_or_default() } else { written }
    }

    /// Returns how many places the call is for, if not for all.
    #[must_use]
    pub fn wanted_places(&self) -> u64 {
        self.arguments.get("expected_count").and_then(Value::as_u64).unwrap_or(1)
    }

    /// Returns the text that was looked for.
    #[must_use]
    pub fn old_text(&self) -> &'a str {
        text(self.arguments, "old_string")
    }
}

fn text<'a>(arguments: &'a JsonObject, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use emend_workspace::DialectName;

    use super::*;
    use crate::dialects::{self, Names};

    #[test]
    fn a_snippet_shows_the_new_lines_under_their_numbers() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n@@ -9 +10 @@ fn f()\n-x\n+y\n";
        let done = Done { files: &[], diff, arguments: &JsonObject::new() };
        assert_eq!(done.snippet(), "     1\ta\n     2\tB\n     3\tC\n...\n    10\ty\n");
        let diff = "*** File 1\n@@ -1 +1 @@\n-a\n+b\n*** File 2\n@@ -1 +1 @@\n-c\n+d\n";
        let done = Done { files: &[], diff, arguments: &JsonObject::new() };
        assert_eq!(done.snippet(), "*** File 1\n     1\tb\n*** File 2\n     1\td\n");
    }

    #[test]
    fn words_come_in_front_and_names_before_the_code() {
        let words = Words { refused: Some(|_| Some("Not found.".into())), ..Words::default() };
        let names = &Names::of(dialects::find(DialectName::Claude, ""));
        let manner = Manner { words, arguments: &JsonObject::new(), names };
        let said = manner.not_read("missing-original", None, "Use read_file, not read_files.\n[code]".into());
        assert_eq!(said, "Not found.\nUse read_file, not read_files.\n(Here read_file is Read.)\n[code]");
        let ours = Manner { words: Words::default(), arguments: &JsonObject::new(), names: &Names::OURS };
        assert_eq!(ours.not_read("c", None, "Use read_file.\n[c]".into()), "Use read_file.\n[c]");
    }
}
