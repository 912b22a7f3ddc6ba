//! A preview on the review page: one of this process, or one that another process has made and that is planned anew here.

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_edit::diff::{self, DiffPart};
use emend_edit::plan::{Action, FilePlan, Revision};
use emend_edit::text::split_lines;
use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::reviewable::{KeptRevision, PreviewWord, Reviewable};
use emend_workspace::{ChangeKind, Fingerprint, Preview};

use super::with_hunks;
use crate::door::Door;
use crate::messages::{self, Audience};
use crate::previews::PreviewState;
use crate::tools::Call;
use crate::tools::kept_preview::{changed_since, find, of_here};
use crate::tools::making::replan;
use crate::wire::{Review, ReviewFile, ReviewHunk, ReviewPage};

/// The most lines that are shown around hunks at once.
const LINES: usize = 500;
/// The most bytes of such a line.
const COLUMNS: usize = 4_000;

/// Returns a page of a preview.
pub(super) fn page(call: &Call<'_>, asked: &Review, handle: &str) -> Result<ReviewPage, Problem> {
    let empty = ReviewPage { subject: "preview", id: handle.to_owned(), ..ReviewPage::default() };
    let is_again = asked.again == Some(true) && call.door == Door::Person;
    let gone = if is_again { plan_again(call, handle)? } else { Vec::new() };
    if call.door == Door::Person
        && let Some(PreviewWord { edit: Some(edit), hunks, by_client: true, .. }) =
            call.workspace.reviewables().and_then(|all| all.word(handle))
    {
        let (edit, applied) = (Some(edit), hunks);
        return Ok(ReviewPage { state: "applied", edit, applied, by_client: true, ..empty });
    }
    let found = match find(call, handle) {
        Ok(found) => found,
        Err(why) if call.door == Door::Client => return Err(why.into_problems().remove(0)),
        // Another process has made it.
        Err(_) => match left_elsewhere(call, handle)? {
            Left::Planned(found) => found,
            Left::Applied(edit, applied) => {
                return Ok(ReviewPage { state: "applied", edit: Some(edit), applied, ..empty });
            }
            Left::Lost(stale, notes) => {
                return Ok(ReviewPage { state: "lost", stale, notes: Some(notes), ..empty });
            }
        },
    };
    let state = found.lock();
    let preview = match &*state {
        PreviewState::Waiting(preview) => preview,
        PreviewState::Used(outcome, hunks) => {
            let (edit, applied) = (outcome.edit.clone(), hunks.clone());
            return Ok(ReviewPage { state: "applied", edit, applied, ..empty });
        }
        PreviewState::Lost => return Ok(ReviewPage { state: "lost", ..empty }),
    };
    let shown = Some(preview.digest());
    let empty = ReviewPage { state: "waiting", stale: stale(call, preview), shown, ..empty };
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
        let is_by_hand = part.numbers.iter().any(|number| preview.is_by_hand(*number));
        ReviewHunk { is_by_hand, forgiven: forgiven(&files[at], &part.numbers), ..hunk }
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
                is_fixed: files.get(at).is_none_or(is_fixed),
            }
        };
        page.files = Some(report.files.iter().enumerate().map(file).collect());
        let units = preview.plan().units().into_iter().filter(|unit| unit.len() > 1);
        page.together = Some(units.collect());
        page.notes = Some(gone.into_iter().chain(messages::notes(report)).collect());
        page.fired = Some(report.fired.clone());
    }
    Ok(page)
}

