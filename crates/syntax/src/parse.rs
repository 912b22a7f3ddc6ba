//! One parse, with bounded work.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::{Language, Limits};

thread_local! {
    /// A parser keeps the memory of its last parse for the next one.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// The tree of a text, errors included; none where that would cost too much.
pub(crate) fn tree(language: Language, text: &[u8], limits: &Limits) -> Option<Tree> {
    if text.len() > limits.bytes {
        return None;
    }
    let mut steps = 0;
    let mut count = |_: &ParseState| {
        steps += 1;
        if steps > limits.steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&language.grammar()).ok()?;
        let options = ParseOptions::new().progress_callback(&mut count);
        let tree =
            parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options));
        // Else the next text would be taken for the rest of this one.
        parser.reset();
        tree
    })
}
