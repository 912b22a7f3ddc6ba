//! The history: what was edited, when, by whom, and how it is undone.
//!
//! Completed transactions are the history; any number of processes can use it, without another store. Each consists of
//! the displaced files and a [`record`]. Anything without the user's mark is ignored, and a displaced file must still
//! have the version that it had before.

pub(crate) mod calls;
mod lines;
mod net;
pub(crate) mod record;
pub(crate) mod standing;
pub mod undo;

use emend_edit::excerpt::in_line;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::problem::{Kind, NotUndone, Problem};
use emend_edit::{Text, Version};

use self::calls::EarlierEdit;
pub use self::record::Origin;
use self::record::{Details, Log, Record, RecordedFile, time_of};
use crate::disk::Disk;
use crate::files::commit::journal::{self, COMMITTED, Change, Journal};
use crate::files::report::ChangeKind;
use crate::files::roots::Root;
use crate::files::vault::{self, RootFolder, Vault};

/// Returns the nearest folder above this one that has a history of edits, which the user may have meant.
#[must_use]
pub fn nearest_above<'a>(disk: &dyn Disk, folder: &'a Path, state: Option<&Path>) -> Option<&'a Path> {
    let has_history = |path: &&Path| {
        Dir::open_ambient_dir(path, ambient_authority()).is_ok_and(|dir| {
            let (homes, _) = vault::existing(disk, RootFolder { dir: &dir, path, given: path }, state);
            homes.iter().any(|home| home.log_path().exists())
        })
    };
    folder.ancestors().skip(1).find(has_history)
}

/// A past edit.
#[derive(Clone, Debug)]
pub struct Edited {
    /// Its id.
    pub id: String,
    /// The time when it was made.
    pub time: SystemTime,
    /// The name that its client gave itself.
    pub client: String,
    /// The key of the principal whose edit it is, if that is known.
    pub principal: Option<String>,
    /// The session in which it was made.
    pub session: String,
    /// Whether that is the session that asks.
    pub is_own: bool,
    /// The tool.
    pub tool: String,
    /// The apply model that wrote the new text, if one was asked.
    pub model: Option<String>,
    /// The edit that it undid.
    pub undoes: Option<String>,
    /// The edit that undid it, unless that was undone too.
    pub undone_by: Option<String>,
    /// The change of each file.
    pub files: Vec<EditedFile>,
    /// The arguments of the call, verbatim; left out in lists.
    pub request: Option<String>,
    /// The diff; left out in lists.
    pub diff: Option<String>,
}

/// The change of one file by a past edit.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// The name of the file.
    pub name: String,
    /// The kind of change.
    pub change: ChangeKind,
    /// The former name of a moved file.
    pub moved_from: Option<String>,
    /// The version before, as on the wire.
    pub before: Option<String>,
    /// The version after.
    pub after: Option<String>,
    /// The number of lines added.
    pub added: usize,
    /// The number of lines removed.
    pub removed: usize,
}

/// A query for past edits.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuery<'a> {
    /// Only edits of this file, by name.
    pub path: Option<&'a str>,
    /// At most this many, the newest.
    pub limit: usize,
}

/// The history of one root, read.
pub(crate) struct History<'a> {
    disk: &'a dyn Disk,
    vault: Arc<Vault>,
    root: Arc<Root>,
    /// The prefix of its file names: the root's name, if there are several roots.
    prefix: String,
    /// The records, oldest first.
    records: Vec<Record>,
    /// The undone edits, each with the edit that undid it.
    undone: BTreeMap<String, String>,
    /// Where the log has the only record, if that is known.
    place: Option<Range<u64>>,
}

