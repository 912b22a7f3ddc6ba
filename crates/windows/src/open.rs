//! Opening and creating by a name in an open folder (`NtCreateFile` with a root directory).

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle};
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_FOR_BACKUP_INTENT,
    FILE_OPEN_IF, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT, NtCreateFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_DIRECTORY, ERROR_INVALID_NAME, HANDLE, OBJ_CASE_INSENSITIVE, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ADD_FILE, FILE_APPEND_DATA, FILE_ATTRIBUTE_NORMAL, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
    FILE_TRAVERSE, FILE_WRITE_ATTRIBUTES, FILE_WRITE_DATA, READ_CONTROL, SYNCHRONIZE, WRITE_DAC,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use crate::about::{about, is_link};
use crate::status::{check, from_number};

/// What a file is opened for. Except for [`Access::ReadAlone`], other programs may do what they like meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To look at what it is: a file, a folder or a link.
    Look,
    /// To read its content.
    Read,
    /// To read its content, while no other program can have it open for writing.
    ReadAlone,
    /// To find out whether its content may be written.
    AskToWrite,
    /// To read and write its content.
    Overwrite,
    /// To append to it; it is created if it is missing.
    Append,
    /// To rename or remove it: a file, a folder or a link.
    Name,
}

impl Access {
    fn rights(self) -> u32 {
        match self {
            Self::Look => FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            Self::Read | Self::ReadAlone => FILE_GENERIC_READ,
            Self::AskToWrite => FILE_WRITE_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            Self::Overwrite => FILE_GENERIC_READ | FILE_GENERIC_WRITE,
            Self::Append => FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            Self::Name => DELETE | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
        }
    }

    fn share(self) -> u32 {
        match self {
            Self::ReadAlone => FILE_SHARE_READ | FILE_SHARE_DELETE,
            _ => SHARE_ALL,
        }
    }

    /// Returns whether the content is meant, which a link has none of.
    fn is_of_content(self) -> bool {
        !matches!(self, Self::Look | Self::Name)
    }
}

const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
const FOLDER_RIGHTS: u32 =
    FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | READ_CONTROL | SYNCHRONIZE;

/// Opens a name in a folder. A link is never followed: if the content is meant, it is an error of the kind
/// `NotADirectory`.
pub fn open(dir: &impl AsHandle, name: &OsStr, access: Access) -> io::Result<File> {
    let kind = if access.is_of_content() { FILE_NON_DIRECTORY_FILE } else { FILE_OPEN_FOR_BACKUP_INTENT };
    let disposition = if access == Access::Append { FILE_OPEN_IF } else { FILE_OPEN };
    let call = Call { rights: access.rights(), share: access.share(), disposition, options: kind };
    let file = call.at(dir, name, FILE_OPEN_REPARSE_POINT)?;
    if !access.is_of_content() {
        return Ok(file);
    }
    let found = about(&file)?;
    match found.reparse_tag {
        None => Ok(file),
        Some(tag) if is_link(tag) => Err(leads_elsewhere()),
        // Its content is where only the system finds it, compressed or in the cloud: it is opened through that, if it is
        // still the same file.
        Some(_) => {
            let file = call.at(dir, name, 0)?;
            if about(&file)?.is_same_file(&found) { Ok(file) } else { Err(leads_elsewhere()) }
        }
    }
}

/// Opens a folder in a folder, which must be no link.
pub fn open_folder(dir: &impl AsHandle, name: &OsStr) -> io::Result<File> {
    let options = FILE_DIRECTORY_FILE | FILE_OPEN_FOR_BACKUP_INTENT;
    let call = Call { rights: FOLDER_RIGHTS, share: SHARE_ALL, disposition: FILE_OPEN, options };
    let folder = call.at(dir, name, FILE_OPEN_REPARSE_POINT)?;
    match about(&folder)?.reparse_tag {
        Some(tag) if is_link(tag) => Err(leads_elsewhere()),
        _ => Ok(folder),
    }
}

/// Opens the folder itself again, with a position of its own in its listing.
pub fn reopen(dir: &impl AsHandle) -> io::Result<File> {
    let options = FILE_DIRECTORY_FILE | FILE_OPEN_FOR_BACKUP_INTENT;
    let call = Call { rights: FOLDER_RIGHTS, share: SHARE_ALL, disposition: FILE_OPEN, options };
    call.at(dir, OsStr::new(""), FILE_OPEN_REPARSE_POINT)
}

/// Opens the folder itself again in a way that lets it be flushed, and that only who may add files to it can.
pub fn reopen_to_add(dir: &impl AsHandle) -> io::Result<File> {
    let options = FILE_DIRECTORY_FILE | FILE_OPEN_FOR_BACKUP_INTENT;
    let rights = FILE_ADD_FILE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
    let call = Call { rights, share: SHARE_ALL, disposition: FILE_OPEN, options };
    call.at(dir, OsStr::new(""), FILE_OPEN_REPARSE_POINT)
}

/// Creates a file for writing, whose name must be free.
pub fn create_file(dir: &impl AsHandle, name: &OsStr) -> io::Result<File> {
    let rights = FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES | READ_CONTROL | WRITE_DAC;
    let options = FILE_NON_DIRECTORY_FILE;
    Call { rights, share: SHARE_ALL, disposition: FILE_CREATE, options }.at(
        dir,
        name,
        FILE_OPEN_REPARSE_POINT,
    )
}

