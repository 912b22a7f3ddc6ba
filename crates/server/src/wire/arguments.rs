//! The arguments of the tools.

use std::collections::BTreeMap;

use emend_edit::patch::{
    Change, Insertion, LineAddress, LinesOfVersion, NewLines, NumberedChange, Part, Patch, Side, SymbolPart,
    TakenLines, TextChange,
};
use emend_workspace::problem::{Kind, Problem};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading;

/// Arguments of `read_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file, from the workspace or absolute.
    pub path: Option<String>,
    /// First line, from 1.
    pub offset: Option<usize>,
    /// Lines (default: 16 KB).
    pub limit: Option<usize>,
    /// Or a definition, heading or JSON key, as Class.method.
    pub symbol: Option<String>,
    /// Or a notebook cell: its id, or number from 0.
    pub cell: Option<String>,
    /// Several readings, each with these.
    pub files: Option<Vec<JsonObject>>,
}

impl ReadFile {
    /// Takes out the several readings, if these are given; then nothing else may be.
    pub fn several(&mut self) -> Result<Option<Vec<JsonObject>>, Problem> {
        let own = [
            ("path", self.path.is_some()),
            ("offset", self.offset.is_some()),
            ("limit", self.limit.is_some()),
            ("symbol", self.symbol.is_some()),
            ("cell", self.cell.is_some()),
        ];
        let files = self.files.take();
        match own.into_iter().find(|(_, is_given)| files.is_some() && *is_given) {
            Some((name, _)) => Err(invalid(name, "with files, it belongs into each of them")),
            None => Ok(files),
        }
    }

    /// Returns the file and the part of it that one reading shows.
    pub fn part(&self) -> Result<(&str, reading::Part<'_>), Problem> {
        let Some(path) = &self.path else {
            return Err(invalid("path", "it is required, or a list of files"));
        };
        if let Some(cell) = self.cell.as_deref().filter(|cell| !cell.is_empty()) {
            return match (&self.symbol, self.offset, self.limit) {
                (None, None, None) => Ok((path, reading::Part::Cell(cell))),
                _ => Err(invalid("cell", "a cell is shown as a whole; leave the others out").at(path)),
            };
        }
        let part = match (&self.symbol, self.offset, self.limit) {
            (Some(symbol), None, limit) => reading::Part::Symbol(symbol, limit),
            (Some(_), Some(_), _) => {
                return Err(invalid("symbol", "give either symbol or offset; limit goes with both").at(path));
            }
            (None, None, None) => reading::Part::Whole,
            (None, offset, limit) => reading::Part::Lines(offset, limit),
        };
        Ok((path, part))
    }
}

fn invalid(name: &str, message: &str) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}

/// Arguments of `list_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// The folder or file (default: all).
    #[schemars(description = "")]
    pub path: Option<String>,
    /// A name (*.rs) or path (src/**/*.ts); after !: all others.
    pub glob: Option<String>,
    /// Default: what fits.
    pub depth: Option<usize>,
    /// What each file defines.
    pub outline: Option<bool>,
}

/// Arguments of `search_text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchText {
    /// A regular expression; (?i) ignores case.
    pub pattern: String,
    /// The folder or file (default: all).
    #[schemars(description = "")]
    pub path: Option<String>,
    /// As in list_files.
    pub glob: Option<String>,
    /// Lines around each match.
    pub context: Option<usize>,
    /// Match across lines.
    pub multiline: Option<bool>,
    /// Only counts by file.
    pub files_only: Option<bool>,
}

/// Arguments of `str_replace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrReplace {
    /// The file to edit.
    #[schemars(description = "")]
    pub path: String,
    /// The exact text, without line numbers.
    pub old_string: Option<String>,
    /// What replaces it, literally. Empty deletes.
    pub new_string: Option<String>,
    /// Or lines to put below old_string; without it, at the end of the file.
    pub insert_after: Option<String>,
    /// Or above them, or at the start.
    pub insert_before: Option<String>,
    /// Replace every occurrence.
    #[schemars(description = "")]
    pub replace_all: Option<bool>,
    /// Replace all, if there are so many.
    pub expected_count: Option<usize>,
    /// In this cell of a notebook.
    pub cell: Option<String>,
    /// Refuse unless this is its version.
    pub version: Option<String>,
    /// Several, all found in the same text.
    pub edits: Option<Vec<OneEdit>>,
    /// The handle of a refused call, of which these are the fixed edits. The refusal says so.
    #[schemars(description = "")]
    pub kept: Option<String>,
}

