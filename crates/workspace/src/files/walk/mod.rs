//! The walk through folders for listing and searching, those nearest to the start first.
//!
//! Each folder is opened by its path beneath the root, without following links, and only one is open at a time. So no
//! link leads out, whatever is swapped meanwhile, and handles do not pile up. Forbidden and ignored entries are not
//! returned, and nothing below them is visited.

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
use crate::policy::{OWN_FOLDER, Policy, state_folder};
use ignored::{IgnoreBudget, Ignored};

pub use scope::WalkScope;
pub(crate) use scope::Within;

/// The limits of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkLimits {
    /// The number of names visited.
    pub(crate) names: usize,
    /// The total size of the paths of folders waiting in the queue, in bytes.
    pub(crate) waiting: usize,
    /// The budget for ignore files.
    pub(crate) ignored: IgnoreBudget,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self {
            names: 1_000_000,
            waiting: 64 * 1024 * 1024,
            ignored: IgnoreBudget { bytes: 1024 * 1024, costly: 2000 },
        }
    }
}

/// The part that a walk did not visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// The number of folders and files that could not be read.
    pub unreadable: usize,
    /// Whether a limit ended the walk early.
    pub rest: bool,
}

/// A running walk. The caller decides which folders are entered.
pub(crate) struct Walk<'a> {
    disk: &'a dyn Disk,
    cancelled: &'a dyn Fn() -> bool,
    /// The limits that are left.
    limits: WalkLimits,
    waiting: VecDeque<Waiting>,
    pub(crate) unseen: Unseen,
}

/// A folder in the queue.
struct Waiting {
    root: Arc<Root>,
    path: PathBuf,
    depth: usize,
    tag: usize,
    above: Option<Arc<Ignored>>,
}

/// An open folder with its visible entries, sorted by name.
pub(crate) struct Folder {
    pub(crate) root: Arc<Root>,
    pub(crate) dir: Dir,
    /// The path from the root.
    pub(crate) path: PathBuf,
    /// The number of levels below the start.
    pub(crate) depth: usize,
    /// The caller's tag, given on entering.
    pub(crate) tag: usize,
    pub(crate) entries: Vec<(OsString, FileKind)>,
    /// The entries that are ignored, and so not among those.
    pub(crate) ignored_entries: Vec<(OsString, FileKind)>,
    ignored: Option<Arc<Ignored>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, cancelled: &'a dyn Fn() -> bool, limits: WalkLimits) -> Self {
        Self { disk, cancelled, limits, waiting: VecDeque::new(), unseen: Unseen::default() }
    }

    /// Starts at this folder of a root. Ignore files above it apply.
    pub(crate) fn start(&mut self, root: &Arc<Root>, path: &Path, tag: usize) {
        let mut above: Option<Arc<Ignored>> = None;
        for folder in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
            // Rules such as `build/*` ignore everything in a folder, but naming the folder means its files.
            above = above.filter(|above| !above.are_about_all_in(folder));
            if folder != path
                && let Ok(dir) = self.disk.open_dir(&root.dir, folder)
            {
                above = Ignored::within(self.disk, &dir, folder, above, &|_| true, &mut self.limits.ignored);
            }
        }
        self.wait(Waiting { root: Arc::clone(root), path: path.into(), depth: 0, tag, above });
    }

    /// Queues a subfolder.
    pub(crate) fn enter(&mut self, folder: &Folder, name: &OsString, tag: usize) {
        let (root, path, depth) = (Arc::clone(&folder.root), folder.path.join(name), folder.depth + 1);
        self.wait(Waiting { root, path, depth, tag, above: folder.ignored.clone() });
    }

    /// Queues these subfolders before all others, in this order.
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

    /// Returns the next folder; `None` at the end or at a limit.
    pub(crate) fn next(&mut self) -> Result<Option<Folder>, Problem> {
        while let Some(next) = self.waiting.pop_front() {
            if (self.cancelled)() {
                return Err(Problem::new(Kind::Cancelled));
            }
            self.limits.waiting += next.path.as_os_str().len();
            let read = || {
                let dir = self.disk.open_dir(&next.root.dir, &next.path)?;
                // One more than the limit, to recognise a folder with more names.
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
            if has(OWN_FOLDER) && state_folder::is_marked(self.disk, &dir) {
                continue;
            }
            let ignored = Ignored::within(self.disk, &dir, &path, above, &has, &mut self.limits.ignored);
            retain_admitted(&root.policy, &path, &mut entries, self.cancelled)?;
            let mut ignored_entries = Vec::new();
            if let Some(ignored) = &ignored {
                retain(&mut entries, self.cancelled, |name, kind| {
                    let is_ignored = ignored.leaves_out(&path.join(name), kind == FileKind::Dir);
                    if is_ignored {
                        ignored_entries.push((name.clone(), kind));
                    }
                    !is_ignored
                })?;
            }
            return Ok(Some(Folder { root, dir, path, depth, tag, entries, ignored_entries, ignored }));
        }
        Ok(None)
    }
}

/// Keeps the entries that the policy allows: forbidden ones are neither listed nor searched nor entered.
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

/// Keeps the entries that pass this test, and stops on cancellation: one folder may have a million names.
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
