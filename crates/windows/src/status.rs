//! The results of the system's native calls as [`io::Error`]s.

use std::io;

use windows_sys::Win32::Foundation::{
    ERROR_CALL_NOT_IMPLEMENTED, ERROR_DIRECTORY_NOT_SUPPORTED, ERROR_INVALID_FUNCTION, ERROR_INVALID_LEVEL,
    ERROR_INVALID_PARAMETER, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED, ERROR_SHARING_VIOLATION,
    ERROR_USER_MAPPED_FILE, NTSTATUS, RtlNtStatusToDosError, STATUS_DELETE_PENDING,
    STATUS_FILE_IS_A_DIRECTORY,
};

/// Converts the result of a native call.
pub(crate) fn check(status: NTSTATUS) -> io::Result<()> {
    match status {
        0.. => Ok(()),
        // The system's own number for it is that of a refused access. The file is about to go, and is held until then.
        STATUS_DELETE_PENDING => Err(from_number(ERROR_SHARING_VIOLATION)),
        // So is its number for a folder that was to be a file.
        STATUS_FILE_IS_A_DIRECTORY => Err(from_number(ERROR_DIRECTORY_NOT_SUPPORTED)),
        status => {
            // SAFETY: the call takes a number.
            #[allow(unsafe_code, reason = "the system's own table")]
            let number = unsafe { RtlNtStatusToDosError(status) };
            Err(from_number(number))
        }
    }
}

/// Converts the result of a Win32 call.
pub(crate) fn check_bool(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn from_number(number: u32) -> io::Error {
    io::Error::from_raw_os_error(number as i32)
}

/// Returns whether the error means that another program holds the file and does not share it.
#[must_use]
pub fn is_held(error: &io::Error) -> bool {
    is_one_of(error, &[ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE])
}

/// Returns whether the error means that the file system, or this version of the system, lacks the call.
#[must_use]
pub fn is_unsupported(error: &io::Error) -> bool {
    let numbers = [
        ERROR_CALL_NOT_IMPLEMENTED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_LEVEL,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    is_one_of(error, &numbers)
}

fn is_one_of(error: &io::Error, numbers: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|found| numbers.contains(&(found as u32)))
}