/// One replacement of several, or lines to insert.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct OneEdit {
    /// The exact text to replace, or beside which lines are inserted.
    pub old_string: Option<String>,
    /// The text to put in its place.
    pub new_string: Option<String>,
    /// The lines to put above it.
    pub insert_before: Option<String>,
    /// The lines to put below it.
    pub insert_after: Option<String>,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
}

impl OneEdit {
    /// Converts the edit, which replaces all if there are `expected`.
    fn change(self, expected: Option<usize>) -> Result<Change, Problem> {
        let invalid = |name: &str, message: &str| Err(invalid(name, message));
        // A client that has to send every argument sends empty texts.
        let lines = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (side, text) = match (lines(self.insert_before), lines(self.insert_after)) {
            (None, None) => {
                return match (self.old_string, self.new_string) {
                    (Some(old), Some(new)) => {
                        let all = self.replace_all.unwrap_or(false);
                        Ok(Change::Text(TextChange { old, new, all, expected }))
                    }
                    (Some(_), None) => invalid(
                        "new_string",
                        "it is required (empty to delete), or insert_before or insert_after",
                    ),
                    (None, Some(_)) => {
                        invalid("old_string", "it is required where new_string takes its place")
                    }
                    (None, None) => invalid("old_string", "it is required, or a list of edits"),
                };
            }
            (Some(text), None) => (Side::Before, text),
            (None, Some(text)) => (Side::After, text),
            (Some(_), Some(_)) => return invalid("insert_after", "give insert_before in an edit of its own"),
        };
        if lines(self.new_string).is_some() {
            return invalid(
                "new_string",
                "lines that are inserted leave old_string as it is; leave new_string out",
            );
        }
        if self.replace_all == Some(true) || expected.is_some_and(|count| count != 1) {
            return invalid("replace_all", "lines are inserted at one place");
        }
        let beside = lines(self.old_string);
        Ok(Change::Insertion(Insertion { beside, side, lines: literal_lines(&text) }))
    }
}

/// Returns the lines of a text, of which the last may have no ending.
fn literal_lines(text: &str) -> Vec<String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect()
}

impl StrReplace {
    /// Takes out the replacements, in whichever form they were given.
    pub fn changes(&mut self) -> Result<Vec<Change>, Problem> {
        let own = OneEdit {
            old_string: self.old_string.take(),
            new_string: self.new_string.take(),
            insert_before: self.insert_before.take(),
            insert_after: self.insert_after.take(),
            replace_all: self.replace_all,
        };
        let Some(edits) = self.edits.take() else {
            return Ok(vec![own.change(self.expected_count)?]);
        };
        // A client that has to send every argument sends empty texts beside edits.
        let texts = [&own.old_string, &own.new_string, &own.insert_before, &own.insert_after];
        if texts.into_iter().flatten().any(|text| !text.is_empty()) {
            return Err(invalid("edits", "give either edits or old_string and new_string"));
        }
        if edits.is_empty() {
            return Err(invalid("edits", "the list is empty"));
        }
        if self.replace_all == Some(true) || self.expected_count.is_some() {
            return Err(invalid("replace_all", "with edits, it belongs into each of them"));
        }
        let change = |(i, edit): (usize, OneEdit)| {
            edit.change(None).map_err(|problem| problem.at(&self.path).in_hunk(i + 1))
        };
        edits.into_iter().enumerate().map(change).collect()
    }
}

