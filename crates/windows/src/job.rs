//! The end of processes, jobs, by which a program and all that it starts end together, and what they inherit.

use std::io;
use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;
use std::ptr;

use windows_sys::Win32::Foundation::{HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation};
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

/// Keeps the own standard input, output and error from what this process starts, unless that is given them. Else a program that
/// outlives this process holds the pipes of its client, who then waits for their end.
pub fn keep_standard_handles() {
    let all = [io::stdin().as_raw_handle(), io::stdout().as_raw_handle(), io::stderr().as_raw_handle()];
    for handle in all.into_iter().filter(|handle| !handle.is_null()) {
        // SAFETY: the call takes a handle and numbers. Where the handle is none, it fails, and nothing is to be kept.
        #[allow(unsafe_code, reason = "std has no word on what is inherited")]
        unsafe {
            SetHandleInformation(handle as HANDLE, HANDLE_FLAG_INHERIT, 0)
        };
    }
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

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use windows_sys::Win32::Foundation::GetHandleInformation;

    use super::*;

    /// What a started process inherits of a handle.
    #[allow(unsafe_code, reason = "std has no word on what is inherited")]
    fn is_inherited(handle: HANDLE) -> bool {
        let mut flags = 0;
        // SAFETY: the handle is open, and the pointer is to a value that lives as long as the call.
        check_bool(unsafe { GetHandleInformation(handle, &raw mut flags) }).unwrap();
        flags & HANDLE_FLAG_INHERIT != 0
    }

    /// No test of its own: the process that another one starts.
    #[test]
    fn starts_with_an_output_that_is_inherited() {
        if std::env::var_os("EMEND_KEEPS_HANDLES").is_none() {
            return;
        }
        let output = io::stdout().as_raw_handle() as HANDLE;
        assert!(is_inherited(output), "it was itself inherited");
        keep_standard_handles();
        assert!(!is_inherited(output));
        // Whoever is to have it gets it all the same.
        let said = Command::new("cmd").args(["/C", "echo said"]).stdout(Stdio::inherit()).status().unwrap();
        assert!(said.success());
    }

    #[test]
    fn the_own_output_is_nobody_elses_unless_it_is_given() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "job::tests::starts_with_an_output_that_is_inherited", "--nocapture"]);
        let ran = own.env("EMEND_KEEPS_HANDLES", "1").output().unwrap();
        let output = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && output.contains("said"), "{output}");
    }
}
