//! The running commits of this process, so that others can wait until the current ones are done, or stop new ones.

use std::collections::BTreeSet;
use std::time::Duration;

use emend_threads::{Condvar, Mutex};

/// The commits that this process is writing right now.
#[derive(Debug, Default)]
pub struct RunningCommits {
    commits: Mutex<Commits>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Commits {
    last: u64,
    running: BTreeSet<u64>,
    /// Whether new commits are refused.
    is_over: bool,
}

/// A commit that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    all: &'a RunningCommits,
    number: u64,
}

impl RunningCommits {
    /// Begins a commit, unless new ones are refused.
    pub(crate) fn begin(&self) -> Option<Running<'_>> {
        let mut commits = self.commits.lock();
        if commits.is_over {
            return None;
        }
        commits.last += 1;
        let number = commits.last;
        commits.running.insert(number);
        Some(Running { all: self, number })
    }

    /// Refuses new commits, and waits at most `patience` until the running ones are done and their observers notified.
    /// Returns whether all are.
    pub fn end(&self, patience: Duration) -> bool {
        let mut commits = self.commits.lock();
        commits.is_over = true;
        let run = |commits: &mut Commits| !commits.running.is_empty();
        !self.over.wait_timeout_while(commits, patience, run).1
    }

    /// Waits until the commits running now are done and their observers notified, but not for later ones.
    pub fn settle(&self) {
        let mut commits = self.commits.lock();
        let last = commits.last;
        while commits.running.first().is_some_and(|oldest| *oldest <= last) {
            commits = self.over.wait(commits);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.all.commits.lock().running.remove(&self.number);
        self.all.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_what_runs_and_lets_nothing_begin() {
        let all = RunningCommits::default();
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
