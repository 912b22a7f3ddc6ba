//! Recovery: transactions of a process that died are finished or undone, at start and before each commit.
//!
//! It **trusts nothing**. Anything without this user's mark for this root is ignored: a forged or copied folder, a torn
//! journal, a link, a completed transaction that was put there again. Every path of a journal passes the policy again
//! and is opened beneath the root without following links. Files are put back by the same code as after an error
//! ([`restore`](mod@crate::files::commit::restore)), which moves nothing away that is not known to be ours and deletes
//! nothing of unknown content. It may be killed at any moment, and run again.
//!
//! The root is locked as a whole, so nothing found here belongs to a running transaction. An edit that shares the root only
//! looks whether anything is left ([`has_left`]), and then locks it as a whole.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::problem::FileState;

use crate::disk::fault::is_absent;
use crate::disk::{ASIDE, Disk, FileKind, HELPER, helper};
use crate::files::commit::journal::{self, COMMITTED, Change, Entry, Journal, NamedFile, PREPARED, STAGING};
use crate::files::commit::restore::{self, Folder, Site};
use crate::files::commit::tidy::{self, Tx};
use crate::files::file_locks::FileKey;
use crate::files::history::Over;
use crate::files::history::record::{Details, Record};
use crate::files::roots::Root;
use crate::files::trail::Trail;
use crate::files::vault::Vault;

/// The findings of recovery.
#[derive(Debug, Default)]
pub(crate) struct RecoveryFindings {
    /// Messages for the next caller.
    pub(crate) messages: Vec<String>,
    /// The reasons why transactions could be neither finished nor undone. Editing is blocked until they are.
    pub(crate) stuck: Vec<String>,
}

/// Finishes or undoes every open transaction of a root.
pub(crate) fn recover(disk: &dyn Disk, root: &Root, vault: &Vault) -> io::Result<RecoveryFindings> {
    let mut findings = RecoveryFindings::default();
    // Whether an edit was made already, the log says.
    vault.settle_log(disk)?;
    let names = bring_to_slots(disk, vault, disk.names(&vault.open)?)?;
    if names.is_empty() {
        return Ok(findings);
    }
    let over = Over::read(disk, vault)?;
    for name in names {
        if name.to_string_lossy().starts_with(HELPER) {
            // It belongs to a staged file, and is handled together with it.
            continue;
        }
        let recovery = Recovery { disk, root, vault, name: &name, over: &over };
        if let Err(error) = recovery.run(&mut findings) {
            findings.stuck.push(format!(
                "An edit of {} was interrupted, and taking it up again failed: {error}. What is left of it is in {}.",
                root.path.display(),
                vault.shown_open(&name)
            ));
        }
    }
    for name in disk.names(&vault.open)?.iter().filter(|name| name.to_string_lossy().starts_with(HELPER)) {
        // It belongs to none: another program replaced a file at that moment. An edit that is still to be finished may need it.
        let is_quarantined = findings.stuck.is_empty() && quarantine(disk, vault, name).is_ok();
        let place = if is_quarantined { vault.shown_quarantined(name) } else { vault.shown_open(name) };
        findings.messages.push(format!("What an interrupted edit displaced is kept in {place}."));
    }
    Ok(findings)
}

/// Takes a file from the open transactions to those that nobody looks at again.
fn quarantine(disk: &dyn Disk, vault: &Vault, name: &OsStr) -> io::Result<()> {
    let place = vault.quarantine(disk)?;
    disk.rename_new((&vault.open, name), (&place, name))
}

