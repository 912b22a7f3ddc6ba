//! Edits of the past: what was edited, and taking it back.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use emend_edit::patch::Patch;
use emend_edit::plan;
use emend_edit::problem::{Code, Kind, Problem};

use super::hooked::Hooked;
use super::{Workspace, none, one};
use crate::edits::approval::NotCommitted;
use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::edits::readings::Readings;
use crate::edits::request::Manner;
use crate::files::commit;
use crate::files::history::undo::{Undo, Undoable};
use crate::files::history::{self, Asked, Edited, History, Origin};
use crate::files::report::Report;
use crate::files::roots::Root;
use crate::spans;

impl Workspace {
    /// The newest edits of all roots, the newest first.
    pub fn history(&self, asked: &Asked<'_>, session: &str) -> Result<Vec<Edited>, Problem> {
        let path = asked.path.map(|path| self.name_of(path));
        let asked = Asked { path: path.as_deref(), limit: asked.limit };
        let mut edits = Vec::new();
        for history in self.vaults.histories(&self.roots)? {
            edits.extend(history.edits(&asked, session));
        }
        // Those of one root are in the order in which they were made, which stays among equal times.
        if self.roots.all().len() > 1 {
            edits.sort_by_key(|edit| Reverse(edit.time));
        }
        edits.truncate(asked.limit);
        Ok(edits)
    }

    /// One edit.
    pub fn edited(&self, id: &str, session: &str) -> Result<Edited, Problem> {
        let histories = self.vaults.histories(&self.roots)?;
        let found = histories.iter().find_map(|history| history.edit(id, session));
        found.ok_or_else(|| history::unknown(Some(id), recent(&histories, session)))
    }

    /// Whether edits of any root are remembered.
    #[must_use]
    pub fn tracks_history(&self) -> bool {
        self.roots.all().iter().any(|root| root.policy.terms().track_history)
    }

    /// One diff over all edits of a session, or all of those of a file, and the files of which it cannot be made
    /// any more.
    pub fn net(&self, path: Option<&str>, session: &str) -> Result<(String, Vec<String>), Problem> {
        let path = path.map(|path| self.name_of(path));
        let mut net = (String::new(), Vec::new());
        for history in self.vaults.histories(&self.roots)? {
            let (diff, unknown) = history.net(&self.roots, path.as_deref(), session);
            net.0.push_str(&diff);
            net.1.extend(unknown);
        }
        Ok(net)
    }

    /// Takes an edit back, all of its files in one commit. Whether the client has given up meanwhile is asked until that
    /// begins.
    pub fn undo(
        &self,
        undo: &Undo<'_>,
        origin: &Origin,
        manner: Manner<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Report, NotCommitted> {
        let path = undo.path.map(|path| self.name_of(path));
        let undo = Undo { edit: undo.edit, path: path.as_deref() };
        let session = &origin.session;
        let (root, id) = {
            let mut histories = self.vaults.histories(&self.roots)?;
            // Where nothing is written down, what is there is of another time, and the undo itself would not be known.
            histories.retain(|history| history.root().policy.terms().track_history);
            if histories.is_empty() && !self.tracks_history() {
                return Err(Problem::new(Kind::NoHistory).into());
            }
            let chosen = histories
                .iter()
                .filter_map(|history| Some((history, history.choose(&self.roots, &undo, session)?)));
            let newest = chosen.max_by_key(|(_, id)| id.to_owned());
            let Some((history, id)) = newest else {
                return Err(history::unknown(undo.edit, recent(&histories, session)).into());
            };
            (Arc::clone(history.root()), id.to_owned())
        };
        let locked = root.lock(manner.effort.patience(self.patience))?;
        self.vaults.recover(self.disk(), &root)?;
        let checked = self.prepare_undo(&root, &id, origin)?;
        if self.has_hooks_before(&checked) {
            drop(locked);
            let plan = || self.prepare_undo(&root, &id, origin);
            return self.edit_with_hooks(checked, &Hooked { plan: &plan, manner, readings });
        }
        self.permit_unless(manner.cancelled, &checked, manner.approval)?;
        Ok(self.commit(checked, readings, manner.progress)?)
    }

    /// Shows what taking this edit back would do.
    pub fn preview_undo(&self, id: &str, origin: &Origin) -> Result<Report, Vec<Problem>> {
        let histories = self.vaults.histories(&self.roots).map_err(one)?;
        let history = histories.iter().find(|history| history.edit(id, &origin.session).is_some());
        let Some(history) = history else {
            return Err(one(history::unknown(Some(id), recent(&histories, &origin.session))));
        };
        Ok(self.prepare_undo(history.root(), id, origin)?.report)
    }

    /// Whether the files of this edit are what they were before it, by whatever means they came to be that.
    #[must_use]
    pub fn is_back(&self, id: &str) -> bool {
        let histories = self.vaults.histories(&self.roots).unwrap_or_default();
        histories.iter().any(|history| history.is_back(&self.roots, id))
    }

    /// Says of files that are not what was read which edit did that, where it is among the newest.
    pub(super) fn say_who(&self, patch: &Patch, problems: &mut [Problem]) {
        let is_stale = |problem: &Problem| problem.code() == Code::StaleFile;
        if !problems.iter().any(is_stale) {
            return;
        }
        let root = self.root_of(patch).ok();
        let Some(history) = root.and_then(|root| self.vaults.end_of_history(&self.roots, &root)) else {
            return;
        };
        for problem in problems {
            if let (Kind::StaleFile { current, by, .. }, Some(name)) = (&mut *problem.kind, &problem.path) {
                *by = history.made_by(name, current.as_ref());
            }
        }
    }

    /// From an edit of the past to a plan that takes it back.
    fn prepare_undo(&self, root: &Arc<Root>, id: &str, origin: &Origin) -> Result<CheckedPlan, Vec<Problem>> {
        let history = self.vaults.history(&self.roots, root).map_err(one)?;
        let history = history.ok_or_else(|| one(history::unknown(Some(id), Vec::new())))?;
        let by = history.by_another(id, &origin.session);
        let Undoable { back, files, metadata_sources, .. } =
            history.undoable(&self.roots, id, &origin.session)?;
        let plan = spans::plan(|| back.len()).in_scope(|| plan::back(back));
        let context = PlanContext {
            root: Arc::clone(root),
            whole: Vec::new(),
            merged: Vec::new(),
            mtime_check_passed: None,
            origin: origin.clone(),
            undoes: Some(id.to_owned()),
        };
        let mut report = Report::of(&plan, None);
        let by = by.map(|by| format!(" ({by})")).unwrap_or_default();
        report.notes.push(format!("This takes back edit {id}{by}; to have it again, undo this one"));
        let checked =
            CheckedPlan { plan, files, metadata_sources, mounted: BTreeSet::new(), context, report };
        none(commit::special_files(self.disk(), &checked.jobs()))?;
        Ok(checked)
    }
}

fn recent(histories: &[History<'_>], session: &str) -> Vec<String> {
    histories.iter().flat_map(|history| history.recent(session)).collect()
}
