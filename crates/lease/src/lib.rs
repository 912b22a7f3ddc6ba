//! Leases: the kernel's notice that another program opens a file for writing.
//!
//! A read lease (`fcntl` with `F_SETLEASE`) is refused while any process has the file open for writing. Once it is
//! held, a process that opens the file for writing, or truncates it, blocks until the lease is released, or for 45
//! seconds (`/proc/sys/fs/lease-break-time`). So if [`Lease::is_wanted`] returns false, nobody has written into the
//! file since the lease was taken, and nobody has a handle to write into it later.
//!
//! ```
//! use emend_lease::{LeaseResult, take};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("a.txt");
//! std::fs::write(&path, "one\n")?;
//! match take(std::fs::File::open(&path)?) {
//!     LeaseResult::Held(lease) => assert!(!lease.is_wanted()),
//!     // On file systems and systems without leases.
//!     LeaseResult::Open | LeaseResult::Unavailable => {}
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A lease is no lock: where the system grants none (another system, a file of another user, many network file
//! systems), [`take`] says so and nobody is held up. The process that holds a lease must not open the file for writing
//! itself.
//!
//! The kernel announces another opener by a signal, by default `SIGIO`, which would end the process. Ignoring `SIGIO`
//! would be inherited by every program that this process starts. So the signal is set to `SIGURG`, which has no effect
//! by default: no setting of the process changes, and no blocking call is interrupted.

use std::fs::File;

/// The result of asking for a lease.
#[derive(Debug)]
pub enum LeaseResult {
    /// The lease is held until it is dropped.
    Held(Lease),
    /// A process has the file open for writing.
    Open,
    /// The system grants no lease on this file, so it is unknown whether it is open for writing.
    Unavailable,
}

/// A lease on an open file. Dropping it releases the lease.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

/// Takes a lease on a file that is open for reading; on Windows, by a handle that does not share writing.
#[must_use]
pub fn take(file: File) -> LeaseResult {
    system::take(file)
}

impl Lease {
    /// Returns the leased file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether a process waits to open the file for writing, or has waited until the kernel broke the lease.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        system::is_wanted(&self.file)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may have inherited the handle.
        system::give_back(&self.file);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    use libc::{F_GETLEASE, F_RDLCK, F_SETLEASE, F_UNLCK, SIGURG, c_int};

    use super::{Lease, LeaseResult};

    /// The command number, equal on every architecture that Rust supports; the libc crate lacks it.
    const F_SETSIG: c_int = 10;

    pub(super) fn take(file: File) -> LeaseResult {
        let set = fcntl(&file, F_SETSIG, SIGURG).and_then(|_| fcntl(&file, F_SETLEASE, F_RDLCK));
        match set {
            Ok(_) => LeaseResult::Held(Lease { file }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => LeaseResult::Open,
            Err(_) => LeaseResult::Unavailable,
        }
    }

    pub(super) fn is_wanted(file: &File) -> bool {
        // While a process waits, this returns the type to which the lease must be downgraded.
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

/// Here the handle itself is the lease, if it was opened so that it shares no writing: whoever wants to write is refused and
/// does not wait.
#[cfg(windows)]
mod system {
    use std::fs::File;

    use super::{Lease, LeaseResult};

    pub(super) fn take(file: File) -> LeaseResult {
        LeaseResult::Held(Lease { file })
    }

    pub(super) fn is_wanted(_file: &File) -> bool {
        false
    }

    pub(super) fn give_back(_file: &File) {}
}

#[cfg(not(any(target_os = "linux", windows)))]
mod system {
    use std::fs::File;

    use super::LeaseResult;

    pub(super) fn take(_file: File) -> LeaseResult {
        LeaseResult::Unavailable
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

    /// Takes a lease on this file; `None` where the system grants none, as on some network file systems.
    fn lease(path: &Path) -> Option<Lease> {
        match take(File::open(path).unwrap()) {
            LeaseResult::Held(lease) => Some(lease),
            LeaseResult::Open => panic!("nobody has it open"),
            LeaseResult::Unavailable => None,
        }
    }

    #[test]
    fn who_opens_for_writing_waits_and_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let Some(held) = lease(&path) else { return };
        assert!(!held.is_wanted());
        // Reading and renaming do not break the lease.
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
            LeaseResult::Open => {}
            LeaseResult::Held(_) => panic!("it is open"),
            LeaseResult::Unavailable => return,
        }
        drop(writer);
        assert!(lease(&path).is_some());
    }
}
