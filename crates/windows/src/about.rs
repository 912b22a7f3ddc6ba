//! What an open file, folder or link is.

use std::io;
use std::mem;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::time::{Duration, SystemTime};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_TAG_INFO, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS,
    FileAttributeTagInfo, FileIdInfo, GetFileInformationByHandle, GetFileInformationByHandleEx,
};

use crate::status::check_bool;

/// What an open file, folder or link is.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Whether it is a folder, or a link to one.
    pub is_folder: bool,
    /// Whether nobody may write to it.
    pub is_read_only: bool,
    /// The kind of reparse point, if it is one.
    pub reparse_tag: Option<u32>,
    /// The size of its content.
    pub size: u64,
    /// The time when its content last changed.
    pub modified: SystemTime,
    /// The number of its volume.
    pub volume: u64,
    /// Its number on the volume. Numbers of 128 bits, which only ReFS has, are folded.
    pub number: u64,
    /// The number of its names; none once it is removed.
    pub names: u32,
}

impl About {
    /// Returns whether both are the same file, whatever its content.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.volume, self.number) == (other.volume, other.number)
    }
}

/// The tags of Microsoft's reparse points whose files have content that the system finds elsewhere: deduplicated, in a
/// compressed form, or in the cloud.
const DEDUPLICATED: u32 = 0x8000_0013;
const COMPRESSED: u32 = 0x8000_0017;
const CLOUD: u32 = 0x9000_001A;
/// The bits by which the sixteen tags of the cloud differ.
const CLOUD_KIND: u32 = 0x0000_F000;

/// Returns whether a reparse point of this kind is a link, or might be one: a symbolic link, a junction, a folder on which a
/// volume is mounted, and everything that is not known to have its own content.
#[must_use]
pub fn is_link(reparse_tag: u32) -> bool {
    !matches!(reparse_tag, DEDUPLICATED | COMPRESSED) && reparse_tag & !CLOUD_KIND != CLOUD
}

/// Returns what an open file, folder or link is.
#[allow(unsafe_code, reason = "std's metadata has neither the volume nor the number")]
pub fn about(file: &impl AsHandle) -> io::Result<About> {
    let file = file.as_handle();
    // SAFETY: the structure is plain numbers, of which zero is a valid value for each.
    let mut found: BY_HANDLE_FILE_INFORMATION = unsafe { mem::zeroed() };
    // SAFETY: the handle is open, and the pointer is to a structure that lives as long as the call.
    check_bool(unsafe { GetFileInformationByHandle(file.as_raw_handle() as HANDLE, &raw mut found) })?;
    let has = |attribute: u32| found.dwFileAttributes & attribute != 0;
    let mut reparse_tag = None;
    if has(FILE_ATTRIBUTE_REPARSE_POINT) {
        let tag: FILE_ATTRIBUTE_TAG_INFO = ask(file, FileAttributeTagInfo)?;
        reparse_tag = Some(tag.ReparseTag);
    }
    // The short number is not unique on ReFS, and the short volume number not on every machine.
    let (volume, number) = match ask::<FILE_ID_INFO>(file, FileIdInfo) {
        Ok(long) => (long.VolumeSerialNumber, folded(long.FileId.Identifier)),
        Err(_) => (found.dwVolumeSerialNumber.into(), wide(found.nFileIndexHigh, found.nFileIndexLow)),
    };
    Ok(About {
        is_folder: has(FILE_ATTRIBUTE_DIRECTORY),
        is_read_only: has(FILE_ATTRIBUTE_READONLY) && !has(FILE_ATTRIBUTE_DIRECTORY),
        reparse_tag,
        size: wide(found.nFileSizeHigh, found.nFileSizeLow),
        modified: time(wide(found.ftLastWriteTime.dwHighDateTime, found.ftLastWriteTime.dwLowDateTime)),
        volume,
        number,
        names: found.nNumberOfLinks,
    })
}

/// Asks for one structure of information about a file.
#[allow(unsafe_code, reason = "std's metadata has none of these")]
pub(crate) fn ask<T: Copy>(file: BorrowedHandle<'_>, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    // SAFETY: every structure asked for here is plain numbers, of which zero is a valid value for each.
    let mut found: T = unsafe { mem::zeroed() };
    let size = mem::size_of::<T>() as u32;
    // SAFETY: the handle is open, and the pointer is to a structure of that size that lives as long as the call.
    check_bool(unsafe {
        GetFileInformationByHandleEx(file.as_raw_handle() as HANDLE, class, (&raw mut found).cast(), size)
    })?;
    Ok(found)
}

fn wide(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn folded(number: [u8; 16]) -> u64 {
    let number = u128::from_le_bytes(number);
    number as u64 ^ ((number >> 64) as u64).rotate_left(32)
}

/// The time between the epochs of Windows and of Unix.
const BETWEEN_EPOCHS: Duration = Duration::from_secs(11_644_473_600);

/// Converts a time in units of 100 nanoseconds since 1601.
fn time(units: u64) -> SystemTime {
    let since_1601 = Duration::new(units / 10_000_000, (units % 10_000_000) as u32 * 100);
    match since_1601.checked_sub(BETWEEN_EPOCHS) {
        Some(since_1970) => SystemTime::UNIX_EPOCH + since_1970,
        None => SystemTime::UNIX_EPOCH,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_file_is_what_std_says_of_it_and_itself_by_both_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        std::fs::hard_link(&path, folder.path().join("b")).unwrap();
        std::fs::write(folder.path().join("c"), "12345").unwrap();
        let look = |name: &str| about(&File::open(folder.path().join(name)).unwrap()).unwrap();
        let (one, other, third) = (look("a"), look("b"), look("c"));
        assert_eq!((one.size, one.names, one.is_folder, one.reparse_tag), (5, 2, false, None));
        let modified = path.metadata().unwrap().modified().unwrap();
        assert_eq!(one.modified, modified);
        assert!(one.is_same_file(&other) && !one.is_same_file(&third) && one.volume == third.volume);
    }

    #[test]
    fn links_and_all_that_may_be_one_are_told_from_files_with_content_elsewhere() {
        let (symlink, junction, wsl_link, socket, unknown) =
            (0xA000_000C, 0xA000_0003, 0xA000_001D, 0x8000_0023, 0x1234_5678);
        for tag in [symlink, junction, wsl_link, socket, unknown] {
            assert!(is_link(tag), "{tag:x}");
        }
        for tag in [DEDUPLICATED, COMPRESSED, CLOUD, CLOUD | 0x1000, CLOUD | 0xF000] {
            assert!(!is_link(tag), "{tag:x}");
        }
    }
}
