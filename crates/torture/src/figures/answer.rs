//! The answer to a call and the time that it took.

use std::time::Duration;

use anyhow::{Result, bail};

/// An answer as it came, which is not parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    pub(super) text: &'a str,
    /// The time from the call to the end of the answer.
    pub(super) time: Duration,
}

impl Answer<'_> {
    /// Whether the server did what it was asked.
    pub(super) fn is_made(&self) -> bool {
        // A quote inside a text has a backslash before it, so these are the answer's own.
        self.text.contains("\"result\":") && !self.text.contains("\"isError\":true")
    }

    /// The time, unless the server refused.
    pub(super) fn made(&self) -> Result<Duration> {
        if !self.is_made() {
            bail!("refused: {}", self.text.chars().take(500).collect::<String>());
        }
        Ok(self.time)
    }
}
