//! The list of what there is to review: what waits for approval, what was previewed, and the last edits.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use emend_workspace::history::{Edited, HistoryQuery};
use emend_workspace::problem::Problem;
use emend_workspace::reviewable::Reviewable;

use super::waiting::is_here;
use crate::door::Door;
use crate::tools::Call;
use crate::wire::{ReviewEntry, ReviewPage};

/// The most edits of the list.
const EDITS: usize = 50;
/// The most files that are named of an entry.
const FILES: usize = 8;

/// Returns the list. What other clients have asked for is for a person alone.
pub(super) fn page(call: &Call<'_>) -> Result<ReviewPage, Problem> {
    let mut entries = Vec::new();
    if call.door == Door::Person {
        entries.extend(waiting(call));
        entries.extend(previewed(call));
    }
    if call.workspace.past_edits().are_tracked() {
        let asked = HistoryQuery { path: None, limit: EDITS };
        let edits = call.workspace.past_edits().newest(&asked, call.caller.visible_session())?;
        entries.extend(edits.iter().map(edit));
    }
    let folders = call.workspace.roots().all().iter().map(|root| root.path.display().to_string()).collect();
    let total = entries.len();
    Ok(ReviewPage { subject: "list", state: "made", total, entries, folders, ..ReviewPage::default() })
}

fn waiting(call: &Call<'_>) -> Vec<ReviewEntry> {
    let all = call.workspace.approvals().and_then(|approvals| approvals.all().ok()).unwrap_or_default();
    let undecided = all.iter().filter(|waiting| waiting.word.is_none() && is_here(call, &waiting.root));
    let entry = |waiting: &emend_workspace::approval::Waiting| ReviewEntry {
        subject: "approval",
        id: waiting.id().to_owned(),
        title: format!("{} by {}", waiting.tool, waiting.client),
        time: millis(waiting.time()),
        files: few(waiting.files.clone()),
        is_undone: false,
    };
    undecided.map(entry).collect()
}

fn previewed(call: &Call<'_>) -> Vec<ReviewEntry> {
    let all = call.workspace.reviewables().and_then(|calls| calls.all().ok()).unwrap_or_default();
    let is_open =
        |asked: &&Reviewable| asked.word.is_none() && is_here(call, &asked.root.display().to_string());
    let open: Vec<&Reviewable> = all.iter().filter(is_open).collect();
    let request = |asked: &Reviewable| (asked.client.clone(), asked.tool.clone(), asked.arguments.clone());
    // The newest come first. The same request once more takes the place of the older, unless a person has written there.
    let mut seen = BTreeSet::new();
    let open = open.into_iter().filter(|asked| seen.insert(request(asked)) || !asked.revisions.is_empty());
    let entry = |asked: &Reviewable| ReviewEntry {
        subject: "preview",
        id: asked.handle.clone(),
        title: format!("{} by {}", asked.tool, asked.client),
        time: millis(asked.time()),
        files: few(asked.files.clone()),
        is_undone: false,
    };
    open.map(entry).collect()
}

fn edit(edit: &Edited) -> ReviewEntry {
    let takes_back = edit.undoes.iter().map(|undone| format!(", takes back {undone}")).collect::<String>();
    ReviewEntry {
        subject: "edit",
        id: edit.id.clone(),
        title: format!("{} by {}{takes_back}", edit.tool, edit.client),
        time: millis(edit.time),
        files: few(edit
            .files
            .iter()
            .map(|file| format!("{}, +{} -{}", file.name, file.added, file.removed))
            .collect()),
        is_undone: edit.undone_by.is_some(),
    }
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Returns the first of these lines, and how many more there are.
fn few(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(FILES);
    lines.truncate(FILES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}
