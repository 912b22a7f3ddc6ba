//! What a transaction writes down about itself, so that whoever finds it after a crash knows what it was.
//!
//! Several files get a folder `EDIT.MARK` with a journal in it: what happens to which file, what it was made for,
//! what it will be, and which inode was staged for it. It is called `prepared` once everything is staged, and
//! `committed` once everything is in place; the first name says "put back", the second "done".
//!
//! A single file says everything in its name, which the fsync of its content makes durable too:
//! `EDIT.0.BASE.AFTER.MARK.path%2Fto%2Ffile`, with both versions in hex (`new` and `gone` where there is none).
//! That holds for the staged file as for the one that it displaces.
//!
//! Marks are those of [`Seal`](crate::files::seal::Seal): what does not bear one was not written by this user's Emend for
//! this root, and is not acted upon.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use emend_edit::Version;
use emend_edit::plan::Action;

use super::Job;
use crate::disk::{BESIDE, Disk};
use crate::files::trail::Trail;
use crate::files::vault::Vault;

/// The journal of a transaction whose files may have to be put back.
pub(crate) const PREPARED: &str = "prepared";
/// The journal of a transaction that is over.
pub(crate) const COMMITTED: &str = "committed";
/// A journal that is being written.
const WRITING: &str = "writing";
/// What is being staged outside of the vault, before anything else is known.
pub(crate) const STAGING: &str = "staging";

/// The longest name that every file system takes.
const LONGEST_NAME: usize = 255;
/// How many hex digits of a version a name has room for.
const DIGITS: usize = 32;
/// The largest journal that is read; one of ten thousand files has a fraction of it.
pub(crate) const LARGEST: u64 = 256 * 1024 * 1024;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    /// A new file.
    Create,
    /// Another content takes its place.
    Modify,
    /// Its content is written over: it has names or a mount that a new file would not have.
    Overwrite,
    /// It goes.
    Delete,
    /// It gets another name, and stays the file that it is.
    Rename,
    /// A new file takes another name, and the old one goes.
    Move,
}

/// What a transaction does to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) change: Change,
    pub(crate) path: Trail,
    /// Where a moved file was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) from: Option<Trail>,
    /// The version that it was made for, in hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) base: Option<String>,
    /// The version that it will be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) after: Option<String>,
    /// The inode of the staged file; of a renamed one, its own. A name has no room for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) inode: Option<u64>,
    /// Whether the staged file lies beside its target, on whose file system the vault is not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) staged_beside: bool,
    /// Whether the displaced one goes beside where it was.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) displaced_beside: bool,
}

impl Entry {
    /// What the plan of a job does, before anything of it is staged.
    pub(super) fn of(job: &Job<'_>) -> Self {
        let mere_rename = job.is_mere_rename();
        let (change, from) = match &job.plan.action {
            Action::Create { .. } => (Change::Create, None),
            Action::Modify { .. } if job.in_place => (Change::Overwrite, None),
            Action::Modify { .. } => (Change::Modify, None),
            Action::Delete { .. } => (Change::Delete, None),
            Action::Move { .. } => {
                let from = job.base.map(|(path, _)| Trail::new(&path.place.names));
                (if mere_rename { Change::Rename } else { Change::Move }, from)
            }
        };
        Self {
            change,
            path: Trail::new(&job.path.place.names),
            from,
            base: job.base.map(|(_, base)| base.text.version().hex()),
            after: job.after.map(|after| after.hex()),
            inode: None,
            staged_beside: false,
            displaced_beside: false,
        }
    }

    /// Whether this is the version that the file had.
    pub(crate) fn is_base(&self, version: &Version) -> bool {
        self.base.as_ref().is_some_and(|base| version.is_named_by(base))
    }

    /// Whether this is the version that it gets.
    pub(crate) fn is_after(&self, version: &Version) -> bool {
        self.after.as_ref().is_some_and(|after| version.is_named_by(after))
    }

    /// The name of the staged file in a transaction's folder, and that of the displaced one. An exchange
    /// leaves the one where the other was.
    pub(crate) fn slots(&self, id: &str, number: usize) -> (String, String) {
        let displaced = if self.change == Change::Modify { "" } else { ".old" };
        let name = |beside: bool, what: &str| match beside {
            true => format!("{BESIDE}{id}-{number}{what}"),
            false => format!("{number}{what}"),
        };
        (name(self.staged_beside, ""), name(self.displaced_beside, displaced))
    }
}

impl Entry {
    /// Where its displaced file is in the transaction's folder once that is kept.
    pub(crate) fn kept_slot(&self, number: usize) -> String {
        Self { displaced_beside: false, ..self.clone() }.slots("", number).1
    }
}

/// What a transaction does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) id: String,
    /// The inode of the folder that it is in: a copy of it is not good for anything.
    pub(crate) home: u64,
    pub(crate) files: Vec<Entry>,
    /// Folders that it makes, the outer ones first.
    pub(crate) folders: Vec<Trail>,
}

