//! The commit: a plan becomes files, all of them or none.
//!
//! [`Step`] names the steps in their order; the fault tests fail every call of all of them, and kill the process
//! at each. Every new content is staged in the vault with its metadata and made durable before any name changes.
//! Then each file is put in place by one atomic operation, and what it displaced is **verified**: if somebody else
//! wrote between our reading and our exchange, theirs is put back and the answer is `stale-file`. Checking before a
//! rename loses updates; checking after an exchange does not.
//!
//! Whatever fails, [`restore`](mod@restore) puts the files back, and so does [`recovery`](crate::recovery) after a
//! crash: the same code, which looks at what is on the disk and not at what was done.
//!
//! A transaction of one file needs no journal and no folder: what recovery must know is the staged file's name,
//! and one fsync covers both. It has the steps Stage, Place, Verify, SyncFolders and Keep.

pub(crate) mod journal;
pub(crate) mod restore;
mod stage;
pub(crate) mod trail;

pub(crate) use stage::special_files;

use std::collections::{BTreeSet, HashMap, hash_map};
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

use self::journal::{COMMITTED, Change, Entry, Journal, PREPARED};
use self::restore::{Ending, Folder, Site};
use crate::disk::{Disk, Stat};
use crate::fault::{io_problem, is_absent};
use crate::prepared::{Phase, Progress};
use crate::roots::WorkspacePath;
use crate::snapshot::Snapshot;
use crate::vault::Vault;

/// The steps of a commit, in order. A crash up to `SyncFolders` leaves every file as it was, once recovery has
/// run; one after `Finish` leaves every file new. A single file, whose name is its journal, counts as new from
/// `Place` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Write every new content into the vault, with its metadata, and make it durable.
    Stage,
    /// Write down what is going to happen, and make that durable.
    Prepare,
    /// Is every file still what the plan was made for?
    Recheck,
    /// Make the folders of new files.
    MakeFolders,
    /// Put each file in its place by one exchange or rename.
    Place,
    /// Read what was displaced: is it what the plan was made for?
    Verify,
    /// Make the new names durable.
    SyncFolders,
    /// Write down that it has happened.
    Finish,
    /// Keep the displaced files as the means to undo.
    Keep,
}

/// From this many files on, one sync of the file system is cheaper than one for each.
const MANY: usize = 100;

/// One file of a plan with what the workspace knows of it.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a FilePlan,
    pub(crate) path: &'a WorkspacePath,
    /// The file whose content the plan was made for, if there was one: for a move, the old place.
    pub(crate) base: Option<(&'a WorkspacePath, &'a Snapshot)>,
    /// The file whose mode, owner and attributes it gets.
    pub(crate) like: Option<Like<'a>>,
    /// What the file will be.
    pub(crate) after: Option<Version>,
    /// Whether it is to be written over, since a new file would part its names or not take its mount.
    pub(crate) in_place: bool,
}

/// A file whose metadata another one gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Like<'a> {
    /// One of the workspace.
    Path(&'a WorkspacePath),
    /// One that is open: a kept one.
    File(&'a File),
}

impl Job<'_> {
    /// Whether the file only gets another name, and stays the file that it is.
    pub(crate) fn is_mere_rename(&self) -> bool {
        matches!(&self.plan.action, Action::Move { edit, .. } if edit.spans().is_empty())
            && self.plan.executable.is_none()
    }
}

/// An edit that has happened.
#[derive(Debug)]
pub(crate) struct Committed {
    /// What each file is now; `None` where it is gone.
    pub(crate) stats: Vec<Option<Stat>>,
    /// What was done to each.
    pub(crate) entries: Vec<Entry>,
    /// Where the displaced file of each is, beneath the history.
    pub(crate) kept: Vec<Option<String>>,
    /// What is kept of all of it there.
    pub(crate) name: OsString,
}

