//! Waiting in line: one thread at a time, or a few, in the order in which they came, each only until its deadline.

use std::collections::{BTreeMap, VecDeque};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::Mutex;

/// Queues of threads, one for each key. The first thread of each has its turn until it leaves, or the first few.
#[derive(Debug)]
pub struct Queues<K> {
    state: Mutex<State<K>>,
    /// How many threads of a line have their turn at the same time.
    width: usize,
}

#[derive(Debug)]
struct State<K> {
    /// Without those in which nobody is.
    queues: BTreeMap<K, VecDeque<(u64, Thread)>>,
    /// The number of threads that ever came.
    came: u64,
}

/// The turn of a thread, which ends on drop.
#[derive(Debug)]
pub struct Turn<'a, K: Ord> {
    queues: &'a Queues<K>,
    key: K,
    number: u64,
}

impl<K> Default for Queues<K> {
    fn default() -> Self {
        Self::of_width(1)
    }
}

impl<K> Queues<K> {
    /// Creates queues of each of which so many threads have their turn at the same time.
    #[must_use]
    pub const fn of_width(width: usize) -> Self {
        Self { state: Mutex::new(State { queues: BTreeMap::new(), came: 0 }), width }
    }
}

impl<K: Ord + Clone> Queues<K> {
    /// Waits for the turn of this thread. Returns `None`, and leaves the line, if it does not come until then.
    pub fn wait(&self, key: K, until: Instant) -> Option<Turn<'_, K>> {
        let mut state = self.state.lock();
        state.came += 1;
        let number = state.came;
        state.queues.entry(key.clone()).or_default().push_back((number, thread::current()));
        while !state.has_turn(&key, number, self.width) {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                state.leave(&key, number, self.width);
                return None;
            };
            drop(state);
            thread::park_timeout(left);
            state = self.state.lock();
        }
        Some(Turn { queues: self, key, number })
    }
}

impl<K: Ord> Queues<K> {
    /// Returns the number of threads that have their turn in this line or wait for it.
    pub fn length(&self, key: &K) -> usize {
        self.state.lock().queues.get(key).map_or(0, VecDeque::len)
    }
}

impl<K: Ord> State<K> {
    fn has_turn(&self, key: &K, number: u64, width: usize) -> bool {
        self.queues.get(key).is_some_and(|line| line.iter().take(width).any(|(first, _)| *first == number))
    }

    /// Takes a thread out of its line, and wakes the one whose turn comes by that.
    fn leave(&mut self, key: &K, number: u64, width: usize) {
        let had_turn = self.has_turn(key, number, width);
        let Some(line) = self.queues.get_mut(key) else { return };
        line.retain(|(other, _)| *other != number);
        if had_turn && let Some((_, next)) = line.get(width - 1) {
            next.unpark();
        }
        if line.is_empty() {
            self.queues.remove(key);
        }
    }
}

impl<K: Ord> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        self.queues.state.lock().leave(&self.key, self.number, self.queues.width);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Waits until so many threads are in line.
    fn until_there_are(queues: &Queues<u8>, threads: usize) {
        let until = Instant::now() + LONG;
        while queues.length(&7) != threads {
            assert!(Instant::now() < until);
            thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_of_arrival() {
        let (queues, served) = (Arc::new(Queues::default()), Arc::new(Mutex::new(Vec::new())));
        let first = queues.wait(7, Instant::now()).expect("nobody is there");
        let threads: Vec<_> = (0..5)
            .map(|number| {
                until_there_are(&queues, number + 1);
                let (queues, served) = (Arc::clone(&queues), Arc::clone(&served));
                thread::spawn(move || {
                    let _turn = queues.wait(7, Instant::now() + LONG).expect("its turn comes");
                    served.lock().push(number);
                })
            })
            .collect();
        until_there_are(&queues, 6);
        drop(first);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*served.lock(), [0, 1, 2, 3, 4]);
        assert!(queues.state.lock().queues.is_empty());
    }

    #[test]
    fn as_many_have_their_turn_at_once_as_the_line_is_wide() {
        let queues = Arc::new(Queues::of_width(2));
        let now = || queues.wait(7, Instant::now());
        let both = (now().expect("it is free"), now().expect("half of it is free"));
        assert!(now().is_none() && queues.length(&7) == 2);
        let next = thread::spawn({
            let queues = Arc::clone(&queues);
            move || queues.wait(7, Instant::now() + LONG).is_some()
        });
        until_there_are(&queues, 3);
        drop(both.1);
        assert!(next.join().unwrap(), "whichever leaves, the next has its turn");
        assert!(now().is_some() && now().is_some());
        drop(both.0);
        assert!(queues.state.lock().queues.is_empty());
    }

    #[test]
    fn who_gives_up_leaves_the_line_and_holds_nobody_up() {
        let queues = Arc::new(Queues::default());
        let first = queues.wait(7, Instant::now()).expect("nobody is there");
        assert!(queues.wait(7, Instant::now() + Duration::from_millis(5)).is_none());
        assert!(queues.wait(8, Instant::now()).is_some(), "another line");
        until_there_are(&queues, 1);
        let next = thread::spawn({
            let queues = Arc::clone(&queues);
            move || queues.wait(7, Instant::now() + LONG).is_some()
        });
        until_there_are(&queues, 2);
        drop(first);
        assert!(next.join().unwrap());
    }
}
