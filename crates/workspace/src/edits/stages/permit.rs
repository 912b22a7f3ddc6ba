//! The last stage before a commit: whether the policy or a person permits the plan.

use super::look_again::CurrentPlan;
use super::source::Refused;
use crate::edits::approval;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::vault_access::{LockedRoot, VaultAccess};
use crate::files::note::Note;

/// A plan that may be committed now.
#[must_use = "a person's yes may have been used up for it"]
pub(crate) struct PermittedPlan<'a> {
    pub(crate) plan: CheckedPlan,
    pub(crate) lock: LockedRoot<'a>,
}

impl<'a> CurrentPlan<'a> {
    /// Checks that the client still wants the edit and that the policy permits it, using up a person's approval if
    /// required.
    pub(crate) fn permit(
        self,
        vaults: &VaultAccess,
        context: &EditContext<'_>,
    ) -> Result<PermittedPlan<'a>, Box<Refused>> {
        let Self { mut plan, lock } = self;
        debug_assert!(lock.covers(&plan), "a plan is committed while its files are locked");
        if let Err(cancelled) = context.check_wanted() {
            return Err(Refused::new(plan, cancelled));
        }
        match approval::permit(vaults.disk(), &plan, context.approval, || vaults.approvals()) {
            Ok(comment) => {
                if !comment.is_empty() {
                    plan.report.notes.push(Note::Approved { comment });
                }
                Ok(PermittedPlan { plan, lock })
            }
            Err(why) => Err(Refused::new(plan, why)),
        }
    }
}
