//! `edit_preview` and `apply_preview`: the path of an edit, stopped before the commit and taken up again.

use std::sync::PoisonError;

use rmcp::model::{CallToolResult, JsonObject};

use emend_edit::problem::{Kind, Problem};
use emend_workspace::Effort;

use super::edit::understand;
use super::{Call, NotQuick, answer, find, refusal};
use crate::arguments;
use crate::previews::Slot;
use crate::render::Tense;
use crate::wire::{ApplyPreview, EditPreview, Outcome};

pub(super) fn edit_preview(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    match preview(call, arguments) {
        Ok(outcome) => Ok(answer(&outcome, Tense::Previewed)),
        Err(problems) if NotQuick::is_in(&problems) => Err(NotQuick),
        Err(problems) => Ok(refusal(&problems)),
    }
}

fn preview(call: &Call<'_>, mut arguments: JsonObject) -> Result<Outcome, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    let own: JsonObject = arguments.remove_entry("tool").into_iter().collect();
    let input = &find("edit_preview").expect("it is in the table").input;
    let own: EditPreview = arguments::read(input, own).map_err(one)?;
    let asked = understand(call, &own.tool, arguments)?;
    let readings = call.caller.readings();
    let prepared = call.workspace.preview(&asked.request(call), readings)?;
    let mut outcome = Outcome::success(prepared.report());
    outcome.preview = Some(call.previews.keep(call.caller.owner(), prepared).map_err(one)?);
    Ok(outcome)
}

pub(super) fn apply_preview(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    if call.effort == Effort::Quick {
        // It may wait for another call with the same handle.
        return Err(NotQuick);
    }
    Ok(match apply(call, arguments) {
        Ok(outcome) => answer(&outcome, Tense::Done),
        Err(problems) => refusal(&problems),
    })
}

fn apply(call: &Call<'_>, arguments: JsonObject) -> Result<Outcome, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    let input = &find("apply_preview").expect("it is in the table").input;
    let asked: ApplyPreview = arguments::read(input, arguments).map_err(one)?;
    let slot = call.previews.find(call.caller.owner(), &asked.preview).map_err(one)?;
    // Held while applying: a second call with the same handle waits here for the first one's outcome.
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let prepared = match std::mem::replace(&mut *slot, Slot::Lost) {
        Slot::Waiting(prepared) => *prepared,
        Slot::Used(outcome, hunks) => {
            let same = hunks == asked.hunks;
            *slot = Slot::Used(outcome.clone(), hunks);
            return if same { Ok(*outcome) } else { Err(one(Problem::new(used_up()))) };
        }
        Slot::Lost => return Err(one(Problem::new(Kind::UnknownPreview))),
    };
    let keep = |prepared| Slot::Waiting(Box::new(prepared));
    if let Some(hunks) = &asked.hunks
        && let Err(problem) = prepared.has_hunks(hunks)
    {
        *slot = keep(prepared);
        return Err(one(problem));
    }
    if (call.cancelled)() {
        *slot = keep(prepared);
        return Err(one(Problem::new(Kind::Cancelled)));
    }
    let readings = call.caller.readings();
    let applied = call.workspace.apply(prepared, asked.hunks.as_deref(), None, readings, call.progress);
    let outcome = match applied {
        Ok(report) => Outcome::success(&report),
        Err((stopped, Some(unused))) => {
            *slot = keep(*unused);
            return Err(call.refused(stopped));
        }
        Err((stopped, None)) => Outcome::failure(&call.refused(stopped)),
    };
    *slot = Slot::Used(Box::new(outcome.clone()), asked.hunks);
    Ok(outcome)
}

/// A used handle answers with its first outcome only to the same call: another one means something else.
fn used_up() -> Kind {
    let message = "this preview was applied before with other hunks; call edit_preview again for the rest";
    Kind::InvalidArgument { name: "hunks".into(), message: message.into() }
}
