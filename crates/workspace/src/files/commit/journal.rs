//! The journal of a transaction, from which recovery after a crash learns what the transaction was.
//!
//! Several files get a folder `EDIT.MARK` with a journal: for each file the change, the version that it was made for,
//! the new version, and the inode of the staged file. The journal is called `prepared` once everything is staged, and
//! `committed` once everything is in place; the first name says "put back", the second "done".
//!
//! A single file has its journal in its name, which the fsync of its content makes durable too:
//! `EDIT.0-CALL.BASE.AFTER.MARK.path%2Fto%2Ffile`, with both versions in hex (`new` and `gone` where there is none), and
//! without `-CALL` if no call of a client made the edit. The staged and the displaced file have the same name.
//!
//! Marks are those of [`Seal`](crate::files::seal::Seal): anything without one was not written by this user's Emend for
//! this root, and is ignored.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use emend_edit::Version;
use emend_edit::plan::Action;

use super::Job;
use crate::disk::{ASIDE, BESIDE, Disk};
use crate::files::call::CallDigest;
use crate::files::trail::Trail;
use crate::files::vault::Vault;

/// The journal of a transaction whose files may have to be put back.
pub(crate) const PREPARED: &str = "prepared";
/// The journal of a completed transaction.
pub(crate) const COMMITTED: &str = "committed";
/// A journal that is being written.
const WRITING: &str = "writing";
/// The list of files staged outside of the vault, written before they are.
pub(crate) const STAGING: &str = "staging";

/// The longest name that every file system supports, with room for what an exchange puts before it.
const LONGEST_NAME: usize = 255 - ASIDE.len();
/// The number of hex digits of a version that fit into a name.
const DIGITS: usize = 32;
/// The size of the largest journal that is read; ten thousand files need a fraction of it.
pub(crate) const LARGEST: u64 = 256 * 1024 * 1024;

/// The kind of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    /// A new file.
    Create,
    /// A new file replaces it.
    Modify,
    /// Its content is overwritten in place: it has several names or a mount, which a new file would lose.
    Overwrite,
    /// It is deleted.
    Delete,
    /// It is renamed, and stays the same file.
    Rename,
    /// A new file is created under another name, and the old file is deleted.
    Move,
}

/// The part of a transaction that concerns one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) change: Change,
    pub(crate) path: Trail,
    /// The former path of a moved file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) from: Option<Trail>,
    /// The version for which the edit was made, in hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) base: Option<String>,
    /// The new version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) after: Option<String>,
    /// The inode of the staged file, or of the renamed file itself. A name has no room for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) inode: Option<u64>,
    /// Whether the staged file is next to its target, because the vault is on another file system.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) staged_beside: bool,
    /// Whether the displaced file is put next to its former path.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) displaced_beside: bool,
}

impl Entry {
    /// Describes the plan of a job, before anything is staged.
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

    /// Returns whether this is the old version of the file.
    pub(crate) fn is_base(&self, version: &Version) -> bool {
        self.base.as_ref().is_some_and(|base| version.is_named_by(base))
    }

    /// Returns whether this is the new version of the file.
    pub(crate) fn is_after(&self, version: &Version) -> bool {
        self.after.as_ref().is_some_and(|after| version.is_named_by(after))
    }

    /// Returns the names of the staged and the displaced file in a transaction's folder. An exchange leaves the
    /// displaced file where the staged one was.
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
    /// Returns the name of the displaced file in the transaction's folder once it is kept.
    pub(crate) fn kept_slot(&self, number: usize) -> String {
        Self { displaced_beside: false, ..self.clone() }.slots("", number).1
    }
}

/// The content of a transaction's journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) id: String,
    /// The call that made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) call: Option<CallDigest>,
    /// The inode of the folder that contains it: a copied journal is invalid.
    pub(crate) home: u64,
    pub(crate) files: Vec<Entry>,
    /// The folders that it creates, outer ones first.
    pub(crate) folders: Vec<Trail>,
    /// The folders that it removes, outer ones first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) emptied: Vec<Emptied>,
}

