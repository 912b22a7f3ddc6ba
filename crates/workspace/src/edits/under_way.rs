//! Which commits of this process are under way, for who wants to wait until those of this moment are over, or until there
//! will never be another.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    /// Whether none begins any more.
    is_over: bool,
}

/// A commit that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    all: &'a UnderWay,
    number: u64,
}

impl UnderWay {
    /// Begins one, unless that is over.
    pub(crate) fn begin(&self) -> Option<Running<'_>> {
        let mut commits = self.locked();
        if commits.is_over {
            return None;
        }
        commits.last += 1;
        let number = commits.last;
        commits.running.insert(number);
        Some(Running { all: self, number })
    }

    /// From now on none begins. Waits for those that run, no longer than this; yields whether all of them are over.
    pub(crate) fn end(&self, patience: Duration) -> bool {
        let mut commits = self.locked();
        commits.is_over = true;
        let run = |commits: &mut Commits| !commits.running.is_empty();
        let waited = self.over.wait_timeout_while(commits, patience, run);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_what_runs_and_lets_nothing_begin() {
        let all = UnderWay::default();
        let running = all.begin().unwrap();
        assert!(!all.end(Duration::ZERO));
        assert!(all.begin().is_none());
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| all.end(Duration::MAX));
            drop(running);
            assert!(ended.join().unwrap());
        });
        assert!(all.begin().is_none());
    }
}
