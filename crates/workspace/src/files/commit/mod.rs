//! The commit: a plan becomes files, all of them or none.
//!
//! [`Step`] names the steps in order; the fault tests make every call in each of them fail, and kill the process at
//! each. Every new content is staged in the vault with its metadata and made durable before any name changes. Then each
//! file is put in place by one atomic operation (on Windows by three renames, which recovery finishes or takes back), and what
//! it displaced is **verified**: if another program wrote
//! between our reading and our exchange, its file is put back and the answer is `stale-file`. Checking before a rename
//! loses updates; checking after an exchange does not. From the last look until that check the files are watched
//! ([`watch`](mod@watch)): if another program opens one for writing, the commit is undone and retried.
//!
//! After any failure, [`restore`](mod@restore) puts the files back; after a crash, [`recovery`](crate::files::recovery)
//! does so with the same code, which looks at the disk and not at what was done.
//!
//! A transaction of one file needs neither journal nor folder: the staged file's name contains all that recovery needs,
//! and one fsync covers both. It has the steps Stage, Recheck, Place, Verify, SyncFolders and Keep.

mod begin;
mod failure;
mod git;
pub(crate) mod journal;
mod place;
pub(crate) mod restore;
mod stage;
mod sync;
pub(crate) mod tidy;
mod watch;
mod way;

pub(crate) use stage::special_files;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::Version;
use emend_edit::plan::{Action, FilePlan};

use self::failure::CommitFailure;
use self::journal::{COMMITTED, Change, Entry, Journal, PREPARED};
use self::restore::{Folder, Site};
use self::tidy::RestoreOutcome;
use self::watch::{Patience, Watch};
use self::way::Obstacles;
use crate::disk::fault::io_problem;
use crate::disk::{Disk, Stat};
use crate::files::call::CallDigest;
use crate::files::effort::{Phase, Progress};
use crate::files::roots::WorkspacePath;
use crate::files::snapshot::Snapshot;
use crate::files::vault::Vault;
use crate::problem::{FileState, Problem};

/// A name in an open folder.
type At<'a> = (&'a Dir, &'a OsStr);

/// The steps of a commit, in order. After a crash up to `SyncFolders`, recovery leaves every file as it was; after
/// `Finish`, every file is new. A single file, whose name is its journal, counts as new from `Place` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Write every new content into the vault, with its metadata, and make it durable.
    Stage,
    /// Write down what will happen, durably.
    Prepare,
    /// Check that every file is still what the plan was made for. From here on the files are watched.
    Recheck,
    /// Take away what is in the way of new folders and files, and create the folders of new files.
    MakeFolders,
    /// Put each file in its place by one exchange or rename.
    Place,
    /// Check that the displaced files are what the plan was made for.
    Verify,
    /// Make the new names durable.
    SyncFolders,
    /// Write down that it has happened.
    Finish,
    /// Keep the displaced files for undo, once the edit is recorded.
    Keep,
}

/// The number of files from which one sync of the file system is cheaper than one for each.
const MANY: usize = 100;

/// The largest number of files that are watched: each watch takes two handles, and an edit that runs out of handles
/// half way could not put its files back.
const WATCHED: usize = 4;
/// The number of handles that checking and putting back need at most.
const SPARE: usize = 8;

/// One file of a plan with its path, its metadata and its versions.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a FilePlan,
    pub(crate) path: &'a WorkspacePath,
    /// The file whose content the plan was made for, if any; for a move, the old path.
    pub(crate) base: Option<(&'a WorkspacePath, &'a Snapshot)>,
    /// The file whose mode, owner and attributes the new one gets.
    pub(crate) like: Option<Like<'a>>,
    /// The version that the file will have.
    pub(crate) after: Option<Version>,
    /// Whether the file is overwritten in place, because a new file would lose its other names or its mount.
    pub(crate) in_place: bool,
}

/// A file whose metadata is copied to a new one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Like<'a> {
    /// A file of the workspace.
    Path(&'a WorkspacePath),
    /// An open file from the history.
    File(&'a File),
}

impl Job<'_> {
    /// Returns whether the file is only renamed, and stays the same file.
    pub(crate) fn is_mere_rename(&self) -> bool {
        matches!(&self.plan.action, Action::Move { edit, .. } if edit.spans().is_empty())
            && self.plan.executable.is_none()
    }
}

/// The identity of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TxId<'a> {
    /// The edit.
    pub(crate) edit: &'a str,
    /// The call that made it, if that is to be recognised when it is sent again.
    pub(crate) call: Option<CallDigest>,
}