/// A folder that a transaction removes because it puts a file there, and that is empty by then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Emptied {
    pub(crate) path: Trail,
    /// Its permission bits.
    pub(crate) mode: u32,
}

impl Journal {
    /// Writes the list of files to stage, so that recovery can remove them. It is not synced.
    pub(super) fn note(&self, disk: &dyn Disk, vault: &Vault, home: &Dir) -> io::Result<()> {
        let content = vault.sealed(&self.purpose(), self)?;
        let file = disk.create_file(home, STAGING.as_ref(), None)?;
        disk.write(&file, &[&content])
    }

    /// Writes the journal durably as [`PREPARED`].
    pub(super) fn prepare(&self, disk: &dyn Disk, vault: &Vault, home: &Dir) -> io::Result<()> {
        let content = vault.sealed(&self.purpose(), self)?;
        let file = disk.create_file(home, WRITING.as_ref(), None)?;
        disk.write(&file, &[&content])?;
        disk.sync_file(&file)?;
        disk.rename_new((home, WRITING.as_ref()), (home, PREPARED.as_ref()))?;
        disk.sync_dir(home)?;
        disk.sync_dir(&vault.open)
    }

    /// Reads the journal with this name in a transaction's folder. Returns `Ok(None)` if there is none, and an error of
    /// kind `InvalidData` if it is not ours.
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
    /// Returns whether the entry has the fields that its kind of change needs.
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

/// Removes all journals from the folder of a transaction that was put back.
pub(super) fn discard(disk: &dyn Disk, home: &Dir) {
    for name in [PREPARED, WRITING, STAGING] {
        let _ = disk.remove_file(home, name.as_ref());
    }
}

/// Returns the name of a transaction's folder.
pub(super) fn folder_name(vault: &Vault, id: &str) -> String {
    format!("{id}.{}", vault.mark("folder", id.as_bytes()))
}

/// Returns the id of the transaction whose folder has this name.
pub(crate) fn id_of_folder(vault: &Vault, name: &str) -> Option<String> {
    let (id, mark) = name.split_once('.')?;
    vault.has_mark("folder", id.as_bytes(), mark).then(|| id.to_owned())
}

/// Returns the name that serves as journal of a transaction of one file, if the name has room for everything.
pub(super) fn file_name(vault: &Vault, id: &str, call: Option<CallDigest>, entry: &Entry) -> Option<String> {
    let is_plain = matches!(entry.change, Change::Create | Change::Modify | Change::Delete);
    // If the content stays the same, it does not distinguish the two files.
    if !is_plain || entry.staged_beside || entry.displaced_beside || entry.base == entry.after {
        return None;
    }
    let hex = |version: &Option<String>, none: &str| match version {
        Some(hex) => hex[..DIGITS].to_owned(),
        None => none.to_owned(),
    };
    let call = call.map(|call| format!("-{}", String::from(call))).unwrap_or_default();
    let head = format!("{id}.0{call}.{}.{}", hex(&entry.base, "new"), hex(&entry.after, "gone"));
    let path = entry.path.as_one_name();
    let mark = vault.mark(&head, path.as_bytes());
    let name = format!("{head}.{mark}.{path}");
    (name.len() <= LONGEST_NAME).then_some(name)
}

/// The parsed name of a transaction's only file.
pub(crate) struct NamedFile {
    pub(crate) id: String,
    pub(crate) call: Option<CallDigest>,
    pub(crate) entry: Entry,
}

/// Parses the name of a transaction's only file, if the name is ours.
pub(crate) fn entry_of_file(vault: &Vault, name: &str) -> Option<NamedFile> {
    let parts: Vec<&str> = name.splitn(6, '.').collect();
    let [id, number, base, after, mark, path] = parts[..] else { return None };
    let call = match number.strip_prefix('0')? {
        "" => None,
        call => Some(CallDigest::from_hex(call.strip_prefix('-')?)?),
    };
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
    entry.is_sound().then(|| NamedFile { id: id.to_owned(), call, entry })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry that has these of its parts.
    fn entry(change: Change, from: bool, base: bool, after: bool) -> Entry {
        let path = Trail::new(&["a".into()]);
        let version = |is_there: bool| is_there.then(String::new);
        Entry {
            change,
            from: from.then(|| path.clone()),
            path,
            base: version(base),
            after: version(after),
            inode: None,
            staged_beside: false,
            displaced_beside: false,
        }
    }

    #[test]
    fn a_journal_counts_only_where_it_was_written_and_for_its_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, vault) = crate::files::history::record::tests::vault(folder.path());
        let home = |name: &str| {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            Dir::open_ambient_dir(folder.path().join(name), cap_std::ambient_authority()).unwrap()
        };
        let (own, other) = (home("own"), home("other"));
        let inode = disk.stat(&own, OsStr::new(".")).unwrap().inode;
        let files = vec![entry(Change::Modify, false, true, true)];
        let (folders, emptied) = (Vec::new(), Vec::new());
        let journal = Journal { id: "1".into(), call: None, home: inode, files, folders, emptied };
        journal.prepare(&*disk, &vault, &own).unwrap();
        assert!(Journal::read(&*disk, &vault, &own, PREPARED, "1").unwrap().is_some());
        assert!(Journal::read(&*disk, &vault, &other, PREPARED, "1").unwrap().is_none());
        std::fs::copy(folder.path().join("own").join(PREPARED), folder.path().join("other").join(PREPARED))
            .unwrap();
        for (home, id) in [(&other, "1"), (&own, "2")] {
            let wrong = Journal::read(&*disk, &vault, home, PREPARED, id).unwrap_err();
            assert_eq!(wrong.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn the_name_of_an_only_file_says_all_of_its_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let (_, vault) = crate::files::history::record::tests::vault(folder.path());
        for (change, base, after) in
            [(Change::Create, false, true), (Change::Modify, true, true), (Change::Delete, true, false)]
        {
            let version = |content: &[u8]| Some(Version::hash(content).hex());
            let mut entry = entry(change, false, base, after);
            entry.base = entry.base.and_then(|_| version(b"old"));
            entry.after = entry.after.and_then(|_| version(b"new"));
            let name = file_name(&vault, "1a2b", None, &entry).unwrap();
            let named = entry_of_file(&vault, &name).unwrap();
            assert_eq!((named.id.as_str(), named.entry.change, named.call), ("1a2b", change, None));
            assert_eq!((named.entry.base.is_some(), named.entry.after.is_some()), (base, after));
            assert!(entry_of_file(&vault, &name.replace("1a2b", "1a2c")).is_none(), "the mark is of another");
        }
    }

    #[test]
    fn a_displaced_file_is_kept_in_its_slot_wherever_it_was_put_first() {
        for (change, slot) in [(Change::Modify, "7"), (Change::Delete, "7.old"), (Change::Move, "7.old")] {
            for displaced_beside in [false, true] {
                let entry = Entry { displaced_beside, ..entry(change, false, true, true) };
                assert_eq!(entry.kept_slot(7), slot);
                let beside = if displaced_beside { format!("{BESIDE}id-{slot}") } else { slot.into() };
                assert_eq!(entry.slots("id", 7), ("7".into(), beside));
            }
        }
        let entry = Entry { staged_beside: true, ..entry(Change::Create, false, false, true) };
        assert_eq!(entry.slots("id", 7).0, format!("{BESIDE}id-7"));
    }

    #[test]
    fn an_entry_says_what_its_change_needs_and_no_more() {
        for (change, needs) in [
            (Change::Create, (false, false, true)),
            (Change::Modify, (false, true, true)),
            (Change::Overwrite, (false, true, true)),
            (Change::Delete, (false, true, false)),
            (Change::Rename, (true, true, true)),
            (Change::Move, (true, true, true)),
        ] {
            for bits in 0..8 {
                let has = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
                assert_eq!(entry(change, has.0, has.1, has.2).is_sound(), has == needs, "{change:?} {has:?}");
            }
        }
    }
}
