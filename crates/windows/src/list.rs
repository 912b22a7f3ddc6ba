//! The names in an open folder (`NtQueryDirectoryFile`).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::mem;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::ptr;

use windows_sys::Wdk::Storage::FileSystem::{FileFullDirectoryInformation, NtQueryDirectoryFile};
use windows_sys::Win32::Foundation::{HANDLE, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE, UNICODE_STRING};
use windows_sys::Win32::Storage::FileSystem::{FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use crate::open::reopen;
use crate::status::check;

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name, as the folder spells it.
    pub name: OsString,
    /// Whether it is a folder, or a link to one.
    pub is_folder: bool,
    /// The kind of reparse point, if it is one.
    pub reparse_tag: Option<u32>,
}

/// Returns at most `limit` names in a folder, without `.` and `..`.
pub fn list(dir: &impl AsHandle, limit: usize) -> io::Result<Vec<Listed>> {
    // A handle of its own, since the position in the listing belongs to the handle.
    let dir = reopen(dir)?;
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(part) = part(&dir, None)? else { break };
        found.extend(part.into_iter().filter(|listed| listed.name != "." && listed.name != ".."));
    }
    found.truncate(limit);
    Ok(found)
}

/// Returns how the folder spells this name: in its own letter case, and not the short name of a longer one. `None` if there
/// is none.
pub fn spelling(dir: &impl AsHandle, name: &OsStr) -> io::Result<Option<OsString>> {
    let found = part(&reopen(dir)?, Some(name))?;
    Ok(found.and_then(|part| part.into_iter().next()).map(|listed| listed.name))
}

/// The room for a part of a listing: at least one name of the greatest length.
const ROOM: usize = 64 * 1024;

/// Returns the next names of a listing; `None` at its end. With a name, only that one is meant.
#[allow(unsafe_code, reason = "std lists by path")]
fn part(dir: &File, only: Option<&OsStr>) -> io::Result<Option<Vec<Listed>>> {
    // Aligned as the structure is.
    let mut room = vec![0u64; ROOM / 8];
    let wide: Vec<u16> = only.unwrap_or_default().encode_wide().collect();
    let bytes = u16::try_from(mem::size_of_val(&wide[..])).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let name = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: wide.as_ptr().cast_mut() };
    // SAFETY: the structure is plain numbers and a pointer; zero is a valid value for each.
    let mut done: IO_STATUS_BLOCK = unsafe { mem::zeroed() };
    // SAFETY: the handle is open, and all pointers are to values that live as long as the call.
    let status = unsafe {
        NtQueryDirectoryFile(
            dir.as_raw_handle() as HANDLE,
            ptr::null_mut(),
            None,
            ptr::null(),
            &raw mut done,
            room.as_mut_ptr().cast(),
            ROOM as u32,
            FileFullDirectoryInformation,
            only.is_some(),
            if only.is_some() { &raw const name } else { ptr::null() },
            false,
        )
    };
    if matches!(status, STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE) {
        return Ok(None);
    }
    check(status)?;
    let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).take(done.Information).collect();
    Ok(Some(parse(&bytes)))
}

/// The places in the structure `FILE_FULL_DIR_INFORMATION`.
const ATTRIBUTES: usize = 56;
const NAME_LENGTH: usize = 60;
/// The size of extended attributes, or the tag of a reparse point.
const TAG: usize = 64;
const NAME: usize = 68;

/// Reads the chain of structures that a listing is.
fn parse(bytes: &[u8]) -> Vec<Listed> {
    let mut found = Vec::new();
    let mut rest = bytes;
    loop {
        let number = |at: usize| {
            let bytes = rest.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        let (Some(next), Some(attributes), Some(length), Some(tag)) =
            (number(0), number(ATTRIBUTES), number(NAME_LENGTH), number(TAG))
        else {
            return found;
        };
        let Some(name) = rest.get(NAME..NAME + length as usize) else { return found };
        let wide: Vec<u16> =
            name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        found.push(Listed {
            name: OsString::from_wide(&wide),
            is_folder: attributes & FILE_ATTRIBUTE_DIRECTORY != 0,
            reparse_tag: (attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0).then_some(tag),
        });
        match rest.get(next as usize..) {
            Some(later) if next > 0 => rest = later,
            _ => return found,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::os::windows::fs::OpenOptionsExt;

    /// Opens a folder by its path.
    pub(crate) fn open(folder: &std::path::Path) -> File {
        // FILE_FLAG_BACKUP_SEMANTICS, without which no folder is opened.
        std::fs::OpenOptions::new().read(true).custom_flags(0x0200_0000).open(folder).unwrap()
    }

    #[test]
    fn a_folder_lists_all_its_names_and_spells_each_in_its_own_way() {
        let folder = tempfile::tempdir().unwrap();
        let dir = open(folder.path());
        assert_eq!(list(&dir, 9).unwrap(), []);
        let mut names: Vec<String> = (0..700).map(|number| format!("{number} {}", "n".repeat(150))).collect();
        names.push("Gr\u{fc}n.TXT".into());
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        std::fs::create_dir(folder.path().join("Sub")).unwrap();
        let listed = list(&dir, 9_999).unwrap();
        let mut found: Vec<String> = listed
            .iter()
            .filter(|listed| !listed.is_folder)
            .map(|l| l.name.to_str().unwrap().to_owned())
            .collect();
        found.sort();
        names.sort();
        assert_eq!(found, names);
        assert!(listed.contains(&Listed { name: "Sub".into(), is_folder: true, reparse_tag: None }));
        assert_eq!(list(&dir, 3).unwrap().len(), 3);
        for (asked, spelled) in
            [("gr\u{fc}n.txt", Some("Gr\u{fc}n.TXT")), ("SUB", Some("Sub")), ("gone", None)]
        {
            assert_eq!(spelling(&dir, asked.as_ref()).unwrap(), spelled.map(OsString::from), "{asked}");
        }
    }
}
