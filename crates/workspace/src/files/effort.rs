//! How long a call may take, and how far it has come.

use std::time::Duration;

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
/// patiently, from a thread of its own, if that is `NeedsPatience`.
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
