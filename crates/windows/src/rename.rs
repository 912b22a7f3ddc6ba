//! Renaming and removing what a handle stands for, whatever its name is by now.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem;
use std::os::windows::io::{AsHandle, AsRawHandle};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DISPOSITION_DELETE, FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE, FILE_DISPOSITION_POSIX_SEMANTICS,
    FILE_INFORMATION_CLASS, FILE_RENAME_INFORMATION, FileDispositionInformation,
    FileDispositionInformationEx, FileRenameInformation, NtFlushBuffersFile, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use crate::open::{one_name, reopen_to_add};
use crate::status::{check, is_unsupported};

/// Renames a file, folder or link that was opened for [`Access::Name`](crate::Access::Name) to a name in a folder of the
/// same volume. The name must be free: nothing is ever replaced.
pub fn rename_new(file: &File, dir: &impl AsHandle, name: &OsStr) -> io::Result<()> {
    let name = one_name(name)?;
    let bytes = mem::size_of_val(&name[..]);
    let at = mem::offset_of!(FILE_RENAME_INFORMATION, FileName);
    // Aligned as the structure is. The flag for replacing stays false.
    let size = (at + bytes).max(mem::size_of::<FILE_RENAME_INFORMATION>());
    let mut room = vec![0u64; size.div_ceil(8)];
    let order: *mut FILE_RENAME_INFORMATION = room.as_mut_ptr().cast();
    #[allow(unsafe_code, reason = "std renames by path")]
    // SAFETY: the room is large enough for the structure with this name at its end, and aligned for it.
    unsafe {
        (*order).RootDirectory = dir.as_handle().as_raw_handle() as HANDLE;
        (*order).FileNameLength = bytes as u32;
        (&raw mut (*order).FileName).cast::<u16>().copy_from_nonoverlapping(name.as_ptr(), name.len());
    }
    set(file, FileRenameInformation, &room, size)
}

/// Removes a file, an empty folder or a link that was opened for [`Access::Name`](crate::Access::Name). The name is free
/// when this returns, on systems that can do that while others have the file open (Windows 10 and newer, on NTFS).
pub fn remove(file: &File) -> io::Result<()> {
    let flags = FILE_DISPOSITION_DELETE
        | FILE_DISPOSITION_POSIX_SEMANTICS
        | FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE;
    match set(file, FileDispositionInformationEx, &[u64::from(flags)], 4) {
        Err(error) if is_unsupported(&error) => set(file, FileDispositionInformation, &[1], 1),
        removed => removed,
    }
}

/// Makes the names in a folder durable, where the file system can do that for a folder. The others make names durable with
/// the next flushed file.
pub fn flush_folder(dir: &impl AsHandle) -> io::Result<()> {
    let dir = reopen_to_add(dir)?;
    // SAFETY: the structure is plain numbers and a pointer; zero is a valid value for each.
    #[allow(unsafe_code, reason = "std flushes no folders")]
    let mut done: IO_STATUS_BLOCK = unsafe { mem::zeroed() };
    // SAFETY: the handle is open, and the pointer is to a value that lives as long as the call.
    #[allow(unsafe_code, reason = "std flushes no folders")]
    let flushed = unsafe { NtFlushBuffersFile(dir.as_raw_handle() as HANDLE, &raw mut done) };
    match check(flushed) {
        Err(error) if is_unsupported(&error) => Ok(()),
        flushed => flushed,
    }
}

/// Sets information of a file from the first bytes of a room.
#[allow(unsafe_code, reason = "std sets these by path")]
fn set(file: &File, class: FILE_INFORMATION_CLASS, room: &[u64], bytes: usize) -> io::Result<()> {
    assert!(bytes <= mem::size_of_val(room), "the room holds all of it");
    // SAFETY: the structure is plain numbers and a pointer; zero is a valid value for each.
    let mut done: IO_STATUS_BLOCK = unsafe { mem::zeroed() };
    // SAFETY: the handle is open, and both pointers are to values that live as long as the call.
    check(unsafe {
        NtSetInformationFile(
            file.as_raw_handle() as HANDLE,
            &raw mut done,
            room.as_ptr().cast(),
            bytes as u32,
            class,
        )
    })
}
