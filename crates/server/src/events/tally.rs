//! Counts of the edits of a session, published as an event when it ends.

use emend_threads::Mutex;

use super::Events;
use super::event::{Kind, Summary};
use crate::wire::Outcome;

/// The number of changed files that are named.
const NAMED_FILES: usize = 1_000;

/// The counts of the edits of a session so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    events: Events,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// The client's own name; `None` until the session has begun.
    client: Option<String>,
    summary: Summary,
}

impl Tally {
    /// Creates a tally that `events` publishes at the end of the session.
    pub(crate) fn new(events: Events) -> Self {
        Self { events, counted: Mutex::default() }
    }

    /// Records that the session has begun. A session that never began publishes no end.
    pub(crate) fn begin(&self, client: &str) {
        let mut counted = self.counted.lock();
        if counted.client.as_deref() != Some(client) {
            counted.client = Some(client.to_owned());
        }
    }

    /// Counts an outcome of an edit tool.
    pub(crate) fn count(&self, outcome: &Outcome) {
        add(&mut self.counted.lock().summary, outcome);
    }

    /// Goes on counting from what was counted with another server.
    pub(crate) fn resume(&self, summary: Summary) {
        self.counted.lock().summary = summary;
    }

    /// Returns the counts, with an outcome that is about to be counted.
    pub(crate) fn summary_with(&self, outcome: Option<&Outcome>) -> Summary {
        let mut summary = self.summary();
        if let Some(outcome) = outcome {
            add(&mut summary, outcome);
        }
        summary
    }

    /// Returns the counts.
    pub(crate) fn summary(&self) -> Summary {
        self.counted.lock().summary.clone()
    }

    /// Ends the session and publishes its counts, if it has begun.
    pub(crate) fn end<'a>(&self, session: impl FnOnce() -> &'a String) {
        let counted = std::mem::take(&mut *self.counted.lock());
        if let Some(client) = &counted.client {
            self.events.publish_session_end(client, session(), &counted.summary);
        }
    }
}

/// Counts an outcome.
fn add(summary: &mut Summary, outcome: &Outcome) {
    match Kind::from_outcome(outcome) {
        Kind::Edit => {
            summary.edits += 1;
            summary.had_edits = true;
            for name in &outcome.changed_files {
                if summary.changed_files.len() < NAMED_FILES {
                    summary.changed_files.insert(name.clone());
                } else {
                    summary.more_files |= !summary.changed_files.contains(name);
                }
            }
        }
        Kind::Refused => summary.refused += 1,
        Kind::Preview | Kind::Diagnostics | Kind::Session => {}
    }
}
