//! What waits to be written, and the thread that writes it. Whoever puts something in waits for nobody: neither for a disk
//! that is slow, full or gone, nor for another process that has the log locked.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use emend_workspace::event_log::EventLog;

use super::event::Head;

/// How many events wait.
const MOST: usize = 1_000;
/// How many bytes of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// See the module.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    tell: OnceLock<Tell>,
}

/// Told the number of an event that was written.
pub(super) type Tell = Box<dyn Fn(u64) + Send + Sync>;

/// An event on its way.
#[derive(Debug)]
pub(super) struct Queued {
    /// All of it but its head.
    pub(super) text: String,
    pub(super) session: Option<String>,
    pub(super) ends_session: bool,
    /// How many events before it did not fit.
    pub(super) lost: u64,
}

struct Waiting {
    queue: VecDeque<Queued>,
    bytes: usize,
    /// How many events were lost that no event has told of.
    lost: u64,
    /// The log, until the thread has it.
    log: Option<EventLog>,
    is_writing: bool,
    is_over: bool,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({})", self.locked().queue.len())
    }
}

impl Queue {
    pub(super) fn of(log: EventLog) -> Arc<Self> {
        let waiting = Waiting {
            queue: VecDeque::new(),
            bytes: 0,
            lost: 0,
            log: Some(log),
            is_writing: false,
            is_over: false,
        };
        Arc::new(Self { waiting: Mutex::new(waiting), changed: Condvar::new(), tell: OnceLock::new() })
    }

    pub(super) fn tell(&self, tell: Tell) {
        let _ = self.tell.set(tell);
    }

    /// Has this written. Yields whether there was room for it.
    pub(super) fn push(self: &Arc<Self>, mut event: Queued) -> bool {
        let mut waiting = self.locked();
        let bytes = waiting.bytes + event.text.len();
        if waiting.is_over
            || waiting.queue.len() >= MOST
            || (bytes > MOST_BYTES && waiting.bytes > 0)
            || !self.is_begun(&mut waiting)
        {
            waiting.lost += 1;
            return false;
        }
        event.lost = std::mem::take(&mut waiting.lost);
        waiting.bytes = bytes;
        waiting.queue.push_back(event);
        self.changed.notify_all();
        true
    }

    /// Whether there is a thread that writes, which is begun with the first event.
    fn is_begun(self: &Arc<Self>, waiting: &mut Waiting) -> bool {
        let Some(log) = waiting.log.take() else { return true };
        let queue = Arc::clone(self);
        let begun = thread::Builder::new().name("events".into()).spawn(move || queue.write_all(log));
        if let Err(error) = &begun {
            tracing::warn!(%error, "no events are written");
            // Nobody will ever take what is put in.
            waiting.is_over = true;
        }
        begun.is_ok()
    }

    fn write_all(&self, mut log: EventLog) {
        // The first and the last event of each session that has not ended.
        let mut sessions: HashMap<String, (u64, u64)> = HashMap::new();
        let mut has_failed = false;
        while let Some(event) = self.next() {
            let known = event.session.as_ref().and_then(|session| sessions.get(session)).copied();
            let line = |number| {
                let mut head = Head::new(number, event.lost);
                if let Some((first, last)) = known.filter(|_| event.ends_session) {
                    (head.first_event, head.last_event) = (Some(first), Some(last));
                }
                head.before(&event.text)
            };
            match log.append(line) {
                Ok(number) => {
                    match event.session {
                        Some(session) if event.ends_session => drop(sessions.remove(&session)),
                        Some(session) => sessions.entry(session).or_insert((number, number)).1 = number,
                        None => {}
                    }
                    if let Some(tell) = self.tell.get() {
                        tell(number);
                    }
                }
                Err(error) => {
                    if !has_failed {
                        tracing::warn!(%error, "an event could not be written; the next one that can be says how many were lost");
                    }
                    has_failed = true;
                    self.locked().lost += event.lost + 1;
                }
            }
        }
    }

    /// The next event; `None` when it is over.
    fn next(&self) -> Option<Queued> {
        let mut waiting = self.locked();
        waiting.is_writing = false;
        self.changed.notify_all();
        loop {
            if let Some(event) = waiting.queue.pop_front() {
                waiting.bytes -= event.text.len();
                waiting.is_writing = true;
                return Some(event);
            }
            if waiting.is_over {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing is put in any more. Waits until all is written, but no longer than this.
    pub(super) fn end(&self, patience: Duration) {
        let mut waiting = self.locked();
        waiting.is_over = true;
        self.changed.notify_all();
        let unwritten = |waiting: &mut Waiting| waiting.is_writing || !waiting.queue.is_empty();
        let waited = self.changed.wait_timeout_while(waiting, patience, unwritten);
        if waited.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
            tracing::warn!("the last events were not written in time");
        }
    }

    fn locked(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