/// Gives each displaced file that was set aside the place of its staged file, if that is free: an exchange was interrupted
/// before its last step. Returns the names without those of files that are still aside; they are handled together with
/// their staged files.
fn bring_to_slots(disk: &dyn Disk, vault: &Vault, mut names: Vec<OsString>) -> io::Result<Vec<OsString>> {
    let slot_of_ours = |name: &OsStr| {
        slot_of(name).filter(|slot| journal::entry_of_file(vault, &slot.to_string_lossy()).is_some())
    };
    for at in 0..names.len() {
        let Some(slot) = slot_of_ours(&names[at]).filter(|slot| !names.contains(slot)) else { continue };
        disk.rename_new((&vault.open, &names[at]), (&vault.open, &slot))?;
        names[at] = slot;
    }
    names.retain(|name| slot_of_ours(name).is_none());
    Ok(names)
}

/// Returns the name of the staged file in whose exchange the file of this name was set aside.
fn slot_of(name: &OsStr) -> Option<OsString> {
    name.to_str().and_then(|name| name.strip_prefix(ASIDE)).map(OsString::from)
}

/// Returns whether a dead edit has left something, for an edit that shares the root and has locked the files with these keys.
///
/// What concerns one of its own files was left by a dead edit. An edit of other files that still runs holds their locks for
/// as long as its transaction is open.
pub(crate) fn has_left(
    disk: &dyn Disk,
    root: &Root,
    vault: &Vault,
    keys: &BTreeSet<FileKey>,
) -> io::Result<bool> {
    if vault.is_log_aside(disk)? {
        return Ok(true);
    }
    let is_left = |entry: &Entry| {
        let mut trails = std::iter::once(&entry.path).chain(&entry.from);
        trails.any(|trail| {
            let key = FileKey::new(trail.names());
            keys.contains(&key) || !root.locks.is_locked(key)
        })
    };
    for name in disk.names(&vault.open)? {
        let slot = slot_of(&name);
        let written = slot.as_ref().unwrap_or(&name).to_string_lossy();
        let may_be_left = match journal::entry_of_file(vault, &written) {
            // Of which file it is a helper is not in its name.
            _ if written.starts_with(HELPER) => true,
            Some(file) => is_left(&file.entry),
            None => match journal::id_of_folder(vault, &written) {
                Some(id) => {
                    journals(disk, vault, &name, &id)?.iter().any(|left| left.files.iter().any(is_left))
                }
                None => false,
            },
        };
        // An edit that has just ended has given back its locks, but its transaction is not open any more.
        if may_be_left && restore::stat(disk, (&vault.open, &name))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads what is written down of a transaction with a folder.
fn journals(disk: &dyn Disk, vault: &Vault, name: &OsStr, id: &str) -> io::Result<Vec<Journal>> {
    let home = match disk.open_dir(&vault.open, Path::new(name)) {
        Ok(home) => home,
        // It has ended meanwhile.
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let read = |name| match Journal::read(disk, vault, &home, name, id) {
        // It is being written, or not ours.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        read => read.transpose(),
    };
    [STAGING, PREPARED, COMMITTED].into_iter().filter_map(read).collect()
}

struct Recovery<'a> {
    disk: &'a dyn Disk,
    root: &'a Root,
    vault: &'a Vault,
    name: &'a OsStr,
    /// The completed transactions: an entry with the name of one may be a copy.
    over: &'a Over,
}

impl Recovery<'_> {
    fn run(&self, findings: &mut RecoveryFindings) -> io::Result<()> {
        let stat = self.disk.stat(&self.vault.open, self.name)?;
        let name = self.name.to_string_lossy();
        match stat.kind {
            FileKind::Dir => match journal::id_of_folder(self.vault, &name) {
                Some(id) if !self.over.kept.contains(&id) => self.folder(&id, findings),
                _ => self.not_ours(findings),
            },
            FileKind::File => match journal::entry_of_file(self.vault, &name) {
                Some(file) if !self.over.kept.contains(&file.id) => self.file(file, findings),
                _ => self.not_ours(findings),
            },
            _ => self.not_ours(findings),
        }
    }

    fn not_ours(&self, findings: &mut RecoveryFindings) -> io::Result<()> {
        findings.messages.push(format!(
            "{:?} among the open transactions of {} was not left there by this user's Emend; nothing was done with \
             it.",
            self.name,
            self.root.path.display()
        ));
        Ok(())
    }

    /// Recovers a transaction with a journal.
    fn folder(&self, id: &str, findings: &mut RecoveryFindings) -> io::Result<()> {
        let home = Arc::new(self.disk.open_dir(&self.vault.open, Path::new(self.name))?);
        let read = |name| Journal::read(self.disk, self.vault, &home, name, id);
        let (journal, is_over) = match (read(COMMITTED), read(PREPARED)) {
            (Ok(Some(journal)), _) => (journal, true),
            (Ok(None), Ok(Some(journal))) => (journal, false),
            // Nothing was placed, and no other program has seen the staged files.
            (Ok(None), Ok(None)) => {
                if let Ok(Some(journal)) = read(STAGING) {
                    for site in
                        self.sites(id, &journal, &home)?.iter().filter(|site| site.entry.staged_beside)
                    {
                        let _ = self.disk.remove_file(&site.staged.0, &site.staged.1);
                    }
                }
                crate::files::vault::remove(self.disk, &self.vault.open, self.name);
                return Ok(());
            }
            (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                findings.messages.push(format!(
                    "The journal of edit {id} in {} is damaged or forged; nothing was done with it.",
                    self.root.path.display()
                ));
                return Ok(());
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        if is_over {
            let away = journal.files.iter().any(|entry| entry.displaced_beside);
            let sites = if away { self.sites(id, &journal, &home) } else { Ok(Vec::new()) };
            if let Err(error) = sites.and_then(|sites| tidy::bring_home(self.disk, &home, &sites)) {
                // The edit has happened; the next recovery retries what remains.
                findings.messages.push(format!(
                    "Edit {id} of {} is made, but a file that it displaced cannot be taken away yet: {error}.",
                    self.root.path.display()
                ));
                return Ok(());
            }
            return self.keep(Record::of_journal(journal, &self.name.to_string_lossy()), findings);
        }
        if self.over.logged.contains(id) {
            return self.not_ours(findings);
        }
        if journal.files.iter().any(|entry| self.is_forbidden(entry)) {
            return self.forbidden(id, findings);
        }
        let mut sites = self.sites(id, &journal, &home)?;
        let folders = self.folders(&journal)?;
        let states = restore::put_back(self.disk, &self.root.dir, &mut sites, &folders, &journal.emptied);
        let tx = Tx { vault: self.vault, dir: &home, folder: Some(self.name) };
        self.end(id, &tx, &sites, states, findings)
    }

    /// Recovers a transaction of one file, whose name is its journal.
    fn file(&self, file: NamedFile, findings: &mut RecoveryFindings) -> io::Result<()> {
        let NamedFile { id, call, entry } = file;
        let id = id.as_str();
        let home = Arc::new(self.vault.open.try_clone()?);
        if self.is_forbidden(&entry) {
            return self.forbidden(id, findings);
        }
        let slot = (Arc::clone(&home), self.name.to_os_string());
        let dir = self.dir_of(&entry.path)?;
        let shown = entry.path.shown();
        let mut site = Site { from: dir.clone(), dir, shown, staged: slot.clone(), displaced: slot, entry };
        let (_, name) = site.entry.path.split();
        let is_taken = match &site.dir {
            _ if site.entry.change != Change::Modify => false,
            Some(dir) => self.disk.settle_exchange((&home, self.name), (dir, name))?,
            None => self.set_displaced_beside(&home)?,
        };
        let slot = restore::version(self.disk, &home, self.name)?;
        let target = match &site.dir {
            Some(dir) => restore::version(self.disk, dir, name)?,
            None => None,
        };
        let is = |version: &Option<emend_edit::Version>, wanted: fn(&Entry, &emend_edit::Version) -> bool| {
            version.as_ref().is_some_and(|version| wanted(&site.entry, version))
        };
        let one = std::slice::from_ref(&site);
        let tx = Tx { vault: self.vault, dir: &home, folder: None };
        let untouched = || vec![(site.shown.clone(), FileState::Untouched)];
        if self.over.logged.contains(id) && !is(&slot, Entry::is_base) {
            return self.not_ours(findings);
        }
        if is_taken {
            // The edit did not happen, and what it displaced is beside.
            return self.end(id, &tx, one, vec![(site.shown.clone(), FileState::Theirs)], findings);
        }
        if is(&slot, Entry::is_after) {
            // It was staged but not placed.
            return self.end(id, &tx, one, untouched(), findings);
        }
        // Where a rename takes two steps, a crash between them leaves both names.
        let has_both = self.has_both_names(&site, name)?;
        if is(&slot, Entry::is_base) && !has_both {
            // Everything was done except recording it.
            let file = NamedFile { id: id.into(), call, entry: site.entry };
            return self.keep(Record::of_file(file, &self.name.to_string_lossy()), findings);
        }
        if is(&target, Entry::is_after) || site.entry.change == Change::Delete {
            // Another program wrote meanwhile, and its file was displaced.
            let one = std::slice::from_mut(&mut site);
            let states = restore::put_back(self.disk, &self.root.dir, one, &[], &[]);
            return self.end(id, &tx, one, states, findings);
        }
        // Most likely it is incomplete, and the target is unchanged. It is quarantined in any case.
        let as_it_was = site.entry.change == Change::Create || is(&target, Entry::is_base);
        let state = if as_it_was { FileState::Untouched } else { FileState::Theirs };
        self.end(id, &tx, one, vec![(site.shown.clone(), state)], findings)
    }

    /// Sets a file beside that an interrupted exchange had displaced and whose folder is gone, so that nobody takes it for one that
    /// a finished exchange has left. Returns whether there is one.
    fn set_displaced_beside(&self, home: &Dir) -> io::Result<bool> {
        let mut aside = OsString::from(ASIDE);
        aside.push(self.name);
        if restore::stat(self.disk, (home, &aside))?.is_none() {
            return Ok(false);
        }
        self.disk.rename_new((home, &aside), (home, &helper("displaced", self.name)))?;
        Ok(true)
    }

    /// Records an edit that has happened, as the process that made it would have, and keeps the displaced files.
    fn keep(&self, record: Record, findings: &mut RecoveryFindings) -> io::Result<()> {
        let id = record.id.clone();
        if !self.over.logged.contains(&record.id) {
            let is_untracked = !self.root.policy.terms().track_history;
            let record = Record { is_untracked, ..record };
            record.write(self.disk, self.vault, &Details::default())?;
        }
        if let Err(error) = tidy::finish(self.vault, self.name) {
            // The edit has happened; the next recovery retries what remains. On Windows, a program that has a displaced file
            // open is enough.
            findings.messages.push(format!(
                "Edit {id} of {} is made, but what it displaced cannot be kept yet: {error}.",
                self.root.path.display()
            ));
        }
        Ok(())
    }

    /// Cleans up, and adds messages to the findings.
    fn end(
        &self,
        id: &str,
        tx: &Tx<'_>,
        sites: &[Site],
        states: Vec<(String, FileState)>,
        findings: &mut RecoveryFindings,
    ) -> io::Result<()> {
        let ending = tidy::clear(self.disk, tx, sites, true, states);
        if let Some(error) = ending.open {
            return Err(error);
        }
        let others: Vec<String> = ending
            .states
            .iter()
            .filter(|(_, state)| !matches!(state, FileState::Untouched | FileState::Restored))
            .map(|(name, state)| format!("{name} is {state}"))
            .collect();
        if !others.is_empty() {
            let kept =
                ending.left.map(|left| format!(" What it displaced is kept in {left}.")).unwrap_or_default();
            findings.messages.push(format!(
                "Edit {id} was interrupted while another program wrote; it was taken back where that loses nothing: \
                 {}.{kept}",
                others.join(", ")
            ));
        }
        Ok(())
    }

    /// Opens the folders of a journal's entries.
    fn sites(&self, id: &str, journal: &Journal, home: &Arc<Dir>) -> io::Result<Vec<Site>> {
        let site = |(number, entry): (usize, &Entry)| {
            let (staged, displaced) = entry.slots(id, number);
            let dir = self.dir_of(&entry.path)?;
            let from = match &entry.from {
                Some(from) => self.dir_of(from)?,
                None => dir.clone(),
            };
            // Beside means in the nearest folder that exists before and after.
            let beside = |beside: bool, trail: &Trail, name: String| -> io::Result<(Arc<Dir>, OsString)> {
                let dir = match beside {
                    true => self.open(&existing_folder(trail, journal))?.map(Arc::new),
                    false => Some(Arc::clone(home)),
                };
                // A file staged in a removed folder is gone; the vault has none of that name.
                Ok((dir.unwrap_or_else(|| Arc::clone(home)), name.into()))
            };
            let old = entry.from.as_ref().unwrap_or(&entry.path);
            Ok(Site {
                shown: entry.path.shown(),
                staged: beside(entry.staged_beside, &entry.path, staged)?,
                displaced: beside(entry.displaced_beside, old, displaced)?,
                dir,
                from,
                entry: entry.clone(),
            })
        };
        journal.files.iter().enumerate().map(site).collect()
    }

    /// Returns the folders that a transaction created, as far as they exist.
    fn folders(&self, journal: &Journal) -> io::Result<Vec<Folder>> {
        let mut folders = Vec::new();
        for trail in &journal.folders {
            let (parents, name) = trail.split();
            if let Some(parent) = self.open(&parents)? {
                folders.push(Folder { parent: Arc::new(parent), name: name.clone() });
            }
        }
        Ok(folders)
    }

    /// Returns whether the policy now forbids a path of the entry.
    fn is_forbidden(&self, entry: &Entry) -> bool {
        let mut trails = std::iter::once(&entry.path).chain(&entry.from);
        trails.any(|trail| self.root.policy.may_read(trail.names()).is_err())
    }

    fn forbidden(&self, id: &str, findings: &mut RecoveryFindings) -> io::Result<()> {
        findings.messages.push(format!(
            "Edit {id} of {} was interrupted, and the policy forbids a path of it by now; it was left as it is, in {}.",
            self.root.path.display(),
            self.vault.shown_open(self.name)
        ));
        Ok(())
    }

    /// Opens the folder of a file, if it exists.
    fn dir_of(&self, trail: &Trail) -> io::Result<Option<Arc<Dir>>> {
        Ok(self.open(&trail.split().0)?.map(Arc::new))
    }

    fn open(&self, folders: &Path) -> io::Result<Option<Dir>> {
        restore::open_dir(self.disk, &self.root.dir, folders)
    }

    /// Returns whether a deleted file is in the vault and also in its former place.
    fn has_both_names(&self, site: &Site, name: &OsStr) -> io::Result<bool> {
        let (Change::Delete, Some(dir)) = (site.entry.change, &site.dir) else { return Ok(false) };
        let slot = restore::stat(self.disk, (&self.vault.open, self.name))?;
        let target = restore::stat(self.disk, (dir, name))?;
        Ok(slot.zip(target).is_some_and(|(slot, target)| slot.is_same_file(&target)))
    }
}

/// Returns the nearest folder above a file that its transaction neither created nor removed.
fn existing_folder(trail: &Trail, journal: &Journal) -> PathBuf {
    let names = trail.names();
    let others = journal.folders.iter().chain(journal.emptied.iter().map(|emptied| &emptied.path));
    let is_other = |end: &usize| others.clone().any(|folder| folder.names() == &names[..*end]);
    let end = (0..names.len()).rev().find(|end| *end == 0 || !is_other(end)).unwrap_or(0);
    names[..end].iter().collect()
}
