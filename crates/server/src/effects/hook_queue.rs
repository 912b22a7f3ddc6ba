//! The hooks that run after edits, one after the other. Nobody waits for them but the end of the process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use emend_threads::Background;

/// How long what was given up may take to end.
const LAST_WORD: Duration = Duration::from_secs(2);
/// How many runs may wait; what comes when there are more is left out.
const WAITING: usize = 100;

/// Runs the hooks of one edit. It asks whether it is to be given up.
type Run = Box<dyn FnOnce(&dyn Fn() -> bool) + Send>;

/// Where runs wait.
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
    /// Has this run when what was there before is done. Returns whether there is room for it.
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

    /// Waits until all is done, but no longer than this. What is not done then is given up.
    pub(super) fn finish(&self, patience: Duration) {
        self.background.wait(patience);
        self.give_up();
        self.background.wait(LAST_WORD);
    }

    /// Has what is being done given up, and the rest not begun.
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
