//! How a command ends: with a number that scripts can act upon, and, where it did not do what was asked, with why.

use std::io;
use std::process::ExitCode;

use emend_workspace::problem::{Code, Problem};

/// How a command ended, and its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// It was refused and nothing was changed; `doctor` has found a problem.
    Refused = 1,
    /// The command, or a configuration file, says what cannot be done. clap ends with the same number.
    Usage = 2,
    /// The machine failed, or somebody else was in the way: the same command may succeed later.
    Fault = 3,
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The answer that a client would get.
    Refused(Vec<Problem>),
    /// No edit is what was asked for.
    Unknown(String),
    /// What was asked for is wrong.
    Usage(anyhow::Error),
    /// Something broke.
    Fault(anyhow::Error),
}

/// The end of a command.
pub(crate) type Ended = Result<Exit, Stop>;

impl Exit {
    /// How a command ends that these problems have stopped.
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
    /// Something that was asked for and cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(anyhow::Error::msg(message.into()))
    }

    /// A mistake of whoever gave the command, unless the machine had a part in it.
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
