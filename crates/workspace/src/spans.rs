//! The tracing spans around the steps of an edit: the number of files, the edit id, the duration, and the code of a
//! refusal. They never contain file contents or the text of a request.
//!
//! Without a subscriber a span costs one comparison: none of its values is computed.

use tracing::field::{Empty, display};
use tracing::{Span, debug_span};

use crate::files::effort::NotDone;
use crate::problem::Problem;

/// Opens the span of planning for this many paths.
pub(crate) fn plan(paths: impl FnOnce() -> usize) -> Span {
    debug_span!("plan", paths = paths(), code = Empty)
}

/// Opens the span of committing this many files; the edit id is recorded later.
pub(crate) fn commit(files: usize) -> Span {
    debug_span!("commit", files, edit = Empty, code = Empty)
}

/// Runs a step within its span and records the code of the problem that refuses it.
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

/// An error of a step.
pub(crate) trait Refusal {
    /// Returns the first of its problems.
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
