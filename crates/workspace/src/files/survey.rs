//! A read-only survey of folders and of Emend's data about them, for diagnosing problems: nothing is created, and
//! nothing interrupted is recovered.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::problem::Problem;

use crate::disk::Disk;
use crate::files::folder_lock::Deadline;
use crate::files::roots::{Root, RootSpec, Roots};
use crate::files::seal;
use crate::files::vault::{self, Census};
use crate::files::written::canonical;
use crate::policy::{Mode, Policy};

/// The survey of a root.
#[derive(Debug)]
pub struct Survey {
    /// The folder.
    pub path: PathBuf,
    /// The mode of its policy.
    pub mode: Mode,
    /// The reason why all of it is closed: an invalid settings file.
    pub closed: Option<String>,
    /// Other warnings about its settings, for the user.
    pub warnings: Vec<String>,
    /// Whether this user may create files in it.
    pub may_write: bool,
    /// The folders with its displaced files, the one for new ones first.
    pub vaults: Vec<Kept>,
    /// Whether displaced files can be kept in the state folder: that is on the same file system and mount, and outside
    /// of the root.
    pub fits_state: bool,
    /// A folder with the name of ours that is not this user's.
    pub foreign: Option<String>,
    /// Whether an edit is running right now.
    pub is_busy: bool,
}

/// The content of one of our folders.
#[derive(Debug)]
pub struct Kept {
    /// The folder.
    pub path: PathBuf,
    /// The number of edits that are running or were interrupted.
    pub open: usize,
    /// The number of completed edits.
    pub edits: usize,
    /// The total size of their displaced files.
    pub bytes: u64,
    /// The number of quarantined transactions.
    pub aside: usize,
}

/// Returns whether the state folder has a key of this user; the error says why it is unusable.
pub fn has_key(state: &Path) -> std::io::Result<bool> {
    seal::is_kept(state)
}

/// Surveys these folders. A folder that cannot be opened is a problem.
pub fn survey(
    disk: &Arc<dyn Disk>,
    specs: &[RootSpec],
    state: Option<&Path>,
    policy: &Policy,
) -> Result<Vec<Survey>, Problem> {
    let roots = Roots::open(Arc::clone(disk), specs, policy)?;
    Ok(roots.all().iter().map(|root| look(&**disk, root, state)).collect())
}

fn look(disk: &dyn Disk, root: &Root, state: Option<&Path>) -> Survey {
    let (homes, foreign) = vault::existing(disk, root.folder(), state);
    let kept = |home: &vault::Home| {
        let Census { open, edits, bytes, aside } = home.census(disk);
        Kept { path: home.path().to_owned(), open, edits, bytes, aside }
    };
    let closed = root.policy.closed().map(str::to_owned);
    Survey {
        path: root.path.clone(),
        mode: root.policy.terms().mode,
        warnings: root.warnings.iter().filter(|warning| closed.as_ref() != Some(*warning)).cloned().collect(),
        closed,
        may_write: disk.may_write(&root.dir, OsStr::new(".")),
        vaults: homes.iter().map(kept).collect(),
        fits_state: state.is_some_and(|state| fits(disk, root, state)),
        foreign,
        is_busy: root.locks.lock(&root.dir, None, Deadline::after(Duration::ZERO)).is_err(),
    }
}

/// Returns whether files could be renamed between the root and the state folder, or the folder where that would be
/// created.
fn fits(disk: &dyn Disk, root: &Root, state: &Path) -> bool {
    let Ok(state) = std::path::absolute(state) else { return false };
    let Some(there) = state.ancestors().find_map(|folder| canonical(folder).ok()) else { return false };
    if state.starts_with(&root.path) || state.starts_with(&root.given) || there.starts_with(&root.path) {
        return false;
    }
    let Ok(there) = Dir::open_ambient_dir(there, ambient_authority()) else { return false };
    let device = |dir: &Dir| disk.stat(dir, OsStr::new(".")).map(|stat| stat.device).ok();
    device(&there) == device(&root.dir) && disk.same_mount(&there, &root.dir).unwrap_or(false)
}
