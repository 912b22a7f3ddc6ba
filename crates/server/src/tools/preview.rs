//! `edit_preview` and `apply_preview`: the path of an edit, stopped before the commit and taken up again.

use std::sync::PoisonError;

use rmcp::model::JsonObject;

use emend_edit::problem::{Kind, Problem};
use emend_workspace::{Effort, Mode, Stopped};

use super::edit::understand;
use super::{Answer, Call, Unanswered, find};
use crate::arguments;
use crate::previews::Slot;
use crate::render::Tense;
use crate::wire::{ApplyPreview, EditPreview, Outcome};

pub(super) fn edit_preview(call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
    match preview(call, arguments) {
        Ok(outcome) => Ok(Answer::of(outcome, Tense::Previewed)),
        Err(problems) => Answer::unmade(call.explained(problems.into())),
    }
}

fn preview(call: &Call<'_>, mut arguments: JsonObject) -> Result<Outcome, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    let own: JsonObject = arguments.remove_entry("tool").into_iter().collect();
    let input = &find("edit_preview").expect("it is in the table").input;
    let own: EditPreview = arguments::read(input, own).map_err(one)?;
    let other = &find(&own.tool).expect("the schema has checked it").input;
    arguments.retain(|name, value| !arguments::is_unset_of_another(other, input, name, value));
    let asked = understand(call, &own.tool, arguments)?;
    let readings = call.caller.readings();
    let prepared = call.workspace.preview(&asked.request(call), readings)?;
    let mut outcome = Outcome::success(prepared.report());
    // Where edits are only shown, a handle would promise too much.
    if call.workspace.mode() != Mode::Preview {
        outcome.preview = Some(call.previews.keep(call.caller.owner(), prepared).map_err(one)?);
    }
    Ok(outcome)
}

pub(super) fn apply_preview(call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
    if call.effort == Effort::Quick {
        // It may wait for another call with the same handle.
        return Err(Unanswered::NotQuick);
    }
    match apply(call, arguments) {
        Ok(outcome) => Ok(Answer::of(outcome, Tense::Done)),
        Err(stopped) => Answer::unmade(stopped),
    }
}

fn apply(call: &Call<'_>, arguments: JsonObject) -> Result<Outcome, Stopped> {
    let input = &find("apply_preview").expect("it is in the table").input;
    let asked: ApplyPreview = arguments::read(input, arguments)?;
    let slot = call.previews.find(call.caller.owner(), &asked.preview)?;
    // Held while applying: a second call with the same handle waits here for the first one's outcome.
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let prepared = match std::mem::replace(&mut *slot, Slot::Lost) {
        Slot::Waiting(prepared) => *prepared,
        Slot::Used(outcome, hunks) => {
            let same = hunks == asked.hunks;
            *slot = Slot::Used(outcome.clone(), hunks);
            return if same {
                Ok(Outcome { is_repeated: true, ..*outcome })
            } else {
                Err(Problem::new(used_up()).into())
            };
        }
        Slot::Lost => return Err(Problem::new(Kind::UnknownPreview).into()),
    };
    let keep = |prepared| Slot::Waiting(Box::new(prepared));
    if let Some(hunks) = &asked.hunks
        && let Err(problem) = prepared.has_hunks(hunks)
    {
        *slot = keep(prepared);
        return Err(problem.into());
    }
    let readings = call.caller.readings();
    let hunks = asked.hunks.as_deref();
    let applied = call.workspace.apply(prepared, hunks, call.manner(), readings);
    let outcome = match applied {
        Ok(report) => call.done(&report),
        Err((stopped, Some(unused))) => {
            *slot = keep(*unused);
            return Err(stopped);
        }
        Err((stopped, None)) => Outcome::failure(&stopped.into_problems()),
    };
    *slot = Slot::Used(Box::new(outcome.clone()), asked.hunks);
    Ok(outcome)
}

/// A used handle answers with its first outcome only to the same call: another one means something else.
fn used_up() -> Kind {
    let message = "this preview was applied before with other hunks; call edit_preview again for the rest";
    Kind::InvalidArgument { name: "hunks".into(), message: message.into() }
}
