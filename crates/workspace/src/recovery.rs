//! Recovery: what a process that died has left is finished or taken back, at start and before each commit.
//!
//! It **trusts nothing**. What does not bear this user's mark for this root is not acted upon: a forged or
//! copied folder, a torn journal, a link, a transaction that is over and was put there again. Every path of a journal passes the policy again and is opened beneath the
//! root without following links. Files are put back by the code that an error runs
//! ([`restore`](mod@crate::commit::restore)), which moves nothing away that is not known to be ours and deletes nothing
//! whose content it does not know. It may itself be killed at any moment, and run again.
//!
//! The root's lock is held, so nothing that is found here belongs to a living transaction.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::problem::FileState;

use crate::commit::journal::{self, COMMITTED, Change, Entry, Journal, PREPARED};
use crate::commit::restore::{self, Folder, Site, Tx};
use crate::commit::trail::Trail;
use crate::disk::{Disk, FileKind, HELPER};
use crate::fault::is_absent;
use crate::history;
use crate::roots::Root;
use crate::vault::Vault;

/// What recovery has found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What somebody should know, in sentences.
    pub(crate) told: Vec<String>,
    /// Transactions that could be neither finished nor put back: why. Editing goes on once they are.
    pub(crate) stuck: Vec<String>,
}

/// Finishes or takes back everything that lies among the open transactions of a root.
pub(crate) fn recover(disk: &dyn Disk, root: &Root, vault: &Vault) -> io::Result<Findings> {
    let mut findings = Findings::default();
    let names = disk.names(&vault.open)?;
    if names.is_empty() {
        return Ok(findings);
    }
    let used = history::ids(disk, vault)?;
    for name in names {
        if name.to_string_lossy().starts_with(HELPER) {
            // It belongs to a staged file, and is settled with it.
            continue;
        }
        let recovery = Recovery { disk, root, vault, name: &name, used: &used };
        if let Err(error) = recovery.run(&mut findings) {
            findings.stuck.push(format!(
                "An edit of {} was interrupted, and taking it up again failed: {error}.",
                root.path.display()
            ));
        }
    }
    Ok(findings)
}

struct Recovery<'a> {
    disk: &'a dyn Disk,
    root: &'a Root,
    vault: &'a Vault,
    name: &'a OsStr,
    /// The transactions that are over: what bears the name of one is a copy.
    used: &'a BTreeSet<String>,
}

