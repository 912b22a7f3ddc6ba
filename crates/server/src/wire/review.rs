//! What the review page is told of a preview or of an edit, page by page: the contract with `review/src/contract.ts`, which has
//! the same names.
//!
//! Hunks have the numbers that `apply_preview` takes. The page shows these lines and compares no file itself.

use emend_edit::diff::DiffHunk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::change;
use emend_workspace::approval::WaitingFile;
use emend_workspace::history::EditedFile;
use emend_workspace::{ChangeKind, FileReport};

/// Arguments of `review`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The handle of a preview.
    pub preview: Option<String>,
    /// Or the id of an edit.
    pub edit: Option<String>,
    /// Or the id of an edit that waits for approval.
    pub approval: Option<String>,
    /// Or the name of a session: what its edits have made of the files. Without any of these, what there is to review.
    pub session: Option<String>,
    /// The first hunk of the page, counted from 0.
    pub from: Option<usize>,
    /// Only whether it is still as it was: no files, no hunks.
    pub state_only: Option<bool>,
    /// Whether to plan a preview of another process anew, for the files as they are now.
    pub again: Option<bool>,
    /// Instead: lines of this file as it was when it was previewed.
    pub path: Option<String>,
    /// The first of these lines, counted from 1.
    pub start_line: Option<usize>,
    /// The last of these lines.
    pub end_line: Option<usize>,
}

/// Arguments of `decide`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// The id of an edit that waits for approval.
    pub approval: Option<String>,
    /// Or the handle of a preview, of which there is only to say that it is declined.
    pub preview: Option<String>,
    /// Whether exactly this may be written.
    pub is_allowed: bool,
    /// Of a preview: only that it is not listed any more. Nothing is said of it.
    pub is_dismissed: Option<bool>,
    /// What the person says to the model.
    pub comment: Option<String>,
    /// The secret that came with the answer that waits.
    pub secret: Option<String>,
}

/// Arguments of `revise`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revise {
    /// The handle of the preview.
    pub preview: String,
    /// The path of the file.
    pub path: String,
    /// The number of the hunk.
    pub hunk: usize,
    /// The first of the old lines that are shown with it, counted from 0.
    pub old: usize,
    /// How many there are.
    pub count: usize,
    /// What they become; without it, what the model wrote.
    pub text: Option<String>,
}

/// A page of what there is to review.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReviewPage {
    /// `preview`, `edit`, `approval`, `session` or `list`.
    pub subject: &'static str,
    /// Its handle, id or name.
    pub id: String,
    /// Of a preview `waiting`, `applied` or `lost`; of an edit `made` or `undone`; of one that waits `waiting`, `allowed` or
    /// `denied`.
    pub state: &'static str,
    /// What there is to review; of a list alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<ReviewEntry>,
    /// The rules that require approval; of what waits alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The session in which an edit was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The edit that a preview became, or that took this one back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    /// The hunks that were applied, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<Vec<usize>>,
    /// Whether it was the client that applied the preview, and no person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_client: bool,
    /// The folders of the workspace; of a list alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// What a preview would make, for the call that applies what was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The files that are no longer as the preview found them or the edit left them.
    pub stale: Vec<String>,
    /// Who made the edit, with which tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// All files; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<ReviewFile>>,
    /// The hunks that are only taken together, where these are several; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Vec<Vec<usize>>>,
    /// Remarks; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// The programs and guards that ran; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fired: Option<Vec<String>>,
    /// The hunks of this page.
    pub hunks: Vec<ReviewHunk>,
    /// How many hunks there are.
    pub total: usize,
    /// The first hunk of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// The lines that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<String>>,
}

/// Something that there is to review.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewEntry {
    /// `preview`, `edit` or `approval`.
    pub subject: &'static str,
    /// Its handle or id.
    pub id: String,
    /// What it is: its tool, and whose it is.
    pub title: String,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// A line for each of its first files.
    pub files: Vec<String>,
    /// Whether it was taken back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_undone: bool,
}

/// A file of the review.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewFile {
    /// Its path.
    pub path: String,
    /// create, modify, delete or move.
    pub change: &'static str,
    /// Its old path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// What becomes of its mode, as git writes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modes: String,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// How many of the hunks are its, which stand one after another.
    pub hunks: usize,
    /// How many lines it had; of a preview alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// Its encoding, unless that is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// Whether nobody can write a hunk of it by hand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_fixed: bool,
}

/// Lines that are taken or left together.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewHunk {
    /// The index of its file.
    pub file: usize,
    /// The numbers by which `apply_preview` takes it; none of an edit that was made.
    pub numbers: Vec<usize>,
    /// The first line of the old side, counted from 0.
    pub old: usize,
    /// The first line of the new side, counted from 0.
    pub new: usize,
    /// Each line behind its sign: a blank, `-`, `+`, or `\` below a line that has no ending. A line that ends in CRLF keeps its
    /// CR.
    pub lines: Vec<String>,
    /// Whether lines were too long and are shown around their change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Whether a person wrote its new text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_by_hand: bool,
    /// What a layer took for what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgiven: Option<String>,
}

impl ReviewFile {
    /// Creates the file of an edit that was made.
    pub(crate) fn from_past(file: &EditedFile, modes: &str, hunks: usize) -> Self {
        Self {
            path: file.name.clone(),
            change: change(file.change),
            moved_from: file.moved_from.clone(),
            modes: modes.to_owned(),
            added: file.added,
            removed: file.removed,
            hunks,
            lines: None,
            encoding: None,
            is_fixed: false,
        }
    }

    /// Creates the file of an edit that waits for approval.
    pub(crate) fn from_waiting(file: &WaitingFile, modes: &str, hunks: usize) -> Self {
        Self {
            path: file.name.clone(),
            change: change(file.change),
            moved_from: file.moved_from.clone(),
            modes: modes.to_owned(),
            added: file.added,
            removed: file.removed,
            hunks,
            lines: None,
            encoding: None,
            is_fixed: false,
        }
    }

    /// Creates the file of what was made of it.
    pub(crate) fn from_report(file: &FileReport) -> Self {
        Self {
            path: file.name.clone(),
            change: change(file.change),
            moved_from: file.moved_from.clone(),
            modes: file.diff.modes().to_owned(),
            added: file.diff.added,
            removed: file.diff.removed,
            hunks: file.diff.hunks().len(),
            lines: None,
            encoding: None,
            is_fixed: false,
        }
    }

    /// Returns the word for what happens to a file.
    pub(crate) fn change(kind: ChangeKind) -> &'static str {
        change(kind)
    }
}

impl ReviewHunk {
    /// Creates a hunk; without lines where the file changes and no line of it does.
    pub(crate) fn new(file: usize, numbers: Vec<usize>, hunk: Option<&DiffHunk>) -> Self {
        let (old, new, body) =
            hunk.map_or((0, 0, ""), |hunk| (hunk.old_lines().start, hunk.new_lines().start, hunk.body()));
        let (lines, is_cut) = super::outcome::lines_of(body);
        Self { file, numbers, old, new, lines, is_cut, is_by_hand: false, forgiven: None }
    }

    /// Returns about how many bytes it has on the wire.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 8).sum::<usize>() + 100
    }
}
