//! The edit that a call of an edit tool asks for, and how it is made.

use std::collections::BTreeMap;

use emend_edit::patch::Patch;
use emend_workspace::problem::Problem;
use emend_workspace::{NotCommitted, NotDone, Origin, Request};

use super::Call;
use crate::answer::{Answer, Unanswered};
use crate::render::Tense;
use crate::wire::Outcome;

/// The edit that a call of an edit tool asks for.
pub(super) struct EditRequest {
    pub(super) patch: Patch,
    pub(super) versions: BTreeMap<String, String>,
    /// Whether the edit is only checked.
    pub(super) validate_only: bool,
    pub(super) origin: Origin,
}

impl EditRequest {
    /// Creates a request for one file, with the version that the call names, if any.
    pub(super) fn for_file(patch: Patch, path: &str, version: Option<String>, origin: Origin) -> Self {
        let versions = version.into_iter().map(|version| (path.to_owned(), version)).collect();
        Self { patch, versions, validate_only: false, origin }
    }

    /// Returns the request to the workspace.
    pub(super) fn request(&self) -> Request<'_> {
        Request { patch: &self.patch, versions: &self.versions }
    }
}

/// Makes the edit that `understand` reads from a call.
pub(super) fn run(
    call: &Call<'_>,
    understand: impl FnOnce() -> Result<EditRequest, NotDone<Vec<Problem>>>,
) -> Result<Answer, Unanswered> {
    match edit(call, understand) {
        Ok((outcome, tense)) => Ok(Answer::from_outcome(outcome, tense)),
        Err(not_committed) => Answer::from_not_committed(call.explained(not_committed)),
    }
}

fn edit(
    call: &Call<'_>,
    understand: impl FnOnce() -> Result<EditRequest, NotDone<Vec<Problem>>>,
) -> Result<(Outcome, Tense), NotCommitted> {
    let asked = understand()?;
    let (request, context) = (asked.request(), call.context(&asked.origin));
    if asked.validate_only {
        let preview = call.workspace.preview(&request, &context)?;
        return Ok((Outcome::success(preview.report()), Tense::Validated));
    }
    let report = call.workspace.edit(&request, &context)?;
    Ok((call.done(&report), Tense::Done))
}
