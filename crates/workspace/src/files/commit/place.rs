//! Placing: every file gets its name by one atomic operation, and what it displaced is read again.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::At;
use super::failure::{CommitFailure, gone_or};
use super::journal::Change;
use super::restore::{self, Folder};
use super::watch::{Watch, open_to_overwrite};
use super::{Job, Step, Transaction};
use crate::disk::{Disk, Stat};
use crate::files::snapshot::Snapshot;

/// The number of looks at a name that other programs keep changing, before the exchange has to decide.
const LOOKS: usize = 8;

impl Transaction<'_> {
    /// Watches a file that will be displaced, and checks that it is still what the plan was made for. Verifying checks
    /// this too, but here most changes of others are found before anything has moved.
    pub(super) fn recheck(&mut self, at: usize) -> Result<(), CommitFailure> {
        let job = &self.jobs[at];
        // An overwritten file is opened for writing here anyway, and a renamed file is not displaced.
        let is_displaced =
            matches!(self.sites[at].entry.change, Change::Modify | Change::Delete | Change::Move);
        let mut watch = Watch::none();
        if let Some((path, _)) = job.base.filter(|_| is_displaced && self.is_watched()) {
            let name = (&*path.place.dir, path.place.file_name());
            watch = Watch::begin(self.disk, name, &mut self.patience);
            let (dir, name) = self.sites[at].staged();
            self.staged.extend(self.disk.open_file(dir, name).ok());
        }
        self.look(at, Step::Recheck)?;
        if watch.is_open() {
            self.open.push(job.plan.name.clone());
        }
        if !self.seen[at].is_some_and(|seen| watch.is_on(self.disk, &seen)) {
            watch = Watch::none();
        }
        self.watches.push(watch);
        Ok(())
    }

    /// Checks that the name stands for what the plan was made for. Usually this is one call, and it is the last one.
    pub(super) fn look(&mut self, at: usize, step: Step) -> Result<(), CommitFailure> {
        let job = &self.jobs[at];
        let Some((path, base)) = job.base else { return Ok(()) };
        let (dir, name) = (&*path.place.dir, path.place.file_name());
        for _ in 0..LOOKS {
            let now =
                restore::stat(self.disk, (dir, name)).map_err(CommitFailure::io(step, &job.plan.name))?;
            if now.is_some() && now == self.seen[at] {
                break;
            }
            self.compare(job, base, dir, name, step)?;
            self.seen[at] = now;
        }
        Ok(())
    }

    /// Checks that no program waits to write to a watched file.
    pub(super) fn check_no_writer_waits(&self) -> Result<(), CommitFailure> {
        match self.jobs.iter().zip(&self.watches).find(|(_, watch)| watch.is_wanted()) {
            Some((job, _)) => Err(CommitFailure::Overtaken { name: job.plan.name.clone() }),
            None => Ok(()),
        }
    }

    /// Checks that the file has the content that the job was made for.
    fn compare(
        &self,
        job: &Job<'_>,
        base: &Snapshot,
        dir: &Dir,
        name: &OsStr,
        step: Step,
    ) -> Result<(), CommitFailure> {
        let failed = |error| CommitFailure::io(step, &job.plan.name)(error);
        // Comparing bytes is cheaper than hashing, and proves more.
        let same = match restore::open(self.disk, dir, name).map_err(failed)? {
            Some(file) => self.disk.holds(&file, base.text.raw()).map_err(failed)?,
            None => false,
        };
        if same {
            return Ok(());
        }
        let current = restore::version(self.disk, dir, name).map_err(failed)?;
        Err(CommitFailure::Stale { name: job.plan.name.clone(), base: base.text.version(), current })
    }

    /// Creates the missing folders of a new file, and opens the last of them.
    pub(super) fn make_folders(&mut self, at: usize) -> Result<(), CommitFailure> {
        let job = &self.jobs[at];
        let mut dir = Arc::clone(&job.path.place.dir);
        for trail in job.path.place.missing_folders() {
            let failed = |error| CommitFailure::io(Step::MakeFolders, &job.plan.name)(error);
            let (_, folder) = trail.split();
            match self.disk.make_dir(&dir, folder, false) {
                Ok(()) => self.folders.push(Folder { parent: Arc::clone(&dir), name: folder.clone() }),
                // Another file of this patch, another edit or another program has just created it, and may not have made
                // its name durable.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.joined_folders.push(Arc::clone(&dir));
                }
                Err(error) => return Err(failed(error)),
            }
            dir = Arc::new(self.disk.open_dir(&dir, Path::new(folder)).map_err(failed)?);
        }
        self.sites[at].dir = Some(dir);
        Ok(())
    }

    pub(super) fn place(&mut self, at: usize) -> Result<(), CommitFailure> {
        let is_displaced = self.obstacles.files[at].is_some();
        if !is_displaced {
            self.look(at, Step::Place)?;
        }
        let job = &self.jobs[at];
        let site = &mut self.sites[at];
        let Some(dir) = &site.dir else { return Ok(()) };
        let failed = |error| CommitFailure::io(Step::Place, &job.plan.name)(error);
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => CommitFailure::Exists { name: job.plan.name.clone() },
            _ => failed(error),
        };
        let target = (&**dir, job.path.place.file_name());
        let staged = (&*site.staged.0, &*site.staged.1);
        let displaced = (&*site.displaced.0, &*site.displaced.1);
        let old = job.base.map(|(path, _)| (&*path.place.dir, path.place.file_name()));
        match (site.entry.change, old) {
            (Change::Modify, _) => {
                self.disk.exchange(staged, target).map_err(|error| gone_or(error, job, failed))?;
                let out = self.disk.stat(displaced.0, displaced.1).map_err(failed)?;
                if let (Some(seen), Some((_, base))) = (self.seen[at], job.base)
                    && !is_what_was_seen(self.disk, displaced, (&out, &seen), base).map_err(failed)?
                {
                    // Another program renamed its file into place between the look and the exchange. Returned at once,
                    // it is missed for less time.
                    restore::return_theirs(self.disk, site).map_err(failed)?;
                    let current = restore::version(self.disk, target.0, target.1).map_err(failed)?;
                    let (name, base) = (job.plan.name.clone(), base.text.version());
                    return Err(CommitFailure::Stale { name, base, current });
                }
            }
            (Change::Create, _) => self.disk.rename_new(staged, target).map_err(taken)?,
            (Change::Delete, _) if is_displaced => {}
            (Change::Delete, _) => self.displace(at)?,
            (Change::Overwrite, _) => self.overwrite(at)?,
            (Change::Rename, Some(old)) => {
                self.disk.rename_new(old, target).map_err(taken)?;
                // The file actually renamed, in case it has to go back: another program may have replaced it since it
                // was read.
                site.entry.inode = self.disk.stat(target.0, target.1).ok().map(|stat| stat.inode);
            }
            (Change::Move, _) => {
                self.disk.rename_new(staged, target).map_err(taken)?;
                if !is_displaced {
                    self.displace(at)?;
                }
            }
            (Change::Rename, None) => {}
        }
        Ok(())
    }

    /// Moves the old file of a deletion or a move into the vault.
    pub(super) fn displace(&self, at: usize) -> Result<(), CommitFailure> {
        let (job, displaced) = (&self.jobs[at], self.sites[at].displaced());
        let Some((path, _)) = job.base else { return Ok(()) };
        let failed = |error| CommitFailure::io(Step::Place, &job.plan.name)(error);
        let renamed = self.disk.rename_new((&path.place.dir, path.place.file_name()), displaced);
        renamed.map_err(|error| gone_or(error, job, failed))
    }

    /// Overwrites a file that cannot be exchanged. Concurrent readers may see a mixture; the old content is in the
    /// vault, from which it is restored after a crash.
    fn overwrite(&self, at: usize) -> Result<(), CommitFailure> {
        let job = &self.jobs[at];
        let failed = |error| CommitFailure::io(Step::Place, &job.plan.name)(error);
        let (Some((path, base)), Some(pieces)) = (job.base, job.plan.action.pieces()) else { return Ok(()) };
        let (dir, name) = (&*path.place.dir, path.place.file_name());
        let file = open_to_overwrite(self.disk, (dir, name)).map_err(|error| gone_or(error, job, failed))?;
        // Reads through the handle that is written to, so that it is the same file.
        if !self.disk.holds(&file, base.text.raw()).map_err(failed)? {
            self.compare(job, base, dir, name, Step::Recheck)?;
            return Err(CommitFailure::Stale {
                name: job.plan.name.clone(),
                base: base.text.version(),
                current: None,
            });
        }
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.disk.overwrite(&file, &pieces).map_err(failed)?;
        if let Some(executable) = job.plan.executable {
            self.disk.set_executable(&file, executable).map_err(failed)?;
        }
        self.disk.sync_file(&file).map_err(failed)
    }

    /// Reads the displaced file. If it is not what the plan was made for, another program wrote meanwhile.
    pub(super) fn verify(&mut self, at: usize) -> Result<(), CommitFailure> {
        let (job, site) = (&self.jobs[at], &self.sites[at]);
        let failed = |error| CommitFailure::io(Step::Verify, &job.plan.name)(error);
        let Some(dir) = &site.dir else { return Ok(()) };
        let target = (&**dir, job.path.place.file_name());
        if let Some((_, base)) = job.base {
            let (dir, name) = match site.entry.change {
                Change::Rename => target,
                _ => (&*site.displaced.0, &*site.displaced.1),
            };
            self.compare(job, base, dir, name, Step::Verify)?;
        }
        self.now[at] = match site.entry.change {
            Change::Delete => None,
            _ => Some(self.disk.stat(target.0, target.1).map_err(failed)?),
        };
        Ok(())
    }
}