impl Journal {
    /// Writes down what is going to be staged, so that somebody can clear it away. Nothing depends on it.
    pub(super) fn note(&self, disk: &dyn Disk, vault: &Vault, home: &Dir) -> io::Result<()> {
        let content = vault.sealed(&self.purpose(), self)?;
        let file = disk.create_file(home, STAGING.as_ref(), None)?;
        disk.write(&file, &[&content])
    }

    /// Writes the journal down, durably, under the name that says what it is good for.
    pub(super) fn prepare(&self, disk: &dyn Disk, vault: &Vault, home: &Dir) -> io::Result<()> {
        let content = vault.sealed(&self.purpose(), self)?;
        let file = disk.create_file(home, WRITING.as_ref(), None)?;
        disk.write(&file, &[&content])?;
        disk.sync_file(&file)?;
        disk.rename_new((home, WRITING.as_ref()), (home, PREPARED.as_ref()))?;
        disk.sync_dir(home)?;
        disk.sync_dir(&vault.open)
    }

    /// The journal of the transaction in this folder, under this name. `Ok(None)` where there is none; an error
    /// of kind `InvalidData` where it is not ours.
    pub(crate) fn read(
        disk: &dyn Disk,
        vault: &Vault,
        home: &Dir,
        name: &str,
        id: &str,
    ) -> io::Result<Option<Self>> {
        let Some(bytes) = crate::files::vault::read_file(disk, home, OsStr::new(name), LARGEST)? else {
            return Ok(None);
        };
        let purpose = format!("journal {id}");
        let journal: Self = vault.unsealed(&purpose, &bytes).ok_or(io::ErrorKind::InvalidData)?;
        let home = disk.stat(home, OsStr::new("."))?.inode;
        if journal.id != id || journal.home != home || journal.files.iter().any(|entry| !entry.is_sound()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Some(journal))
    }

    fn purpose(&self) -> String {
        format!("journal {}", self.id)
    }
}

impl Entry {
    /// Whether it has what its kind of change needs.
    fn is_sound(&self) -> bool {
        let (from, base, after) = (self.from.is_some(), self.base.is_some(), self.after.is_some());
        match self.change {
            Change::Create => !from && !base && after,
            Change::Modify | Change::Overwrite => !from && base && after,
            Change::Delete => !from && base && !after,
            Change::Rename | Change::Move => from && base && after,
        }
    }
}

/// Drops what marks a folder's journal as prepared or written, of a transaction that was put back.
pub(super) fn discard(disk: &dyn Disk, home: &Dir) {
    for name in [PREPARED, WRITING, STAGING] {
        let _ = disk.remove_file(home, name.as_ref());
    }
}

/// The name of a transaction's folder.
pub(super) fn folder_name(vault: &Vault, id: &str) -> String {
    format!("{id}.{}", vault.mark("folder", id.as_bytes()))
}

/// The id of a transaction, if its folder bears this name.
pub(crate) fn id_of_folder(vault: &Vault, name: &str) -> Option<String> {
    let (id, mark) = name.split_once('.')?;
    vault.has_mark("folder", id.as_bytes(), mark).then(|| id.to_owned())
}

/// The name of the one file of a transaction, if it can say everything.
pub(super) fn file_name(vault: &Vault, id: &str, entry: &Entry) -> Option<String> {
    let is_plain = matches!(entry.change, Change::Create | Change::Modify | Change::Delete);
    // A content that stays is no sign of which of the two files it is.
    if !is_plain || entry.staged_beside || entry.displaced_beside || entry.base == entry.after {
        return None;
    }
    let hex = |version: &Option<String>, none: &str| match version {
        Some(hex) => hex[..DIGITS].to_owned(),
        None => none.to_owned(),
    };
    let head = format!("{id}.0.{}.{}", hex(&entry.base, "new"), hex(&entry.after, "gone"));
    let path = entry.path.as_one_name();
    let mark = vault.mark(&head, path.as_bytes());
    let name = format!("{head}.{mark}.{path}");
    (name.len() <= LONGEST_NAME).then_some(name)
}

/// What the one file of a transaction says in its name, and the transaction's id.
pub(crate) fn entry_of_file(vault: &Vault, name: &str) -> Option<(String, Entry)> {
    let parts: Vec<&str> = name.splitn(6, '.').collect();
    let [id, number @ "0", base, after, mark, path] = parts[..] else { return None };
    if !vault.has_mark(&format!("{id}.{number}.{base}.{after}"), path.as_bytes(), mark) {
        return None;
    }
    let version = |hex: &str, none: &str| (hex != none).then(|| hex.to_owned());
    let (base, after) = (version(base, "new"), version(after, "gone"));
    let change = match (&base, &after) {
        (None, Some(_)) => Change::Create,
        (Some(_), Some(_)) => Change::Modify,
        _ => Change::Delete,
    };
    let path = Trail::of_one_name(path)?;
    let entry = Entry {
        change,
        path,
        from: None,
        base,
        after,
        inode: None,
        staged_beside: false,
        displaced_beside: false,
    };
    entry.is_sound().then(|| (id.to_owned(), entry))
}