/// The result of a commit. The transaction stays among the open ones until it is [kept](Committed::keep); recovery records
/// those that it finds there.
#[must_use = "it is to be kept"]
pub(crate) struct Committed {
    /// The metadata of each new file; `None` for deleted ones.
    pub(crate) stats: Vec<Option<Stat>>,
    /// The entry of each file.
    pub(crate) entries: Vec<Entry>,
    /// The path of each displaced file, beneath the history folder.
    pub(crate) kept: Vec<Option<String>>,
    /// The name of the file or folder kept there.
    pub(crate) name: OsString,
    /// The files that another program had open for writing. It may still write to the displaced ones.
    pub(crate) open: Vec<String>,
    home: Arc<Dir>,
    sites: Vec<Site>,
    /// The total size of the displaced files.
    displaced: u64,
}

/// Commits these files. `progress` reports how many of them are staged or in place.
pub(crate) fn commit(
    disk: &dyn Disk,
    vault: &Vault,
    id: TxId<'_>,
    jobs: &[Job<'_>],
    progress: &dyn Fn(Progress),
) -> Result<Committed, Problem> {
    let mut transaction = Transaction::begin(disk, vault, id, jobs)
        .map_err(|error| io_problem("Making a folder for staged files", &error))?;
    let run = catch_unwind(AssertUnwindSafe(|| transaction.run(progress)));
    let failure = match run {
        Ok(Ok(())) => return Ok(transaction.into_committed()),
        Ok(Err(failure)) => failure,
        Err(_) => CommitFailure::Io {
            step: Step::Place,
            name: String::new(),
            error: io::Error::other("an internal error; please report it"),
        },
    };
    Err(failure.into_problem(transaction.restore()))
}

impl Committed {
    /// The displaced files become the means to undo. The edit has happened; this cannot fail it: what is left undone here
    /// is done by the next recovery.
    pub(crate) fn keep(&self, disk: &dyn Disk, vault: &Vault) {
        let is_home = tidy::bring_home(disk, &self.home, &self.sites).is_ok();
        if is_home && tidy::finish(vault, &self.name).is_ok() {
            vault.count_commit(self.displaced);
        }
    }
}

struct Transaction<'a> {
    disk: &'a dyn Disk,
    vault: &'a Vault,
    id: TxId<'a>,
    jobs: &'a [Job<'a>],
    home: Home,
    sites: Vec<Site>,
    obstacles: Obstacles,
    /// The folders that this transaction creates.
    folders: Vec<Folder>,
    /// The parents of folders that it was to create, and that were there by then.
    joined_folders: Vec<Arc<Dir>>,
    /// Whether any name outside of the vault may have changed.
    placed: bool,
    /// The metadata of each file when it was last looked at.
    seen: Vec<Option<Stat>>,
    /// The watches on the files to be displaced, from the last look until the check.
    watches: Vec<Watch>,
    /// The staged files, held open as long, so that no file of another program can get their inodes and pass for ours.
    staged: Vec<File>,
    /// Handles reserved for checking and putting back.
    spare: Vec<Dir>,
    patience: Patience,
    /// The files that other programs have open for writing.
    open: Vec<String>,
    now: Vec<Option<Stat>>,
}

/// The place where a transaction stages its files.
struct Home {
    dir: Arc<Dir>,
    /// The name of the transaction's own folder. A single file has none: creating a folder for it would double what an
    /// fsync writes.
    folder: Option<String>,
}

impl<'a> Transaction<'a> {
    fn run(&mut self, progress: &dyn Fn(Progress)) -> Result<(), CommitFailure> {
        let total = self.jobs.len();
        let tell = |what, done| progress(Progress { what, done, total });
        self.note()?;
        for at in 0..self.jobs.len() {
            tell(Phase::Stage, at);
            self.stage(at)?;
        }
        self.sync_staged()?;
        if self.home.folder.is_some() {
            self.prepare()?;
        }
        for at in 0..self.jobs.len() {
            self.recheck(at)?;
        }
        self.check_no_writer_waits()?;
        self.reserve()?;
        self.placed = true;
        self.clear_way()?;
        for at in 0..self.jobs.len() {
            self.make_folders(at)?;
        }
        for at in 0..self.jobs.len() {
            tell(Phase::Place, at);
            self.place(at)?;
        }
        self.spare.clear();
        for at in 0..self.jobs.len() {
            self.verify(at)?;
        }
        self.check_no_writer_waits()?;
        self.watches.clear();
        self.staged.clear();
        self.sync_folders()?;
        if self.home.folder.is_some() {
            self.finish()?;
        }
        Ok(())
    }

