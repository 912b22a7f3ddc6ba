//! Conversion of operating system errors into problems.

use std::io;

use crate::problem::{Kind, Problem};

/// Returns the problem that `what` failed with `error` before anything was changed.
pub(crate) fn io_problem(what: &str, error: &io::Error) -> Problem {
    let message = format!("{what} failed: {error}. Nothing was changed.");
    Problem::new(Kind::IoError { message, states: Vec::new() })
}

/// Returns whether the error means that the name does not exist, or that a folder of its path is a file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound)
}

/// Returns whether the error means that a component of the path is a link or a file.
pub(crate) fn leads_elsewhere(error: &io::Error) -> bool {
    #[cfg(unix)]
    let link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let link = false;
    link || error.kind() == io::ErrorKind::NotADirectory
}
