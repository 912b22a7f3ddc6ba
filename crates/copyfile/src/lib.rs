//! The ACL and the flags of a file on macOS, for the file that replaces it. There they are neither mode nor extended
//! attributes, and only `fcopyfile` and `fchflags` copy them.
//!
//! ```
//! let (old, new) = (tempfile::tempfile()?, tempfile::tempfile()?);
//! emend_copyfile::copy_acl_and_flags(&old, &new)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The flags that keep a file from being changed (`uchg`, `uappnd`) are not among them: the system refuses to replace such
//! a file, and would refuse to remove its copy. On other systems there is nothing to copy.

use std::fs::File;
use std::io;

/// Gives `new` the ACL of `old`, and the flags by which a file is hidden or left out of backups.
pub fn copy_acl_and_flags(old: &File, new: &File) -> io::Result<()> {
    system::copy(old, new)
}

#[cfg(target_os = "macos")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::macos::fs::MetadataExt;
    use std::ptr::null_mut;

    use libc::{COPYFILE_ACL, ENOTSUP, UF_HIDDEN, UF_NODUMP, c_int};

    pub(super) fn copy(old: &File, new: &File) -> io::Result<()> {
        copy_acl(old, new)?;
        match old.metadata()?.st_flags() & (UF_HIDDEN | UF_NODUMP) {
            0 => Ok(()),
            flags => set_flags(new, flags),
        }
    }

    #[allow(unsafe_code, reason = "no crate wraps fcopyfile in a safe function")]
    fn copy_acl(old: &File, new: &File) -> io::Result<()> {
        // SAFETY: both handles are open, and without a state the call takes no other pointer.
        done(unsafe { libc::fcopyfile(old.as_raw_fd(), new.as_raw_fd(), null_mut(), COPYFILE_ACL) })
    }

    #[allow(unsafe_code, reason = "no crate wraps fchflags")]
    fn set_flags(file: &File, flags: u32) -> io::Result<()> {
        // SAFETY: the handle is open, and the call takes no pointer.
        done(unsafe { libc::fchflags(file.as_raw_fd(), flags) })
    }

    /// A file system without ACLs or flags has none to copy.
    fn done(result: c_int) -> io::Result<()> {
        if result == 0 {
            return Ok(());
        }
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(ENOTSUP) => Ok(()),
            error => Err(error),
        }
    }
}

#[cfg(not(target_os = "macos"))]
mod system {
    use std::fs::File;
    use std::io;

    #[allow(clippy::unnecessary_wraps, reason = "it can fail on macOS")]
    pub(super) fn copy(_old: &File, _new: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[cfg(target_os = "macos")]
mod tests {
    use std::fs;
    use std::os::macos::fs::MetadataExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_acl_and_the_flags_are_those_of_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "1").unwrap();
        fs::write(&new, "2").unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        run("/bin/chmod", &["+a", "everyone deny execute", old.to_str().unwrap()]);
        run("/usr/bin/chflags", &["hidden", old.to_str().unwrap()]);
        copy_acl_and_flags(
            &fs::File::open(&old).unwrap(),
            &fs::File::options().write(true).open(&new).unwrap(),
        )
        .unwrap();
        assert!(run("/bin/ls", &["-le", new.to_str().unwrap()]).contains("everyone deny execute"));
        assert_eq!(fs::metadata(&new).unwrap().st_flags() & libc::UF_HIDDEN, libc::UF_HIDDEN);
    }
}
