//! The tool `review`: what the review page is told of a kept preview or of an edit of the history, page by page.
//!
//! It reads and changes nothing, and is for the page alone: models have the answers of edit_preview and edit_history. What the
//! page applies, it applies with apply_preview, and takes back with undo_edit, under all their checks.

use emend_edit::diff::{self, Diff, DiffPart};
use emend_edit::plan::FilePlan;
use emend_edit::text::split_lines;
use emend_workspace::history::Edited;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{ChangeKind, Effort, Fingerprint, Preview};
use rmcp::model::{CallToolResult, ContentBlock};

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, TextAnswer, Unanswered};
use crate::messages;
use crate::previews::PreviewState;
use crate::wire::{Review, ReviewFile, ReviewHunk, ReviewPage};

/// The most hunks of a page.
const HUNKS: usize = 200;
/// The bytes of hunks after which a page ends.
const BYTES: usize = 256 * 1024;
/// The most lines that are shown around hunks at once.
const LINES: usize = 500;
/// The most bytes of such a line.
const COLUMNS: usize = 4_000;

impl ToolArguments for Review {
    const ABOUT: About = About {
        name: "review",
        title: "Show what there is to review",
        description: "For the review page: a preview or an edit, hunk by hunk.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
}

impl Tool for Review {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            // The call may wait for one that applies the preview.
            return Err(Unanswered::NotQuick);
        }
        match given.read().and_then(|asked| page(call, &asked)) {
            Ok(page) => {
                let text = format!("{} {}: {}, {} hunks", page.subject, page.id, page.state, page.total);
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = serde_json::to_value(page).ok();
                Ok(TextAnswer::from(result).into())
            }
            Err(problem) => Ok(Answer::reading(Err(problem))),
        }
    }
}

fn page(call: &Call<'_>, asked: &Review) -> Result<ReviewPage, Problem> {
    match (&asked.preview, &asked.edit) {
        (Some(handle), None) => of_preview(call, asked, handle.trim()),
        (None, Some(id)) => of_edit(call, asked, id.trim()),
        _ => {
            let message = "give either preview or edit".into();
            Err(Problem::new(Kind::InvalidArgument { name: "preview".into(), message }))
        }
    }
}

fn of_preview(call: &Call<'_>, asked: &Review, handle: &str) -> Result<ReviewPage, Problem> {
    let state = call.previews.find(call.caller.owner(), handle)?;
    let state = state.lock();
    let empty = ReviewPage { subject: "preview", id: handle.to_owned(), ..ReviewPage::default() };
    let preview = match &*state {
        PreviewState::Waiting(preview) => preview,
        PreviewState::Used(outcome, hunks) => {
            let (edit, applied) = (outcome.edit.clone(), hunks.clone());
            return Ok(ReviewPage { state: "applied", edit, applied, ..empty });
        }
        PreviewState::Lost => return Ok(ReviewPage { state: "lost", ..empty }),
    };
    let empty = ReviewPage { state: "waiting", stale: stale(call, preview), ..empty };
    if asked.state_only == Some(true) {
        return Ok(empty);
    }
    if let Some(path) = &asked.path {
        return Ok(ReviewPage { lines: Some(lines(preview, path, asked)?), ..empty });
    }
    let files = preview.plan().files();
    let parts: Vec<Vec<DiffPart>> = files.iter().map(diff::parts).collect();
    let hunks = parts.iter().enumerate().flat_map(|(at, parts)| parts.iter().map(move |part| (at, part)));
    let from = asked.from.unwrap_or(0);
    let hunk = |(at, part): (usize, &DiffPart)| {
        let hunk = ReviewHunk::new(at, part.numbers.clone(), part.hunk.as_ref());
        ReviewHunk { forgiven: forgiven(&files[at], &part.numbers), ..hunk }
    };
    let total = parts.iter().map(Vec::len).sum();
    let mut page = with_hunks(empty, asked, total, hunks.skip(from).map(hunk));
    if from == 0 {
        let report = preview.report();
        let file = |(at, report): (usize, &emend_workspace::FileReport)| {
            let base = files.get(at).and_then(|file| file.action.base());
            ReviewFile {
                path: report.name.clone(),
                change: ReviewFile::change(report.change),
                moved_from: report.moved_from.clone(),
                modes: report.diff.modes().to_owned(),
                added: report.diff.added,
                removed: report.diff.removed,
                hunks: parts.get(at).map_or(0, Vec::len),
                lines: base.filter(|_| report.change != ChangeKind::Delete).map(|base| base.line_count()),
                encoding: base.map(|base| base.encoding().name()).filter(|name| *name != "utf-8"),
            }
        };
        page.files = Some(report.files.iter().enumerate().map(file).collect());
        let units = preview.plan().units().into_iter().filter(|unit| unit.len() > 1);
        page.together = Some(units.collect());
        page.notes = Some(messages::notes(report));
        page.fired = Some(report.fired.clone());
    }
    Ok(page)
}

