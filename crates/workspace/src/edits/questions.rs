//! Questions to a person that any process with the same state folder may have asked: the key that seals their states, and
//! which of them were answered, since an answer counts once, whichever process gets it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, OpenOptions};
use emend_threads::Mutex;

use crate::disk::sync_folder;
use crate::files::seal::Seal;
use crate::files::sealed_folder::{SealedFolder, names};

/// The folder of answered questions in the state folder: an empty file for each.
const FOLDER: &str = "answered";
/// The purpose of the key.
const PURPOSE: &str = "states of questions";
/// How often is looked for questions that are too old.
const TIDIED: Duration = Duration::from_secs(60);

/// The questions of all processes with one state folder.
#[derive(Debug)]
pub struct Questions {
    folder: SealedFolder,
    /// How long an answer may take.
    patience: Duration,
    tidied: Mutex<Option<Instant>>,
}

impl Questions {
    pub(crate) fn new(state: PathBuf, seal: Arc<Seal>, patience: Duration) -> Self {
        Self { folder: SealedFolder::new(state, FOLDER, seal), patience, tidied: Mutex::default() }
    }

    /// Returns the key that seals the states of questions.
    #[must_use]
    pub fn key(&self) -> [u8; 32] {
        self.folder.seal.key_for(PURPOSE)
    }

    /// Records that a question was answered, and returns whether that is its first answer. The disk has it before it counts.
    pub fn is_first_answer(&self, question: [u8; 16]) -> io::Result<bool> {
        let dir = self.folder.made()?;
        self.tidy(&dir);
        let name = format!("{:032x}", u128::from_be_bytes(question));
        match dir.open_with(name, OpenOptions::new().write(true).create_new(true)) {
            Ok(_) => sync_folder(&dir).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes questions now and then whose state is too old for another answer.
    fn tidy(&self, dir: &Dir) {
        let mut tidied = self.tidied.lock();
        if tidied.is_some_and(|before| before.elapsed() < TIDIED) {
            return;
        }
        *tidied = Some(Instant::now());
        for name in names(dir).unwrap_or_default() {
            let written = dir.symlink_metadata(&name).and_then(|found| found.modified());
            let age = written.ok().and_then(|written| written.into_std().elapsed().ok());
            // The clock of a shared disk may be behind.
            if age.is_some_and(|age| age > self.patience * 2) {
                let _ = dir.remove_file(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_answers_that_processes_get_one_is_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let process = || {
            let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
            Questions::new(folder.path().to_owned(), seal, Duration::from_secs(600))
        };
        let (one, other) = (process(), process());
        assert_eq!(one.key(), other.key());
        assert!(one.is_first_answer([1; 16]).unwrap());
        for later in [&one, &other, &process()] {
            assert!(!later.is_first_answer([1; 16]).unwrap());
        }
        assert!(other.is_first_answer([2; 16]).unwrap());
    }

    #[test]
    fn what_is_too_old_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
        let questions = Questions::new(folder.path().to_owned(), seal, Duration::from_secs(600));
        questions.is_first_answer([1; 16]).unwrap();
        questions.is_first_answer([2; 16]).unwrap();
        let old = std::fs::File::options().write(true).open(folder.path().join(FOLDER).join("01".repeat(16)));
        let past = std::time::SystemTime::now() - Duration::from_secs(1201);
        old.unwrap().set_modified(past).unwrap();
        *questions.tidied.lock() = None;
        questions.is_first_answer([3; 16]).unwrap();
        let mut left: Vec<_> = std::fs::read_dir(folder.path().join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort_unstable();
        assert_eq!(left, ["02".repeat(16), "03".repeat(16)]);
    }
}
