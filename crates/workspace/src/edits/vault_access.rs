//! Access from a workspace to the vaults of its roots, which hold the history and the remains of interrupted edits.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use emend_threads::Mutex;

use crate::disk::Disk;
use crate::disk::fault::io_problem;
use crate::edits::approval::Approvals;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::kept_sessions::KeptSessions;
use crate::edits::questions::Questions;
use crate::edits::reviewable::Reviewables;
use crate::files::call::CallIdentity;
use crate::files::commit::Committed;
use crate::files::effort::NotDone;
use crate::files::file_locks::FileKey;
use crate::files::folder_lock::{Alone, Deadline};
use crate::files::history::History;
use crate::files::history::calls::{CallIndex, Earlier, EarlierEdit};
use crate::files::history::record::{self, Details, FileMark, Record, RecordedFile, RecordedLines};
use crate::files::recovery::{self, RecoveryFindings};
use crate::files::root_locks::FilesOfRoot;
use crate::files::roots::{Root, Roots, WorkspacePath};
use crate::files::seal::Seal;
use crate::files::vault::{self, Vault};
use crate::policy::Mode;
use crate::problem::{Kind, Problem};

/// The time for which a starting server waits for another process's edit.
const AT_START: Duration = Duration::from_millis(500);

/// The time for which the background waits until nobody edits.
const IN_BACKGROUND: Duration = Duration::from_millis(500);

/// The access to the vaults of the roots.
#[derive(Debug)]
pub(crate) struct VaultAccess {
    disk: Arc<dyn Disk>,
    /// The user's state folder.
    state: Option<PathBuf>,
    seal: OnceLock<Arc<Seal>>,
    news: Mutex<News>,
    /// The calls that are recorded in each log, by its path.
    calls: Mutex<HashMap<PathBuf, CallIndex>>,
}

/// What an edit locks of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The files with these keys.
    Files(BTreeSet<FileKey>),
    /// Everything.
    Whole,
}

/// A lock on a root or on some of its files. Interrupted edits of these files are recovered.
#[derive(Debug)]
pub(crate) struct LockedRoot<'a> {
    root: &'a Arc<Root>,
    lock: Lock<'a>,
}

#[derive(Debug)]
enum Lock<'a> {
    Files(FilesOfRoot<'a>),
    Whole(#[expect(dead_code, reason = "it ends when it is dropped")] Alone<'a>),
}

impl LockedRoot<'_> {
    /// Returns whether all of the root is locked.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.lock, Lock::Whole(_))
    }

    /// Returns whether every file of this plan is locked.
    pub(crate) fn covers(&self, plan: &CheckedPlan) -> bool {
        let is_locked = |path: &WorkspacePath| match &self.lock {
            Lock::Files(files) => files.locked.has(FileKey::new(&path.place.names)),
            Lock::Whole(_) => true,
        };
        Arc::ptr_eq(self.root, &plan.context.root) && plan.files.values().all(|(path, _)| is_locked(path))
    }
}

/// The findings of recovery, each reported once.
#[derive(Debug, Default)]
struct News {
    known: BTreeSet<String>,
    unreported: Vec<String>,
}

impl VaultAccess {
    pub(crate) fn new(disk: Arc<dyn Disk>, state: Option<PathBuf>) -> Self {
        Self { disk, state, seal: OnceLock::new(), news: Mutex::default(), calls: Mutex::default() }
    }

