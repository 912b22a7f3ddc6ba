//! The user's seal: how Emend recognises its own journals and history.
//!
//! A repository can ship a folder that looks like Emend's own, with a journal in it that names files to be "restored".
//! So everything that is acted upon later is marked with a key that only this user has, stored outside of every
//! workspace, and the mark covers the root: a copy from another root does not count either.
//!
//! If no key can be stored (because the state folder is not writable), this process uses a temporary one: then no other
//! process recovers what it leaves behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::policy::state_folder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The name of the key's file in the state folder.
const KEY_FILE: &str = "key";

/// The key of this user.
pub struct Seal {
    key: [u8; 32],
    is_kept: bool,
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    /// Loads the user's key, and creates it the first time.
    pub fn of_user(state: Option<&Path>) -> io::Result<Self> {
        match state.map(kept_key) {
            Some(Ok(key)) => Ok(Self { key, is_kept: true }),
            _ => Ok(Self { key: random_key()?, is_kept: false }),
        }
    }

    /// Loads the existing key of this user.
    pub(crate) fn kept_in(state: &Path) -> io::Result<Self> {
        Ok(Self { key: read_key(&state.join(KEY_FILE))?, is_kept: true })
    }

    /// Returns whether other processes of this user have the same key.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Stores the key again if its file is gone, because the state folder was removed meanwhile.
    pub(crate) fn keep(&self, state: &Path) {
        let path = state.join(KEY_FILE);
        if matches!(read_key(&path), Err(error) if error.kind() == io::ErrorKind::NotFound) {
            let _ = write_key(state, &self.key);
        }
    }

    /// Returns the mark of this content for this purpose: 32 hex digits.
    #[must_use]
    pub fn mark(&self, purpose: &str, content: &[u8]) -> String {
        let mut hash = blake3::Hasher::new_keyed(&self.key);
        hash.update(&(purpose.len() as u64).to_le_bytes()).update(purpose.as_bytes()).update(content);
        hash.finalize().to_hex()[..32].to_owned()
    }

    /// Returns whether the mark is that of this content.
    #[must_use]
    pub fn holds(&self, purpose: &str, content: &[u8], mark: &str) -> bool {
        // Compares hashes, which takes constant time.
        let digest = |mark: &str| blake3::hash(mark.as_bytes());
        digest(&self.mark(purpose, content)) == digest(mark)
    }

    /// Returns a key for this purpose, from which nobody learns the user's own or that for another.
    #[must_use]
    pub fn key_for(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(&format!("Emend, a key for: {purpose}"), &self.key)
    }

    /// Serialises a value as JSON, after its mark.
    pub(crate) fn sealed(&self, purpose: &str, value: &impl Serialize) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(value)?;
        let mut sealed = self.mark(purpose, &json).into_bytes();
        sealed.push(b'\n');
        sealed.extend(json);
        Ok(sealed)
    }

    /// Parses such a text; `None` if it is not ours or not complete.
    pub(crate) fn unsealed<T: DeserializeOwned>(&self, purpose: &str, sealed: &[u8]) -> Option<T> {
        let at = memchr::memchr(b'\n', sealed)?;
        let (mark, json) = (std::str::from_utf8(&sealed[..at]).ok()?, &sealed[at + 1..]);
        self.holds(purpose, json, mark).then(|| serde_json::from_slice(json).ok())?
    }
}

/// Returns whether there is a usable key.
pub(crate) fn is_kept(state: &Path) -> io::Result<bool> {
    match read_key(&state.join(KEY_FILE)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn random_key() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(key)
}

fn kept_key(state: &Path) -> io::Result<[u8; 32]> {
    let path = state.join(KEY_FILE);
    match read_key(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(key) => {
            // Without a right to write there, the key is good all the same.
            let _ = state_folder::mark(state);
            return Ok(key);
        }
        read => return read,
    }
    write_key(state, &random_key()?)?;
    read_key(&path)
}

/// Stores a key, unless there is one. If two processes do this at once, one of them wins.
fn write_key(state: &Path, key: &[u8; 32]) -> io::Result<()> {
    make_private(state)?;
    state_folder::mark(state)?;
    // Written under another name first, so that no process reads half a key.
    let new = state.join(format!("{KEY_FILE}.{}", blake3::hash(key).to_hex()));
    let mut file = private_file(&new)?;
    let written = file.write_all(key).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&new, state.join(KEY_FILE)));
    let _ = fs::remove_file(&new);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // A journal is useless without the key that verifies it.
    #[cfg(unix)]
    for folder in with_parent(state) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Returns a folder and the one above it, which is the working folder for a relative path of one name.
#[cfg(unix)]
fn with_parent(folder: &Path) -> impl Iterator<Item = &Path> {
    folder
        .ancestors()
        .take(2)
        .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Reads a key, which must be accessible to this user alone.
fn read_key(path: &Path) -> io::Result<[u8; 32]> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32,
    );
    let mut file = options.open(path)?;
    if !is_private(&file)? {
        return Err(io::Error::other("the key can be read by others"));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    let is_mine = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(metadata.is_file() && is_mine && metadata.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.is_file())
}

/// Creates a folder and its ancestors for this user alone.
pub fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_relative_state_folder_is_in_the_working_folder() {
        for (folder, both) in [("state", ["state", "."]), ("/a/b", ["/a/b", "/a"]), ("a/b", ["a/b", "a"])] {
            assert!(with_parent(Path::new(folder)).eq(both.map(Path::new)), "{folder}");
        }
    }

    #[test]
    fn a_mark_holds_for_its_key_its_purpose_and_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::of_user(Some(folder.path())).unwrap();
        let mark = seal.mark("name", b"content");
        assert_eq!(mark.len(), 32);
        assert!(Seal::of_user(Some(folder.path())).unwrap().holds("name", b"content", &mark), "kept");
        assert!(!seal.holds("name", b"contents", &mark));
        assert!(!seal.holds("namec", b"ontent", &mark));
        assert!(!Seal::of_user(None).unwrap().holds("name", b"content", &mark));
    }

    #[test]
    fn a_key_is_for_its_purpose_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [seal, again] = [(); 2].map(|()| Seal::of_user(Some(folder.path())).unwrap());
        assert_eq!(seal.key_for("one"), again.key_for("one"));
        assert_ne!(seal.key_for("one"), seal.key_for("other"));
        assert_ne!(seal.key_for("one"), Seal::of_user(None).unwrap().key_for("one"));
        assert_ne!(seal.key_for("one"), seal.key);
    }

    #[test]
    #[cfg(unix)]
    fn a_key_that_others_can_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mark = Seal::of_user(Some(folder.path())).unwrap().mark("name", b"content");
        let path = folder.path().join(KEY_FILE);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(!Seal::of_user(Some(folder.path())).unwrap().holds("name", b"content", &mark));
    }
}