impl Recovery<'_> {
    fn run(&self, findings: &mut Findings) -> io::Result<()> {
        let stat = self.disk.stat(&self.vault.open, self.name)?;
        let name = self.name.to_string_lossy();
        match stat.kind {
            FileKind::Dir => match journal::id_of_folder(self.vault, &name) {
                Some(id) if !self.used.contains(&id) => self.folder(&id, findings),
                _ => self.not_ours(findings),
            },
            FileKind::File => match journal::entry_of_file(self.vault, &name) {
                Some((id, entry)) if !self.used.contains(&id) => self.file(&id, entry, findings),
                _ => self.not_ours(findings),
            },
            _ => self.not_ours(findings),
        }
    }

    fn not_ours(&self, findings: &mut Findings) -> io::Result<()> {
        findings.told.push(format!(
            "{} among the open transactions of {} was not left there by this user's Emend; nothing was done with \
             it.",
            self.name.to_string_lossy(),
            self.root.path.display()
        ));
        Ok(())
    }

    /// A transaction with a journal.
    fn folder(&self, id: &str, findings: &mut Findings) -> io::Result<()> {
        let home = Arc::new(self.disk.open_dir(&self.vault.open, Path::new(self.name))?);
        let read = |name| Journal::read(self.disk, self.vault, &home, name, id);
        let (journal, is_over) = match (read(COMMITTED), read(PREPARED)) {
            (Ok(Some(journal)), _) => (journal, true),
            (Ok(None), Ok(Some(journal))) => (journal, false),
            // It never came to placing anything: what is staged was not seen by anybody.
            (Ok(None), Ok(None)) => {
                crate::vault::remove(self.disk, &self.vault.open, self.name);
                return Ok(());
            }
            (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                findings.told.push(format!(
                    "The journal of edit {id} in {} is damaged or forged; nothing was done with it.",
                    self.root.path.display()
                ));
                return Ok(());
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let sites = self.sites(id, &journal, &home)?;
        if is_over {
            if let Err(error) = restore::bring_home(self.disk, &home, &sites) {
                // It has happened; only tidying is left, which the next recovery tries again.
                findings.told.push(format!(
                    "Edit {id} of {} is made, but a file that it displaced cannot be taken away yet: {error}.",
                    self.root.path.display()
                ));
                return Ok(());
            }
            return restore::finish(self.vault, self.name);
        }
        let folders = self.folders(&journal)?;
        let states = restore::put_back(self.disk, &sites, &folders);
        self.sync(&sites)?;
        let tx = Tx { vault: self.vault, dir: &home, folder: Some(self.name) };
        self.end(id, &tx, &sites, states, findings)
    }

    /// A transaction of one file, whose name is its journal.
    fn file(&self, id: &str, entry: Entry, findings: &mut Findings) -> io::Result<()> {
        let home = Arc::new(self.vault.open.try_clone()?);
        let slot = (Arc::clone(&home), self.name.to_os_string());
        let dir = self.dir_of(&entry.path)?;
        let shown = entry.path.shown();
        let site = Site { from: dir.clone(), dir, shown, staged: slot.clone(), displaced: slot, entry };
        let (_, name) = site.entry.path.split();
        if let Some(dir) = &site.dir
            && site.entry.change == Change::Modify
        {
            self.disk.settle_exchange((&home, self.name), (dir, name))?;
        }
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
        if is(&slot, Entry::is_after) {
            // Staged, and not placed.
            return self.end(id, &tx, one, untouched(), findings);
        }
        if is(&slot, Entry::is_base) {
            // Everything was done but to say so.
            self.sync(one)?;
            return restore::finish(self.vault, self.name);
        }
        if is(&target, Entry::is_after) || site.entry.change == Change::Delete {
            // Somebody wrote in between, and theirs was displaced.
            let states = restore::put_back(self.disk, one, &[]);
            self.sync(one)?;
            return self.end(id, &tx, one, states, findings);
        }
        // Half written, most likely: then the target is as it was. Whatever it is, it is kept.
        let as_it_was = site.entry.change == Change::Create || is(&target, Entry::is_base);
        let state = if as_it_was { FileState::Untouched } else { FileState::Theirs };
        self.end(id, &tx, one, vec![(site.shown.clone(), state)], findings)
    }

    /// Throws away what is needed no more, and tells what somebody should know.
    fn end(
        &self,
        id: &str,
        tx: &Tx<'_>,
        sites: &[Site],
        states: Vec<(String, FileState)>,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let ending = restore::clear(self.disk, tx, sites, true, states);
        if ending.states.iter().any(|(_, state)| *state == FileState::Unknown) {
            return Err(io::Error::other("a file could not be read or put back"));
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
            findings.told.push(format!(
                "Edit {id} was interrupted while another program wrote; it was taken back where that loses nothing: \
                 {}.{kept}",
                others.join(", ")
            ));
        }
        Ok(())
    }

    /// The entries of a journal with their open folders.
    fn sites(&self, id: &str, journal: &Journal, home: &Arc<Dir>) -> io::Result<Vec<Site>> {
        let site = |(number, entry): (usize, &Entry)| {
            let (staged, displaced) = entry.slots(id, number);
            let dir = self.dir_of(&entry.path)?;
            let from = match &entry.from {
                Some(from) => self.dir_of(from)?,
                None => dir.clone(),
            };
            // Beside means in the nearest folder that was there before.
            let beside = |beside: bool, trail: &Trail, name: String| -> io::Result<(Arc<Dir>, OsString)> {
                let dir = match beside {
                    true => self.open(&existing_folder(trail, &journal.folders))?.map(Arc::new),
                    false => Some(Arc::clone(home)),
                };
                let dir = dir.ok_or_else(|| io::Error::other("the folder of a staged file is gone"))?;
                Ok((dir, name.into()))
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

    /// The folders that a transaction made, as far as they are there.
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

    /// The folder of a file, if it exists and the policy lets us into it.
    fn dir_of(&self, trail: &Trail) -> io::Result<Option<Arc<Dir>>> {
        let policy = &self.root.policy;
        policy
            .may_read(trail.names())
            .map_err(|_| io::Error::new(io::ErrorKind::PermissionDenied, "the policy forbids its path"))?;
        Ok(self.open(&trail.split().0)?.map(Arc::new))
    }

    fn open(&self, folders: &Path) -> io::Result<Option<Dir>> {
        match self.disk.open_dir(&self.root.dir, folders) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes what was put back durable before what was kept of it goes.
    fn sync(&self, sites: &[Site]) -> io::Result<()> {
        let dirs = sites.iter().flat_map(|site| site.dir.iter().chain(&site.from));
        let mut synced = BTreeSet::new();
        for dir in dirs {
            let stat = self.disk.stat(dir, OsStr::new("."))?;
            if synced.insert((stat.device, stat.inode)) {
                self.disk.sync_dir(dir)?;
            }
        }
        Ok(())
    }
}

/// The folders above a file without those that its transaction made.
fn existing_folder(trail: &Trail, made: &[Trail]) -> PathBuf {
    let names = trail.names();
    let is_made = |end: &usize| made.iter().any(|folder| folder.names() == &names[..*end]);
    let end = (0..names.len()).rev().find(|end| *end == 0 || !is_made(end)).unwrap_or(0);
    names[..end].iter().collect()
}
