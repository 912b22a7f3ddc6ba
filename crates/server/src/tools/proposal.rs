//! A change that an apply model has written, on its way to the files: it is shown, and made at once only if the user's
//! configuration says so and nothing is in doubt.

use emend_workspace::{Mode, NotCommitted, Origin};

use super::Call;
use super::edit_request::{EditRequest, kept};
use crate::render::Tense;
use crate::wire::Outcome;

/// Whether a proposal may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    /// At once, if the user has said so and nothing is in doubt.
    IfSure,
    /// Not by this call.
    Never,
}

/// A change that an apply model has written.
pub(super) struct Proposal {
    request: EditRequest,
    model: String,
    /// Whether nothing about it is in doubt but what the model has written.
    is_sure: bool,
}

impl Proposal {
    /// Wraps the edit that makes the change; the history will name the model.
    pub(super) fn new(request: EditRequest, model: &str, is_sure: bool) -> Self {
        let origin = Origin { model: Some(model.to_owned()), ..request.origin };
        Self { request: EditRequest { origin, ..request }, model: model.to_owned(), is_sure }
    }

    /// Makes the change, or shows it under a handle.
    pub(super) fn settle(self, call: &Call<'_>, making: Making) -> Result<(Outcome, Tense), NotCommitted> {
        let Self { request, model, is_sure } = self;
        let context = call.context(&request.origin);
        let preview = call.workspace.preview(&request.request(), &context)?;
        let shown = Outcome::success(preview.report());
        let may_make = making == Making::IfSure
            && is_sure
            && call.apply_model.is_auto()
            && call.workspace.mode() != Mode::Preview;
        let preview = match may_make {
            false => preview,
            true => match call.workspace.apply(preview, None, &context) {
                Ok(report) => {
                    let made = with_note(call.done(&report), format!("{model} wrote the new text."));
                    return Ok((made, Tense::Done));
                }
                // Whoever approves it is asked about these very bytes, when they are applied.
                Err((NotCommitted::AwaitingApproval(_), Some(preview))) => *preview,
                Err((why, _)) => return Err(why),
            },
        };
        let handle = kept(call, preview, &request.origin)?;
        let next = match handle {
            Some(_) => "Nothing is changed yet: look at the diff, then call apply_preview.",
            None => "Here edits are only shown.",
        };
        let shown = Outcome { preview: handle, ..shown };
        Ok((with_note(shown, format!("{model} wrote the new text. {next}")), Tense::Previewed))
    }
}

fn with_note(mut outcome: Outcome, note: String) -> Outcome {
    outcome.notes.get_or_insert_default().push(note);
    outcome
}
