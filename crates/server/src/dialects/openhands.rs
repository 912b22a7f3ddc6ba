//! OpenHands' editor, one tool with commands: `str_replace_editor`, and `file_editor`, as it is called now.

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::commands::{self, Command, Commands};
use super::tool::{Beside, DialectArguments, DialectTool, Translated};
use crate::manner::{Done, Refused, Words};
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    let newer = DialectTool::understood_with::<Editor>().called("file_editor");
    Dialect {
        name: DialectName::OpenHands,
        tools: vec![DialectTool::listed_with::<Editor>(), newer],
        keeps: &["search_text", "apply_patch", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("read_file", "str_replace_editor with the command view"),
            ("list_files", "str_replace_editor with the command view"),
            ("str_replace", "str_replace_editor with the command str_replace"),
            ("write_file", "str_replace_editor with the command create"),
            ("old_string", "old_str"),
            ("new_string", "new_str"),
            ("offset", "the first number of view_range"),
            ("limit", "the second number of view_range, which is a line"),
        ],
    }
}

/// Arguments of `str_replace_editor`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Editor {
    /// The command to run
    #[schemars(extend("enum" = ["view", "create", "str_replace", "insert", "undo_edit"]))]
    command: String,
    /// Absolute path to file or directory
    path: String,
    /// Required parameter of create, with the content of the file to be created
    file_text: Option<String>,
    /// Required parameter of str_replace: the string in path to replace
    old_str: Option<String>,
    /// Optional parameter of str_replace: the new string. Required parameter of insert: the string to insert
    new_str: Option<String>,
    /// Required parameter of insert: new_str is inserted AFTER this line of path
    insert_line: Option<usize>,
    /// Optional parameter of view: [11, 12] shows lines 11 and 12, [start, -1] to the end of the file
    #[schemars(inner(range(min = -1)))]
    view_range: Option<Vec<i64>>,
}

impl DialectArguments for Editor {
    const ABOUT: About = About {
        name: "str_replace_editor",
        title: "View and edit files",
        description: "Custom editing tool for viewing, creating and editing files in plain-text format.\n\
* view displays a file as cat -n does, or a folder up to 2 levels deep\n\
* create cannot be used if the path already exists as a file\n\
* str_replace: old_str must match exactly one place, white space included; give enough lines to make it unique\n\
* insert puts new_str after a line of the file as you viewed it\n\
* undo_edit reverts the last edit made to the file at path\n\
A call that fails changes nothing.",
        effect: Effect::Edits,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { done: Some(done), reading: Some(commands::reading), refused: Some(refused) };
    const BESIDE: &'static [Beside] = &[Beside::nothing("security_risk"), Beside::nothing("summary")];

    fn translate(self) -> Result<Translated, Problem> {
        let Self { command, path, file_text, old_str, new_str, insert_line, view_range } = self;
        let insert_text = new_str.clone();
        let given = Commands { path, view_range, file_text, old_str, new_str, insert_line, insert_text };
        given.translate(Command::parse(&command)?)
    }
}

fn done(done: &Done<'_>) -> String {
    let path = done.path();
    if done.is_new() {
        return format!("File created successfully at: {path}\n");
    }
    format!(
        "The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n{}\
         Review the changes and make sure they are as expected. Edit the file again if necessary.\n",
        done.snippet()
    )
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    let (path, old) = (refused.path(), refused.old_text());
    Some(match refused.code {
        "search-not-found" => {
            format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        }
        "ambiguous-match" => format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines {:?}. Please ensure it is unique.",
            refused.lines
        ),
        "no-op" => "No replacement was performed. `new_str` and `old_str` must be different.".into(),
        "missing-original" => format!(
            "Invalid `path` parameter: {path}. The path {path} does not exist. Please provide a valid path."
        ),
        "already-exists" => format!(
            "Invalid `path` parameter: {path}. File already exists at: {path}. Cannot overwrite files using command `create`."
        ),
        "unknown-edit" => format!("No edit history found for {path}."),
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
        let dialect = DialectName::OpenHands;
        check(
            dialect,
            ("str_replace_editor", json!({"command": "create", "path": "a", "file_text": "x"})),
            "str_replace",
            json!({"path": "a", "old_string": "", "new_string": "x"}),
        );
        check(
            dialect,
            ("file_editor", json!({"command": "str_replace", "path": "a", "old_str": "x"})),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": ""}),
        );
        check(
            dialect,
            ("file_editor", json!({"command": "undo_edit", "path": "a"})),
            "undo_edit",
            json!({"path": "a"}),
        );
    }
}
