//! A committed edit as its observers see it: the commit notifies them while its files are still locked.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use emend_edit::plan::{Action, FilePlan};

use crate::files::commit::Job;
use crate::files::history::Origin;
use crate::files::report::Report;
use crate::files::roots::Root;

/// An edit that was just committed. The root is still locked, so observers must leave slow work to another thread and
/// copy what they need.
pub struct CommittedEdit<'a> {
    /// The report of the edit.
    pub report: &'a Report,
    /// The origin of the request.
    pub origin: &'a Origin,
    /// The root of its files.
    pub root: &'a Root,
    pub(crate) jobs: &'a [Job<'a>],
}

/// One file of a committed edit.
#[derive(Clone, Copy)]
pub struct CommittedFile<'a> {
    job: &'a Job<'a>,
}

impl<'a> CommittedEdit<'a> {
    /// Returns each file that the edit changed.
    pub fn files(&self) -> impl Iterator<Item = CommittedFile<'a>> {
        self.jobs.iter().map(|job| CommittedFile { job })
    }
}

impl<'a> CommittedFile<'a> {
    /// Returns the path of the file; for a deleted one, its former path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.job.path.absolute()
    }

    /// Returns the former path of a moved file.
    #[must_use]
    pub fn moved_from(&self) -> Option<PathBuf> {
        let is_moved = matches!(self.job.plan.action, Action::Move { .. });
        self.job.base.filter(|_| is_moved).map(|(path, _)| path.absolute())
    }

    /// Returns what happened to the file.
    #[must_use]
    pub fn plan(&self) -> &'a FilePlan {
        self.job.plan
    }
}

/// A callback for committed edits.
type Observer = Box<dyn Fn(&CommittedEdit<'_>) + Send + Sync>;

/// The observers of committed edits.
#[derive(Default)]
pub(crate) struct Observers(RwLock<Vec<Observer>>);

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers").finish_non_exhaustive()
    }
}

impl Observers {
    /// Adds an observer.
    pub(crate) fn add(&self, observer: impl Fn(&CommittedEdit<'_>) + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
    }

    /// Notifies all observers. A panic of one is logged: the edit has happened anyway.
    pub(crate) fn tell(&self, edit: &CommittedEdit<'_>) {
        for observer in self.0.read().unwrap_or_else(PoisonError::into_inner).iter() {
            if catch_unwind(AssertUnwindSafe(|| observer(edit))).is_err() {
                tracing::error!("what follows an edit failed");
            }
        }
    }
}
