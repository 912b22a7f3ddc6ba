//! The locks of Windows, which are those of ranges of bytes (`LockFileEx`). A range need not exist in the file.
//!
//! Whoever locks a range keeps others from reading and writing it. So a whole file is locked by a byte far behind its content
//! and behind the bytes that are locked one by one.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::Hold;

/// How long a waiting thread sleeps between two tries: a wait for a lock of this kind has no deadline.
const PAUSE: Duration = Duration::from_millis(1);
/// How often a mark is tried: whoever looks whether there is one keeps others from setting it, for the time of a call.
const TRIES: usize = 200;

/// A range of bytes.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    length: u64,
}

/// What stands for the whole file.
const WHOLE: Range = Range { start: 1 << 40, length: 1 };
/// All bytes that are locked and marked one by one.
const ALL_BYTES: Range = Range { start: 0, length: 1 << 32 };

fn byte(at: u32) -> Range {
    Range { start: at.into(), length: 1 }
}

pub(super) fn lock(file: &File, hold: Hold, until: Instant) -> io::Result<bool> {
    wait(until, || try_lock(file, hold, WHOLE))
}

pub(super) fn lock_patiently(file: &File) -> io::Result<()> {
    while !try_lock(file, Hold::Alone, WHOLE)? {
        thread::sleep(PAUSE);
    }
    Ok(())
}

pub(super) fn unlock(file: &File) -> io::Result<()> {
    release(file, WHOLE)
}

pub(super) fn lock_byte(file: &File, at: u32, until: Instant) -> io::Result<bool> {
    wait(until, || try_lock(file, Hold::Alone, byte(at)))
}

pub(super) fn unlock_byte(file: &File, at: u32) -> io::Result<()> {
    release(file, byte(at))
}

pub(super) fn mark_byte(file: &File, at: u32) -> io::Result<()> {
    for _ in 0..TRIES {
        if try_lock(file, Hold::Shared, byte(at))? {
            return Ok(());
        }
        thread::yield_now();
    }
    Err(io::ErrorKind::WouldBlock.into())
}

pub(super) fn is_marked(file: &File, at: Option<u32>) -> io::Result<bool> {
    let range = at.map_or(ALL_BYTES, byte);
    if !try_lock(file, Hold::Alone, range)? {
        return Ok(true);
    }
    release(file, range)?;
    Ok(false)
}

fn wait(until: Instant, now: impl Fn() -> io::Result<bool>) -> io::Result<bool> {
    while !now()? {
        if Instant::now() >= until {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
    Ok(true)
}

/// Locks a range. Returns false if another handle has locked a part of it.
fn try_lock(file: &File, hold: Hold, range: Range) -> io::Result<bool> {
    let alone = if hold == Hold::Alone { LOCKFILE_EXCLUSIVE_LOCK } else { 0 };
    let (low, high) = halves(range.length);
    let mut at = overlapped(range);
    // SAFETY: the handle is open, and the pointer is to a structure that lives as long as the call, which does not wait.
    #[allow(unsafe_code, reason = "std locks only whole files, and with a content none")]
    let locked = unsafe {
        LockFileEx(
            file.as_raw_handle() as HANDLE,
            alone | LOCKFILE_FAIL_IMMEDIATELY,
            0,
            low,
            high,
            &raw mut at,
        )
    };
    if locked != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error().map(|number| number as u32) {
        Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Ok(false),
        _ => Err(error),
    }
}

fn release(file: &File, range: Range) -> io::Result<()> {
    let (low, high) = halves(range.length);
    let mut at = overlapped(range);
    // SAFETY: the handle is open, and the pointer is to a structure that lives as long as the call.
    #[allow(unsafe_code, reason = "std locks only whole files, and with a content none")]
    let released = unsafe { UnlockFileEx(file.as_raw_handle() as HANDLE, 0, low, high, &raw mut at) };
    let error = io::Error::last_os_error();
    if released != 0 || error.raw_os_error() == Some(ERROR_NOT_LOCKED as i32) { Ok(()) } else { Err(error) }
}

fn halves(number: u64) -> (u32, u32) {
    (number as u32, (number >> 32) as u32)
}

fn overlapped(range: Range) -> OVERLAPPED {
    let (low, high) = halves(range.start);
    let place = OVERLAPPED_0_0 { Offset: low, OffsetHigh: high };
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: place }, ..OVERLAPPED::default() }
}
