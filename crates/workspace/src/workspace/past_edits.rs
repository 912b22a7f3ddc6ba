//! The past edits of a workspace: listing them, their net diff, and a preview of undoing one.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use crate::problem::{Kind, Problem};

use crate::edits::stages::plan_undo::UndoSource;
use crate::edits::vault_access::VaultAccess;
use crate::files::history::undo::Undo;
use crate::files::history::{self, Edited, History, HistoryQuery, Origin};
use crate::files::report::{FileReport, Report};
use crate::files::roots::{Root, Roots};

/// The edits that any process made in a workspace.
#[derive(Clone, Copy, Debug)]
pub struct PastEdits<'a> {
    roots: &'a Roots,
    vaults: &'a VaultAccess,
}

impl<'a> PastEdits<'a> {
    pub(crate) fn new(roots: &'a Roots, vaults: &'a VaultAccess) -> Self {
        Self { roots, vaults }
    }

    /// Returns whether any root keeps a history.
    #[must_use]
    pub fn are_tracked(self) -> bool {
        self.roots.any(|terms| terms.track_history)
    }

    /// Returns the history files of the roots, as far as they exist.
    #[must_use]
    pub fn logs(self) -> Vec<PathBuf> {
        self.vaults.logs(self.roots)
    }

    /// Returns the newest edits of all roots, the newest first.
    pub fn newest(self, asked: &HistoryQuery<'_>, session: &str) -> Result<Vec<Edited>, Problem> {
        let path = asked.path.map(|path| self.name_of(path));
        let asked = HistoryQuery { path: path.as_deref(), limit: asked.limit };
        let mut edits = Vec::new();
        for history in self.vaults.histories(self.roots)? {
            edits.extend(history.edits(&asked, session));
        }
        // Edits of one root come in the order in which they were made, and the stable sort keeps it for equal times.
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
        found.ok_or_else(|| history::unknown(Some(id), recent(&histories, None, session)))
    }

    /// Returns what all edits of a session, or those of one file, have made of each file, and the files of which that is not
    /// known any more.
    pub fn net(self, path: Option<&str>, session: &str) -> Result<(Vec<FileReport>, Vec<String>), Problem> {
        let path = path.map(|path| self.name_of(path));
        let mut net = (Vec::new(), Vec::new());
        for history in self.vaults.histories(self.roots)? {
            let (changed, unknown) = history.net(self.roots, path.as_deref(), session);
            net.0.extend(changed);
            net.1.extend(unknown);
        }
        Ok(net)
    }

    /// Finds the edit to undo, and its root.
    pub(crate) fn choose(self, undo: &Undo<'_>, session: &str) -> Result<(Arc<Root>, String), Problem> {
        let path = undo.path.map(|path| self.name_of(path));
        let undo = Undo { edit: undo.edit, path: path.as_deref() };
        let mut histories = self.vaults.histories(self.roots)?;
        // Without tracking, the existing history is of an earlier time, and the undo itself would not be recorded.
        histories.retain(|history| history.root().policy.terms().track_history);
        if histories.is_empty() && !self.are_tracked() {
            return Err(Problem::new(Kind::NoHistory));
        }
        let chosen = histories
            .iter()
            .filter_map(|history| Some((history, history.choose(self.roots, &undo, session)?)));
        match chosen.max_by_key(|(_, id)| id.to_owned()) {
            Some((history, id)) => Ok((Arc::clone(history.root()), id.to_owned())),
            None => {
                let recent = recent(&histories, undo.path, session);
                Err(Problem::new(Kind::UnknownEdit { edit: undo.edit.map(str::to_owned), path, recent }))
            }
        }
    }

    /// Returns what undoing this edit would do.
    pub fn preview_undo(self, id: &str, origin: &Origin) -> Result<Report, Vec<Problem>> {
        let histories = self.vaults.histories(self.roots).map_err(|problem| vec![problem])?;
        let history = histories.iter().find(|history| history.edit(id, &origin.session).is_some());
        let Some(history) = history else {
            return Err(vec![history::unknown(Some(id), recent(&histories, None, &origin.session))]);
        };
        let source = UndoSource { roots: self.roots, vaults: self.vaults, root: history.root(), id, origin };
        Ok(source.plan_undo()?.report)
    }

    /// Returns whether the files of this edit are what they were before it, by whatever means.
    #[must_use]
    pub fn is_back(self, id: &str) -> bool {
        let histories = self.vaults.histories(self.roots).unwrap_or_default();
        histories.iter().any(|history| history.is_back(self.roots, id))
    }

    /// Returns the name of a file from its path as written.
    fn name_of(self, written: &str) -> String {
        self.roots.admit(written).map_or_else(|_| written.to_owned(), |path| path.name)
    }
}

fn recent(histories: &[History<'_>], path: Option<&str>, session: &str) -> Vec<String> {
    histories.iter().flat_map(|history| history.recent(path, session)).collect()
}