/// Arguments of `apply_patch`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatch {
    /// The whole patch.
    #[schemars(description = "")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Or a file that holds the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_path: Option<String>,
    /// The file, if the patch names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Default: recognised.
    #[schemars(description = "")]
    #[schemars(extend("enum" = ["v4a", "unified", "context", "ed", "rcs", "search-replace", "whole"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// By path; refuse if a file has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<BTreeMap<String, String>>,
    /// Only check, and show the diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate_only: Option<bool>,
    /// The handle of a refused call, of which these are the fixed hunks. The refusal says so.
    #[schemars(description = "")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Arguments of `apply_sketch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplySketch {
    pub(crate) path: String,
    pub(crate) sketch: String,
    /// Definitions that may lose most of their lines, as Class.method.
    #[schemars(description = "")]
    pub(crate) replace_whole: Option<Vec<String>>,
    /// What it does, in words.
    #[schemars(description = "")]
    pub instruction: Option<String>,
    /// The version you read.
    #[schemars(description = "")]
    pub(crate) version: Option<String>,
}

/// Arguments of `set_value`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetValue {
    /// The file.
    #[schemars(description = "")]
    pub path: String,
    /// The only change, if there is no list of them.
    #[serde(flatten)]
    pub one: OneValue,
    /// The version, if it must be this.
    #[schemars(description = "")]
    pub version: Option<String>,
    /// Several; path and version stay outside.
    pub edits: Option<Vec<JsonObject>>,
}

/// A change of one value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneValue {
    /// ["scripts", "test"]; in lists ["steps", "0"], ["steps", "name=Test"].
    pub key: Option<Vec<String>>,
    /// The new text.
    pub value: Option<String>,
    /// Or as JSON: 5, true, null, ["a"].
    pub json: Option<String>,
    /// Refuse unless it is this.
    pub expected: Option<String>,
    /// Add; in lists, before that index (-1: end).
    pub insert: Option<bool>,
    /// The key below the new one.
    #[schemars(description = "")]
    pub before: Option<String>,
    /// Remove it.
    #[schemars(description = "")]
    pub delete: Option<bool>,
    /// Of several in YAML, from 0.
    pub document: Option<usize>,
}

/// Arguments of `replace_lines`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceLines {
    /// The file to edit.
    #[schemars(description = "")]
    pub path: String,
    /// Required, but for from alone.
    pub version: Option<String>,
    /// From 1.
    pub start_line: Option<usize>,
    /// start_line - 1 inserts before it.
    pub end_line: Option<usize>,
    /// Or a definition or key, as in read_file.
    pub symbol: Option<String>,
    /// Or a notebook cell.
    pub cell: Option<String>,
    /// Insert beside the symbol or cell.
    #[schemars(description = "")]
    #[schemars(extend("enum" = ["before", "after"]))]
    pub insert: Option<String>,
    /// Of the cell.
    #[schemars(description = "")]
    #[schemars(extend("enum" = ["code", "markdown", "raw"]))]
    pub kind: Option<String>,
    /// Else they stay.
    #[schemars(description = "")]
    pub clear_outputs: Option<bool>,
    /// Literally. Empty deletes.
    pub new_text: Option<String>,
    /// Or lines to copy or move. Beside path alone: a new file.
    pub from: Option<LinesOfFile>,
}

/// Arguments of `draft_edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct DraftEdit {
    /// The file to edit.
    pub path: String,
    /// The version whose lines these are.
    pub version: Option<String>,
    /// The first line to write anew, from 1.
    pub start_line: Option<usize>,
    /// The last one.
    pub end_line: Option<usize>,
    /// Or a definition, as in read_file.
    pub symbol: Option<String>,
    /// What the lines shall become.
    pub instruction: String,
}

/// Lines of a file that are copied or moved.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct LinesOfFile {
    pub(crate) path: String,
    pub(crate) version: String,
    pub(crate) start_line: Option<usize>,
    pub(crate) end_line: Option<usize>,
    pub(crate) symbol: Option<String>,
    pub(crate) cell: Option<String>,
    #[serde(rename = "move")]
    pub(crate) is_moved: Option<bool>,
    /// Shift by so many spaces or tabs.
    #[schemars(range(min = -99, max = 99))]
    pub(crate) indent: Option<i8>,
}

