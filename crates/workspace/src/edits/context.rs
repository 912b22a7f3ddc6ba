//! The context of an edit: its client and its circumstances.

use emend_threads::Mutex;

use crate::edits::approval::Approval;
use crate::edits::readings::Readings;
use crate::files::effort::{Effort, Progress};
use crate::files::history::Origin;
use crate::problem::{Kind, Problem};

/// The context of an edit: its client and its circumstances. It is the same for edits, undos and previews.
#[derive(Clone, Copy)]
pub struct EditContext<'a> {
    /// The readings of the client: they decide what is stale, and the edit updates them.
    pub readings: &'a Mutex<Readings>,
    /// The origin of the request, for the history and for previews.
    pub origin: &'a Origin,
    /// A person's approval, if one was asked.
    pub approval: Option<&'a Approval>,
    /// How long the edit may take.
    pub effort: Effort,
    /// Whether the client has cancelled the request. Checked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
    /// A callback for the progress of the edit.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> EditContext<'a> {
    /// Creates the context of a patient client, without approval, cancellation or progress.
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

    /// Refuses to go on if the client has cancelled the request.
    pub(crate) fn check_wanted(&self) -> Result<(), Problem> {
        if (self.cancelled)() { Err(Problem::new(Kind::Cancelled)) } else { Ok(()) }
    }
}
