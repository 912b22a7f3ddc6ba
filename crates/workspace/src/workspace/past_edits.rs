//! The edits that were made in a workspace: which there are, what they come to, and what taking one back would do.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use emend_edit::plan;
use emend_edit::problem::{Code, Kind, Problem};

use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::edits::vault_access::VaultAccess;
use crate::files::commit;
use crate::files::history::undo::{Undo, Undoable};
use crate::files::history::{self, Asked, Edited, History, Origin};
use crate::files::report::Report;
use crate::files::roots::{Root, Roots};
use crate::spans;

/// The edits that were made in a workspace, by any process.
#[derive(Clone, Copy, Debug)]
pub struct PastEdits<'a> {
    roots: &'a Roots,
    vaults: &'a VaultAccess,
}

impl<'a> PastEdits<'a> {
    pub(crate) fn new(roots: &'a Roots, vaults: &'a VaultAccess) -> Self {
        Self { roots, vaults }
    }

    /// Whether edits of any root are remembered.
    #[must_use]
    pub fn are_tracked(self) -> bool {
        self.roots.any(|terms| terms.track_history)
    }

    /// The files in which the edits of each root are written down, as far as there is such a file yet.
    #[must_use]
    pub fn logs(self) -> Vec<PathBuf> {
        self.vaults.logs(self.roots)
    }

    /// Returns the newest edits of all roots, the newest first.
    pub fn newest(self, asked: &Asked<'_>, session: &str) -> Result<Vec<Edited>, Problem> {
        let path = asked.path.map(|path| self.name_of(path));
        let asked = Asked { path: path.as_deref(), limit: asked.limit };
        let mut edits = Vec::new();
        for history in self.vaults.histories(self.roots)? {
            edits.extend(history.edits(&asked, session));
        }
        // Those of one root are in the order in which they were made, which stays among equal times.
        if self.roots.all().len() > 1 {
            edits.sort_by_key(|edit| Reverse(edit.time));
        }
        edits.truncate(asked.limit);
        Ok(edits)
    }

    /// Returns the edit with this id.
    pub fn find(self, id: &str, session: &str) -> Result<Edited, Problem> {
        let histories = self.vaults.histories(self.roots)?;
        let found = histories.iter().find_map(|history| history.edit(id, session));
        found.ok_or_else(|| history::unknown(Some(id), recent(&histories, session)))
    }

    /// One diff over all edits of a session, or all of those of a file, and the files of which it cannot be made
    /// any more.
    pub fn net(self, path: Option<&str>, session: &str) -> Result<(String, Vec<String>), Problem> {
        let path = path.map(|path| self.name_of(path));
        let mut net = (String::new(), Vec::new());
        for history in self.vaults.histories(self.roots)? {
            let (diff, unknown) = history.net(self.roots, path.as_deref(), session);
            net.0.push_str(&diff);
            net.1.extend(unknown);
        }
        Ok(net)
    }

    /// Finds the edit that is to be taken back, and its root.
    pub(crate) fn choose(self, undo: &Undo<'_>, session: &str) -> Result<(Arc<Root>, String), Problem> {
        let path = undo.path.map(|path| self.name_of(path));
        let undo = Undo { edit: undo.edit, path: path.as_deref() };
        let mut histories = self.vaults.histories(self.roots)?;
        // Where nothing is written down, what is there is of another time, and the undo itself would not be known.
        histories.retain(|history| history.root().policy.terms().track_history);
        if histories.is_empty() && !self.are_tracked() {
            return Err(Problem::new(Kind::NoHistory));
        }
        let chosen = histories
            .iter()
            .filter_map(|history| Some((history, history.choose(self.roots, &undo, session)?)));
        match chosen.max_by_key(|(_, id)| id.to_owned()) {
            Some((history, id)) => Ok((Arc::clone(history.root()), id.to_owned())),
            None => Err(history::unknown(undo.edit, recent(&histories, session))),
        }
    }

    /// Returns what taking this edit back would do.
    pub fn preview_undo(self, id: &str, origin: &Origin) -> Result<Report, Vec<Problem>> {
        let histories = self.vaults.histories(self.roots).map_err(|problem| vec![problem])?;
        let history = histories.iter().find(|history| history.edit(id, &origin.session).is_some());
        let Some(history) = history else {
            return Err(vec![history::unknown(Some(id), recent(&histories, &origin.session))]);
        };
        Ok(self.plan_undo(history.root(), id, origin)?.report)
    }

    /// Whether the files of this edit are what they were before it, by whatever means they came to be that.
    #[must_use]
    pub fn is_back(self, id: &str) -> bool {
        let histories = self.vaults.histories(self.roots).unwrap_or_default();
        histories.iter().any(|history| history.is_back(self.roots, id))
    }

    /// Says of files that are not what was read which edit did that, where it is among the newest of their root.
    pub(crate) fn say_who(self, root: &Arc<Root>, problems: &mut [Problem]) {
        let is_stale = |problem: &Problem| problem.code() == Code::StaleFile;
        if !problems.iter().any(is_stale) {
            return;
        }
        let Some(history) = self.vaults.end_of_history(self.roots, root) else { return };
        for problem in problems {
            if let (Kind::StaleFile { current, by, .. }, Some(name)) = (&mut *problem.kind, &problem.path) {
                *by = history.made_by(name, current.as_ref());
            }
        }
    }

    /// Makes the plan that takes an edit back.
    pub(crate) fn plan_undo(
        self,
        root: &Arc<Root>,
        id: &str,
        origin: &Origin,
    ) -> Result<CheckedPlan, Vec<Problem>> {
        let history = self.vaults.history(self.roots, root).map_err(|problem| vec![problem])?;
        let history = history.ok_or_else(|| vec![history::unknown(Some(id), Vec::new())])?;
        let by = history.by_another(id, &origin.session);
        let Undoable { back, files, metadata_sources, .. } =
            history.undoable(self.roots, id, &origin.session)?;
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
        let special = commit::special_files(&**self.roots.disk(), &checked.jobs());
        if special.is_empty() { Ok(checked) } else { Err(special) }
    }

    /// What a written path is called.
    fn name_of(self, written: &str) -> String {
        self.roots.admit(written).map_or_else(|_| written.to_owned(), |path| path.name)
    }
}

fn recent(histories: &[History<'_>], session: &str) -> Vec<String> {
    histories.iter().flat_map(|history| history.recent(session)).collect()
}
