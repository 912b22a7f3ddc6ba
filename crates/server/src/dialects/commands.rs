//! The commands of an editor that is one tool, which two systems share.

use emend_workspace::problem::Problem;

use super::tool::{Translated, invalid, replacement, required};
use crate::reading::Reading;

/// How many levels of a folder are shown.
const LEVELS: usize = 2;

/// A command of the editor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    View,
    Create,
    StrReplace,
    Insert,
    UndoEdit,
}

impl Command {
    const ALL: [(&'static str, Self); 5] = [
        ("view", Self::View),
        ("create", Self::Create),
        ("str_replace", Self::StrReplace),
        ("insert", Self::Insert),
        ("undo_edit", Self::UndoEdit),
    ];

    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, command)| *command).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            invalid("command", &format!("it must be one of {}", names.join(", ")))
        })
    }
}

/// The arguments of a command. Those of the others do not count: some model APIs make every argument required.
pub(super) struct Commands {
    pub(super) path: String,
    pub(super) view_range: Option<Vec<i64>>,
    pub(super) file_text: Option<String>,
    pub(super) old_str: Option<String>,
    pub(super) new_str: Option<String>,
    pub(super) insert_line: Option<usize>,
    pub(super) insert_text: Option<String>,
}

impl Commands {
    /// Translates a command; `create` creates only.
    pub(super) fn translate(self, command: Command) -> Result<Translated, Problem> {
        match command {
            Command::View => self.view(),
            Command::Create => {
                let content = required("file_text", "create", self.file_text)?;
                // Without a text to replace, a file is created and none is replaced.
                Ok(replacement(self.path, String::new(), content, None))
            }
            Command::StrReplace => {
                let old = required("old_str", "str_replace", self.old_str)?;
                if old.is_empty() {
                    return Err(invalid("old_str", "it is empty, so it occurs everywhere"));
                }
                let new = self.new_str.unwrap_or_default();
                Ok(replacement(self.path, old, new, None))
            }
            Command::Insert => {
                let line = required("insert_line", "insert", self.insert_line)?;
                let text = required("insert_text", "insert", self.insert_text)?;
                Ok(insertion(&self.path, line, text))
            }
            Command::UndoEdit => Ok(Translated::call("undo_edit", [("path", self.path.into())])),
        }
    }

    /// Translates `create` where it may replace a file.
    pub(super) fn write(self) -> Result<Translated, Problem> {
        let content = required("file_text", "create", self.file_text)?;
        Ok(Translated::write(self.path, content))
    }

    fn view(self) -> Result<Translated, Problem> {
        let range = self.view_range.filter(|range| !range.is_empty());
        let (offset, limit) = match range.as_deref() {
            None => (None, None),
            Some(&[first, last]) => lines(first, last)?,
            Some(_) => return Err(invalid("view_range", "it must be a list of two line numbers")),
        };
        let above =
            format!("Here's the files and directories up to {LEVELS} levels deep in {}:\n", self.path);
        Ok(Translated::read(self.path, offset, limit).or_folder(LEVELS, above))
    }
}

/// Returns the offset and the number of lines of a range, which ends with the file if its last line is -1.
fn lines(first: i64, last: i64) -> Result<(Option<i64>, Option<i64>), Problem> {
    let refused = |message: &str| Err(invalid("view_range", message));
    match (first, last) {
        (..=0, _) => refused("lines are counted from 1"),
        (_, -1) => Ok((Some(first), None)),
        (_, _) if last < first => refused("its second element is before the first"),
        _ => Ok((Some(first), Some(last - first + 1))),
    }
}

/// Inserts a text after a line of the version that the client has read, or above the first line.
pub(super) fn insertion(path: &str, line: usize, text: String) -> Translated {
    if line == 0 {
        return Translated::call("str_replace", [("path", path.into()), ("insert_before", text.into())]);
    }
    let arguments = [
        ("path", path.into()),
        ("start_line", (line + 1).into()),
        ("end_line", line.into()),
        ("new_text", text.into()),
    ];
    Translated { counts_as_read: true, ..Translated::call("replace_lines", arguments) }
}

/// Shows a file as `cat -n` does.
pub(super) fn reading(reading: &Reading) -> String {
    let Reading { name, .. } = reading;
    let notes = reading.notes("view", "view_range from");
    format!("Here's the result of running `cat -n` on {name}:\n{}{notes}", reading.numbered())
}
