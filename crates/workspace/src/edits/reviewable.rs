//! Previews that a person may look at from another process: the page on loopback and the one in a terminal.
//!
//! What is left in the folder `previews` of the state folder is no plan but the call that asked for one, with the versions of
//! the files that it found. The process in which the person looks plans it anew for just these versions, so what they see is
//! what they apply, and a file that has changed since is noticed as everywhere. `HANDLE` is the call, `HANDLE.word` what the
//! person has done with it, which the process that made the preview tells its client. Both count only with the user's seal.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;
use emend_edit::plan::Revision;
use serde::{Deserialize, Serialize};

use crate::edits::approval;
use crate::edits::preview::Preview;
use crate::files::seal::Seal;
use crate::files::sealed_folder::{SealedFolder, is_being_written, is_fresh, names, now};

/// The name of the folder in the state folder.
const FOLDER: &str = "previews";
/// The file name suffix of what a person has done.
const WORD: &str = ".word";
/// The time for which a call is kept.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of calls that are kept.
const COUNT: usize = 100;
/// Their total size in bytes.
const BYTES: u64 = 64 * 1024 * 1024;
/// The largest arguments of a call that is kept, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;

/// A call that asked for a preview.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reviewable {
    /// The handle of the preview.
    pub handle: String,
    /// When it was made, in milliseconds since 1970.
    time: u64,
    /// The client that asked for it.
    pub client: String,
    /// The key of its principal, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The name of the tool that makes the edit.
    pub tool: String,
    /// Its arguments, a JSON object.
    pub arguments: String,
    /// The folder of the files.
    pub root: PathBuf,
    /// The versions of the files that were there, by their names.
    pub versions: BTreeMap<String, String>,
    /// The digest of what it makes, and of what.
    digest: String,
    /// One line for each file with what would happen to it.
    pub files: Vec<String>,
    /// What a person has written in place of hunks since, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<KeptRevision>,
    /// What a person has done with it.
    #[serde(skip)]
    pub word: Option<PreviewWord>,
}

/// What a person has written in place of what a hunk would, see [`Revision`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRevision {
    /// The file.
    pub file: String,
    /// The number of the hunk.
    pub hunk: usize,
    first: usize,
    count: usize,
    text: String,
}

impl KeptRevision {
    /// The revision as it is made.
    #[must_use]
    pub fn as_made(&self) -> Revision<'_> {
        let Self { file, hunk, first, count, text } = self;
        Revision { file, hunk: *hunk, first: *first, count: *count, text }
    }
}

impl From<&Revision<'_>> for KeptRevision {
    fn from(by: &Revision<'_>) -> Self {
        let &Revision { file, hunk, first, count, text } = by;
        Self { file: file.into(), hunk, first, count, text: text.into() }
    }
}

/// What was done with a preview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewWord {
    /// The edit that they made of it; none if they declined it.
    pub edit: Option<String>,
    /// The hunks that they applied, if not all.
    pub hunks: Option<Vec<usize>>,
    /// Those that they left out.
    #[serde(default)]
    pub left_out: Vec<usize>,
    /// What they wrote by hand and applied, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<String>,
    /// Whether it was not a person but the client, which needs not be told of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_client: bool,
    /// What they say to the model; may be empty.
    pub comment: String,
}

#[derive(Serialize, Deserialize)]
struct Said {
    handle: String,
    time: u64,
    word: PreviewWord,
}

impl Reviewable {
    /// Creates the record of a preview that is kept under this handle, and that a call of `tool` with these arguments makes.
    #[must_use]
    pub fn of(preview: &Preview, handle: &str, tool: &str, arguments: String) -> Self {
        Self {
            handle: handle.to_owned(),
            time: now(),
            client: preview.context.origin.client.clone(),
            principal: preview.context.origin.principal.clone(),
            tool: tool.to_owned(),
            arguments,
            root: preview.context.root.path.clone(),
            versions: found(preview),
            digest: preview.digest(),
            files: approval::lines(preview.report()),
            revisions: Vec::new(),
            word: None,
        }
    }

    /// Returns the same call, for a preview that was planned anew or in which a person has written, with all that they wrote.
    #[must_use]
    pub fn with(self, preview: &Preview, revisions: Vec<KeptRevision>) -> Self {
        let now = Self::of(preview, &self.handle, &self.tool, self.arguments);
        Self { client: self.client, principal: self.principal, time: self.time, revisions, ..now }
    }

