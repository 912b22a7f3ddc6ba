//! The files of all roots in their current state: reading, listing and searching them, and taking fingerprints that
//! later show whether they have changed.

use std::slice::from_ref;

use crate::problem::{EditKind, Problem};

use crate::disk::Stat;
use crate::files::catalogue::{self, After, Child, Listed};
use crate::files::effort::{Effort, NotDone};
use crate::files::fingerprint::{self, Fingerprint};
use crate::files::list::{self, Listing};
use crate::files::meant;
use crate::files::roots::{Roots, WorkspacePath};
use crate::files::search::{self, FoundPlaces, Query, Replacement, SearchResults, places};
use crate::files::snapshot::{self, Snapshot};
use crate::files::walk::WalkScope;

/// The files of a workspace, for reading only.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    roots: &'a Roots,
}

impl<'a> Files<'a> {
    pub(super) fn new(roots: &'a Roots) -> Self {
        Self { roots }
    }

    /// Reads a file and returns its name with its content.
    pub fn read(self, written: &str) -> Result<(String, Snapshot), Problem> {
        self.find_and(written, |path| snapshot::read(&**self.roots.disk(), path))
            .map_err(|problem| self.name_meant(problem, meant::Meaning::File, &|| false))
    }

    /// Reads a file, if that takes no more than this effort.
    pub fn read_within(self, written: &str, effort: Effort) -> Result<(String, Snapshot), NotDone> {
        let read = |path: &WorkspacePath| snapshot::read_within(&**self.roots.disk(), path, effort, None);
        self.find_and(written, read).map_err(|why| match why {
            NotDone::NotQuick => NotDone::NotQuick,
            NotDone::Refused(problem)
                if effort == Effort::Quick && meant::has_lost_paths(self.roots, from_ref(&problem)) =>
            {
                NotDone::NotQuick
            }
            NotDone::Refused(problem) => self.name_meant(problem, meant::Meaning::File, &|| false).into(),
        })
    }

    /// Finds a file and reads it with this function.
    fn find_and<E: From<Problem>>(
        self,
        written: &str,
        read: impl FnOnce(&WorkspacePath) -> Result<Option<Snapshot>, E>,
    ) -> Result<(String, Snapshot), E> {
        let path = self.roots.admit(written)?;
        let missing = || Problem::new(EditKind::MissingOriginal).at(&path.name);
        let snapshot = read(&path)?.ok_or_else(missing)?;
        Ok((path.name, snapshot))
    }

    /// Lists the files in the scope down to this depth; without one, as deep as fits.
    pub fn list(self, scope: &WalkScope<'_>, depth: Option<usize>) -> Result<Listing, Problem> {
        list::list(self.roots, scope, depth, &list::ListLimits::default())
            .map_err(|problem| self.name_meant(problem, meant::Meaning::Any, scope.cancelled))
    }

    /// Searches the files in the scope for lines that match.
    pub fn search(self, scope: &WalkScope<'_>, query: &Query<'_>) -> Result<SearchResults, Problem> {
        search::search(self.roots, scope, query, &search::SearchLimits::default())
            .map_err(|problem| self.name_meant(problem, meant::Meaning::Any, scope.cancelled))
    }

    /// Finds the places of a replacement in the files of the scope.
    pub fn places(
        self,
        scope: &WalkScope<'_>,
        replacement: &Replacement<'_>,
    ) -> Result<FoundPlaces, Problem> {
        places::find(self.roots, scope, replacement, &places::PlaceLimits::default())
            .map_err(|problem| self.name_meant(problem, meant::Meaning::Any, scope.cancelled))
    }

    /// Returns up to `limit` files of all roots that come after this one, and whether there are more.
    pub fn page(
        self,
        after: Option<After<'_>>,
        limit: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Vec<Listed>, bool), Problem> {
        catalogue::page(self.roots, after, limit, cancelled)
    }

    /// Returns the direct children of a folder, by name.
    pub fn children(self, folder: &str) -> Result<Vec<Child>, Problem> {
        catalogue::children(self.roots, folder)
    }

    /// Returns the fingerprint of a file, which later shows whether it has changed.
    #[must_use]
    pub fn fingerprint(self, written: &str) -> Fingerprint {
        fingerprint::read(self.roots, written)
    }

    /// Returns the metadata of a file: a cheap check that counts the file as unchanged if the metadata is. `None` for a
    /// file that is missing or that the policy hides.
    #[must_use]
    pub fn stat(self, written: &str) -> Option<Stat> {
        fingerprint::stat(self.roots, written)
    }

    /// Adds suggestions to the problem of a path that leads nowhere.
    fn name_meant(self, problem: Problem, wanted: meant::Meaning, cancelled: &dyn Fn() -> bool) -> Problem {
        meant::name_meant(self.roots, vec![problem], wanted, cancelled).remove(0)
    }
}
