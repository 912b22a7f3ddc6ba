//! The lock of a root: many edits share it, each with the files that it locks besides, or one has all of the root.
//!
//! Processes wait for each other on an advisory lock of the **root folder itself**. A lock file would need a place that
//! every process of every user checks; the folder already is one, and a refused edit leaves nothing behind. The kernel
//! wakes waiting processes in turn, and releases the lock of a process that dies. Windows locks no folders: there a file in
//! the vault stands for the folder, so that edits with another vault are as those of any other program.
//!
//! Whoever wants the root alone holds that lock all the time. Who shares it holds it for a moment, to **mark** its files:
//! bytes of the folder, which every process sees, whatever vault it has. Nobody can wait for a mark. So edits with one
//! vault wait for each other by files in it ([`file_locks`](super::file_locks)), at once and in turn; only where two users
//! or two state folders meet, a mark is looked at again and again.
//!
//! The lock orders the edits of several Emend processes. It does not protect from other programs: the commit's exchange
//! and verification do that.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use emend_filelock::Hold;
use emend_threads::{Condvar, Mutex, Queues, Turn};

use crate::disk::fault::io_problem;
use crate::disk::folder_as_file;
use crate::files::effort::NotDone;
use crate::problem::{Kind, Problem};

/// The default time for which an edit waits for the lock.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The time until which an edit waits for its locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    patience: Duration,
    pub(crate) until: Instant,
}

impl Deadline {
    /// Returns the end of this much patience; with none, nothing is waited for.
    pub(crate) fn after(patience: Duration) -> Self {
        Self { patience, until: Instant::now() + patience }
    }

    /// Returns why an edit is not made whose turn has not come until then.
    pub(crate) fn passed(&self) -> NotDone {
        match self.patience {
            Duration::ZERO => NotDone::NotQuick,
            patience => Problem::new(Kind::Busy { seconds: patience.as_secs().max(1) }).into(),
        }
    }

    /// Waits for a moment, if there is time for that.
    fn pause(&self) -> Result<(), NotDone> {
        match self.until.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => thread::sleep(PAUSE.min(left)),
            _ => return Err(self.passed()),
        }
        Ok(())
    }

    /// Converts the result of waiting for a lock of the kernel.
    pub(crate) fn check(&self, locked: io::Result<bool>) -> Result<(), NotDone> {
        match locked {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.passed()),
            Err(error) => Err(io_problem("Locking the workspace", &error).into()),
        }
    }
}

/// The files in a vault that serve as locks.
#[derive(Debug)]
pub(crate) struct LockFiles {
    /// The file that is locked while edits with this vault share the root.
    pub(crate) sharing: File,
    /// The file whose bytes are locked for single files, open for writing.
    pub(crate) bytes: File,
    /// The file that is locked and marked in place of the root's folder, on systems that lock no folders.
    pub(crate) folder: Option<File>,
    /// Whether the file system has refused to lock or mark, as some network file systems do.
    pub(crate) are_refused: AtomicBool,
}

/// The time between two looks at the marks of others.
const PAUSE: Duration = Duration::from_millis(1);

/// The lock of a root, for the threads of this process and for all processes.
#[derive(Debug, Default)]
pub(crate) struct RootLock {
    /// Where the threads of this process wait; who has the root alone stays in front.
    door: Queues<()>,
    /// How many of them share the root.
    sharing: Mutex<usize>,
    all_left: Condvar,
    /// The folder, through the handle to which the locks and marks of this process belong.
    folder: OnceLock<File>,
}

/// The root for one edit alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone<'a> {
    _folder: Held<'a>,
    _turn: Turn<'a, ()>,
}

/// A share of the root with some files marked, until it is dropped.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    lock: &'a RootLock,
    folder: &'a File,
    files: Arc<LockFiles>,
    marked: Vec<u32>,
}

