//! Which commits of this process are running, for those who wait until the ones of this moment are over, or until there will
//! never be another.

use std::collections::BTreeSet;
use std::time::Duration;

use emend_threads::{Condvar, Mutex};

/// The commits of a process that are being written right now.
#[derive(Debug, Default)]
pub struct RunningCommits {
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

/// A commit that is running until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    all: &'a RunningCommits,
    number: u64,
}

impl RunningCommits {
    /// Begins one, unless that is over.
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

    /// Waits until the edits that this process is writing are made and their observers told, no longer than this; no other
    /// begins any more. Returns whether all of them are.
    pub fn end(&self, patience: Duration) -> bool {
        let mut commits = self.commits.lock();
        commits.is_over = true;
        let run = |commits: &mut Commits| !commits.running.is_empty();
        !self.over.wait_timeout_while(commits, patience, run).1
    }

    /// Waits until the edits that this process is writing at this moment are made and their observers told, and not for
    /// those that begin meanwhile.
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
