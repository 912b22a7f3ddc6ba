//! Walking folders for what may be listed and searched, the folders nearest to the start first.
//!
//! Each folder is opened by its path beneath the root, without following links, and only one is open at a
//! time. So no link leads out, whatever is swapped meanwhile, and no handles pile up. What is off limits or
//! ignored is not yielded, and nothing below it is looked at.

mod ignored;
mod scope;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::problem::{Kind, Problem};

use crate::disk::fault::is_absent;
use crate::disk::{Disk, FileKind};
use crate::files::roots::Root;
use crate::policy::Policy;
use ignored::{Ignored, Left};

pub use scope::WalkScope;
pub(crate) use scope::Within;

/// How much is walked at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkLimits {
    /// How many names are looked at.
    pub(crate) names: usize,
    /// How many bytes the paths of folders may have that wait for their turn.
    pub(crate) waiting: usize,
    /// How much of ignore files is taken.
    pub(crate) ignored: Left,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self {
            names: 1_000_000,
            waiting: 64 * 1024 * 1024,
            ignored: Left { bytes: 1024 * 1024, costly: 2000 },
        }
    }
}

/// What a walk did not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Folders and files that could not be read.
    pub unreadable: usize,
    /// Whether there was too much to look at all of it.
    pub rest: bool,
}

/// A walk under way. Whoever walks says which folders are entered.
pub(crate) struct Walk<'a> {
    disk: &'a dyn Disk,
    cancelled: &'a dyn Fn() -> bool,
    /// What is left of them.
    limits: WalkLimits,
    waiting: VecDeque<Waiting>,
    pub(crate) unseen: Unseen,
}

/// A folder that waits for its turn.
struct Waiting {
    root: Arc<Root>,
    path: PathBuf,
    depth: usize,
    tag: usize,
    above: Option<Arc<Ignored>>,
}

/// A folder, open, with what is to be seen in it, in the order of the names.
pub(crate) struct Folder {
    pub(crate) root: Arc<Root>,
    pub(crate) dir: Dir,
    /// From the root.
    pub(crate) path: PathBuf,
    /// How many folders it is below the start.
    pub(crate) depth: usize,
    /// What it was entered with.
    pub(crate) tag: usize,
    pub(crate) entries: Vec<(OsString, FileKind)>,
    ignored: Option<Arc<Ignored>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, cancelled: &'a dyn Fn() -> bool, limits: WalkLimits) -> Self {
        Self { disk, cancelled, limits, waiting: VecDeque::new(), unseen: Unseen::default() }
    }

    /// Begins at this folder of a root. What is ignored above it counts in it.
    pub(crate) fn start(&mut self, root: &Arc<Root>, path: &Path, tag: usize) {
        let mut above: Option<Arc<Ignored>> = None;
        for folder in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
            // Rules such as `build/*` leave out whatever is in a folder, and yet its files are meant by naming it.
            above = above.filter(|above| !above.are_about_all_in(folder));
            if folder != path
                && let Ok(dir) = self.disk.open_dir(&root.dir, folder)
            {
                above = Ignored::within(self.disk, &dir, folder, above, &|_| true, &mut self.limits.ignored);
            }
        }
        self.wait(Waiting { root: Arc::clone(root), path: path.into(), depth: 0, tag, above });
    }

    /// Goes on into a folder of this one.
    pub(crate) fn enter(&mut self, folder: &Folder, name: &OsString, tag: usize) {
        let (root, path, depth) = (Arc::clone(&folder.root), folder.path.join(name), folder.depth + 1);
        self.wait(Waiting { root, path, depth, tag, above: folder.ignored.clone() });
    }

    /// Goes on into these folders of this one before all others, in this order.
    pub(crate) fn enter_next(&mut self, folder: &Folder, names: &[&OsString]) {
        let later = self.waiting.len();
        names.iter().for_each(|name| self.enter(folder, name, 0));
        self.waiting.rotate_left(later);
    }

    fn wait(&mut self, folder: Waiting) {
        let bytes = folder.path.as_os_str().len();
        match self.limits.waiting.checked_sub(bytes) {
            Some(left) => {
                self.limits.waiting = left;
                self.waiting.push_back(folder);
            }
            None => self.unseen.rest = true,
        }
    }

    /// The next folder; none when everything was seen, or enough.
    pub(crate) fn next(&mut self) -> Result<Option<Folder>, Problem> {
        while let Some(next) = self.waiting.pop_front() {
            if (self.cancelled)() {
                return Err(Problem::new(Kind::Cancelled));
            }
            self.limits.waiting += next.path.as_os_str().len();
            let read = || {
                let dir = self.disk.open_dir(&next.root.dir, &next.path)?;
                // One more than may be looked at tells a folder that has more from one that has not.
                let entries = self.disk.entries(&dir, self.limits.names + 1)?;
                Ok((dir, entries))
            };
            let (dir, mut entries) = match read() {
                Ok(read) => read,
                Err(error) if is_absent(&error) => continue,
                Err(_) => {
                    self.unseen.unreadable += 1;
                    continue;
                }
            };
            if entries.len() > self.limits.names {
                self.unseen.rest = true;
                self.waiting.clear();
                entries.truncate(self.limits.names);
            }
            self.limits.names -= entries.len();
            entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            let Waiting { root, path, depth, tag, above } = next;
            let has =
                |name: &str| entries.binary_search_by(|(other, _)| (**other).cmp(name.as_ref())).is_ok();
            let ignored = Ignored::within(self.disk, &dir, &path, above, &has, &mut self.limits.ignored);
            retain_admitted(&root.policy, &path, &mut entries, self.cancelled)?;
            if let Some(ignored) = &ignored {
                retain(&mut entries, self.cancelled, |name, kind| {
                    !ignored.leaves_out(&path.join(name), kind == FileKind::Dir)
                })?;
            }
            return Ok(Some(Folder { root, dir, path, depth, tag, entries, ignored }));
        }
        Ok(None)
    }
}

/// Leaves what the policy admits: what is off limits is neither listed nor searched nor entered.
fn retain_admitted(
    policy: &Policy,
    folder: &Path,
    entries: &mut Vec<(OsString, FileKind)>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), Problem> {
    let mut names: Vec<OsString> = folder.iter().map(OsString::from).collect();
    retain(entries, cancelled, |name, _| {
        names.push(name.clone());
        let admitted = policy.may_read(&names).is_ok();
        names.pop();
        admitted
    })
}

/// Leaves what is kept, unless nobody waits for it any more: one folder may hold a million names.
fn retain(
    entries: &mut Vec<(OsString, FileKind)>,
    cancelled: &dyn Fn() -> bool,
    mut keeps: impl FnMut(&OsString, FileKind) -> bool,
) -> Result<(), Problem> {
    let mut is_cancelled = false;
    entries.retain(|(name, kind)| {
        is_cancelled = is_cancelled || cancelled();
        !is_cancelled && keeps(name, *kind)
    });
    if is_cancelled { Err(Problem::new(Kind::Cancelled)) } else { Ok(()) }
}
