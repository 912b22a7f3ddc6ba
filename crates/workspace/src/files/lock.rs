//! The lock of a root: one edit at a time among the threads of this process and among all processes.
//!
//! Processes wait for each other on an advisory lock of the **root folder itself**. A lock file would need a place that
//! every process of every user checks; the folder already is one, and a refused edit leaves nothing behind. The kernel
//! wakes waiting processes in turn, and releases the lock of a process that dies.
//!
//! The lock orders the edits of several Emend processes. It does not protect from other programs: the commit's exchange
//! and verification do that.

use std::fs::File;
use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use emend_threads::{Condvar, Mutex};

use crate::disk::fault::io_problem;
use crate::disk::folder_as_file;
use crate::files::effort::NotDone;
use crate::problem::{Kind, Problem};

/// The default time for which an edit waits for the lock.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The lock of a root among the threads of this process.
#[derive(Debug, Default)]
pub struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
    queued: Arc<Queued>,
}

/// This process in the kernel's queue for a folder's lock: in it at most once, for all of its edits.
#[derive(Debug, Default)]
struct Queued {
    state: Mutex<Queue>,
    served: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// Whether a thread is in the queue. It cannot be cancelled, so it stays there until it gets the lock.
    is_waiting: bool,
    /// Whether an edit waits for the result; otherwise the lock is released at once.
    is_wanted: bool,
    got: Option<io::Result<File>>,
}

/// The lock of a root's folder, released on drop.
#[derive(Debug)]
pub struct Locked<'a> {
    turn: &'a Turn,
    _folder: File,
}

/// Locks the root of this folder, waiting at most `patience`; with zero patience, only if it is free.
pub fn lock<'a>(turn: &'a Turn, root: &Dir, patience: Duration) -> Result<Locked<'a>, NotDone> {
    let until = Instant::now() + patience;
    let busy = || match patience {
        Duration::ZERO => NotDone::NotQuick,
        _ => Problem::new(Kind::Busy { seconds: patience.as_secs().max(1) }).into(),
    };
    let mut taken = turn.taken.lock();
    while *taken {
        let left = until.checked_duration_since(Instant::now()).ok_or_else(busy)?;
        taken = turn.free.wait_timeout(taken, left).0;
    }
    *taken = true;
    drop(taken);
    match lock_folder(turn, root, until) {
        Ok(Some(folder)) => Ok(Locked { turn, _folder: folder }),
        other => {
            release(turn);
            Err(match other {
                Err(error) => io_problem("Locking the workspace", &error).into(),
                Ok(_) => busy(),
            })
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        release(self.turn);
    }
}

fn release(turn: &Turn) {
    *turn.taken.lock() = false;
    turn.free.notify_one();
}

/// Locks the folder in the kernel. Returns `Ok(None)` on timeout.
fn lock_folder(turn: &Turn, root: &Dir, until: Instant) -> io::Result<Option<File>> {
    let folder = folder_as_file(root)?;
    match folder.try_lock() {
        Ok(()) => return Ok(Some(folder)),
        Err(std::fs::TryLockError::WouldBlock) => {}
        Err(std::fs::TryLockError::Error(error)) => return Err(error),
    }
    if until <= Instant::now() {
        return Ok(None);
    }
    // Another process holds the lock.
    turn.queued.wait(folder, until)
}

impl Queued {
    /// Waits for the lock on this folder. Only the holder of the turn may call this. Returns `Ok(None)` on timeout.
    fn wait(self: &Arc<Self>, folder: File, until: Instant) -> io::Result<Option<File>> {
        let mut queue = self.state();
        if !queue.is_waiting {
            let queued = Arc::clone(self);
            // A thread waits in the kernel's queue, so that nothing has to poll.
            std::thread::Builder::new().spawn(move || queued.stand(folder))?;
            queue.is_waiting = true;
        }
        queue.is_wanted = true;
        while queue.got.is_none()
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            queue = self.served.wait_timeout(queue, left).0;
        }
        queue.is_wanted = false;
        queue.got.take().transpose()
    }

    /// Waits in the kernel's queue and passes the result on.
    fn stand(&self, folder: File) {
        let locked = folder.lock().map(|()| folder);
        let mut queue = self.state();
        queue.is_waiting = false;
        if queue.is_wanted {
            queue.got = Some(locked);
            self.served.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, Queue> {
        self.state.lock()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Returns a folder opened twice: once as another process would hold it, and once to queue for it.
    fn folder() -> (tempfile::TempDir, File, Arc<Queued>) {
        let folder = tempfile::tempdir().unwrap();
        let other = File::open(folder.path()).unwrap();
        other.lock().unwrap();
        (folder, other, Arc::default())
    }

    #[test]
    fn edits_that_give_up_leave_one_place_in_the_queue_between_them() {
        let (folder, other, queued) = folder();
        for _ in 0..5 {
            let mine = File::open(folder.path()).unwrap();
            assert!(queued.wait(mine, Instant::now()).unwrap().is_none());
            assert!(queued.state().is_waiting);
            // Only that thread and this one hold it: no further thread was started.
            assert_eq!(Arc::strong_count(&queued), 2);
        }
        other.unlock().unwrap();
        // No edit wants the lock any more, so it is released.
        let next = File::open(folder.path()).unwrap();
        next.lock().unwrap();
        while Arc::strong_count(&queued) > 1 {
            // The thread may have been behind this one in the queue.
            next.unlock().unwrap();
            std::thread::yield_now();
            next.lock().unwrap();
        }
        assert!(!queued.state().is_waiting && queued.state().got.is_none());
    }

    #[test]
    fn an_edit_takes_over_the_place_of_one_that_gave_up() {
        let (folder, other, queued) = folder();
        let open = || File::open(folder.path()).unwrap();
        assert!(queued.wait(open(), Instant::now()).unwrap().is_none());
        let (send, receive) = mpsc::channel();
        let waiting = {
            let (queued, mine) = (Arc::clone(&queued), open());
            std::thread::spawn(move || {
                send.send(queued.wait(mine, Instant::now() + PATIENCE)).unwrap();
            })
        };
        while !queued.state().is_wanted {
            std::thread::yield_now();
        }
        other.unlock().unwrap();
        let mine = receive.recv().unwrap().unwrap().expect("its turn");
        assert!(open().try_lock().is_err());
        drop(mine);
        open().lock().unwrap();
        waiting.join().unwrap();
    }
}