impl<'a> History<'a> {
    pub(crate) fn read(
        disk: &'a dyn Disk,
        vault: Arc<Vault>,
        root: Arc<Root>,
        prefix: String,
    ) -> io::Result<Self> {
        let log = Log::read(disk, &vault)?;
        // The log has them in the order in which they were made. Ids cannot tell: they have only milliseconds, of a
        // clock that may be set back.
        let mut records: Vec<Record> = log.records(&vault).into_iter().map(|logged| logged.record).collect();
        let known: BTreeSet<String> = records.iter().map(|record| record.id.clone()).collect();
        for name in disk.names(&vault.kept)? {
            let id = vault::id_of(&name);
            if !known.contains(&id)
                && let Some(record) = reconstruct(disk, &vault, &id, &name.to_string_lossy())
            {
                let at = records.iter().position(|record| record.id > id).unwrap_or(records.len());
                records.insert(at, record);
            }
        }
        records.retain(|record| !record.is_untracked);
        // Newest first: an undo that was itself undone does not count.
        let mut undone: BTreeMap<String, String> = BTreeMap::new();
        for record in records.iter().rev() {
            if let Some(undoes) = &record.undoes
                && !undone.contains_key(&record.id)
            {
                undone.entry(undoes.clone()).or_insert_with(|| record.id.clone());
            }
        }
        Ok(Self { disk, vault, root, prefix, records, undone, place: None })
    }

    /// Creates a history of this one edit, without reading the log.
    pub(crate) fn of_one(
        disk: &'a dyn Disk,
        vault: Arc<Vault>,
        root: Arc<Root>,
        prefix: String,
        made: &EarlierEdit,
    ) -> Self {
        let (records, place) = (vec![made.record.clone()], made.place.clone());
        Self { disk, vault, root, prefix, records, undone: BTreeMap::new(), place }
    }

    /// Reads the newest edits from the end of the log, for an answer that must not wait for the rest.
    pub(crate) fn read_end(
        disk: &'a dyn Disk,
        vault: Arc<Vault>,
        root: Arc<Root>,
        prefix: String,
    ) -> io::Result<Self> {
        let log = Log::read_end(disk, &vault)?;
        let records = log.records(&vault).into_iter().map(|logged| logged.record);
        let records = records.filter(|record| !record.is_untracked).collect();
        Ok(Self { disk, vault, root, prefix, records, undone: BTreeMap::new(), place: None })
    }

    /// Returns which edit gave this file its current version, or removed it, and who made it.
    pub(crate) fn made_by(&self, name: &str, now: Option<&Version>) -> Option<String> {
        let touches = |file: &&RecordedFile| {
            self.may_show(file)
                && (self.name(file) == name || self.old_name(file).is_some_and(|old| old == name))
        };
        let files = |record: &'_ Record| record.files.iter().rev().find(touches).cloned();
        let (record, file) = self.records.iter().rev().find_map(|record| Some((record, files(record)?)))?;
        let is_it = match now {
            Some(now) => file.entry.is_after(now) && self.name(&file) == name,
            None => file.entry.after.is_none() || self.name(&file) != name,
        };
        is_it.then(|| {
            format!("{}, {} by {}, {}", record.id, record.tool, record.client, ago(time_of(&record.id)))
        })
    }

    /// Returns the edits that match a query, newest first.
    pub(crate) fn edits(&self, asked: &HistoryQuery<'_>, session: &str) -> Vec<Edited> {
        let touches =
            |record: &&Record| {
                asked.path.is_none_or(|path| {
                    record.files.iter().filter(|file| self.may_show(file)).any(|file| {
                        self.name(file) == path || self.old_name(file).is_some_and(|old| old == path)
                    })
                })
            };
        let admitted = |record: &&Record| record.files.iter().any(|file| self.may_show(file));
        let shown = self.records.iter().rev().filter(touches).filter(admitted).take(asked.limit);
        shown.map(|record| self.edited(record, session)).collect()
    }

