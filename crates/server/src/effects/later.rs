//! Work that is done after an edit and that nobody waits for: one thing after another, in a thread of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long what was given up may take to end.
const LAST_WORD: Duration = Duration::from_secs(2);
/// How much may wait; what comes when there is more is left out.
const MOST: usize = 100;

/// Something to do. It asks whether it is to be given up.
type Work = Box<dyn FnOnce(&dyn Fn() -> bool) + Send>;

/// Where work waits. Its thread begins with the first.
#[derive(Default)]
pub(crate) struct Later {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    is_working: bool,
    has_thread: bool,
}

impl Later {
    /// Does this when what was there before is done. Yields whether there is room for it.
    pub(crate) fn do_next(&self, work: impl FnOnce(&dyn Fn() -> bool) + Send + 'static) -> bool {
        let mut queue = self.shared.locked();
        if queue.waiting.len() >= MOST {
            return false;
        }
        if !queue.has_thread {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("later".into()).spawn(move || shared.work());
            if thread.is_err() {
                return false;
            }
            queue.has_thread = true;
        }
        queue.waiting.push_back(Box::new(work));
        self.shared.changed.notify_all();
        true
    }

    /// Waits until all is done, but no longer than this. What is not done then is given up.
    pub(crate) fn finish(&self, patience: Duration) {
        self.wait(patience);
        self.give_up();
        self.wait(LAST_WORD);
    }

    /// Has what is being done given up, and the rest not begun.
    pub(crate) fn give_up(&self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.locked().waiting.clear();
    }

    fn wait(&self, patience: Duration) {
        let begun = Instant::now();
        let mut queue = self.shared.locked();
        while queue.is_working || !queue.waiting.is_empty() {
            let Some(left) = patience.checked_sub(begun.elapsed()) else { break };
            queue = self.shared.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when there is nothing to do: the next work begins a thread anew.
    fn work(&self) {
        loop {
            let mut queue = self.locked();
            let Some(work) = queue.waiting.pop_front() else {
                queue.has_thread = false;
                return;
            };
            queue.is_working = true;
            drop(queue);
            let is_over = || self.is_over.load(Ordering::Acquire);
            if catch_unwind(AssertUnwindSafe(|| work(&is_over))).is_err() {
                tracing::error!("what follows an edit failed");
            }
            self.locked().is_working = false;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn all_of_it_is_done_in_order_and_waited_for() {
        let later = Later::default();
        let (done, told) = mpsc::channel();
        for number in 0..MOST {
            let done = done.clone();
            assert!(later.do_next(move |_| done.send(number).unwrap()));
        }
        later.finish(Duration::from_secs(60));
        assert!(told.try_iter().eq(0..MOST));
        assert!(later.do_next(|_| panic!("it is caught")));
        assert!(later.do_next(move |_| done.send(MOST).unwrap()));
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(MOST));
    }

    #[test]
    fn who_hangs_is_not_waited_for_and_what_piles_up_is_left_out() {
        let later = Later::default();
        let (release, wait) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        later.do_next(move |is_over| {
            let _ = begun.send(());
            while !is_over() {
                let _ = wait.try_recv();
                thread::yield_now();
            }
        });
        has_begun.recv_timeout(Duration::from_secs(60)).unwrap();
        let taken = (0..2 * MOST).filter(|_| later.do_next(|_| {})).count();
        assert_eq!(taken, MOST);
        later.finish(Duration::from_millis(1));
        let queue = later.shared.locked();
        assert!(queue.waiting.is_empty() && !queue.is_working);
        drop(release);
    }
}
