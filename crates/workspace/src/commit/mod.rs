//! The commit: a plan becomes files, all of them or none.
//!
//! [`Step`] names the steps in their order; the fault tests fail every call of all of them. Every new content is
//! staged in the vault with its metadata and made durable before any name changes. Then each file is put in
//! place by one atomic operation, and what it displaced is **verified**: if somebody else wrote between our
//! reading and our exchange, theirs is put back and the answer is `stale-file`. Checking before a rename
//! loses updates; checking after an exchange does not.
//!
//! Whatever fails, the same [`restore`](Transaction::restore) runs, in reverse order; it never touches a
//! file that is not ours any more, and it says of each file what became of it.
//!
//! A transaction of one file needs no manifest and no folder: what recovery must know (the target, the
//! version before and after) is the staged file's name, and one fsync covers both. Several files get a
//! folder with a manifest; recovering from it after a crash is the journal's work, which has its place between
//! [`Step::Stage`] and [`Step::Place`].

mod staged;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::Version;
use emend_edit::plan::{Action, FilePlan};
use emend_edit::problem::{Again, FileState, Kind, Problem};
use emend_edit::version::Hashing;

use crate::disk::{Disk, FileKind, Stat};
use crate::fault::{io_problem, is_absent};
use crate::policy::MAX_FILE_BYTES;
use crate::roots::WorkspacePath;
use crate::snapshot::Snapshot;
use crate::vault::Vault;

/// The steps of a commit, in order. Up to `Verify` a failure leaves every file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Write every new content into the vault, with its metadata, and make it durable.
    Stage,
    /// Make the folders of new files.
    MakeFolders,
    /// Put each file in its place by one exchange or rename.
    Place,
    /// Read what was displaced: is it what the plan was made for?
    Verify,
    /// Make the new names durable.
    SyncFolders,
    /// Keep the displaced files as the means to undo.
    Keep,
}

/// One file of a plan with what the workspace knows of it.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a FilePlan,
    pub(crate) path: &'a WorkspacePath,
    /// The file whose content the plan was made for, if there was one: for a move, the old place.
    pub(crate) base: Option<(&'a WorkspacePath, &'a Snapshot)>,
    /// The file whose mode, owner and attributes it gets.
    pub(crate) like: Option<&'a WorkspacePath>,
    /// What the file will be.
    pub(crate) after: Option<Version>,
}

/// Commits these files. On success, what each file is now (`None` where it is gone).
pub(crate) fn commit(
    disk: &dyn Disk,
    vault: &Vault,
    id: &str,
    jobs: &[Job<'_>],
) -> Result<Vec<Option<Stat>>, Problem> {
    let home = Home::make(disk, vault, id, jobs)
        .map_err(|error| io_problem("Making a folder for staged files", &error))?;
    let mut transaction = Transaction { disk, home, files: Vec::new(), folders: Vec::new() };
    let run = catch_unwind(AssertUnwindSafe(|| transaction.run(id, jobs)));
    let failure = match run {
        Ok(Ok(())) => {
            transaction.keep(vault, id);
            return Ok(transaction.files.iter().map(|file| file.now).collect());
        }
        Ok(Err(failure)) => failure,
        Err(_) => Failure::Io {
            step: Step::Place,
            name: String::new(),
            error: io::Error::other("an internal error; please report it"),
        },
    };
    let states = transaction.restore();
    if transaction.home.is_own && transaction.is_empty() {
        drop(transaction.home);
        let _ = disk.remove_dir(&vault.open, id.as_ref());
    }
    Err(failure.into_problem(states))
}

/// Where a transaction stages its files.
struct Home {
    dir: Dir,
    /// Several files, or a name too long to say everything, get a folder with a manifest. A single file
    /// lies among those of other transactions: making a folder for it would double what an fsync writes.
    is_own: bool,
}

impl Home {
    fn make(disk: &dyn Disk, vault: &Vault, id: &str, jobs: &[Job<'_>]) -> io::Result<Self> {
        if !staged::needs_manifest(id, jobs) {
            return Ok(Self { dir: vault.open.try_clone()?, is_own: false });
        }
        disk.make_dir(&vault.open, id.as_ref(), true)?;
        Ok(Self { dir: disk.open_dir(&vault.open, Path::new(id))?, is_own: true })
    }
}

/// Files that cannot be replaced without harm, to be refused before anything is written.
pub(crate) fn special_files(disk: &dyn Disk, jobs: &[Job<'_>]) -> Vec<Problem> {
    let problem = |job: &Job<'_>| {
        let (path, base) = job.base?;
        let replaced = match &job.plan.action {
            Action::Modify { .. } => true,
            Action::Move { edit, .. } => !edit.spans().is_empty(),
            Action::Create { .. } | Action::Delete { .. } => false,
        };
        let kind = if base.stat.read_only {
            Kind::ReadOnly { why: "its mode lets nobody write to it" }
        } else if !disk.may_write(&path.place.dir, path.place.file_name()) {
            Kind::ReadOnly { why: "you may not write to it" }
        } else if replaced && base.stat.links > 1 {
            Kind::HardLinked { names: base.stat.links }
        } else {
            return None;
        };
        Some(Problem::new(kind).at(&path.name))
    };
    jobs.iter().filter_map(problem).collect()
}

struct Transaction<'a> {
    disk: &'a dyn Disk,
    home: Home,
    files: Vec<Placed<'a>>,
    /// Folders that this transaction made: where, and the name.
    folders: Vec<(Dir, OsString)>,
}

/// A file on its way: what is staged, what is in place, what was displaced.
struct Placed<'a> {
    job: &'a Job<'a>,
    /// The folder that the file is or will be in.
    dir: Arc<Dir>,
    /// The name of the staged file in the vault; after an exchange, that of the displaced one.
    slot: OsString,
    /// The version and identity of what was staged.
    staged: Option<(Version, Stat)>,
    progress: Progress,
    now: Option<Stat>,
}

