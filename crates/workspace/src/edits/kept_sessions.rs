//! Sessions that outlive their server: what a client was when its session began, and what it has read, for the next server that
//! the client comes to.
//!
//! A session is kept for its owner alone, under a name that nobody else can make of its id.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::files::seal::Seal;
use crate::files::sealed_folder::{SealedFolder, is_being_written, is_fresh, names, now};

/// The folder of kept sessions in the state folder.
const FOLDER: &str = "sessions";
/// How long a session is kept after its last change.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// How many sessions are kept, and how many bytes.
const COUNT: usize = 10_000;
const BYTES: u64 = 256 * 1024 * 1024;
/// The size of the largest session that is kept. Some ten thousand files were read in it.
const LARGEST: usize = 4 * 1024 * 1024;

/// The kept sessions of a workspace.
#[derive(Debug)]
pub struct KeptSessions {
    folder: SealedFolder,
}

/// A session in its file.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    time: u64,
    session: T,
}

impl KeptSessions {
    pub(crate) fn new(state: PathBuf, seal: Arc<Seal>) -> Self {
        Self { folder: SealedFolder::new(state, FOLDER, seal) }
    }

    /// Returns what was kept of a session of this owner.
    #[must_use]
    pub fn find<T: DeserializeOwned>(&self, owner: &str, id: &str) -> Option<T> {
        let dir = self.folder.opened().ok()??;
        let kept: Kept<T> = self.folder.read(&dir, &name_of(owner, id), &purpose(owner, id))?;
        is_fresh(kept.time, AGE).then_some(kept.session)
    }

    /// Returns whether something is kept of a session of this owner.
    #[must_use]
    pub fn has(&self, owner: &str, id: &str) -> bool {
        matches!(self.folder.opened(), Ok(Some(dir)) if dir.symlink_metadata(name_of(owner, id)).is_ok())
    }

    /// Keeps a session of this owner from now on. Nothing is lost without it but what the client would read again, so the disk
    /// is not waited for.
    pub fn begin(&self, owner: &str, id: &str, session: &impl Serialize) -> io::Result<()> {
        let (dir, name) = (self.folder.made()?, name_of(owner, id));
        if makes_room(&name) {
            self.make_room()?;
        }
        self.folder.place(&dir, &name, &purpose(owner, id), &Kept { time: now(), session })
    }

    /// Keeps this in place of what was kept of a session. One that was ended meanwhile stays so, and one that has become too
    /// large is kept no more.
    pub fn keep(&self, owner: &str, id: &str, session: &RawValue) -> io::Result<()> {
        if session.get().len() > LARGEST {
            self.forget(owner, id);
            return Ok(());
        }
        let (dir, name) = (self.folder.opened()?, name_of(owner, id));
        match dir.filter(|dir| dir.symlink_metadata(&name).is_ok()) {
            Some(dir) => self.folder.place(&dir, &name, &purpose(owner, id), &Kept { time: now(), session }),
            None => Ok(()),
        }
    }

    /// Removes what was kept of a session.
    pub fn forget(&self, owner: &str, id: &str) {
        if let Ok(Some(dir)) = self.folder.opened() {
            let _ = dir.remove_file(name_of(owner, id));
        }
    }

    /// Removes sessions that are too old, and the oldest where there are too many.
    fn make_room(&self) -> io::Result<()> {
        let Some(dir) = self.folder.opened()? else { return Ok(()) };
        let mut kept = Vec::new();
        for name in names(&dir)? {
            let written = dir.symlink_metadata(&name).and_then(|found| found.modified());
            // The clock of a shared disk may be ahead.
            match written.ok().map(|written| written.into_std().elapsed().unwrap_or_default()) {
                Some(age) if age <= AGE => {
                    if !is_being_written(&dir, &name, AGE) {
                        kept.push((now().saturating_sub(age.as_millis() as u64), name));
                    }
                }
                _ => drop(dir.remove_file(&name)),
            }
        }
        SealedFolder::remove_oldest(&dir, kept, COUNT, BYTES);
        Ok(())
    }
}

/// Returns whether the session of this file makes room for others. To look at thousands of files takes its time, so it is one of
/// 64 that does.
fn makes_room(name: &str) -> bool {
    u8::from_str_radix(&name[..2], 16).is_ok_and(|first| first < 4)
}

/// Returns the name of the file of a session. A client may send any text as an id.
fn name_of(owner: &str, id: &str) -> String {
    blake3::hash(purpose(owner, id).as_bytes()).to_hex()[..32].to_owned()
}

fn purpose(owner: &str, id: &str) -> String {
    format!("session of {}:{owner} {id}", owner.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_owner_and_its_id_alone_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
        let sessions = KeptSessions::new(folder.path().to_owned(), seal);
        assert_eq!(sessions.find::<String>("ann", "1"), None);
        sessions.begin("ann", "1", &"read a.txt").unwrap();
        sessions.keep("ann", "1", &raw("read b.txt")).unwrap();
        sessions.make_room().unwrap();
        for (owner, id, found) in [
            ("ann", "1", Some("read b.txt")),
            ("ann", "2", None),
            ("ben", "1", None),
            ("ann 1", "", None),
            ("an", "n 1", None),
            ("ann", "../1", None),
        ] {
            assert_eq!(sessions.find::<String>(owner, id).as_deref(), found, "{owner} {id}");
        }
        // What comes late from a call of a session that was ended does not bring it back.
        sessions.forget("ann", "1");
        sessions.keep("ann", "1", &raw("read c.txt")).unwrap();
        assert_eq!(sessions.find::<String>("ann", "1"), None);
    }

    #[test]
    fn the_clock_of_a_shared_disk_may_be_ahead() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
        let sessions = KeptSessions::new(folder.path().to_owned(), seal);
        sessions.begin("ann", "1", &"read a.txt").unwrap();
        let file = std::fs::File::options()
            .append(true)
            .open(folder.path().join(FOLDER).join(name_of("ann", "1")))
            .unwrap();
        file.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap();
        sessions.make_room().unwrap();
        assert!(sessions.find::<String>("ann", "1").is_some());
    }

    fn raw(text: &str) -> Box<RawValue> {
        serde_json::value::to_raw_value(text).unwrap()
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_neither_is_what_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = KeptSessions::new(
            folder.path().to_owned(),
            Arc::new(Seal::of_user(Some(folder.path())).unwrap()),
        );
        sessions.begin("ann", "1", &"small").unwrap();
        sessions.keep("ann", "1", &raw(&"x".repeat(LARGEST))).unwrap();
        assert_eq!(sessions.find::<String>("ann", "1"), None);
    }
}
