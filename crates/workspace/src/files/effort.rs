//! The effort and the progress of a call.

use std::time::Duration;

use crate::problem::{Kind, Problem};

use crate::policy::MAX_FILE_BYTES;

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub what: Phase,
    /// The number of files done in it.
    pub done: usize,
    /// The number of files in total.
    pub total: usize,
}

/// The slow phases of a request with many files, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Reading every file that it names.
    Read,
    /// Writing the new contents to the staging area.
    Stage,
    /// Putting them in place.
    Place,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 3] = [Self::Read, Self::Stage, Self::Place];
}

/// The effort that a call may take. A busy caller first asks for a quick answer, and if that is [`NotDone::NotQuick`],
/// again for a patient one on another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// No waiting for a lock, no file above two megabytes.
    Quick,
    /// As long as it takes.
    Patient,
    /// As long as it takes, less the time that the call has waited already.
    Waited(Duration),
}

impl Effort {
    /// Returns how long to wait for a lock, if `whole` is the limit for all waiting.
    pub(crate) fn patience(self, whole: Duration) -> Duration {
        match self {
            Self::Quick => Duration::ZERO,
            Self::Patient => whole,
            // Some time always remains: with none, it would be a quick call.
            Self::Waited(already) => whole.saturating_sub(already).max(whole / 10),
        }
    }

    /// Returns the size of the largest file that is read.
    pub(crate) fn file_bytes(self) -> u64 {
        match self {
            Self::Quick => 2 * 1024 * 1024,
            Self::Patient | Self::Waited(_) => MAX_FILE_BYTES,
        }
    }
}

/// The reason why something was not done. Nothing was changed.
#[derive(Debug)]
pub enum NotDone<E = Problem> {
    /// It would have had to wait, or to do much. With more [`Effort`] it may succeed.
    NotQuick,
    /// It was refused for this reason.
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
    /// Returns the problems, for a caller that does not retry: `NotQuick` becomes `busy`.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        match self {
            Self::NotQuick => vec![Problem::new(Kind::Busy { seconds: 0 })],
            Self::Refused(problems) => problems,
        }
    }
}
