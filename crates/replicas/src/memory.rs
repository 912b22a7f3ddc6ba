//! An engine in the memory of one process, for tests.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use emend_threads::Mutex;

use crate::engine::{Engine, EngineError, Holder, Taken};
use crate::streams::{Entry, EntryId, Last, Streams};

/// An engine in memory.
#[derive(Default)]
pub struct Memory(Mutex<State>);

#[derive(Default)]
struct State {
    leases: HashMap<String, (Holder, Instant)>,
    /// When it was started; long ago if it never was.
    started: Option<Instant>,
    is_silent: bool,
    streams: HashMap<String, Stream>,
}

#[derive(Default)]
struct Stream {
    entries: VecDeque<Entry>,
    /// The id of the last entry that was appended, which may be gone.
    last: Option<EntryId>,
}

impl Memory {
    /// Forgets all leases and streams, as an engine does that is started.
    pub fn start_again(&self) {
        *self.0.lock() = State { started: Some(Instant::now()), ..State::default() };
    }

    /// Gives no answers from now on, or does again.
    pub fn be_silent(&self, is_silent: bool) {
        self.0.lock().is_silent = is_silent;
    }

    /// Returns the entries of a stream.
    #[must_use]
    pub fn entries(&self, stream: &str) -> Vec<Entry> {
        self.0.lock().streams.get(stream).into_iter().flat_map(|known| &known.entries).cloned().collect()
    }

    /// Deletes all entries of a stream but those that are to stay, as a reader may.
    pub fn delete_but(&self, stream: &str, stays: impl Fn(&Entry) -> bool) {
        if let Some(known) = self.0.lock().streams.get_mut(stream) {
            known.entries.retain(stays);
        }
    }
}

impl State {
    fn answer(&self) -> Result<(), EngineError> {
        if self.is_silent { Err(EngineError::Silent("it is silent".into())) } else { Ok(()) }
    }
}

impl Engine for Memory {
    fn take(
        &self,
        tenant: &str,
        holder: &Holder,
        time: Duration,
        settled: Duration,
    ) -> Result<Taken, EngineError> {
        let (now, mut state) = (Instant::now(), self.0.lock());
        state.answer()?;
        let held = state.leases.get(tenant).filter(|(_, until)| now < *until);
        let is_new = held.is_none();
        match held {
            Some((other, _)) if other != holder => return Ok(Taken::Others(other.clone())),
            None if state.started.is_some_and(|started| now < started + settled) => {
                return Ok(Taken::TooSoon);
            }
            _ => {}
        }
        state.leases.insert(tenant.to_owned(), (holder.clone(), now + time));
        Ok(Taken::Mine { is_new })
    }

    fn give_back(&self, tenant: &str, holder: &Holder) -> Result<(), EngineError> {
        let mut state = self.0.lock();
        if state.leases.get(tenant).is_some_and(|(other, _)| other == holder) {
            state.leases.remove(tenant);
        }
        Ok(())
    }
}

impl Streams for Memory {
    fn last(&self, stream: &str) -> Result<Option<Last>, EngineError> {
        let state = self.0.lock();
        state.answer()?;
        let Some(known) = state.streams.get(stream) else { return Ok(None) };
        Ok(known.last.map(|id| {
            let found = known.entries.back().filter(|entry| entry.id == id);
            Last { id, text: found.map(|entry| entry.text.clone()) }
        }))
    }

    fn append(
        &self,
        stream: &str,
        after: Option<EntryId>,
        entries: &[Entry],
        kept: u64,
    ) -> Result<bool, EngineError> {
        let mut state = self.0.lock();
        state.answer()?;
        let known = state.streams.entry(stream.to_owned()).or_default();
        if known.last != after {
            return Ok(false);
        }
        for entry in entries {
            if known.last.is_some_and(|last| entry.id <= last) {
                return Err(EngineError::Strange("an id is not above the last one".into()));
            }
            known.last = Some(entry.id);
            known.entries.push_back(entry.clone());
        }
        while known.entries.len() as u64 > kept {
            known.entries.pop_front();
        }
        Ok(true)
    }
}
