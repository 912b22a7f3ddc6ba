//! The seam to the operating system: every call that reads or changes the disk, in one trait.
//!
//! It exists so that tests can make the Nth call fail (they wrap a [`Disk`]) and so that systems without `openat2` and
//! without an atomic exchange have their own implementation, which passes the same tests. Every method works relative
//! to an open folder; none takes a path that could be swapped for another between two calls.
//!
//! There is deliberately no in-memory implementation: the tests must prove what the kernel does with handles, links and
//! renames.

pub mod abilities;
pub(crate) mod fault;
#[cfg(unix)]
mod metadata;
mod portable;
mod spelling;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;

pub use emend_lease::LeaseResult;
pub use portable::Portable;
pub(crate) use portable::{HELPER, helper};
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use unix::Unix;
#[cfg(windows)]
pub use windows::Windows;

/// The name prefix of files staged next to their target, where the vault is on another file system.
pub(crate) const BESIDE: &str = ".emend-";
/// The name prefix of a displaced file during an exchange in several steps: then comes the name of the staged file, whose
/// place it gets at last. It is one character, so that the longest names have room for it.
pub(crate) const ASIDE: &str = "~";

/// The number of further looks at a name that may be missing in the middle of an exchange ([`Disk::leaves_gaps`]), and the
/// time between them.
pub(crate) const LOOKS_AT_A_GAP: usize = 5;
pub(crate) const GAP: Duration = Duration::from_millis(1);

/// The kind of file system object that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket, a device.
    Other(&'static str),
}

/// The metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The kind of file.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// The time when its content last changed.
    pub modified: Option<SystemTime>,
    /// The number of its file system.
    pub device: u64,
    /// Its inode number on that file system.
    pub inode: u64,
    /// The number of its names (hard links).
    pub links: u64,
    /// The permission bits; meaningless on systems without them.
    pub mode: u32,
    /// Whether nobody may write to it.
    pub read_only: bool,
}

impl Stat {
    /// Returns whether both describe the same file, whatever its content.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }

    /// Returns whether both are equal in everything but the identity of the file.
    #[must_use]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        Self { device: other.device, inode: other.inode, ..*self } == *other
    }
}

/// A callback that gets the bytes of a file while it is being read.
pub type ReadObserver<'a> = dyn FnMut(&[u8]) + Send + 'a;

/// Every call that reads or changes the disk.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Opens the folder at `path` beneath `root`. It follows no link and reaches nothing above `root`, even if folders
    /// are swapped meanwhile.
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir>;
    /// Returns the metadata of `name`, without following a link.
    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat>;
    /// Returns the target of the link `name`.
    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf>;
    /// Returns the path of `name` as the disk spells it, where a disk may take another spelling for it and the system can
    /// tell; `.` is the folder itself. Elsewhere a name is what was written.
    fn spelled(&self, dir: &Dir, name: &OsStr) -> Option<PathBuf> {
        let _ = (dir, name);
        None
    }
    /// Opens `name` for reading. It never follows a link, and never blocks on a FIFO or device. A file that another program
    /// holds and does not share, as on Windows, is waited for; then the error is of the kind `ResourceBusy`.
    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// Opens `name` for reading and waits for nothing.
    fn open_at_once(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.open_file(dir, name)
    }
    /// Returns the metadata of an open file.
    fn stat_file(&self, file: &File) -> io::Result<Stat>;
    /// Reads an open file, at most one byte more than `limit`. `seen` gets the bytes as they arrive, on another thread
    /// if the file is large.
    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>>;
    /// Returns whether the content of an open file is exactly `content`.
    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool>;
    /// Creates `name`, which must not exist. With `like`, the new file gets that file's mode, owner and extended
    /// attributes before any content; without, it gets the default mode.
    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File>;
    /// Takes a lease on the file `name`: until it is dropped, the kernel reports programs that open the file for
    /// writing and makes them wait. It never fails an edit: without support for leases, the result says that nothing is
    /// known.
    fn lease(&self, dir: &Dir, name: &OsStr) -> LeaseResult;
    /// Writes these pieces one after another.
    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()>;
    /// Makes the file executable for everyone who may read it, or for nobody.
    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()>;
    /// Returns whether this user may write to the file `name`.
    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool;
    /// Makes the file's content and metadata durable.
    fn sync_file(&self, file: &File) -> io::Result<()>;
    /// Returns whether a file that is open for reading can be synced.
    fn syncs_what_it_reads(&self) -> bool {
        true
    }
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Dir) -> io::Result<()>;
    /// Makes everything on the folder's file system durable; `Ok(false)` where the system cannot do that.
    fn sync_all(&self, dir: &Dir) -> io::Result<bool>;
    /// Returns whether files can be renamed between the two folders.
    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool>;
    /// Opens `name` for appending, and creates it for this user alone if it is missing. It never follows a link.
    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// Opens `name` for overwriting. It never follows a link, and never blocks.
    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// Replaces the content of an open file in place.
    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()>;
    /// Makes a folder; `private` means for this user alone.
    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()>;
    /// Gives a folder these permission bits, on systems that have them.
    fn set_mode(&self, dir: &Dir, mode: u32) -> io::Result<()> {
        #[cfg(unix)]
        return metadata::set_mode(&folder_as_file(dir)?, mode);
        #[cfg(not(unix))]
        {
            let _ = (dir, mode);
            Ok(())
        }
    }
    /// Swaps two files. Where that takes several steps, a name may be missing for a moment, and a crash leaves what
    /// [`Disk::settle_exchange`] finishes; no file is ever lost.
    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()>;
    /// Returns whether the target of an exchange has no name for a moment, so that a missing name must be looked for again.
    fn leaves_gaps(&self) -> bool {
        false
    }
    /// Finishes or undoes an exchange that a crash interrupted, on systems where an exchange takes several steps. Returns whether it
    /// could do neither, now or before, because another program's file had taken the name: `from` is as it was then, and what was
    /// displaced is beside it, under a name that begins with [`HELPER`].
    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool>;
    /// Renames a file to a name that must be free or already belong to the same file.
    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()>;
    /// Returns the names in a folder, unordered.
    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>>;
    /// Returns at most `limit` names in a folder with their kinds, unordered. It follows no links.
    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>>;
}

/// Reopens the folder as a file that can be locked and synced: cap-std opens folders only to reach their content.
#[cfg(unix)]
pub(crate) fn folder_as_file(dir: &Dir) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(openat(dir, ".", flags, Mode::empty())?))
}

/// Reopens the folder as a file. It can be neither locked nor synced here.
#[cfg(not(unix))]
pub(crate) fn folder_as_file(dir: &Dir) -> io::Result<File> {
    Ok(Dir::reopen_dir(dir)?.into_std_file())
}

/// Makes the names in a folder durable, as [`Disk::sync_dir`] does.
pub(crate) fn sync_folder(dir: &Dir) -> io::Result<()> {
    #[cfg(windows)]
    return emend_windows::flush_folder(dir);
    #[cfg(not(windows))]
    return folder_as_file(dir)?.sync_all();
}

/// Returns the implementation for this machine. `EMEND_DISK=portable` selects the portable one, so that it can be
/// tested everywhere.
#[must_use]
pub fn for_this_machine() -> Arc<dyn Disk> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if std::env::var_os("EMEND_DISK").is_none_or(|choice| choice != "portable") && Unix::is_supported() {
        return Arc::new(Unix);
    }
    #[cfg(windows)]
    if std::env::var_os("EMEND_DISK").is_none_or(|choice| choice != "portable") {
        return Arc::new(Windows);
    }
    Arc::new(Portable)
}
