//! The source of an edit: where its plan comes from, as often as it is needed.

use std::sync::Arc;

use crate::problem::Problem;

use crate::edits::approval::NotCommitted;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::vault_access::{LockedRoot, Reach};
use crate::files::effort::NotDone;
use crate::files::roots::Root;

/// The source of an edit's plans.
pub(crate) trait PlanSource {
    /// Returns the root of all of its files.
    fn root(&self) -> &Arc<Root>;

    /// Returns what has to be locked for the edit, as far as that is known without a plan.
    fn reach(&self) -> Reach {
        Reach::Whole
    }

    /// Plans the edit for the current files under this lock.
    fn plan(&mut self, under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>>;

    /// Refuses to plan the edit again after its files have changed, if only the first plan is acceptable.
    fn check_replanning(&self, _moved: Problem) -> Result<(), Problem> {
        Ok(())
    }

    /// Returns a plan that was not committed to its source.
    fn take_back(&mut self, _plan: CheckedPlan) {}

    /// Returns a refused plan to its source, and converts the reason.
    fn give_up(&mut self, refused: Box<Refused>) -> NotCommitted {
        self.take_back(refused.plan);
        refused.why
    }
}

/// A plan that was refused on its way to the commit, and the reason.
pub(crate) struct Refused {
    pub(crate) plan: CheckedPlan,
    pub(crate) why: NotCommitted,
}

impl Refused {
    pub(crate) fn new(plan: CheckedPlan, why: impl Into<NotCommitted>) -> Box<Self> {
        Box::new(Self { plan, why: why.into() })
    }
}
