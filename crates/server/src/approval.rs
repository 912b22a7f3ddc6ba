//! The way of a call whose edit may need a person's approval: it is made, they are asked, and it is made again, planned
//! anew, where only the plan that they have approved passes. Nothing is locked while they think.
//!
//! [`ApprovalLoop`] decides what comes next, and does nothing itself: a client's call waits without a thread, a command
//! with one.

use emend_workspace::approval::PlanDigest;
use emend_workspace::{Approval, AwaitingApproval};

/// How often a person is asked about one call whose plan is another each time. A formatter that never answers the same
/// twice would have them asked for ever.
const QUESTIONS: usize = 5;

/// What a person decides on an edit that needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be made. Whoever says so has asked a person who saw all of it.
    Approve,
    /// It may not.
    Deny,
    /// Nobody could be asked, or nobody has answered: it waits.
    Undecided,
}

/// An answer that a call brings along, to a question that an earlier call of the same kind has raised.
#[derive(Debug)]
pub(crate) struct EarlierAnswer {
    /// The plan that the person was shown.
    pub(crate) plan: PlanDigest,
    pub(crate) decision: Decision,
}

/// What is to be done next for a call.
#[derive(Debug)]
pub(crate) enum Step {
    /// Make the edit, with this approval if there is one. Where the policy holds it, go on with
    /// [`ApprovalLoop::after_held`].
    Make(Option<Approval>),
    /// Ask a person about this plan, and go on with [`ApprovalLoop::after_answer`].
    Ask(Box<AwaitingApproval>),
    /// Let it wait until a person decides elsewhere. The end.
    LeaveWaiting(Box<AwaitingApproval>),
    /// Refuse it, since a person has denied it: this plan, or one that an earlier call has asked about. The end.
    Deny(Option<Box<AwaitingApproval>>),
}

/// How many questions a call has left.
#[derive(Debug)]
pub(crate) struct ApprovalLoop {
    questions: usize,
}

impl ApprovalLoop {
    /// Begins a call, which may bring an answer along.
    pub(crate) fn begin(earlier: Option<EarlierAnswer>) -> (Self, Step) {
        let fresh = Self { questions: QUESTIONS };
        match earlier.map(|answer| (answer.decision, answer.plan)) {
            None => (fresh, Step::Make(None)),
            Some((Decision::Approve, plan)) => (fresh, Step::Make(Some(Approval::of_person(plan)))),
            Some((Decision::Deny, _)) => (fresh, Step::Deny(None)),
            // They were asked and did not answer: they are not asked again.
            Some((Decision::Undecided, _)) => (Self { questions: 0 }, Step::Make(None)),
        }
    }

    /// Yields what comes after the policy has held an edit. If that was approved, a file or a formatter has made another
    /// plan of it since.
    pub(crate) fn after_held(&mut self, held: Box<AwaitingApproval>) -> Step {
        match self.questions.checked_sub(1) {
            Some(left) => {
                self.questions = left;
                Step::Ask(held)
            }
            None => Step::LeaveWaiting(held),
        }
    }

    /// Yields what comes after a person was asked about this plan.
    pub(crate) fn after_answer(&self, held: Box<AwaitingApproval>, decision: Decision) -> Step {
        match decision {
            Decision::Approve => Step::Make(Some(Approval::of_person(held.digest()))),
            Decision::Deny => Step::Deny(Some(held)),
            Decision::Undecided => Step::LeaveWaiting(held),
        }
    }
}
