//! What a session has done, counted while it goes on and told in its end.

use emend_threads::Mutex;

use super::Events;
use super::event::{Kind, Summary};
use crate::wire::Outcome;

/// How many files are named.
const NAMED_FILES: usize = 1_000;

/// What a session has done so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    events: Events,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// What the client calls itself; unknown until the session has begun.
    client: Option<String>,
    summary: Summary,
}

impl Tally {
    /// A tally that goes there in the end.
    pub(crate) fn new(events: Events) -> Self {
        Self { events, counted: Mutex::default() }
    }

    /// A session has begun: it is one that will have an end.
    pub(crate) fn begin(&self, client: &str) {
        let mut counted = self.counted.lock();
        if counted.client.as_deref() != Some(client) {
            counted.client = Some(client.to_owned());
        }
    }

    /// An edit tool has had this outcome.
    pub(crate) fn count(&self, outcome: &Outcome) {
        let summary = &mut self.counted.lock().summary;
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

    /// What was counted.
    pub(crate) fn summary(&self) -> Summary {
        self.counted.lock().summary.clone()
    }

    /// The session has ended.
    pub(crate) fn end<'a>(&self, session: impl FnOnce() -> &'a String) {
        let counted = std::mem::take(&mut *self.counted.lock());
        if let Some(client) = &counted.client {
            self.events.publish_session_end(client, session(), &counted.summary);
        }
    }
}
