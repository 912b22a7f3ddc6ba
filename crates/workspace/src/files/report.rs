//! What a request did, or would do: the last arrow of the flow.

use emend_edit::diff::{self, Diff};
use emend_edit::edit::Edit;
use emend_edit::plan::{Action, FilePlan, PlacedHunk, Plan};
use emend_edit::{Text, Version};

/// How many lines of a diff a refusal shows.
const DIFF_LINES: usize = 60;

/// What a request did, or would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// The edit's id; `None` for a preview.
    pub edit: Option<String>,
    /// Whether the history has it, with its whole diff.
    pub is_recorded: bool,
    /// File by file, in the order of the request.
    pub files: Vec<FileReport>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// Whether what the client had seen was checked; `None` when there was nothing to check against.
    pub mtime_check_passed: Option<bool>,
    /// What else ran because of it, such as `format:ruff`, each once and in the order of its first time.
    pub fired: Vec<String>,
}

/// What happened to one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The file.
    pub name: String,
    /// What kind of change it is.
    pub change: ChangeKind,
    /// Where a moved file was.
    pub moved_from: Option<String>,
    /// The version before; `None` for a new file.
    pub before: Option<Version>,
    /// The version after; `None` for a deleted one.
    pub after: Option<Version>,
    /// What changed.
    pub diff: Diff,
    /// Bytes that went plus bytes that came, on disk.
    pub bytes_changed: usize,
    /// Where each hunk landed.
    pub hunks: Vec<PlacedHunk>,
}

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Create,
    /// The file was there and is.
    Modify,
    /// The file is gone.
    Delete,
    /// The file has another name.
    Move,
}

impl Report {
    /// The report of a plan that is not committed yet.
    #[must_use]
    pub fn from_plan(plan: &Plan, mtime_check_passed: Option<bool>) -> Self {
        let files = plan.files().iter().map(FileReport::of).collect();
        let notes = plan.notes().to_vec();
        Self { edit: None, is_recorded: false, files, notes, mtime_check_passed, fired: Vec::new() }
    }

    /// Says that this ran.
    pub(crate) fn fire(&mut self, fired: String) {
        if !self.fired.contains(&fired) {
            self.fired.push(fired);
        }
    }

    /// All diffs, one after another.
    #[must_use]
    pub fn diff(&self) -> String {
        self.files.iter().map(|file| file.diff.text.as_str()).collect()
    }
}

impl FileReport {
    fn of(file: &FilePlan) -> Self {
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

/// The diff between two contents, cut where a refusal would be too long.
pub(crate) fn short_diff(name: &str, old: &Text, new: &Text) -> String {
    let diff = diff::between(name, old, new).text;
    let lines = diff.lines().count();
    if lines <= DIFF_LINES {
        return diff;
    }
    let head: Vec<&str> = diff.lines().take(DIFF_LINES).collect();
    format!("{}\n... and {} more lines", head.join("\n"), lines - DIFF_LINES)
}
