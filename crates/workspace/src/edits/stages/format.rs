//! The stage that formats new text, once and before anyone sees it.

use crate::problem::Problem;

use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::hooks::Hooks;

/// A plan whose new text is formatted.
pub(crate) struct FormattedPlan {
    pub(crate) plan: CheckedPlan,
}

impl CheckedPlan {
    /// Formats the new text, unless it is final. Nothing is locked meanwhile.
    pub(crate) fn format(
        mut self,
        hooks: &Hooks,
        context: &EditContext<'_>,
    ) -> Result<FormattedPlan, Problem> {
        if hooks.would_format(&self) {
            let limits = self.context.root.planning_limits();
            hooks.format(&mut self, &limits, context.cancelled)?;
        }
        self.context.is_final = true;
        Ok(FormattedPlan { plan: self })
    }
}
