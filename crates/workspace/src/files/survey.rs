//! A look at folders and at what Emend keeps of them, which changes neither: nothing is made, and nothing that was
//! interrupted is taken up. For whoever wants to know why something does not work.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::problem::Problem;

use crate::disk::Disk;
use crate::files::roots::{Root, RootSpec, Roots};
use crate::files::seal;
use crate::files::vault::{self, Census};
use crate::policy::{Mode, Policy};

/// What was seen of a root.
#[derive(Debug)]
pub struct Survey {
    /// The folder.
    pub path: PathBuf,
    /// What becomes of edits in it.
    pub mode: Mode,
    /// What keeps all of it closed: a file of settings that cannot be followed.
    pub closed: Option<String>,
    /// What a person should know of its settings otherwise.
    pub warnings: Vec<String>,
    /// Whether this user may make files in it.
    pub may_write: bool,
    /// The folders where displaced files of it are kept, the one for new ones first.
    pub vaults: Vec<Kept>,
    /// Whether displaced files can be kept in the state folder: it is on the same file system and mount, and outside.
    pub fits_state: bool,
    /// Something that is called as our folder and is not this user's.
    pub foreign: Option<String>,
    /// Whether somebody is editing right now.
    pub is_busy: bool,
}

/// What is kept in a folder of ours.
#[derive(Debug)]
pub struct Kept {
    /// The folder.
    pub path: PathBuf,
    /// Edits that are under way, or were interrupted.
    pub open: usize,
    /// Edits that are over.
    pub edits: usize,
    /// How large their displaced files are together.
    pub bytes: u64,
    /// What could neither be finished nor thrown away.
    pub aside: usize,
}

/// Whether there is a key of this user in the state folder; an error says why it is of no use.
pub fn has_key(state: &Path) -> std::io::Result<bool> {
    seal::is_kept(state)
}

/// Looks at these folders. Those that cannot be opened are problems.
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
        is_busy: root.lock(Duration::ZERO).is_err(),
    }
}

/// Whether files could be renamed between the root and the state folder, or the folder in which that would be made.
fn fits(disk: &dyn Disk, root: &Root, state: &Path) -> bool {
    let Ok(state) = std::path::absolute(state) else { return false };
    let Some(there) = state.ancestors().find_map(|folder| folder.canonicalize().ok()) else { return false };
    if state.starts_with(&root.path) || state.starts_with(&root.given) || there.starts_with(&root.path) {
        return false;
    }
    let Ok(there) = Dir::open_ambient_dir(there, ambient_authority()) else { return false };
    let device = |dir: &Dir| disk.stat(dir, OsStr::new(".")).map(|stat| stat.device).ok();
    device(&there) == device(&root.dir) && disk.same_mount(&there, &root.dir).unwrap_or(false)
}
