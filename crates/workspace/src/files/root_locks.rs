//! The locks of one root together: of all of it, or of some of its files.
//!
//! An edit takes its locks in this order, and nobody takes them in another, so that no two edits wait for each other:
//!
//! 1. in the server: the turn of a call that is sent again while the first runs;
//! 2. in the server: a slot of its owner among the edits on threads, and the handle of the preview that it applies;
//! 3. its files and its call, by ascending [`FileKey`]: each first among the threads of this process, then, as a byte of a
//!    file in the vault, among all processes;
//! 4. one of [`AT_WORK`] places among the edits of this process;
//! 5. the root: its door, then for a moment the lock of its folder, under which the files are marked.
//!
//! If hooks run, the locks from 3 on are released, the edit waits for its turn among the hooks of these files, and the
//! locks are taken again. Whoever wants all of the root takes only the last.

use std::collections::BTreeSet;
use std::sync::Arc;

use cap_std::fs::Dir;
use emend_threads::{Queues, Turn};

use crate::files::effort::NotDone;
use crate::files::file_locks::{FileKey, FileLocks, LockedFiles};
use crate::files::folder_lock::{Alone, Deadline, LockFiles, RootLock, Shared};

/// The number of edits of one process that are made at the same time in a root.
const AT_WORK: usize = 8;

/// The locks of a root, for the threads of this process and for all processes.
#[derive(Debug)]
pub(crate) struct RootLocks {
    root: RootLock,
    files: FileLocks,
    /// The line of the edits of this process that have their files.
    at_work: Queues<()>,
}

/// Some files of a root, locked until it is dropped. Fields drop in this order: the marks first, so that the next holder of
/// a file sees none.
#[derive(Debug)]
pub(crate) struct FilesOfRoot<'a> {
    _shared: Shared<'a>,
    pub(crate) locked: LockedFiles<'a>,
    _place: Turn<'a, ()>,
}

impl Default for RootLocks {
    fn default() -> Self {
        Self { root: RootLock::default(), files: FileLocks::default(), at_work: Queues::of_width(AT_WORK) }
    }
}

impl RootLocks {
    /// Locks all of the root of this folder for changes.
    pub(crate) fn lock(
        &self,
        root: &Dir,
        files: Option<&LockFiles>,
        deadline: Deadline,
    ) -> Result<Alone<'_>, NotDone> {
        self.root.alone(root, files, deadline)
    }

    /// Locks some files of it for changes, and waits for a place among the edits that are made at the same time. Who waits
    /// for a file that another edit has takes no place from the others. Returns `None` where files cannot be locked.
    pub(crate) fn lock_files(
        &self,
        root: &Dir,
        files: &Arc<LockFiles>,
        keys: &BTreeSet<FileKey>,
        deadline: Deadline,
    ) -> Result<Option<FilesOfRoot<'_>>, NotDone> {
        let Some(locked) = self.files.lock(Arc::clone(files), keys, deadline)? else { return Ok(None) };
        let place = self.at_work.wait((), deadline.until).ok_or_else(|| deadline.passed())?;
        let shared = self.root.share(root, files, keys.iter().map(|key| key.byte()), deadline)?;
        Ok(shared.map(|shared| FilesOfRoot { _shared: shared, locked, _place: place }))
    }

    /// Returns whether an edit has locked the file with this key.
    pub(crate) fn is_locked(&self, key: FileKey) -> bool {
        self.files.is_locked(key) || self.root.is_marked(key.byte())
    }
}
