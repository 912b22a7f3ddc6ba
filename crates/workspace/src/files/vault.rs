//! The vault of a root: where new files are staged, and where displaced files are kept for undo.
//!
//! It must be on the root's file system, because files enter and leave it by rename. It is in the user's state folder
//! if that is on the same file system, and in `.emend/` in the root otherwise. The state folder is preferred because
//! tools that walk a workspace (a search, a compiler's glob, a test runner) would find old copies of files in
//! `.emend/`, and because a repository cannot ship one.
//!
//! A `.emend/` that this user did not create for itself alone is neither used nor touched.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;
use serde::de::DeserializeOwned;

use emend_edit::Version;
use emend_threads::Mutex;

use crate::disk::fault::{io_problem, is_absent};
use crate::disk::{ASIDE, Disk, FileKind, Stat};
use crate::files::folder_lock::LockFiles;
use crate::files::seal::{Seal, make_private};
use crate::files::written::canonical;
use crate::policy::OWN_FOLDER;
use crate::problem::{Kind, Problem};

/// The number of completed transactions kept.
const KEPT: usize = 1_000;
/// The number of bytes of displaced files kept.
const KEPT_BYTES: u64 = 512 * 1024 * 1024;
/// The number of commits, or bytes, after which the oldest are pruned; at every commit that would cost too much.
const PRUNE_EVERY: u64 = 128;
const PRUNE_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// The folder of a root, as its vault needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootFolder<'a> {
    pub(crate) dir: &'a Dir,
    /// Its path without links.
    pub(crate) path: &'a Path,
    /// Its path as given, made absolute.
    pub(crate) given: &'a Path,
}

impl RootFolder<'_> {
    /// Returns the identity of the folder: what is made for one root is valid for no other.
    pub(crate) fn identity(&self, disk: &dyn Disk) -> io::Result<String> {
        let inode = disk.stat(self.dir, OsStr::new("."))?.inode;
        Ok(format!("{inode} {}", self.path.display()))
    }
}

/// The folder of a vault.
pub(crate) struct Home {
    dir: Dir,
    path: PathBuf,
}

/// The number of items in a vault.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Unfinished transactions.
    pub(crate) open: usize,
    /// Completed transactions.
    pub(crate) edits: usize,
    /// The total size of the displaced files.
    pub(crate) bytes: u64,
    /// Quarantined transactions.
    pub(crate) aside: usize,
}

impl Home {
    /// Returns the path of the log.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.path.join(LOG)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Counts the content, as far as it can be read.
    pub(crate) fn census(&self, disk: &dyn Disk) -> Census {
        let names = |part: &str| {
            let dir = disk.open_dir(&self.dir, Path::new(part)).ok()?;
            let names = disk.names(&dir).ok()?;
            Some((dir, names))
        };
        let count = |part: &str| names(part).map_or(0, |(_, names)| names.len());
        let mut census = Census { open: count(OPEN), aside: count(QUARANTINE), ..Census::default() };
        if let Some((dir, names)) = names(FINISHED) {
            census.bytes = names.iter().map(|name| size(disk, &dir, name)).sum();
            census.edits = names.iter().map(|name| id_of(name)).collect::<BTreeSet<_>>().len();
        }
        census
    }
}

/// An open vault.
#[derive(Debug)]
pub(crate) struct Vault {
    /// The folder of unfinished transactions.
    pub(crate) open: Dir,
    /// The folder of completed transactions, with the displaced files.
    pub(crate) kept: Dir,
    /// The parent of these folders.
    home: Dir,
    /// Its path, for messages and for watching the log.
    path: PathBuf,
    seal: Arc<Seal>,
    /// The identity of its root; part of every mark.
    root: String,
    commits: AtomicU64,
    bytes: AtomicU64,
    /// Whether the oldest transactions should be pruned.
    is_crowded: AtomicBool,
    /// The files that serve as locks, opened on first use.
    locks: Mutex<Option<Arc<LockFiles>>>,
}

/// The vault of a root, opened on first use.
#[derive(Debug, Default)]
pub(crate) struct VaultCell(Mutex<Option<Arc<Vault>>>);

