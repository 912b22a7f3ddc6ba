//! Tools that Roo Code had before, or gives to some models only. They are understood.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use emend_workspace::problem::Problem;

use super::super::commands::insertion;
use super::super::tool::{
    Beside, DialectArguments, Translated, blocks, counted_replacement, in_order, invalid, replacement,
};
use super::{ApplyDiff, ReadFile, done, refused};
use crate::manner::Words;
use crate::tools::{About, Effect};

/// The files of a call: a list, or one or several below `file`, as arguments were that came from XML.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "files: it must be a list, each with its path")]
enum Files<T> {
    List(Vec<T>),
    Below { file: OneOrSeveral<T> },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral<T> {
    Several(Vec<T>),
    One(T),
}

/// The other name of `files`.
const ARGS: &[Beside] = &[Beside::same("args", "files")];

impl<T> Files<T> {
    fn into_list(self) -> Vec<T> {
        match self {
            Self::List(list) => list,
            Self::Below { file } => file.into_list(),
        }
    }
}

impl<T> OneOrSeveral<T> {
    fn into_list(self) -> Vec<T> {
        match self {
            Self::Several(list) => list,
            Self::One(one) => vec![one],
        }
    }
}

/// Arguments of `read_file` as it was before: several files, each with ranges of lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFiles {
    files: Files<JsonObject>,
}

impl DialectArguments for ReadFiles {
    const ABOUT: About = ReadFile::ABOUT;
    const STANDS_FOR: &'static str = ReadFile::STANDS_FOR;
    const BESIDE: &'static [Beside] = ARGS;

    fn translate(self) -> Result<Translated, Problem> {
        let mut parts = Vec::new();
        for mut file in self.files.into_list() {
            let written = file.remove("line_ranges").or_else(|| file.remove("line_range"));
            let ranges = ranges(&written.unwrap_or_default())?;
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

/// Returns the ranges of lines that are wanted of a file: one, or a list of them.
fn ranges(written: &Value) -> Result<Vec<(u64, u64)>, Problem> {
    let wrong = || invalid("line_ranges", "it must be a list of ranges [first, last], from 1");
    match written {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) if lines(written).is_none() => {
            list.iter().map(|range| lines(range).ok_or_else(wrong)).collect()
        }
        _ => lines(written).map(|range| vec![range]).ok_or_else(wrong),
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

/// Arguments of `apply_diff` for several files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyDiffs {
    files: Files<FileDiff>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileDiff {
    path: String,
    diff: OneOrSeveral<Blocks>,
}

/// SEARCH/REPLACE blocks, alone or beside the line of the first.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Blocks {
    Alone(String),
    At(BlocksAt),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BlocksAt {
    content: String,
    /// It stands in the blocks too, where it counts
    #[serde(rename = "start_line")]
    _start_line: Option<Value>,
}

impl Blocks {
    fn into_text(self) -> String {
        let (Self::Alone(text) | Self::At(BlocksAt { content: text, .. })) = self;
        text
    }
}

impl DialectArguments for ApplyDiffs {
    const ABOUT: About = ApplyDiff::ABOUT;
    const STANDS_FOR: &'static str = "edit_files";
    const WORDS: Words = ApplyDiff::WORDS;
    const BESIDE: &'static [Beside] = ARGS;

    fn translate(self) -> Result<Translated, Problem> {
        let of_file = |FileDiff { path, diff }| {
            // One patch, so that the line of each block counts as those of one file do.
            let diffs: Vec<String> = diff.into_list().into_iter().map(Blocks::into_text).collect();
            blocks(path, diffs.join("\n"))
        };
        in_order(self.files.into_list().into_iter().map(of_file).collect())
    }
}

/// Arguments of `apply_diff` as some models have it: texts instead of blocks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Operations {
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

/// Arguments of `insert_content`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InsertContent {
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
pub(super) struct SearchAndReplace {
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
pub(super) struct EditFile {
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
        counted_replacement(file_path, old_string, new_string, expected_replacements)
    }
}

/// Arguments of `edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
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
