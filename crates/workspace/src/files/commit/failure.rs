//! The failures of a commit, and their messages.

use std::io;

use emend_edit::Version;

use super::tidy::RestoreOutcome;
use super::{Job, Step};
use crate::disk::fault::is_absent;
use crate::problem::{Again, FileState, Kind, Problem};

pub(super) enum CommitFailure {
    Io {
        step: Step,
        name: String,
        error: io::Error,
    },
    /// Another program wrote to the file during the commit.
    Stale {
        name: String,
        base: Version,
        current: Option<Version>,
    },
    /// Another program was about to write: it opened the file between our last look and our check.
    Overtaken {
        name: String,
    },
    Exists {
        name: String,
    },
    Mounted {
        name: String,
    },
    /// Another program put something into a folder that was to go.
    Filled {
        name: String,
    },
}

impl CommitFailure {
    pub(super) fn io(step: Step, name: &str) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| match error.raw_os_error() {
            // EBUSY: the name is a mount point. EXDEV: the same, where an exchange begins with a hard link.
            Some(16 | 18) if cfg!(unix) && step == Step::Place => Self::Mounted { name: name.into() },
            // ERROR_NOT_SAME_DEVICE.
            Some(17) if cfg!(windows) && step == Step::Place => Self::Mounted { name: name.into() },
            _ => Self::Io { step, name: name.into(), error },
        }
    }

    pub(super) fn into_problem(self, ending: RestoreOutcome) -> Problem {
        let states = ending.states;
        let is_clean = |(_, state): &(String, FileState)| {
            matches!(state, FileState::Untouched | FileState::Restored | FileState::Theirs)
        };
        let clean = states.iter().all(is_clean);
        match self {
            Self::Stale { name, base, current } if clean => {
                let again = Again::Retry;
                let kind = Kind::StaleFile { claimed: base.short(), current, diff: None, by: None, again };
                Problem::new(kind).at(&name)
            }
            Self::Overtaken { name } if clean => Problem::new(Kind::Overtaken { times: 1 }).at(&name),
            Self::Exists { name } if clean => Problem::new(Kind::CameBetween).at(&name),
            Self::Mounted { name } if clean => Problem::new(Kind::MountPoint).at(&name),
            Self::Filled { name } if clean => {
                Problem::new(Kind::FolderHolds { names: Vec::new(), is_all: false }).at(&name)
            }
            other => {
                let (what, name) = match other {
                    Self::Io { step, name, error } => (message(step, &name, &error), name),
                    Self::Stale { name, .. } | Self::Overtaken { name } => {
                        ("Another program wrote at the same moment.".into(), name)
                    }
                    Self::Exists { name } | Self::Mounted { name } | Self::Filled { name } => {
                        ("The file could not be placed.".into(), name)
                    }
                };
                let untouched = |(_, state): &(String, FileState)| {
                    matches!(state, FileState::Untouched | FileState::Restored)
                };
                let end = if states.iter().all(untouched) {
                    "Nothing was changed."
                } else if clean {
                    "Nothing of this edit remains. Read these files before you go on:"
                } else {
                    "Not every file could be put back; what was displaced is kept in Emend's state folder. Read \
                     these files before you go on:"
                };
                let message = format!("{what} {end}");
                let states = if states.iter().all(untouched) { Vec::new() } else { states };
                let problem = Problem::new(Kind::IoError { message, states });
                if name.is_empty() { problem } else { problem.at(&name) }
            }
        }
    }
}

/// Returns what failed at which file, and what can be done about it.
fn message(step: Step, name: &str, error: &io::Error) -> String {
    let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
    let what = match step {
        Step::Stage | Step::Prepare => {
            format!("The new content{of} could not be written to Emend's folder for staged files")
        }
        Step::MakeFolders => format!("The folders{of} could not be made"),
        Step::Recheck | Step::Verify => format!("The content{of} could not be read again"),
        Step::Place => format!("The new content{of} could not be put in its place"),
        Step::SyncFolders | Step::Finish | Step::Keep => format!("The edit{of} could not be made durable"),
    };
    let next = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            " The user that Emend runs as must be allowed to write there: tell the person."
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            " It is on a file system that is mounted read-only: tell the person."
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " Some room must be made on the disk: tell the person."
        }
        // EMFILE, ENFILE.
        _ if cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)) => {
            " The server may open too few files at once (see ulimit -n): tell the person."
        }
        _ => "",
    };
    format!("{what}: {error}.{next}")
}

/// Returns a stale failure for a missing file, which another program removed; otherwise the error.
pub(super) fn gone_or(
    error: io::Error,
    job: &Job<'_>,
    failed: impl FnOnce(io::Error) -> CommitFailure,
) -> CommitFailure {
    match job.base {
        Some((path, base)) if is_absent(&error) => {
            CommitFailure::Stale { name: path.name.clone(), base: base.text.version(), current: None }
        }
        _ => failed(error),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::problem::Code;

    fn system(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    #[test]
    fn what_failed_is_told_with_what_can_be_done_about_it() {
        let (eio, eacces, emfile, enospc, erofs) = (5, 13, 24, 28, 30);
        for (number, advice) in
            [(eacces, "must be allowed"), (erofs, "read-only"), (enospc, "Some room"), (emfile, "ulimit -n")]
        {
            let told = message(Step::Place, "a.txt", &system(number));
            assert!(told.starts_with("The new content of a.txt could not be put"), "{told}");
            assert!(told.contains(advice) && told.ends_with("tell the person."), "{told}");
        }
        assert!(!message(Step::Place, "a.txt", &system(eio)).contains("tell the person"));
        for (step, what) in [
            (Step::Stage, "content could not be written"),
            (Step::MakeFolders, "folders could not be made"),
            (Step::Recheck, "could not be read again"),
            (Step::Verify, "could not be read again"),
            (Step::Finish, "edit could not be made durable"),
        ] {
            let told = message(step, "", &system(eio));
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn a_failure_has_its_own_code_only_where_every_file_is_as_it_was() {
        let name = || "a.txt".to_owned();
        let mounted = |step| CommitFailure::io(step, "a.txt")(system(18));
        let base = Version::hash(b"");
        let failures: [(fn() -> CommitFailure, Code); 3] = [
            (|| CommitFailure::Overtaken { name: "a.txt".into() }, Code::Busy),
            (|| CommitFailure::Exists { name: "a.txt".into() }, Code::AlreadyExists),
            (|| CommitFailure::io(Step::Place, "a.txt")(system(16)), Code::MountPoint),
        ];
        let code = |failure: CommitFailure, states: &[FileState]| {
            let states = states.iter().map(|state| (name(), *state)).collect();
            failure.into_problem(RestoreOutcome { states, left: None, open: None }).code()
        };
        let clean = [FileState::Untouched, FileState::Restored, FileState::Theirs];
        let stale = || CommitFailure::Stale { name: name(), base, current: None };
        assert_eq!(code(stale(), &clean), Code::StaleFile);
        assert_eq!(code(mounted(Step::Place), &clean), Code::MountPoint);
        assert_eq!(code(mounted(Step::Stage), &clean), Code::IoError);
        for (failure, own) in failures {
            assert_eq!(code(failure(), &clean), own);
            for state in [FileState::Mixed, FileState::Unknown] {
                assert_eq!(code(failure(), &[FileState::Untouched, state]), Code::IoError);
                assert_eq!(code(stale(), &[state]), Code::IoError);
            }
        }
    }
}
