//! An edit that was made just now, as its observers see it: the commit tells them while the root is still locked.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use emend_edit::plan::{Action, FilePlan};

use crate::files::commit::Job;
use crate::files::history::Origin;
use crate::files::report::Report;
use crate::files::roots::Root;

/// An edit that was made just now. The root is still locked: what takes long belongs in a thread of its own, with
/// what it needs of this.
pub struct CommittedEdit<'a> {
    /// What was done.
    pub report: &'a Report,
    /// Who asked for it.
    pub origin: &'a Origin,
    /// Where.
    pub root: &'a Root,
    pub(crate) jobs: &'a [Job<'a>],
}

/// One file of it.
#[derive(Clone, Copy)]
pub struct CommittedFile<'a> {
    job: &'a Job<'a>,
}

impl<'a> CommittedEdit<'a> {
    /// Each file that it changed.
    pub fn files(&self) -> impl Iterator<Item = CommittedFile<'a>> {
        self.jobs.iter().map(|job| CommittedFile { job })
    }
}

impl<'a> CommittedFile<'a> {
    /// Where it is now, or was if it is gone.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.job.path.absolute()
    }

    /// Where it was before, if it was moved.
    #[must_use]
    pub fn moved_from(&self) -> Option<PathBuf> {
        let is_moved = matches!(self.job.plan.action, Action::Move { .. });
        self.job.base.filter(|_| is_moved).map(|(path, _)| path.absolute())
    }

    /// What happened to it.
    #[must_use]
    pub fn plan(&self) -> &'a FilePlan {
        self.job.plan
    }
}

/// Is told of an edit.
type Observer = Box<dyn Fn(&CommittedEdit<'_>) + Send + Sync>;

/// Who is told of each edit.
#[derive(Default)]
pub(crate) struct Observers(RwLock<Vec<Observer>>);

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers").finish_non_exhaustive()
    }
}

impl Observers {
    /// From now on this is told as well.
    pub(crate) fn add(&self, observer: impl Fn(&CommittedEdit<'_>) + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
    }

    /// Tells all of them. The edit has happened, whatever becomes of what follows it.
    pub(crate) fn tell(&self, edit: &CommittedEdit<'_>) {
        for observer in self.0.read().unwrap_or_else(PoisonError::into_inner).iter() {
            if catch_unwind(AssertUnwindSafe(|| observer(edit))).is_err() {
                tracing::error!("what follows an edit failed");
            }
        }
    }
}