/// Returns whether what the hunks of a file write cannot be told apart, or is no text, so that a person cannot write it.
fn is_fixed(file: &FilePlan) -> bool {
    match &file.action {
        Action::Modify { edit, .. } | Action::Move { edit, .. } => !edit.is_separable(),
        Action::Create { .. } => false,
        Action::Delete { .. } => true,
    }
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

/// Plans a preview anew without what a person has written in place of a hunk.
pub(in crate::tools) fn without_revision(
    call: &Call<'_>,
    handle: &str,
    file: &str,
    hunk: usize,
) -> Result<Preview, Problem> {
    let asked = of_here(call, handle).ok_or_else(|| Problem::new(Kind::UnknownPreview))?;
    let is_other = |by: &&KeptRevision| by.file != file || by.hunk != hunk;
    let revisions: Vec<KeptRevision> = asked.revisions.iter().filter(is_other).cloned().collect();
    let preview =
        replan(call, &asked, &asked.versions, &revisions).map_err(|mut problems| problems.remove(0))?;
    keep(call, &asked.with(&preview, revisions));
    Ok(preview)
}

/// Keeps what a person has written in a preview for whoever plans it anew.
pub(in crate::tools) fn keep_revision(call: &Call<'_>, handle: &str, preview: &Preview, by: &Revision<'_>) {
    let Some(asked) = of_here(call, handle) else { return };
    let revisions = asked.revisions.iter().cloned().chain([by.into()]).collect();
    keep(call, &asked.with(preview, revisions));
}

fn keep(call: &Call<'_>, asked: &Reviewable) {
    if let Some(Err(error)) = call.workspace.reviewables().map(|all| all.keep(asked)) {
        tracing::warn!("what was written in a preview is known to this process alone: {error}");
    }
}

/// Plans a preview anew for the files as they are now. What a person has written in files that have changed since goes, which
/// the notes say.
fn plan_again(call: &Call<'_>, handle: &str) -> Result<Vec<String>, Problem> {
    let asked = of_here(call, handle).ok_or_else(|| Problem::new(Kind::UnknownPreview))?;
    if let Some(word) = &asked.word {
        let message = match &word.edit {
            Some(edit) => format!("it was applied before, as edit {edit}"),
            None => "it was declined before".to_owned(),
        };
        return Err(Problem::new(Kind::InvalidArgument { name: "preview".into(), message }));
    }
    let now = |name: &String| match call.workspace.files().fingerprint(name) {
        Fingerprint::Text(version) => Some((name.clone(), version.hex())),
        _ => None,
    };
    let versions: BTreeMap<String, String> = asked.versions.keys().filter_map(now).collect();
    let stands = |by: &KeptRevision| versions.get(&by.file) == asked.versions.get(&by.file);
    let (stand, gone): (Vec<_>, Vec<_>) = asked.revisions.iter().cloned().partition(stands);
    let preview = replan(call, &asked, &versions, &stand).map_err(|mut problems| problems.remove(0))?;
    keep(call, &asked.with(&preview, stand));
    call.previews.keep(handle, call.caller.owner(), preview);
    let said = |by: &KeptRevision| {
        format!("What you wrote for hunk {} of {} is gone, since the file has changed.", by.hunk, by.file)
    };
    Ok(gone.iter().map(said).collect())
}

/// What has become of a preview that another process has made.
enum Left {
    /// It is planned anew, and kept under its handle.
    Planned(Arc<Mutex<PreviewState>>),
    /// It was applied as this edit, as a whole or with these hunks only.
    Applied(String, Option<Vec<usize>>),
    /// It cannot be planned any more, since these files have changed or for these reasons.
    Lost(Vec<String>, Vec<String>),
}

/// Plans a preview anew that another process has made, for the versions of the files that it found.
fn left_elsewhere(call: &Call<'_>, handle: &str) -> Result<Left, Problem> {
    let asked = of_here(call, handle).ok_or_else(|| Problem::new(Kind::UnknownPreview))?;
    match asked.word {
        Some(PreviewWord { edit: Some(edit), hunks, .. }) => return Ok(Left::Applied(edit, hunks)),
        Some(PreviewWord { edit: None, .. }) => {
            return Ok(Left::Lost(Vec::new(), vec!["It was declined.".into()]));
        }
        None => {}
    }
    let stale: Vec<String> = changed_since(call, &asked).map(|(name, _)| name.to_owned()).collect();
    if !stale.is_empty() {
        return Ok(Left::Lost(stale, Vec::new()));
    }
    Ok(match replan(call, &asked, &asked.versions, &asked.revisions) {
        Ok(preview) if asked.is_same_as(&preview) => {
            Left::Planned(call.previews.take_over(handle, call.caller.owner(), preview)?)
        }
        Ok(_) => {
            let why = "It would come out differently now, so it is not shown as it was.".to_owned();
            Left::Lost(Vec::new(), vec![why])
        }
        Err(problems) => {
            let said = problems.iter().map(|problem| messages::message(problem, Audience::Person));
            let why = "It cannot be made any more:".to_owned();
            Left::Lost(Vec::new(), std::iter::once(why).chain(said).collect())
        }
    })
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