    /// Returns whether another preview makes the same of the same files: those that were there are as they were, and those that
    /// were not are not there now.
    #[must_use]
    pub fn is_same_as(&self, preview: &Preview) -> bool {
        self.digest == preview.digest() && self.versions == found(preview)
    }

    /// Returns when the preview was made.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.time)
    }
}

/// The calls that asked for previews, of all processes of this user.
#[derive(Debug)]
pub struct Reviewables {
    folder: SealedFolder,
}

impl Reviewables {
    pub(crate) fn new(state: PathBuf, seal: Arc<Seal>) -> Self {
        Self { folder: SealedFolder::new(state, FOLDER, seal) }
    }

    /// Keeps a call in place of what was kept under its handle. One that is too large is not kept. What was kept before goes in
    /// any case: it has not what a person has written since.
    pub fn keep(&self, call: &Reviewable) -> io::Result<()> {
        if !is_name(&call.handle) {
            return Ok(());
        }
        let written: usize = call.revisions.iter().map(|revision| revision.text.len()).sum();
        if call.arguments.len() + written > LARGEST {
            return self.folder.opened()?.map_or(Ok(()), |dir| remove(&dir, &call.handle));
        }
        let dir = self.folder.made()?;
        Self::make_room(&dir)?;
        // Nobody has been told to rely on it: after a power cut there is no preview, either.
        let placed = self.folder.place(&dir, &call.handle, "preview", call);
        placed.or_else(|error| remove(&dir, &call.handle).and(Err(error)))
    }

    /// Returns all of them, the newest first.
    pub fn all(&self) -> io::Result<Vec<Reviewable>> {
        let Some(dir) = self.folder.opened()? else { return Ok(Vec::new()) };
        let mut all: Vec<Reviewable> = names(&dir)?.iter().filter_map(|name| self.read(&dir, name)).collect();
        all.sort_by_key(|call| std::cmp::Reverse(call.time));
        Ok(all)
    }

    /// Returns the call whose preview has this handle.
    #[must_use]
    pub fn find(&self, handle: &str) -> Option<Reviewable> {
        let dir = if is_name(handle) { self.folder.opened().ok()? } else { None };
        self.read(&dir?, handle)
    }

    /// Returns what a person has done with this preview.
    #[must_use]
    pub fn word(&self, handle: &str) -> Option<PreviewWord> {
        let dir = if is_name(handle) { self.folder.opened().ok()? } else { None };
        self.read_word(&dir?, handle)
    }

    /// Records what a person has done with it.
    pub fn say(&self, handle: &str, word: PreviewWord) -> io::Result<()> {
        if !is_name(handle) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        let said = Said { handle: handle.to_owned(), time: now(), word };
        self.folder.write(&self.folder.made()?, &format!("{handle}{WORD}"), "preview word", &said)
    }

    /// Removes a call whose preview nobody wants to look at any more.
    pub fn forget(&self, handle: &str) {
        if is_name(handle)
            && let Ok(Some(dir)) = self.folder.opened()
        {
            let _ = dir.remove_file(handle);
        }
    }

    fn read(&self, dir: &Dir, name: &str) -> Option<Reviewable> {
        let call: Reviewable = self.folder.read(dir, name, "preview")?;
        if call.handle != name || !is_fresh(call.time, AGE) {
            return None;
        }
        Some(Reviewable { word: self.read_word(dir, name), ..call })
    }

    fn read_word(&self, dir: &Dir, handle: &str) -> Option<PreviewWord> {
        let said: Said = self.folder.read(dir, &format!("{handle}{WORD}"), "preview word")?;
        (said.handle == handle && is_fresh(said.time, AGE)).then_some(said.word)
    }

    /// Removes what is too old, and the oldest where there is too much. What the files hold does not matter, so none is read.
    fn make_room(dir: &Dir) -> io::Result<()> {
        let all = names(dir)?;
        let mut kept = Vec::new();
        for name in &all {
            let is_kept = match name.strip_suffix(WORD) {
                Some(handle) => all.iter().any(|name| name == handle),
                None if is_name(name) => match written(dir, name).filter(|time| is_fresh(*time, AGE)) {
                    Some(time) => {
                        kept.push((time, name.clone()));
                        true
                    }
                    None => false,
                },
                None => is_being_written(dir, name, AGE),
            };
            if !is_kept {
                let _ = dir.remove_file(name);
            }
        }
        SealedFolder::remove_oldest(dir, kept, COUNT, BYTES);
        Ok(())
    }
}

