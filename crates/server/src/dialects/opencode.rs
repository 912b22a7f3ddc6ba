//! opencode's tools: read, edit, write and apply_patch. `patch`, as apply_patch was called, and `multiedit` are understood.

use std::fmt::Write as _;
use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::Deserialize;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{DialectArguments, DialectTool, Translated, in_order, invalid, replacement};
use crate::manner::{Done, Refused, Words};
use crate::reading::Reading;
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::OpenCode,
        tools: vec![
            DialectTool::listed_with::<Read>(),
            DialectTool::listed_with::<Edit>(),
            DialectTool::listed_with::<Write>(),
            DialectTool::listed_with::<ApplyPatch>(),
            DialectTool::understood_with::<ApplyPatch>().called("patch"),
            DialectTool::understood_with::<MultiEdit>(),
        ],
        keeps: &["list_files", "search_text", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("read_file", "read"),
            ("str_replace", "edit"),
            ("write_file", "write"),
            ("old_string", "oldString"),
            ("new_string", "newString"),
            ("replace_all", "replaceAll"),
        ],
    }
}

/// Arguments of `read`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Read {
    /// The absolute path to the file or directory to read
    file_path: String,
    /// The line number to start reading from (1-indexed)
    offset: Option<usize>,
    /// The maximum number of lines to read (defaults to 16 KB)
    limit: Option<usize>,
}

impl DialectArguments for Read {
    const ABOUT: About = About {
        name: "read",
        title: "Read a file",
        description: "Read a text file or directory. Each line is prefixed by its number as `<line>: <content>`. Read a file \
before you edit it.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { reading: Some(reading), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        let Self { file_path, offset, limit } = self;
        let offset = offset.map(|offset| offset.max(1));
        let above = format!("<path>{file_path}</path>\n<type>directory</type>\n");
        Ok(Translated::read(file_path, offset, limit).or_folder(1, above))
    }
}

/// Arguments of `edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Edit {
    /// The absolute path to the file to modify
    file_path: String,
    /// The text to replace
    old_string: String,
    /// The text to replace it with (must be different from oldString)
    new_string: String,
    /// Replace all occurrences of oldString (default false)
    replace_all: Option<bool>,
}

impl DialectArguments for Edit {
    const ABOUT: About = About {
        name: "edit",
        title: "Edit a file",
        description: "Performs exact string replacements in files. The edit fails if oldString is not found, or is found \
several times: give more lines around it, or use replaceAll. Leave out the line numbers of read. An empty oldString creates the \
file.",
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

/// Arguments of `write`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Write {
    /// The absolute path to the file to write
    file_path: String,
    /// The content to write to the file
    content: String,
}

impl DialectArguments for Write {
    const ABOUT: About = About {
        name: "write",
        title: "Write a file",
        description: "Writes a whole file: creates it with its folders, or replaces it, for which you must read all of it \
first.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "write_file";
    const WORDS: Words = Words { done: Some(written), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::write(self.file_path, self.content))
    }
}

/// Arguments of `apply_patch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ApplyPatch {
    /// The full patch text that describes all changes to be made
    patch_text: String,
}

impl DialectArguments for ApplyPatch {
    const ABOUT: About = About {
        name: "apply_patch",
        title: "Apply a patch",
        description: "Edit files with a patch between '*** Begin Patch' and '*** End Patch', all or none: '*** Update File: \
path' with hunks of ' ', '-' and '+' lines under @@ lines, '*** Add File: path' with '+' lines, '*** Delete File: path', '*** \
Move to: path' after an Update header. Give about three kept lines around each change.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "apply_patch";
    const WORDS: Words = Words { refused: Some(not_applied), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::call("apply_patch", [("patch", self.patch_text.into())]))
    }
}

/// Arguments of `multiedit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct MultiEdit {
    file_path: String,
    edits: Vec<OneEdit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OneEdit {
    file_path: Option<String>,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl DialectArguments for MultiEdit {
    const ABOUT: About = About {
        name: "multiedit",
        title: "Edit a file at several places",
        description: "Makes several edits to one file in order, each on the result of those before it: all or none.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "edit_files";
    const WORDS: Words = Edit::WORDS;

    fn translate(self) -> Result<Translated, Problem> {
        let is_other = |path: &String| !is_same_path(path, &self.file_path);
        if self.edits.iter().any(|edit| edit.file_path.as_ref().is_some_and(is_other)) {
            return Err(invalid("edits", "they are all of the file that filePath names"));
        }
        let path = self.file_path;
        let edit = |OneEdit { old_string, new_string, replace_all, .. }| {
            replacement(path.clone(), old_string, new_string, replace_all)
        };
        in_order(self.edits.into_iter().map(edit).collect())
    }
}

/// Returns whether two paths are the same but for parts that lead nowhere, such as `./`.
fn is_same_path(one: &str, other: &str) -> bool {
    let parts = |path| Path::new(path).components().filter(|part| *part != Component::CurDir);
    parts(one).eq(parts(other))
}

fn reading(reading: &Reading) -> String {
    let mut text = format!("<path>{}</path>\n<type>file</type>\n<content>\n", reading.name);
    for (number, content) in reading.lines() {
        let _ = writeln!(text, "{number}: {content}");
    }
    let (first, last, total) = (reading.shown.start + 1, reading.shown.end, reading.total);
    match reading.next {
        Some(next) => {
            let more = format!("(Showing lines {first}-{last} of {total}. Use offset={next} to continue.)");
            let _ = writeln!(text, "\n{more}");
        }
        None => {
            let _ = writeln!(text, "\n(End of file - total {total} lines)");
        }
    }
    format!("{text}</content>\n{}", reading.after)
}

fn edited(done: &Done<'_>) -> String {
    format!("Edit applied successfully.\n{}", done.snippet())
}

fn written(done: &Done<'_>) -> String {
    let snippet = if done.is_new() { String::new() } else { done.snippet() };
    format!("Wrote file successfully.\n{snippet}")
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    Some(match refused.code {
        "search-not-found" => "oldString not found in content".into(),
        "ambiguous-match" => {
            "oldString found multiple times and requires more code context to uniquely identify the intended \
                              match"
                .into()
        }
        "no-op" => "oldString and newString must be different".into(),
        "missing-original" => format!("File not found: {}", refused.path()),
        _ => return None,
    })
}

fn not_applied(_: &Refused<'_>) -> Option<String> {
    Some("apply_patch verification failed".into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::DialectName;

    #[test]
    fn a_call_becomes_one_of_ours() {
        let dialect = DialectName::OpenCode;
        check(
            dialect,
            ("edit", json!({"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": true})),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": "y", "replace_all": true}),
        );
        check(
            dialect,
            ("write", json!({"filePath": "a", "content": "c"})),
            "write_file",
            json!({"path": "a", "content": "c"}),
        );
        check(dialect, ("patch", json!({"patchText": "p"})), "apply_patch", json!({"patch": "p"}));
    }
}
