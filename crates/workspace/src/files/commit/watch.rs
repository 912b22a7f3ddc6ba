//! Watching a file while it is displaced: does another program open it for writing meanwhile?
//!
//! Such a program would write into the displaced file once nobody looks at it any more. Where the kernel gives leases,
//! it waits instead until it is decided which file has the name, and is known of. Where it gives none, nothing is known
//! and the edit goes on: reading what was displaced finds what was written until then.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use crate::disk::{Disk, Stat, Taken};

use super::At;

/// How often it is looked at again whether a file is closed that others have open for writing. Most are for microseconds;
/// one that stays open, as a log, delays a transaction by five milliseconds.
const GLANCES: usize = 20;
/// How long it is waited each time.
const GLANCE: Duration = Duration::from_micros(250);

/// How long a transaction still waits for others to close its files.
#[derive(Debug)]
pub(super) struct Patience(usize);

impl Default for Patience {
    fn default() -> Self {
        Self(GLANCES)
    }
}

/// Opens a file for writing over it. Another process of ours may have a watch on it, which it ends as soon as somebody wants
/// to write: that is waited for.
pub(super) fn open_to_overwrite(disk: &dyn Disk, at: At<'_>) -> io::Result<File> {
    once_unwatched(|| disk.open_to_overwrite(at.0, at.1))
}

fn once_unwatched<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..GLANCES {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(GLANCE),
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

/// What is known of who writes into a file, until it is dropped.
#[derive(Debug)]
pub(super) struct Watch(Taken);

impl Watch {
    /// Watches the file of this name from now on.
    pub(super) fn begin(disk: &dyn Disk, at: At<'_>, patience: &mut Patience) -> Self {
        loop {
            match disk.lease(at.0, at.1) {
                Taken::Open if patience.0 > 0 => {
                    patience.0 -= 1;
                    thread::sleep(GLANCE);
                }
                taken => return Self(taken),
            }
        }
    }

    /// A watch that knows nothing.
    pub(super) fn none() -> Self {
        Self(Taken::Unavailable)
    }

    /// Whether others had it open for writing when this began, so that it cannot be known whether they write.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.0, Taken::Open)
    }

    /// Whether somebody wants to open it for writing since.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(&self.0, Taken::Held(lease) if lease.is_wanted())
    }

    /// Whether it is this file that is watched, as far as any is.
    pub(super) fn is_on(&self, disk: &dyn Disk, stat: &Stat) -> bool {
        match &self.0 {
            Taken::Held(lease) => disk.stat_file(lease.file()).is_ok_and(|own| own.is_same_file(stat)),
            Taken::Open | Taken::Unavailable => true,
        }
    }

    /// Lets who waits go on, and waits until they are done with the file, which has this name now.
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
        assert_eq!(times, 4 + GLANCES + 1);
        let mut asked = 0;
        let gone = || -> io::Result<()> {
            asked += 1;
            Err(io::ErrorKind::NotFound.into())
        };
        assert_eq!(once_unwatched(gone).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(asked, 1);
    }
}
