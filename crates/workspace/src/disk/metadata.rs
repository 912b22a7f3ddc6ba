//! The metadata of files on Unix, and copying it to the file that replaces them.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;
use rustix::fs::{self, Access, AtFlags, FileType, XattrFlags};
use rustix::io::Errno;

use super::{FileKind, Stat};

#[allow(clippy::unnecessary_cast, reason = "these types differ between systems")]
pub(super) fn from_stat(stat: &fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Dir,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo => FileKind::Other("a FIFO"),
        FileType::Socket => FileKind::Other("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => FileKind::Other("a device"),
        _ => FileKind::Other("something else"),
    };
    let seconds = u64::try_from(stat.st_mtime).ok().map(Duration::from_secs);
    let modified = seconds
        .map(|seconds| SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(stat.st_mtime_nsec as u64));
    Stat {
        kind,
        size: stat.st_size.max(0) as u64,
        modified,
        device: stat.st_dev as u64,
        inode: stat.st_ino,
        links: stat.st_nlink as u64,
        mode: stat.st_mode as u32 & 0o7777,
        read_only: stat.st_mode as u32 & 0o222 == 0,
    }
}

pub(super) fn may_write(dir: &Dir, name: &OsStr) -> bool {
    // Asks for the effective user, as opening the file for writing would.
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    match fs::accessat(dir, name, Access::WRITE_OK, flags) {
        Ok(()) => true,
        // Not every system supports these flags; there the commit finds out.
        Err(error) => matches!(error, Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP),
    }
}

/// Runs `write`, then restores the mode bits that writing clears (setuid, setgid).
pub(super) fn keeping_mode(file: &File, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mode = fs::fstat(file)?.st_mode & 0o7777;
    write()?;
    if mode & 0o6000 != 0 {
        fs::fchmod(file, fs::Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Makes the file executable for everyone who may read it, or for nobody.
pub(super) fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    let mode = fs::fstat(file)?.st_mode & 0o7777;
    let mode = if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
    Ok(fs::fchmod(file, fs::Mode::from_raw_mode(mode))?)
}

/// Gives `new` the owner, mode and extended attributes (and so the ACLs) of `old`.
pub(super) fn copy(old: &File, new: &File) -> io::Result<()> {
    let (from, to) = (fs::fstat(old)?, fs::fstat(new)?);
    if from.st_uid != to.st_uid || from.st_gid != to.st_gid {
        // Only root may change the owner; others keep the group where they can.
        let uid = fs::Uid::from_raw(from.st_uid);
        let gid = fs::Gid::from_raw(from.st_gid);
        let refused = |changed: Result<(), Errno>| match changed {
            Err(Errno::PERM) => Ok(true),
            changed => changed.map(|()| false),
        };
        if refused(fs::fchown(new, Some(uid), Some(gid)))? {
            refused(fs::fchown(new, None, Some(gid)))?;
        }
    }
    copy_attributes(old, new)?;
    // A setuid program must not run as a different owner.
    let to = if from.st_mode & 0o6000 == 0 { from } else { fs::fstat(new)? };
    let same_owner = from.st_uid == to.st_uid && from.st_gid == to.st_gid;
    let kept = if same_owner { 0o7777 } else { 0o1777 };
    // After the owner, because changing it clears setuid; after the ACLs, because they change the mode.
    fs::fchmod(new, fs::Mode::from_raw_mode(from.st_mode & kept))?;
    Ok(())
}

fn copy_attributes(old: &File, new: &File) -> io::Result<()> {
    let unsupported = |error: Errno| matches!(error, Errno::NOTSUP | Errno::NOSYS);
    let mut names = [0u8; 4096];
    let mut long = Vec::new();
    let names: &[u8] = match fs::flistxattr(old, &mut names[..]) {
        Ok(len) => &names[..len],
        Err(Errno::RANGE) => {
            long.resize(fs::flistxattr(old, &mut [0u8; 0][..])?, 0);
            let len = fs::flistxattr(old, &mut long[..])?;
            &long[..len]
        }
        Err(error) if unsupported(error) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0u8; 64 * 1024];
        let len = fs::fgetxattr(old, name, &mut value[..])?;
        match fs::fsetxattr(new, name, &value[..len], XattrFlags::empty()) {
            Ok(()) => {}
            // The system chooses the labels that only the system may set.
            Err(Errno::PERM | Errno::ACCESS) if !name.starts_with(b"user.") => {}
            Err(error) if unsupported(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
