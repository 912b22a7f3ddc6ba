//! The end of processes, and jobs: a program and all that it starts end together.

use std::io;
use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;
use std::ptr;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};

use crate::status::check_bool;

/// Ends this process at once, as killing it from outside does: nothing is cleaned up.
#[allow(unsafe_code, reason = "std ends a process by an error of the program")]
pub fn terminate() -> ! {
    // SAFETY: the handle of the own process is always valid.
    unsafe { TerminateProcess(GetCurrentProcess(), KILLED) };
    unreachable!("this process has ended")
}

/// The exit code of a killed process.
const KILLED: u32 = 9;

/// A job: the processes in it and all that they start. They end when it is dropped.
#[derive(Debug)]
pub struct Job(OwnedHandle);

impl Job {
    /// Makes a job for a process that was just started. What it has started before is not in it.
    #[allow(unsafe_code, reason = "std has no jobs")]
    pub fn around(child: &Child) -> io::Result<Self> {
        // SAFETY: the call takes no pointers but null ones.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is open and nobody else's.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle.cast()) });
        // SAFETY: the structure is plain numbers, of which zero is a valid value for each.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { mem::zeroed() };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = mem::size_of_val(&limits) as u32;
        // SAFETY: the handle is open, and the pointer is to a structure of that size that lives as long as the call.
        check_bool(unsafe {
            SetInformationJobObject(
                handle,
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        })?;
        // SAFETY: both handles are open.
        check_bool(unsafe { AssignProcessToJobObject(handle, child.as_raw_handle() as HANDLE) })?;
        Ok(job)
    }

    /// Lets the processes in it outlive it.
    #[allow(unsafe_code, reason = "std has no jobs")]
    pub fn release(self) {
        // SAFETY: the structure is plain numbers, of which zero is a valid value for each; zero is no limit.
        let limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { mem::zeroed() };
        let size = mem::size_of_val(&limits) as u32;
        let handle = self.0.as_raw_handle() as HANDLE;
        // SAFETY: the handle is open, and the pointer is to a structure of that size that lives as long as the call.
        unsafe {
            SetInformationJobObject(
                handle,
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            );
        }
    }
}