    /// Returns the edit with this id.
    pub(crate) fn edit(&self, id: &str, session: &str) -> Option<Edited> {
        let Details { request, diff } = self.details(id).unwrap_or_default();
        let record = self.record(id)?;
        let may_show_all = record.files.iter().all(|file| self.may_show(file));
        // A request mentions all of its files, so all must be readable.
        let shown = |text: Option<String>| text.filter(|_| may_show_all);
        Some(Edited { request: shown(request), diff: shown(diff), ..self.edited(record, session) })
    }

    /// Returns the recorded diff of an edit, if it was kept.
    fn diff(&self, id: &str) -> Option<String> {
        self.details(id)?.diff
    }

    /// Returns the details of an edit, if it is in the log.
    fn details(&self, id: &str) -> Option<Details> {
        let find = |log: Log| {
            let logged = log.records(&self.vault).into_iter().find(|logged| logged.record.id == id)?;
            Some(logged.details(&self.vault))
        };
        let one = self.place.clone().and_then(|place| Log::read_one(self.disk, &self.vault, place).ok());
        one.and_then(find).or_else(|| find(Log::read(self.disk, &self.vault).ok()?))
    }

    /// Returns whether it has this edit, and so all that were made since.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.record(id).is_some()
    }

    fn record(&self, id: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.id == id)
    }

    fn edited(&self, record: &Record, session: &str) -> Edited {
        let file = |file: &RecordedFile| EditedFile {
            name: self.name(file),
            change: match file.entry.change {
                Change::Create => ChangeKind::Create,
                Change::Modify | Change::Overwrite => ChangeKind::Modify,
                Change::Delete => ChangeKind::Delete,
                Change::Rename | Change::Move => ChangeKind::Move,
            },
            moved_from: self.old_name(file),
            before: file.entry.base.as_deref().map(short),
            after: file.entry.after.as_deref().map(short),
            added: file.added,
            removed: file.removed,
        };
        Edited {
            id: record.id.clone(),
            time: time_of(&record.id),
            client: record.client.clone(),
            principal: record.principal.clone(),
            session: record.session.clone(),
            is_own: record.session == session,
            tool: record.tool.clone(),
            model: record.model.clone(),
            undoes: record.undoes.clone(),
            undone_by: self.undone.get(&record.id).cloned(),
            files: record.files.iter().filter(|file| self.may_show(file)).map(file).collect(),
            request: None,
            diff: None,
        }
    }

    /// Returns whether an edit touched this file, by its name with or without the root's.
    fn touches(&self, record: &Record, path: &str) -> bool {
        let is_it = |name: String| name == path || name.strip_prefix(&self.prefix) == Some(path);
        record
            .files
            .iter()
            .filter(|file| self.may_show(file))
            .any(|file| is_it(self.name(file)) || self.old_name(file).is_some_and(is_it))
    }

    /// Returns whether the policy still lets the file be read.
    fn may_show(&self, file: &RecordedFile) -> bool {
        let mut trails = std::iter::once(&file.entry.path).chain(&file.entry.from);
        trails.all(|trail| self.root.policy.may_read(trail.names()).is_ok())
    }

    fn name(&self, file: &RecordedFile) -> String {
        format!("{}{}", self.prefix, file.entry.path.shown())
    }

    fn old_name(&self, file: &RecordedFile) -> Option<String> {
        file.entry.from.as_ref().map(|from| format!("{}{}", self.prefix, from.shown()))
    }

    /// Opens a displaced file and reads it. Its content must still be the displaced one: a program that had it open may
    /// have written to it afterwards.
    fn kept(&self, file: &RecordedFile) -> Result<(File, Arc<Text>), NotUndone> {
        let kept = file.kept.as_ref().ok_or(NotUndone::NotKept)?;
        let (folder, name) = match kept.split_once('/') {
            Some((folder, name)) => {
                let folder = self
                    .disk
                    .open_dir(&self.vault.kept, Path::new(folder))
                    .map_err(|_| NotUndone::NotKept)?;
                (Some(folder), name)
            }
            None => (None, kept.as_str()),
        };
        let dir = folder.as_ref().unwrap_or(&self.vault.kept);
        let opened = self.disk.open_file(dir, OsStr::new(name)).map_err(|_| NotUndone::NotKept)?;
        let bytes = self.disk.read(&opened, u64::MAX - 1, &mut |_| {}).map_err(|_| NotUndone::NotKept)?;
        let text = Text::new(bytes).map_err(|_| NotUndone::KeptChanged)?;
        if !file.entry.is_base(&text.version()) {
            return Err(NotUndone::KeptChanged);
        }
        Ok((opened, Arc::new(text)))
    }

    /// Returns the content of this version of a file, if a later edit displaced it.
    fn content(&self, version: &str) -> Option<Arc<Text>> {
        let files = self.records.iter().flat_map(|record| &record.files);
        let mut with_it =
            files.filter(|file| file.entry.base.as_deref() == Some(version) && file.kept.is_some());
        with_it.find_map(|file| self.kept(file).ok()).map(|(_, text)| text)
    }

    /// Returns the newest edits, or those of one file, one line each, for a caller that must name one.
    pub(crate) fn recent(&self, path: Option<&str>, session: &str) -> Vec<String> {
        let shown = self.edits(&HistoryQuery { path, limit: 5 }, session);
        shown.iter().map(Edited::line).collect()
    }
}

