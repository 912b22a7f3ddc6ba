//! How a command ends: its exit code, and the reason where it did not do what was asked.

use std::io;
use std::process::ExitCode;

use emend_workspace::problem::{Code, Problem};

/// The exit codes of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what was asked.
    Done = 0,
    /// The request was refused and nothing was changed; or `doctor` has found a problem.
    Refused = 1,
    /// The command line or a configuration file is wrong. clap uses the same number.
    Usage = 2,
    /// The machine failed, or another program interfered: the same command may succeed later.
    Fault = 3,
}

/// The reason why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The problems that a client would get.
    Refused(Vec<Problem>),
    /// There is no such edit.
    Unknown(String),
    /// The user asked for something that is wrong.
    Usage(anyhow::Error),
    /// The machine failed.
    Fault(anyhow::Error),
}

/// The result of a command.
pub(crate) type Ended = Result<Exit, Stop>;

impl Exit {
    /// The exit code for these problems.
    pub(crate) fn of(problems: &[Problem]) -> Self {
        let is_fault = |problem: &Problem| {
            matches!(problem.code(), Code::IoError | Code::Busy | Code::RecoveryNeeded | Code::Cancelled)
        };
        if problems.iter().any(is_fault) { Self::Fault } else { Self::Refused }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Stop {
    /// A wrong request, described by this message.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(anyhow::Error::msg(message.into()))
    }

    /// A fault if the machine caused this error, and a wrong request otherwise.
    pub(crate) fn of(error: anyhow::Error) -> Self {
        if error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some()) {
            Self::Fault(error)
        } else {
            Self::Usage(error)
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused(problems) => Exit::of(problems),
            Self::Unknown(_) => Exit::Refused,
            Self::Usage(_) => Exit::Usage,
            Self::Fault(_) => Exit::Fault,
        }
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Fault(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Refused(vec![problem])
    }
}

impl From<Vec<Problem>> for Stop {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Refused(problems)
    }
}
