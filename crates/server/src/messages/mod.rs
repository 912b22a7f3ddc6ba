//! The texts of problems: the one place in which they are made, of the facts and for a reader.
//!
//! A text says what is wrong, the facts, and the next step. What that step is depends on the reader: a language model calls
//! tools and gives arguments, a person types commands. `editing` has the texts of what `emend-edit` finds wrong, with
//! `formats` and `diffs` for patches that are not grammatical, and `near` shows lines of the file. `workspace` has all
//! others, with `approval` for what a person must allow and `seen` for files that were not read as they are.

mod approval;
mod diffs;
mod editing;
mod formats;
mod near;
mod seen;
mod workspace;

use std::fmt;

use emend_workspace::problem::{HunksThatFit, Problem};

/// How many candidate line numbers a message lists.
const LISTED: usize = 20;

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A language model, which calls tools.
    Model,
    /// A person at a terminal, who gives commands.
    Person,
}

/// Returns what this reader is told of a problem.
#[must_use]
pub fn message(problem: &Problem, audience: Audience) -> String {
    Message { problem, audience }.to_string()
}

/// Returns a text as a shell takes it for one word.
#[must_use]
pub fn shell_quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A problem on its way to a reader.
struct Message<'a> {
    problem: &'a Problem,
    audience: Audience,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem;
        workspace::write(self, f)?;
        for fitting in &problem.beside {
            write!(f, "\nHunk {} fits, at line {}.", fitting.hunk, fitting.line)?;
            if !fitting.lines.is_empty() {
                f.write_str(" It changes:")?;
            }
            write_lines(&fitting.lines, f)?;
        }
        if let Some(HunksThatFit { fit, done, total }) = problem.fit.as_deref().copied() {
            // That the new text stands there is no proof that it is this edit's.
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
    /// The file that it is about, as far as it is known.
    fn path(&self) -> &'a str {
        self.problem.path.as_deref().unwrap_or("the file")
    }

    /// ` (hunk 3)`, where it is about one.
    fn hunk(&self) -> String {
        self.problem.hunk.map(|number| format!(" (hunk {number})")).unwrap_or_default()
    }

    /// ` There is: docs/a.md.`, where it is known what the path may mean.
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

/// `line 3`, or `lines 3, 5 and 7`.
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
