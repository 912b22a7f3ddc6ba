//! The lock of a root: many edits share it, each with the files that it locks besides, or one has all of the root.
//!
//! Processes wait for each other on an advisory lock of the **root folder itself**. A lock file would need a place that
//! every process of every user checks; the folder already is one, and a refused edit leaves nothing behind. The kernel
//! wakes waiting processes in turn, and releases the lock of a process that dies.
//!
//! Edits that share the root without a pause would keep out the one that wants it alone. So everybody passes the **gate**,
//! a file in the vault, and whoever wants the root alone holds the gate until the others have left the root.
//!
//! The lock orders the edits of several Emend processes. It does not protect from other programs: the commit's exchange
//! and verification do that.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use emend_filelock::Hold;
use emend_threads::{Condvar, Lines, Mutex, Turn};

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

    /// Converts the result of waiting for a lock of the kernel.
    pub(crate) fn check(&self, locked: io::Result<bool>) -> Result<(), NotDone> {
        match locked {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.passed()),
            Err(error) => Err(io_problem("Locking the workspace", &error).into()),
        }
    }
}

/// The lock of a root, for the threads of this process and for all processes.
#[derive(Debug, Default)]
pub(crate) struct RootLock {
    /// Where the threads of this process wait; who has the root alone stays in front.
    door: Lines<()>,
    /// How many of them share the root. While there are any, this process shares it with others.
    sharing: Mutex<usize>,
    all_left: Condvar,
    /// The folder, through the handle to which the locks of this process belong.
    folder: OnceLock<File>,
}

/// The root for one edit alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone<'a> {
    folder: &'a File,
    _turn: Turn<'a, ()>,
}

/// A share of the root, until it is dropped.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    lock: &'a RootLock,
    folder: &'a File,
}

impl RootLock {
    /// Locks the root of this folder for one edit alone.
    pub(crate) fn alone(
        &self,
        root: &Dir,
        gate: Option<&File>,
        deadline: Deadline,
    ) -> Result<Alone<'_>, NotDone> {
        let folder = self.folder(root)?;
        let turn = self.door.wait((), deadline.until).ok_or_else(|| deadline.passed())?;
        let _gate = gate.map(|gate| Gate::close(gate, Hold::Alone, deadline)).transpose()?;
        let sharing = self.sharing.lock();
        let left = deadline.until.saturating_duration_since(Instant::now());
        let (sharing, _) = self.all_left.wait_timeout_while(sharing, left, |sharing| *sharing > 0);
        if *sharing > 0 {
            return Err(deadline.passed());
        }
        drop(sharing);
        deadline.check(emend_filelock::lock(folder, Hold::Alone, deadline.until))?;
        Ok(Alone { folder, _turn: turn })
    }

    /// Locks the root of this folder together with other edits that share it.
    pub(crate) fn share(&self, root: &Dir, gate: &File, deadline: Deadline) -> Result<Shared<'_>, NotDone> {
        let folder = self.folder(root)?;
        let _turn = self.door.wait((), deadline.until).ok_or_else(|| deadline.passed())?;
        drop(Gate::close(gate, Hold::Shared, deadline)?);
        let mut sharing = self.sharing.lock();
        if *sharing == 0 {
            // Nobody else of this process gets here, since this thread has its turn at the door.
            drop(sharing);
            deadline.check(emend_filelock::lock(folder, Hold::Shared, deadline.until))?;
            sharing = self.sharing.lock();
        }
        *sharing += 1;
        Ok(Shared { lock: self, folder })
    }

    fn folder(&self, root: &Dir) -> Result<&File, NotDone> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let folder = folder_as_file(root).map_err(|error| io_problem("Locking the workspace", &error))?;
        Ok(self.folder.get_or_init(|| folder))
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        // Closing the handle would release it too; this cannot fail for a lock that is held.
        let _ = emend_filelock::unlock(self.folder);
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let mut sharing = self.lock.sharing.lock();
        *sharing -= 1;
        if *sharing == 0 {
            let _ = emend_filelock::unlock(self.folder);
            self.lock.all_left.notify_all();
        }
    }
}

/// The gate to a root, held until it is dropped.
struct Gate<'a>(&'a File);

impl<'a> Gate<'a> {
    fn close(gate: &'a File, hold: Hold, deadline: Deadline) -> Result<Self, NotDone> {
        deadline.check(emend_filelock::lock(gate, hold, deadline.until))?;
        Ok(Self(gate))
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        let _ = emend_filelock::unlock(self.0);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use cap_std::ambient_authority;

    use super::*;

    /// A root with its gate, as one process has it.
    struct Process {
        lock: RootLock,
        dir: Dir,
        gate: File,
    }

    impl Process {
        fn new(folder: &tempfile::TempDir) -> Self {
            let gate =
                File::options().write(true).create(true).truncate(false).open(folder.path().join("gate"));
            let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
            Self { lock: RootLock::default(), dir, gate: gate.unwrap() }
        }

        fn alone(&self, patience: Duration) -> Result<Alone<'_>, NotDone> {
            self.lock.alone(&self.dir, Some(&self.gate), Deadline::after(patience))
        }

        fn share(&self, patience: Duration) -> Result<Shared<'_>, NotDone> {
            self.lock.share(&self.dir, &self.gate, Deadline::after(patience))
        }
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn edits_share_a_root_and_one_has_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Process::new(&folder), Process::new(&folder));
        let shared = (one.share(LONG).unwrap(), one.share(LONG).unwrap(), two.share(LONG).unwrap());
        assert!(matches!(one.alone(Duration::ZERO), Err(NotDone::NotQuick)));
        assert!(matches!(two.alone(SHORT), Err(NotDone::Refused(_))));
        drop(shared);
        let alone = two.alone(LONG).unwrap();
        assert!(one.share(SHORT).is_err() && two.share(SHORT).is_err() && one.alone(SHORT).is_err());
        drop(alone);
        drop(one.alone(LONG).unwrap());
        drop(two.share(LONG).unwrap());
    }

    #[test]
    fn who_wants_the_root_alone_is_not_kept_out_by_those_that_come_later() {
        let folder = tempfile::tempdir().unwrap();
        let (busy, other) = (Process::new(&folder), Process::new(&folder));
        let first = busy.share(LONG).unwrap();
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let alone = scope.spawn(|| {
                let alone = other.alone(LONG).unwrap();
                tell.send("alone").unwrap();
                alone
            });
            // Until the gate is closed, more edits join; then they wait.
            while busy.share(SHORT).is_ok() {}
            let later = scope.spawn({
                let (tell, busy) = (tell.clone(), &busy);
                move || {
                    let _shared = busy.share(LONG).unwrap();
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
        let (one, two) = (Process::new(&folder), Process::new(&folder));
        let held = one.share(LONG).unwrap();
        for _ in 0..5 {
            assert!(two.alone(SHORT).is_err());
            assert_eq!(two.lock.door.length(&()), 0);
            // Not even the gate.
            drop(two.share(Duration::ZERO).unwrap());
        }
        drop(held);
        drop(two.alone(Duration::ZERO).unwrap());
    }
}