impl ReplaceLines {
    /// Converts the arguments into a patch.
    pub fn patch(self) -> Result<Patch, Problem> {
        let Self {
            path,
            version,
            start_line,
            end_line,
            symbol,
            cell: _,
            insert,
            kind,
            clear_outputs,
            new_text,
            from,
        } = self;
        let patch = || {
            if kind.is_some() || clear_outputs == Some(true) {
                return Err(invalid("cell", "it is required with kind and clear_outputs"));
            }
            let address = ("", start_line, end_line, symbol.as_deref());
            // A client that has to send every argument sends empty ones.
            let has_lines = start_line.into_iter().chain(end_line).any(|line| line > 0);
            let has_place = version.is_some() || symbol.is_some() || insert.is_some() || has_lines;
            let text = new_text.as_deref();
            let new = match (from, text) {
                (Some(_), Some(text)) if !text.is_empty() => {
                    return Err(invalid(
                        "new_text",
                        "with from, its lines are put there; leave new_text out",
                    ));
                }
                (Some(from), _) if !has_place => return Ok(Patch::take(&path, from.lines()?)),
                (Some(from), _) => NewLines::Taken(from.lines()?),
                (None, Some("")) => NewLines::Given(Vec::new()),
                (None, Some(text)) => NewLines::Given(literal_lines(text)),
                (None, None) => {
                    return Err(invalid("new_text", "it is required (empty to delete), or from"));
                }
            };
            let at = lines_of_version(version, address, insert.as_deref())?;
            if inserts(&at.at) && new == NewLines::default() {
                return Err(invalid("new_text", "nothing is to be replaced and nothing to be inserted"));
            }
            Ok(Patch::replace_range(&path, NumberedChange { at, new }))
        };
        patch().map_err(|problem| problem.at(&path))
    }
}

impl LinesOfFile {
    fn lines(self) -> Result<TakenLines, Problem> {
        let Self { path, version, start_line, end_line, symbol, cell, is_moved, indent } = self;
        if cell.is_some_and(|cell| !cell.is_empty()) {
            return Err(invalid("from.cell", "it goes with cell and insert, which say beside which cell"));
        }
        let at = lines_of_version(Some(version), ("from.", start_line, end_line, symbol.as_deref()), None)?;
        if inserts(&at.at) {
            return Err(invalid("from.end_line", "it is before from.start_line"));
        }
        let (is_moved, shift) = (is_moved.unwrap_or(false), indent.map_or(0, isize::from));
        Ok(TakenLines { path, at, is_moved, shift })
    }
}

/// Returns whether an address is a place between lines.
fn inserts(at: &LineAddress) -> bool {
    match at {
        LineAddress::Numbers { count, .. } => *count == 0,
        LineAddress::Symbol(symbol) => symbol.part != Part::Whole,
    }
}

/// The names of the arguments begin with this; then follow the first and the last line, or a definition.
type AddressArguments<'a> = (&'a str, Option<usize>, Option<usize>, Option<&'a str>);

/// Returns the lines of a version that the arguments name, in one way and no other.
fn lines_of_version(
    version: Option<String>,
    (prefix, start_line, end_line, symbol): AddressArguments<'_>,
    insert: Option<&str>,
) -> Result<LinesOfVersion, Problem> {
    let refused = |name: &str, message: &str| Err(invalid(&format!("{prefix}{name}"), message));
    let Some(version) = version else {
        return refused("version", "it is required, since lines are those of one version");
    };
    // A client that has to send every argument sends 0 beside a symbol.
    let end_line = end_line.filter(|last| symbol.is_none() || *last > 0);
    let at = match (symbol, start_line.filter(|first| symbol.is_none() || *first > 0), end_line) {
        (Some(symbol), None, None) => {
            let part = match insert {
                None => Part::Whole,
                Some("before") => Part::Above,
                Some(_) => Part::Below,
            };
            LineAddress::Symbol(SymbolPart { symbol: symbol.into(), part })
        }
        (Some(_), ..) => return refused("symbol", "give either symbol, or start_line and end_line"),
        (None, ..) if insert.is_some() => {
            return refused(
                "insert",
                "it goes with symbol; to insert before start_line, give start_line - 1 as end_line",
            );
        }
        (None, Some(0), _) => return refused("start_line", "lines are counted from 1"),
        (None, Some(first), Some(last)) => match last.saturating_add(1).checked_sub(first) {
            Some(count) => LineAddress::Numbers { first, count },
            None => {
                let message = "it is before start_line; start_line - 1 inserts before start_line";
                return refused("end_line", message);
            }
        },
        (None, Some(_), None) => {
            let message = "it is required with start_line; start_line - 1 inserts before start_line";
            return refused("end_line", message);
        }
        (None, None, _) => {
            return refused("start_line", "give start_line, from 1, and end_line, or the name of a symbol");
        }
    };
    Ok(LinesOfVersion { version, at })
}