/// Returns when a file was written, in milliseconds since 1970.
fn written(dir: &Dir, name: &str) -> Option<u64> {
    let modified = dir.symlink_metadata(name).ok()?.modified().ok()?.into_std();
    Some(modified.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64)
}

/// Removes a file that may be there.
fn remove(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the versions of the files that a preview found.
fn found(preview: &Preview) -> BTreeMap<String, String> {
    preview.found().filter_map(|(name, version)| Some((name.to_owned(), version?.hex()))).collect()
}

/// Returns whether this is a handle, and so the name of a file of the folder.
fn is_name(handle: &str) -> bool {
    let digits = handle.strip_prefix("preview-").unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(digit: &str) -> String {
        format!("preview-{}", digit.repeat(32))
    }

    fn call(digit: &str) -> Reviewable {
        Reviewable {
            handle: handle(digit),
            time: now(),
            client: "client".into(),
            principal: None,
            tool: "write_file".into(),
            arguments: "{}".into(),
            root: PathBuf::from("/root"),
            versions: BTreeMap::new(),
            digest: String::new(),
            files: Vec::new(),
            revisions: Vec::new(),
            word: None,
        }
    }

    fn user() -> (tempfile::TempDir, Reviewables) {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
        let calls = Reviewables::new(folder.path().to_owned(), seal);
        (folder, calls)
    }

    #[test]
    fn another_process_finds_the_call_and_leaves_its_word() {
        let (_folder, calls) = user();
        calls.keep(&call("1")).unwrap();
        calls.keep(&call("2")).unwrap();
        assert_eq!(calls.all().unwrap().len(), 2);
        assert_eq!(calls.word(&handle("1")), None);
        let word = PreviewWord {
            edit: Some("abc".into()),
            hunks: Some(vec![1]),
            left_out: vec![2],
            comment: String::new(),
            ..PreviewWord::default()
        };
        calls.say(&handle("1"), word.clone()).unwrap();
        assert_eq!(calls.word(&handle("1")), Some(word.clone()));
        assert_eq!(calls.find(&handle("1")).unwrap().word, Some(word));
        assert_eq!(calls.find(&handle("2")).unwrap().word, None);
        for odd in ["", "../key", "preview-", &handle("g"), &handle("A")] {
            assert!(calls.find(odd).is_none() && calls.word(odd).is_none(), "{odd}");
            assert!(calls.say(odd, PreviewWord::default()).is_err());
        }
    }

    #[test]
    fn what_is_forged_or_stands_under_another_name_does_not_count() {
        let (folder, calls) = user();
        let at = |name: &str| folder.path().join(FOLDER).join(name);
        calls.keep(&call("1")).unwrap();
        let declined = PreviewWord::default();
        calls.say(&handle("1"), declined).unwrap();
        std::fs::copy(at(&handle("1")), at(&handle("2"))).unwrap();
        std::fs::copy(at(&format!("{}{WORD}", handle("1"))), at(&format!("{}{WORD}", handle("2")))).unwrap();
        assert!(calls.find(&handle("2")).is_none() && calls.word(&handle("2")).is_none());
        let json = serde_json::to_string(&call("3")).unwrap();
        let foreign = Seal::of_user(None).unwrap().sealed("preview", &call("3")).unwrap();
        for forged in [json.into_bytes(), foreign] {
            std::fs::write(at(&handle("3")), forged).unwrap();
            assert!(calls.find(&handle("3")).is_none());
        }
        assert_eq!(calls.all().unwrap().len(), 1);
        // What is no call goes when the next one comes.
        std::fs::write(at("odd"), "").unwrap();
        calls.keep(&call("4")).unwrap();
        assert!(!at("odd").exists() && at(&handle("1")).exists());
    }

    #[test]
    fn a_call_that_is_too_large_is_not_kept() {
        let (_folder, calls) = user();
        calls.keep(&call("1")).unwrap();
        // Nor is what was kept before: it has not what was written since.
        calls.keep(&Reviewable { arguments: " ".repeat(LARGEST + 1), ..call("1") }).unwrap();
        assert!(calls.find(&handle("1")).is_none());
    }
}
