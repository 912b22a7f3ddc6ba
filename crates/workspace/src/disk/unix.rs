//! The Unix disk: a file is swapped with another, or renamed without replacing one, in one step of the kernel
//! (`renameat2` on Linux, `renameatx_np` on macOS). Where a file system lacks these (NFS, FAT), the portable steps are taken.
//!
//! What the two systems do in different ways is in [`system`], under the same names for both.

#[cfg(target_os = "linux")]
#[path = "unix/linux.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "unix/macos.rs"]
mod system;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use emend_lease::LeaseResult;
use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Disk, FileKind, Portable, ReadObserver, Stat, metadata, spelling};

/// The disk of a Linux or macOS machine, using its atomic exchange.
#[derive(Clone, Copy, Debug)]
pub struct Unix;

impl Unix {
    /// Whether this kernel has the calls that are used, and lets us make them.
    #[must_use]
    pub fn is_supported() -> bool {
        system::is_supported()
    }
}

/// Returns whether the error means that the file system lacks this kind of rename, as NFS does; the portable steps
/// replace it.
pub(super) fn is_unknown(error: Errno) -> bool {
    // The last two are one on Linux, and two on macOS.
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&error)
}

impl Disk for Unix {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        system::open_beneath(root, path)
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        Ok(metadata::from_stat(&fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        let target = fs::readlinkat(dir, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    fn spelled(&self, dir: &Dir, name: &OsStr) -> Option<PathBuf> {
        system::spelled(dir, name)
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags, Mode::empty())?))
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        Ok(metadata::from_stat(&fs::fstat(file)?))
    }

    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
        super::portable::read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        super::portable::holds(file, content)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Closed to other users until it gets the mode of `like`; without one, the umask decides.
        let mode = if like.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
        let file = File::from(fs::openat(dir, name, flags, mode)?);
        if let Some(like) = like {
            metadata::copy(like, &file)?;
        }
        Ok(file)
    }

    fn lease(&self, dir: &Dir, name: &OsStr) -> LeaseResult {
        self.open_file(dir, name).map_or(LeaseResult::Unavailable, emend_lease::take)
    }

    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        metadata::keeping_mode(file, || system::write(file, pieces))
    }

    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()> {
        metadata::set_executable(file, executable)
    }

    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool {
        metadata::may_write(dir, name)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        system::sync(file)
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        system::sync(&super::folder_as_file(dir)?)
    }

    fn sync_all(&self, dir: &Dir) -> io::Result<bool> {
        system::sync_all(dir)
    }

    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        Ok(system::mount(one)? == system::mount(other)?)
    }

    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)?))
    }

    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags, Mode::empty())?))
    }

    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        metadata::keeping_mode(file, || super::portable::overwrite(file, pieces))
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()> {
        Ok(fs::mkdirat(dir, name, Mode::from_raw_mode(if private { 0o700 } else { 0o777 }))?)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        match fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::EXCHANGE) {
            Err(error) if is_unknown(error) => Portable.exchange(from, to),
            exchanged => Ok(exchanged?),
        }
    }

    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool> {
        Portable.settle_exchange(from, to)
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        match fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            Err(error) if is_unknown(error) => Portable.rename_new(from, to),
            // The name is taken by the file itself, in another spelling of the same name.
            Err(Errno::EXIST) if spelling::is_one_entry(self, from, to)? => {
                Ok(fs::renameat(from.0, from.1, to.0, to.1)?)
            }
            renamed => Ok(renamed?),
        }
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        // cap-std opens the folder twice.
        let entries = fs::Dir::read_from(dir)?;
        let name = |entry: rustix::io::Result<fs::DirEntry>| {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            Ok((name != "." && name != "..").then_some(name))
        };
        entries.map(name).filter_map(io::Result::transpose).collect()
    }

    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
        super::portable::entries(dir, limit)
    }
}
