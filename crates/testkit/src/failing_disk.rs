//! A disk that fails the Nth call, and one that lets somebody else write at the worst moment. It wraps the
//! real disk, so that what it leaves behind is what a real failure would.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::Dir;
use emend_workspace::disk::{Disk, Seen, Stat};

type Meddler = Box<dyn FnOnce() + Send>;

/// See the module.
pub struct FailingDisk {
    inner: Arc<dyn Disk>,
    calls: AtomicUsize,
    fail_at: AtomicUsize,
    errno: i32,
    meddler: Mutex<Option<Meddler>>,
}

impl fmt::Debug for FailingDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailingDisk({:?})", self.inner)
    }
}

impl FailingDisk {
    /// A disk over `inner` whose failing call, if one is set, fails with this error of the system.
    #[must_use]
    pub fn new(inner: Arc<dyn Disk>, errno: i32) -> Self {
        let (calls, fail_at) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { inner, calls, fail_at, errno, meddler: Mutex::default() }
    }

    /// From now on, the `n`th call fails, and only that; counted from 1.
    pub fn fail_call(&self, n: usize) {
        self.calls.store(0, Ordering::SeqCst);
        self.fail_at.store(n, Ordering::SeqCst);
    }

    /// How many calls were made since [`Self::fail_call`].
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Runs this once, right before the next exchange or rename.
    pub fn before_placing(&self, meddler: impl FnOnce() + Send + 'static) {
        *self.meddler.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(meddler));
    }

    fn call(&self) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if number == self.fail_at.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        Ok(())
    }

    fn placing(&self) -> io::Result<()> {
        self.call()?;
        let meddler = self.meddler.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(meddler) = meddler {
            meddler();
        }
        Ok(())
    }
}

impl Disk for FailingDisk {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        self.call()?;
        self.inner.open_dir(root, path)
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        self.call()?;
        self.inner.stat(dir, name)
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        self.call()?;
        self.inner.read_link(dir, name)
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.call()?;
        self.inner.open_file(dir, name)
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        self.call()?;
        self.inner.stat_file(file)
    }

    fn read(&self, file: &File, limit: u64, seen: &mut Seen<'_>) -> io::Result<Vec<u8>> {
        self.call()?;
        self.inner.read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        self.call()?;
        self.inner.holds(file, content)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        self.call()?;
        self.inner.create_file(dir, name, like)
    }

    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        self.call()?;
        self.inner.write(file, pieces)
    }

    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()> {
        self.call()?;
        self.inner.set_executable(file, executable)
    }

    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool {
        self.inner.may_write(dir, name)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.call()?;
        self.inner.sync_file(file)
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        self.call()?;
        self.inner.sync_dir(dir)
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()> {
        self.call()?;
        self.inner.make_dir(dir, name, private)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        self.placing()?;
        self.inner.exchange(from, to)
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        self.placing()?;
        self.inner.rename_new(from, to)
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.call()?;
        self.inner.remove_file(dir, name)
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.call()?;
        self.inner.remove_dir(dir, name)
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        self.call()?;
        self.inner.names(dir)
    }
}
