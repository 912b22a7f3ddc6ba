//! Which commits of this process are under way, for who wants to wait until those of this moment are over.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    commits: Mutex<Commits>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Commits {
    last: u64,
    running: BTreeSet<u64>,
}

/// A commit that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    all: &'a UnderWay,
    number: u64,
}

impl UnderWay {
    pub(crate) fn begin(&self) -> Running<'_> {
        let mut commits = self.locked();
        commits.last += 1;
        let number = commits.last;
        commits.running.insert(number);
        Running { all: self, number }
    }

    /// Waits for those that run now, and not for those that begin meanwhile.
    pub(crate) fn settle(&self) {
        let mut commits = self.locked();
        let last = commits.last;
        while commits.running.first().is_some_and(|oldest| *oldest <= last) {
            commits = self.over.wait(commits).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.all.locked().running.remove(&self.number);
        self.all.over.notify_all();
    }
}
