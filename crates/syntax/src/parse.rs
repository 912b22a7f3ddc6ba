//! One parse, in bounded time.

use std::ops::ControlFlow;
use std::time::Instant;

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
    // The parser asks after every hundred operations or so.
    let begun = Instant::now();
    let mut goes_on = |_: &ParseState| match begun.elapsed() > limits.time {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let options = ParseOptions::new().progress_callback(&mut goes_on);
    parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), older, Some(options))
}