impl RootLock {
    /// Locks the root of this folder for one edit alone.
    pub(crate) fn alone(
        &self,
        root: &Dir,
        files: Option<&LockFiles>,
        deadline: Deadline,
    ) -> Result<Alone<'_>, NotDone> {
        let folder = self.folder(root, files)?;
        let turn = self.door.wait((), deadline.until).ok_or_else(|| deadline.passed())?;
        let held = Held::wait(folder, Hold::Alone, deadline)?;
        // Nobody joins those who share it now.
        let left = deadline.until.saturating_duration_since(Instant::now());
        let (own, _) = self.all_left.wait_timeout_while(self.sharing.lock(), left, |own| *own > 0);
        if *own > 0 {
            return Err(deadline.passed());
        }
        drop(own);
        if let Some(LockFiles { sharing, .. }) = files {
            // Where that file cannot be locked, the marks alone tell.
            match emend_filelock::lock(sharing, Hold::Alone, deadline.until) {
                Ok(true) => drop(Held(sharing)),
                Ok(false) => return Err(deadline.passed()),
                Err(_) => {}
            }
        }
        // Where there are no marks, nobody shares a root.
        while emend_filelock::is_marked(folder, None).unwrap_or(false) {
            deadline.pause()?;
        }
        Ok(Alone { _folder: held, _turn: turn })
    }

    /// Locks the root of this folder together with other edits that share it, once nobody else marks these bytes of it, and
    /// marks them. Returns `None` if the file system has no marks.
    pub(crate) fn share<'a>(
        &'a self,
        root: &Dir,
        files: &Arc<LockFiles>,
        bytes: impl Iterator<Item = u32> + Clone,
        deadline: Deadline,
    ) -> Result<Option<Shared<'a>>, NotDone> {
        let folder = self.folder(root, Some(files))?;
        loop {
            let turn = self.door.wait((), deadline.until).ok_or_else(|| deadline.passed())?;
            let held = Held::wait(folder, Hold::Alone, deadline)?;
            let is_marked = |byte| emend_filelock::is_marked(folder, Some(byte));
            match bytes.clone().map(is_marked).find(|marked| !matches!(marked, Ok(false))) {
                None => return self.join(folder, Arc::clone(files), bytes, deadline),
                Some(Ok(_)) => {}
                Some(Err(_)) => return Ok(None),
            }
            drop((held, turn));
            deadline.pause()?;
        }
    }

    /// Joins those who share the root, whose folder is locked for this moment.
    fn join<'a>(
        &'a self,
        folder: &'a File,
        files: Arc<LockFiles>,
        bytes: impl Iterator<Item = u32>,
        deadline: Deadline,
    ) -> Result<Option<Shared<'a>>, NotDone> {
        let mut own = self.sharing.lock();
        if *own == 0 {
            // It is free: who wants the root alone locks the folder first.
            match emend_filelock::lock(&files.sharing, Hold::Shared, deadline.until) {
                Ok(true) => {}
                Ok(false) => return Err(deadline.passed()),
                Err(_) => return Ok(None),
            }
        }
        *own += 1;
        drop(own);
        let mut shared = Shared { lock: self, folder, files, marked: Vec::new() };
        for byte in bytes {
            if emend_filelock::mark_byte(folder, byte).is_err() {
                return Ok(None);
            }
            shared.marked.push(byte);
        }
        Ok(Some(shared))
    }

    /// Returns whether another process marks this byte; where that cannot be known, it may.
    pub(crate) fn is_marked(&self, byte: u32) -> bool {
        self.folder.get().is_none_or(|folder| emend_filelock::is_marked(folder, Some(byte)).unwrap_or(true))
    }

    fn folder(&self, root: &Dir, files: Option<&LockFiles>) -> Result<&File, NotDone> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let folder = match files.and_then(|files| files.folder.as_ref()) {
            Some(file) => file.try_clone(),
            None => folder_as_file(root),
        };
        let folder = folder.map_err(|error| io_problem("Locking the workspace", &error))?;
        Ok(self.folder.get_or_init(|| folder))
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        // Closing the handles would release all of this too; none of it can fail for what is held.
        for byte in &self.marked {
            let _ = emend_filelock::unmark_byte(self.folder, *byte);
        }
        let mut own = self.lock.sharing.lock();
        *own -= 1;
        if *own == 0 {
            let _ = emend_filelock::unlock(&self.files.sharing);
            self.lock.all_left.notify_all();
        }
    }
}

/// A lock of the kernel on a file or folder, released on drop.
#[derive(Debug)]
struct Held<'a>(&'a File);

impl<'a> Held<'a> {
    fn wait(file: &'a File, hold: Hold, deadline: Deadline) -> Result<Self, NotDone> {
        deadline.check(emend_filelock::lock(file, hold, deadline.until))?;
        Ok(Self(file))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = emend_filelock::unlock(self.0);
    }
}