    /// Reserves the handles for checking and putting back, before anything happens that may have to be undone.
    fn reserve(&mut self) -> Result<(), CommitFailure> {
        let spare: io::Result<Vec<Dir>> = (0..SPARE).map(|_| self.home.dir.try_clone()).collect();
        let name = self.jobs.first().map_or("", |job| &job.plan.name);
        self.spare = spare.map_err(CommitFailure::io(Step::Prepare, name))?;
        Ok(())
    }

    fn is_watched(&self) -> bool {
        self.jobs.len() <= WATCHED
    }

    fn is_many(&self) -> bool {
        self.jobs.len() >= MANY
    }

    /// Returns the journal of what is about to happen.
    fn journal(&self) -> io::Result<Journal> {
        let mut folders: Vec<_> = self.jobs.iter().flat_map(|job| job.path.place.missing_folders()).collect();
        folders.dedup();
        Ok(Journal {
            id: self.id.edit.into(),
            call: self.id.call,
            home: self.disk.stat(&self.home.dir, ".".as_ref())?.inode,
            files: self.sites.iter().map(|site| site.entry.clone()).collect(),
            folders,
            emptied: self.obstacles.folders.clone(),
        })
    }

    /// Writes the journal.
    fn prepare(&self) -> Result<(), CommitFailure> {
        let journal = self.journal();
        let written = journal.and_then(|journal| journal.prepare(self.disk, self.vault, &self.home.dir));
        written.map_err(CommitFailure::io(Step::Prepare, ""))
    }

    /// Lists the files that cannot be staged in the vault, before they are staged.
    fn note(&self) -> Result<(), CommitFailure> {
        if !self.sites.iter().any(|site| site.entry.staged_beside) {
            return Ok(());
        }
        let noted = self.journal().and_then(|journal| journal.note(self.disk, self.vault, &self.home.dir));
        noted.map_err(CommitFailure::io(Step::Stage, ""))
    }

    /// Marks the transaction as committed.
    fn finish(&self) -> Result<(), CommitFailure> {
        let home = &*self.home.dir;
        let failed = |error| CommitFailure::io(Step::Finish, "")(error);
        self.disk.rename_new((home, PREPARED.as_ref()), (home, COMMITTED.as_ref())).map_err(failed)?;
        self.disk.sync_dir(home).or_else(|error| {
            // The mark is not known to be durable, so the commit fails, if the mark can still be removed.
            let taken_back = self.disk.rename_new((home, COMMITTED.as_ref()), (home, PREPARED.as_ref()));
            if taken_back.is_ok() { Err(failed(error)) } else { Ok(()) }
        })
    }

    /// Returns the result of this transaction.
    fn into_committed(self) -> Committed {
        let displaced = self.jobs.iter().filter_map(|job| job.base.map(|(_, base)| base.stat.size)).sum();
        let name: OsString = match (&self.home.folder, &self.sites[..]) {
            (Some(folder), _) => folder.into(),
            (None, [site, ..]) => site.displaced.1.clone(),
            (None, []) => OsString::new(),
        };
        let kept = self.sites.iter().enumerate().map(|(number, site)| {
            let has_displaced = !matches!(site.entry.change, Change::Create | Change::Rename);
            has_displaced.then(|| match &self.home.folder {
                Some(folder) => format!("{folder}/{}", site.entry.kept_slot(number)),
                None => name.to_string_lossy().into_owned(),
            })
        });
        Committed {
            stats: self.now,
            entries: self.sites.iter().map(|site| site.entry.clone()).collect(),
            kept: kept.collect(),
            name,
            open: self.open,
            home: self.home.dir,
            sites: self.sites,
            displaced,
        }
    }

    /// Puts everything back, and reports the state of each file.
    fn restore(mut self) -> RestoreOutcome {
        self.spare.clear();
        let mut sites = std::mem::take(&mut self.sites);
        let untouched = |site: &Site| (site.shown.clone(), FileState::Untouched);
        let states = match self.jobs.first().filter(|_| self.placed) {
            Some(job) => {
                let (root, emptied) = (&job.path.root.dir, &self.obstacles.folders);
                restore::put_back(self.disk, root, &mut sites, &self.folders, emptied)
            }
            None => sites.iter().map(untouched).collect(),
        };
        // The files are in their final places: programs that waited may write to them.
        self.watches.clear();
        let name = self.home.folder.clone().map(OsString::from);
        let home = tidy::Tx { vault: self.vault, dir: &self.home.dir, folder: name.as_deref() };
        tidy::clear(self.disk, &home, &sites, self.placed, states)
    }
}
