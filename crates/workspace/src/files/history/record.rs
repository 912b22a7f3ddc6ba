//! The records of edits: who made each, when, with which request, and what happened to each file. Records follow each
//! other in a log next to the displaced files, each after its mark: a separate file for each would take a tenth of an
//! edit's time.
//!
//! A record is written after the edit, without a sync of its own: after a power loss the last ones may be missing or
//! damaged. The names of the displaced files then still say what they are.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use emend_edit::follow::{LineBlock, LineMap};
use emend_edit::plan::Action;
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, Stat};
use crate::files::call::{CallDigest, CallIdentity, REMEMBERED};
use crate::files::commit::journal::{Change, Entry, Journal, NamedFile};
use crate::files::mailbox::Mailbox;
use crate::files::vault::Vault;

/// The largest size of a request or diff that is recorded.
const KEPT_TEXT: usize = 4 * 1024 * 1024;
/// The most places in a file whose lines are kept.
const KEPT_BLOCKS: usize = 1_000;
/// The number of records kept.
const KEPT: usize = 1_000;
/// The number of older records that keep their heads while their calls may be sent again. Each pruning reads them.
const KEPT_HEADS: usize = 1_000;
/// The details of a record that has lost them: two empty lines.
const NO_DETAILS: &[u8] = b"\n\n";
/// The total size of the records kept, in bytes.
const KEPT_BYTES: usize = 64 * 1024 * 1024;
/// The number of bytes of the log that are read when the caller must not wait for all of it.
const END: u64 = 256 * 1024;

/// The origin of an edit: who asked for it, and how.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The name that the client gives itself.
    pub client: String,
    /// The key of the principal who calls, where a server knows several.
    pub principal: Option<String>,
    /// The session of the client: a process, or a connection.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The apply model that wrote the new text, if one was asked.
    pub model: Option<String>,
    /// The arguments of the call, verbatim.
    pub request: String,
    /// The identity of the call, by which it is recognised if it is sent again.
    pub call: CallIdentity,
    /// The mailbox for later messages about the edit.
    pub mailbox: Mailbox,
}

impl Origin {
    /// Returns a unique name for a session of this process.
    pub fn new_session() -> io::Result<String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(random)))
    }
}

/// The record of one edit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) client: String,
    /// The key of the principal whose edit it is, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) principal: Option<String>,
    pub(crate) session: String,
    pub(crate) tool: String,
    /// The apply model that wrote the new text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) model: Option<String>,
    /// The edit that this one undid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) undoes: Option<String>,
    /// The call that made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) call: Option<CallDigest>,
    /// The idempotency key of that call, if it had one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) key: Option<CallDigest>,
    /// Whether there is no history, and the record serves only to recognise the call.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) is_untracked: bool,
    pub(crate) files: Vec<RecordedFile>,
}

/// The long part of a record, which is read only on request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Details {
    /// The request, unless it was too long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) request: Option<String>,
    /// The diff, unless it was too long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) diff: Option<String>,
}

/// The record of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedFile {
    #[serde(flatten)]
    pub(crate) entry: Entry,
    /// The path of the displaced file, beneath the history folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) kept: Option<String>,
    /// Whether it was executable, if the edit changed that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) was_executable: Option<bool>,
    /// The lines that the edit wrote anew, if it is known that it kept all others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) lines: Option<RecordedLines>,
    /// The file as the edit left it, if that was seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) left: Option<FileMark>,
    #[serde(default)]
    pub(crate) added: usize,
    #[serde(default)]
    pub(crate) removed: usize,
}

/// The traces that another program leaves in the metadata of a file that it writes, even with the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    inode: u64,
    /// The time of the last change, in nanoseconds.
    modified: u64,
}

impl FileMark {
    pub(crate) fn from_stat(stat: &Stat) -> Option<Self> {
        let modified = stat.modified?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self { inode: stat.inode, modified: modified.try_into().ok()? })
    }
}

/// The lines that an edit wrote anew.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedLines {
    /// How many lines there were, and how many came to be.
    old: usize,
    new: usize,
    /// Of each place the first line, counted from 0, how many went and how many came.
    blocks: Vec<(usize, usize, usize)>,
}

impl RecordedLines {
    /// Returns what an action does to the lines of its file; `None` if that is not known exactly, or is too much to keep.
    pub(crate) fn from_action(action: &Action) -> Option<Self> {
        let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = action else { return None };
        let map = LineMap::from_edit(base, edit).filter(|map| map.blocks().len() <= KEPT_BLOCKS)?;
        let blocks = map.blocks().iter().map(|block| (block.first, block.gone, block.came)).collect();
        Some(Self { old: map.lines_before(), new: map.lines_after(), blocks })
    }

    /// Returns the lines as they can be followed; `None` if the record makes no sense.
    pub(super) fn map(&self) -> Option<LineMap> {
        let block = |&(first, gone, came): &(usize, usize, usize)| LineBlock { first, gone, came };
        LineMap::from_blocks(self.old, self.new, self.blocks.iter().map(block).collect())
    }
}

