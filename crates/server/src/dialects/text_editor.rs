//! Anthropic's text editor tool, one tool with commands. The command `undo_edit` of its older version is understood.

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::commands::{self, Command, Commands};
use super::tool::{DialectArguments, DialectTool, Translated};
use crate::manner::{Done, Refused, Words};
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::TextEditor,
        tools: vec![DialectTool::listed_with::<TextEditor>()],
        keeps: &["search_text", "apply_patch", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("read_file", "str_replace_based_edit_tool with the command view"),
            ("list_files", "str_replace_based_edit_tool with the command view"),
            ("str_replace", "str_replace_based_edit_tool with the command str_replace"),
            ("write_file", "str_replace_based_edit_tool with the command create"),
            ("old_string", "old_str"),
            ("new_string", "new_str"),
            ("offset", "the first number of view_range"),
            ("limit", "the second number of view_range, which is a line"),
        ],
    }
}

/// Arguments of `str_replace_based_edit_tool`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextEditor {
    /// view a file or a folder; create a file; str_replace once; insert lines
    #[schemars(extend("enum" = ["view", "create", "str_replace", "insert", "undo_edit"]))]
    command: String,
    /// Path to file or directory
    path: String,
    /// For view: the first and the last line, from 1; -1 for the end of the file
    #[schemars(inner(range(min = -1)))]
    view_range: Option<Vec<i64>>,
    /// For create: the content of the file
    file_text: Option<String>,
    /// For str_replace: the text to replace, which must occur exactly once
    old_str: Option<String>,
    /// For str_replace: the text to put in its place; without it, it is deleted
    new_str: Option<String>,
    /// For insert: the line after which the text is inserted, 0 for the beginning of the file
    insert_line: Option<usize>,
    /// For insert: the text to insert
    insert_text: Option<String>,
}

impl DialectArguments for TextEditor {
    const ABOUT: About = About {
        name: "str_replace_based_edit_tool",
        title: "View and edit files",
        description: "View, create and edit text files. view shows a file with line numbers, or a folder two levels deep. \
create writes a whole file; to replace one, view all of it first. str_replace replaces a text that occurs exactly once. insert \
puts text after a line of the file as you viewed it. A call that fails changes nothing.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { done: Some(done), reading: Some(commands::reading), refused: Some(refused) };

    fn translate(self) -> Result<Translated, Problem> {
        let Self { command, path, view_range, file_text, old_str, new_str, insert_line, insert_text } = self;
        let command = Command::parse(&command)?;
        // The older version inserts new_str.
        let insert_text = insert_text.or_else(|| new_str.clone().filter(|_| command == Command::Insert));
        let given = Commands { path, view_range, file_text, old_str, new_str, insert_line, insert_text };
        match command {
            // It may replace a file, as that of this system does.
            Command::Create => given.write(),
            _ => given.translate(command),
        }
    }
}

fn done(done: &Done<'_>) -> String {
    if done.is_new() {
        return format!("File created successfully at: {}\n", done.path());
    }
    let snippet = done.snippet();
    format!(
        "The file {} has been edited. Here's the result of running `cat -n` on a snippet of it:\n{snippet}",
        done.path()
    )
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    Some(match (refused.code, refused.lines.len()) {
        ("search-not-found", _) => {
            "Error: No match found for replacement. Please check your text and try again.".into()
        }
        ("ambiguous-match", 2..) => format!(
            "Error: Found {} matches for replacement text. Please provide more context to make a unique match.",
            refused.lines.len()
        ),
        ("ambiguous-match", _) => {
            "Error: Found several matches for replacement text. Please provide more context to make a unique match.".into()
        }
        ("missing-original", _) => "Error: File not found".into(),
        ("read-only" | "path-forbidden" | "path-outside-workspace", _) => {
            "Error: Permission denied. Cannot write to file.".into()
        }
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
        let dialect = DialectName::TextEditor;
        check(
            dialect,
            ("str_replace_based_edit_tool", json!({"command": "view", "path": "a", "view_range": [11, 12]})),
            "read_file",
            json!({"path": "a", "offset": 11, "limit": 2}),
        );
        check(
            dialect,
            (
                "str_replace_based_edit_tool",
                json!({"command": "view", "path": "a", "view_range": [], "old_str": "", "insert_line": 0}),
            ),
            "read_file",
            json!({"path": "a"}),
        );
        check(
            dialect,
            ("str_replace_based_edit_tool", json!({"command": "create", "path": "a", "file_text": ""})),
            "write_file",
            json!({"path": "a", "content": ""}),
        );
        check(
            dialect,
            (
                "str_replace_based_edit_tool",
                json!({"command": "insert", "path": "a", "insert_line": 2, "new_str": "x"}),
            ),
            "replace_lines",
            json!({"path": "a", "start_line": 3, "end_line": 2, "new_text": "x"}),
        );
    }
}
