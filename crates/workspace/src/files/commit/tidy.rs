//! Cleaning up after a transaction: displaced files are kept, staged files are removed, and files of unknown content
//! are quarantined.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;

use cap_std::fs::Dir;

use emend_edit::Version;

use super::At;
use super::journal::{self, Change};
use super::restore::{Site, open, stat, version};
use crate::disk::{Disk, helper};
use crate::files::vault::Vault;
use crate::problem::FileState;

/// The result of putting a transaction back.
#[derive(Debug)]
pub(crate) struct RestoreOutcome {
    /// The state of each file.
    pub(crate) states: Vec<(String, FileState)>,
    /// The place of a quarantined transaction.
    pub(crate) left: Option<String>,
    /// The error because of which recovery must try again.
    pub(crate) open: Option<io::Error>,
}

/// The place of a transaction in the vault.
pub(crate) struct Tx<'a> {
    pub(crate) vault: &'a Vault,
    /// The folder that contains its files.
    pub(crate) dir: &'a Dir,
    /// The name of that folder, if the transaction has its own.
    pub(crate) folder: Option<&'a OsStr>,
}

/// Removes everything known and no longer needed. The rest, ours or another program's, is quarantined, or left to the
/// next recovery if the disk fails. So are files that were in place for a moment: a program that opened one may still
/// write to it.
pub(crate) fn clear(
    disk: &dyn Disk,
    tx: &Tx<'_>,
    sites: &[Site],
    placed: bool,
    states: Vec<(String, FileState)>,
) -> RestoreOutcome {
    let open = |states, error| RestoreOutcome { states, left: None, open: Some(error) };
    if states.iter().any(|(_, state)| *state == FileState::Unknown) {
        return open(states, io::Error::other("a file could not be read or put back"));
    }
    // The restored files must be durable before anything needed to restore them is removed.
    if placed && let Err(error) = sync(disk, sites).and_then(|()| bring_home(disk, tx.dir, sites)) {
        return open(states, error);
    }
    let is_back =
        |(_, state): &(String, FileState)| matches!(state, FileState::Untouched | FileState::Restored);
    let all_back = states.iter().all(is_back);
    let mut left = false;
    for (site, (_, state)) in sites.iter().zip(&states) {
        let known = |at: At<'_>| -> io::Result<bool> {
            if !placed {
                // Perhaps incomplete, but no other program has ever seen it.
                return Ok(true);
            }
            let was_in_place = *state == FileState::Restored && site.entry.change != Change::Overwrite;
            if was_in_place && !site.entry.staged_beside {
                // Another program may have opened it meanwhile, and may still write to it.
                return Ok(false);
            }
            if matches!(site.entry.change, Change::Delete | Change::Move) && at.1 == site.displaced().1 {
                // The only copy of a file that could not be brought back, whatever it holds.
                return Ok(false);
            }
            let is_copy = all_back && site.entry.change == Change::Overwrite;
            let version = version(disk, at.0, at.1)?;
            Ok(version.is_some_and(|version| {
                site.entry.is_after(&version) || is_copy && site.entry.is_base(&version)
            }))
        };
        for at in [site.staged(), site.displaced()] {
            let gone = match stat(disk, at) {
                Ok(None) => true,
                Ok(Some(_)) => known(at).unwrap_or(false) && disk.remove_file(at.0, at.1).is_ok(),
                Err(_) => false,
            };
            left |= !gone;
        }
    }
    let name = match (tx.folder, sites) {
        (Some(folder), _) => folder,
        (None, [site]) => site.displaced().1,
        (None, _) => return RestoreOutcome { states, left: None, open: None },
    };
    // What another program made impossible to put back is beside, and is never deleted.
    let beside = match beside(disk, sites) {
        Ok(beside) => beside,
        Err(error) => return open(states, error),
    };
    if let Some(folder) = tx.folder
        && !left
        && beside.is_none()
    {
        journal::discard(disk, tx.dir);
        left = disk.remove_dir(&tx.vault.open, folder).is_err();
    }
    // A single file has no folder with which it would go.
    let name = match (&beside, tx.folder) {
        (Some(beside), None) if !left => beside,
        _ => name,
    };
    left |= beside.is_some();
    if !left {
        return RestoreOutcome { states, left: None, open: None };
    }
    match tx.vault.quarantine(disk).and_then(|quarantine| tx.vault.open.rename(name, &quarantine, name)) {
        Ok(()) => RestoreOutcome { states, left: Some(tx.vault.shown_quarantined(name)), open: None },
        Err(error) => open(states, error),
    }
}

/// Returns the name of a displaced file that is beside a staged one.
fn beside(disk: &dyn Disk, sites: &[Site]) -> io::Result<Option<OsString>> {
    for site in sites {
        let (dir, slot) = site.displaced();
        let name = helper("displaced", slot);
        if stat(disk, (dir, &name))?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Makes the names in all folders of these files durable.
fn sync(disk: &dyn Disk, sites: &[Site]) -> io::Result<()> {
    let mut synced = BTreeSet::new();
    for dir in sites.iter().flat_map(|site| site.dir.iter().chain(&site.from)) {
        let stat = disk.stat(dir, OsStr::new("."))?;
        if synced.insert((stat.device, stat.inode)) {
            disk.sync_dir(dir)?;
        }
    }
    Ok(())
}

/// Moves displaced files to the vault that had to be put next to their former path, because the vault is on another
/// file system.
pub(crate) fn bring_home(disk: &dyn Disk, home: &Dir, sites: &[Site]) -> io::Result<()> {
    let mut away = sites.iter().enumerate().filter(|(_, site)| site.entry.displaced_beside);
    away.try_for_each(|(number, site)| bring_one_home(disk, home, site, &site.entry.kept_slot(number)))
}

fn bring_one_home(disk: &dyn Disk, home: &Dir, site: &Site, slot: &str) -> io::Result<()> {
    let at = site.displaced();
    let Some(file) = open(disk, at.0, at.1)? else { return Ok(()) };
    let content = disk.read(&file, u64::MAX - 1, &mut |_| {})?;
    // A crash may have left an incomplete copy.
    let _ = disk.remove_file(home, slot.as_ref());
    let copy = disk.create_file(home, slot.as_ref(), Some(&file))?;
    disk.write(&copy, &[&content])?;
    disk.sync_file(&copy)?;
    disk.sync_dir(home)?;
    // A file that another program still writes to is not removed.
    if site.entry.is_base(&Version::hash(&content)) { disk.remove_file(at.0, at.1) } else { Ok(()) }
}

/// Moves a completed transaction into the history.
pub(crate) fn finish(vault: &Vault, name: &OsStr) -> io::Result<()> {
    // Not `Disk::rename_new`: a folder cannot be hard-linked, and the name is new.
    vault.open.rename(name, &vault.kept, name)
}
