//! The metadata of files on Unix, and copying it to the file that replaces them.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
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
    let may = |flags| fs::accessat(dir, name, Access::WRITE_OK, flags);
    match may(AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW) {
        Ok(()) => true,
        // macOS knows the second flag only since lately. That the name is no link was found out before.
        Err(Errno::INVAL) => matches!(may(AtFlags::EACCESS), Ok(()) | Err(Errno::INVAL)),
        // Not every system has this call; there the commit finds out.
        Err(error) => matches!(error, Errno::NOSYS | Errno::OPNOTSUPP),
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

/// Gives a file or folder these permission bits.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    // The system's own type for a mode has another size on macOS.
    file.set_permissions(Permissions::from_mode(mode))
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
    emend_copyfile::copy_acl_and_flags(old, new)?;
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
    let names = match whole(|buffer| fs::flistxattr(old, buffer)) {
        Err(error) if unsupported(error) => return Ok(()),
        names => names?,
    };
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let value = whole(|buffer| fs::fgetxattr(old, name, buffer))?;
        match fs::fsetxattr(new, name, &value, XattrFlags::empty()) {
            Ok(()) => {}
            // The system chooses the labels that only the system may set.
            Err(Errno::PERM | Errno::ACCESS) if !name.starts_with(b"user.") => {}
            Err(error) if unsupported(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The size that most lists of attributes, and most attributes, do not exceed.
const USUAL: usize = 4096;

/// Reads what the system writes into a buffer that may be too small for it: a resource fork of macOS has any size.
fn whole(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; USUAL];
    loop {
        match read(&mut bytes) {
            Ok(len) => {
                bytes.truncate(len);
                return Ok(bytes);
            }
            // Without a buffer, the system tells the size. It may grow meanwhile.
            Err(Errno::RANGE) => bytes.resize(read(&mut [])?.max(bytes.len() + 1), 0),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_usual_is_read_whole() {
        for len in [0, USUAL, USUAL + 1, 1_000_000] {
            let read = |buffer: &mut [u8]| match buffer.len() {
                0 => Ok(len),
                room if room < len => Err(Errno::RANGE),
                _ => {
                    buffer[..len].fill(7);
                    Ok(len)
                }
            };
            assert_eq!(whole(read), Ok(vec![7; len]));
        }
        assert_eq!(whole(|_| Err(Errno::PERM)), Err(Errno::PERM));
    }
}
