//! The seam to the operating system: every call that reads or changes the disk, in one trait.
//!
//! It exists so that tests can fail the Nth call ([`Disk`] is wrapped, not imitated) and so that systems
//! without `openat2` and without an atomic exchange have an implementation of their own, which runs
//! through the same tests. Every method works relative to an open folder; none takes a path that could be
//! swapped for another between two calls.
//!
//! Deliberately without an in-memory implementation: what must be proven is what the kernel does with
//! handles, links and renames.

pub mod abilities;
pub(crate) mod fault;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod metadata;
mod portable;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::fs::Dir;

pub use emend_lease::Taken;
#[cfg(target_os = "linux")]
pub use linux::Linux;
pub(crate) use portable::HELPER;
pub use portable::Portable;

/// What the names of files begin with that are staged beside their target, where the vault is on another file
/// system.
pub(crate) const BESIDE: &str = ".emend-";

/// What a name stands for.
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

/// What the file system says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed.
    pub modified: Option<SystemTime>,
    /// The file system that it is on.
    pub device: u64,
    /// Its identity there.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// Permission bits; without meaning where there are none.
    pub mode: u32,
    /// Whether nobody may write to it.
    pub read_only: bool,
}

impl Stat {
    /// Whether both describe the same file, whatever is in it.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }

    /// Whether all that is said of both but which file they are is the same.
    #[must_use]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        Self { device: other.device, inode: other.inode, ..*self } == *other
    }
}

/// What gets the bytes of a file while it is read.
pub type ReadObserver<'a> = dyn FnMut(&[u8]) + Send + 'a;

/// Every call that reads or changes the disk.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Opens the folder at `path` beneath `root`. No link is followed and nothing above `root` is reached,
    /// whatever is swapped meanwhile.
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir>;
    /// What `name` is; a link is not followed.
    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat>;
    /// Where the link `name` points.
    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf>;
    /// Opens `name` for reading: never a link, and never blocking on a FIFO or device.
    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// What the open file is.
    fn stat_file(&self, file: &File) -> io::Result<Stat>;
    /// Reads all of an open file, at most one byte more than `limit`. `seen` gets the bytes as they come, for
    /// a large file in a thread of its own.
    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>>;
    /// Whether an open file has exactly this in it.
    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool>;
    /// Creates `name`, which must not exist. With `like`, it gets that file's mode, owner and extended
    /// attributes before it gets any content; without, the mode that a new file has.
    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File>;
    /// Has the kernel tell who opens the file `name` for writing, and has them wait, until the lease is dropped. Never fails an
    /// edit: where there are no leases, nothing is known.
    fn lease(&self, dir: &Dir, name: &OsStr) -> Taken;
    /// Writes these pieces, one after another.
    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()>;
    /// Lets whoever may read the file run it too, or nobody.
    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()>;
    /// Whether this user may write to the file `name`.
    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool;
    /// Makes the file's content and metadata durable.
    fn sync_file(&self, file: &File) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Dir) -> io::Result<()>;
    /// Makes everything on the folder's file system durable. `Ok(false)` where that cannot be asked for.
    fn sync_all(&self, dir: &Dir) -> io::Result<bool>;
    /// Whether files can be renamed between the two folders.
    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool>;
    /// Opens `name` for writing at its end, and makes it, for this user alone, if it is not there: never a link.
    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// Opens `name` for writing over it: never a link, and never blocking.
    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File>;
    /// Gives an open file this content and no other, in place.
    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()>;
    /// Makes a folder; `private` means for this user alone.
    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()>;
    /// Swaps two files, so that neither name is ever missing.
    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()>;
    /// Where an exchange is several steps: finishes one that a crash cut short, or takes it back.
    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()>;
    /// Gives a file another name that must be free, or be that of the same file.
    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()>;
    /// The names in a folder, unordered.
    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>>;
    /// The names in a folder, unordered, with what each stands for; at most `limit` of them. A link is not
    /// followed.
    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>>;
}

/// The folder opened once more, as a file that can be locked and made durable: cap-std opens folders only
/// to reach what is in them.
pub(crate) fn folder_as_file(dir: &Dir) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::{Mode, OFlags, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(File::from(openat(dir, ".", flags, Mode::empty())?))
    }
    #[cfg(not(unix))]
    {
        Ok(Dir::reopen_dir(dir)?.into_std_file())
    }
}

/// The implementation for this machine. `EMEND_DISK=portable` chooses the portable one where there is a
/// better, so that it can be tested everywhere.
#[must_use]
pub fn for_this_machine() -> Arc<dyn Disk> {
    #[cfg(target_os = "linux")]
    if std::env::var_os("EMEND_DISK").is_none_or(|choice| choice != "portable") && Linux::is_supported() {
        return Arc::new(Linux);
    }
    Arc::new(Portable)
}
