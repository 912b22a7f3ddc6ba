//! What an engine does beside leases: it keeps streams, to which numbered texts are appended, and which others read.

use std::fmt;

use crate::engine::EngineError;

/// The id of an entry of a stream. Ids grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    /// The run of numbers to which it belongs, which begins anew where the numbers do: the milliseconds since 1970 then.
    pub run: u64,
    /// Its number.
    pub number: u64,
}

impl EntryId {
    /// Reads an id as it is written.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (run, number) = written.split_once('-')?;
        Some(Self { run: run.parse().ok()?, number: number.parse().ok()? })
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.run, self.number)
    }
}

/// An entry of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Its text.
    pub text: String,
}

/// The end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// The id of the last entry that was appended.
    pub id: EntryId,
    /// Its text, unless it was deleted since.
    pub text: Option<String>,
}

/// Keeps streams, of which others may delete entries: what was appended last is known all the same. A call may block, for a bounded time.
pub trait Streams: Send + Sync {
    /// Returns the last entry that was appended to a stream, if there ever was one.
    fn last(&self, stream: &str) -> Result<Option<Last>, EngineError>;

    /// Appends entries in the order of their ids if the last one that was appended so far has the id `after`, so that several who append the
    /// same add nothing twice and leave nothing out. Keeps about the `kept` newest. Returns whether it had that id.
    fn append(
        &self,
        stream: &str,
        after: Option<EntryId>,
        entries: &[Entry],
        kept: u64,
    ) -> Result<bool, EngineError>;
}