/// Commits these files. `progress` hears how many of them are staged or in place.
pub(crate) fn commit(
    disk: &dyn Disk,
    vault: &Vault,
    id: &str,
    jobs: &[Job<'_>],
    progress: &dyn Fn(Progress),
) -> Result<Committed, Problem> {
    let mut transaction = Transaction::begin(disk, vault, id, jobs)
        .map_err(|error| io_problem("Making a folder for staged files", &error))?;
    let run = catch_unwind(AssertUnwindSafe(|| transaction.run(progress)));
    let failure = match run {
        Ok(Ok(())) => {
            let (name, kept) = transaction.keep();
            let Transaction { sites, now, .. } = transaction;
            let entries = sites.into_iter().map(|site| site.entry).collect();
            return Ok(Committed { stats: now, entries, kept, name });
        }
        Ok(Err(failure)) => failure,
        Err(_) => Failure::Io {
            step: Step::Place,
            name: String::new(),
            error: io::Error::other("an internal error; please report it"),
        },
    };
    Err(failure.into_problem(transaction.restore()))
}

struct Transaction<'a> {
    disk: &'a dyn Disk,
    vault: &'a Vault,
    id: &'a str,
    jobs: &'a [Job<'a>],
    home: Home,
    sites: Vec<Site>,
    /// Folders that this transaction makes.
    folders: Vec<Folder>,
    /// Whether any name outside of the vault may have changed.
    placed: bool,
    now: Vec<Option<Stat>>,
}

/// Where a transaction stages its files.
struct Home {
    dir: Arc<Dir>,
    /// The name of its own folder. A single file lies among those of other transactions: making a folder for it
    /// would double what an fsync writes.
    folder: Option<String>,
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

    fn into_problem(self, ending: Ending) -> Problem {
        let states = ending.states;
        let is_clean = |(_, state): &(String, FileState)| {
            matches!(state, FileState::Untouched | FileState::Restored | FileState::Theirs)
        };
        let clean = states.iter().all(is_clean);
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
                let untouched = |(_, state): &(String, FileState)| {
                    matches!(state, FileState::Untouched | FileState::Restored)
                };
                let end = if states.iter().all(untouched) {
                    "Nothing was changed."
                } else if clean {
                    "Nothing of this edit remains. Read these files before you go on:"
                } else {
                    "Not every file could be put back; what was displaced is kept in Emend's state folder. Read \
                     these files before you go on:"
                };
                let message = format!("{what} {end}");
                let states = if states.iter().all(untouched) { Vec::new() } else { states };
                let problem = Problem::new(Kind::IoError { message, states });
                if name.is_empty() { problem } else { problem.at(&name) }
            }
        }
    }
}