/// Returns the files that are no longer as the preview found them.
fn stale(call: &Call<'_>, preview: &Preview) -> Vec<String> {
    let is_stale = |(name, version): &(&str, _)| match (call.workspace.files().fingerprint(name), version) {
        (Fingerprint::Text(now), Some(then)) => now != *then,
        (Fingerprint::Unreadable, None) => false,
        _ => true,
    };
    preview.found().filter(is_stale).map(|(name, _)| name.to_owned()).collect()
}

/// Returns what layers forgave in these hunks of a file.
fn forgiven(file: &FilePlan, numbers: &[usize]) -> Option<String> {
    let own = file.hunks.iter().filter(|hunk| numbers.contains(&hunk.number));
    let said: Vec<String> = own.filter_map(messages::forgiven).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Puts hunks into the page that is asked for, from its first on.
fn with_hunks(
    page: ReviewPage,
    asked: &Review,
    total: usize,
    hunks: impl Iterator<Item = ReviewHunk>,
) -> ReviewPage {
    let from = asked.from.unwrap_or(0);
    let mut bytes = 0;
    let fits = |hunk: &ReviewHunk| {
        let is_first = bytes == 0;
        bytes += hunk.bytes();
        is_first || bytes <= BYTES
    };
    let hunks: Vec<ReviewHunk> = hunks.take(HUNKS).take_while(fits).collect();
    let next = Some(from + hunks.len()).filter(|next| *next < total && !hunks.is_empty());
    ReviewPage { hunks, total, next, ..page }
}

/// Returns lines of a file of a preview, as it was when that was made.
fn lines(preview: &Preview, path: &str, asked: &Review) -> Result<Vec<String>, Problem> {
    let file = preview.plan().files().iter().find(|file| file.name == path);
    let Some(base) = file.and_then(|file| file.action.base()) else {
        let message = "it must be the path of a file of the preview that was there".into();
        return Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message }));
    };
    let count = base.line_count();
    let first = asked.start_line.unwrap_or(1).max(1) - 1;
    let end = asked.end_line.unwrap_or(count).min(count).min(first.saturating_add(LINES));
    if first >= end {
        return Ok(Vec::new());
    }
    let shown = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        emend_edit::excerpt::around(line, 0, COLUMNS)
    };
    Ok(split_lines(&base.bytes()[base.line_start(first)..]).take(end - first).map(shown).collect())
}

fn of_edit(call: &Call<'_>, asked: &Review, id: &str) -> Result<ReviewPage, Problem> {
    let edited = call.workspace.past_edits().find(id, call.caller.visible_session())?;
    let state = if edited.undone_by.is_some() { "undone" } else { "made" };
    let (edit, stale) = (edited.undone_by.clone(), changed_since(call, &edited));
    let empty =
        ReviewPage { subject: "edit", id: edited.id.clone(), state, edit, stale, ..ReviewPage::default() };
    if asked.state_only == Some(true) {
        return Ok(empty);
    }
    let mut notes = Vec::new();
    let diffs = match &edited.diff {
        Some(text) => diff::from_text(text),
        None => {
            notes.push("Its diff was not kept.".to_owned());
            Vec::new()
        }
    };
    // A diff has no name that could be trusted, so it belongs to a file only where there is one for each.
    let is_whole = diffs.len() == edited.files.len();
    if !is_whole && !diffs.is_empty() {
        notes.push("Its diff cannot be shown file by file; edit_history has it.".to_owned());
    }
    let diffs = if is_whole { diffs } else { vec![Diff::default(); edited.files.len()] };
    let hunks =
        diffs.iter().enumerate().flat_map(|(at, diff)| diff.hunks().iter().map(move |hunk| (at, hunk)));
    let hunks =
        hunks.skip(asked.from.unwrap_or(0)).map(|(at, hunk)| ReviewHunk::new(at, Vec::new(), Some(hunk)));
    let total = diffs.iter().map(|diff| diff.hunks().len()).sum();
    let mut page = with_hunks(empty, asked, total, hunks);
    if asked.from.unwrap_or(0) == 0 {
        let files = edited.files.iter().zip(&diffs);
        page.files = Some(
            files.map(|(file, diff)| ReviewFile::from_past(file, diff.modes(), diff.hunks().len())).collect(),
        );
        page.notes = Some(notes);
        page.made_by = Some(format!("{} by {}", edited.tool, edited.client));
    }
    Ok(page)
}

/// Returns the files that are no longer as the edit left them.
fn changed_since(call: &Call<'_>, edited: &Edited) -> Vec<String> {
    let is_as_left = |name: &str, after: &Option<String>| match call.workspace.files().fingerprint(name) {
        Fingerprint::Text(now) => after.as_ref() == Some(&now.short().to_string()),
        Fingerprint::Unreadable => after.is_none(),
        Fingerprint::Other(_) => false,
    };
    let files = edited.files.iter().filter(|file| !is_as_left(&file.name, &file.after));
    files.map(|file| file.name.clone()).collect()
}
