//! How the edit that a call asks for is made or shown. What an apply model proposes for an uncertain sketch takes the place
//! of the refusal.

use std::collections::BTreeMap;

use emend_workspace::problem::{Kind, Problem};
use emend_workspace::reviewable::{KeptRevision, Reviewable};
use emend_workspace::{NotCommitted, NotDone, Origin, Preview};

use super::edit_request::EditRequest;
use super::proposal::Making;
use super::{Call, proposed_sketch};
use crate::answer::{Answer, Unanswered};
use crate::render::Tense;
use crate::tools;
use crate::wire::{ApplySketch, Outcome};

/// Makes the edit that `understand` reads from a call.
pub(super) fn run(
    call: &Call<'_>,
    understand: impl FnOnce() -> Result<EditRequest, NotDone<Vec<Problem>>>,
) -> Result<Answer, Unanswered> {
    let mut kept = None;
    match edit(call, understand, &mut kept) {
        Ok((outcome, tense)) => Ok(Answer::from_outcome(outcome, tense)),
        Err(not_committed) => {
            let mut answer = Answer::from_not_committed(call.explained(not_committed))?;
            answer.append_notes(kept);
            Ok(answer)
        }
    }
}

fn edit(
    call: &Call<'_>,
    understand: impl FnOnce() -> Result<EditRequest, NotDone<Vec<Problem>>>,
    kept: &mut Option<String>,
) -> Result<(Outcome, Tense), NotCommitted> {
    let mut asked = understand()?;
    let mut keep = |asked: &EditRequest, mut why: NotCommitted| {
        if let NotCommitted::Problems(problems) = &mut why {
            *kept = asked.keep(call, problems);
            if kept.is_some() {
                // It says instead how many fit.
                problems.iter_mut().for_each(|problem| problem.fit = None);
            }
        }
        why
    };
    if asked.validate_only {
        let preview = call.workspace.preview(&asked.request(), &call.context(&asked.origin));
        let preview = preview.map_err(|why| keep(&asked, why))?;
        return Ok((Outcome::success(preview.report()), Tense::Validated));
    }
    let (sketch, origin) = (asked.sketch.take(), asked.origin.clone());
    match asked.make(call) {
        Ok(outcome) => Ok((outcome, Tense::Done)),
        Err(why) => {
            let why = keep(&asked, why);
            propose(call, sketch, origin, (why, Making::IfSure))
        }
    }
}

/// Shows the edit that a call asks for.
pub(super) fn preview(call: &Call<'_>, mut asked: EditRequest) -> Result<Outcome, NotCommitted> {
    let (sketch, origin) = (asked.sketch.take(), asked.origin.clone());
    match asked.preview(call) {
        Ok(outcome) => Ok(outcome),
        Err(why) => propose(call, sketch, origin, (why, Making::Never)).map(|(outcome, _)| outcome),
    }
}

/// Plans the edit anew that another process has previewed, with what a person has written in it, for files of these versions.
pub(super) fn replan(
    call: &Call<'_>,
    asked: &Reviewable,
    versions: &BTreeMap<String, String>,
    revisions: &[KeptRevision],
) -> Result<Preview, Vec<Problem>> {
    let unreadable = || vec![Problem::new(Kind::UnknownPreview)];
    let arguments = serde_json::from_str(&asked.arguments).map_err(|_| unreadable())?;
    let tool = tools::find(&asked.tool).and_then(|tool| Some((tool, tool.as_edit?)));
    let (tool, as_edit) = tool.ok_or_else(unreadable)?;
    let mut request = as_edit(tool, call, arguments).map_err(NotDone::into_problems)?;
    request.versions.clone_from(versions);
    let context = call.context(&request.origin);
    let preview = call.workspace.preview(&request.request(), &context);
    let revised = preview.and_then(|preview| {
        revisions
            .iter()
            .try_fold(preview, |preview, by| call.workspace.revise(&preview, &by.as_made(), &context))
    });
    revised.map_err(NotCommitted::into_problems)
}

/// Asks the apply model to read a sketch that was refused as uncertain. Any other refusal stands.
fn propose(
    call: &Call<'_>,
    sketch: Option<ApplySketch>,
    origin: Origin,
    (why, making): (NotCommitted, Making),
) -> Result<(Outcome, Tense), NotCommitted> {
    match (sketch, why) {
        (Some(sketch), NotCommitted::Problems(problems)) => {
            proposed_sketch::propose(call, &sketch, origin, problems, making)
        }
        (_, why) => Err(why),
    }
}