/// How far a file came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing changed outside the vault.
    Waiting,
    /// The new file is in place; the old one, if there was one, is in the vault under `slot`.
    InPlace,
    /// A moved file has its new name, its old one is not yet dealt with.
    NewName,
    /// The old file is in the vault, its name is free.
    Aside,
}

enum Failure {
    Io {
        step: Step,
        name: String,
        error: io::Error,
    },
    /// Somebody else wrote in between.
    Stale {
        name: String,
        base: Version,
        current: Option<Version>,
    },
    Exists {
        name: String,
    },
    Mounted {
        name: String,
    },
}

impl Failure {
    fn io(step: Step, name: &str) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| match error.raw_os_error() {
            // EBUSY: the name is a mount of its own.
            Some(16) if cfg!(unix) && step == Step::Place => Self::Mounted { name: name.into() },
            _ => Self::Io { step, name: name.into(), error },
        }
    }

    fn into_problem(self, states: Vec<(String, FileState)>) -> Problem {
        let clean =
            states.iter().all(|(_, state)| matches!(state, FileState::Untouched | FileState::Restored));
        match self {
            Self::Stale { name, base, current } if clean => {
                let again = Again::Retry;
                let kind = Kind::StaleFile { claimed: base.short(), current, diff: None, again };
                Problem::new(kind).at(&name)
            }
            Self::Exists { name } if clean => {
                let instead = "it came while the edit was made; nothing was changed";
                Problem::new(Kind::AlreadyExists { instead }).at(&name)
            }
            Self::Mounted { name } if clean => Problem::new(Kind::MountPoint).at(&name),
            other => {
                let (what, name) = match other {
                    Self::Io { step, name, error } => (format!("{step:?} failed: {error}."), name),
                    Self::Stale { name, .. } => ("Another program wrote at the same moment.".into(), name),
                    Self::Exists { name } | Self::Mounted { name } => {
                        ("The file could not be placed.".into(), name)
                    }
                };
                let end = if clean {
                    "Nothing was changed."
                } else {
                    "Not every file could be put back; what was displaced is kept in Emend's state folder. Read \
                     these files before you go on:"
                };
                let message = format!("{what} {end}");
                let states = if clean { Vec::new() } else { states };
                let problem = Problem::new(Kind::IoError { message, states });
                if name.is_empty() { problem } else { problem.at(&name) }
            }
        }
    }
}

