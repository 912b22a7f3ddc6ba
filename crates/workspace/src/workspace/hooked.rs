//! Edits that hooks concern. Nothing is locked while a hook runs: the edit is planned, hooks run on the plan, and then it is
//! committed under the lock if its files still are what it was planned for. If they are not, all of it begins anew.

use std::sync::{Arc, Mutex};

use emend_edit::problem::{Code, Kind, Problem};

use super::Workspace;
use crate::edits::approval::{self, NotCommitted};
use crate::edits::checked_plan::{CheckedPlan, Preview};
use crate::edits::guard;
use crate::edits::hooks::{Hooks, Turn};
use crate::edits::readings::Readings;
use crate::edits::request::Manner;
use crate::files::effort::{Effort, NotDone, Progress};
use crate::files::lock::Locked;
use crate::files::report::Report;
use crate::files::roots::Root;
use crate::policy::programs::Programs;

/// How often an edit is planned anew because others have changed its files while hooks ran.
const TRIES: usize = 20;

/// An edit that hooks concern: how it is planned anew, and for whom.
pub(super) struct Hooked<'a> {
    pub(super) plan: &'a dyn Fn() -> Result<CheckedPlan, NotCommitted>,
    pub(super) manner: Manner<'a>,
    pub(super) readings: &'a Mutex<Readings>,
}

impl Workspace {
    /// The same workspace, around whose edits these programs run. The error says which pattern is wrong.
    pub fn with_hooks(mut self, programs: &Programs) -> Result<Self, String> {
        self.hooks = Hooks::new(programs, &self.roots)?;
        Ok(self)
    }

    /// Whether hooks are to run before this plan is committed.
    pub(super) fn has_hooks_before(&self, checked: &CheckedPlan) -> bool {
        self.has_formatters(checked) || self.hooks.would_ask(&checked.report)
    }

    /// Whether some of its new text is to be formatted. What takes an edit back restores exactly what was there.
    pub(super) fn has_formatters(&self, checked: &CheckedPlan) -> bool {
        checked.context.undoes.is_none() && self.hooks.would_format(checked)
    }

    /// Has a plan formatted.
    pub(super) fn format(
        &self,
        mut checked: CheckedPlan,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<CheckedPlan, Problem> {
        if self.has_formatters(&checked) {
            let limits = self.limits_of(&checked.context.root);
            self.hooks.format(&mut checked, &limits, cancelled)?;
        }
        Ok(checked)
    }

    /// Makes an edit that hooks concern; `first` is how it is planned by now. The lock is not held.
    pub(super) fn edit_with_hooks(
        &self,
        first: CheckedPlan,
        hooked: &Hooked<'_>,
    ) -> Result<Report, NotCommitted> {
        let root = Arc::clone(&first.context.root);
        let turn = self.turn(&first, hooked.manner.cancelled);
        let mut planned = Some(first).filter(|_| !turn.has_waited);
        for _ in 0..TRIES {
            if (hooked.manner.cancelled)() {
                return Err(Problem::new(Kind::Cancelled).into());
            }
            let checked = match planned.take() {
                Some(checked) => checked,
                None => {
                    // So that what the client has read and what is there belong together.
                    let _locked = self.locked(&root, hooked.manner.effort)?;
                    (hooked.plan)()?
                }
            };
            approval::refuse_unless_allowable(&checked)?;
            let mut checked = self.format(checked, hooked.manner.cancelled)?;
            guard::refuse(&checked)?;
            self.hooks.ask(&mut checked.report, &checked.context, hooked.manner.cancelled)?;
            let _locked = self.locked(&root, hooked.manner.effort)?;
            let checked = match self.is_still(checked, hooked.manner.progress) {
                Ok(checked) => checked,
                Err(problem) if problem.code() == Code::StalePreview => continue,
                Err(problem) => return Err(problem.into()),
            };
            self.permit_unless(hooked.manner.cancelled, &checked, hooked.manner.approval)?;
            return Ok(self.commit(checked, hooked.readings, hooked.manner.progress)?);
        }
        Err(Problem::new(Kind::Overtaken { times: TRIES }).into())
    }

    /// The lock of a root in which nothing is left to be taken up.
    fn locked<'a>(&self, root: &'a Root, effort: Effort) -> Result<Locked<'a>, NotDone> {
        let locked = root.lock(effort.patience(self.patience))?;
        self.vaults.recover(self.disk(), root)?;
        Ok(locked)
    }

    /// Asks the hooks about a kept plan. Yields its report with what came of that.
    pub(super) fn ask_about(
        &self,
        preview: &Preview,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Report, Problem> {
        let mut report = preview.report.clone();
        self.hooks.ask(&mut report, &preview.context, cancelled)?;
        Ok(report)
    }

    /// The turn of this edit among those of the same files.
    fn turn(&self, checked: &CheckedPlan, cancelled: &dyn Fn() -> bool) -> Turn<'_> {
        self.hooks.turns.wait(checked.files.keys().cloned().collect(), self.patience, cancelled)
    }

    /// Under the lock: is every file still what the plan was made for?
    fn is_still(
        &self,
        mut checked: CheckedPlan,
        progress: &dyn Fn(Progress),
    ) -> Result<CheckedPlan, Problem> {
        let metadata_sources = std::mem::take(&mut checked.metadata_sources);
        let again = self.look_again(Preview::of(checked), progress)?;
        Ok(CheckedPlan { metadata_sources, ..again })
    }
}
