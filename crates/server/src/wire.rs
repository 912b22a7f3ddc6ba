//! The types on the wire, and the conversions in both directions, all by hand in this one file.
//!
//! Success and failure have the same outcome type. A field that does not apply is absent, never null.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use emend_edit::diff::{Diff, ShortDiff, from_text};
use emend_edit::excerpt::{around, first_difference};
use emend_edit::patch::{NumberedChange, RangeChange, TextChange};
use emend_edit::plan::Renumbered;
use emend_workspace::history::{self, Edited, EditedFile};
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{ChangeKind, FileReport, Repeat, Report};

use crate::messages::{self, forgiven};
use crate::server_diagnostics::DiagnosticsReport;

/// The most lines of diff in an outcome.
const DIFF_LINES: usize = 100;
/// The most bytes of diff in a preview that are shown whole.
const REVIEWED: usize = 32_000;
/// The most bytes of a line of that diff: those around the change.
const DIFF_COLUMNS: usize = 1_000;

/// Arguments of `read_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file, relative to the workspace or absolute inside it.
    pub path: String,
    /// First line to show, from 1.
    pub offset: Option<usize>,
    /// How many lines to show (default 2000).
    pub limit: Option<usize>,
}

/// Arguments of `list_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// The folder (default: the workspace).
    pub path: Option<String>,
    /// Only files of this name (*.rs) or path (src/**/*.ts); ! before it means all others.
    pub glob: Option<String>,
    /// How many folders deep, from 1 (default: as deep as fits).
    pub depth: Option<usize>,
}

/// Arguments of `search_text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchText {
    /// A regular expression for one line. Case counts; (?i) at its start ignores it.
    pub pattern: String,
    /// The folder or file (default: the workspace).
    pub path: Option<String>,
    /// Only files that it takes, as in list_files.
    pub glob: Option<String>,
    /// Lines to show around each match (default 0).
    pub context: Option<usize>,
}

/// Arguments of `str_replace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrReplace {
    /// The file to edit.
    pub path: String,
    /// The exact text to replace, copied from the file without line numbers. Must occur once.
    pub old_string: Option<String>,
    /// What to put in its place, literally. Empty deletes.
    pub new_string: Option<String>,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
    /// Refuse unless there are exactly so many occurrences; then replace all.
    pub expected_count: Option<usize>,
    /// The version you read; refuse if the file has another by now.
    pub version: Option<String>,
    /// Several replacements instead, all found in the same text; no overlaps.
    pub edits: Option<Vec<OneEdit>>,
}

/// One replacement of several.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct OneEdit {
    /// The exact text to replace.
    pub old_string: String,
    /// The text to put in its place.
    pub new_string: String,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
}

/// Arguments of `apply_patch`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatch {
    /// The whole patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Instead of patch: a file in the workspace that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_path: Option<String>,
    /// The file to change, where the patch names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the patch is written in (default: recognised).
    #[schemars(extend("enum" = ["v4a", "unified", "context", "ed", "rcs", "search-replace", "whole"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Versions you read, by path; refuse if a file has another by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<BTreeMap<String, String>>,
    /// Only check, and show the diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate_only: Option<bool>,
}

/// Arguments of `replace_lines`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceLines {
    /// The file to edit.
    pub path: String,
    /// The version whose line numbers these are.
    pub version: String,
    /// The first line to replace, from 1.
    pub start_line: usize,
    /// The last line to replace; start_line - 1 inserts before start_line.
    pub end_line: usize,
    /// The lines to put there, literally. Empty deletes.
    pub new_text: String,
}

