//! Roo Code's tools: read_file, apply_diff with line hints, write_to_file and list_files. Those that it had before, or gives
//! to some models only, are understood.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::commands::insertion;
use super::tool::{
    Beside, DialectArguments, DialectTool, Translated, blocks, counted_replacement, invalid, replacement,
};
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

/// Arguments of `read_file` as it was before: several files, each with ranges of lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFiles {
    /// Each with its path
    files: Vec<JsonObject>,
}

impl DialectArguments for ReadFiles {
    const ABOUT: About = ReadFile::ABOUT;
    const STANDS_FOR: &'static str = ReadFile::STANDS_FOR;

    fn translate(self) -> Result<Translated, Problem> {
        let mut parts = Vec::new();
        for mut file in self.files {
            let ranges = file.remove("line_ranges").unwrap_or_default();
            let ranges: Vec<(u64, u64)> = match &ranges {
                Value::Null => Vec::new(),
                Value::Array(ranges) => ranges
                    .iter()
                    .map(|range| {
                        lines(range).ok_or_else(|| invalid("line_ranges", "a range is [first, last], from 1"))
                    })
                    .collect::<Result<_, _>>()?,
                _ => return Err(invalid("line_ranges", "it must be a list of ranges [first, last]")),
            };
            if ranges.is_empty() {
                parts.push(Value::Object(file));
                continue;
            }
            for (first, last) in ranges {
                let mut part = file.clone();
                part.insert("offset".to_owned(), first.into());
                part.insert("limit".to_owned(), (last - first + 1).into());
                parts.push(Value::Object(part));
            }
        }
        Ok(Translated::call("read_file", [("files", parts.into())]))
    }
}

/// Returns the first and the last line of a range: two numbers in a list, or with a dash between them.
fn lines(range: &Value) -> Option<(u64, u64)> {
    let (first, last) = match range {
        Value::Array(ends) => match &ends[..] {
            [first, last] => (first.as_u64()?, last.as_u64()?),
            _ => return None,
        },
        Value::String(text) => {
            let (first, last) = text.split_once('-')?;
            (first.trim().parse().ok()?, last.trim().parse().ok()?)
        }
        _ => return None,
    };
    (first >= 1 && last >= first).then_some((first, last))
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

/// Arguments of `apply_diff` as some models have it: texts instead of blocks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Operations {
    path: String,
    operations: Vec<Operation>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Operation {
    search: String,
    replace: String,
}

impl DialectArguments for Operations {
    const ABOUT: About = ApplyDiff::ABOUT;
    const STANDS_FOR: &'static str = "str_replace";
    const WORDS: Words = ApplyDiff::WORDS;

    fn translate(self) -> Result<Translated, Problem> {
        let edits: Vec<Value> = (self.operations.into_iter())
            .map(|Operation { search, replace }| json!({"old_string": search, "new_string": replace}))
            .collect();
        if edits.is_empty() {
            return Err(invalid("operations", "the list is empty"));
        }
        Ok(Translated::call("str_replace", [("path", self.path.into()), ("edits", edits.into())]))
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

/// Arguments of `insert_content`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InsertContent {
    path: String,
    /// The line before which the content is inserted, from 1; 0 appends to the file
    line: usize,
    content: String,
}

impl DialectArguments for InsertContent {
    const ABOUT: About = About {
        name: "insert_content",
        title: "Insert lines",
        description: "Insert new lines of content into a file before a line, or at its end.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "replace_lines";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        let Self { path, line, content } = self;
        Ok(match line.checked_sub(1) {
            Some(above) => insertion(&path, above, content),
            None => {
                let arguments = [("path", path.into()), ("insert_after", content.into())];
                Translated::call("str_replace", arguments)
            }
        })
    }
}

/// Arguments of the older `search_and_replace`, which replaces every place in the file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchAndReplace {
    path: String,
    search: String,
    replace: String,
    use_regex: Option<bool>,
    ignore_case: Option<bool>,
}

impl DialectArguments for SearchAndReplace {
    const ABOUT: About = About {
        name: "search_and_replace",
        title: "Replace text or an expression",
        description: "Replace every place of a text or a regular expression in a file.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "replace_in_files";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };
    const BESIDE: &'static [Beside] = &[
        Beside::empty("start_line", "every place in the file is replaced: for some lines use apply_diff"),
        Beside::empty("end_line", "every place in the file is replaced: for some lines use apply_diff"),
    ];

    fn translate(self) -> Result<Translated, Problem> {
        let Self { path, search, replace, use_regex, ignore_case } = self;
        let arguments = [
            ("old_string", search.into()),
            ("new_string", replace.into()),
            ("regex", json!(use_regex)),
            ("ignore_case", json!(ignore_case)),
            ("path", path.into()),
        ];
        Ok(Translated::call("replace_in_files", arguments))
    }
}

/// Arguments of `edit_file`, and without a count of `search_replace`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFile {
    file_path: String,
    old_string: String,
    new_string: String,
    expected_replacements: Option<usize>,
}

impl DialectArguments for EditFile {
    const ABOUT: About = About {
        name: "edit_file",
        title: "Replace text in a file",
        description: "Replace text in a file, which must occur as often as expected_replacements says, by default once.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "str_replace";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        let Self { file_path, old_string, new_string, expected_replacements } = self;
        Ok(counted_replacement(file_path, old_string, new_string, expected_replacements))
    }
}

/// Arguments of `edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    file_path: String,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl DialectArguments for Edit {
    const ABOUT: About = About {
        name: "edit",
        title: "Replace text in a file",
        description: "Replace text in a file, which must occur once, or everywhere with replace_all.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
    const STANDS_FOR: &'static str = "str_replace";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        Ok(replacement(self.file_path, self.old_string, self.new_string, self.replace_all))
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
