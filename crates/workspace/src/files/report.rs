//! The report of a request: the last stage of the flow.

use emend_edit::diff::{self, Diff};
use emend_edit::edit::Edit;
use emend_edit::plan::{Action, FilePlan, PlacedHunk, Plan};
use emend_edit::{Text, Version};

use super::note::Note;

/// The number of lines of a diff that a refusal shows.
const DIFF_LINES: usize = 60;

/// The report of what a request did, or would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// The id of the edit; `None` for a preview.
    pub edit: Option<String>,
    /// Whether the history has it, with its whole diff.
    pub is_recorded: bool,
    /// The report of each file, in the order of the request.
    pub files: Vec<FileReport>,
    /// Notes for the reader.
    pub notes: Vec<Note>,
    /// Whether what the client had read was checked; `None` if there was nothing to check against.
    pub mtime_check_passed: Option<bool>,
    /// The programs and guards that ran for it, such as `format:ruff`, each once and in order.
    pub fired: Vec<String>,
}

/// The report of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The name of the file.
    pub name: String,
    /// The kind of change.
    pub change: ChangeKind,
    /// The former name of a moved file.
    pub moved_from: Option<String>,
    /// The version before; `None` for a new file.
    pub before: Option<Version>,
    /// The version after; `None` for a deleted one.
    pub after: Option<Version>,
    /// The diff.
    pub diff: Diff,
    /// The number of bytes removed plus the number added, on disk.
    pub bytes_changed: usize,
    /// The place of each hunk.
    pub hunks: Vec<PlacedHunk>,
}

/// The kind of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Create,
    /// The file existed before and still does.
    Modify,
    /// The file is deleted.
    Delete,
    /// The file has a new name.
    Move,
}

impl Report {
    /// Returns the report of a plan that is not committed yet.
    #[must_use]
    pub fn from_plan(plan: &Plan, mtime_check_passed: Option<bool>) -> Self {
        let files = plan.files().iter().map(FileReport::of).collect();
        let notes = plan.notes().iter().cloned().map(Note::Plan).collect();
        Self { edit: None, is_recorded: false, files, notes, mtime_check_passed, fired: Vec::new() }
    }

    /// Adds the name of something that ran.
    pub(crate) fn fire(&mut self, fired: String) {
        if !self.fired.contains(&fired) {
            self.fired.push(fired);
        }
    }

    /// Returns all diffs, one after another.
    #[must_use]
    pub fn diff(&self) -> String {
        self.files.iter().map(|file| file.diff.text()).collect()
    }
}

impl FileReport {
    pub(crate) fn of(file: &FilePlan) -> Self {
        let spans = |base: &Text, edit: &Edit| {
            edit.raw_spans(base).iter().map(|(range, new)| range.len() + new.len()).sum()
        };
        let (change, moved_from, bytes_changed) = match &file.action {
            Action::Create { content } => (ChangeKind::Create, None, content.raw().len()),
            Action::Modify { base, edit } => (ChangeKind::Modify, None, spans(base, edit)),
            Action::Delete { base } => (ChangeKind::Delete, None, base.raw().len()),
            Action::Move { from, base, edit } => (ChangeKind::Move, Some(from.clone()), spans(base, edit)),
        };
        Self {
            name: file.name.clone(),
            change,
            moved_from,
            before: file.action.base().map(|base| base.version()),
            after: file.action.version(),
            diff: diff::from_plan(file),
            bytes_changed,
            hunks: file.hunks.clone(),
        }
    }
}

/// Returns the diff between two contents, cut to a length that suits a refusal.
pub(crate) fn short_diff(name: &str, old: &Text, new: &Text) -> String {
    let diff = diff::between(name, old, new).text();
    let lines = diff.lines().count();
    if lines <= DIFF_LINES {
        return diff;
    }
    let head: Vec<&str> = diff.lines().take(DIFF_LINES).collect();
    format!("{}\n... and {} more lines", head.join("\n"), lines - DIFF_LINES)
}
