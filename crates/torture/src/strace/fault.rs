//! A fault and its spelling. `several/renameat2:3:kill` kills the process at its third `renameat2` in the scenario
//! `several`; `several/fsync:2:EIO` makes that call fail; `several/fsync:2:EIO+` also all later `fsync`. A second fault
//! after another slash strikes the next server, during its recovery.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Error, bail};

/// One system call that goes wrong. Each thread counts its own calls from 1.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) syscall: String,
    pub(super) number: usize,
    pub(super) effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The process is killed at the call.
    Kill,
    /// The call fails, once.
    Fail(&'static str),
    /// The call and all later ones of the same name fail.
    FailOn(&'static str),
}

/// The errors that are injected.
pub(super) const ERRORS: &[&str] = &["EIO", "ENOSPC", "EACCES", "EROFS", "EXDEV"];

/// Stops the process only at traced calls, so that the others run at full speed.
pub(super) const FILTER: &str = "--seccomp-bpf";

impl Fault {
    /// The arguments that make strace inject this fault and nothing else.
    pub(super) fn arguments(&self, log: &Path) -> Vec<String> {
        let Self { syscall, number, .. } = self;
        let mut arguments = arguments(syscall, log);
        let how = match self.effect {
            Effect::Kill => {
                // In the stop that `--seccomp-bpf` uses, strace cannot inject a signal.
                arguments.retain(|argument| argument != FILTER);
                format!("signal=KILL:when={number}")
            }
            Effect::Fail(error) => format!("error={error}:when={number}"),
            Effect::FailOn(error) => format!("error={error}:when={number}+"),
        };
        arguments.extend(["-e".into(), format!("inject={syscall}:{how}")]);
        arguments
    }
}

/// The arguments that make strace log these calls of all threads, with the files of their descriptors.
pub(super) fn arguments(syscalls: &str, log: &Path) -> Vec<String> {
    let log = log.display().to_string();
    let trace = format!("trace={syscalls}");
    ["-f", FILTER, "-qq", "-y", "-s", "64", "-e", "signal=none", "-o", &log, "-e", &trace]
        .map(str::to_owned)
        .into()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.syscall, self.number)?;
        match self.effect {
            Effect::Kill => f.write_str("kill"),
            Effect::Fail(error) => f.write_str(error),
            Effect::FailOn(error) => write!(f, "{error}+"),
        }
    }
}

impl FromStr for Fault {
    type Err = Error;

    fn from_str(written: &str) -> Result<Self, Error> {
        let mut parts = written.split(':');
        let (Some(syscall), Some(number), Some(effect), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            bail!("a fault is written SYSCALL:NUMBER:EFFECT, such as renameat2:3:kill, not {written:?}")
        };
        let error = |name: &str| ERRORS.iter().copied().find(|error| *error == name);
        let effect = match (effect, effect.strip_suffix('+')) {
            ("kill", _) => Effect::Kill,
            (_, Some(name)) => Effect::FailOn(error(name).context("this error is not known")?),
            (name, None) => Effect::Fail(error(name).context("this error is not known")?),
        };
        Ok(Self { syscall: syscall.into(), number: number.parse()?, effect })
    }
}
