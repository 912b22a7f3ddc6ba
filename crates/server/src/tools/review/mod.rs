//! The tool `review`: what the review page is told of a kept preview, of an edit of the history, of one that waits for
//! approval, or of a session, page by page; and the list of all these.
//!
//! It reads and changes nothing, and is for the page alone: models have the answers of edit_preview and edit_history. What the
//! page applies, it applies with apply_preview, and takes back with undo_edit, under all their checks.

mod list;
mod past;
pub(super) mod previewed;
pub(super) mod waiting;

use rmcp::model::{CallToolResult, ContentBlock};

use emend_edit::diff::{self, Diff};
use emend_workspace::Effort;
use emend_workspace::problem::{Kind, Problem};

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, TextAnswer, Unanswered};
use crate::wire::{Review, ReviewHunk, ReviewPage};

/// The most hunks of a page.
const HUNKS: usize = 200;
/// The bytes of hunks after which a page ends.
const BYTES: usize = 256 * 1024;

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
            Err(problem) => Ok(Answer::on_page(Err(problem))),
        }
    }
}

fn page(call: &Call<'_>, asked: &Review) -> Result<ReviewPage, Problem> {
    match (&asked.preview, &asked.edit, &asked.approval, &asked.session) {
        (Some(handle), None, None, None) => previewed::page(call, asked, handle.trim()),
        (None, Some(id), None, None) => past::page(call, asked, id.trim()),
        (None, None, Some(id), None) => waiting::page(call, asked, id.trim()),
        (None, None, None, Some(session)) => past::of_session(call, asked, session.trim()),
        (None, None, None, None) => list::page(call),
        _ => {
            let message = "give one of preview, edit, approval and session, or none".into();
            Err(Problem::new(Kind::InvalidArgument { name: "preview".into(), message }))
        }
    }
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

/// Puts the hunks of these diffs, one for each file, into the page that is asked for.
fn with_diffs(page: ReviewPage, asked: &Review, diffs: &[Diff]) -> ReviewPage {
    let hunks =
        diffs.iter().enumerate().flat_map(|(at, diff)| diff.hunks().iter().map(move |hunk| (at, hunk)));
    let hunks =
        hunks.skip(asked.from.unwrap_or(0)).map(|(at, hunk)| ReviewHunk::new(at, Vec::new(), Some(hunk)));
    let total = diffs.iter().map(|diff| diff.hunks().len()).sum();
    with_hunks(page, asked, total, hunks)
}

/// Returns the diffs in a text that was kept for so many files; none of them, and a remark, if it is not certain which is
/// whose.
fn kept_diffs(text: &str, files: usize, otherwise: &str) -> (Vec<Diff>, Option<String>) {
    let diffs = diff::from_text(text);
    // A diff has no name that could be trusted, so it belongs to a file only where there is one for each.
    if diffs.len() == files {
        return (diffs, None);
    }
    let remark = (!diffs.is_empty()).then(|| format!("Its diff cannot be shown file by file; {otherwise}."));
    (vec![Diff::default(); files], remark)
}
