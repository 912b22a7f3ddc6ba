//! Durability of names: each folder with changes is synced once, or many together.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::failure::CommitFailure;
use super::{MANY, Step, Transaction};
use crate::files::trail::Trail;

impl Transaction<'_> {
    pub(super) fn sync_folders(&self) -> Result<(), CommitFailure> {
        let failed = |error| CommitFailure::io(Step::SyncFolders, "")(error);
        let made = self.folders.iter().map(|folder| &folder.parent).chain(&self.joined_folders);
        let stays = |path: &Trail| !self.has_lost_folder(path);
        let targets =
            self.sites.iter().filter(|site| stays(&site.entry.path)).filter_map(|site| site.dir.as_ref());
        let old = self.sites.iter().filter(|site| site.entry.from.as_ref().is_some_and(stays));
        let old = old.filter_map(|site| site.from.as_ref());
        let mut all: Vec<&Arc<Dir>> = targets.chain(old).chain(made).collect();
        all.sort_by_key(|dir| Arc::as_ptr(dir));
        all.dedup_by_key(|dir| Arc::as_ptr(dir));
        let [only] = all[..] else { return self.sync_several(&all).map_err(failed) };
        self.disk.sync_dir(only).map_err(failed)
    }

    /// Makes the names in these folders durable: one sync for each folder, or one for many on the same file system.
    fn sync_several(&self, dirs: &[&Arc<Dir>]) -> io::Result<()> {
        let mut synced = BTreeSet::new();
        let mut file_systems = BTreeSet::new();
        for dir in dirs {
            // Several handles may be of the same folder.
            let stat = self.disk.stat(dir, ".".as_ref())?;
            if self.is_many() && dirs.len() >= MANY {
                if file_systems.contains(&stat.device) {
                    continue;
                }
                if self.disk.sync_all(dir)? {
                    file_systems.insert(stat.device);
                    continue;
                }
            }
            if synced.insert((stat.device, stat.inode)) {
                self.disk.sync_dir(dir)?;
            }
        }
        Ok(())
    }
}
