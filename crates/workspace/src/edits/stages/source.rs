//! Where an edit begins: what it is planned from, as often as that is needed.

use std::sync::Arc;

use crate::problem::Problem;

use crate::edits::approval::NotCommitted;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::vault_access::LockedRoot;
use crate::files::effort::NotDone;
use crate::files::roots::Root;

/// What an edit is planned from.
pub(crate) trait PlanSource {
    /// The root of all of its files.
    fn root(&self) -> &Arc<Root>;

    /// Plans the edit for the files as they are under this lock.
    fn plan(&mut self, under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>>;

    /// Refuses to have the edit planned anew, now that its files have moved on, where nothing but the first plan will do.
    fn check_replanning(&self, _moved: Problem) -> Result<(), Problem> {
        Ok(())
    }

    /// Takes back a plan that is not committed, or not yet.
    fn take_back(&mut self, _plan: CheckedPlan) {}

    /// Takes back a plan that was refused, and says why it was.
    fn give_up(&mut self, refused: Box<Refused>) -> NotCommitted {
        self.take_back(refused.plan);
        refused.why
    }
}

/// A plan that was refused on its way to the commit, and why.
pub(crate) struct Refused {
    pub(crate) plan: CheckedPlan,
    pub(crate) why: NotCommitted,
}

impl Refused {
    pub(crate) fn new(plan: CheckedPlan, why: impl Into<NotCommitted>) -> Box<Self> {
        Box::new(Self { plan, why: why.into() })
    }
}