impl Details {
    pub(crate) fn new(request: &str, diff: String) -> Self {
        let kept = |text: String| (text.len() <= KEPT_TEXT).then_some(text);
        Self { request: kept(request.to_owned()), diff: kept(diff) }
    }
}

/// The content of a vault's log.
#[derive(Debug, Default)]
pub(crate) struct Log(Vec<u8>);

/// A record in the log.
pub(super) struct Logged<'a> {
    pub(super) record: Record,
    /// The details, after their mark.
    details: &'a [u8],
    /// The record without the details.
    head: &'a [u8],
    /// The whole record as written.
    whole: &'a [u8],
}

impl Log {
    pub(super) fn read(disk: &dyn Disk, vault: &Vault) -> io::Result<Self> {
        Ok(Self(vault.log(disk)?.unwrap_or_default()))
    }

    /// Reads the end of the log: the newest records, without those too long for it.
    pub(super) fn read_end(disk: &dyn Disk, vault: &Vault) -> io::Result<Self> {
        vault.part_of_log(disk, |size| size.saturating_sub(END)..size).map(Self)
    }

    /// Reads the log from this byte on.
    pub(super) fn read_from(disk: &dyn Disk, vault: &Vault, start: u64) -> io::Result<Self> {
        vault.part_of_log(disk, |size| start..size).map(Self)
    }

    /// Reads one record of the log.
    pub(super) fn read_one(disk: &dyn Disk, vault: &Vault, place: Range<u64>) -> io::Result<Self> {
        vault.part_of_log(disk, |_| place).map(Self)
    }

    /// Returns the place of a record of this part of the log, which begins at `start`.
    pub(super) fn place(&self, logged: &Logged<'_>, start: u64) -> Range<u64> {
        let at = start + (logged.whole.as_ptr() as usize - self.0.as_ptr() as usize) as u64;
        at..at + logged.whole.len() as u64
    }

    /// Returns the length up to the end of its last complete record. What follows may be written at this moment.
    pub(super) fn complete(&self, records: &[Logged<'_>]) -> u64 {
        records.last().map_or(0, |last| self.place(last, 0).end)
    }

    /// Returns every complete record of ours, oldest first. Damaged ones are skipped.
    pub(super) fn records<'a>(&'a self, vault: &Vault) -> Vec<Logged<'a>> {
        let mut lines: Vec<usize> = memchr::memchr_iter(b'\n', &self.0).map(|at| at + 1).collect();
        lines.insert(0, 0);
        let mut records = Vec::new();
        let mut at = 0;
        while let Some(&[start, _, end_of_head, _, end]) = lines.get(at..at + 5) {
            match vault.unsealed::<Record>("record", &self.0[start..end_of_head - 1]) {
                Some(record) => {
                    let details = &self.0[end_of_head..end - 1];
                    let head = &self.0[start..end_of_head];
                    records.push(Logged { record, details, head, whole: &self.0[start..end] });
                    at += 4;
                }
                None => at += 1,
            }
        }
        records
    }
}

impl Logged<'_> {
    /// Returns the details of this edit, as far as they were recorded.
    pub(super) fn details(&self, vault: &Vault) -> Details {
        vault.unsealed(&purpose(&self.record.id), self.details).unwrap_or_default()
    }
}

/// The places of records in the log, by the ids of their edits.
pub(super) type PlacesInLog = HashMap<Box<str>, Range<u64>>;

/// Removes the oldest records above the limits. Of those whose calls may still be sent again, the head stays. Returns where
/// the records are now, if any was removed.
pub(crate) fn prune(disk: &dyn Disk, vault: &Vault) -> io::Result<Option<PlacesInLog>> {
    let log = Log::read(disk, vault)?;
    let records = log.records(vault);
    let now = SystemTime::now();
    let is_stale = |logged: &Logged<'_>| logged.record.is_untracked && !logged.record.is_recent(now);
    if records.len() <= KEPT && log.0.len() <= KEPT_BYTES && !records.iter().any(is_stale) {
        return Ok(None);
    }
    let mut left = KEPT_BYTES;
    let fits = |logged: &&Logged<'_>| {
        left = left.saturating_sub(logged.whole.len());
        left > 0
    };
    let whole = records.iter().rev().take(KEPT).take_while(fits).count();
    let (older, newest) = records.split_at(records.len() - whole);
    let is_called_again = |logged: &&Logged<'_>| logged.record.call.is_some() && logged.record.is_recent(now);
    let heads = older[older.len().saturating_sub(KEPT_HEADS)..].iter().filter(is_called_again);
    let heads = heads.map(|logged| (logged, [logged.head, NO_DETAILS]));
    let newest = newest.iter().filter(|logged| !is_stale(logged)).map(|logged| (logged, [logged.whole, b""]));
    let (mut places, mut kept, mut end) = (PlacesInLog::new(), Vec::new(), 0);
    for (logged, pieces) in heads.chain(newest) {
        let start = end;
        end += pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        places.insert(logged.record.id.as_str().into(), start..end);
        kept.extend(pieces);
    }
    vault.replace_log(disk, &kept)?;
    Ok(Some(places))
}

