//! Staging: every new content is written where one rename can put it in place, with its metadata, and made durable.

use std::fs::File;
use std::io;

use emend_edit::plan::Action;

use super::failure::CommitFailure;
use super::journal::Change;
use super::{Job, Like, Step, Transaction};
use crate::disk::Disk;
use crate::files::snapshot;
use crate::problem::{Kind, Problem, SeveralNames};

/// Returns problems for files that cannot be replaced without harm, before anything is written.
pub(crate) fn special_files(disk: &dyn Disk, jobs: &[Job<'_>]) -> Vec<Problem> {
    // An overwritten file must not also be changed under another of its names.
    let identity = |job: &Job<'_>| job.base.map(|(_, base)| (base.stat.device, base.stat.inode));
    let is_twice = |job: &Job<'_>| {
        job.in_place && jobs.iter().filter(|other| identity(other) == identity(job)).count() > 1
    };
    let problem = |job: &Job<'_>| {
        let (path, base) = job.base?;
        if job.in_place
            && let Some(kind) = snapshot::why_not_by_all_names(disk, path, &base.stat)
        {
            return Some(Problem::new(kind).at(&path.name));
        }
        let replaced = match &job.plan.action {
            Action::Modify { .. } => !job.in_place,
            // What is in the way of another file is not renamed, but replaced.
            Action::Move { .. } => {
                !job.is_mere_rename() || jobs.iter().any(|job| job.path.place.is_obstructed)
            }
            Action::Create { .. } | Action::Delete { .. } => false,
        };
        let may_write_all = path.root.policy.terms().write_read_only;
        let kind = if base.stat.read_only && !may_write_all {
            Kind::ReadOnly { why: "its mode lets nobody write to it" }
        } else if !base.stat.read_only && !disk.may_write(&path.place.dir, path.place.file_name()) {
            Kind::ReadOnly { why: "you may not write to it" }
        } else if replaced && base.stat.links > 1 {
            Kind::HardLinked { names: base.stat.links, why: SeveralNames::WouldPart }
        } else if is_twice(job) {
            Kind::HardLinked { names: base.stat.links, why: SeveralNames::InOneRequest }
        } else {
            return None;
        };
        Some(Problem::new(kind).at(&path.name))
    };
    let mut problems: Vec<Problem> = jobs.iter().filter_map(problem).collect();
    problems.extend(super::way::refuse_obstructed(disk, jobs));
    problems.extend(super::git::refuse_changes(disk, jobs));
    problems
}

impl Transaction<'_> {
    pub(super) fn stage(&mut self, at: usize) -> Result<(), CommitFailure> {
        let job = &self.jobs[at];
        self.stage_job(at).map_err(CommitFailure::io(Step::Stage, &job.plan.name))
    }

    fn stage_job(&mut self, at: usize) -> io::Result<()> {
        let (job, site) = (&self.jobs[at], &mut self.sites[at]);
        if site.entry.change == Change::Rename {
            // The file to rename, in case it has to go back.
            site.entry.inode = job.base.map(|(_, base)| base.stat.inode);
            return Ok(());
        }
        let Some(pieces) = job.plan.action.pieces() else { return Ok(()) };
        let like = open_like(self.disk, job)?;
        let new = self.disk.create_file(&site.staged.0, &site.staged.1, like.as_ref())?;
        site.entry.inode = Some(self.disk.stat_file(&new)?.inode);
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.disk.write(&new, &pieces)?;
        if let Some(executable) = job.plan.executable {
            self.disk.set_executable(&new, executable)?;
        }
        if site.entry.change == Change::Overwrite
            && let Some((_, base)) = job.base
        {
            // The old content of an overwritten file is copied first, because nothing displaces it.
            let copy = self.disk.create_file(&site.displaced.0, &site.displaced.1, like.as_ref())?;
            self.disk.write(&copy, &[base.text.raw()])?;
            self.disk.sync_file(&copy)?;
        }
        let is_synced_later = self.is_many() && self.disk.syncs_what_it_reads();
        if !is_synced_later || self.sites[at].entry.staged_beside {
            self.disk.sync_file(&new)?;
        }
        Ok(())
    }

    /// Syncs many staged files together.
    pub(super) fn sync_staged(&self) -> Result<(), CommitFailure> {
        if !self.is_many() || !self.disk.syncs_what_it_reads() {
            return Ok(());
        }
        let failed = |error| CommitFailure::io(Step::Stage, "")(error);
        if self.disk.sync_all(&self.home.dir).map_err(failed)? {
            return Ok(());
        }
        for site in self.sites.iter().filter(|site| site.has_staged()) {
            let file = self.disk.open_file(&site.staged.0, &site.staged.1).map_err(failed)?;
            self.disk.sync_file(&file).map_err(failed)?;
        }
        Ok(())
    }
}

/// Opens the file whose metadata the new one gets.
fn open_like(disk: &dyn Disk, job: &Job<'_>) -> io::Result<Option<File>> {
    match job.like {
        None => Ok(None),
        Some(Like::Path(path)) => disk.open_file(&path.place.dir, path.place.file_name()).map(Some),
        Some(Like::File(file)) => file.try_clone().map(Some),
    }
}
