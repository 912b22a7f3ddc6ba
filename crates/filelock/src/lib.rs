//! Locks among processes, waited for until a deadline: of a whole file or folder, and of single bytes of a file.
//!
//! On Linux the kernel keeps the queue and wakes who is next at once; nothing polls. Elsewhere a waiting thread tries again
//! every millisecond. A wait that ends without the lock leaves nothing behind, neither a thread nor a place in the queue. A
//! lock belongs to the open handle: it is released when the handle is closed or its process ends, and two handles of one
//! process exclude each other as two processes do.
//!
//! ```
//! use std::fs::File;
//! use std::time::Instant;
//! use emend_filelock::{Hold, lock, unlock};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("lock");
//! std::fs::write(&path, "")?;
//! let (mine, other) = (File::open(&path)?, File::open(&path)?);
//! assert!(lock(&mine, Hold::Alone, Instant::now())?);
//! assert!(!lock(&other, Hold::Shared, Instant::now())?);
//! unlock(&mine)?;
//! assert!(lock(&other, Hold::Shared, Instant::now())?);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The locks are advisory: they order those who ask for them and nobody else.

use std::fs::File;
use std::io;
use std::time::Instant;

/// The way in which a file or folder is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Together with others that share it.
    Shared,
    /// With nobody else.
    Alone,
}

/// Whether the system has locks of single bytes that belong to a handle ([`lock_byte`]).
pub const HAS_BYTE_LOCKS: bool = cfg!(any(target_os = "linux", windows));

/// Whether the system locks folders ([`lock`]) and has marks in them ([`mark_byte`]); else only files.
pub const LOCKS_FOLDERS: bool = cfg!(not(windows));

/// Locks a whole file or folder. Returns false if that was not possible until then.
pub fn lock(file: &File, hold: Hold, until: Instant) -> io::Result<bool> {
    system::lock(file, hold, until)
}

/// Locks a whole file for this handle alone, however long that takes.
pub fn lock_patiently(file: &File) -> io::Result<()> {
    system::lock_patiently(file)
}

/// Releases the lock of a whole file or folder.
pub fn unlock(file: &File) -> io::Result<()> {
    system::unlock(file)
}

/// Locks one byte of a file that is open for writing, which need not exist. Returns false if that was not possible until
/// then.
pub fn lock_byte(file: &File, at: u32, until: Instant) -> io::Result<bool> {
    system::lock_byte(file, at, until)
}

/// Releases the lock of one byte.
pub fn unlock_byte(file: &File, at: u32) -> io::Result<()> {
    system::unlock_byte(file, at)
}

/// Marks one byte of a file or folder that is open for reading, through this handle. Marks exclude nobody, but others see
/// them.
pub fn mark_byte(file: &File, at: u32) -> io::Result<()> {
    system::mark_byte(file, at)
}

/// Returns whether another handle marks this byte, or any if none is given. On Windows, the marks of this handle count too.
pub fn is_marked(file: &File, at: Option<u32>) -> io::Result<bool> {
    system::is_marked(file, at)
}

/// Takes the mark of one byte away.
pub fn unmark_byte(file: &File, at: u32) -> io::Result<()> {
    system::unlock_byte(file, at)
}

#[cfg(target_os = "linux")]
mod deadline;

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::time::Instant;

    use libc::{
        F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_RDLCK, F_UNLCK, F_WRLCK, LOCK_EX, LOCK_NB, LOCK_SH, c_int,
        c_short,
    };

    use super::Hold;
    use super::deadline;

    pub(super) fn lock(file: &File, hold: Hold, until: Instant) -> io::Result<bool> {
        let how = match hold {
            Hold::Shared => LOCK_SH,
            Hold::Alone => LOCK_EX,
        };
        or_wait(until, || flock(file, how | LOCK_NB), || flock(file, how))
    }

    pub(super) fn lock_patiently(file: &File) -> io::Result<()> {
        file.lock()
    }

    pub(super) fn unlock(file: &File) -> io::Result<()> {
        file.unlock()
    }

    pub(super) fn lock_byte(file: &File, at: u32, until: Instant) -> io::Result<bool> {
        let set = |command| byte_lock(file, command, F_WRLCK, at.into(), 1).map(drop);
        or_wait(until, || set(F_OFD_SETLK), || set(F_OFD_SETLKW))
    }

    pub(super) fn unlock_byte(file: &File, at: u32) -> io::Result<()> {
        byte_lock(file, F_OFD_SETLK, F_UNLCK, at.into(), 1).map(drop)
    }

    pub(super) fn mark_byte(file: &File, at: u32) -> io::Result<()> {
        byte_lock(file, F_OFD_SETLK, F_RDLCK, at.into(), 1).map(drop)
    }

    pub(super) fn is_marked(file: &File, at: Option<u32>) -> io::Result<bool> {
        // Asked which lock would stand in the way of one that excludes all others. Without a length, up to the end.
        let (at, length) = at.map_or((0, 0), |at| (at.into(), 1));
        Ok(byte_lock(file, F_OFD_GETLK, F_WRLCK, at, length)? != F_UNLCK)
    }

    /// Tries without waiting, and then with.
    fn or_wait(
        until: Instant,
        now: impl Fn() -> io::Result<()>,
        wait: impl Fn() -> io::Result<()>,
    ) -> io::Result<bool> {
        match now() {
            Ok(()) => return Ok(true),
            // Some file systems answer EACCES.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {}
            Err(error) => return Err(error),
        }
        deadline::wait_until(until, wait)
    }

    #[allow(unsafe_code, reason = "std's locks know no deadline")]
    fn flock(file: &File, operation: c_int) -> io::Result<()> {
        // SAFETY: the handle is open, and the call takes no pointer.
        check(unsafe { libc::flock(file.as_raw_fd(), operation) })
    }

    /// Sets or asks for a lock of some bytes. Returns the kind that is there, after asking.
    #[allow(unsafe_code, reason = "no crate wraps the locks of an open handle's bytes")]
    fn byte_lock(file: &File, command: c_int, kind: c_int, at: i64, length: i64) -> io::Result<c_int> {
        // SAFETY: the structure is plain numbers, of which zero is a valid value for each.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = kind as c_short;
        range.l_whence = libc::SEEK_SET as c_short;
        range.l_start = at as libc::off_t;
        range.l_len = length as libc::off_t;
        // SAFETY: the handle is open, and the pointer is to a structure that lives as long as the call.
        check(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) })?;
        Ok(range.l_type.into())
    }

    fn check(result: c_int) -> io::Result<()> {
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(windows)]
#[path = "windows.rs"]
mod system;

#[cfg(not(any(target_os = "linux", windows)))]
mod system {
    use std::fs::{File, TryLockError};
    use std::io;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::Hold;

    /// How long a waiting thread sleeps between two tries: these systems have no wait with a deadline.
    const PAUSE: Duration = Duration::from_millis(1);

    pub(super) fn lock(file: &File, hold: Hold, until: Instant) -> io::Result<bool> {
        loop {
            let locked = match hold {
                Hold::Shared => file.try_lock_shared(),
                Hold::Alone => file.try_lock(),
            };
            match locked {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return Ok(false),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    pub(super) fn lock_patiently(file: &File) -> io::Result<()> {
        file.lock()
    }

    pub(super) fn unlock(file: &File) -> io::Result<()> {
        file.unlock()
    }

    pub(super) fn lock_byte(_file: &File, _at: u32, _until: Instant) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn unlock_byte(_file: &File, _at: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn mark_byte(_file: &File, _at: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_marked(_file: &File, _at: Option<u32>) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
