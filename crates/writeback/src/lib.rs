//! Early writeback: the system begins to write a large file to its disk while the file is still being filled.
//!
//! Left alone, the system keeps what a program writes in memory until a sync asks for it, and the disk is idle until then.
//! With [`begin`] (`sync_file_range` with `SYNC_FILE_RANGE_WRITE`) it works while the rest is written.
//!
//! ```
//! use std::io::Write;
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"one\n")?;
//! emend_writeback::begin(&file, 0, 4)?;
//! file.write_all(b"two\n")?;
//! file.sync_all()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! It makes nothing durable: neither does it wait for the disk, nor does it write where on the disk the bytes are. Only a
//! sync does that, and it reports what fails meanwhile.

use std::fs::File;
use std::io;

/// Begins to write `length` bytes of the file from `start` on to its disk, and does not wait for it. Does nothing where
/// the system or the file system cannot. An error means that the disk does not take the bytes, now or later.
pub fn begin(file: &File, start: u64, length: u64) -> io::Result<()> {
    system::begin(file, start, length)
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    use libc::{EINVAL, ENOSYS, EOPNOTSUPP, EPERM, ESPIPE, SYNC_FILE_RANGE_WRITE};

    /// What means that there is no such call here, or none for this file.
    const UNAVAILABLE: [i32; 5] = [EINVAL, ENOSYS, EOPNOTSUPP, EPERM, ESPIPE];

    #[allow(unsafe_code, reason = "no crate wraps sync_file_range")]
    pub(super) fn begin(file: &File, start: u64, length: u64) -> io::Result<()> {
        let (Ok(start), Ok(length)) = (start.try_into(), length.try_into()) else { return Ok(()) };
        // SAFETY: the handle is open, and the call takes no pointer.
        match unsafe { libc::sync_file_range(file.as_raw_fd(), start, length, SYNC_FILE_RANGE_WRITE) } {
            -1 => {
                let error = io::Error::last_os_error();
                let is_unavailable = error.raw_os_error().is_some_and(|code| UNAVAILABLE.contains(&code));
                if is_unavailable { Ok(()) } else { Err(error) }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::io;

    pub(super) fn begin(_file: &File, _start: u64, _length: u64) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn what_is_written_early_is_what_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        let (first, rest) = content.split_at(150_001);
        file.write_all(first).unwrap();
        begin(&file, 0, first.len() as u64).unwrap();
        file.write_all(rest).unwrap();
        begin(&file, first.len() as u64, rest.len() as u64).unwrap();
        file.sync_all().unwrap();
        file.rewind().unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert!(read == content);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_cannot_be_written_early_is_none_the_worse() {
        let null = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        begin(&null, 0, 1).unwrap();
        begin(&null, u64::MAX, 1).unwrap();
    }
}
