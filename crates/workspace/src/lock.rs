//! One edit at a time in a root: among the threads of this process, and among all processes.
//!
//! Processes wait for each other on an advisory lock of the **root folder itself**. A lock file would have
//! to lie somewhere that every process of every user looks at; the folder is that already, and a refused
//! edit leaves nothing behind. The kernel wakes the waiting in turn and releases the lock of a process
//! that dies.
//!
//! The lock is what makes edits of several Emend processes orderly. It is not what protects from other
//! programs: that is the commit's exchange and verification.

use std::fs::File;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use emend_edit::problem::{Kind, Problem};

use crate::disk::folder_as_file;
use crate::fault::io_problem;
use crate::roots::Root;

/// How long an edit waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Whose turn it is among the threads of this process.
#[derive(Debug, Default)]
pub struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The right to change files in a root. Released when dropped.
#[derive(Debug)]
pub struct Locked<'a> {
    turn: &'a Turn,
    _folder: File,
}

/// Waits for the right to change files in `root`, for at most `patience`.
pub fn lock(root: &Root, patience: Duration) -> Result<Locked<'_>, Problem> {
    let until = Instant::now() + patience;
    let busy = || {
        Problem::new(match patience.as_secs() {
            0 => Kind::NeedsPatience,
            seconds => Kind::Busy { seconds },
        })
    };
    let mut taken = root.turn.taken.lock().unwrap_or_else(PoisonError::into_inner);
    while *taken {
        let left = until.checked_duration_since(Instant::now()).ok_or_else(busy)?;
        let waited = root.turn.free.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner);
        taken = waited.0;
    }
    *taken = true;
    drop(taken);
    match lock_folder(root, until) {
        Ok(Some(folder)) => Ok(Locked { turn: &root.turn, _folder: folder }),
        other => {
            release(&root.turn);
            Err(match other {
                Err(error) => io_problem("Locking the workspace", &error),
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
    *turn.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
    turn.free.notify_one();
}

/// The kernel's lock on the folder. `Ok(None)` when time ran out.
fn lock_folder(root: &Root, until: Instant) -> io::Result<Option<File>> {
    let folder = folder_as_file(&root.dir)?;
    match folder.try_lock() {
        Ok(()) => return Ok(Some(folder)),
        Err(std::fs::TryLockError::WouldBlock) => {}
        Err(std::fs::TryLockError::Error(error)) => return Err(error),
    }
    if until <= Instant::now() {
        return Ok(None);
    }
    // Another process has it. A thread waits in the kernel's queue, so that nobody has to poll; if it gets
    // the lock too late, the answer is dropped and with it the lock.
    let (send, receive) = mpsc::sync_channel(0);
    std::thread::spawn(move || {
        let locked = folder.lock().map(|()| folder);
        let _ = send.send(locked);
    });
    match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
    }
}
