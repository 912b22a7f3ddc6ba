//! Claude Code's tools: Read, Edit and Write. MultiEdit, which it had before, is understood.

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{Beside, DialectArguments, DialectTool, Translated, in_order, replacement};
use crate::manner::{Done, Refused, Words};
use crate::reading::Reading;
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Claude,
        tools: vec![
            DialectTool::listed_with::<Read>(),
            DialectTool::listed_with::<Edit>(),
            DialectTool::listed_with::<Write>(),
            DialectTool::understood_with::<MultiEdit>(),
        ],
        keeps: &[
            "list_files",
            "search_text",
            "apply_patch",
            "edit_preview",
            "apply_preview",
            "undo_edit",
            "diagnostics",
        ],
        names: &[("read_file", "Read"), ("str_replace", "Edit"), ("write_file", "Write")],
    }
}

/// Arguments of `Read`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The absolute path to the file to read
    file_path: String,
    /// The line number to start reading from. Only provide if the file is too large to read at once
    offset: Option<usize>,
    /// The number of lines to read. Only provide if the file is too large to read at once
    limit: Option<usize>,
}

impl DialectArguments for Read {
    const ABOUT: About = About {
        name: "Read",
        title: "Read a file",
        description: "Reads a text file. By default up to 16 KB from the beginning; results are in cat -n format, with \
line numbers starting at 1. Read a file before you edit it: changes of others are noticed then.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { reading: Some(reading), refused: Some(refused), ..Words::OURS };
    const BESIDE: &'static [Beside] =
        &[Beside::empty("pages", "only PDFs have pages, and they are not read here")];

    fn translate(self) -> Result<Translated, Problem> {
        let Self { file_path, offset, limit } = self;
        // Claude's first line is 1, but 0 is often sent for it.
        let offset = offset.map(|offset| offset.max(1));
        Ok(Translated::read(file_path, offset, limit))
    }
}

/// Arguments of `Edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The absolute path to the file to modify
    file_path: String,
    /// The text to replace
    old_string: String,
    /// The text to replace it with (must be different from old_string)
    new_string: String,
    /// Replace all occurrences of old_string (default false)
    replace_all: Option<bool>,
}

impl DialectArguments for Edit {
    const ABOUT: About = About {
        name: "Edit",
        title: "Edit a file",
        description: "Performs exact string replacements in a file. The edit fails if old_string is not unique: give more \
lines around it, or use replace_all. Copy it from a Read without the line number and the tab. An empty old_string creates the \
file. Nothing is changed by a call that fails.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "str_replace";
    const WORDS: Words = Words { done: Some(edited), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(replacement(self.file_path, self.old_string, self.new_string, self.replace_all))
    }
}

/// Arguments of `Write`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    /// The absolute path to the file to write
    file_path: String,
    /// The content to write to the file
    content: String,
}

impl DialectArguments for Write {
    const ABOUT: About = About {
        name: "Write",
        title: "Write a file",
        description: "Writes a whole file: creates it with its folders, or replaces it, for which you must Read all of it \
first. Prefer Edit for existing files.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "write_file";
    const WORDS: Words = Words { done: Some(edited), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::write(self.file_path, self.content))
    }
}

/// Arguments of `MultiEdit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MultiEdit {
    /// The absolute path to the file to modify
    file_path: String,
    /// Edit operations, each on the result of those before it
    edits: Vec<OneEdit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneEdit {
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl DialectArguments for MultiEdit {
    const ABOUT: About = About {
        name: "MultiEdit",
        title: "Edit a file at several places",
        description: "Makes several edits to one file in order, each on the result of those before it: all or none.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "edit_files";
    const WORDS: Words = Words { done: Some(edited), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        let path = self.file_path;
        let edit = |OneEdit { old_string, new_string, replace_all }| {
            replacement(path.clone(), old_string, new_string, replace_all)
        };
        in_order(self.edits.into_iter().map(edit).collect())
    }
}

fn reading(reading: &Reading) -> String {
    if reading.total == 0 {
        return "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>\n"
            .into();
    }
    format!("{}{}", reading.numbered(), reading.notes("Read", "offset"))
}

fn edited(done: &Done<'_>) -> String {
    let path = done.path();
    if done.is_new() {
        return format!("File created successfully at: {path}\n");
    }
    let all = if done.is_of_all() { " All occurrences were successfully replaced." } else { "" };
    let snippet = done.snippet();
    format!(
        "The file {path} has been updated.{all} Here's the result of running `cat -n` on a snippet of the edited file:\n{snippet}"
    )
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    Some(match refused.code {
        "search-not-found" => "String to replace not found in file.".into(),
        "ambiguous-match" => "Found several matches of the string to replace, but replace_all is false. To replace all \
                              occurrences, set replace_all to true. To replace only one occurrence, please provide more context \
                              to uniquely identify the instance."
            .into(),
        "missing-original" => "File does not exist.".into(),
        "already-exists" => "Cannot create new file - file already exists.".into(),
        "not-read" => "File has not been read yet. Read it first before writing to it.".into(),
        "stale-file" => "File has been modified since read, either by the user or by a linter.".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::DialectName;

    #[test]
    fn a_call_becomes_one_of_ours() {
        let dialect = DialectName::Claude;
        check(
            dialect,
            ("Read", json!({"file_path": "a", "offset": 0, "limit": 5})),
            "read_file",
            json!({"path": "a", "offset": 1, "limit": 5}),
        );
        check(
            dialect,
            ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "", "replace_all": false})),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": ""}),
        );
        check(
            dialect,
            (
                "Edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true, "version": "12"}),
            ),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": "y", "replace_all": true, "version": "12"}),
        );
        check(
            dialect,
            ("Write", json!({"file_path": "a", "content": ""})),
            "write_file",
            json!({"path": "a", "content": ""}),
        );
        check(
            dialect,
            ("MultiEdit", json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]})),
            "edit_files",
            json!({"edits": [{"tool": "str_replace", "path": "a", "old_string": "x", "new_string": "y"}]}),
        );
    }
}