impl ReplaceLines {
    /// Converts the arguments into a change of a range of lines.
    pub fn change(self) -> Result<NumberedChange, Problem> {
        let invalid = |name: &str, message: &str| {
            Err(Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
                .at(&self.path))
        };
        if self.start_line == 0 {
            return invalid("start_line", "lines are counted from 1");
        }
        let Some(count) = self.end_line.saturating_add(1).checked_sub(self.start_line) else {
            return invalid("end_line", "it is before start_line; start_line - 1 inserts before start_line");
        };
        if count == 0 && self.new_text.is_empty() {
            return invalid("new_text", "nothing is to be replaced and nothing to be inserted");
        }
        let text = self.new_text.strip_suffix('\n').unwrap_or(&self.new_text);
        let lines = match self.new_text.as_str() {
            "" => Vec::new(),
            _ => text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect(),
        };
        let range = RangeChange { first: self.start_line, count, lines };
        Ok(NumberedChange { version: self.version, range })
    }
}

/// Arguments of `edit_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFiles {
    /// Each with the name of its tool and that tool's arguments.
    pub edits: Vec<EditOfSeveral>,
}

/// One edit of several.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct EditOfSeveral {
    /// The tool.
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
    pub path: String,
    /// The whole new content.
    pub content: String,
    /// Its current version; needed unless you have read it in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Arguments of `move_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFile {
    /// The file.
    pub from: String,
    /// Its new path, the name included.
    pub to: String,
}

/// Arguments of `delete_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFile {
    /// The file to delete.
    pub path: String,
    /// Its current version; needed unless you have read it in full.
    pub version: Option<String>,
}

/// The argument of `edit_preview` that is its own; the others are those of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditPreview {
    /// The tool whose edit to preview; give its arguments beside this.
    pub tool: String,
}

/// Arguments of `apply_preview`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPreview {
    /// The handle that edit_preview gave.
    pub preview: String,
    /// Apply only these hunks of it, by number.
    pub hunks: Option<Vec<usize>>,
}

/// Arguments of `diagnostics`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// Files (default: those that you read or edited).
    pub paths: Option<Vec<String>>,
}

/// Arguments of `undo_edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoEdit {
    /// The edit to take back.
    pub edit: Option<String>,
    /// Or the newest edit of this session that touched this file.
    pub path: Option<String>,
}

/// Arguments of `edit_history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditHistory {
    /// Only edits of this file.
    pub path: Option<String>,
    /// This edit in full.
    pub edit: Option<String>,
    /// One diff over all of your edits.
    pub net: Option<bool>,
    /// How many to list (default 20).
    pub limit: Option<usize>,
}

/// The answer of every tool that edits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Files that changed (or would).
    pub changed_files: Vec<String>,
    /// Unified diff; *** File N before those of the Nth changed file, if several.
    pub diff: String,
    /// The diff of each file as a short answer shows it.
    #[serde(skip)]
    pub short_diffs: Vec<ShortDiff>,
    /// What layers forgave, for a short answer.
    #[serde(skip)]
    pub forgiven: Vec<String>,
    /// Whether that is only its beginning, and the whole is a resource.
    #[serde(skip)]
    pub diff_goes_on: bool,
    /// Whether the edit is in the history.
    #[serde(skip)]
    pub can_be_undone: bool,
    /// Whether an earlier call had this outcome, and this one changed nothing. The schema, which every tool repeats, has no
    /// room for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub is_repeated: bool,
    /// Bytes removed plus bytes added.
    pub bytes_changed: usize,
    /// Whether the files were still what you read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime_check_passed: Option<bool>,
    /// What else happened after the edit.
    pub side_effects_fired: Vec<String>,
    /// The first problem; absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// The problems; absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<WireProblem>>,
    /// How many problems there are, if more than are told; a note says it.
    #[serde(skip)]
    pub problem_count: Option<usize>,
    /// The edit's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    /// Handle for apply_preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Each of changed_files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<WireFile>>,
    /// What language servers say of the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<DiagnosticsReport>>,
    /// Remarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
}

/// A stable code and a message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ErrorInfo {
    /// Stable code.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// A problem with its facts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireProblem {
    /// Stable code.
    pub code: String,
    /// What is wrong and what to do; of the first, error has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its number in edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<usize>,
    /// The hunk, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    /// Lines of the file in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<usize>>,
    /// The file's version now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<String>,
    /// What a failed commit left of each file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_states: Option<BTreeMap<String, String>>,
}