/// The completed transactions that are remembered.
pub(crate) struct Over {
    /// The transactions that were kept or quarantined: they cannot be open too.
    pub(crate) kept: BTreeSet<String>,
    /// The transactions with a record: at most keeping their files remains to be done.
    pub(crate) logged: BTreeSet<String>,
}

impl Over {
    pub(crate) fn read(disk: &dyn Disk, vault: &Vault) -> io::Result<Self> {
        let log = Log::read(disk, vault)?;
        let logged = log.records(vault).into_iter().map(|logged| logged.record.id).collect();
        let names = disk.names(&vault.kept)?.into_iter().chain(vault.quarantined_names(disk)?);
        Ok(Self { kept: names.map(|name| vault::id_of(&name)).collect(), logged })
    }
}

impl Edited {
    /// Returns the edit on one line: `ID (client, 3 minutes ago): modify src/a.rs`.
    #[must_use]
    pub fn line(&self) -> String {
        let files: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let mut named: Vec<&str> = files.into_iter().collect();
        let more = named.len().saturating_sub(3);
        named.truncate(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let undone = if self.undone_by.is_some() { ", undone" } else { "" };
        format!(
            "{} ({} of {}, {}{undone}): {}{more}",
            self.id,
            self.tool,
            self.client,
            ago(self.time),
            in_line(&named.join(", "))
        )
    }
}

/// How long ago the edit of this id was made, in words.
#[must_use]
pub fn ago_of(edit: &str) -> String {
    ago(time_of(edit))
}

/// Returns in words how long ago a time was.
#[must_use]
pub fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(time).unwrap_or_default().as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s} ago")
}

fn short(version: &str) -> String {
    version.chars().take(12).collect()
}

/// Reconstructs a missing record from the names and journals of kept files.
fn reconstruct(disk: &dyn Disk, vault: &Vault, id: &str, name: &str) -> Option<Record> {
    if let Some(file) = journal::entry_of_file(vault, name) {
        return Some(Record::of_file(file, name));
    }
    journal::id_of_folder(vault, name)?;
    let folder = disk.open_dir(&vault.kept, Path::new(name)).ok()?;
    let journal = Journal::read(disk, vault, &folder, COMMITTED, id).ok()??;
    Some(Record::of_journal(journal, name))
}

/// Returns the problem of an unknown edit.
pub(crate) fn unknown(edit: Option<&str>, recent: Vec<String>) -> Problem {
    Problem::new(Kind::UnknownEdit { edit: edit.map(str::to_owned), path: None, recent })
}
