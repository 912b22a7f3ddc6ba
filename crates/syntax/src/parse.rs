//! One parse, in bounded time: that which it was given by the processor. On a busy machine more goes by, and what a guard is
//! asked about must not get through because others work too.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::{Language, Limits};

/// The tree of a text, errors included; none where that would cost too much. What it shares with an older text is taken
/// from the tree of that, if that was told of the difference.
///
/// With a parser of its own: to keep one saves a tenth of the time, and keeps the memory of the worst text that it met.
pub(crate) fn tree(language: Language, text: &[u8], limits: &Limits, older: Option<&Tree>) -> Option<Tree> {
    // A grammar takes a NUL for the end, and may look for more of it for ever.
    if text.len() > limits.bytes || memchr::memchr(0, text).is_some() {
        return None;
    }
    // The parser asks after every hundred operations or so, in this thread.
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

/// How many times its time goes by for a thread that waits for its turn, before it gives up all the same.
const BUSY: u32 = 20;

/// When a parse began.
struct Begun {
    at: Instant,
    worked: Option<Duration>,
}

impl Begun {
    fn now() -> Self {
        Self { at: Instant::now(), worked: worked() }
    }

    /// Whether this thread has worked for longer than this since then.
    fn is_over(&self, time: Duration) -> bool {
        let gone = self.at.elapsed();
        // No thread works for longer than time goes by; to ask for that costs less.
        if gone <= time {
            return false;
        }
        match (self.worked, worked()) {
            (Some(before), Some(now)) => now.saturating_sub(before) > time || gone > time * BUSY,
            _ => true,
        }
    }
}

/// How long this thread has worked so far, where the system says so.
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
