//! The turns of edits that hooks concern: edits of the same file go in the order of their arrival, so that none is
//! planned for what an earlier one is about to change.
//!
//! A turn is a courtesy: correctness does not depend on it, because every file is checked again once it is locked.
//! So an edit that has waited long enough goes on without its turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use emend_threads::{Condvar, Mutex};

/// The interval at which a waiting edit checks whether the client has cancelled it.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The queue of edits with their files.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    queue: Mutex<Queue>,
    departed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    last: u64,
    edits: BTreeMap<u64, BTreeSet<String>>,
}

impl Queue {
    fn is_first(&self, number: u64) -> bool {
        let Some(names) = self.edits.get(&number) else { return true };
        self.edits.range(..number).all(|(_, earlier)| earlier.is_disjoint(names))
    }
}

/// The place of one edit in the queue, left on drop.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
    /// Whether it had to wait for others.
    pub(crate) has_waited: bool,
}

impl Turns {
    /// Waits until no earlier edit of any of these files is in the queue, for at most `patience`.
    pub(crate) fn wait(
        &self,
        names: BTreeSet<String>,
        patience: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Turn<'_> {
        let until = Instant::now() + patience;
        let mut queue = self.queue();
        queue.last += 1;
        let number = queue.last;
        queue.edits.insert(number, names);
        let mut turn = Turn { turns: self, number, has_waited: false };
        while !queue.is_first(number) && !cancelled() {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            turn.has_waited = true;
            let waited = self.departed.wait_timeout(queue, left.min(POLL_INTERVAL));
            queue = waited.0;
        }
        drop(queue);
        turn
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.queue().edits.remove(&self.number);
        self.turns.departed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn edits_of_the_same_file_go_in_the_order_in_which_they_came() {
        let turns = Turns::default();
        let order = Mutex::new(Vec::new());
        let first = turns.wait(names(&["a"]), Duration::ZERO, &|| false);
        assert!(!turns.wait(names(&["b"]), Duration::from_secs(60), &|| false).has_waited);
        std::thread::scope(|scope| {
            for number in 1..=4 {
                scope.spawn({
                    let (turns, order) = (&turns, &order);
                    move || {
                        let _turn = turns.wait(names(&["a", "c"]), Duration::from_secs(60), &|| false);
                        order.lock().push(number);
                    }
                });
                while turns.queue().edits.len() < number + 1 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock(), [1, 2, 3, 4]);
        assert!(turns.queue().edits.is_empty());
    }

    #[test]
    fn nobody_waits_for_ever() {
        let turns = Turns::default();
        let _first = turns.wait(names(&["a"]), Duration::ZERO, &|| false);
        assert!(!turns.wait(names(&["a"]), Duration::ZERO, &|| false).has_waited);
        assert!(!turns.wait(names(&["a"]), Duration::from_secs(60), &|| true).has_waited);
    }
}
