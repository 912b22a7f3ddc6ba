//! A folder of the user's state folder with sealed files, for what one process leaves there for another: edits that wait
//! for approval, previews that a person may look at.
//!
//! Only this user can read it, and a file counts only with the user's seal. Files are replaced atomically.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::seal::{Seal, make_private};
use super::vault::is_ours;
use crate::disk::sync_folder;

/// The file name suffix of a file being written.
const WRITING: &str = ".new";

/// A folder of sealed files.
#[derive(Debug)]
pub(crate) struct SealedFolder {
    state: PathBuf,
    name: &'static str,
    pub(crate) seal: Arc<Seal>,
}

impl SealedFolder {
    /// Names the folder `name` of a state folder.
    pub(crate) fn new(state: PathBuf, name: &'static str, seal: Arc<Seal>) -> Self {
        Self { state, name, seal }
    }

    /// Names the folder of this user for another process; `None` without a key, because then no process can have left anything.
    pub(crate) fn of_user(state: &Path, name: &'static str) -> io::Result<Option<Self>> {
        match Seal::kept_in(state) {
            Ok(seal) => Ok(Some(Self::new(state.to_owned(), name, Arc::new(seal)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder, if there is one.
    pub(crate) fn opened(&self) -> io::Result<Option<Dir>> {
        let path = self.state.join(self.name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        if is_ours(&dir) {
            Ok(Some(dir))
        } else {
            Err(io::Error::other(format!("{} is not for this user alone", path.display())))
        }
    }

    /// Opens the folder, and creates it if it is missing.
    pub(crate) fn made(&self) -> io::Result<Dir> {
        // Other processes need the key to verify the seal.
        self.seal.keep(&self.state);
        make_private(&self.state.join(self.name))?;
        self.opened()?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Reads a value that was sealed for this purpose.
    pub(crate) fn read<T: DeserializeOwned>(&self, dir: &Dir, name: &str, purpose: &str) -> Option<T> {
        let is_file = dir.symlink_metadata(name).is_ok_and(|found| found.is_file());
        let sealed = if is_file { dir.read(name).ok() } else { None };
        self.seal.unsealed(purpose, &sealed?)
    }

    /// Seals a value for this purpose and replaces the file of this name, which is then durable.
    pub(crate) fn write(
        &self,
        dir: &Dir,
        name: &str,
        purpose: &str,
        value: &impl Serialize,
    ) -> io::Result<()> {
        self.replace(dir, name, &self.seal.sealed(purpose, value)?, File::sync_all)?;
        sync_folder(dir)
    }

    /// Does the same without waiting for the disk.
    pub(crate) fn place(
        &self,
        dir: &Dir,
        name: &str,
        purpose: &str,
        value: &impl Serialize,
    ) -> io::Result<()> {
        self.replace(dir, name, &self.seal.sealed(purpose, value)?, |_| Ok(()))
    }

    fn replace(
        &self,
        dir: &Dir,
        name: &str,
        content: &[u8],
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let new = format!("{name}.{:016x}{WRITING}", u64::from_ne_bytes(random));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = dir.open_with(&new, &options)?;
        let written = file.write_all(content).and_then(|()| sync(&file));
        let placed = written.and_then(|()| dir.rename(&new, dir, name));
        if placed.is_err() {
            let _ = dir.remove_file(&new);
        }
        placed
    }

    /// Removes the oldest of these files, each with its time and name, beyond so many of them and so many bytes, counting one
    /// that is about to come.
    pub(crate) fn remove_oldest(dir: &Dir, mut files: Vec<(u64, String)>, count: usize, bytes: u64) {
        files.sort();
        let mut sum = 0;
        for (younger, (_, name)) in files.iter().rev().enumerate() {
            sum += dir.symlink_metadata(name).map_or(0, |found| found.len());
            if younger + 1 >= count || sum > bytes {
                let _ = dir.remove_file(name);
            }
        }
    }
}

/// Returns whether another process may be writing this file right now.
pub(crate) fn is_being_written(dir: &Dir, name: &str, longest: Duration) -> bool {
    let written = dir.symlink_metadata(name).and_then(|found| found.modified());
    let age = written.ok().and_then(|written| written.into_std().elapsed().ok());
    name.ends_with(WRITING) && age.is_some_and(|age| age <= longest)
}

/// Returns the names of the files in the folder.
pub(crate) fn names(dir: &Dir) -> io::Result<Vec<String>> {
    let names = dir.entries()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.collect())
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Returns whether a time is no longer ago than this. After the clock is set back, it is for at most twice as long.
pub(crate) fn is_fresh(time: u64, age: Duration) -> bool {
    now().abs_diff(time) < age.as_millis() as u64
}
