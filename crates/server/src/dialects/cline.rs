//! Cline's tools: read_file, replace_in_file with SEARCH/REPLACE blocks, write_to_file and list_files.

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{Beside, DialectArguments, DialectTool, Translated, blocks};
use crate::manner::{Done, Refused, Words};
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Cline,
        tools: vec![
            DialectTool::listed_with::<ReadFile>(),
            DialectTool::listed_with::<ReplaceInFile>(),
            DialectTool::listed_with::<WriteToFile>(),
            DialectTool::listed_with::<ListFiles>(),
        ],
        keeps: &["search_text", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("str_replace", "replace_in_file"),
            ("apply_patch", "replace_in_file"),
            ("write_file", "write_to_file"),
            ("old_string", "SEARCH"),
            ("new_string", "REPLACE"),
            ("offset", "start_line"),
            ("limit", "end_line, which counts from the first line"),
        ],
    }
}

/// Arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// The path of the file to read
    path: String,
    /// The first line to read, from 1
    start_line: Option<usize>,
    /// The last line to read
    end_line: Option<usize>,
}

impl DialectArguments for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read a file",
        description: "Request to read the contents of a text file at the specified path, with line numbers, which are not part \
of it.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const BESIDE: &'static [Beside] = &[Beside::nothing("task_progress")];

    fn translate(self) -> Result<Translated, Problem> {
        Translated::lines(self.path, self.start_line, self.end_line)
    }
}

/// Arguments of `replace_in_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceInFile {
    /// The path of the file to modify
    path: String,
    /// One or more SEARCH/REPLACE blocks: a line '------- SEARCH', the exact lines to find, a line '=======', the new lines, a
    /// line '+++++++ REPLACE'
    diff: String,
}

impl DialectArguments for ReplaceInFile {
    const ABOUT: About = About {
        name: "replace_in_file",
        title: "Replace sections of a file",
        description: "Request to replace sections of content in an existing file using SEARCH/REPLACE blocks. SEARCH has whole \
lines, exactly as in the file, and enough of them to be unique; an empty REPLACE deletes. All blocks are applied, or none.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "apply_patch";
    const WORDS: Words = Words { done: Some(saved), refused: Some(refused), ..Words::OURS };
    const BESIDE: &'static [Beside] = &[Beside::nothing("task_progress")];

    fn translate(self) -> Result<Translated, Problem> {
        Ok(blocks(self.path, self.diff))
    }
}

/// Arguments of `write_to_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteToFile {
    /// The path of the file to write to
    path: String,
    /// The complete intended content of the file
    content: String,
}

impl DialectArguments for WriteToFile {
    const ABOUT: About = About {
        name: "write_to_file",
        title: "Write a file",
        description: "Request to write content to a file, with its folders. To overwrite a file, read all of it first, and \
provide the COMPLETE content.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "write_file";
    const WORDS: Words = Words { done: Some(saved), ..Words::OURS };
    const BESIDE: &'static [Beside] = &[Beside::nothing("task_progress")];

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::write(self.path, self.content))
    }
}

/// Arguments of `list_files`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListFiles {
    /// The path of the directory to list
    path: String,
    /// Whether to list files recursively
    recursive: Option<bool>,
}

impl DialectArguments for ListFiles {
    const ABOUT: About = About {
        name: "list_files",
        title: "List files",
        description: "Request to list files and directories within the specified directory, recursively or at its top level.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "list_files";
    const BESIDE: &'static [Beside] = &[Beside::nothing("task_progress")];

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::files(self.path, self.recursive == Some(true)))
    }
}

fn saved(done: &Done<'_>) -> String {
    format!("The content was successfully saved to {}.\n{}", done.path(), done.snippet())
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    let path = refused.path();
    match refused.code {
        "search-not-found" | "hunk-context-mismatch" => {
            Some(format!("The SEARCH block does not match anything in the file {path}."))
        }
        "ambiguous-match" => Some(format!("The SEARCH block matches several places in the file {path}.")),
        "missing-original" => Some(format!("File not found: {path}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::DialectName;

    #[test]
    fn a_call_becomes_one_of_ours() {
        let dialect = DialectName::Cline;
        check(
            dialect,
            ("replace_in_file", json!({"path": "a", "diff": "d"})),
            "apply_patch",
            json!({"patch": "d", "path": "a", "format": "search-replace"}),
        );
        check(
            dialect,
            ("write_to_file", json!({"path": "a", "content": "c"})),
            "write_file",
            json!({"path": "a", "content": "c"}),
        );
        check(
            dialect,
            ("list_files", json!({"path": "a", "recursive": true})),
            "list_files",
            json!({"path": "a"}),
        );
        check(dialect, ("list_files", json!({"path": "a"})), "list_files", json!({"path": "a", "depth": 1}));
    }
}
