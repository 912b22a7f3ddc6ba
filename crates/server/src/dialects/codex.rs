//! Codex's tools: apply_patch with the text of a patch as its one argument, read_file and list_dir.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{Beside, DialectArguments, DialectTool, Translated};
use crate::manner::{Done, Refused, Words};
use crate::reading::Reading;
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Codex,
        tools: vec![
            DialectTool::listed_with::<ApplyPatch>(),
            DialectTool::listed_with::<ReadFile>(),
            DialectTool::listed_with::<ListDir>(),
        ],
        keeps: &["search_text", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("list_files", "list_dir"),
            ("str_replace", "apply_patch"),
            ("write_file", "apply_patch with *** Add File"),
        ],
    }
}

/// Arguments of `apply_patch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyPatch {
    /// The entire contents of the apply_patch command
    input: String,
}

impl DialectArguments for ApplyPatch {
    const ABOUT: About = About {
        name: "apply_patch",
        title: "Apply a patch",
        description: concat!(
            "Use the `apply_patch` tool to edit files: all of the patch is applied, or none.\n",
            "*** Begin Patch\n",
            "*** Update File: src/a.py\n",
            "@@ def f():\n",
            "     x = 1\n",
            "-    return x\n",
            "+    return x + 1\n",
            "*** Add File: src/b.py\n",
            "+print('new')\n",
            "*** Delete File: old.py\n",
            "*** End Patch\n",
            "Show 3 lines of context above and below each change, and an @@ line with the class or function where they are not \
             unique: a place that is not certain is refused. '*** Move to: path' after an Update header renames. Read a file \
             before you delete it.",
        ),
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "apply_patch";
    const WORDS: Words = Words { done: Some(done), refused: Some(not_applied), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::call("apply_patch", [("patch", self.input.into())]))
    }
}

/// Arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// Absolute path to the file
    file_path: String,
    /// The line number to start reading from. Must be 1 or greater
    offset: Option<usize>,
    /// The maximum number of lines to return
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
        description: "Reads a local file with 1-indexed line numbers.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { reading: Some(reading), refused: Some(not_read), ..Words::OURS };
    const BESIDE: &'static [Beside] = &[
        // It counts in the mode indentation alone.
        Beside::nothing("indentation"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        let Self { file_path, offset, limit, .. } = self;
        Ok(Translated::read(file_path, offset, limit))
    }
}

/// Arguments of `list_dir`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDir {
    /// Absolute path to the directory to list
    dir_path: String,
    /// The maximum directory depth to traverse. Must be 1 or greater
    depth: Option<usize>,
}

impl DialectArguments for ListDir {
    const ABOUT: About = About {
        name: "list_dir",
        title: "List a folder",
        description: "Lists the files in a local directory, two levels deep by default.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "list_files";
    const BESIDE: &'static [Beside] = &[
        Beside::only(
            "offset",
            |value| value.as_u64().is_some_and(|first| first <= 1),
            "there are no pages: list a folder below",
        ),
        // More is shown than is asked for.
        Beside::nothing("limit"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        let depth = self.depth.unwrap_or(2);
        Ok(Translated::call("list_files", [("path", self.dir_path.into()), ("depth", depth.into())]))
    }
}

fn reading(reading: &Reading) -> String {
    let mut text = String::new();
    for (number, content) in reading.lines() {
        let _ = writeln!(text, "L{number}: {content}");
    }
    text + &reading.notes("read_file", "offset")
}

fn done(done: &Done<'_>) -> String {
    let mut text = "Success. Updated the following files:\n".to_owned();
    for file in done.files {
        // Codex has no letter of its own for a file that moved.
        let letter = if file.letter() == 'R' { 'M' } else { file.letter() };
        let _ = writeln!(text, "{letter} {}", file.path);
    }
    text + &done.snippet()
}

fn not_applied(refused: &Refused<'_>) -> Option<String> {
    Some(match refused.code {
        "hunk-context-mismatch" => {
            format!("apply_patch verification failed: Failed to find expected lines in {}:", refused.path())
        }
        "missing-original" => {
            format!("apply_patch verification failed: Failed to read file to update {}", refused.path())
        }
        "invalid-format" => "apply_patch verification failed: Invalid patch".into(),
        _ => "apply_patch verification failed".into(),
    })
}

fn not_read(refused: &Refused<'_>) -> Option<String> {
    match refused.code {
        "missing-original" => Some("failed to read file: No such file or directory".into()),
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
        let dialect = DialectName::Codex;
        check(dialect, ("apply_patch", json!({"input": "p"})), "apply_patch", json!({"patch": "p"}));
        check(dialect, ("apply_patch", json!({"patch": "p"})), "apply_patch", json!({"patch": "p"}));
        check(
            dialect,
            ("read_file", json!({"file_path": "a", "offset": 2})),
            "read_file",
            json!({"path": "a", "offset": 2}),
        );
        check(
            dialect,
            ("list_dir", json!({"dir_path": "a"})),
            "list_files",
            json!({"path": "a", "depth": 2}),
        );
    }
}