    /// Returns the disk of the vaults.
    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Locks what an edit reaches of a root, waiting at most `patience`. Interrupted edits of that are recovered, for which
    /// the whole root is locked.
    pub(crate) fn lock<'a>(
        &self,
        root: &'a Arc<Root>,
        reach: &Reach,
        patience: Duration,
    ) -> Result<LockedRoot<'a>, NotDone> {
        let deadline = Deadline::after(patience);
        if let Reach::Files(keys) = reach
            && let Some(lock) = self.lock_files(root, keys, deadline)?
        {
            return Ok(LockedRoot { root, lock });
        }
        let lock = self.lock_whole(root, deadline)?;
        self.recover(root)?;
        Ok(LockedRoot { root, lock: Lock::Whole(lock) })
    }

    /// Locks some files of a root. `None` means that all of it must be locked: it has no vault yet, single files cannot be
    /// locked there, or an interrupted edit of one is to be recovered.
    fn lock_files<'a>(
        &self,
        root: &'a Arc<Root>,
        keys: &BTreeSet<FileKey>,
        deadline: Deadline,
    ) -> Result<Option<Lock<'a>>, NotDone> {
        let Some(vault) = root.vault.opened(self.disk()) else { return Ok(None) };
        let Some(files) = vault.files_for_locks(self.disk()) else { return Ok(None) };
        let Some(files) = root.locks.lock_files(&root.dir, &files, keys, deadline)? else {
            files.are_refused.store(true, Ordering::Relaxed);
            return Ok(None);
        };
        let has_left = recovery::has_left(self.disk(), root, &vault, keys);
        let has_left = has_left.map_err(|error| looking_failed(root, &error))?;
        Ok((!has_left).then_some(Lock::Files(files)))
    }

    fn lock_whole<'a>(&self, root: &'a Root, deadline: Deadline) -> Result<Alone<'a>, NotDone> {
        let vault = match emend_filelock::LOCKS_FOLDERS {
            true => root.vault.opened(self.disk()),
            // A file in the vault stands for the folder.
            false => Some(self.vault(root)?),
        };
        let files = vault.and_then(|vault| vault.files_for_locks(self.disk()));
        root.locks.lock(&root.dir, files.as_deref(), deadline)
    }

    /// Returns the user's state folder.
    pub(crate) fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// Returns the vault of a root, and creates it if it is missing.
    pub(crate) fn vault(&self, root: &Root) -> Result<Arc<Vault>, Problem> {
        let (disk, seal) = (self.disk(), self.seal()?);
        if let (None, Some(state)) = (root.vault.opened(disk), &self.state) {
            seal.keep(state);
        }
        root.vault.get(disk, root.folder(), self.state.as_deref(), seal)
    }

    /// Removes the oldest entries of a crowded vault, whose root is locked as a whole: nobody may write to the log while
    /// another takes its place. A failure does no harm.
    pub(crate) fn tidy(&self, vault: &Vault) {
        if vault.take_crowded() {
            vault.prune(self.disk());
            let _ = self.prune_log(vault);
        }
    }

    /// Tidies the vault of a root that is not locked, and recovers what interrupted edits have left there. What cannot be
    /// locked soon is left to the next time. Returns whether it could be.
    pub(crate) fn tidy_and_recover(&self, root: &Root) -> bool {
        let vault = root.vault.opened(self.disk());
        // Displaced files are removed beside edits; only the log and recovery need the root alone.
        vault.iter().for_each(|vault| vault.prune(self.disk()));
        if let Ok(_locked) = self.lock_whole(root, Deadline::after(IN_BACKGROUND)) {
            self.recover_and_tell(root);
            vault.iter().for_each(|vault| drop(self.prune_log(vault)));
            return true;
        }
        false
    }

    fn recover_and_tell(&self, root: &Root) {
        if let Err(problem) = self.recover(root) {
            self.tell(vec![problem.to_string()]);
        }
    }

    /// Opens the store of held plans; the error says why plans cannot wait.
    pub(crate) fn approvals(&self) -> Result<Approvals, String> {
        let seal = self.seal().map_err(|problem| problem.to_string())?;
        match &self.state {
            Some(state) if seal.is_kept() => Ok(Approvals::new(state.clone(), Arc::clone(seal))),
            _ => Err("there is no state folder in which it could wait for one".into()),
        }
    }

    /// Opens the store of previews that a person may look at from another process, if there can be one.
    pub(crate) fn reviewables(&self) -> Option<Reviewables> {
        let seal = self.seal().ok().filter(|seal| seal.is_kept())?;
        Some(Reviewables::new(self.state.clone()?, Arc::clone(seal)))
    }

    /// Opens the store of sessions that outlive their server, if there can be one.
    pub(crate) fn kept_sessions(&self) -> Option<KeptSessions> {
        let seal = self.seal().ok().filter(|seal| seal.is_kept())?;
        Some(KeptSessions::new(self.state.clone()?, Arc::clone(seal)))
    }

    /// Opens the store of questions that other processes may have asked, if there can be one.
    pub(crate) fn questions(&self, patience: Duration) -> Option<Questions> {
        let seal = self.seal().ok().filter(|seal| seal.is_kept())?;
        Some(Questions::new(self.state.clone()?, Arc::clone(seal), patience))
    }

    /// Recovers every root at the start. Returns those in which another process has edited all the while.
    pub(crate) fn recover_all(&self, roots: &Roots) -> Vec<Arc<Root>> {
        // A process that may not edit leaves recovery to those that may.
        let mut editable: Vec<Arc<Root>> =
            roots.all().iter().filter(|root| root.policy.terms().mode != Mode::ReadOnly).cloned().collect();
        // Without a vault nothing is left, and where it has the lock of the root, none is made for that.
        let has_vault = |root: &Root| !matches!(self.existing_vault(root), Ok(None));
        editable.retain(|root| emend_filelock::LOCKS_FOLDERS || has_vault(root));
        editable.retain(|root| match self.lock_whole(root, Deadline::after(AT_START)) {
            Ok(_locked) => {
                self.recover_and_tell(root);
                false
            }
            Err(_) => true,
        });
        editable
    }

    /// Recovers interrupted edits in a root, which must be locked as a whole.
    fn recover(&self, root: &Root) -> Result<(), Problem> {
        let disk = self.disk();
        let failed = |error: io::Error| looking_failed(root, &error);
        let mut findings = RecoveryFindings::default();
        if let Some(vault) = root.vault.opened(disk) {
            findings = recovery::recover(disk, root, &vault).map_err(failed)?;
        } else {
            let (homes, foreign) = vault::existing(disk, root.folder(), self.state.as_deref());
            findings.messages.extend(foreign);
            for home in homes {
                let vault = Vault::at(disk, root.folder(), home, Arc::clone(self.seal()?)).map_err(failed)?;
                let found = recovery::recover(disk, root, &vault).map_err(failed)?;
                findings.messages.extend(found.messages);
                findings.stuck.extend(found.stuck);
            }
        }
        self.tell(findings.messages);
        if findings.stuck.is_empty() {
            return Ok(());
        }
        let what = format!(
            "{} Nothing was changed by this call. Once that is mended, the next call takes it up again.",
            findings.stuck.join(" ")
        );
        Err(Problem::new(Kind::RecoveryNeeded { what }))
    }

    /// Returns the histories of all roots that have one.
    pub(crate) fn histories<'a>(&'a self, roots: &'a Roots) -> Result<Vec<History<'a>>, Problem> {
        let mut histories = Vec::new();
        for root in roots.all() {
            histories.extend(self.history(roots, root)?);
        }
        Ok(histories)
    }

    /// Returns the history of a root, if it has one.
    pub(crate) fn history<'a>(
        &'a self,
        roots: &'a Roots,
        root: &Arc<Root>,
    ) -> Result<Option<History<'a>>, Problem> {
        let Some(vault) = self.existing_vault(root)? else { return Ok(None) };
        let read = History::read(self.disk(), vault, Arc::clone(root), roots.prefix(root));
        read.map(Some).map_err(|error| reading_failed(&error))
    }

    /// Returns a history of this one edit of a root, without reading the log.
    pub(crate) fn history_of_one<'a>(
        &'a self,
        roots: &'a Roots,
        root: &Arc<Root>,
        made: &EarlierEdit,
    ) -> Result<History<'a>, Problem> {
        let vault = self.existing_vault(root)?;
        let vault = vault.ok_or_else(|| Problem::new(Kind::NoHistory))?;
        Ok(History::of_one(self.disk(), vault, Arc::clone(root), roots.prefix(root), made))
    }

    /// Returns the newest edits of a root, as far as that is fast; `None` if they cannot be read.
    pub(crate) fn end_of_history<'a>(&'a self, roots: &'a Roots, root: &Arc<Root>) -> Option<History<'a>> {
        let vault = self.existing_vault(root).ok()??;
        History::read_end(self.disk(), vault, Arc::clone(root), roots.prefix(root)).ok()
    }

    fn existing_vault(&self, root: &Root) -> Result<Option<Arc<Vault>>, Problem> {
        let disk = self.disk();
        if let Some(vault) = root.vault.opened(disk) {
            return Ok(Some(vault));
        }
        let (homes, _) = vault::existing(disk, root.folder(), self.state.as_deref());
        let Some(home) = homes.into_iter().next() else { return Ok(None) };
        let vault = Vault::at(disk, root.folder(), home, Arc::clone(self.seal()?));
        vault.map(|vault| Some(Arc::new(vault))).map_err(|error| reading_failed(&error))
    }

    /// Prunes the log. The calls that were read from it stay known: reading all of it again would take time and memory.
    fn prune_log(&self, vault: &Vault) -> io::Result<()> {
        let mut calls = self.calls.lock();
        let Some(index) = calls.get_mut(&vault.log_path()) else {
            return record::prune(self.disk(), vault).map(drop);
        };
        index.refresh(self.disk(), vault)?;
        let places = record::prune(self.disk(), vault)?;
        index.log_was_pruned(self.disk(), vault, places, SystemTime::now())
    }

    /// Returns the edit that the same call made in this root, which must be locked.
    pub(crate) fn earlier_edit(&self, root: &Root, call: CallIdentity) -> Result<Earlier, Problem> {
        if call.carried().is_none() {
            return Ok(Earlier::None);
        }
        let Some(vault) = self.existing_vault(root)? else { return Ok(Earlier::None) };
        let mut calls = self.calls.lock();
        let index = calls.entry(vault.log_path()).or_default();
        index.refresh(self.disk(), &vault).map_err(|error| reading_failed(&error))?;
        index.find(call, SystemTime::now()).map_err(|error| reading_failed(&error))
    }

    /// Returns the paths of the history files of all roots that have one.
    pub(crate) fn logs(&self, roots: &Roots) -> Vec<PathBuf> {
        let disk = self.disk();
        let log = |root: &Arc<Root>| match root.vault.opened(disk) {
            Some(vault) => Some(vault.log_path()),
            None => vault::existing(disk, root.folder(), self.state.as_deref())
                .0
                .first()
                .map(vault::Home::log_path),
        };
        roots.all().iter().filter_map(log).collect()
    }

    /// Records an edit in the history.
    pub(crate) fn record(
        &self,
        vault: &Vault,
        id: &str,
        checked: &CheckedPlan,
        committed: &Committed,
        CallIdentity { call, key }: CallIdentity,
    ) -> io::Result<()> {
        let CheckedPlan { plan, context, report, .. } = checked;
        let done = committed.entries.iter().zip(&committed.kept).zip(&committed.stats);
        let files =
            done.zip(plan.files()).zip(&report.files).map(|((((entry, kept), stat), plan), reported)| {
                RecordedFile {
                    entry: entry.clone(),
                    kept: kept.clone(),
                    was_executable: checked.was_executable(plan, stat.as_ref()),
                    lines: RecordedLines::from_action(&plan.action),
                    left: stat.as_ref().and_then(FileMark::from_stat),
                    added: reported.diff.added,
                    removed: reported.diff.removed,
                }
            });
        let origin = &context.origin;
        if !context.root.policy.terms().track_history {
            if call.or(key).is_none() {
                return Ok(());
            }
            let record = Record { call, key, is_untracked: true, ..Record::without(id, files.collect()) };
            return self.write(vault, &record, &Details::default());
        }
        let record = Record {
            id: id.into(),
            client: origin.client.clone(),
            principal: origin.principal.clone(),
            session: origin.session.clone(),
            tool: origin.tool.clone(),
            model: origin.model.clone(),
            undoes: context.undoes.clone(),
            call,
            key,
            is_untracked: false,
            files: files.collect(),
        };
        self.write(vault, &record, &Details::new(&origin.request, report.diff()))
    }

    /// Writes a record, and knows its call from then on.
    fn write(&self, vault: &Vault, record: &Record, details: &Details) -> io::Result<()> {
        // Edits of this process write one after the other, so that none has to read what another wrote.
        let mut calls = self.calls.lock();
        let length = record.write(self.disk(), vault, details)?;
        if let Some(index) = calls.get_mut(&vault.log_path()) {
            // If that fails, the record is read with the others.
            let _ = index.add_written(self.disk(), vault, record, length);
        }
        Ok(())
    }

    /// Takes the findings that were not reported yet.
    pub(crate) fn news(&self) -> Vec<String> {
        std::mem::take(&mut self.news.lock().unreported)
    }

    /// Returns the unreported findings, for the log; the next caller still gets them.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.news.lock().unreported.clone()
    }

    fn tell(&self, found: Vec<String>) {
        let mut news = self.news.lock();
        for finding in found {
            if news.known.insert(finding.clone()) {
                news.unreported.push(finding);
            }
        }
    }

    fn seal(&self) -> Result<&Arc<Seal>, Problem> {
        if self.seal.get().is_none() {
            let seal =
                Seal::of_user(self.state.as_deref()).map_err(|error| io_problem("Making a key", &error))?;
            // If two threads get here, both have read the same key.
            let _ = self.seal.set(Arc::new(seal));
        }
        Ok(self.seal.get().expect("it was set"))
    }
}

fn looking_failed(root: &Root, error: &io::Error) -> Problem {
    let what = format!(
        "Emend cannot look for interrupted edits of {}: {error}. Nothing was changed.",
        root.path.display()
    );
    Problem::new(Kind::RecoveryNeeded { what })
}

fn reading_failed(error: &io::Error) -> Problem {
    io_problem("Reading the history", error)
}