impl Record {
    /// Writes the record: a line with its mark and one with its content, then the same for the details. Returns how many
    /// bytes the log has grown by.
    pub(crate) fn write(&self, disk: &dyn Disk, vault: &Vault, details: &Details) -> io::Result<u64> {
        let head = vault.sealed("record", self)?;
        let details = vault.sealed(&purpose(&self.id), details)?;
        // An empty line terminates what a crash may have left incomplete.
        vault.append_to_log(disk, &[b"\n", &head, b"\n", &details, b"\n"])
    }

    /// Returns the record as it is written.
    pub(super) fn written(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads a record as it was written.
    pub(super) fn read(written: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(written)?)
    }

    /// Whether the call of this edit may still be sent again without a key.
    pub(crate) fn is_recent(&self, now: SystemTime) -> bool {
        is_recent(&self.id, now)
    }

    /// Creates the record of an edit from its journal, which was in a folder of this name.
    pub(crate) fn of_journal(journal: Journal, folder: &str) -> Self {
        let files = journal.files.into_iter().enumerate().map(|(number, entry)| {
            let kept = format!("{folder}/{}", entry.kept_slot(number));
            RecordedFile::of_entry(entry, kept)
        });
        Self { call: journal.call, ..Self::without(&journal.id, files.collect()) }
    }

    /// Creates the record of an edit from the name of its only file.
    pub(crate) fn of_file(file: NamedFile, name: &str) -> Self {
        let files = vec![RecordedFile::of_entry(file.entry, name.to_owned())];
        Self { call: file.call, ..Self::without(&file.id, files) }
    }

    /// Creates a substitute for a missing record.
    pub(crate) fn without(id: &str, files: Vec<RecordedFile>) -> Self {
        let unknown = || String::from("unknown");
        Self {
            id: id.into(),
            client: unknown(),
            principal: None,
            session: unknown(),
            tool: unknown(),
            model: None,
            undoes: None,
            call: None,
            key: None,
            is_untracked: false,
            files,
        }
    }
}

impl RecordedFile {
    /// Creates a file of a substitute record.
    pub(super) fn of_entry(entry: Entry, kept: String) -> Self {
        let has_displaced = !matches!(entry.change, Change::Create | Change::Rename);
        let kept = has_displaced.then_some(kept);
        Self { entry, kept, was_executable: None, lines: None, left: None, added: 0, removed: 0 }
    }
}

/// Whether the call of the edit of this id may still be sent again without a key.
pub(super) fn is_recent(id: &str, now: SystemTime) -> bool {
    now.duration_since(time_of(id)).unwrap_or_default() <= REMEMBERED
}

/// How many digits of an edit's id are the time.
const TIME_DIGITS: usize = 11;

/// When the edit of this id was made.
pub(crate) fn time_of(id: &str) -> SystemTime {
    let millis = id.get(..TIME_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    UNIX_EPOCH + Duration::from_millis(millis.unwrap_or(0))
}

fn purpose(id: &str) -> String {
    format!("details {id}")
}

#[cfg(test)]
pub(in crate::files) mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::for_this_machine;
    use crate::files::roots::{RootSpec, Roots};
    use crate::files::seal::Seal;
    use std::sync::Arc;

    /// The vault of a root in this folder.
    pub(in crate::files) fn vault(folder: &Path) -> (Arc<dyn Disk>, Arc<Vault>) {
        let disk = for_this_machine();
        let spec = RootSpec { name: None, path: folder.to_path_buf() };
        let roots = Roots::open(Arc::clone(&disk), &[spec], &crate::Policy::default()).unwrap();
        let seal = Arc::new(Seal::of_user(None).unwrap());
        let vault = roots.all()[0].vault.get(&*disk, roots.all()[0].folder(), None, &seal).unwrap();
        (disk, vault)
    }

    fn check(of: impl Fn(&mut Vec<u8>), expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let (disk, vault) = vault(folder.path());
        for id in ["1", "2", "3"] {
            let details = Details::new("a request\nof two lines", id.to_owned());
            Record::without(id, Vec::new()).write(&*disk, &vault, &details).unwrap();
        }
        let mut log = Log::read(&*disk, &vault).unwrap();
        of(&mut log.0);
        let records = log.records(&vault);
        let ids: Vec<&str> = records.iter().map(|logged| logged.record.id.as_str()).collect();
        assert_eq!(ids, expected);
        for logged in &records {
            let details = logged.details(&vault);
            assert!(details.diff.is_none_or(|diff| diff == logged.record.id));
        }
    }

    #[test]
    fn records_are_read_in_order_and_what_is_torn_is_passed_over() {
        check(|_| {}, &["1", "2", "3"]);
        check(|log| log.truncate(log.len() - 1), &["1", "2"]);
        check(|log| log[..40].fill(0), &["2", "3"]);
        check(|log| log.splice(0..0, *b"torn\n{}\n\n").for_each(drop), &["1", "2", "3"]);
        check(|log| log.drain(..log.len() / 2).for_each(drop), &["3"]);
        check(Vec::clear, &[]);
    }
}
