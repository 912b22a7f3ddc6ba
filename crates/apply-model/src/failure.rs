//! Why a model gave no text: [`Failure`]. It never repeats what the endpoint sent, which may hold anything.

use std::fmt;
use std::time::Duration;

/// The reason why a model gave no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The caller gave up.
    Cancelled,
    /// Other questions are still being answered.
    Busy,
    /// The question has more bytes than may be sent.
    TooMuchToSend {
        /// The bytes of the question.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The answer has more bytes than are read.
    TooMuchReceived {
        /// The limit.
        most: usize,
    },
    /// The time was over.
    TimedOut(Duration),
    /// The endpoint could not be reached, or the connection broke.
    Unreachable(&'static str),
    /// The endpoint sent the question elsewhere, where nothing is sent.
    Redirected,
    /// The endpoint refused with this status.
    Status(u16),
    /// The answer is not one of a chat endpoint.
    Malformed(&'static str),
    /// The model stopped before the end of its answer.
    CutOff,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(f, "the call was cancelled"),
            Self::Busy => write!(f, "other calls are still waiting for it"),
            Self::TooMuchToSend { bytes, most } => {
                write!(
                    f,
                    "the question has {bytes} bytes, and at most {most} are sent (apply_model.max_bytes)"
                )
            }
            Self::TooMuchReceived { most } => {
                write!(f, "its answer has more than {most} bytes (apply_model.max_bytes)")
            }
            Self::TimedOut(after) => {
                write!(f, "it gave no answer within {} seconds (apply_model.timeout)", after.as_secs_f64())
            }
            Self::Unreachable(why) => write!(f, "it cannot be reached: {why}"),
            Self::Redirected => write!(f, "its endpoint redirects, and redirects are not followed"),
            Self::Status(status @ (401 | 403)) => write!(f, "its endpoint refused the key (HTTP {status})"),
            Self::Status(status) => write!(f, "its endpoint answered with HTTP {status}"),
            Self::Malformed(what) => {
                write!(f, "its endpoint answered something else than a chat completion: {what}")
            }
            Self::CutOff => write!(f, "it stopped before the end of its answer"),
        }
    }
}
