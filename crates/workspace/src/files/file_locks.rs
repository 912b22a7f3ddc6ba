//! The locks of files: edits of different files share their root, and those of the same file follow each other.
//!
//! A file is locked by name, since the commit puts another file in its place: by one byte of a file in the vault, whose
//! number is a hash of the name. Names that some disk takes for the same have the same number. Other names of one file do
//! not exclude each other; there the commit's verification finds the other edit, as it finds that of any program. Users
//! with vaults of their own see each other's marks on the root ([`folder_lock`](super::folder_lock)).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;

use emend_threads::{Queues, Turn};

use crate::files::call::CallDigest;
use crate::files::effort::NotDone;
use crate::files::folder_lock::{Deadline, LockFiles};
use crate::policy::folded::Folded;

/// The name of a file as a number, or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileKey(u32);

impl FileKey {
    /// Returns the byte that stands for the file.
    pub(crate) fn byte(self) -> u32 {
        self.0
    }

    /// Returns the key of the file with these names from the root on.
    pub(crate) fn new(names: &[OsString]) -> Self {
        let folded = Folded::new(names);
        let name = folded.spellings().last().unwrap_or_default();
        Self::of_bytes(name.as_bytes())
    }

    /// Returns the key of a call: no two copies of it are made at the same time.
    pub(crate) fn of_call(call: CallDigest) -> Self {
        // No name of a file has this byte.
        Self::of_bytes(format!("\0{}", String::from(call)).as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let [a, b, c, d, ..] = *blake3::hash(bytes).as_bytes();
        // Some systems count the bytes of a file with 31 bits.
        Self(u32::from_le_bytes([a, b, c, d]) >> 1)
    }
}

/// The locks of the files of a root among the threads of this process.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(Queues<FileKey>);

/// Some files, locked among all threads and processes until it is dropped.
#[derive(Debug)]
pub(crate) struct LockedFiles<'a> {
    files: Arc<LockFiles>,
    held: Vec<(FileKey, Turn<'a, FileKey>)>,
}

impl FileLocks {
    /// Returns whether a thread of this process has locked the file with this key, or waits for it.
    pub(crate) fn is_locked(&self, key: FileKey) -> bool {
        self.0.length(&key) > 0
    }

    /// Locks the files with these keys. Returns `None` if the file system has no such locks.
    pub(crate) fn lock(
        &self,
        files: Arc<LockFiles>,
        keys: &BTreeSet<FileKey>,
        deadline: Deadline,
    ) -> Result<Option<LockedFiles<'_>>, NotDone> {
        let mut locked = LockedFiles { files, held: Vec::with_capacity(keys.len()) };
        // All edits lock in this order, so no two wait for each other.
        for &key in keys {
            let turn = self.0.wait(key, deadline.until).ok_or_else(|| deadline.passed())?;
            match emend_filelock::lock_byte(&locked.files.bytes, key.0, deadline.until) {
                Ok(true) => locked.held.push((key, turn)),
                Ok(false) => return Err(deadline.passed()),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(locked))
    }
}

impl LockedFiles<'_> {
    /// Returns whether the file with this key is among them.
    pub(crate) fn has(&self, key: FileKey) -> bool {
        self.held.iter().any(|(held, _)| *held == key)
    }
}

impl Drop for LockedFiles<'_> {
    fn drop(&mut self) {
        for (key, _turn) in self.held.drain(..) {
            // Closing the handle would release it too; this cannot fail for a lock that is held.
            let _ = emend_filelock::unlock_byte(&self.files.bytes, key.0);
        }
    }
}

#[cfg(test)]
#[cfg(any(target_os = "linux", windows))]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    fn key(path: &str) -> FileKey {
        FileKey::new(&path.split('/').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_that_a_disk_may_take_for_the_same_have_one_key() {
        for (one, other) in
            [("a/B.txt", "A/b.TXT"), ("a.", "a"), ("e\u{301}", "\u{e9}"), ("stra\u{df}e", "STRASSE")]
        {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
        assert!(key("a/b") != key("ab") && key("a") != key("b"));
    }

    #[test]
    fn a_file_is_locked_among_threads_and_processes_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let process = || {
            let open =
                || File::options().write(true).create(true).truncate(false).open(folder.path().join("f"));
            (
                FileLocks::default(),
                Arc::new(LockFiles {
                    sharing: open().unwrap(),
                    bytes: open().unwrap(),
                    folder: None,
                    are_refused: false.into(),
                }),
            )
        };
        let (one, two) = (process(), process());
        let now = || Deadline::after(Duration::ZERO);
        let keys = |names: &[&str]| names.iter().map(|name| key(name)).collect::<BTreeSet<_>>();
        let held = one.0.lock(Arc::clone(&one.1), &keys(&["a", "b"]), now()).unwrap().unwrap();
        assert!(held.has(key("a")) && !held.has(key("c")));
        for (locks, files) in [&one, &two] {
            let lock = |names: &[&str]| locks.lock(Arc::clone(files), &keys(names), now());
            assert!(matches!(lock(&["b"]), Err(NotDone::NotQuick)));
            // What it got before the one that it did not get is free again.
            assert!(lock(&["b", "c", "d"]).is_err());
            drop(lock(&["c", "d"]).unwrap().unwrap());
        }
        drop(held);
        drop(two.0.lock(Arc::clone(&two.1), &keys(&["a", "b"]), now()).unwrap().unwrap());
    }
}
