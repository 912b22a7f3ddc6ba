//! The history: what was edited, when, by whom, and how it is taken back.
//!
//! Committed transactions are the history; no other store is needed, and any number of processes can use it. Of each
//! there are the displaced files and a [`record`]. What does not bear the user's mark does not count, and the content of a
//! displaced file is compared with the version that it had before it is used.

mod net;
pub(crate) mod record;
pub mod undo;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::problem::{Kind, Problem};
use emend_edit::{Text, Version};

pub use self::record::Origin;
use self::record::{Details, Log, Record, RecordedFile};
use crate::disk::Disk;
use crate::files::commit::journal::{self, COMMITTED, Change, Journal};
use crate::files::report::ChangeKind;
use crate::files::roots::Root;
use crate::files::vault::{self, RootFolder, Vault};

/// Returns the nearest folder above this one in whose history there are edits: where a person may have meant to ask.
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

/// How many digits of an edit's id are the time.
const TIME_DIGITS: usize = 11;

/// An edit of the past.
#[derive(Clone, Debug)]
pub struct Edited {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub time: SystemTime,
    /// What its client called itself.
    pub client: String,
    /// The session that it was made in.
    pub session: String,
    /// Whether that is the one that asks.
    pub is_own: bool,
    /// The tool.
    pub tool: String,
    /// The edit that it took back.
    pub undoes: Option<String>,
    /// The edit that took it back, if that still holds.
    pub undone_by: Option<String>,
    /// What it did to which file.
    pub files: Vec<EditedFile>,
    /// The call's arguments, word for word; in a list of edits they are left out.
    pub request: Option<String>,
    /// What changed; left out in a list.
    pub diff: Option<String>,
}

/// What an edit did to one file.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// The file.
    pub name: String,
    /// What kind of change it was.
    pub change: ChangeKind,
    /// Where a moved file was.
    pub moved_from: Option<String>,
    /// The version before, as the wire shows it.
    pub before: Option<String>,
    /// The version after.
    pub after: Option<String>,
    /// Lines that came and went.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

/// Which edits are asked for.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuery<'a> {
    /// Only those of this file, by its name.
    pub path: Option<&'a str>,
    /// At most so many, the newest.
    pub limit: usize,
}

/// The history of one root, read.
pub(crate) struct History<'a> {
    disk: &'a dyn Disk,
    vault: Arc<Vault>,
    root: Arc<Root>,
    /// What its files are called: with the root's name in front where there are several.
    prefix: String,
    /// Oldest first.
    records: Vec<Record>,
    /// Which edits are taken back, and by which.
    undone: BTreeMap<String, String>,
}

impl<'a> History<'a> {
    pub(crate) fn read(
        disk: &'a dyn Disk,
        vault: Arc<Vault>,
        root: Arc<Root>,
        prefix: String,
    ) -> io::Result<Self> {
        let log = Log::read(disk, &vault)?;
        // In the order of the log, which is that in which they were made: ids have only milliseconds, of a clock that
        // may be set back.
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
        // The newest first: an undo that was itself taken back does not count.
        let mut undone: BTreeMap<String, String> = BTreeMap::new();
        for record in records.iter().rev() {
            if let Some(undoes) = &record.undoes
                && !undone.contains_key(&record.id)
            {
                undone.entry(undoes.clone()).or_insert_with(|| record.id.clone());
            }
        }
        Ok(Self { disk, vault, root, prefix, records, undone })
    }

    /// The newest edits, as far as the end of the log has them, for an answer that is not to wait for the rest.
    pub(crate) fn read_end(
        disk: &'a dyn Disk,
        vault: Arc<Vault>,
        root: Arc<Root>,
        prefix: String,
    ) -> io::Result<Self> {
        let log = Log::read_end(disk, &vault)?;
        let records = log.records(&vault).into_iter().map(|logged| logged.record).collect();
        Ok(Self { disk, vault, root, prefix, records, undone: BTreeMap::new() })
    }

    /// Which edit made this file what it is by now, or took it away, and whose that was.
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

    /// The edits that are asked for, the newest first.
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

