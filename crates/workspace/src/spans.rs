//! The spans of the log around the steps of an edit: how many files, which edit, how long, and the code of a refusal.
//! Never what a file holds, nor what a request says.
//!
//! Where nobody listens a span is one comparison: none of its values is computed.

use tracing::field::{Empty, display};
use tracing::{Span, debug_span};

use crate::files::effort::NotDone;
use crate::problem::Problem;

/// A plan being made for this many files.
pub(crate) fn plan(paths: impl FnOnce() -> usize) -> Span {
    debug_span!("plan", paths = paths(), code = Empty)
}

/// A plan for this many files being committed, under an id that is told later.
pub(crate) fn commit(files: usize) -> Span {
    debug_span!("commit", files, edit = Empty, code = Empty)
}

/// Runs a step within its span, which gets the code of what refuses it.
pub(crate) fn within<T, E: Refusal>(span: &Span, step: impl FnOnce(&Span) -> Result<T, E>) -> Result<T, E> {
    let _entered = span.enter();
    let ended = step(span);
    if let Err(refusal) = &ended
        && let Some(problem) = refusal.first()
        && !span.is_disabled()
    {
        span.record("code", display(problem.code()));
    }
    ended
}

/// What a step may be refused by.
pub(crate) trait Refusal {
    /// The first of its problems.
    fn first(&self) -> Option<&Problem>;
}

impl Refusal for Problem {
    fn first(&self) -> Option<&Problem> {
        Some(self)
    }
}

impl<E: Refusal> Refusal for NotDone<E> {
    fn first(&self) -> Option<&Problem> {
        match self {
            Self::NotQuick => None,
            Self::Refused(why) => why.first(),
        }
    }
}

impl Refusal for Vec<Problem> {
    fn first(&self) -> Option<&Problem> {
        self.as_slice().first()
    }
}
