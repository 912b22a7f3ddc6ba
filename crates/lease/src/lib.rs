//! Leases: the kernel tells whether another program opens a file for writing.
//!
//! A read lease (`fcntl` with `F_SETLEASE`) is refused while anybody has the file open for writing. Once it is held,
//! whoever opens the file for writing, or truncates it, waits until the lease is given back, or for 45 seconds
//! (`/proc/sys/fs/lease-break-time`). So between taking a lease and asking [`Lease::is_wanted`], nobody has
//! written into the file, and nobody has a handle to write into it later.
//!
//! ```
//! use emend_lease::{Taken, take};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("a.txt");
//! std::fs::write(&path, "one\n")?;
//! match take(std::fs::File::open(&path)?) {
//!     Taken::Held(lease) => assert!(!lease.is_wanted()),
//!     // On file systems and systems without leases.
//!     Taken::Open | Taken::Unavailable => {}
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! It is advice and no lock: where leases are not to be had (another system, a file of another user, many network file
//! systems), this says so and nothing waits. The process that holds a lease must not open the file for writing itself.
//!
//! Who wants the file is announced by a signal, by default `SIGIO`, which would end the process. It could be ignored, but
//! then so it would be by every program that this one starts. Here the signal is `SIGURG`, by which the system does
//! nothing anyway: no setting of the process is changed, and no call that blocks is interrupted.

use std::fs::File;

/// What became of asking for a lease.
#[derive(Debug)]
pub enum Taken {
    /// It is held, until it is dropped.
    Held(Lease),
    /// Somebody has the file open for writing.
    Open,
    /// Nobody can say.
    Unavailable,
}

/// A lease on an open file. Dropping it gives it back.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

/// Takes a lease on a file that is open for reading.
#[must_use]
pub fn take(file: File) -> Taken {
    system::take(file)
}

impl Lease {
    /// Returns the file that it is on.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether somebody waits to open the file for writing, or has waited until the kernel took the lease away.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        system::is_wanted(&self.file)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may still have it.
        system::give_back(&self.file);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    use libc::{F_GETLEASE, F_RDLCK, F_SETLEASE, F_UNLCK, SIGURG, c_int};

    use super::{Lease, Taken};

    /// The same on every architecture that Rust has; the libc crate lacks it.
    const F_SETSIG: c_int = 10;

    pub(super) fn take(file: File) -> Taken {
        let set = fcntl(&file, F_SETSIG, SIGURG).and_then(|_| fcntl(&file, F_SETLEASE, F_RDLCK));
        match set {
            Ok(_) => Taken::Held(Lease { file }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Taken::Open,
            Err(_) => Taken::Unavailable,
        }
    }

    pub(super) fn is_wanted(file: &File) -> bool {
        // While somebody waits, this yields what the lease is to become.
        !fcntl(file, F_GETLEASE, 0).is_ok_and(|lease| lease == F_RDLCK)
    }

    pub(super) fn give_back(file: &File) {
        let _ = fcntl(file, F_SETLEASE, F_UNLCK);
    }

    #[allow(unsafe_code, reason = "no crate wraps F_SETLEASE")]
    fn fcntl(file: &File, command: c_int, argument: c_int) -> io::Result<c_int> {
        // SAFETY: the handle is open, and none of these commands takes a pointer.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            value => Ok(value),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;

    use super::Taken;

    pub(super) fn take(_file: File) -> Taken {
        Taken::Unavailable
    }

    pub(super) fn is_wanted(_file: &File) -> bool {
        false
    }

    pub(super) fn give_back(_file: &File) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::{ErrorKind, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;
    use std::thread;

    use super::*;

    /// A lease on this file; `None` where there are none, as on some network file systems.
    fn lease(path: &Path) -> Option<Lease> {
        match take(File::open(path).unwrap()) {
            Taken::Held(lease) => Some(lease),
            Taken::Open => panic!("nobody has it open"),
            Taken::Unavailable => None,
        }
    }

    #[test]
    fn who_opens_for_writing_waits_and_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let Some(held) = lease(&path) else { return };
        assert!(!held.is_wanted());
        // Reading, renaming and other names disturb nobody.
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let path = {
            fs::rename(&path, folder.path().join("other")).unwrap();
            folder.path().join("other")
        };
        assert!(!held.is_wanted());
        let writer = thread::spawn({
            let path = path.clone();
            move || fs::write(path, "new").unwrap()
        });
        while !held.is_wanted() {
            thread::yield_now();
        }
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(held);
        writer.join().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn who_will_not_wait_is_noticed_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let Some(held) = lease(&path) else { return };
        // O_NONBLOCK
        let opened = OpenOptions::new().write(true).custom_flags(0o4000).open(&path);
        assert_eq!(opened.unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(held.is_wanted());
        drop(held);
        assert!(!lease(&path).unwrap().is_wanted());
    }

    #[test]
    fn a_file_that_is_open_for_writing_has_none_until_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut writer = File::create(&path).unwrap();
        writer.write_all(b"old").unwrap();
        match take(File::open(&path).unwrap()) {
            Taken::Open => {}
            Taken::Held(_) => panic!("it is open"),
            Taken::Unavailable => return,
        }
        drop(writer);
        assert!(lease(&path).is_some());
    }
}
