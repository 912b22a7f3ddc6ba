//! Edits that were made, on the review page: one, or all of a session taken together.

use emend_edit::diff::Diff;
use emend_workspace::Fingerprint;
use emend_workspace::history::Edited;
use emend_workspace::problem::Problem;

use super::{kept_diffs, with_diffs};
use crate::tools::Call;
use crate::wire::{Review, ReviewFile, ReviewPage};

/// Returns a page of an edit that was made.
pub(super) fn page(call: &Call<'_>, asked: &Review, id: &str) -> Result<ReviewPage, Problem> {
    let edited = call.workspace.past_edits().find(id, call.caller.visible_session())?;
    let state = if edited.undone_by.is_some() { "undone" } else { "made" };
    let (edit, stale) = (edited.undone_by.clone(), changed_since(call, &edited));
    let empty =
        ReviewPage { subject: "edit", id: edited.id.clone(), state, edit, stale, ..ReviewPage::default() };
    if asked.state_only == Some(true) {
        return Ok(empty);
    }
    let (diffs, remark) = match &edited.diff {
        Some(text) => kept_diffs(text, edited.files.len(), "edit_history has it"),
        None => (vec![Diff::default(); edited.files.len()], Some("Its diff was not kept.".to_owned())),
    };
    let mut page = with_diffs(empty, asked, &diffs);
    if asked.from.unwrap_or(0) == 0 {
        let files = edited.files.iter().zip(&diffs);
        page.files = Some(
            files.map(|(file, diff)| ReviewFile::from_past(file, diff.modes(), diff.hunks().len())).collect(),
        );
        page.notes = Some(remark.into_iter().collect());
        page.session = Some(edited.session.clone()).filter(|session| !session.is_empty());
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

/// Returns a page of what the edits of a session have made of the files.
pub(super) fn of_session(call: &Call<'_>, asked: &Review, session: &str) -> Result<ReviewPage, Problem> {
    let empty =
        ReviewPage { subject: "session", id: session.to_owned(), state: "made", ..ReviewPage::default() };
    if asked.state_only == Some(true) {
        return Ok(empty);
    }
    let (changed, unknown) = call.workspace.past_edits().net(None, session)?;
    let diffs: Vec<Diff> = changed.iter().map(|file| file.diff.clone()).collect();
    let mut page = with_diffs(empty, asked, &diffs);
    if asked.from.unwrap_or(0) == 0 {
        page.files = Some(changed.iter().map(ReviewFile::from_report).collect());
        let unknown = unknown
            .iter()
            .map(|name| format!("{name} was changed since, so what became of it is not known."));
        page.notes = Some(unknown.collect());
    }
    Ok(page)
}
