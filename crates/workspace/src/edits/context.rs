//! For whom an edit is made, and how.

use emend_threads::Mutex;

use crate::edits::approval::Approval;
use crate::edits::readings::Readings;
use crate::files::effort::{Effort, Progress};
use crate::files::history::Origin;
use crate::problem::{Kind, Problem};

/// For whom an edit is made, and how: the same for one that is asked for, taken back, or shown before.
#[derive(Clone, Copy)]
pub struct EditContext<'a> {
    /// What the client has read. It decides what is stale to it, and learns what the edit writes.
    pub readings: &'a Mutex<Readings>,
    /// Who asks, and how; for the history. A preview remembers who asked for it.
    pub origin: &'a Origin,
    /// What a person has allowed, if one was asked.
    pub approval: Option<&'a Approval>,
    /// How long the edit may take.
    pub effort: Effort,
    /// Whether the client has given up meanwhile. Asked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Told how far the edit has come.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> EditContext<'a> {
    /// The context of a client that takes its time: nobody has allowed anything, gives up, or follows how far it has come.
    #[must_use]
    pub fn patient(readings: &'a Mutex<Readings>, origin: &'a Origin) -> Self {
        Self {
            readings,
            origin,
            approval: None,
            effort: Effort::Patient,
            cancelled: &|| false,
            progress: &|_| {},
        }
    }

    /// Refuses to go on for a client that has given up.
    pub(crate) fn check_wanted(&self) -> Result<(), Problem> {
        if (self.cancelled)() { Err(Problem::new(Kind::Cancelled)) } else { Ok(()) }
    }
}
