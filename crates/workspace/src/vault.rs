//! The vault of a root: where new files are staged before they take their place, and where the files that
//! they displace are kept, which are the means to undo.
//!
//! It must be on the root's file system, since files enter and leave it by rename. It lies in the user's
//! state folder where that is on the same file system, and in `.emend/` in the root otherwise. The state
//! folder comes first because whatever walks a workspace (a search, a compiler's glob, a test runner)
//! would find the old copies of its files there, and because a repository cannot ship one.
//!
//! A `.emend/` that this user did not make for itself alone is neither used nor touched.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use emend_edit::Version;
use emend_edit::problem::{Kind, Problem};

use crate::disk::{Disk, FileKind};
use crate::fault::io_problem;
use crate::policy::OWN_FOLDER;
use crate::roots::Root;

/// How many committed transactions are kept.
const KEPT: usize = 1_000;
/// How many bytes of displaced files are kept.
const KEPT_BYTES: u64 = 512 * 1024 * 1024;
/// After how many of either the oldest are looked for; looking at every commit would cost more than it.
const PRUNE_EVERY: u64 = 128;
const PRUNE_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// An open vault.
#[derive(Debug)]
pub struct Vault {
    /// Transactions that are not finished.
    pub(crate) open: Dir,
    /// Transactions that are: their files are the displaced ones.
    pub(crate) kept: Dir,
    commits: AtomicU64,
    bytes: AtomicU64,
}

/// The vault of a root, opened when it is first needed.
#[derive(Debug, Default)]
pub struct VaultCell(Mutex<Option<Arc<Vault>>>);

