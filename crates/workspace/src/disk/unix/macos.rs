//! What is macOS's own: folders are opened one by one, since there is no `openat2`; a sync asks the drive to empty its cache
//! too (`F_FULLFSYNC`); and files take their ACL and flags from calls of their own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs;
use rustix::io::Errno;

use super::Unix;
use crate::disk::{Disk, Portable};

/// `renameatx_np` is as old as the oldest macOS that Rust supports; file systems without it get the portable steps.
pub(super) fn is_supported() -> bool {
    true
}

/// `O_NOFOLLOW_ANY` would do it in one call, but a system that does not know it ignores it, and follows links.
pub(super) fn open_beneath(root: &Dir, path: &Path) -> io::Result<Dir> {
    Portable.open_dir(root, path)
}

/// The system knows the path of what is open, by the names that its folders have.
pub(super) fn spelled(dir: &Dir, name: &OsStr) -> Option<PathBuf> {
    let path = match name == "." {
        true => fs::getpath(dir),
        false => fs::getpath(Unix.open_file(dir, name).ok()?),
    };
    Some(OsString::from_vec(path.ok()?.into_bytes()).into())
}

/// Without `F_FULLFSYNC` the drive may lose what it has acknowledged. Some network file systems do not have it.
pub(super) fn sync(file: &File) -> io::Result<()> {
    match fs::fcntl_fullfsync(file) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::OPNOTSUPP | Errno::NOTTY) => Ok(fs::fsync(file)?),
        synced => Ok(synced?),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "other systems can, and can fail")]
pub(super) fn sync_all(_dir: &Dir) -> io::Result<bool> {
    Ok(false)
}

/// Returns the number of the file system that a folder is on: macOS mounts no folder a second time.
pub(super) fn mount(dir: &Dir) -> io::Result<i32> {
    Ok(fs::fstat(dir)?.st_dev)
}

pub(super) fn write(file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    crate::disk::portable::write(file, pieces)
}
