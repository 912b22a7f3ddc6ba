//! A wrapper of the real disk that fails its Nth call, kills the process there, or lets another program write at the
//! worst moment. What it leaves behind is what a real failure would.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;
use emend_workspace::disk::{Disk, FileKind, LeaseResult, ReadObserver, Stat};

type Meddler = Box<dyn FnOnce() + Send>;

/// A disk that fails on demand.
pub struct FailingDisk {
    inner: Arc<dyn Disk>,
    calls: AtomicUsize,
    fail_at: AtomicUsize,
    fail_from: AtomicUsize,
    kill_at: AtomicUsize,
    /// How many exchanges and renames succeed before every call fails; zero turns this off.
    healthy_placings: AtomicUsize,
    has_failed: AtomicBool,
    synced: AtomicUsize,
    synced_whole: AtomicUsize,
    gives_leases: bool,
    /// The inodes of the folders that are in a mount of their own.
    mount: Mutex<Vec<u64>>,
    ignores_case: bool,
    errno: i32,
    meddlers: Mutex<VecDeque<Meddler>>,
    sync_meddlers: Mutex<VecDeque<Meddler>>,
}

impl fmt::Debug for FailingDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailingDisk({:?})", self.inner)
    }
}

impl FailingDisk {
    /// Wraps the disk `inner`. A call that has to fail returns this errno.
    #[must_use]
    pub fn new(inner: Arc<dyn Disk>, errno: i32) -> Self {
        Self {
            inner,
            calls: AtomicUsize::new(0),
            fail_at: AtomicUsize::new(0),
            fail_from: AtomicUsize::new(usize::MAX),
            kill_at: AtomicUsize::new(0),
            healthy_placings: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            synced: AtomicUsize::new(0),
            synced_whole: AtomicUsize::new(0),
            gives_leases: false,
            mount: Mutex::default(),
            ignores_case: false,
            errno,
            meddlers: Mutex::default(),
            sync_meddlers: Mutex::default(),
        }
    }

    /// Gives leases on files. Without a lease, a program that writes right before a placing does not wait until it is
    /// over.
    #[must_use]
    pub fn with_leases(mut self) -> Self {
        self.gives_leases = true;
        self
    }

    /// Puts a folder into a mount of its own: no file is renamed into it or out of it, but for the other folders put there and
    /// those made in them.
    #[must_use]
    pub fn with_mount(self, folder: &Path) -> Self {
        let dir = Dir::open_ambient_dir(folder, cap_std::ambient_authority());
        self.mounts()
            .extend(dir.and_then(|dir| self.inner.stat(&dir, OsStr::new("."))).map(|stat| stat.inode));
        self
    }

    fn mounts(&self) -> MutexGuard<'_, Vec<u64>> {
        self.mount.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a folder is in the mount.
    fn is_in_mount(&self, dir: &Dir) -> io::Result<bool> {
        let mounts = self.mounts();
        Ok(!mounts.is_empty() && mounts.contains(&self.inner.stat(dir, OsStr::new("."))?.inode))
    }

    /// Takes names that differ in the case of ASCII letters alone for the same name, as the disks of most Macs and of
    /// Windows do. It keeps the spelling that a name was made with.
    #[must_use]
    pub fn ignoring_case(mut self) -> Self {
        self.ignores_case = true;
        self
    }

    /// Returns the entry of the folder that a name stands for.
    fn entry(&self, dir: &Dir, name: &OsStr) -> OsString {
        let names = if self.ignores_case { self.inner.names(dir).unwrap_or_default() } else { Vec::new() };
        let found = names.into_iter().find(|entry| entry.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| name.to_owned())
    }

    /// Returns the path with the names that its folders have.
    fn entries_of(&self, root: &Dir, path: &Path) -> PathBuf {
        let mut real = PathBuf::new();
        for name in path {
            let dir = self.inner.open_dir(root, &real);
            real.push(dir.map_or_else(|_| name.to_owned(), |dir| self.entry(&dir, name)));
        }
        real
    }

    /// Returns whether only one of these folders is the mount.
    fn is_between_mounts(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        Ok(self.is_in_mount(one)? != self.is_in_mount(other)?)
    }

    /// Fails as a rename between two mounts does.
    fn check_one_mount(&self, one: &Dir, other: &Dir) -> io::Result<()> {
        match self.is_between_mounts(one, other)? {
            true => Err(io::ErrorKind::CrossesDevices.into()),
            false => Ok(()),
        }
    }

    /// Makes only the `n`th call from now on fail, counted from 1.
    pub fn fail_call(&self, n: usize) {
        self.calls.store(0, Ordering::SeqCst);
        self.has_failed.store(false, Ordering::SeqCst);
        self.fail_from.store(usize::MAX, Ordering::SeqCst);
        self.fail_at.store(n, Ordering::SeqCst);
    }

    /// Makes every call from the `n`th on fail.
    pub fn fail_from_call(&self, n: usize) {
        self.fail_call(0);
        self.fail_from.store(n, Ordering::SeqCst);
    }

    /// Makes every call from the `n`th exchange or rename on fail.
    pub fn fail_from_placing(&self, n: usize) {
        self.fail_call(0);
        self.healthy_placings.store(n, Ordering::SeqCst);
    }

    /// Kills this process, so that nothing of it is cleaned up, right before its `n`th call from now on, counted from 1.
    pub fn kill_before_call(&self, n: usize) {
        self.calls.store(0, Ordering::SeqCst);
        self.kill_at.store(n, Ordering::SeqCst);
    }

    /// The number of calls since [`Self::fail_call`].
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The number of syncs of a file or a folder so far, and that of syncs of a whole file system.
    #[must_use]
    pub fn syncs(&self) -> (usize, usize) {
        (self.synced.load(Ordering::SeqCst), self.synced_whole.load(Ordering::SeqCst))
    }