/// Arguments of `replace_in_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceInFiles {
    /// All places of it are replaced.
    #[schemars(description = "")]
    pub old_string: String,
    /// Empty deletes.
    pub new_string: String,
    /// An expression for one line; ${1} in new_string is a group.
    pub regex: Option<bool>,
    /// No part of a word.
    #[schemars(description = "")]
    pub whole_words: Option<bool>,
    /// Upper and lower case are the same.
    #[schemars(description = "")]
    pub ignore_case: Option<bool>,
    /// Both are code; in f($A, $$$B), $A is a node, $$$B any number.
    pub ast: Option<bool>,
    /// The folder or file (default: all).
    #[schemars(description = "")]
    pub path: Option<String>,
    /// As in list_files.
    pub glob: Option<String>,
    /// Else refused, with all places by number.
    pub expected_count: Option<usize>,
    /// Refuse unless in so many files.
    #[schemars(description = "")]
    pub expected_files: Option<usize>,
}

/// Arguments of `edit_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFiles {
    /// Each with an edit tool (not rename_symbol) and its arguments.
    pub edits: Vec<EditOfSeveral>,
}

/// One edit of several.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct EditOfSeveral {
    /// The tool.
    #[schemars(description = "")]
    pub tool: String,
    /// Its arguments.
    #[serde(flatten)]
    pub(crate) arguments: JsonObject,
}

/// Arguments of `write_file`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file to create or replace.
    #[schemars(description = "")]
    pub path: String,
    /// The whole new content.
    #[schemars(description = "")]
    pub content: String,
    /// Its version; needed unless all of it was read.
    #[schemars(description = "")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Arguments of `move_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFile {
    /// The file.
    #[schemars(description = "")]
    pub from: String,
    /// The whole new path.
    pub to: String,
}

/// Arguments of `delete_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFile {
    /// The file to delete.
    #[schemars(description = "")]
    pub path: String,
    /// Its version; needed unless all of it was read.
    #[schemars(description = "")]
    pub version: Option<String>,
}

/// Arguments of `edit_preview`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EditPreview {
    /// An edit tool; its arguments stand beside this.
    pub tool: String,
    /// The arguments of that tool.
    #[serde(flatten)]
    pub(crate) arguments: JsonObject,
}

/// Arguments of `apply_preview`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPreview {
    /// The handle.
    #[schemars(description = "")]
    pub preview: String,
    /// Only these, by number.
    pub hunks: Option<Vec<usize>>,
}

/// Arguments of `diagnostics`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// Default: those that you read or edited.
    pub paths: Option<Vec<String>>,
    /// And quick fixes, for apply_preview.
    pub fixes: Option<bool>,
}

/// Arguments of `undo_edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoEdit {
    /// The edit to take back.
    #[schemars(description = "")]
    pub edit: Option<String>,
    /// Or the newest of this file.
    pub path: Option<String>,
}

/// Arguments of `edit_history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditHistory {
    /// Only edits of this file.
    #[schemars(description = "")]
    pub path: Option<String>,
    /// Its diff and request.
    pub edit: Option<String>,
    /// One diff of this session.
    pub net: Option<bool>,
    /// Default 20.
    pub limit: Option<usize>,
}