impl<'a> Transaction<'a> {
    fn run(&mut self, id: &str, jobs: &'a [Job<'a>]) -> Result<(), Failure> {
        if self.home.is_own {
            staged::write_manifest(self.disk, &self.home.dir, id, jobs)
                .map_err(Failure::io(Step::Stage, ""))?;
        }
        for (number, job) in jobs.iter().enumerate() {
            self.stage(id, number, job)?;
        }
        for at in 0..self.files.len() {
            self.make_folders(at)?;
        }
        for at in 0..self.files.len() {
            self.place(at)?;
        }
        for at in 0..self.files.len() {
            self.verify(at)?;
        }
        self.sync_folders()
    }

    fn stage(&mut self, id: &str, number: usize, job: &'a Job<'a>) -> Result<(), Failure> {
        let failed = |error| Failure::io(Step::Stage, &job.plan.name)(error);
        let dir = Arc::clone(&job.path.place.dir);
        let pieces = match &job.plan.action {
            // A mere move keeps its file.
            Action::Move { edit, .. } if edit.spans().is_empty() && job.plan.executable.is_none() => None,
            action => action.pieces(),
        };
        let slot = match self.home.is_own {
            true => number.to_string(),
            false => staged::describe(id, number, job),
        };
        let slot = OsString::from(slot);
        let mut file = Placed { job, dir, slot, staged: None, progress: Progress::Waiting, now: None };
        if let (Some(pieces), Some(after)) = (pieces, job.after) {
            let like = self.open_base(job).map_err(failed)?;
            let new = self.disk.create_file(&self.home.dir, &file.slot, like.as_ref()).map_err(failed)?;
            // From here on the slot must be removed on failure, even if writing it fails.
            let stat = self.disk.stat_file(&new).map_err(failed)?;
            file.staged = Some((after, stat));
            self.files.push(file);
            let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
            self.disk.write(&new, &pieces).map_err(failed)?;
            if let Some(executable) = job.plan.executable {
                self.disk.set_executable(&new, executable).map_err(failed)?;
            }
            self.disk.sync_file(&new).map_err(failed)?;
        } else {
            self.files.push(file);
        }
        Ok(())
    }

    /// The file whose metadata the new one takes over.
    fn open_base(&self, job: &Job<'_>) -> io::Result<Option<File>> {
        let Some(path) = job.like else { return Ok(None) };
        self.disk.open_file(&path.place.dir, path.place.file_name()).map(Some)
    }

    /// Makes the missing folders of a new file, and goes to the last of them.
    fn make_folders(&mut self, at: usize) -> Result<(), Failure> {
        let file = &self.files[at];
        let place = &file.job.path.place;
        let name = &file.job.plan.name;
        let first = place.names.len() - place.missing.max(1);
        let missing = &place.names[first..place.names.len() - 1];
        let mut dir = Arc::clone(&file.dir);
        for folder in missing {
            let failed = |error| Failure::io(Step::MakeFolders, name)(error);
            match self.disk.make_dir(&dir, folder, false) {
                Ok(()) => self.folders.push((dir.try_clone().map_err(failed)?, folder.clone())),
                // Another file of this patch, or somebody else, has just made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            dir = Arc::new(self.disk.open_dir(&dir, Path::new(folder)).map_err(failed)?);
        }
        self.files[at].dir = dir;
        Ok(())
    }

    fn place(&mut self, at: usize) -> Result<(), Failure> {
        let file = &mut self.files[at];
        let name = &file.job.plan.name;
        let failed = |error| Failure::io(Step::Place, name)(error);
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists { name: name.clone() },
            _ => failed(error),
        };
        let target = (&*file.dir, file.job.path.place.file_name());
        let slot = (&self.home.dir, file.slot.as_os_str());
        match &file.job.plan.action {
            Action::Modify { .. } => {
                self.disk.exchange(slot, target).map_err(|error| gone_or(error, file.job, failed))?;
                file.progress = Progress::InPlace;
            }
            Action::Create { .. } => {
                self.disk.rename_new(slot, target).map_err(taken)?;
                file.progress = Progress::InPlace;
            }
            Action::Delete { .. } => {
                self.disk.rename_new(target, slot).map_err(|error| gone_or(error, file.job, failed))?;
                file.progress = Progress::Aside;
            }
            Action::Move { .. } => {
                let Some((from, _)) = file.job.base else { return Ok(()) };
                let old = (&*from.place.dir, from.place.file_name());
                if file.staged.is_none() {
                    self.disk.rename_new(old, target).map_err(taken)?;
                    file.progress = Progress::InPlace;
                    // Which file that was, for the case that it has to go back: somebody may have put
                    // another one there since it was read.
                    file.now = self.disk.stat(target.0, target.1).ok();
                } else {
                    self.disk.rename_new(slot, target).map_err(taken)?;
                    file.progress = Progress::NewName;
                    self.disk.rename_new(old, slot).map_err(|error| gone_or(error, file.job, failed))?;
                    file.progress = Progress::InPlace;
                }
            }
        }
        Ok(())
    }

    /// Reads what was displaced. If it is not what the plan was made for, somebody wrote in between.
    fn verify(&mut self, at: usize) -> Result<(), Failure> {
        let file = &self.files[at];
        let name = &file.job.plan.name;
        let failed = |error| Failure::io(Step::Verify, name)(error);
        let target = (&*file.dir, file.job.path.place.file_name());
        if let Some((_, base)) = file.job.base {
            let mere_move = matches!(file.job.plan.action, Action::Move { .. }) && file.staged.is_none();
            let (dir, displaced) = if mere_move { target } else { (&self.home.dir, file.slot.as_os_str()) };
            // The bytes themselves are compared: that is cheaper than their hash, and proves more.
            let same = match self.open(dir, displaced).map_err(failed)? {
                Some(file) => self.disk.holds(&file, base.text.raw()).map_err(failed)?,
                None => false,
            };
            if !same {
                let current = self.version(dir, displaced).map_err(failed)?;
                return Err(Failure::Stale { name: name.clone(), base: base.text.version(), current });
            }
        }
        let now = match file.job.plan.action {
            Action::Delete { .. } => None,
            _ => Some(self.disk.stat(target.0, target.1).map_err(failed)?),
        };
        self.files[at].now = now;
        Ok(())
    }

    /// A file; `None` where none is, or something that is not a file.
    fn open(&self, dir: &Dir, name: &OsStr) -> io::Result<Option<File>> {
        let file = match self.disk.open_file(dir, name) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => match self.disk.stat(dir, name) {
                Ok(stat) if stat.kind != FileKind::File => return Ok(None),
                _ => return Err(error),
            },
        };
        Ok((self.disk.stat_file(&file)?.kind == FileKind::File).then_some(file))
    }

    /// The version of a file.
    fn version(&self, dir: &Dir, name: &OsStr) -> io::Result<Option<Version>> {
        let Some(file) = self.open(dir, name)? else { return Ok(None) };
        let mut hashing = Hashing::default();
        self.disk.read(&file, MAX_FILE_BYTES, &mut |bytes| hashing.update(bytes))?;
        Ok(Some(hashing.finish()))
    }

    fn sync_folders(&self) -> Result<(), Failure> {
        let made = self.folders.iter().map(|(dir, _)| dir);
        let old = self.files.iter().filter_map(|file| match file.job.plan.action {
            Action::Move { .. } => file.job.base.map(|(path, _)| &*path.place.dir),
            _ => None,
        });
        let all: Vec<&Dir> = self.files.iter().map(|file| &*file.dir).chain(old).chain(made).collect();
        let mut synced = BTreeSet::new();
        for dir in &all {
            let failed = |error| Failure::io(Step::SyncFolders, "")(error);
            // Which of several are the same folder.
            let identity = match all.len() {
                1 => (0, 0),
                _ => {
                    let stat = self.disk.stat(dir, ".".as_ref()).map_err(failed)?;
                    (stat.device, stat.inode)
                }
            };
            if synced.insert(identity) {
                self.disk.sync_dir(dir).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The displaced files become the means to undo. The edit has happened; this cannot fail it.
    fn keep(&self, vault: &Vault, id: &str) {
        let displaced = self.files.iter().filter_map(|file| file.job.base.map(|(_, base)| base.stat.size));
        let name = match &self.files[..] {
            [file] if !self.home.is_own => file.slot.as_os_str(),
            _ => OsStr::new(id),
        };
        // Not the disk's rename: a folder cannot be linked, and the name is new.
        if vault.open.rename(name, &vault.kept, name).is_ok() {
            vault.kept_one(self.disk, displaced.sum());
        }
    }

    /// Puts back what was changed, the last change first. Says of each file what became of it.
    fn restore(&mut self) -> Vec<(String, FileState)> {
        let mut states: Vec<(String, FileState)> = Vec::new();
        for at in (0..self.files.len()).rev() {
            let state = self.restore_file(at);
            states.push((self.files[at].job.plan.name.clone(), state));
        }
        states.reverse();
        for (dir, name) in self.folders.drain(..).rev() {
            // Only if it is empty: somebody may have put something in it.
            let _ = self.disk.remove_dir(&dir, &name);
        }
        if self.home.is_own {
            let _ = self.disk.remove_file(&self.home.dir, staged::MANIFEST.as_ref());
        }
        states
    }

    fn restore_file(&mut self, at: usize) -> FileState {
        let file = &self.files[at];
        let slot = (&self.home.dir, file.slot.as_os_str());
        let target = (&*file.dir, file.job.path.place.file_name());
        let action = &file.job.plan.action;
        let undone = match file.progress {
            Progress::Waiting => {
                if file.staged.is_some() {
                    let _ = self.disk.remove_file(slot.0, slot.1);
                }
                return FileState::Untouched;
            }
            Progress::Aside => self.disk.rename_new(slot, target).is_ok(),
            Progress::InPlace => match action {
                Action::Modify { .. } => self.exchange_back(file),
                Action::Create { .. } => self.take_out(file),
                Action::Move { .. } => match (file.job.base, file.staged) {
                    // Only if it is still the file that we moved.
                    (Some((from, _)), None) => {
                        let is_moved = |moved: &Stat| {
                            self.disk.stat(target.0, target.1).is_ok_and(|stat| stat.is_same_file(moved))
                        };
                        file.now.as_ref().is_none_or(is_moved)
                            && self
                                .disk
                                .rename_new(target, (&*from.place.dir, from.place.file_name()))
                                .is_ok()
                    }
                    (Some((from, _)), Some(_)) => {
                        let old = (&*from.place.dir, from.place.file_name());
                        self.disk.rename_new(slot, old).is_ok() && self.take_out(file)
                    }
                    (None, _) => false,
                },
                Action::Delete { .. } => false,
            },
            Progress::NewName => self.take_out(file),
        };
        if undone { FileState::Restored } else { FileState::Unknown }
    }

    /// Swaps the displaced file back, if ours is still in place. What comes out is looked at again: if
    /// somebody wrote into our file meanwhile, theirs goes back where they put it.
    fn exchange_back(&self, file: &Placed<'_>) -> bool {
        let slot = (&self.home.dir, file.slot.as_os_str());
        let target = (&*file.dir, file.job.path.place.file_name());
        if !self.is_ours(file, target) || self.disk.exchange(slot, target).is_err() {
            return false;
        }
        if self.is_ours(file, slot) {
            return self.disk.remove_file(slot.0, slot.1).is_ok();
        }
        let _ = self.disk.exchange(slot, target);
        false
    }

    /// Takes a new file out of its place again, if it is still ours.
    fn take_out(&self, file: &Placed<'_>) -> bool {
        let slot = (&self.home.dir, file.slot.as_os_str());
        let target = (&*file.dir, file.job.path.place.file_name());
        if !self.is_ours(file, target) || self.disk.rename_new(target, slot).is_err() {
            return false;
        }
        if self.is_ours(file, slot) {
            return self.disk.remove_file(slot.0, slot.1).is_ok();
        }
        let _ = self.disk.rename_new(slot, target);
        false
    }

    /// Whether the file there is the one that we staged, with the content that we gave it.
    fn is_ours(&self, file: &Placed<'_>, at: (&Dir, &OsStr)) -> bool {
        let Some((version, staged)) = &file.staged else { return false };
        self.disk.stat(at.0, at.1).is_ok_and(|stat| stat.is_same_file(staged))
            && self.version(at.0, at.1).is_ok_and(|current| current == Some(*version))
    }

    fn is_empty(&self) -> bool {
        self.disk.names(&self.home.dir).is_ok_and(|names| names.is_empty())
    }
}

/// A file that is gone was changed by somebody else; anything else is a failure.
fn gone_or(error: io::Error, job: &Job<'_>, failed: impl FnOnce(io::Error) -> Failure) -> Failure {
    match job.base {
        Some((path, base)) if is_absent(&error) => {
            Failure::Stale { name: path.name.clone(), base: base.text.version(), current: None }
        }
        _ => failed(error),
    }
}
