//! What the file that replaces another keeps of it: attributes, the access list, alternate streams.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem;
use std::os::windows::io::{AsHandle, AsRawHandle};

use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_INSUFFICIENT_BUFFER, ERROR_MORE_DATA, HANDLE};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, PROTECTED_DACL_SECURITY_INFORMATION,
    SE_DACL_AUTO_INHERIT_REQ, SE_DACL_AUTO_INHERITED, SE_DACL_PROTECTED, SetKernelObjectSecurity,
    UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM, FILE_BASIC_INFO,
    FileBasicInfo, FileStreamInfo, GetFileInformationByHandleEx, SetFileInformationByHandle,
};

use crate::about::ask;
use crate::open::{STREAM_RIGHTS, open_stream};
use crate::status::{check_bool, is_unsupported};

/// The size of the largest stream that is copied. Those that programs leave beside a text are notes of some bytes.
const LARGEST: u64 = 1024 * 1024;
/// The attributes that say something of a file. The others say how it is stored.
const ATTRIBUTES: u32 = FILE_ATTRIBUTE_READONLY
    | FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_SYSTEM
    | FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// Gives `new`, which has no content yet, the access list, the alternate streams, the attributes and the time of creation of
/// `old`. It is an error if it cannot have them, so that none is lost without a word.
pub fn keep(old: &File, new: &File) -> io::Result<()> {
    let basic: FILE_BASIC_INFO = ask(old.as_handle(), FileBasicInfo)?;
    let made: FILE_BASIC_INFO = ask(new.as_handle(), FileBasicInfo)?;
    let is_encrypted = |basic: &FILE_BASIC_INFO| basic.FileAttributes & FILE_ATTRIBUTE_ENCRYPTED != 0;
    if let Some(why) = match (is_encrypted(&basic), is_encrypted(&made)) {
        (true, _) => Some("the file is encrypted by Windows, and the new one would not be"),
        (_, true) => Some("Windows encrypts what is in Emend's state folder, and the file is not encrypted"),
        _ => None,
    } {
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    copy_access_list(old, new)?;
    for stream in streams(old)? {
        copy_stream(old, new, &stream)?;
    }
    // Last, since a file that may only be read gets no more streams. Times of zero stay as they are.
    let kept = basic.FileAttributes & ATTRIBUTES;
    let attributes = if kept == 0 { FILE_ATTRIBUTE_NORMAL } else { kept };
    set_basic(
        new,
        &FILE_BASIC_INFO {
            FileAttributes: attributes,
            CreationTime: basic.CreationTime,
            ..FILE_BASIC_INFO::default()
        },
    )
}

#[allow(unsafe_code, reason = "std sets attributes by path")]
fn set_basic(file: &File, basic: &FILE_BASIC_INFO) -> io::Result<()> {
    let size = mem::size_of::<FILE_BASIC_INFO>() as u32;
    // SAFETY: the handle is open, and the pointer is to a structure of that size that lives as long as the call.
    check_bool(unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle() as HANDLE,
            FileBasicInfo,
            std::ptr::from_ref(basic).cast(),
            size,
        )
    })
}

/// The place of the flags in a security descriptor.
const CONTROL: usize = 2;

