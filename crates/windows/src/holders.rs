//! Which programs hold a file: the Restart Manager knows.

use std::ffi::{OsStr, OsString};
use std::mem;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, HANDLE};
use windows_sys::Win32::Storage::FileSystem::GetFinalPathNameByHandleW;
use windows_sys::Win32::System::RestartManager::{
    CCH_RM_SESSION_KEY, RM_PROCESS_INFO, RmEndSession, RmGetList, RmRegisterResources, RmStartSession,
};

/// The number of programs that are named at most.
const MOST: usize = 8;
/// The length of the longest path of the system, in its units.
const LONGEST: usize = 32 * 1024;

/// Returns the programs that hold a file of this folder, as `name (process 123)`, as far as that can be known.
#[must_use]
pub fn holders(dir: &impl AsHandle, name: &OsStr) -> Vec<String> {
    // By its path, since the file cannot be opened. This is for a message alone.
    path_of(dir).map(|path| holders_of(&plain(path.join(name)))).unwrap_or_default()
}

/// Returns the path of an open folder, without links and as the folders above spell it; `None` if it cannot be known. It is
/// for messages and comparisons, never for opening.
#[allow(unsafe_code, reason = "no crate asks for the path of a handle")]
pub fn path_of(dir: &impl AsHandle) -> Option<PathBuf> {
    let dir = dir.as_handle();
    let mut room = vec![0u16; LONGEST];
    // SAFETY: the handle is open, and the pointer is to room of that size that lives as long as the call.
    let length = unsafe {
        GetFinalPathNameByHandleW(dir.as_raw_handle() as HANDLE, room.as_mut_ptr(), LONGEST as u32, 0)
    } as usize;
    (1..LONGEST).contains(&length).then(|| OsString::from_wide(&room[..length]).into())
}

/// Returns the path as people write it, which the Restart Manager is known to understand.
fn plain(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|path| path.strip_prefix(r"\\?\")) {
        Some(short) if short.get(1..2) == Some(":") => short.into(),
        _ => path,
    }
}

#[allow(unsafe_code, reason = "no crate wraps the Restart Manager")]
fn holders_of(path: &Path) -> Vec<String> {
    let path: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let (mut session, mut key) = (0, [0u16; CCH_RM_SESSION_KEY as usize + 1]);
    // SAFETY: both pointers are to values that live as long as the call, and the key has the room that is asked for.
    if unsafe { RmStartSession(&raw mut session, 0, key.as_mut_ptr()) } != ERROR_SUCCESS {
        return Vec::new();
    }
    let names = [path.as_ptr()];
    // SAFETY: the session is open, and the pointers are to values that live as long as the call.
    let registered =
        unsafe { RmRegisterResources(session, 1, names.as_ptr(), 0, ptr::null(), 0, ptr::null()) };
    let mut found = Vec::new();
    if registered == ERROR_SUCCESS {
        // SAFETY: the structure is plain numbers and characters, of which zero is a valid value for each.
        let mut programs: [RM_PROCESS_INFO; MOST] = unsafe { mem::zeroed() };
        let (mut needed, mut count, mut reasons) = (0, MOST as u32, 0);
        // SAFETY: the session is open, and the pointers are to values that live as long as the call, with room for as
        // many as `count` says.
        let listed = unsafe {
            RmGetList(session, &raw mut needed, &raw mut count, programs.as_mut_ptr(), &raw mut reasons)
        };
        if listed == ERROR_SUCCESS {
            found.extend(programs.iter().take(count as usize).map(shown));
        }
    }
    // SAFETY: the session is open, and nothing uses it afterwards.
    unsafe { RmEndSession(session) };
    found
}

fn shown(program: &RM_PROCESS_INFO) -> String {
    let name: Vec<u16> = program.strAppName.iter().copied().take_while(|&unit| unit != 0).collect();
    format!("{} (process {})", String::from_utf16_lossy(&name), program.Process.dwProcessId)
}
