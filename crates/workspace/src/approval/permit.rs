//! The last question before a commit: whether a plan may be made true now.

use std::io;

use emend_edit::problem::{Code, Kind, Problem, Release};

use super::{Approval, Approvals, Held, Stopped, Word};
use crate::disk::Disk;
use crate::fault::io_problem;
use crate::prepared::Prepared;

/// Whether the policy lets this plan be made true, or a person does. The root's lock is held, and a yes that waited for
/// this plan is used up.
pub(crate) fn permit(
    disk: &dyn Disk,
    prepared: &Prepared,
    approval: Option<&Approval>,
    approvals: impl FnOnce() -> Result<Approvals, String>,
) -> Result<(), Stopped> {
    let problems = refuse_unless_allowable(prepared)?;
    if problems.is_empty() {
        return Ok(());
    }
    let held = prepared.held(disk, problems)?;
    // Where nothing can be kept, nobody has said anything either.
    let approvals = approvals().ok();
    let failed = |error: io::Error| io_problem("Looking for an approval", &error);
    let word = match &approvals {
        Some(approvals) => approvals.take(&held.digest).map_err(failed)?,
        None => None,
    };
    let is_allowed = approval.is_some_and(|approval| approval.covers(&held.digest));
    match word {
        // A no at a terminal outdoes a yes elsewhere.
        Some(Word::No) => Err(Problem::new(Kind::ApprovalDenied { command: None }).into()),
        Some(Word::Yes) => Ok(()),
        None if is_allowed => {
            if let Some(approvals) = approvals {
                approvals.forget(&held.digest);
            }
            Ok(())
        }
        None => Err(Stopped::Held(Box::new(held))),
    }
}

/// Refuses a plan that no person could allow. Yields why one must be asked, if so.
pub(crate) fn refuse_unless_allowable(prepared: &Prepared) -> Result<Vec<Problem>, Vec<Problem>> {
    let problems = prepared.held_back();
    let is_allowable = problems.iter().all(|problem| problem.code() == Code::ApprovalNeeded);
    if is_allowable { Ok(problems) } else { Err(problems) }
}

/// Lets this wait for a person's word, which they give by this command and its id. Yields what the model is told.
pub(crate) fn leave_waiting(
    held: &Held,
    approvals: Result<Approvals, String>,
    approve: &str,
) -> Vec<Problem> {
    let release = match approvals.and_then(|approvals| approvals.keep(held)) {
        Ok(id) => Release::Command { command: format!("{approve} {id}") },
        Err(why) => Release::Nowhere { why },
    };
    let told = |mut problem: Problem| {
        if let Kind::ApprovalNeeded { release: how, .. } = &mut *problem.kind {
            *how = release.clone();
        }
        problem
    };
    held.problems.iter().cloned().map(told).collect()
}