    /// The edit of this id.
    pub(crate) fn edit(&self, id: &str, session: &str) -> Option<Edited> {
        let log = Log::read(self.disk, &self.vault).unwrap_or_default();
        let logged = log.records(&self.vault).into_iter().find(|logged| logged.record.id == id);
        let Details { request, diff } = logged.map(|logged| logged.details(&self.vault)).unwrap_or_default();
        let record = self.record(id)?;
        let may_show_all = record.files.iter().all(|file| self.may_show(file));
        // A request speaks of all its files at once.
        let shown = |text: Option<String>| text.filter(|_| may_show_all);
        Some(Edited { request: shown(request), diff: shown(diff), ..self.edited(record, session) })
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
            session: record.session.clone(),
            is_own: record.session == session,
            tool: record.tool.clone(),
            undoes: record.undoes.clone(),
            undone_by: self.undone.get(&record.id).cloned(),
            files: record.files.iter().filter(|file| self.may_show(file)).map(file).collect(),
            request: None,
            diff: None,
        }
    }

    /// Whether an edit touched this file, by its name with the root's or without.
    fn touches(&self, record: &Record, path: &str) -> bool {
        let is_it = |name: String| name == path || name.strip_prefix(&self.prefix) == Some(path);
        record
            .files
            .iter()
            .filter(|file| self.may_show(file))
            .any(|file| is_it(self.name(file)) || self.old_name(file).is_some_and(is_it))
    }

    /// Whether the policy lets the file be read by now; otherwise it is not told of.
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

    /// A displaced file, open, with its content. It must be what was displaced: a program that had it open may have
    /// gone on writing into it.
    fn kept(&self, file: &RecordedFile) -> Result<(File, Arc<Text>), &'static str> {
        const GONE: &str = "the displaced file is not kept any more";
        let kept = file.kept.as_ref().ok_or(GONE)?;
        let (folder, name) = match kept.split_once('/') {
            Some((folder, name)) => {
                let folder = self.disk.open_dir(&self.vault.kept, Path::new(folder)).map_err(|_| GONE)?;
                (Some(folder), name)
            }
            None => (None, kept.as_str()),
        };
        let dir = folder.as_ref().unwrap_or(&self.vault.kept);
        let opened = self.disk.open_file(dir, OsStr::new(name)).map_err(|_| GONE)?;
        let bytes = self.disk.read(&opened, u64::MAX - 1, &mut |_| {}).map_err(|_| GONE)?;
        let text = Text::new(bytes).map_err(|_| CHANGED_SINCE)?;
        if !file.entry.is_base(&text.version()) {
            return Err(CHANGED_SINCE);
        }
        Ok((opened, Arc::new(text)))
    }

    /// The content of this version of a file, if some later edit displaced it.
    fn content(&self, version: &str) -> Option<Arc<Text>> {
        let files = self.records.iter().flat_map(|record| &record.files);
        let mut with_it =
            files.filter(|file| file.entry.base.as_deref() == Some(version) && file.kept.is_some());
        with_it.find_map(|file| self.kept(file).ok()).map(|(_, text)| text)
    }

    /// The newest edits, for somebody who has to name one.
    pub(crate) fn recent(&self, session: &str) -> Vec<String> {
        let shown = self.edits(&HistoryQuery { path: None, limit: 5 }, session);
        shown.iter().map(Edited::line).collect()
    }
}

/// The transactions that are over, as far as they are remembered.
pub(crate) struct Over {
    /// What was kept or put aside: nothing of these can be among the open ones too.
    pub(crate) kept: BTreeSet<String>,
    /// Those that happened: of these, only keeping can be left to do.
    pub(crate) logged: BTreeSet<String>,
}

impl Over {
    pub(crate) fn read(disk: &dyn Disk, vault: &Vault) -> io::Result<Self> {
        let log = Log::read(disk, vault)?;
        let logged = log.records(vault).into_iter().map(|logged| logged.record.id).collect();
        let names = disk.names(&vault.kept)?.into_iter().chain(vault.names_aside(disk)?);
        Ok(Self { kept: names.map(|name| vault::id_of(&name)).collect(), logged })
    }
}

/// Why a kept file is of no use.
const CHANGED_SINCE: &str = "a program that had the displaced file open wrote into it afterwards";

impl Edited {
    /// The edit in a line: `ID (client, 3 minutes ago): modify src/a.rs`.
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
            named.join(", ")
        )
    }
}

/// How long ago it was, in words.
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

/// When the edit of this id was made.
fn time_of(id: &str) -> SystemTime {
    let millis = id.get(..TIME_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    UNIX_EPOCH + Duration::from_millis(millis.unwrap_or(0))
}

/// What the names and journals of kept files say of an edit whose record is missing.
fn reconstruct(disk: &dyn Disk, vault: &Vault, id: &str, name: &str) -> Option<Record> {
    if let Some((_, entry)) = journal::entry_of_file(vault, name) {
        return Some(Record::without(id, vec![RecordedFile::of_entry(entry, name.to_owned())]));
    }
    journal::id_of_folder(vault, name)?;
    let folder = disk.open_dir(&vault.kept, Path::new(name)).ok()?;
    let journal = Journal::read(disk, vault, &folder, COMMITTED, id).ok()??;
    let files = journal.files.into_iter().enumerate().map(|(number, entry)| {
        let kept = format!("{name}/{}", entry.kept_slot(number));
        RecordedFile::of_entry(entry, kept)
    });
    Some(Record::without(id, files.collect()))
}

/// The problem of an edit that nobody knows.
pub(crate) fn unknown(edit: Option<&str>, recent: Vec<String>) -> Problem {
    Problem::new(Kind::UnknownEdit { edit: edit.map(str::to_owned), recent })
}
