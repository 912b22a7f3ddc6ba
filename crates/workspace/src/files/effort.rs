//! How long a call may take, and how far it has come.

use std::time::Duration;

use crate::problem::{Kind, Problem};

use crate::policy::MAX_FILE_BYTES;

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub what: Phase,
    /// For how many files it is done.
    pub done: usize,
    /// For how many it has to be done.
    pub total: usize,
}

/// What takes long in a request of many files, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Reading every file that it names.
    Read,
    /// Writing the new contents to the side.
    Stage,
    /// Putting them in place.
    Place,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Stage, Self::Place];
}

/// How long a call may take. Whoever has other things to do asks for a quick answer first, and again
/// patiently, from a thread of its own, if the answer is [`NotDone::NotQuick`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// No waiting for a lock, no file above two megabytes.
    Quick,
    /// As long as it takes.
    Patient,
    /// The same, for a call that has waited so long already: a lock is waited for so much less.
    Waited(Duration),
}

impl Effort {
    /// How long a lock is waited for, if all waiting may take this long.
    pub(crate) fn patience(self, whole: Duration) -> Duration {
        match self {
            Self::Quick => Duration::ZERO,
            Self::Patient => whole,
            // Some is left, however long that took: without any, it would be a quick call.
            Self::Waited(already) => whole.saturating_sub(already).max(whole / 10),
        }
    }

    /// The largest file that is read.
    pub(crate) fn file_bytes(self) -> u64 {
        match self {
            Self::Quick => 2 * 1024 * 1024,
            Self::Patient | Self::Waited(_) => MAX_FILE_BYTES,
        }
    }
}

/// Why something was not done that was perhaps to be quick. Nothing was changed.
#[derive(Debug)]
pub enum NotDone<E = Problem> {
    /// It would have had to wait, or to do much. With more [`Effort`] it may be done.
    NotQuick,
    /// It cannot be done, for this reason.
    Refused(E),
}

impl<E> From<E> for NotDone<E> {
    fn from(why: E) -> Self {
        Self::Refused(why)
    }
}

impl From<Problem> for NotDone<Vec<Problem>> {
    fn from(problem: Problem) -> Self {
        Self::Refused(vec![problem])
    }
}

impl From<NotDone> for NotDone<Vec<Problem>> {
    fn from(why: NotDone) -> Self {
        match why {
            NotDone::NotQuick => Self::NotQuick,
            NotDone::Refused(problem) => Self::Refused(vec![problem]),
        }
    }
}

impl NotDone<Vec<Problem>> {
    /// The problems alone, for somebody who does not ask again: what is not quick is `busy` to them.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        match self {
            Self::NotQuick => vec![Problem::new(Kind::Busy { seconds: 0 })],
            Self::Refused(problems) => problems,
        }
    }
}
