//! An edit that waits for approval, on the review page.

use emend_edit::diff::Diff;
use emend_workspace::approval::{PersonsDecision, Waiting, pointed_out};
use emend_workspace::history::ago;
use emend_workspace::problem::{Kind, Problem};

use super::{kept_diffs, with_diffs};
use crate::tools::Call;
use crate::wire::{Review, ReviewFile, ReviewHunk, ReviewPage};

/// Returns a page of an edit that waits.
pub(super) fn page(call: &Call<'_>, asked: &Review, id: &str) -> Result<ReviewPage, Problem> {
    let waiting = find(call, id)?;
    let state = match waiting.word {
        None => "waiting",
        Some(PersonsDecision::Yes) => "allowed",
        Some(PersonsDecision::No) => "denied",
    };
    let empty =
        ReviewPage { subject: "approval", id: waiting.id().to_owned(), state, ..ReviewPage::default() };
    if asked.state_only == Some(true) {
        return Ok(empty);
    }
    let (diffs, remark) = kept_diffs(&waiting.diff, waiting.changes.len(), "`emend approve` shows it");
    let mut page = with_diffs(empty, asked, &diffs);
    if asked.from.unwrap_or(0) == 0 {
        let files = waiting.changes.iter().zip(&diffs);
        let files =
            files.map(|(file, diff)| ReviewFile::from_waiting(file, diff.modes(), diff.hunks().len()));
        page.files = Some(files.collect());
        let long =
            || "A part of it is too long to be shown here, so only `emend approve` takes a yes.".to_owned();
        let long = (remark.is_none() && !is_whole(&waiting)).then(long);
        let names = waiting.changes.iter().map(|file| file.name.as_str());
        let pointed_out = pointed_out(names, &waiting.diff);
        page.notes =
            Some(waiting.notes.iter().cloned().chain(pointed_out).chain(remark).chain(long).collect());
        page.made_by = Some(format!("{} by {}, {}", waiting.tool, waiting.client, ago(waiting.time())));
        page.rules = waiting.rules;
    }
    Ok(page)
}

/// Returns whether the page shows all of it.
pub(in crate::tools) fn is_whole(waiting: &Waiting) -> bool {
    let (diffs, remark) = kept_diffs(&waiting.diff, waiting.changes.len(), "");
    let mut hunks = diffs.iter().flat_map(Diff::hunks);
    remark.is_none() && hunks.all(|hunk| !ReviewHunk::new(0, Vec::new(), Some(hunk)).is_cut)
}

/// Returns the edit of this workspace that waits under an id.
pub(in crate::tools) fn find(call: &Call<'_>, id: &str) -> Result<Waiting, Problem> {
    let found = call.workspace.approvals().and_then(|approvals| approvals.find(id).ok().flatten());
    found.filter(|waiting| is_here(call, &waiting.root)).ok_or_else(|| {
        let message = "no edit waits under this id: it was made, or has waited for more than a day".into();
        Problem::new(Kind::InvalidArgument { name: "approval".into(), message })
    })
}

/// Returns whether this is a folder of the workspace.
pub(super) fn is_here(call: &Call<'_>, folder: &str) -> bool {
    call.workspace.roots().all().iter().any(|root| root.path.display().to_string() == folder)
}
