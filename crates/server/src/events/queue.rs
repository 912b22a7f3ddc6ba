//! The queue of events to be written, and the thread that writes them. Publishers never wait: neither for a disk that
//! is slow, full or gone, nor for another process that has locked the log.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use emend_threads::{Background, Mutex, Waiting};
use emend_workspace::event_log::EventLog;

use super::event::Head;

/// The number of events that may be queued.
const QUEUE_EVENTS: usize = 1_000;
/// The bytes of events that may be queued.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// The queue of events to be written.
#[derive(Debug)]
pub(super) struct Queue {
    background: Background<Unwritten>,
    /// The number of lost events that no written event has reported yet.
    lost: Arc<AtomicU64>,
    observers: Arc<Mutex<Vec<OnWritten>>>,
}

/// An observer that is called with the number of each written event.
pub(super) struct OnWritten(pub(super) Box<dyn Fn(u64) + Send + Sync>);

/// An event in the queue.
#[derive(Debug)]
pub(super) struct Queued {
    /// The event as JSON, without its head.
    pub(super) text: String,
    pub(super) session: Option<String>,
    pub(super) ends_session: bool,
    /// The number of events that were lost before it.
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

/// The writer of events, which runs on the queue's thread.
struct Writer {
    log: EventLog,
    /// The first and the last event of each session that has not ended.
    sessions: HashMap<String, (u64, u64)>,
    has_failed: bool,
    lost: Arc<AtomicU64>,
    observers: Arc<Mutex<Vec<OnWritten>>>,
}

impl Queue {
    pub(super) fn new(log: EventLog) -> Self {
        let (lost, observers) = <(Arc<AtomicU64>, Arc<Mutex<Vec<OnWritten>>>)>::default();
        let (sessions, has_failed) = (HashMap::new(), false);
        let mut writer =
            Writer { log, sessions, has_failed, lost: Arc::clone(&lost), observers: Arc::clone(&observers) };
        let background = Background::new("events", Unwritten::default(), move |event| writer.write(&event));
        Self { background, lost, observers }
    }

    pub(super) fn on_written(&self, observer: OnWritten) {
        self.observers.lock().push(observer);
    }

    /// Queues an event. Returns whether there was room for it.
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

    /// Closes the queue, and waits no longer than `patience` until all events are written.
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
                for OnWritten(observer) in &*self.observers.lock() {
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
