//! What waits to be written, and the thread that writes it. Whoever puts something in waits for nobody: neither for a disk
//! that is slow, full or gone, nor for another process that has the log locked.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use emend_threads::{Background, Waiting};
use emend_workspace::event_log::EventLog;

use super::event::Head;

/// How many events wait.
const QUEUE_EVENTS: usize = 1_000;
/// How many bytes of them.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// The events that wait to be written.
#[derive(Debug)]
pub(super) struct Queue {
    background: Background<Unwritten>,
    /// How many events were lost that no event has told of.
    lost: Arc<AtomicU64>,
    observer: Arc<OnceLock<OnWritten>>,
}

/// Told the number of an event that was written.
pub(super) struct OnWritten(pub(super) Box<dyn Fn(u64) + Send + Sync>);

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

#[derive(Debug, Default)]
struct Unwritten {
    events: VecDeque<Queued>,
    bytes: usize,
}

impl Waiting for Unwritten {
    type Job = Queued;

    fn take_next(&mut self) -> Option<Queued> {
        let event = self.events.pop_front()?;
        self.bytes -= event.text.len();
        Some(event)
    }
}

/// Writes events, in a thread of its own.
struct Writer {
    log: EventLog,
    /// The first and the last event of each session that has not ended.
    sessions: HashMap<String, (u64, u64)>,
    has_failed: bool,
    lost: Arc<AtomicU64>,
    observer: Arc<OnceLock<OnWritten>>,
}

impl Queue {
    pub(super) fn new(log: EventLog) -> Self {
        let (lost, observer) = (Arc::default(), Arc::default());
        let (sessions, has_failed) = (HashMap::new(), false);
        let mut writer =
            Writer { log, sessions, has_failed, lost: Arc::clone(&lost), observer: Arc::clone(&observer) };
        let background = Background::new("events", Unwritten::default(), move |event| writer.write(&event));
        Self { background, lost, observer }
    }

    pub(super) fn on_written(&self, observer: OnWritten) {
        let _ = self.observer.set(observer);
    }

    /// Has this written. Returns whether there was room for it.
    pub(super) fn push(&self, mut event: Queued) -> bool {
        let pushed = self.background.push(|unwritten| {
            let bytes = unwritten.bytes + event.text.len();
            if unwritten.events.len() >= QUEUE_EVENTS || (bytes > QUEUE_BYTES && unwritten.bytes > 0) {
                return false;
            }
            event.lost = self.lost.swap(0, Ordering::Relaxed);
            unwritten.bytes = bytes;
            unwritten.events.push_back(event);
            true
        });
        let is_taken = pushed == Some(true);
        if !is_taken {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        is_taken
    }

    /// Nothing is put in any more. Waits until all is written, but no longer than this.
    pub(super) fn end(&self, patience: Duration) {
        self.background.close();
        if !self.background.wait(patience) {
            tracing::warn!("the last events were not written in time");
        }
    }
}

impl Writer {
    fn write(&mut self, event: &Queued) {
        let known = event.session.as_ref().and_then(|session| self.sessions.get(session)).copied();
        let line = |number| {
            let mut head = Head::new(number, event.lost);
            if let Some((first, last)) = known.filter(|_| event.ends_session) {
                (head.first_event, head.last_event) = (Some(first), Some(last));
            }
            head.before(&event.text)
        };
        match self.log.append(line) {
            Ok(number) => {
                match &event.session {
                    Some(session) if event.ends_session => drop(self.sessions.remove(session)),
                    Some(session) => {
                        self.sessions.entry(session.clone()).or_insert((number, number)).1 = number;
                    }
                    None => {}
                }
                if let Some(OnWritten(observer)) = self.observer.get() {
                    observer(number);
                }
            }
            Err(error) => {
                if !self.has_failed {
                    tracing::warn!(%error, "an event could not be written; the next one that can be says how many were lost");
                }
                self.has_failed = true;
                self.lost.fetch_add(event.lost + 1, Ordering::Relaxed);
            }
        }
    }
}

impl fmt::Debug for OnWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnWritten(..)")
    }
}