/// Copies the list of who may do what, with what of it is inherited.
#[allow(unsafe_code, reason = "no crate wraps the security of an open file")]
fn copy_access_list(old: &File, new: &File) -> io::Result<()> {
    let mut list = match access_list(old) {
        Ok(list) => list,
        // A file system without access lists, such as FAT.
        Err(error) if is_unsupported(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let control = u16::from_le_bytes([list[CONTROL], list[CONTROL + 1]]);
    let is = |flag: u16| control & flag != 0;
    // That it is inherited is only kept if that is asked for.
    let asked = if is(SE_DACL_AUTO_INHERITED) { control | SE_DACL_AUTO_INHERIT_REQ } else { control };
    list[CONTROL..CONTROL + 2].copy_from_slice(&asked.to_le_bytes());
    let protection = match is(SE_DACL_PROTECTED) {
        true => PROTECTED_DACL_SECURITY_INFORMATION,
        false => UNPROTECTED_DACL_SECURITY_INFORMATION,
    };
    let what = DACL_SECURITY_INFORMATION | protection;
    // SAFETY: the handle is open, and the descriptor is one that the system made and lives as long as the call.
    check_bool(unsafe {
        SetKernelObjectSecurity(new.as_raw_handle() as HANDLE, what, list.as_ptr().cast_mut().cast())
    })
}

/// Returns the security descriptor of a file with its access list alone.
#[allow(unsafe_code, reason = "no crate wraps the security of an open file")]
fn access_list(file: &File) -> io::Result<Vec<u8>> {
    let mut room: Vec<u8> = vec![0; 1024];
    loop {
        let mut needed = 0;
        // SAFETY: the handle is open, and both pointers are to values that live as long as the call.
        let got = check_bool(unsafe {
            GetKernelObjectSecurity(
                file.as_raw_handle() as HANDLE,
                DACL_SECURITY_INFORMATION,
                room.as_mut_ptr().cast(),
                room.len() as u32,
                &raw mut needed,
            )
        });
        match got {
            Err(error) if is_number(&error, ERROR_INSUFFICIENT_BUFFER) && needed as usize > room.len() => {
                room.resize(needed as usize, 0);
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(room),
        }
    }
}

fn is_number(error: &io::Error, number: u32) -> bool {
    error.raw_os_error() == Some(number as i32)
}

/// Returns the names of a file's alternate streams, as `:name:$DATA`.
#[allow(unsafe_code, reason = "no crate lists streams")]
fn streams(file: &File) -> io::Result<Vec<Vec<u16>>> {
    let mut room = vec![0u64; 512];
    loop {
        let size = mem::size_of_val(&room[..]) as u32;
        // SAFETY: the handle is open, and the pointer is to room of that size that lives as long as the call.
        let got = check_bool(unsafe {
            GetFileInformationByHandleEx(
                file.as_raw_handle() as HANDLE,
                FileStreamInfo,
                room.as_mut_ptr().cast(),
                size,
            )
        });
        match got {
            Ok(()) => break,
            Err(error) if is_number(&error, ERROR_MORE_DATA) && room.len() < 1 << 20 => {
                room.resize(room.len() * 2, 0);
            }
            // No stream at all, or a file system without them.
            Err(error) if is_number(&error, ERROR_HANDLE_EOF) || is_unsupported(&error) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        }
    }
    let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
    Ok(parse(&bytes))
}

/// The places in the structure `FILE_STREAM_INFO`.
const NAME_LENGTH: usize = 4;
const NAME: usize = 24;

/// Reads the chain of structures that lists the streams, without that of the content.
fn parse(bytes: &[u8]) -> Vec<Vec<u16>> {
    let content: Vec<u16> = "::$DATA".encode_utf16().collect();
    let mut found = Vec::new();
    let mut rest = bytes;
    loop {
        let number = |at: usize| {
            let bytes = rest.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes) as usize)
        };
        let (Some(next), Some(length)) = (number(0), number(NAME_LENGTH)) else { return found };
        let Some(name) = rest.get(NAME..NAME + length) else { return found };
        let name: Vec<u16> =
            name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        if !name.is_empty() && name != content {
            found.push(name);
        }
        match rest.get(next..) {
            Some(later) if next > 0 => rest = later,
            _ => return found,
        }
    }
}

fn copy_stream(old: &File, new: &File, name: &[u16]) -> io::Result<()> {
    let shown = String::from_utf16_lossy(name);
    let failed = |why: &str| {
        let message = format!("the file has a stream {shown} besides its content, which {why}");
        io::Error::new(io::ErrorKind::Unsupported, message)
    };
    let from = open_stream(old, name, STREAM_RIGHTS.0, false)
        .map_err(|error| failed(&format!("cannot be read: {error}")))?;
    let mut content = Vec::new();
    (&from).take(LARGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LARGEST {
        return Err(failed("is too large to be copied"));
    }
    let to = open_stream(new, name, STREAM_RIGHTS.1, true)
        .map_err(|error| failed(&format!("cannot be copied: {error}")))?;
    (&to).write_all(&content)?;
    to.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(next: u32, name: &str) -> Vec<u8> {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut bytes = vec![0; NAME];
        bytes[..4].copy_from_slice(&next.to_le_bytes());
        bytes[4..8].copy_from_slice(&(name.len() as u32).to_le_bytes());
        bytes.extend(name);
        bytes
    }

    #[test]
    fn the_streams_beside_the_content_are_found() {
        let content = entry(40, "::$DATA");
        let mut bytes = content.clone();
        bytes.resize(40, 0);
        bytes.extend(entry(0, ":Zone.Identifier:$DATA"));
        let found: Vec<String> = parse(&bytes).iter().map(|name| String::from_utf16_lossy(name)).collect();
        assert_eq!(found, [":Zone.Identifier:$DATA"]);
        assert!(
            parse(&[]).is_empty() && parse(&entry(0, "::$DATA")).is_empty() && parse(&[0; 24]).is_empty()
        );
    }

    #[test]
    fn a_new_file_gets_the_attributes_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        std::fs::write(&old, "1").unwrap();
        let mut permissions = old.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&old, permissions).unwrap();
        let dir = crate::list::tests::open(folder.path());
        let file = crate::create_file(&dir, "new".as_ref()).unwrap();
        keep(&File::open(&old).unwrap(), &file).unwrap();
        (&file).write_all(b"2").unwrap();
        assert!(new.metadata().unwrap().permissions().readonly());
        assert_eq!(std::fs::read(&new).unwrap(), b"2");
    }
}