/// What happened to a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireFile {
    /// The file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// create, modify (default), delete or move.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub change: String,
    /// Its old path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Version before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_before: Option<String>,
    /// Version after; send it with the next edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_after: Option<String>,
    /// Lines added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// Lines removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Where each hunk landed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<WireHunk>,
}

/// Where a hunk landed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireHunk {
    /// Its number.
    pub hunk: usize,
    /// Line at which it was found.
    pub line: usize,
    /// Lines it matched.
    pub lines: usize,
    /// How it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Places replaced, if several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// The lines as the call named them, if they moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<String>,
}

/// An edit of the past, in a document of the command line.
#[derive(Clone, Debug, Serialize)]
pub struct PastEdit {
    /// Its id.
    pub edit: String,
    /// When it was made, in UTC (RFC 3339).
    pub time: String,
    /// What its client called itself.
    pub client: String,
    /// The session that it was made in.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The edit that it took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The edit that took it back, if that still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
    /// Each file.
    pub files: Vec<PastFile>,
    /// The call's arguments, word for word; left out in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Unified diff; left out in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What an edit of the past did to a file.
#[derive(Clone, Debug, Serialize)]
pub struct PastFile {
    /// The file.
    pub path: String,
    /// create, modify, delete or move.
    pub change: &'static str,
    /// Its old path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Version before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_before: Option<String>,
    /// Version after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_after: Option<String>,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

impl StrReplace {
    /// Takes out the replacements, in whichever form they were given.
    pub fn changes(&mut self) -> Result<Vec<TextChange>, Problem> {
        let invalid = |name: &str, message: &str| {
            Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
        };
        let edits = self.edits.take();
        // A client that has to send every argument sends empty texts beside edits.
        let is_meant = |text: &String| edits.is_none() || !text.is_empty();
        let (old, new) = (self.old_string.take().filter(is_meant), self.new_string.take().filter(is_meant));
        match (edits, old, new) {
            (None, Some(old), Some(new)) => Ok(vec![TextChange {
                old,
                new,
                all: self.replace_all.unwrap_or(false),
                expected: self.expected_count,
            }]),
            (None, Some(_), None) => Err(invalid("new_string", "it is required (empty to delete)")),
            (None, None, _) => Err(invalid("old_string", "it is required, or a list of edits")),
            (Some(edits), None, None) => {
                if edits.is_empty() {
                    return Err(invalid("edits", "the list is empty"));
                }
                if self.replace_all == Some(true) || self.expected_count.is_some() {
                    return Err(invalid("replace_all", "with edits, it belongs into each of them"));
                }
                let change = |edit: OneEdit| TextChange {
                    old: edit.old_string,
                    new: edit.new_string,
                    all: edit.replace_all.unwrap_or(false),
                    expected: None,
                };
                Ok(edits.into_iter().map(change).collect())
            }
            (Some(_), ..) => Err(invalid("edits", "give either edits or old_string and new_string")),
        }
    }
}

impl Outcome {
    /// Converts the outcome of an earlier call into that of a repeated one, which changed nothing.
    pub(crate) fn again(mut self) -> Self {
        if let Some(edit) = self.edit.as_ref().filter(|_| !self.is_failure()) {
            let note = format!(
                "{}. The files may have changed since: read them before you rely on them",
                nothing_changed(edit)
            );
            self.notes.get_or_insert_default().insert(0, note);
        }
        Self { is_repeated: true, ..self }
    }