impl<'a> Transaction<'a> {
    /// Decides where everything is staged. The only change is a folder in the vault.
    fn begin(disk: &'a dyn Disk, vault: &'a Vault, id: &'a str, jobs: &'a [Job<'a>]) -> io::Result<Self> {
        let mut near: HashMap<*const Dir, bool> = HashMap::new();
        let mut is_near = |dir: &Arc<Dir>| match near.entry(Arc::as_ptr(dir)) {
            hash_map::Entry::Occupied(known) => Ok::<_, io::Error>(*known.get()),
            hash_map::Entry::Vacant(new) => Ok(*new.insert(disk.same_mount(&vault.open, dir)?)),
        };
        let mut entries: Vec<Entry> = Vec::with_capacity(jobs.len());
        for job in jobs {
            let mut entry = Entry::of(job);
            let from = job.base.map(|(path, _)| &path.place.dir);
            if entry.change == Change::Rename
                && let Some(from) = from
                && !Arc::ptr_eq(from, &job.path.place.dir)
                && !disk.same_mount(from, &job.path.place.dir)?
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
        // A name says nothing of folders that are made on the way.
        let makes_folders = jobs.iter().any(|job| job.path.place.missing > 1);
        let one_name = match &entries[..] {
            [entry] if !makes_folders => journal::file_name(vault, id, entry),
            _ => None,
        };
        let home = match &one_name {
            Some(_) => Home { dir: Arc::new(vault.open.try_clone()?), folder: None },
            None => {
                let name = journal::folder_name(vault, id);
                disk.make_dir(&vault.open, name.as_ref(), true)?;
                Home { dir: Arc::new(disk.open_dir(&vault.open, Path::new(&name))?), folder: Some(name) }
            }
        };
        let site = |(number, (job, entry)): (usize, (&Job<'_>, Entry))| {
            let (staged, displaced) = match &one_name {
                Some(name) => (name.clone(), name.clone()),
                None => entry.slots(id, number),
            };
            let from = job.base.map(|(path, _)| Arc::clone(&path.place.dir));
            let beside = |beside: bool, dir: &Arc<Dir>| Arc::clone(if beside { dir } else { &home.dir });
            let staged_at = beside(entry.staged_beside, &job.path.place.dir);
            let displaced_at = beside(entry.displaced_beside, from.as_ref().unwrap_or(&job.path.place.dir));
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
        let now = vec![None; jobs.len()];
        Ok(Self { disk, vault, id, jobs, home, sites, folders: Vec::new(), placed: false, now })
    }

    fn run(&mut self, progress: &dyn Fn(Progress)) -> Result<(), Failure> {
        let total = self.jobs.len();
        let tell = |what, done| progress(Progress { what, done, total });
        for at in 0..self.jobs.len() {
            tell(Phase::Stage, at);
            self.stage(at)?;
        }
        self.sync_staged()?;
        if self.home.folder.is_some() {
            self.prepare()?;
            (0..self.jobs.len()).try_for_each(|at| self.recheck(at))?;
        }
        self.placed = true;
        for at in 0..self.jobs.len() {
            self.make_folders(at)?;
        }
        for at in 0..self.jobs.len() {
            tell(Phase::Place, at);
            self.place(at)?;
        }
        for at in 0..self.jobs.len() {
            self.verify(at)?;
        }
        self.sync_folders()?;
        if self.home.folder.is_some() {
            self.finish()?;
        }
        Ok(())
    }

    fn is_many(&self) -> bool {
        self.jobs.len() >= MANY
    }

    /// Writes down what is about to happen.
    fn prepare(&self) -> Result<(), Failure> {
        let mut folders: Vec<_> = self.jobs.iter().flat_map(|job| job.path.place.missing_folders()).collect();
        folders.dedup();
        let journal = Journal {
            id: self.id.into(),
            files: self.sites.iter().map(|site| site.entry.clone()).collect(),
            folders,
        };
        journal.prepare(self.disk, self.vault, &self.home.dir).map_err(Failure::io(Step::Prepare, ""))
    }

    /// Is the file still what the plan was made for? Verifying answers that too, but this finds most of what
    /// somebody wrote meanwhile before anything was moved.
    fn recheck(&self, at: usize) -> Result<(), Failure> {
        let job = &self.jobs[at];
        let Some((path, base)) = job.base else { return Ok(()) };
        let failed = |error| Failure::io(Step::Recheck, &job.plan.name)(error);
        let (dir, name) = (&*path.place.dir, path.place.file_name());
        match self.disk.stat(dir, name) {
            Ok(stat) if stat == base.stat => return Ok(()),
            Err(error) if !is_absent(&error) => return Err(failed(error)),
            _ => {}
        }
        self.compare(job, base, dir, name, Step::Recheck)
    }

    /// Whether this is what the job was made for.
    fn compare(
        &self,
        job: &Job<'_>,
        base: &Snapshot,
        dir: &Dir,
        name: &OsStr,
        step: Step,
    ) -> Result<(), Failure> {
        let failed = |error| Failure::io(step, &job.plan.name)(error);
        // The bytes themselves are compared: that is cheaper than their hash, and proves more.
        let same = match restore::open(self.disk, dir, name).map_err(failed)? {
            Some(file) => self.disk.holds(&file, base.text.raw()).map_err(failed)?,
            None => false,
        };
        if same {
            return Ok(());
        }
        let current = restore::version(self.disk, dir, name).map_err(failed)?;
        Err(Failure::Stale { name: job.plan.name.clone(), base: base.text.version(), current })
    }

    /// Makes the missing folders of a new file, and goes to the last of them.
    fn make_folders(&mut self, at: usize) -> Result<(), Failure> {
        let job = &self.jobs[at];
        let mut dir = Arc::clone(&job.path.place.dir);
        for trail in job.path.place.missing_folders() {
            let failed = |error| Failure::io(Step::MakeFolders, &job.plan.name)(error);
            let (_, folder) = trail.split();
            match self.disk.make_dir(&dir, folder, false) {
                Ok(()) => self.folders.push(Folder { parent: Arc::clone(&dir), name: folder.clone() }),
                // Another file of this patch, or somebody else, has just made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            dir = Arc::new(self.disk.open_dir(&dir, Path::new(folder)).map_err(failed)?);
        }
        self.sites[at].dir = Some(dir);
        Ok(())
    }

    fn place(&mut self, at: usize) -> Result<(), Failure> {
        let job = &self.jobs[at];
        let site = &mut self.sites[at];
        let Some(dir) = &site.dir else { return Ok(()) };
        let failed = |error| Failure::io(Step::Place, &job.plan.name)(error);
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists { name: job.plan.name.clone() },
            _ => failed(error),
        };
        let target = (&**dir, job.path.place.file_name());
        let staged = (&*site.staged.0, &*site.staged.1);
        let displaced = (&*site.displaced.0, &*site.displaced.1);
        let old = job.base.map(|(path, _)| (&*path.place.dir, path.place.file_name()));
        match (site.entry.change, old) {
            (Change::Modify, _) => {
                self.disk.exchange(staged, target).map_err(|error| gone_or(error, job, failed))?;
            }
            (Change::Create, _) => self.disk.rename_new(staged, target).map_err(taken)?,
            (Change::Delete, _) => {
                self.disk.rename_new(target, displaced).map_err(|error| gone_or(error, job, failed))?;
            }
            (Change::Overwrite, _) => self.overwrite(at)?,
            (Change::Rename, Some(old)) => {
                self.disk.rename_new(old, target).map_err(taken)?;
                // Which file that was, in case it has to go back: somebody may have put another one there
                // since it was read.
                site.entry.inode = self.disk.stat(target.0, target.1).ok().map(|stat| stat.inode);
            }
            (Change::Move, Some(old)) => {
                self.disk.rename_new(staged, target).map_err(taken)?;
                self.disk.rename_new(old, displaced).map_err(|error| gone_or(error, job, failed))?;
            }
            (Change::Rename | Change::Move, None) => {}
        }
        Ok(())
    }

    /// Writes over a file that cannot be exchanged. It is not atomic for who reads it meanwhile; what was there
    /// is in the vault, and after a crash comes from there.
    fn overwrite(&self, at: usize) -> Result<(), Failure> {
        let job = &self.jobs[at];
        let failed = |error| Failure::io(Step::Place, &job.plan.name)(error);
        let (Some((path, base)), Some(pieces)) = (job.base, job.plan.action.pieces()) else { return Ok(()) };
        let (dir, name) = (&*path.place.dir, path.place.file_name());
        self.compare(job, base, dir, name, Step::Recheck)?;
        let file = self.disk.open_to_overwrite(dir, name).map_err(|error| gone_or(error, job, failed))?;
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.disk.overwrite(&file, &pieces).map_err(failed)?;
        if let Some(executable) = job.plan.executable {
            self.disk.set_executable(&file, executable).map_err(failed)?;
        }
        self.disk.sync_file(&file).map_err(failed)
    }

    /// Reads what was displaced. If it is not what the plan was made for, somebody wrote in between.
    fn verify(&mut self, at: usize) -> Result<(), Failure> {
        let (job, site) = (&self.jobs[at], &self.sites[at]);
        let failed = |error| Failure::io(Step::Verify, &job.plan.name)(error);
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

    fn sync_folders(&self) -> Result<(), Failure> {
        let failed = |error| Failure::io(Step::SyncFolders, "")(error);
        let made = self.folders.iter().map(|folder| &folder.parent);
        let targets = self.sites.iter().filter_map(|site| site.dir.as_ref());
        let old =
            self.sites.iter().filter(|site| site.entry.from.is_some()).filter_map(|site| site.from.as_ref());
        let mut all: Vec<&Arc<Dir>> = targets.chain(old).chain(made).collect();
        all.sort_by_key(|dir| Arc::as_ptr(dir));
        all.dedup_by_key(|dir| Arc::as_ptr(dir));
        let [only] = all[..] else { return self.sync_several(&all).map_err(failed) };
        self.disk.sync_dir(only).map_err(failed)
    }

    /// Makes the names in these folders durable: each once, or many of a file system together.
    fn sync_several(&self, dirs: &[&Arc<Dir>]) -> io::Result<()> {
        let mut synced = BTreeSet::new();
        let mut file_systems = BTreeSet::new();
        for dir in dirs {
            // Several handles may be the same folder.
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

    /// From here on everything is new.
    fn finish(&self) -> Result<(), Failure> {
        let home = &*self.home.dir;
        let failed = |error| Failure::io(Step::Finish, "")(error);
        self.disk.rename_new((home, PREPARED.as_ref()), (home, COMMITTED.as_ref())).map_err(failed)?;
        self.disk.sync_dir(home).or_else(|error| {
            // Not known to be durable, so it is not done, if that can still be said.
            let taken_back = self.disk.rename_new((home, COMMITTED.as_ref()), (home, PREPARED.as_ref()));
            if taken_back.is_ok() { Err(failed(error)) } else { Ok(()) }
        })
    }

    /// The displaced files become the means to undo. The edit has happened; this cannot fail it: what is left
    /// undone here is done by the next recovery. Yields its name there, and where the displaced file of each is.
    fn keep(&self) -> (OsString, Vec<Option<String>>) {
        let displaced = self.jobs.iter().filter_map(|job| job.base.map(|(_, base)| base.stat.size));
        let name: OsString = match (&self.home.folder, &self.sites[..]) {
            (Some(folder), _) => folder.into(),
            (None, [site, ..]) => site.displaced.1.clone(),
            (None, []) => OsString::new(),
        };
        let is_home = restore::bring_home(self.disk, &self.home.dir, &self.sites).is_ok();
        let kept = self.sites.iter().enumerate().map(|(number, site)| {
            let has_displaced = !matches!(site.entry.change, Change::Create | Change::Rename);
            has_displaced.then(|| match &self.home.folder {
                Some(folder) => format!("{folder}/{}", Entry::kept_slot(&site.entry, number)),
                None => name.to_string_lossy().into_owned(),
            })
        });
        let kept = kept.collect();
        if is_home && restore::finish(self.vault, &name).is_ok() {
            self.vault.kept_one(self.disk, displaced.sum());
        }
        (name, kept)
    }

    /// Puts everything back, and says of each file what became of it.
    fn restore(mut self) -> Ending {
        let sites = std::mem::take(&mut self.sites);
        let untouched = |site: &Site| (site.shown.clone(), FileState::Untouched);
        let states = match self.placed {
            true => restore::put_back(self.disk, &sites, &self.folders),
            false => sites.iter().map(untouched).collect(),
        };
        let name = self.home.folder.clone().map(OsString::from);
        let home = restore::Tx { vault: self.vault, dir: &self.home.dir, folder: name.as_deref() };
        restore::clear(self.disk, &home, &sites, self.placed, states)
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
