//! What is in the way of an edit: files where it makes folders, and folders where it puts files.
//!
//! Such files are displaced before any folder is made, and the folders that they leave empty are removed. The system
//! removes only an empty folder, so a file that another program puts there in between stays, and the edit is put back.
//!
//! On Windows a folder's name may stay taken as long as any program has the folder open, and nothing could then be put
//! back. So such an edit is refused there before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;
use emend_edit::plan::Action;

use super::failure::CommitFailure;
use super::journal::Emptied;
use super::{Job, Step, Transaction};
use crate::disk::{Disk, FileKind};
use crate::files::trail::Trail;
use crate::problem::{Kind, Problem};

/// The number of names that a refusal shows of what a folder holds.
const SHOWN: usize = 3;

/// What a commit takes out of the way.
pub(super) struct Obstacles {
    /// For each job, if the file that it takes away is in the way: the nearest folder above that stays.
    pub(super) files: Vec<Option<Arc<Dir>>>,
    /// The folders that go once they are empty, outer ones first.
    pub(super) folders: Vec<Emptied>,
}

impl Obstacles {
    pub(super) fn of(disk: &dyn Disk, jobs: &[Job<'_>]) -> io::Result<Self> {
        if !jobs.iter().any(|job| job.path.place.is_obstructed) {
            return Ok(Self { files: vec![None; jobs.len()], folders: Vec::new() });
        }
        let made: BTreeSet<_> = jobs.iter().flat_map(|job| job.path.place.missing_folders()).collect();
        let tops: BTreeMap<_, _> = staying(jobs).map(|job| (&*job.path.place.names, job)).collect();
        let mut emptied = BTreeSet::new();
        let files = jobs.iter().map(|job| {
            let old = &job.base?.0.place;
            let names = vacated(job)?;
            match (1..names.len()).find_map(|end| Some((end, tops.get(&names[..end])?))) {
                Some((top, new)) => {
                    emptied.extend((top..names.len()).map(|end| Trail::new(&names[..end])));
                    Some(Arc::clone(&new.path.place.dir))
                }
                None => made.contains(&Trail::new(names)).then(|| Arc::clone(&old.dir)),
            }
        });
        let files = files.collect();
        let mode = |path: Trail| {
            let (parents, name) = path.split();
            let mode = disk.stat(&disk.open_dir(&jobs[0].path.root.dir, &parents)?, name)?.mode;
            Ok(Emptied { path, mode })
        };
        Ok(Self { files, folders: emptied.into_iter().map(mode).collect::<io::Result<_>>()? })
    }
}

/// Returns the jobs that leave a file.
fn staying<'a, 'b>(jobs: &'b [Job<'a>]) -> impl Iterator<Item = &'b Job<'a>> {
    jobs.iter().filter(|job| job.after.is_some())
}

/// Returns the path that a job leaves without a file.
fn vacated<'a>(job: &Job<'a>) -> Option<&'a [OsString]> {
    let goes = matches!(job.plan.action, Action::Delete { .. } | Action::Move { .. });
    job.base.filter(|_| goes).map(|(path, _)| &*path.place.names)
}

/// Returns a problem for each new file whose path does not become free.
pub(super) fn refuse_obstructed(disk: &dyn Disk, jobs: &[Job<'_>]) -> Vec<Problem> {
    if jobs.iter().all(|job| job.path.place.missing <= 1 && !job.path.place.is_obstructed) {
        return Vec::new();
    }
    let files: BTreeSet<_> = staying(jobs).map(|job| &*job.path.place.names).collect();
    let gone: BTreeSet<_> = jobs.iter().filter_map(vacated).collect();
    let why_not = |job: &Job<'_>| {
        let place = &job.path.place;
        let below_file = || Some(Kind::NotAFile { what: "below a file, not below a folder" });
        if (1..place.names.len()).any(|end| files.contains(&place.names[..end])) {
            return below_file();
        }
        if cfg!(windows) && place.is_obstructed {
            let folder = Some(Kind::NotAFile { what: "a folder" });
            return if place.missing <= 1 { folder } else { below_file() };
        }
        let first = place.names.len() - place.missing.max(1);
        let stands = disk.stat(&place.dir, &place.names[first]).ok().filter(|_| place.is_obstructed)?;
        match (stands.kind, place.missing) {
            (FileKind::Dir, 1) => {
                let mut more = Vec::new();
                let looked = hold_more(disk, job, &mut place.names.clone(), &gone, &mut more);
                let names: Vec<String> = more.iter().flatten().take(SHOWN).cloned().collect();
                let is_all = looked.is_ok() && names.len() == more.len();
                (!is_all || !more.is_empty()).then_some(Kind::FolderHolds { names, is_all })
            }
            (FileKind::Dir, _) | (_, 1) => None,
            _ if gone.contains(&place.names[..=first]) => None,
            _ => below_file(),
        }
    };
    staying(jobs).filter_map(|job| Some(Problem::new(why_not(job)?).at(&job.path.name))).collect()
}

/// Adds what a folder holds beyond the files that go. A path that may not be read is not named.
fn hold_more(
    disk: &dyn Disk,
    job: &Job<'_>,
    names: &mut Vec<OsString>,
    gone: &BTreeSet<&[OsString]>,
    more: &mut Vec<Option<String>>,
) -> io::Result<()> {
    let root = &job.path.root;
    let dir = disk.open_dir(&root.dir, &names.iter().collect::<PathBuf>())?;
    let mut entries = disk.entries(&dir, gone.len() + SHOWN + 1)?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, kind) in entries {
        names.push(name);
        if kind == FileKind::Dir && gone.iter().any(|file| file.starts_with(names)) {
            hold_more(disk, job, names, gone, more)?;
        } else if !gone.contains(&**names) {
            let inside: Vec<_> =
                names[job.path.place.names.len()..].iter().map(|name| name.to_string_lossy()).collect();
            let shown = || format!("{}/{}", job.path.name, inside.join("/"));
            more.push(root.policy.may_read(names).is_ok().then(shown));
        }
        names.pop();
        if more.len() > SHOWN {
            break;
        }
    }
    Ok(())
}

impl Transaction<'_> {
    /// Displaces the files that are in the way, and removes the folders that they leave empty.
    pub(super) fn clear_way(&mut self) -> Result<(), CommitFailure> {
        for at in 0..self.jobs.len() {
            if self.obstacles.files[at].is_some() {
                self.look(at, Step::Place)?;
                self.displace(at)?;
            }
        }
        for emptied in self.obstacles.folders.iter().rev() {
            let shown = emptied.path.shown();
            let (parents, name) = emptied.path.split();
            let parent = self.disk.open_dir(&self.jobs[0].path.root.dir, &parents);
            let removed = parent.and_then(|parent| self.disk.remove_dir(&parent, name));
            removed.map_err(|error| match error.kind() {
                io::ErrorKind::DirectoryNotEmpty => CommitFailure::Filled { name: shown },
                _ => CommitFailure::io(Step::Place, &shown)(error),
            })?;
        }
        Ok(())
    }

    /// Returns whether the folder of this path was removed.
    pub(super) fn has_lost_folder(&self, path: &Trail) -> bool {
        let parents = path.names().split_last().map_or(&[][..], |(_, parents)| parents);
        self.obstacles.folders.iter().any(|emptied| emptied.path.names() == parents)
    }
}
