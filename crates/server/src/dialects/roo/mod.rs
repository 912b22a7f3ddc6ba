//! Roo Code's tools: read_file, apply_diff with line hints, write_to_file and list_files.

mod older;

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;
use older::{ApplyDiffs, Edit, EditFile, InsertContent, Operations, ReadFiles, SearchAndReplace};

use super::Dialect;
use super::tool::{Beside, DialectArguments, DialectTool, Translated, blocks};
use crate::manner::{Done, Refused, Words};
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Roo,
        tools: vec![
            DialectTool::listed_with::<ReadFile>(),
            DialectTool::listed_with::<ApplyDiff>(),
            DialectTool::listed_with::<WriteToFile>(),
            DialectTool::listed_with::<ListFiles>(),
            DialectTool::understood_with::<ReadFiles>(),
            DialectTool::understood_with::<ApplyDiffs>(),
            DialectTool::understood_with::<InsertContent>(),
            DialectTool::understood_with::<Operations>().called("search_and_replace"),
            DialectTool::understood_with::<Operations>(),
            DialectTool::understood_with::<SearchAndReplace>(),
            DialectTool::understood_with::<EditFile>(),
            DialectTool::understood_with::<EditFile>().called("search_replace"),
            DialectTool::understood_with::<Edit>(),
        ],
        keeps: &["search_text", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("str_replace", "apply_diff"),
            ("apply_patch", "apply_diff"),
            ("write_file", "write_to_file"),
            ("old_string", "SEARCH"),
            ("new_string", "REPLACE"),
        ],
    }
}

/// Arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// Path to the file to read, relative to the workspace
    path: String,
    /// 1-based line offset to start reading from
    offset: Option<usize>,
    /// Maximum number of lines to return
    limit: Option<usize>,
    /// Only "slice": the lines from offset on
    #[schemars(extend("enum" = ["slice"]))]
    #[expect(dead_code, reason = "it has one value")]
    mode: Option<String>,
}

impl DialectArguments for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read a file",
        description: "Read a file and return its contents with line numbers for diffing or discussion.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const BESIDE: &'static [Beside] = &[
        // It counts in the mode indentation alone.
        Beside::nothing("indentation"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        let Self { path, offset, limit, .. } = self;
        Ok(Translated::read(path, offset, limit))
    }
}

/// Arguments of `apply_diff`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyDiff {
    /// The path of the file to modify
    path: String,
    /// One or more blocks: a line '<<<<<<< SEARCH', a line ':start_line:' with the number, a line '-------', the exact lines to
    /// find, a line '=======', the new lines, a line '>>>>>>> REPLACE'
    diff: String,
}

impl DialectArguments for ApplyDiff {
    const ABOUT: About = About {
        name: "apply_diff",
        title: "Change parts of a file",
        description: "Apply precise, targeted modifications to an existing file using one or more search/replace blocks. The \
SEARCH block must exactly match the existing content, including whitespace and indentation; :start_line: chooses among equal \
places. All blocks are applied, or none. If you are not certain of the content, use read_file first.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "apply_patch";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };

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
    /// The full content of the file, without line numbers
    content: String,
    /// The number of lines as you guess it. It is not needed
    #[serde(rename = "line_count")]
    _line_count: Option<usize>,
}

impl DialectArguments for WriteToFile {
    const ABOUT: About = About {
        name: "write_to_file",
        title: "Write a file",
        description: "Write a whole file, with its folders: a new one, or one of which you have read all. You MUST provide the \
COMPLETE content. For changes of a file, apply_diff is shorter and safer.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "write_file";
    const WORDS: Words = Words { done: Some(done), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::write(self.path, self.content))
    }
}

/// Arguments of `list_files`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListFiles {
    /// Directory path to inspect
    path: String,
    /// True to list contents recursively; false for the top level only
    recursive: Option<bool>,
}

impl DialectArguments for ListFiles {
    const ABOUT: About = About {
        name: "list_files",
        title: "List files",
        description: "List files and directories within the specified directory.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "list_files";

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::files(self.path, self.recursive == Some(true)))
    }
}

fn done(done: &Done<'_>) -> String {
    let what = if done.is_new() { "Created" } else { "Modified" };
    format!("{what} {}.\n{}", done.path(), done.snippet())
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    let path = refused.path();
    match refused.code {
        "search-not-found" | "hunk-context-mismatch" | "ambiguous-match" => {
            Some(format!("Unable to apply diff to file: {path}"))
        }
        "missing-original" => Some(format!("File does not exist at path: {path}")),
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
        let dialect = DialectName::Roo;
        check(
            dialect,
            ("apply_diff", json!({"path": "a", "diff": "d"})),
            "apply_patch",
            json!({"patch": "d", "path": "a", "format": "search-replace"}),
        );
        check(
            dialect,
            ("write_to_file", json!({"path": "a", "content": "c", "line_count": 1})),
            "write_file",
            json!({"path": "a", "content": "c"}),
        );
        check(
            dialect,
            ("insert_content", json!({"path": "a", "line": 0, "content": "c"})),
            "str_replace",
            json!({"path": "a", "insert_after": "c"}),
        );
        check(
            dialect,
            (
                "edit_file",
                json!({"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 1}),
            ),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
        );
    }
}
