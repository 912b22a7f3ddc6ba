//! Answers that come later: whoever waits for them sets the time, and may leave at any moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use emend_threads::{Condvar, Mutex};

use crate::aftermath::{Aftermath, Report};

/// What the servers will say of an edit. It may be dropped at any time.
#[derive(Debug)]
pub struct Pending {
    awaited: Awaited<Report>,
}

impl Pending {
    pub(crate) fn new(awaited: Awaited<Report>) -> Self {
        Self { awaited }
    }

    /// What they say, if all of them have by then. It is given once.
    pub fn wait(&self, deadline: Instant) -> Option<Aftermath> {
        self.awaited.wait(deadline).map(|servers| Aftermath { servers })
    }

    /// Has what they say told once all have, on the thread of the last, or now if they have already.
    pub fn on_done(self, tell: impl FnOnce(Aftermath) + Send + 'static) {
        self.awaited.on_done(Box::new(|servers| tell(Aftermath { servers })));
    }
}

/// Where the answers to one question are gathered.
#[derive(Debug)]
pub(crate) struct Awaited<T>(Arc<Gathering<T>>);

/// The right to give one of the answers. It is given when this is dropped, if not before.
pub(crate) struct Reply<T> {
    gathering: Arc<Gathering<T>>,
    /// What is answered if nothing else is: a thread that panics must leave nobody waiting.
    otherwise: Option<T>,
}

struct Gathering<T> {
    answers: Mutex<Answers<T>>,
    complete: Condvar,
}

struct Answers<T> {
    outstanding: usize,
    given: Vec<T>,
    tell: Option<Box<dyn FnOnce(Vec<T>) + Send>>,
}

impl<T> Awaited<T> {
    /// Awaits an answer for each of these, which it gives by default.
    pub(crate) fn new(defaults: Vec<T>) -> (Self, Vec<Reply<T>>) {
        let answers = Answers { outstanding: defaults.len(), given: Vec::new(), tell: None };
        let gathering = Arc::new(Gathering { answers: Mutex::new(answers), complete: Condvar::new() });
        let reply = |otherwise| Reply { gathering: Arc::clone(&gathering), otherwise: Some(otherwise) };
        let replies = defaults.into_iter().map(reply).collect();
        (Self(gathering), replies)
    }

    pub(crate) fn wait(&self, deadline: Instant) -> Option<Vec<T>> {
        let mut answers = self.0.answers.lock();
        while answers.outstanding > 0 {
            let left = deadline.checked_duration_since(Instant::now())?;
            answers = self.0.complete.wait_timeout(answers, left).0;
        }
        Some(std::mem::take(&mut answers.given))
    }

    fn on_done(self, tell: Box<dyn FnOnce(Vec<T>) + Send>) {
        let mut answers = self.0.answers.lock();
        answers.tell = Some(tell);
        Gathering::tell_if_complete(answers);
    }
}

impl<T> Reply<T> {
    pub(crate) fn give(mut self, answer: T) {
        self.otherwise = Some(answer);
    }

    /// Changes what is answered if nothing else is.
    pub(crate) fn otherwise(&mut self, change: impl FnOnce(&mut T)) {
        self.otherwise.as_mut().map(change);
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut answers = self.gathering.answers.lock();
        answers.outstanding -= 1;
        answers.given.extend(self.otherwise.take());
        self.gathering.complete.notify_all();
        Gathering::tell_if_complete(answers);
    }
}

impl<T> Gathering<T> {
    fn tell_if_complete(mut answers: MutexGuard<'_, Answers<T>>) {
        if answers.outstanding > 0 {
            return;
        }
        let Some(tell) = answers.tell.take() else { return };
        let given = std::mem::take(&mut answers.given);
        drop(answers);
        // What whoever is told does with it is not ours to die of.
        let _ = catch_unwind(AssertUnwindSafe(|| tell(given)));
    }
}

impl<T> std::fmt::Debug for Gathering<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Gathering").field("outstanding", &self.answers.lock().outstanding).finish()
    }
}

impl<T> std::fmt::Debug for Reply<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reply").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_dropped_reply_is_answered_by_its_default() {
        let (awaited, replies) = Awaited::new(vec![1, 2]);
        let mut replies = replies.into_iter();
        replies.next().expect("two").give(5);
        assert_eq!(awaited.wait(Instant::now()), None);
        drop(replies);
        assert_eq!(awaited.wait(Instant::now()), Some(vec![5, 2]));
    }

    #[test]
    fn who_asks_late_is_told_at_once_and_who_asks_early_when_it_is_known() {
        let (send, receive) = mpsc::channel();
        for is_early in [true, false] {
            let (awaited, mut replies) = Awaited::new(vec![0]);
            let send = send.clone();
            let tell = Box::new(move |given| send.send(given).expect("heard"));
            if is_early {
                awaited.on_done(tell);
                drop(replies);
            } else {
                replies.clear();
                awaited.on_done(tell);
            }
            assert_eq!(receive.recv().expect("told"), [0]);
        }
    }
}
