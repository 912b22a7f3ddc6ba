//! Gemini CLI's tools: replace, write_file, read_file, read_many_files and list_directory. The older replace, which counts
//! the replacements, and the older read_many_files are understood.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{
    Beside, DialectArguments, DialectTool, Translated, counted_replacement, invalid, replacement,
};
use crate::manner::{Done, Refused, Words};
use crate::reading::Reading;
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Gemini,
        tools: vec![
            DialectTool::listed_with::<ReadFile>(),
            DialectTool::listed_with::<ReadManyFiles>(),
            DialectTool::listed_with::<ListDirectory>(),
            DialectTool::listed_with::<Replace>(),
            DialectTool::listed_with::<WriteFile>(),
            DialectTool::understood_with::<CountedReplace>(),
            DialectTool::understood_with::<ReadFrom>(),
            DialectTool::understood_with::<ReadPaths>(),
        ],
        keeps: &["search_text", "edit_preview", "apply_preview", "undo_edit", "diagnostics"],
        names: &[
            ("list_files", "list_directory"),
            ("str_replace", "replace"),
            ("replace_all", "allow_multiple"),
            ("offset", "start_line"),
            ("limit", "end_line, which counts from the first line"),
        ],
    }
}

/// Arguments of `replace`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replace {
    /// The path to the file to modify
    file_path: String,
    /// A clear instruction for the code change: why, where, what. It is for the reader of the call
    #[serde(rename = "instruction")]
    _instruction: String,
    /// The exact literal text to replace, with its white space. Empty to create the file
    old_string: String,
    /// The exact literal text to replace it with
    new_string: String,
    /// If true, replaces all occurrences; else exactly one must be there
    allow_multiple: Option<bool>,
}

impl DialectArguments for Replace {
    const ABOUT: About = About {
        name: "replace",
        title: "Replace text in a file",
        description: "Replaces text within a file. By default, the tool expects to find and replace exactly ONE occurrence of \
old_string: give enough lines around it, or set allow_multiple. Never escape old_string or new_string, and copy old_string \
from read_file. Nothing is changed by a call that fails.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "str_replace";
    const WORDS: Words = Words { done: Some(replaced), refused: Some(not_replaced), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(replacement(self.file_path, self.old_string, self.new_string, self.allow_multiple))
    }
}

/// Arguments of the older `replace`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CountedReplace {
    file_path: String,
    old_string: String,
    new_string: String,
    expected_replacements: Option<usize>,
}

impl DialectArguments for CountedReplace {
    const ABOUT: About = Replace::ABOUT;
    const STANDS_FOR: &'static str = Replace::STANDS_FOR;
    const WORDS: Words = Replace::WORDS;

    fn translate(self) -> Result<Translated, Problem> {
        let Self { file_path, old_string, new_string, expected_replacements } = self;
        counted_replacement(file_path, old_string, new_string, expected_replacements)
    }
}

/// Arguments of `write_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    /// Path to the file
    file_path: String,
    /// The complete literal content to write
    content: String,
}

impl DialectArguments for WriteFile {
    const ABOUT: About = About {
        name: "write_file",
        title: "Write a file",
        description: "Writes the complete content to a file, creating its folders. To replace a file that exists, read all of \
it first.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "write_file";
    const WORDS: Words = Words { done: Some(written), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::write(self.file_path, self.content))
    }
}

/// Arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// The path to the file to read
    file_path: String,
    /// The 1-based line number to start reading from
    start_line: Option<usize>,
    /// The 1-based line number to end reading at (inclusive)
    end_line: Option<usize>,
}

impl DialectArguments for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read a file",
        description: "Reads and returns the content of a text file. If the file is large, the content is truncated, and the \
response says how to read more with start_line and end_line. Read a file before you edit it.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { reading: Some(reading), refused: Some(not_read), ..Words::OURS };
    const BESIDE: &'static [Beside] =
        &[Beside::same("absolute_path", "file_path"), Beside::same("absolutePath", "file_path")];

    fn translate(self) -> Result<Translated, Problem> {
        Translated::lines(self.file_path, self.start_line, self.end_line)
    }
}

/// Arguments of the older `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFrom {
    file_path: String,
    /// The 0-based line to start reading from
    offset: Option<usize>,
    limit: Option<usize>,
}

impl DialectArguments for ReadFrom {
    const ABOUT: About = ReadFile::ABOUT;
    const STANDS_FOR: &'static str = ReadFile::STANDS_FOR;
    const WORDS: Words = ReadFile::WORDS;
    const BESIDE: &'static [Beside] = ReadFile::BESIDE;

    fn translate(self) -> Result<Translated, Problem> {
        let first = self.offset.map(|offset| offset.saturating_add(1));
        Ok(Translated::read(self.file_path, first, self.limit))
    }
}

/// Arguments of `read_many_files`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadManyFiles {
    /// Paths of files, without patterns
    include: Vec<String>,
}

impl DialectArguments for ReadManyFiles {
    const ABOUT: About = About {
        name: "read_many_files",
        title: "Read several files",
        description: "Reads the content of several files at once. Find their paths with list_directory or search_text.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "read_file";
    const WORDS: Words = Words { reading: Some(one_of_many), refused: Some(not_read), ..Words::OURS };
    const BESIDE: &'static [Beside] = &[
        Beside::empty("exclude", "give the paths of the files that you want, and leave the others out"),
        // These are about what a pattern finds, and there are no patterns.
        Beside::nothing("recursive"),
        Beside::nothing("useDefaultExcludes"),
        Beside::nothing("file_filtering_options"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        read_files("include", self.include)
    }
}

/// Arguments of the older `read_many_files`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadPaths {
    paths: Vec<String>,
}

