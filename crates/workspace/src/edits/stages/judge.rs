//! A plan that breaks a file is refused, if the policy wants that.

use super::format::FormattedPlan;
use super::source::Refused;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::guard;
use crate::edits::preview::Preview;

/// A plan that the syntax guard has nothing against.
pub(crate) struct JudgedPlan {
    pub(crate) plan: CheckedPlan,
}

impl FormattedPlan {
    /// Has the syntax guard refuse a plan that breaks a file.
    pub(crate) fn judge(self) -> Result<JudgedPlan, Box<Refused>> {
        match guard::refuse(&self.plan) {
            Ok(()) => Ok(JudgedPlan { plan: self.plan }),
            Err(problems) => Err(Refused::new(self.plan, problems)),
        }
    }

    /// Keeps the plan, with a warning of what it would break.
    pub(crate) fn keep(mut self) -> Preview {
        guard::warn(&mut self.plan);
        Preview::of(self.plan)
    }
}
