//! What an engine does: it keeps, for each tenant, who holds its lease, and until when.

use std::fmt;
use std::time::Duration;

/// The run of a server that may hold leases: where others reach it, and what no other run is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    address: String,
    run: String,
}

impl Holder {
    /// Creates the holder of a run, which has a name of its own: a server that was started again is another one, whose memory
    /// is empty.
    #[must_use]
    pub fn new(address: &str, run: &str) -> Self {
        Self { address: address.to_owned(), run: run.to_owned() }
    }

    /// Returns the address at which other servers reach it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Reads a holder as it is written.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (address, run) = written.split_once(' ')?;
        Some(Self::new(address, run))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.address, self.run)
    }
}

/// The answer to a server that wants the lease of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It has the lease, from now on for the whole time. A new one was nobody's before; another server may have had it meanwhile.
    Mine {
        /// Whether it is a new one.
        is_new: bool,
    },
    /// This other one has it.
    Others(Holder),
    /// Nobody has it, and the engine runs for so short a time that it may have forgotten who does.
    TooSoon,
}

/// Why there is no lease.
#[derive(Debug)]
pub enum EngineError {
    /// The engine gives no answer, and would give none to the next question.
    Silent(String),
    /// Its answer is of no use.
    Strange(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Silent(why) | Self::Strange(why)) = self;
        f.write_str(why)
    }
}

/// Keeps leases. All servers use one. A call may block, for a bounded time.
pub trait Engine: Send + Sync {
    /// Takes the lease of a tenant for a time, or for that time again. A lease that nobody has is given only by an engine that
    /// has run for the time `settled`: after a start it may have forgotten who has one.
    fn take(
        &self,
        tenant: &str,
        holder: &Holder,
        time: Duration,
        settled: Duration,
    ) -> Result<Taken, EngineError>;

    /// Gives the lease of a tenant back, if the holder has it.
    fn give_back(&self, tenant: &str, holder: &Holder) -> Result<(), EngineError>;
}