impl DialectArguments for ReadPaths {
    const ABOUT: About = ReadManyFiles::ABOUT;
    const STANDS_FOR: &'static str = ReadManyFiles::STANDS_FOR;
    const WORDS: Words = ReadManyFiles::WORDS;
    const BESIDE: &'static [Beside] = ReadManyFiles::BESIDE;

    fn translate(self) -> Result<Translated, Problem> {
        read_files("paths", self.paths)
    }
}

fn read_files(name: &str, paths: Vec<String>) -> Result<Translated, Problem> {
    if paths.is_empty() {
        return Err(invalid(name, "the list is empty"));
    }
    if let Some(pattern) = paths.iter().find(|path| path.contains(['*', '?', '{'])) {
        let message = format!("{pattern} is a pattern: give paths of files, which list_directory shows");
        return Err(invalid(name, &message));
    }
    let files: Vec<Value> = paths.into_iter().map(|path| json!({"path": path})).collect();
    Ok(Translated::call("read_file", [("files", files.into())]))
}

/// Arguments of `list_directory`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirectory {
    /// The path to the directory to list
    dir_path: String,
}

impl DialectArguments for ListDirectory {
    const ABOUT: About = About {
        name: "list_directory",
        title: "List a folder",
        description: "Lists the names of files and subdirectories directly within a directory path.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "list_files";
    const BESIDE: &'static [Beside] = &[
        Beside::same("path", "dir_path"),
        Beside::empty("ignore", "there are no patterns: all is listed that git does not ignore"),
        Beside::only("file_filtering_options", respects_ignores, "files that git ignores are left out here"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        Ok(Translated::call("list_files", [("path", self.dir_path.into()), ("depth", 1.into())]))
    }
}

/// Returns whether these options leave out what git ignores, as it is done here. What Gemini alone ignores is shown.
fn respects_ignores(options: &Value) -> bool {
    options.is_object() && options.get("respect_git_ignore") != Some(&Value::Bool(false))
}

/// Shows the content without numbers, since Gemini's tools have none.
fn reading(reading: &Reading) -> String {
    let mut text = String::new();
    if let Some(next) = reading.next {
        let (shown, total) = (&reading.shown, reading.total);
        let _ = writeln!(
            text,
            "IMPORTANT: The file content has been truncated.\nStatus: Showing lines {}-{} of {total} total lines.\n\
             Action: To read more of the file, use start_line: {next}.\n\n--- FILE CONTENT (truncated) ---",
            shown.start + 1,
            shown.end
        );
    }
    for (_, content) in reading.lines() {
        let _ = writeln!(text, "{content}");
    }
    text + &reading.after
}

fn one_of_many(of_many: &Reading) -> String {
    format!("--- {} ---\n\n{}\n", of_many.name, reading(of_many))
}

fn replaced(done: &Done<'_>) -> String {
    let path = done.path();
    if done.is_new() {
        return format!("Created new file: {path} with provided content.\n");
    }
    let (places, snippet) = (done.places(), done.snippet());
    format!(
        "Successfully modified file: {path} ({places} replacements). Here is the updated code:\n{snippet}"
    )
}

fn written(done: &Done<'_>) -> String {
    match done.is_new() {
        true => format!("Successfully created and wrote to new file: {}.\n", done.path()),
        false => format!("Successfully overwrote file: {}.\n{}", done.path(), done.snippet()),
    }
}

fn not_replaced(refused: &Refused<'_>) -> Option<String> {
    let path = refused.path();
    Some(match refused.code {
        "search-not-found" => {
            format!("Failed to edit, 0 occurrences found for old_string in {path}. No edits made.")
        }
        "ambiguous-match" => {
            let (wanted, found) = (refused.wanted_places(), refused.lines.len());
            let occurrences = if wanted == 1 { "occurrence" } else { "occurrences" };
            format!(
                "Failed to edit, expected {wanted} {occurrences} but found {found} for old_string in file: {path}"
            )
        }
        "already-exists" => format!("Failed to edit. Attempted to create a file that already exists: {path}"),
        "missing-original" => {
            "File not found. Cannot apply edit. Use an empty old_string to create a new file.".into()
        }
        "no-op" => "No changes to apply. The old_string and new_string are identical.".into(),
        _ => return None,
    })
}

fn not_read(refused: &Refused<'_>) -> Option<String> {
    (refused.code == "missing-original").then(|| format!("File not found: {}", refused.path()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::DialectName;

    #[test]
    fn a_call_becomes_one_of_ours() {
        let dialect = DialectName::Gemini;
        check(
            dialect,
            (
                "replace",
                json!({"file_path": "a", "instruction": "i", "old_string": "", "new_string": "y", "allow_multiple": true}),
            ),
            "str_replace",
            json!({"path": "a", "old_string": "", "new_string": "y"}),
        );
        check(
            dialect,
            (
                "replace",
                json!({"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 2}),
            ),
            "str_replace",
            json!({"path": "a", "old_string": "x", "new_string": "y", "expected_count": 2}),
        );
        check(
            dialect,
            ("read_file", json!({"file_path": "a", "end_line": 3})),
            "read_file",
            json!({"path": "a", "offset": 1, "limit": 3}),
        );
        check(
            dialect,
            ("read_file", json!({"path": "a", "symbol": "f"})),
            "read_file",
            json!({"path": "a", "symbol": "f"}),
        );
        check(
            dialect,
            ("read_many_files", json!({"paths": ["a"]})),
            "read_file",
            json!({"files": [{"path": "a"}]}),
        );
    }
}