    /// The outcome of a call that was sent again: that of the first, whose edit still stands.
    pub(crate) fn repeated(repeat: &Repeat) -> Self {
        let Repeat { tool, edited, versions } = repeat;
        let mut note = nothing_changed(&edited.id);
        let now = versions.iter().find_map(|(name, version)| Some((name, (*version)?.short())));
        match (tool.as_str(), now) {
            // What these do cannot be done a second time while it stands.
            ("move_file" | "delete_file" | "undo_edit" | "apply_preview", _) | (_, None) => {}
            ("apply_patch", Some((name, now))) => {
                note += &format!(
                    ". If you mean it a second time, send it with \"versions\": {}",
                    serde_json::json!({ name: now })
                );
            }
            (_, Some((_, now))) => {
                note += &format!(". If you mean it a second time, send it with \"version\": \"{now}\"");
            }
        }
        let diff = edited.diff.as_deref().unwrap_or_default();
        let short_diffs = from_text(diff).iter().map(Diff::short).collect();
        let (mut diff, left_out) = cut(diff);
        if left_out > 0 {
            diff.push_str(&format!("... {left_out} more lines of diff\n"));
        }
        Self {
            changed_files: edited.files.iter().map(|file| file.name.clone()).collect(),
            diff,
            short_diffs,
            is_repeated: true,
            can_be_undone: edited.diff.is_some(),
            edit: Some(edited.id.clone()),
            files: Some(edited.files.iter().map(WireFile::from_past).collect()),
            notes: Some(vec![note]),
            ..Self::default()
        }
    }

    /// Creates the outcome of an edit or its preview.
    #[must_use]
    pub fn success(report: &Report) -> Self {
        // A preview is there to be reviewed, so what of it can be asked about is shown whole.
        let whole = report.diff();
        let is_reviewed = report.edit.is_none() && whole.len() <= REVIEWED;
        let (mut diff, left_out) = if is_reviewed { (whole, 0) } else { cut(&whole) };
        let kept = report.edit.as_ref().filter(|_| report.is_recorded);
        match kept.filter(|_| left_out > 0) {
            Some(edit) => {
                let uri = crate::uri::for_edit(edit);
                let rest = format!("the resource {uri}, or edit_history {{\"edit\": \"{edit}\"}}");
                diff.push_str(&format!("... {left_out} more lines of diff; all of it: {rest}\n"));
            }
            None if left_out > 0 => diff.push_str(&format!("... {left_out} more lines of diff\n")),
            None => {}
        }
        Self {
            changed_files: report.files.iter().map(|file| file.name.clone()).collect(),
            diff,
            short_diffs: report.files.iter().map(|file| file.diff.short()).collect(),
            forgiven: report.files.iter().flat_map(|file| &file.hunks).filter_map(forgiven).collect(),
            can_be_undone: kept.is_some(),
            diff_goes_on: kept.is_some() && left_out > 0,
            bytes_changed: report.files.iter().map(|file| file.bytes_changed).sum(),
            mtime_check_passed: report.mtime_check_passed,
            side_effects_fired: report.fired.clone(),
            edit: report.edit.clone(),
            files: Some(report.files.iter().map(WireFile::from_report).collect()),
            notes: (!report.notes.is_empty()).then(|| messages::notes(report)),
            ..Self::default()
        }
    }

    /// Returns whether this is a refusal.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.error.is_some()
    }
}

/// `Nothing was changed by this call: it was made 4 seconds ago as edit 1a2b`
fn nothing_changed(edit: &str) -> String {
    format!("Nothing was changed by this call: it was made {} as edit {edit}", history::ago_of(edit))
}

impl WireFile {
    fn from_past(file: &EditedFile) -> Self {
        Self {
            path: file.name.clone(),
            change: change(file.change).into(),
            moved_from: file.moved_from.clone(),
            version_before: file.before.clone(),
            version_after: file.after.clone(),
            added: Some(file.added),
            removed: Some(file.removed),
            hunks: Vec::new(),
        }
    }