    /// Runs this function once, right before the next exchange or rename. Several functions run before one placing
    /// each.
    pub fn before_placing(&self, meddler: impl FnOnce() + Send + 'static) {
        self.meddlers.lock().unwrap_or_else(PoisonError::into_inner).push_back(Box::new(meddler));
    }

    /// Runs this function once, right before the next sync of a folder.
    pub fn before_folder_sync(&self, meddler: impl FnOnce() + Send + 'static) {
        self.sync_meddlers.lock().unwrap_or_else(PoisonError::into_inner).push_back(Box::new(meddler));
    }

    fn call(&self) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if number == self.kill_at.load(Ordering::SeqCst) {
            kill_this_process();
        }
        let fails = number == self.fail_at.load(Ordering::SeqCst)
            || number >= self.fail_from.load(Ordering::SeqCst)
            || self.has_failed.load(Ordering::SeqCst);
        if fails {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        Ok(())
    }

    fn placing(&self) -> io::Result<()> {
        let left = self.healthy_placings.load(Ordering::SeqCst);
        self.healthy_placings.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 1 {
            self.has_failed.store(true, Ordering::SeqCst);
        }
        self.call()?;
        let meddler = self.meddlers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if let Some(meddler) = meddler {
            meddler();
        }
        Ok(())
    }
}

/// Ends this process as the system does that kills it.
#[cfg(unix)]
fn kill_this_process() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    panic!("this process should be dead: {killed:?}");
}

#[cfg(windows)]
fn kill_this_process() -> ! {
    emend_windows::terminate()
}

impl Disk for FailingDisk {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        self.call()?;
        self.inner.open_dir(root, &self.entries_of(root, path))
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        self.call()?;
        self.inner.stat(dir, &self.entry(dir, name))
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        self.call()?;
        self.inner.read_link(dir, &self.entry(dir, name))
    }

    fn spelled(&self, dir: &Dir, name: &OsStr) -> Option<PathBuf> {
        #[cfg(unix)]
        if self.ignores_case {
            use std::os::fd::AsRawFd;
            let folder = std::fs::read_link(format!("/proc/self/fd/{}", dir.as_raw_fd())).ok()?;
            return Some(if name == "." { folder } else { folder.join(self.entry(dir, name)) });
        }
        self.inner.spelled(dir, name)
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.call()?;
        self.inner.open_file(dir, &self.entry(dir, name))
    }

    fn open_at_once(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.call()?;
        self.inner.open_at_once(dir, &self.entry(dir, name))
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        self.call()?;
        self.inner.stat_file(file)
    }

    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
        self.call()?;
        self.inner.read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        self.call()?;
        self.inner.holds(file, content)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        self.call()?;
        self.inner.create_file(dir, &self.entry(dir, name), like)
    }

    fn lease(&self, dir: &Dir, name: &OsStr) -> LeaseResult {
        if self.gives_leases {
            self.inner.lease(dir, &self.entry(dir, name))
        } else {
            LeaseResult::Unavailable
        }
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
        self.inner.may_write(dir, &self.entry(dir, name))
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.call()?;
        self.synced.fetch_add(1, Ordering::SeqCst);
        self.inner.sync_file(file)
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        self.call()?;
        let meddler = self.sync_meddlers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if let Some(meddler) = meddler {
            meddler();
        }
        self.synced.fetch_add(1, Ordering::SeqCst);
        self.inner.sync_dir(dir)
    }

    fn sync_all(&self, dir: &Dir) -> io::Result<bool> {
        self.call()?;
        self.synced_whole.fetch_add(1, Ordering::SeqCst);
        self.inner.sync_all(dir)
    }

    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        self.call()?;
        Ok(!self.is_between_mounts(one, other)? && self.inner.same_mount(one, other)?)
    }

    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.call()?;
        self.inner.open_to_overwrite(dir, &self.entry(dir, name))
    }

    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        self.call()?;
        self.inner.open_to_append(dir, &self.entry(dir, name))
    }

    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        self.call()?;
        self.inner.overwrite(file, pieces)
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()> {
        self.call()?;
        self.inner.make_dir(dir, &self.entry(dir, name), private)?;
        if self.is_in_mount(dir)? {
            let made = self.inner.stat(dir, name)?.inode;
            self.mounts().push(made);
        }
        Ok(())
    }

    fn set_mode(&self, dir: &Dir, mode: u32) -> io::Result<()> {
        self.call()?;
        self.inner.set_mode(dir, mode)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        self.placing()?;
        self.check_one_mount(from.0, to.0)?;
        self.inner.exchange((from.0, &self.entry(from.0, from.1)), (to.0, &self.entry(to.0, to.1)))
    }

    fn syncs_what_it_reads(&self) -> bool {
        self.inner.syncs_what_it_reads()
    }

    fn leaves_gaps(&self) -> bool {
        self.inner.leaves_gaps()
    }

    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool> {
        self.call()?;
        self.inner.settle_exchange((from.0, &self.entry(from.0, from.1)), (to.0, &self.entry(to.0, to.1)))
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        self.placing()?;
        self.check_one_mount(from.0, to.0)?;
        let (old, taken) = (self.entry(from.0, from.1), self.entry(to.0, to.1));
        // A name that changes its case alone is not taken by itself.
        let new = if old == taken { to.1 } else { &taken };
        self.inner.rename_new((from.0, &old), (to.0, new))
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.call()?;
        self.inner.remove_file(dir, &self.entry(dir, name))
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.call()?;
        self.inner.remove_dir(dir, &self.entry(dir, name))
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        self.call()?;
        self.inner.names(dir)
    }

    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
        self.call()?;
        self.inner.entries(dir, limit)
    }
}
