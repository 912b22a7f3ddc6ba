//! Who is calling, and what is remembered for them.
//!
//! On stdio, in either era, the process is one client's. What a caller has read is never shared with
//! another; every new way to be called gets its own kind of [`Caller`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use emend_workspace::Readings;

/// Whose memory a call uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The one client at the other end of standard input and output.
    Process,
}

/// What each caller has read.
#[derive(Debug, Default)]
pub struct Callers(Mutex<HashMap<Caller, Arc<Mutex<Readings>>>>);

impl Callers {
    /// What this caller has read.
    pub fn readings(&self, caller: &Caller) -> Arc<Mutex<Readings>> {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(callers.entry(caller.clone()).or_default())
    }
}
