//! From a past edit to a plan that undoes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use emend_edit::plan;

use super::source::PlanSource;
use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::edits::vault_access::{LockedRoot, VaultAccess};
use crate::files::commit;
use crate::files::effort::NotDone;
use crate::files::history::undo::Undoable;
use crate::files::history::{self, Origin};
use crate::files::note::Note;
use crate::files::report::Report;
use crate::files::roots::{Root, Roots};
use crate::problem::Problem;
use crate::spans;

/// An undo as the source of an edit. Its plan restores the exact former content, so no formatter may change it.
#[derive(Clone, Copy)]
pub(crate) struct UndoSource<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) vaults: &'a VaultAccess,
    pub(crate) root: &'a Arc<Root>,
    /// The id of the edit to undo.
    pub(crate) id: &'a str,
    /// The origin of the undo.
    pub(crate) origin: &'a Origin,
}

impl PlanSource for UndoSource<'_> {
    fn root(&self) -> &Arc<Root> {
        self.root
    }

    fn plan(&mut self, _under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
        Ok(self.plan_undo()?)
    }
}

impl UndoSource<'_> {
    /// Plans the undo for the current files.
    pub(crate) fn plan_undo(&self) -> Result<CheckedPlan, Vec<Problem>> {
        let Self { roots, vaults, root, id, origin } = *self;
        let history = vaults.history(roots, root).map_err(one)?;
        let history = history.ok_or_else(|| one(history::unknown(Some(id), Vec::new())))?;
        let by = history.by_another(id, &origin.session);
        let undoable = history.undoable(roots, id, &origin.session)?;
        let Undoable { back, files, metadata_sources, merged, .. } = undoable;
        let plan = spans::plan(|| back.len()).in_scope(|| plan::undo(back));
        let mut report = Report::from_plan(&plan, None);
        report.notes.push(Note::TakesBack { edit: id.to_owned(), by });
        let names = merged.iter().map(|(name, _)| name.clone()).collect();
        report.notes.extend(merged.into_iter().map(|(file, diff)| Note::StaysChanged { file, diff }));
        let context = PlanContext {
            by_hand: std::collections::BTreeSet::new(),
            root: Arc::clone(root),
            whole: Vec::new(),
            merged: names,
            mtime_check_passed: None,
            origin: origin.clone(),
            undoes: Some(id.to_owned()),
            is_final: true,
        };
        let checked =
            CheckedPlan { plan, files, metadata_sources, mounted: BTreeSet::new(), context, report };
        let special = commit::special_files(&**roots.disk(), &checked.jobs());
        if special.is_empty() { Ok(checked) } else { Err(special) }
    }
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}