impl VaultCell {
    /// The vault; found or made if this is the first time.
    pub(crate) fn get(
        &self,
        disk: &dyn Disk,
        root: &Root,
        state: Option<&Path>,
    ) -> Result<Arc<Vault>, Problem> {
        let mut cell = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vault) = &*cell {
            return Ok(Arc::clone(vault));
        }
        let vault = Arc::new(Vault::open(disk, root, state)?);
        vault.prune(disk);
        *cell = Some(Arc::clone(&vault));
        Ok(vault)
    }

    /// Forgets the vault: somebody removed it.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Vault {
    fn open(disk: &dyn Disk, root: &Root, state: Option<&Path>) -> Result<Self, Problem> {
        let home = match state.and_then(|state| in_state_folder(disk, root, state)) {
            Some(home) => home,
            None => in_root(disk, root)?,
        };
        let inner = |name: &str| {
            make_if_missing(disk, &home, OsStr::new(name))?;
            disk.open_dir(&home, Path::new(name))
        };
        let failed = |error: io::Error| io_problem("Opening the folder for staged files", &error);
        Ok(Self {
            open: inner("tx").map_err(failed)?,
            kept: inner("history").map_err(failed)?,
            commits: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// Counts a commit, and drops the oldest kept transactions once enough have come.
    pub(crate) fn kept_one(&self, disk: &dyn Disk, bytes: u64) {
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if commits >= PRUNE_EVERY || total >= PRUNE_EVERY_BYTES {
            self.commits.store(0, Ordering::Relaxed);
            self.bytes.store(0, Ordering::Relaxed);
            self.prune(disk);
        }
    }

    /// Drops the oldest kept transactions above the caps. Nothing depends on its success.
    fn prune(&self, disk: &dyn Disk) {
        let Ok(mut names) = disk.names(&self.kept) else { return };
        // Their names begin with the time.
        names.sort_unstable();
        let mut bytes = 0;
        for (age, name) in names.iter().rev().enumerate() {
            let Ok(stat) = disk.stat(&self.kept, name) else { continue };
            let folder = match stat.kind {
                FileKind::Dir => disk.open_dir(&self.kept, Path::new(name)).ok(),
                _ => None,
            };
            let files = folder.as_ref().and_then(|folder| disk.names(folder).ok()).unwrap_or_default();
            let inside =
                folder.iter().flat_map(|folder| files.iter().filter_map(|f| disk.stat(folder, f).ok()));
            bytes += stat.size + inside.map(|stat| stat.size).sum::<u64>();
            if age < KEPT && bytes <= KEPT_BYTES {
                continue;
            }
            match folder {
                Some(folder) => {
                    for file in &files {
                        let _ = disk.remove_file(&folder, file);
                    }
                    let _ = disk.remove_dir(&self.kept, name);
                }
                None => {
                    let _ = disk.remove_file(&self.kept, name);
                }
            }
        }
    }
}

/// `STATE/roots/KEY`, if files can be renamed between it and the root.
fn in_state_folder(disk: &dyn Disk, root: &Root, state: &Path) -> Option<Dir> {
    let key = Version::of(root.path.as_os_str().as_encoded_bytes()).short();
    let home = std::path::absolute(state).ok()?.join("roots").join(key);
    if home.starts_with(&root.path) || home.starts_with(&root.given) {
        // It would be part of the workspace; `.emend` is off limits there.
        return None;
    }
    make_private(&home).ok()?;
    let home = home.canonicalize().ok()?;
    if home.starts_with(&root.path) {
        return None;
    }
    let home = Dir::open_ambient_dir(&home, ambient_authority()).ok()?;
    let here = disk.stat(&home, OsStr::new(".")).ok()?;
    let there = disk.stat(&root.dir, OsStr::new(".")).ok()?;
    (is_ours(&home) && here.device == there.device && same_mount(&home, &root.dir)).then_some(home)
}

/// `.emend/` in the root: made for this user alone, or found to be so.
fn in_root(disk: &dyn Disk, root: &Root) -> Result<Dir, Problem> {
    let name = OsStr::new(OWN_FOLDER);
    let failed = |error: io::Error| io_problem("Making .emend", &error);
    let made = make_if_missing(disk, &root.dir, name).map_err(failed)?;
    let refused = |what: &str| {
        let what = format!(
            "{} {what}, so Emend will not keep anything in it. Nothing was changed. If you do not need what \
             is in it, remove it.",
            root.path.join(OWN_FOLDER).display()
        );
        Problem::new(Kind::RecoveryNeeded { what })
    };
    let stat = disk.stat(&root.dir, name).map_err(failed)?;
    if stat.kind != FileKind::Dir {
        return Err(refused("is not a folder"));
    }
    let home = disk.open_dir(&root.dir, Path::new(OWN_FOLDER)).map_err(failed)?;
    if !is_ours(&home) {
        return Err(refused("was not made by you for yourself alone"));
    }
    if made {
        // It hides itself from git. That this fails is no reason to refuse an edit.
        if let Ok(file) = disk.create_file(&home, OsStr::new(".gitignore"), None) {
            let _ = disk.write(&file, &[b"*\n"]);
        }
    }
    Ok(home)
}

fn make_if_missing(disk: &dyn Disk, dir: &Dir, name: &OsStr) -> io::Result<bool> {
    match disk.make_dir(dir, name, true) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn make_private(path: &PathBuf) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether the folder belongs to this user and to nobody else.
#[cfg(unix)]
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn is_ours(dir: &Dir) -> bool {
    rustix::fs::fstat(dir).is_ok_and(|stat| {
        stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode as u32 & 0o077 == 0
    })
}

#[cfg(not(unix))]
fn is_ours(_dir: &Dir) -> bool {
    true
}

/// Whether both are on one mount: a rename between two mounts of one file system fails.
#[cfg(target_os = "linux")]
fn same_mount(a: &Dir, b: &Dir) -> bool {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let mount =
        |dir: &Dir| statx(dir, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|stat| stat.stx_mnt_id);
    matches!((mount(a), mount(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(target_os = "linux"))]
fn same_mount(_a: &Dir, _b: &Dir) -> bool {
    true
}