/// Makes a folder, whose name must be free.
pub fn make_folder(dir: &impl AsHandle, name: &OsStr) -> io::Result<()> {
    let call = Call {
        rights: FOLDER_RIGHTS,
        share: SHARE_ALL,
        disposition: FILE_CREATE,
        options: FILE_DIRECTORY_FILE,
    };
    call.at(dir, name, FILE_OPEN_REPARSE_POINT).map(drop)
}

/// Opens a stream of an open file, or creates it: its name begins with a colon.
pub(crate) fn open_stream(file: &File, name: &[u16], rights: u32, create: bool) -> io::Result<File> {
    let disposition = if create { FILE_CREATE } else { FILE_OPEN };
    Call { rights, share: SHARE_ALL, disposition, options: FILE_NON_DIRECTORY_FILE }.at_wide(
        file.as_handle(),
        name,
        0,
    )
}

/// The rights to read a stream, and to write one.
pub(crate) const STREAM_RIGHTS: (u32, u32) = (FILE_GENERIC_READ, FILE_GENERIC_WRITE | FILE_WRITE_ATTRIBUTES);

/// Returns the error of a way that a link leads elsewhere.
fn leads_elsewhere() -> io::Error {
    from_number(ERROR_DIRECTORY)
}

/// Returns a name as the system takes it, which must be that of a file or folder: after a colon comes a stream of one, after a
/// backslash what is in one, and then a link on the way would be followed.
pub(crate) fn one_name(name: &OsStr) -> io::Result<Vec<u16>> {
    let name: Vec<u16> = name.encode_wide().collect();
    let is_other = |&unit: &u16| unit == u16::from(b':') || unit == u16::from(b'\\') || unit == 0;
    if name.iter().any(is_other) { Err(from_number(ERROR_INVALID_NAME)) } else { Ok(name) }
}

struct Call {
    rights: u32,
    share: u32,
    disposition: u32,
    options: u32,
}

impl Call {
    fn at(&self, dir: &impl AsHandle, name: &OsStr, more: u32) -> io::Result<File> {
        self.at_wide(dir.as_handle(), &one_name(name)?, more)
    }

    #[allow(unsafe_code, reason = "no crate opens relative to a folder with the rights that are needed here")]
    fn at_wide(&self, dir: BorrowedHandle<'_>, name: &[u16], more: u32) -> io::Result<File> {
        let bytes = u16::try_from(mem::size_of_val(name)).map_err(|_| io::ErrorKind::InvalidFilename)?;
        let name = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_ptr().cast_mut() };
        let attributes = OBJECT_ATTRIBUTES {
            Length: mem::size_of::<OBJECT_ATTRIBUTES>() as u32,
            RootDirectory: dir.as_raw_handle() as HANDLE,
            ObjectName: &raw const name,
            Attributes: OBJ_CASE_INSENSITIVE,
            SecurityDescriptor: ptr::null(),
            SecurityQualityOfService: ptr::null(),
        };
        let mut handle: HANDLE = ptr::null_mut();
        // SAFETY: the structure is plain numbers and a pointer; zero is a valid value for each.
        let mut done: IO_STATUS_BLOCK = unsafe { mem::zeroed() };
        // SAFETY: all pointers are to values that live as long as the call, and the folder's handle is open.
        check(unsafe {
            NtCreateFile(
                &raw mut handle,
                self.rights,
                &raw const attributes,
                &raw mut done,
                ptr::null(),
                FILE_ATTRIBUTE_NORMAL,
                self.share,
                self.disposition,
                self.options | more | FILE_SYNCHRONOUS_IO_NONALERT,
                ptr::null(),
                0,
            )
        })?;
        // SAFETY: the call succeeded, so the handle is open and nobody else's.
        Ok(unsafe { File::from_raw_handle(handle.cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rename::rename_new;

    #[test]
    fn a_folder_is_no_file_and_a_file_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("a"), "1").unwrap();
        let dir = crate::list::tests::open(folder.path());
        for access in [Access::Read, Access::Overwrite, Access::Append] {
            let refused = open(&dir, "sub".as_ref(), access).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::IsADirectory, "{access:?}");
        }
        assert_eq!(open_folder(&dir, "a".as_ref()).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert!(about(&open(&dir, "sub".as_ref(), Access::Look).unwrap()).unwrap().is_folder);
    }

    #[test]
    fn a_stream_and_a_path_are_no_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for name in ["a", "sub\\b"] {
            std::fs::write(folder.path().join(name), "1").unwrap();
        }
        let dir = crate::list::tests::open(folder.path());
        let file = open(&dir, "a".as_ref(), Access::Name).unwrap();
        for name in ["a:b", "a::$DATA", "sub::$INDEX_ALLOCATION", "sub\\b", "\\??\\C:\\x", "a\0"] {
            let name = OsStr::new(name);
            let refused = [
                open(&dir, name, Access::Look).map(drop),
                open(&dir, name, Access::Read).map(drop),
                open_folder(&dir, name).map(drop),
                create_file(&dir, name).map(drop),
                make_folder(&dir, name),
                rename_new(&file, &dir, name),
            ];
            for refused in refused {
                assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidFilename, "{}", name.display());
            }
        }
    }
}