    fn from_report(file: &FileReport) -> Self {
        let Diff { added, removed, .. } = file.diff;
        let hunk = |hunk: &emend_edit::plan::PlacedHunk| WireHunk {
            hunk: hunk.number,
            line: hunk.line,
            lines: hunk.lines,
            layer: hunk.layer.map(|layer| layer.name().to_owned()),
            places: (hunk.places > 1).then_some(hunk.places),
            moved: hunk.renumbered.as_ref().map(|named| moved(named, hunk.line)),
        };
        Self {
            path: file.name.clone(),
            change: change(file.change).into(),
            moved_from: file.moved_from.clone(),
            version_before: file.before.map(|version| version.short()),
            version_after: file.after.map(|version| version.short()),
            added: Some(added),
            removed: Some(removed),
            hunks: file.hunks.iter().map(hunk).collect(),
        }
    }

    /// Returns the letter for what happened to it, as Codex has it.
    pub(crate) fn letter(&self) -> char {
        match self.change.as_str() {
            "create" => 'A',
            "delete" => 'D',
            _ => 'M',
        }
    }
}

/// Says where lines landed that have other numbers by now: `lines 4-6 of version 0123 are lines 7-9 now`.
fn moved(named: &Renumbered, now: usize) -> String {
    let Renumbered { version, first, count } = named;
    let lines = |first: usize| match count {
        0 => format!("before line {first}"),
        1 => format!("line {first}"),
        _ => format!("lines {first}-{}", first + count - 1),
    };
    let are = if *count > 1 { "are" } else { "is" };
    format!("{} of version {version} {are} {} now", lines(*first), lines(now))
}

impl PastEdit {
    /// Converts an edit of the history.
    #[must_use]
    pub fn from_edit(edit: &Edited) -> Self {
        let file = |file: &EditedFile| PastFile {
            path: file.name.clone(),
            change: change(file.change),
            moved_from: file.moved_from.clone(),
            version_before: file.before.clone(),
            version_after: file.after.clone(),
            added: file.added,
            removed: file.removed,
        };
        Self {
            edit: edit.id.clone(),
            time: DateTime::<Utc>::from(edit.time).to_rfc3339_opts(SecondsFormat::Millis, true),
            client: edit.client.clone(),
            session: edit.session.clone(),
            tool: edit.tool.clone(),
            undoes: edit.undoes.clone(),
            undone_by: edit.undone_by.clone(),
            files: edit.files.iter().map(file).collect(),
            request: edit.request.clone(),
            diff: edit.diff.clone(),
        }
    }
}

fn change(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Create => "create",
        ChangeKind::Modify => "modify",
        ChangeKind::Delete => "delete",
        ChangeKind::Move => "move",
    }
}

/// Returns the beginning of a diff, and the number of lines that are left out.
fn cut(diff: &str) -> (String, usize) {
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let mut shown = String::with_capacity(diff.len().min(DIFF_LINES * 80));
    for (at, line) in lines.iter().enumerate().take(DIFF_LINES) {
        match line.split_at_checked(1) {
            Some((sign, content)) if line.len() > DIFF_COLUMNS => {
                let content = content.trim_end_matches('\n').as_bytes();
                let other = counterpart(&lines, at).map_or(0, |other| first_difference(content, other));
                shown.push_str(&format!("{sign}{}\n", around(content, other, DIFF_COLUMNS)));
            }
            _ => shown.push_str(line),
        }
    }
    (shown, lines.len().saturating_sub(DIFF_LINES))
}

/// Returns the line that replaces this line of a diff or is replaced by it: the one at the same position in the other
/// half of the change.
fn counterpart<'d>(lines: &[&'d str], at: usize) -> Option<&'d [u8]> {
    let is = |sign: char, line: &&str| line.starts_with(sign);
    let own = lines[at].chars().next().filter(|sign| matches!(sign, '-' | '+'))?;
    let other = if own == '-' { '+' } else { '-' };
    let first = at - lines[..at].iter().rev().take_while(|line| is(own, line)).count();
    let start = match own {
        '-' => at + lines[at..].iter().take_while(|line| is('-', line)).count(),
        _ => first - lines[..first].iter().rev().take_while(|line| is('-', line)).count(),
    };
    let line = lines.get(start + (at - first)).filter(|line| is(other, line))?;
    Some(line[1..].trim_end_matches('\n').as_bytes())
}
