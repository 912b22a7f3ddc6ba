//! The steps of a call whose edit may need a person's approval: the edit is tried, the person is asked, and the edit is
//! planned anew, where only the approved plan passes. Nothing is locked while the person decides.
//!
//! [`ApprovalLoop`] only decides on the next step: a client's call waits asynchronously, a command on its thread.

use emend_workspace::approval::PlanDigest;
use emend_workspace::{Approval, AwaitingApproval};

/// The number of questions about one call, whose plan may differ each time. Without a limit, a formatter with a
/// different result each time would cause questions for ever.
const QUESTIONS: usize = 5;

/// The decision of a person on an edit that needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The edit may be made. Only valid if the person has seen all of it.
    Approve,
    /// The edit may not be made.
    Deny,
    /// Nobody could be asked or has answered, so the edit waits.
    Undecided,
}

/// The decision that a call brings along, on a question that an earlier, equal call has raised.
#[derive(Debug)]
pub(crate) struct EarlierAnswer {
    /// The plan that the person was shown.
    pub(crate) plan: PlanDigest,
    pub(crate) decision: Decision,
}

/// The next step of a call.
#[derive(Debug)]
pub(crate) enum Step {
    /// Make the edit, with this approval if there is one. If the policy holds it, go on with
    /// [`ApprovalLoop::after_held`].
    Make(Option<Approval>),
    /// Ask a person about this plan, and go on with [`ApprovalLoop::after_answer`].
    Ask(Box<AwaitingApproval>),
    /// Let the edit wait until a person decides elsewhere. This is the last step.
    LeaveWaiting(Box<AwaitingApproval>),
    /// Refuse the edit, since a person has denied this plan or that of an earlier call. This is the last step.
    Deny(Option<Box<AwaitingApproval>>),
}

/// The number of questions that a call has left.
#[derive(Debug)]
pub(crate) struct ApprovalLoop {
    questions: usize,
}

impl ApprovalLoop {
    /// Begins a call, which may bring an earlier decision along.
    pub(crate) fn begin(earlier: Option<EarlierAnswer>) -> (Self, Step) {
        let fresh = Self { questions: QUESTIONS };
        match earlier.map(|answer| (answer.decision, answer.plan)) {
            None => (fresh, Step::Make(None)),
            Some((Decision::Approve, plan)) => (fresh, Step::Make(Some(Approval::of_person(plan)))),
            Some((Decision::Deny, _)) => (fresh, Step::Deny(None)),
            // The person did not answer the earlier question and is not asked again.
            Some((Decision::Undecided, _)) => (Self { questions: 0 }, Step::Make(None)),
        }
    }

    /// Returns the next step after the policy has held an edit. An approved edit is held again if its plan has changed.
    pub(crate) fn after_held(&mut self, held: Box<AwaitingApproval>) -> Step {
        match self.questions.checked_sub(1) {
            Some(left) => {
                self.questions = left;
                Step::Ask(held)
            }
            None => Step::LeaveWaiting(held),
        }
    }

    /// Returns the next step after a person was asked about this plan.
    pub(crate) fn after_answer(&self, held: Box<AwaitingApproval>, decision: Decision) -> Step {
        match decision {
            Decision::Approve => Step::Make(Some(Approval::of_person(held.digest()))),
            Decision::Deny => Step::Deny(Some(held)),
            Decision::Undecided => Step::LeaveWaiting(held),
        }
    }
}
