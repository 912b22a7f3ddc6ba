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

/// The files of a call in the form that its arguments had as XML: one or several of one name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args<T> {
    file: OneOrSeveral<T>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral<T> {
    Several(Vec<T>),
    One(T),
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
    /// Each with its path
    files: Vec<JsonObject>,
}

impl DialectArguments for ReadFiles {
    const ABOUT: About = ReadFile::ABOUT;
    const STANDS_FOR: &'static str = ReadFile::STANDS_FOR;

    fn translate(self) -> Result<Translated, Problem> {
        let mut parts = Vec::new();
        for mut file in self.files {
            let ranges = file.remove("line_ranges").or_else(|| file.remove("line_range")).unwrap_or_default();
            let ranges: Vec<(u64, u64)> = match &ranges {
                Value::Null => Vec::new(),
                range if lines(range).is_some() => lines(range).into_iter().collect(),
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

/// The same, below `args`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFilesOfArgs {
    args: Args<JsonObject>,
}

impl DialectArguments for ReadFilesOfArgs {
    const ABOUT: About = ReadFiles::ABOUT;
    const STANDS_FOR: &'static str = ReadFiles::STANDS_FOR;

    fn translate(self) -> Result<Translated, Problem> {
        ReadFiles { files: self.args.file.into_list() }.translate()
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
    files: Vec<FileDiff>,
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

    fn translate(self) -> Result<Translated, Problem> {
        let of_file = |FileDiff { path, diff }| {
            // One patch, so that the line of each block counts as those of one file do.
            let diffs: Vec<String> = diff.into_list().into_iter().map(Blocks::into_text).collect();
            blocks(path, diffs.join("\n"))
        };
        in_order(self.files.into_iter().map(of_file).collect())
    }
}

/// The same, below `args`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyDiffsOfArgs {
    args: Args<FileDiff>,
}

impl DialectArguments for ApplyDiffsOfArgs {
    const ABOUT: About = ApplyDiff::ABOUT;
    const STANDS_FOR: &'static str = ApplyDiffs::STANDS_FOR;
    const WORDS: Words = ApplyDiff::WORDS;

    fn translate(self) -> Result<Translated, Problem> {
        ApplyDiffs { files: self.args.file.into_list() }.translate()
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
        Ok(counted_replacement(file_path, old_string, new_string, expected_replacements))
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
