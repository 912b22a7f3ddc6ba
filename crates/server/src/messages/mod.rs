//! The messages of problems, all made here from the facts and for a reader.
//!
//! A message says what is wrong, the facts, and the next step, which depends on the reader: a language model calls
//! tools with arguments, a person types commands. `editing` has the messages about problems that `emend-edit` finds,
//! with `formats` and `diffs` for malformed patches, `near` for the nearest lines of the file, `difference` for how
//! they differ from the request and `lines` for lines of another version, `symbols` for definitions,
//! `sketches` for sketches. `workspace` has all others, with `approval` for edits that need a person, `seen` for files that
//! were not read as they are and `places` for replacements in many files. `data` is about values by their keys, and
//! `server_edits` about edits of language servers. `notes` has
//! the notes on an edit that is made, or would be.

pub(crate) mod approval;
pub(crate) mod data;
mod difference;
mod diffs;
mod editing;
mod forgiven;
mod formats;
mod lines;
mod near;
mod notes;
mod places;
pub(crate) mod proposals;
mod seen;
pub(crate) mod server_edits;
mod sketches;
pub(crate) mod symbols;
mod workspace;

pub(crate) use self::forgiven::forgiven;
pub(crate) use self::places::left_out;

use std::fmt;

use emend_workspace::problem::{HunksThatFit, Problem};

pub use notes::notes;

/// The number of candidate lines that a message lists.
const LISTED: usize = 20;

/// What the message of a file that changed begins with: clients look for the word.
pub(crate) const MODIFIED: &str = "FILE_UNEXPECTEDLY_MODIFIED_ERROR: ";

/// The reader of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A language model, which calls tools.
    Model,
    /// A person at a terminal, who gives commands.
    Person,
}

/// Returns the message of a problem for this reader.
#[must_use]
pub fn message(problem: &Problem, audience: Audience) -> String {
    Message { problem, audience }.to_string()
}

/// Quotes a text so that a shell takes it for one word.
#[must_use]
pub fn shell_quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A problem and the reader of its message.
struct Message<'a> {
    problem: &'a Problem,
    audience: Audience,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem;
        if let Some(edit) = problem.edit {
            write!(f, "Edit {edit} (none of the edits was made): ")?;
        }
        workspace::write(self, f)?;
        for fitting in &problem.beside {
            write!(f, "\nHunk {} fits, at line {}.", fitting.hunk, fitting.line)?;
            if !fitting.lines.is_empty() {
                f.write_str(" It changes:")?;
            }
            write_lines(&fitting.lines, f)?;
        }
        if let Some(HunksThatFit { fit, done, total }) = problem.fit.as_deref().copied() {
            // The new text may be in the file for another reason than this edit.
            let again = match (fit, total - fit - done) {
                _ if done == 0 => "Nothing was changed: send all of them again, with these mended.",
                (0, 0) => "Nothing was changed.",
                (_, 0) => {
                    "Nothing was changed: send them again, but leave out what is already there, if that was its aim."
                }
                _ => {
                    "Nothing was changed: send them again, with these mended, but leave out what is already there, if \
                     that was its aim."
                }
            };
            write!(f, "\n{fit} of {total} hunks fit. {again}")?;
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    /// Returns the path of the file, or `the file` if it is not known.
    fn path(&self) -> &'a str {
        self.problem.path.as_deref().unwrap_or("the file")
    }

    /// Returns `from.` if the problem concerns the lines that are copied or moved, where they come from: with it begin the
    /// names of the arguments that say which they are.
    fn from(&self) -> &'static str {
        if self.problem.is_of_origin { "from." } else { "" }
    }

    /// Returns `"version": "0123"`, or `from.version: "0123"`.
    fn version_argument(&self, version: &str) -> String {
        match self.from() {
            "" => format!("\"version\": \"{version}\""),
            from => format!("{from}version: \"{version}\""),
        }
    }

    /// Returns ` (hunk 3)`, or nothing if the problem concerns no hunk.
    fn hunk(&self) -> String {
        self.problem.hunk.map(|number| format!(" (hunk {number})")).unwrap_or_default()
    }

    /// Returns ` There is: docs/a.md.`, or nothing if no similar path is known.
    fn meant(&self) -> String {
        match &self.problem.meant[..] {
            [] => String::new(),
            meant => format!(" There is: {}.", meant.join(", ")),
        }
    }
}

fn write_lines<'l>(
    lines: impl IntoIterator<Item = &'l (usize, String)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    lines.into_iter().try_for_each(|(number, line)| write!(f, "\n{number:>6}\t{line}"))
}

/// Writes `line 3`, or `lines 3, 5 and 7`.
fn write_numbers(lines: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if lines.len() == 1 { "line " } else { "lines " })?;
    for (i, line) in lines.iter().take(LISTED).enumerate() {
        let separator = match i {
            0 => "",
            _ if i + 1 == lines.len() => " and ",
            _ => ", ",
        };
        write!(f, "{separator}{line}")?;
    }
    if lines.len() > LISTED {
        f.write_str(", ...")?;
    }
    Ok(())
}