impl VaultCell {
    /// Returns the vault; opens or creates it on first use.
    pub(crate) fn get(
        &self,
        disk: &dyn Disk,
        root: RootFolder<'_>,
        state: Option<&Path>,
        seal: &Arc<Seal>,
    ) -> Result<Arc<Vault>, Problem> {
        if let Some(vault) = self.opened(disk) {
            return Ok(vault);
        }
        let home = match state.and_then(|state| in_state_folder(disk, root, state, true)) {
            Some(home) => home,
            None => in_root(disk, root)?,
        };
        let vault = Vault::at(disk, root, home, Arc::clone(seal))
            .map_err(|error| io_problem("Opening the folder for staged files", &error))?;
        let vault = Arc::new(vault);
        vault.is_crowded.store(true, Ordering::Relaxed);
        // Now, so that no call that changes nothing makes them.
        vault.files_for_locks(disk);
        *self.0.lock() = Some(Arc::clone(&vault));
        Ok(vault)
    }

    /// Returns the vault, if it is open and was not removed since: a removed folder has no links.
    pub(crate) fn opened(&self, disk: &dyn Disk) -> Option<Arc<Vault>> {
        let vault = self.0.lock().clone()?;
        let is_there = disk.stat(&vault.open, OsStr::new(".")).is_ok_and(|stat| stat.links > 0);
        is_there.then_some(vault)
    }

    /// Forgets a vault that was removed.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// Returns the existing vault folders of a root, without creating any: the one in the state folder, and `.emend/`. The
/// second value names an `.emend/` that is not this user's.
pub(crate) fn existing(
    disk: &dyn Disk,
    root: RootFolder<'_>,
    state: Option<&Path>,
) -> (Vec<Home>, Option<String>) {
    let mut homes = Vec::new();
    homes.extend(state.and_then(|state| in_state_folder(disk, root, state, false)));
    let mut foreign = None;
    match disk.stat(root.dir, OsStr::new(OWN_FOLDER)) {
        Err(_) => {}
        Ok(stat) => match disk.open_dir(root.dir, Path::new(OWN_FOLDER)) {
            Ok(dir) if stat.kind == FileKind::Dir && is_ours(&dir) => {
                homes.push(Home { dir, path: root.path.join(OWN_FOLDER) });
            }
            _ => {
                let path = root.path.join(OWN_FOLDER);
                foreign =
                    Some(format!("{} was not made by this user's Emend; it was left alone.", path.display()));
            }
        },
    }
    // An incompletely created vault has no content.
    homes.retain(|home| [OPEN, FINISHED].iter().all(|part| disk.stat(&home.dir, OsStr::new(part)).is_ok()));
    (homes, foreign)
}

/// The name of the folder of unfinished transactions.
const OPEN: &str = "tx";
/// The name of the folder of completed transactions.
const FINISHED: &str = "history";
/// The size of the longest log that is read; pruning keeps it far below.
const LONGEST_LOG: u64 = 512 * 1024 * 1024;
/// The name of the log of edits.
const LOG: &str = "log";
/// The name of a log that is to take its place.
const NEW_LOG: &str = "log.new";
/// The name of the file that is locked while edits share the root.
const SHARING: &str = "sharing";
/// The name of the file whose bytes are the locks of files.
const LOCKS: &str = "locks";
/// The name of the file that stands for the root's folder where folders cannot be locked.
const FOLDER: &str = "folder";
/// The name of the folder of quarantined transactions.
const QUARANTINE: &str = "aside";

impl Vault {
    /// Opens the vault in this folder.
    pub(crate) fn at(disk: &dyn Disk, root: RootFolder<'_>, home: Home, seal: Arc<Seal>) -> io::Result<Self> {
        let Home { dir: home, path } = home;
        let inner = |name: &str| {
            make_if_missing(disk, &home, OsStr::new(name))?;
            disk.open_dir(&home, Path::new(name))
        };
        Ok(Self {
            open: inner(OPEN)?,
            kept: inner(FINISHED)?,
            home,
            path,
            seal,
            root: root.identity(disk)?,
            commits: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            is_crowded: AtomicBool::new(false),
            locks: Mutex::default(),
        })
    }