/// Returns whether the file that came out of an exchange is the one seen before it. An overlay may copy a file from a
/// lower layer at that moment, with a new inode: then the content decides, together with all other metadata.
fn is_what_was_seen(
    disk: &dyn Disk,
    at: At<'_>,
    (out, seen): (&Stat, &Stat),
    base: &Snapshot,
) -> io::Result<bool> {
    if out.is_same_file(seen) || !out.is_copy_of(seen) {
        return Ok(out.is_same_file(seen));
    }
    match restore::open(disk, at.0, at.1)? {
        Some(file) => disk.holds(&file, base.text.raw()),
        None => Ok(false),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::Arc;

    use cap_std::ambient_authority;
    use emend_edit::Text;

    use super::*;

    #[test]
    fn a_copy_with_another_number_is_what_was_seen_and_any_other_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "old\n").unwrap();
        let disk = crate::disk::for_this_machine();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let at = (&dir, OsStr::new("a"));
        let seen = disk.stat(at.0, at.1).unwrap();
        let same = |out: &Stat, content: &str| {
            let text = Arc::new(Text::new(content.into()).unwrap());
            is_what_was_seen(&*disk, at, (out, &seen), &Snapshot { text, stat: seen }).unwrap()
        };
        let copy = Stat { inode: seen.inode + 1, device: seen.device + 1, ..seen };
        assert!(same(&seen, "old\n") && same(&copy, "old\n"));
        assert!(!same(&copy, "new\n"));
        assert!(!same(&Stat { modified: None, ..copy }, "old\n"));
        assert!(!same(&Stat { mode: copy.mode ^ 0o100, ..copy }, "old\n"));
    }
}
