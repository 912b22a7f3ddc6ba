//! Watching a file while it is displaced, for other programs that open it for writing.
//!
//! Such a program would write to the displaced file after the last check. With a lease, the kernel makes it wait until
//! the name has its final file, and reports it. Without leases, nothing is known and the edit goes on: reading the
//! displaced file finds what was written until then.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use crate::disk::{Disk, LeaseResult, Stat};

use super::At;

/// The number of checks whether other programs have closed a file. Most open it for microseconds; one that stays open,
/// such as a log, delays a transaction by five milliseconds.
const CHECKS: usize = 20;
/// The interval between these checks.
const CHECK_INTERVAL: Duration = Duration::from_micros(250);

/// The number of checks that a transaction has left.
#[derive(Debug)]
pub(super) struct Patience(usize);

impl Default for Patience {
    fn default() -> Self {
        Self(CHECKS)
    }
}

/// Opens a file for overwriting. Another Emend process may hold a lease on it, which it releases as soon as a program
/// wants to write, so this waits for it.
pub(super) fn open_to_overwrite(disk: &dyn Disk, at: At<'_>) -> io::Result<File> {
    once_unwatched(|| disk.open_to_overwrite(at.0, at.1))
}

fn once_unwatched<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..CHECKS {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(CHECK_INTERVAL),
            opened => return opened,
        }
    }
    open().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            io::Error::new(error.kind(), "another program holds a lease on it and does not give it back")
        }
        _ => error,
    })
}

/// A watch for writers of a file, until it is dropped.
#[derive(Debug)]
pub(super) struct Watch(LeaseResult);

impl Watch {
    /// Begins to watch the file of this name.
    pub(super) fn begin(disk: &dyn Disk, at: At<'_>, patience: &mut Patience) -> Self {
        loop {
            match disk.lease(at.0, at.1) {
                LeaseResult::Open if patience.0 > 0 => {
                    patience.0 -= 1;
                    thread::sleep(CHECK_INTERVAL);
                }
                taken => return Self(taken),
            }
        }
    }

    /// Returns a watch without any knowledge.
    pub(super) fn none() -> Self {
        Self(LeaseResult::Unavailable)
    }

    /// Returns whether other programs already had the file open for writing, so that their writes go unnoticed.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.0, LeaseResult::Open)
    }

    /// Returns whether a program has tried to open the file for writing since.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(&self.0, LeaseResult::Held(lease) if lease.is_wanted())
    }

    /// Returns whether the watched file is this one; true without a lease.
    pub(super) fn is_on(&self, disk: &dyn Disk, stat: &Stat) -> bool {
        match &self.0 {
            LeaseResult::Held(lease) => disk.stat_file(lease.file()).is_ok_and(|own| own.is_same_file(stat)),
            LeaseResult::Open | LeaseResult::Unavailable => true,
        }
    }

    /// Lets waiting programs go on, and waits until they have closed the file, which now has this name.
    pub(super) fn settle(self, disk: &dyn Disk, at: At<'_>) {
        if self.is_wanted() {
            drop(self);
            Self::begin(disk, at, &mut Patience::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_watched_is_opened_once_it_is_not_and_not_waited_for_for_ever() {
        let mut times = 0;
        let mut watched = |until: usize| {
            times += 1;
            if times < until { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(times) }
        };
        assert_eq!(once_unwatched(|| watched(4)).unwrap(), 4);
        let never = once_unwatched(|| watched(usize::MAX)).unwrap_err();
        assert_eq!(never.kind(), io::ErrorKind::WouldBlock);
        assert!(never.to_string().contains("holds a lease"), "{never}");
        assert_eq!(times, 4 + CHECKS + 1);
        let mut asked = 0;
        let gone = || -> io::Result<()> {
            asked += 1;
            Err(io::ErrorKind::NotFound.into())
        };
        assert_eq!(once_unwatched(gone).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(asked, 1);
    }
}
