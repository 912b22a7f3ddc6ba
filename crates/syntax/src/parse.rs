//! One parse, in bounded processor time. Elapsed time would not do: on a busy machine, broken files would pass the
//! check unseen.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::{Language, Limits};

/// Returns the tree of a text, with its errors; `None` if that would cost too much. The tree of an older text, edited
/// by the difference, is reused where it fits.
///
/// Each call makes a parser: keeping one saves a tenth of the time, but also keeps the memory of its worst text.
pub(crate) fn tree(language: Language, text: &[u8], limits: &Limits, older: Option<&Tree>) -> Option<Tree> {
    // A grammar takes a NUL for the end of the text, and may then search for more for ever.
    if text.len() > limits.bytes || memchr::memchr(0, text).is_some() {
        return None;
    }
    // The parser calls this after every hundred operations or so, in this thread.
    let begun = Begun::now();
    let mut goes_on = |_: &ParseState| match begun.is_over(limits.time) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let options = ParseOptions::new().progress_callback(&mut goes_on);
    parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), older, Some(options))
}

/// How many times its limit of processor time may elapse before a parse on a busy machine gives up all the same.
const BUSY: u32 = 20;

/// The start of a parse, or of other work on a tree.
pub(crate) struct Begun {
    at: Instant,
    worked: Option<Duration>,
}

impl Begun {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), worked: worked() }
    }

    /// Returns whether this thread has used more processor time than this since the start.
    pub(crate) fn is_over(&self, time: Duration) -> bool {
        let gone = self.at.elapsed();
        // Processor time never exceeds elapsed time, which is cheaper to read.
        if gone <= time {
            return false;
        }
        match (self.worked, worked()) {
            (Some(before), Some(now)) => now.saturating_sub(before) > time || gone > time * BUSY,
            _ => true,
        }
    }
}

/// Returns the processor time of this thread so far, where the system tells it.
#[cfg(unix)]
fn worked() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
}

#[cfg(not(unix))]
fn worked() -> Option<Duration> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_thread_has_worked_counts_until_very_much_more_has_gone_by() {
        let second = Duration::from_secs(1);
        let ago =
            |gone: u32| Begun { at: Instant::now().checked_sub(second * gone).unwrap(), worked: worked() };
        assert!(!ago(0).is_over(second) && !ago(2).is_over(second), "it has waited");
        assert!(ago(BUSY + 1).is_over(second), "it has waited for too long");
        let busy = Begun { worked: worked().map(|_| Duration::ZERO), ..ago(2) };
        assert!(busy.is_over(Duration::ZERO));
        assert!(Begun { worked: None, ..ago(2) }.is_over(second), "nobody says how long it has worked");
    }
}
