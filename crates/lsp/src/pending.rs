//! Answers that come later: a caller sets its own deadline, and may stop waiting at any moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use emend_threads::{Condvar, Mutex};

use crate::aftermath::{Aftermath, ServerReport};

/// The future answers of the servers to an edit. Dropping it at any time is allowed and does not wait.
#[derive(Debug)]
pub struct PendingAftermath {
    awaited: Awaited<ServerReport>,
}

impl PendingAftermath {
    pub(crate) fn new(awaited: Awaited<ServerReport>) -> Self {
        Self { awaited }
    }

    /// Waits until all servers have answered, and returns `None` if the deadline comes first. The answers are given
    /// out once.
    pub fn wait(&self, deadline: Instant) -> Option<Aftermath> {
        self.awaited.wait(deadline).map(|servers| Aftermath { servers })
    }

    /// Calls `tell` with the answers once all servers have given theirs: on the thread of the last one, or at once if
    /// none is outstanding.
    pub fn on_done(self, tell: impl FnOnce(Aftermath) + Send + 'static) {
        self.awaited.on_done(Box::new(|servers| tell(Aftermath { servers })));
    }
}

/// The receiving end of one question: it collects an answer from each of several servers.
#[derive(Debug)]
pub(crate) struct Awaited<T>(Arc<Gathering<T>>);

/// The sending end for one answer. Dropping it without an answer sends the default, so that no receiver waits for ever.
pub(crate) struct Reply<T> {
    gathering: Arc<Gathering<T>>,
    /// The answer to send on drop, so that a thread that panics leaves nobody waiting.
    default: Option<T>,
}

struct Gathering<T> {
    answers: Mutex<Answers<T>>,
    complete: Condvar,
}

struct Answers<T> {
    outstanding: usize,
    given: Vec<T>,
    callback: Option<Box<dyn FnOnce(Vec<T>) + Send>>,
}

impl<T> Awaited<T> {
    /// Makes a receiver, and a sender for each of these default answers.
    pub(crate) fn new(defaults: Vec<T>) -> (Self, Vec<Reply<T>>) {
        let answers = Answers { outstanding: defaults.len(), given: Vec::new(), callback: None };
        let gathering = Arc::new(Gathering { answers: Mutex::new(answers), complete: Condvar::new() });
        let reply = |otherwise| Reply { gathering: Arc::clone(&gathering), default: Some(otherwise) };
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
        answers.callback = Some(tell);
        Gathering::call_if_complete(answers);
    }
}

impl<T> Reply<T> {
    pub(crate) fn give(mut self, answer: T) {
        self.default = Some(answer);
    }

    /// Changes the answer that is sent if no other is given.
    pub(crate) fn change_default(&mut self, change: impl FnOnce(&mut T)) {
        self.default.as_mut().map(change);
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut answers = self.gathering.answers.lock();
        answers.outstanding -= 1;
        answers.given.extend(self.default.take());
        self.gathering.complete.notify_all();
        Gathering::call_if_complete(answers);
    }
}

impl<T> Gathering<T> {
    fn call_if_complete(mut answers: MutexGuard<'_, Answers<T>>) {
        if answers.outstanding > 0 {
            return;
        }
        let Some(tell) = answers.callback.take() else { return };
        let given = std::mem::take(&mut answers.given);
        drop(answers);
        // A panic in the callback must not end the thread of a server.
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
