//! The beginning of a transaction: where it stages its files, and what serves as its journal.

use std::collections::{HashMap, hash_map};
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::journal::{self, Change, Entry};
use super::restore::Site;
use super::watch::Patience;
use super::way::Obstacles;
use super::{Home, Job, Transaction, TxId};
use crate::disk::Disk;
use crate::files::vault::Vault;

impl<'a> Transaction<'a> {
    /// Decides where everything is staged. The only change is a folder in the vault.
    pub(super) fn begin(
        disk: &'a dyn Disk,
        vault: &'a Vault,
        id: TxId<'a>,
        jobs: &'a [Job<'a>],
    ) -> io::Result<Self> {
        let mut near: HashMap<*const Dir, bool> = HashMap::new();
        let mut is_near = |dir: &Arc<Dir>| match near.entry(Arc::as_ptr(dir)) {
            hash_map::Entry::Occupied(known) => Ok::<_, io::Error>(*known.get()),
            hash_map::Entry::Vacant(new) => Ok(*new.insert(disk.same_mount(&vault.open, dir)?)),
        };
        let obstacles = Obstacles::of(disk, jobs)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(jobs.len());
        for (job, in_way) in jobs.iter().zip(&obstacles.files) {
            let mut entry = Entry::of(job);
            let from = job.base.map(|(path, _)| &path.place.dir);
            if entry.change == Change::Rename
                && let Some(from) = from
                // A file in the way of its new folder, or in the folder that it replaces, goes before it comes.
                && (in_way.is_some()
                    || !Arc::ptr_eq(from, &job.path.place.dir)
                        && !disk.same_mount(from, &job.path.place.dir)?)
            {
                entry.change = Change::Move;
            }
            entry.staged_beside = entry.change != Change::Overwrite && !is_near(&job.path.place.dir)?;
            entry.displaced_beside = match entry.change {
                Change::Modify => entry.staged_beside,
                Change::Delete | Change::Move => match from {
                    Some(from) => !is_near(from)?,
                    None => false,
                },
                Change::Create | Change::Overwrite | Change::Rename => false,
            };
            entries.push(entry);
        }
        // A name has no room for the folders that are created on the way.
        let makes_folders = jobs.iter().any(|job| job.path.place.missing > 1);
        let one_name = match &entries[..] {
            [entry] if !makes_folders => journal::file_name(vault, id.edit, id.call, entry),
            _ => None,
        };
        let home = match &one_name {
            Some(_) => Home { dir: Arc::new(vault.open.try_clone()?), folder: None },
            None => {
                let name = journal::folder_name(vault, id.edit);
                disk.make_dir(&vault.open, name.as_ref(), true)?;
                Home { dir: Arc::new(disk.open_dir(&vault.open, Path::new(&name))?), folder: Some(name) }
            }
        };
        let site = |(number, (job, entry)): (usize, (&Job<'_>, Entry))| {
            let (staged, displaced) = match &one_name {
                Some(name) => (name.clone(), name.clone()),
                None => entry.slots(id.edit, number),
            };
            let from = job.base.map(|(path, _)| Arc::clone(&path.place.dir));
            let beside = |beside: bool, dir: &Arc<Dir>| Arc::clone(if beside { dir } else { &home.dir });
            let staged_at = beside(entry.staged_beside, &job.path.place.dir);
            let stays = obstacles.files[number].as_ref().or(from.as_ref()).unwrap_or(&job.path.place.dir);
            let displaced_at = beside(entry.displaced_beside, stays);
            Site {
                shown: job.plan.name.clone(),
                dir: Some(Arc::clone(&job.path.place.dir)),
                from,
                staged: (staged_at, staged.into()),
                displaced: (displaced_at, displaced.into()),
                entry,
            }
        };
        let sites = jobs.iter().zip(entries).enumerate().map(site).collect();
        let seen = jobs.iter().map(|job| job.base.map(|(_, base)| base.stat)).collect();
        Ok(Self {
            disk,
            vault,
            id,
            jobs,
            home,
            sites,
            obstacles,
            folders: Vec::new(),
            joined_folders: Vec::new(),
            placed: false,
            seen,
            watches: Vec::new(),
            staged: Vec::new(),
            spare: Vec::new(),
            patience: Patience::default(),
            open: Vec::new(),
            now: vec![None; jobs.len()],
        })
    }
}