    /// Returns the files that serve as locks; `None` where single files cannot be locked.
    pub(crate) fn files_for_locks(&self, disk: &dyn Disk) -> Option<Arc<LockFiles>> {
        let open = |name: &str| {
            let name = OsStr::new(name);
            disk.open_to_append(&self.home, name).ok()?;
            // A shared lock needs a handle that reads, on network file systems.
            disk.open_to_overwrite(&self.home, name).ok()
        };
        let mut locks = self.locks.lock();
        if locks.is_none() && emend_filelock::HAS_BYTE_LOCKS {
            let both = || {
                let folder = match emend_filelock::LOCKS_FOLDERS {
                    true => None,
                    false => Some(open(FOLDER)?),
                };
                let are_refused = false.into();
                Some(LockFiles { sharing: open(SHARING)?, bytes: open(LOCKS)?, folder, are_refused })
            };
            *locks = both().map(Arc::new);
        }
        locks.clone().filter(|files| !files.are_refused.load(Ordering::Relaxed))
    }

    /// Returns the mark of content written for this root.
    pub(crate) fn mark(&self, purpose: &str, content: &[u8]) -> String {
        self.seal.mark(&self.here(purpose), content)
    }

    /// Returns whether this is the mark of content that this user wrote for this root.
    pub(crate) fn has_mark(&self, purpose: &str, content: &[u8], mark: &str) -> bool {
        self.seal.holds(&self.here(purpose), content, mark)
    }

    /// Returns this purpose, bound to this root.
    fn here(&self, purpose: &str) -> String {
        format!("{purpose} {}", self.root)
    }

    /// Serialises a value as JSON, after its mark.
    pub(crate) fn sealed(&self, purpose: &str, value: &impl Serialize) -> io::Result<Vec<u8>> {
        self.seal.sealed(&self.here(purpose), value)
    }

    /// Parses such a text; `None` if it is not ours or not complete.
    pub(crate) fn unsealed<T: DeserializeOwned>(&self, purpose: &str, sealed: &[u8]) -> Option<T> {
        self.seal.unsealed(&self.here(purpose), sealed)
    }

    /// Returns the path of the log.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Returns the path of an open transaction, for messages.
    pub(crate) fn shown_open(&self, name: &OsStr) -> String {
        format!("{:?}", self.path.join(OPEN).join(name))
    }

    /// Returns the path of a quarantined transaction, for messages.
    pub(crate) fn shown_quarantined(&self, name: &OsStr) -> String {
        format!("{:?}", self.path.join(QUARANTINE).join(name))
    }

    /// Opens the quarantine folder, and creates it if it is missing.
    pub(crate) fn quarantine(&self, disk: &dyn Disk) -> io::Result<Dir> {
        make_if_missing(disk, &self.home, OsStr::new(QUARANTINE))?;
        disk.open_dir(&self.home, Path::new(QUARANTINE))
    }

