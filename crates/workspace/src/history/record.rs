//! What is written down about each edit that has happened: by whom, when, with which request, what became of which
//! file. It stands beside the displaced files, below the user's mark.
//!
//! It is written after the edit and is not synced by itself: after a power loss the last ones may be missing. Then
//! the displaced files are still there, under names that say what they are.

use std::ffi::OsString;
use std::io;

use serde::{Deserialize, Serialize};

use crate::commit::journal::{Change, Entry, LARGEST};
use crate::disk::Disk;
use crate::vault::{self, Vault};

/// The most text of a request or a diff that is kept.
const KEPT_TEXT: usize = 4 * 1024 * 1024;
/// How much of a record's file is read for its head, unless that is longer.
const HEAD: u64 = 16 * 1024;
/// How a record's file ends.
pub(super) const RECORD: &str = "record";

/// Who asked for an edit, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// What the client calls itself.
    pub client: String,
    /// Which of its sessions: a process, or a connection.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's arguments, word for word.
    pub request: String,
}

impl Origin {
    /// A name for a session of this process that no other session has.
    pub fn new_session() -> io::Result<String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(random)))
    }
}

/// Whether the process of a session has ended. Where that cannot be told it has not.
pub(super) fn has_ended(session: &str) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let pid = session.split('-').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = session;
        false
    }
}

/// One edit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) session: String,
    pub(crate) tool: String,
    /// The edit that this one takes back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) undoes: Option<String>,
    pub(crate) files: Vec<RecordedFile>,
}

/// The long part of what is known of an edit, which is read only when it is asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Details {
    /// The request, unless it was too long to keep.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) request: Option<String>,
    /// What changed, unless that was too long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) diff: Option<String>,
}

/// What became of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedFile {
    #[serde(flatten)]
    pub(crate) entry: Entry,
    /// Where the displaced file is, beneath the history.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) kept: Option<String>,
    /// Whether it was executable, where the edit changed that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) was_executable: Option<bool>,
    #[serde(default)]
    pub(crate) added: usize,
    #[serde(default)]
    pub(crate) removed: usize,
}

impl Details {
    pub(crate) fn new(request: &str, diff: String) -> Self {
        let kept = |text: String| (text.len() <= KEPT_TEXT).then_some(text);
        Self { request: kept(request.to_owned()), diff: kept(diff) }
    }

    /// The details of this edit, as far as they were kept.
    pub(super) fn read(disk: &dyn Disk, vault: &Vault, id: &str) -> Self {
        let read = vault::read_file(disk, &vault.kept, &file_name(id), LARGEST);
        let bytes = read.ok().flatten().unwrap_or_default();
        let details =
            end_of_head(&bytes).and_then(|end| vault.unsealed(&purpose("details", id), &bytes[end..]));
        details.unwrap_or_default()
    }
}

impl Record {
    /// Writes the record down: two lines with its mark and itself, then two with those of the details.
    pub(crate) fn write(&self, disk: &dyn Disk, vault: &Vault, details: &Details) -> io::Result<()> {
        let mut head = vault.sealed(&purpose("record", &self.id), self)?;
        head.push(b'\n');
        let details = vault.sealed(&purpose("details", &self.id), details)?;
        let file = disk.create_file(&vault.kept, &file_name(&self.id), None)?;
        disk.write(&file, &[&head, &details])
    }

    /// The record of this edit, if there is one that is ours and whole.
    pub(super) fn read(disk: &dyn Disk, vault: &Vault, id: &str) -> Option<Self> {
        let file = disk.open_file(&vault.kept, &file_name(id)).ok()?;
        let mut bytes = disk.read(&file, HEAD, &mut |_| {}).ok()?;
        if end_of_head(&bytes).is_none() {
            bytes = vault::read_file(disk, &vault.kept, &file_name(id), LARGEST).ok()??;
        }
        let end = end_of_head(&bytes)?;
        let record: Self = vault.unsealed(&purpose("record", id), &bytes[..end - 1])?;
        (record.id == id).then_some(record)
    }

    /// What can be said of an edit whose record is missing.
    pub(super) fn without(id: &str, files: Vec<RecordedFile>) -> Self {
        let unknown = || String::from("unknown");
        Self { id: id.into(), client: unknown(), session: unknown(), tool: unknown(), undoes: None, files }
    }
}

impl RecordedFile {
    /// A file of an edit whose record is missing.
    pub(super) fn of_entry(entry: Entry, kept: String) -> Self {
        let has_displaced = !matches!(entry.change, Change::Create | Change::Rename);
        let kept = has_displaced.then_some(kept);
        Self { entry, kept, was_executable: None, added: 0, removed: 0 }
    }
}

/// Where the details begin: behind the second line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).nth(1).map(|at| at + 1)
}

fn file_name(id: &str) -> OsString {
    format!("{id}.{RECORD}").into()
}

fn purpose(what: &str, id: &str) -> String {
    format!("{what} {id}")
}
