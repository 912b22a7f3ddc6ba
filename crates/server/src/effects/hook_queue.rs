//! The queue of hooks that run after edits, one after the other. Only the end of the process waits for them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use emend_threads::Background;

/// The time that a hook which was given up may take to end.
const END_PATIENCE: Duration = Duration::from_secs(2);
/// The number of runs that may wait; further ones are left out.
const WAITING: usize = 100;

/// A job that runs the hooks of one edit, and asks now and then whether it is given up.
type Run = Box<dyn FnOnce(&dyn Fn() -> bool) + Send>;

/// The hooks that wait to be run.
pub(super) struct HookQueue {
    background: Background<VecDeque<Run>>,
    is_given_up: Arc<AtomicBool>,
}

impl Default for HookQueue {
    fn default() -> Self {
        let is_given_up = Arc::<AtomicBool>::default();
        let asked = Arc::clone(&is_given_up);
        let work = move |run: Run| run(&|| asked.load(Ordering::Acquire));
        Self { background: Background::new("hooks", VecDeque::new(), work), is_given_up }
    }
}

impl HookQueue {
    /// Queues a run behind those that wait. Returns whether there was room for it.
    pub(super) fn push(&self, run: impl FnOnce(&dyn Fn() -> bool) + Send + 'static) -> bool {
        let pushed = self.background.push(|waiting| {
            let has_room = waiting.len() < WAITING;
            if has_room {
                waiting.push_back(Box::new(run));
            }
            has_room
        });
        pushed == Some(true)
    }

    /// Waits until all runs are done, but no longer than `patience`; then gives up the rest.
    pub(super) fn finish(&self, patience: Duration) {
        self.background.wait(patience);
        self.give_up();
        self.background.wait(END_PATIENCE);
    }

    /// Gives up the current run, and drops those that wait.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Release);
        self.background.with_waiting(VecDeque::clear);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn who_hangs_is_not_waited_for_and_what_piles_up_is_left_out() {
        let queue = HookQueue::default();
        let (begun, has_begun) = mpsc::channel();
        queue.push(move |is_given_up| {
            let _ = begun.send(());
            while !is_given_up() {
                thread::yield_now();
            }
        });
        has_begun.recv_timeout(Duration::from_secs(60)).unwrap();
        let taken = (0..2 * WAITING).filter(|_| queue.push(|_| panic!("it is not begun"))).count();
        assert_eq!(taken, WAITING);
        queue.finish(Duration::from_millis(1));
        assert!(queue.background.wait(Duration::ZERO));
        queue.background.with_waiting(|waiting| assert!(waiting.is_empty()));
    }
}