#[cfg(test)]
#[cfg(any(target_os = "linux", windows))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use cap_std::ambient_authority;

    use super::*;

    /// A root, as one process with a vault has it.
    struct Process {
        lock: RootLock,
        dir: Dir,
        files: Arc<LockFiles>,
    }

    impl Process {
        fn new(folder: &tempfile::TempDir, vault: &str) -> Self {
            let open = |name: &str| {
                let path = folder.path().join(name);
                File::options().write(true).create(true).truncate(false).open(path).unwrap()
            };
            let stand_in = (!emend_filelock::LOCKS_FOLDERS).then(|| open("folder"));
            let are_refused = AtomicBool::new(false);
            let files = LockFiles { sharing: open(vault), bytes: open(vault), folder: stand_in, are_refused };
            let files = Arc::new(files);
            let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
            Self { lock: RootLock::default(), dir, files }
        }

        fn alone(&self, patience: Duration) -> Result<Alone<'_>, NotDone> {
            self.lock.alone(&self.dir, Some(&self.files), Deadline::after(patience))
        }

        fn share(&self, byte: u32, patience: Duration) -> Result<Shared<'_>, NotDone> {
            let bytes = std::iter::once(byte);
            let shared = self.lock.share(&self.dir, &self.files, bytes, Deadline::after(patience))?;
            Ok(shared.expect("this file system has marks"))
        }
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn edits_share_a_root_and_one_has_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        for vault in ["one", "two"] {
            let (one, two) = (Process::new(&folder, "one"), Process::new(&folder, vault));
            let shared =
                (one.share(1, LONG).unwrap(), one.share(2, LONG).unwrap(), two.share(3, LONG).unwrap());
            assert!(matches!(one.alone(Duration::ZERO), Err(NotDone::NotQuick)));
            assert!(matches!(two.alone(SHORT), Err(NotDone::Refused(_))));
            drop(shared);
            let alone = two.alone(LONG).unwrap();
            assert!(
                one.share(4, SHORT).is_err() && two.share(5, SHORT).is_err() && one.alone(SHORT).is_err()
            );
            drop(alone);
            drop(one.alone(LONG).unwrap());
            drop(two.share(1, LONG).unwrap());
        }
    }

    #[test]
    fn a_mark_keeps_out_other_vaults_too_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (Process::new(&folder, "one"), Process::new(&folder, "other"));
        let marked = one.share(7, LONG).unwrap();
        assert!(matches!(other.share(7, Duration::ZERO), Err(NotDone::NotQuick)));
        assert!(matches!(other.share(7, SHORT), Err(NotDone::Refused(_))));
        drop(other.share(8, Duration::ZERO).unwrap());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| other.share(7, LONG).is_ok());
            drop(marked);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn who_wants_the_root_alone_is_not_kept_out_by_those_that_come_later() {
        let folder = tempfile::tempdir().unwrap();
        let (busy, other) = (Process::new(&folder, "vault"), Process::new(&folder, "vault"));
        let first = busy.share(1, LONG).unwrap();
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let alone = scope.spawn(|| {
                let alone = other.alone(LONG).unwrap();
                tell.send("alone").unwrap();
                alone
            });
            // Until the folder is locked, more edits join; then they wait.
            while busy.share(2, SHORT).is_ok() {}
            let later = scope.spawn({
                let (tell, busy) = (tell.clone(), &busy);
                move || {
                    let _shared = busy.share(2, LONG).unwrap();
                    tell.send("shared").unwrap();
                }
            });
            drop(first);
            assert_eq!(told.recv_timeout(LONG), Ok("alone"));
            drop(alone.join().unwrap());
            assert_eq!(told.recv_timeout(LONG), Ok("shared"));
            later.join().unwrap();
        });
    }

    #[test]
    fn an_edit_that_gives_up_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Process::new(&folder, "vault"), Process::new(&folder, "vault"));
        let held = one.share(1, LONG).unwrap();
        for _ in 0..5 {
            assert!(two.alone(SHORT).is_err());
            assert_eq!(two.lock.door.length(&()), 0);
            drop(two.share(2, Duration::ZERO).unwrap());
        }
        drop(held);
        drop(two.alone(Duration::ZERO).unwrap());
    }
}
