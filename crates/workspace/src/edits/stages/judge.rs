//! The stage that refuses a plan that breaks a file, if the policy says so.

use super::format::FormattedPlan;
use super::source::Refused;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::preview::Preview;
use crate::edits::syntax_guard;

/// A plan to which the syntax guard has no objection.
pub(crate) struct JudgedPlan {
    pub(crate) plan: CheckedPlan,
}

impl FormattedPlan {
    /// Refuses a plan that breaks a file, if the policy says so.
    pub(crate) fn judge(self) -> Result<JudgedPlan, Box<Refused>> {
        match syntax_guard::refuse(&self.plan) {
            Ok(()) => Ok(JudgedPlan { plan: self.plan }),
            Err(problems) => Err(Refused::new(self.plan, problems)),
        }
    }

    /// Keeps the plan as a preview, with a warning of what it would break.
    pub(crate) fn keep(mut self) -> Preview {
        syntax_guard::warn(&mut self.plan);
        Preview::of(self.plan)
    }
}
