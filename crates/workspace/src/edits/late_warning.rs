//! A warning of the syntax guard that was not found before the answer to its edit: a later answer gives it.

use std::sync::mpsc::{Receiver, TryRecvError};

/// A file that an edit breaks.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// What was not found before the answer to its edit.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) edit: String,
    pub(crate) found: Receiver<Vec<Broken>>,
}

impl Late {
    /// What was found, in words; `None` while that is not known.
    pub(crate) fn told(&self) -> Option<Vec<String>> {
        let edit = &self.edit;
        let told = |Broken { name, line, what }: Broken| {
            format!(
                "Edit {edit} broke the parse of {name} at line {line}: {what}. Fix it, unless a later edit has"
            )
        };
        match self.found.try_recv() {
            Ok(broken) => Some(broken.into_iter().map(told).collect()),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Vec::new()),
        }
    }
}