    /// Returns the names of the quarantined transactions.
    pub(crate) fn quarantined_names(&self, disk: &dyn Disk) -> io::Result<Vec<OsString>> {
        match disk.open_dir(&self.home, Path::new(QUARANTINE)) {
            Ok(quarantine) => disk.names(&quarantine),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Reads the log of edits; `None` if there is none yet.
    pub(crate) fn log(&self, disk: &dyn Disk) -> io::Result<Option<Vec<u8>>> {
        match disk.stat(&self.home, OsStr::new(LOG)) {
            // A longer one is not ours, or damaged.
            Ok(stat) if stat.kind != FileKind::File || stat.size > LONGEST_LOG => Ok(None),
            Ok(_) => read_file(disk, &self.home, OsStr::new(LOG), LONGEST_LOG),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the metadata of the log; `None` if there is no log yet.
    pub(crate) fn log_stat(&self, disk: &dyn Disk) -> io::Result<Option<Stat>> {
        match disk.stat(&self.home, OsStr::new(LOG)) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a part of the log, which is chosen by its size. Its first and last record may be cut off.
    pub(crate) fn part_of_log(
        &self,
        disk: &dyn Disk,
        part: impl FnOnce(u64) -> Range<u64>,
    ) -> io::Result<Vec<u8>> {
        let mut log = disk.open_file(&self.home, OsStr::new(LOG))?;
        let stat = disk.stat_file(&log)?;
        if stat.kind != FileKind::File || stat.size > LONGEST_LOG {
            return Ok(Vec::new());
        }
        let part = part(stat.size);
        log.seek(io::SeekFrom::Start(part.start))?;
        disk.read(&log, part.end.saturating_sub(part.start), &mut |_| {})
    }

    /// Appends to the log.
    pub(crate) fn append_to_log(&self, disk: &dyn Disk, pieces: &[&[u8]]) -> io::Result<u64> {
        let file = disk.open_to_append(&self.home, OsStr::new(LOG))?;
        let record = pieces.concat();
        let length = record.len() as u64;
        self.bytes.fetch_add(length, Ordering::Relaxed);
        disk.write(&file, &[&record])?;
        Ok(length)
    }

    /// Replaces the log.
    pub(crate) fn replace_log(&self, disk: &dyn Disk, pieces: &[&[u8]]) -> io::Result<()> {
        self.settle_log(disk)?;
        let new = OsStr::new(NEW_LOG);
        remove(disk, &self.home, new);
        let file = disk.create_file(&self.home, new, None)?;
        disk.write(&file, pieces)?;
        disk.sync_file(&file)?;
        disk.exchange((&self.home, new), (&self.home, OsStr::new(LOG)))?;
        disk.remove_file(&self.home, new)
    }

    /// Returns whether a crash has interrupted an exchange of the log, which may be missing from its name since then.
    pub(crate) fn is_log_aside(&self, disk: &dyn Disk) -> io::Result<bool> {
        if !disk.leaves_gaps() {
            return Ok(false);
        }
        match disk.stat(&self.home, OsStr::new(&format!("{ASIDE}{NEW_LOG}"))) {
            Ok(_) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Finishes or undoes an exchange of the log that a crash interrupted. The root must be locked as a whole: whoever appends
    /// meanwhile would begin a new log.
    pub(crate) fn settle_log(&self, disk: &dyn Disk) -> io::Result<()> {
        if disk.leaves_gaps() {
            disk.settle_exchange((&self.home, OsStr::new(NEW_LOG)), (&self.home, OsStr::new(LOG)))?;
        }
        Ok(())
    }

    /// Counts a commit that keeps this many bytes.
    pub(crate) fn count_commit(&self, bytes: u64) {
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if commits >= PRUNE_EVERY || total >= PRUNE_EVERY_BYTES {
            self.is_crowded.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the oldest transactions should be pruned, and resets the flag.
    pub(crate) fn take_crowded(&self) -> bool {
        let is_crowded = self.is_crowded.swap(false, Ordering::Relaxed);
        if is_crowded {
            self.commits.store(0, Ordering::Relaxed);
            self.bytes.store(0, Ordering::Relaxed);
        }
        is_crowded
    }

    /// Removes the oldest kept transactions above the limits. A failure does no harm.
    pub(crate) fn prune(&self, disk: &dyn Disk) {
        prune(disk, &self.kept);
        if disk.stat(&self.home, OsStr::new(QUARANTINE)).is_ok()
            && let Ok(quarantine) = disk.open_dir(&self.home, Path::new(QUARANTINE))
        {
            prune(disk, &quarantine);
        }
    }
}

/// Returns the id of the transaction of a kept file or folder: the part before the first dot.
pub(crate) fn id_of(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Removes the oldest transactions in a folder above the limits.
fn prune(disk: &dyn Disk, kept: &Dir) {
    let Ok(names) = disk.names(kept) else { return };
    let mut transactions: BTreeMap<String, Vec<OsString>> = BTreeMap::new();
    for name in names {
        transactions.entry(id_of(&name)).or_default().push(name);
    }
    let mut bytes = 0;
    // Their ids begin with the time.
    for (age, names) in transactions.values().rev().enumerate() {
        bytes += names.iter().map(|name| size(disk, kept, name)).sum::<u64>();
        if age >= KEPT || bytes > KEPT_BYTES {
            names.iter().for_each(|name| remove(disk, kept, name));
        }
    }
}

/// Returns the size of a kept file, or of a folder of kept files.
fn size(disk: &dyn Disk, kept: &Dir, name: &OsStr) -> u64 {
    let Ok(stat) = disk.stat(kept, name) else { return 0 };
    if stat.kind != FileKind::Dir {
        return stat.size;
    }
    let Ok(folder) = disk.open_dir(kept, Path::new(name)) else { return 0 };
    let files = disk.names(&folder).unwrap_or_default();
    files.iter().filter_map(|file| disk.stat(&folder, file).ok()).map(|stat| stat.size).sum()
}

/// Removes a file, or a folder of files.
pub(crate) fn remove(disk: &dyn Disk, dir: &Dir, name: &OsStr) {
    if disk.stat(dir, name).is_ok_and(|stat| stat.kind != FileKind::Dir) {
        let _ = disk.remove_file(dir, name);
    } else if let Ok(folder) = disk.open_dir(dir, Path::new(name)) {
        for file in disk.names(&folder).unwrap_or_default() {
            let _ = disk.remove_file(&folder, &file);
        }
        let _ = disk.remove_dir(dir, name);
    }
}

/// Reads a small file of ours. Returns `Ok(None)` if there is none.
pub(crate) fn read_file(disk: &dyn Disk, dir: &Dir, name: &OsStr, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open_file(dir, name) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if disk.stat_file(&file)?.kind != FileKind::File {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let bytes = disk.read(&file, limit, &mut |_| {})?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::InvalidData.into()) } else { Ok(Some(bytes)) }
}

/// Opens `STATE/roots/KEY`, if files can be renamed between it and the root; creates it if `make` is set.
fn in_state_folder(disk: &dyn Disk, root: RootFolder<'_>, state: &Path, make: bool) -> Option<Home> {
    let key = Version::hash(root.path.as_os_str().as_encoded_bytes()).short();
    let home = std::path::absolute(state).ok()?.join("roots").join(key);
    if home.starts_with(root.path) || home.starts_with(root.given) {
        // It would be part of the workspace, where only `.emend` is forbidden.
        return None;
    }
    if make {
        make_private(&home).ok()?;
    }
    let home = canonical(&home).ok()?;
    if home.starts_with(root.path) {
        return None;
    }
    let dir = Dir::open_ambient_dir(&home, ambient_authority()).ok()?;
    let here = disk.stat(&dir, OsStr::new(".")).ok()?;
    let there = disk.stat(root.dir, OsStr::new(".")).ok()?;
    let fits = is_ours(&dir) && here.device == there.device && disk.same_mount(&dir, root.dir).ok()?;
    fits.then_some(Home { dir, path: home })
}

/// Opens `.emend/` in the root, which must be this user's alone; creates it if it is missing.
fn in_root(disk: &dyn Disk, root: RootFolder<'_>) -> Result<Home, Problem> {
    let name = OsStr::new(OWN_FOLDER);
    let failed = |error: io::Error| io_problem("Making .emend", &error);
    let made = make_if_missing(disk, root.dir, name).map_err(failed)?;
    let refused = |what: &str| {
        let what = format!(
            "{} {what}, so Emend will not keep anything in it. Nothing was changed. If you do not need what \
             is in it, remove it.",
            root.path.join(OWN_FOLDER).display()
        );
        Problem::new(Kind::RecoveryNeeded { what })
    };
    let stat = disk.stat(root.dir, name).map_err(failed)?;
    if stat.kind != FileKind::Dir {
        return Err(refused("is not a folder"));
    }
    let home = disk.open_dir(root.dir, Path::new(OWN_FOLDER)).map_err(failed)?;
    if !is_ours(&home) {
        return Err(refused("was not made by you for yourself alone"));
    }
    if made {
        // It hides itself from git. A failure is no reason to refuse an edit.
        if let Ok(file) = disk.create_file(&home, OsStr::new(".gitignore"), None) {
            let _ = disk.write(&file, &[b"*\n"]);
        }
    }
    Ok(Home { dir: home, path: root.path.join(OWN_FOLDER) })
}

fn make_if_missing(disk: &dyn Disk, dir: &Dir, name: &OsStr) -> io::Result<bool> {
    match disk.make_dir(dir, name, true) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the folder belongs to this user and is accessible to nobody else.
#[cfg(unix)]
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
pub(crate) fn is_ours(dir: &Dir) -> bool {
    rustix::fs::fstat(dir).is_ok_and(|stat| {
        stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode as u32 & 0o077 == 0
    })
}

#[cfg(not(unix))]
pub(crate) fn is_ours(_dir: &Dir) -> bool {
    true
}
