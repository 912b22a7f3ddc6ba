//! The stage that asks the user's hooks whether the edit may be made.

use super::judge::JudgedPlan;
use super::source::Refused;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::hooks::Hooks;

/// A plan that no hook has refused.
pub(crate) struct HookedPlan {
    pub(crate) plan: CheckedPlan,
}

impl JudgedPlan {
    /// Asks every hook that the edit concerns. Nothing is locked meanwhile.
    pub(crate) fn run_hooks(
        mut self,
        hooks: &Hooks,
        context: &EditContext<'_>,
    ) -> Result<HookedPlan, Box<Refused>> {
        let CheckedPlan { report, context: about, .. } = &mut self.plan;
        match hooks.ask(report, about, context.cancelled) {
            Ok(()) => Ok(HookedPlan { plan: self.plan }),
            Err(problem) => Err(Refused::new(self.plan, problem)),
        }
    }
}
