//! Git's folders that are not called `.git`: targets of `.git` files, common folders of worktrees, bare repositories
//! and mirrors. Git runs what is in them (hooks, `config`).
//!
//! Those that a `.git` file near the top names when a root is opened are as forbidden as `.git`. Others are recognised
//! by their content when a file is to be changed; they may be read, because projects have such folders for tests.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use crate::disk::{Disk, FileKind};

/// The limits on the folders that are searched for `.git` files, nearest to the top first: their number and depth.
const FOLDERS: usize = 256;
const DEEPEST: usize = 2;
/// The number of names visited in each.
const NAMES: usize = 4096;
/// The size of the largest `.git` file that is read.
const LONGEST: u64 = 4096;

/// Returns git's folders in this root that its `.git` files name, as components from the root.
pub(crate) fn named_by_files(disk: &dyn Disk, root: &Dir, path: &Path) -> Vec<Vec<OsString>> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(PathBuf::new(), 0)]);
    let mut left = FOLDERS;
    while let Some((folder, depth)) = waiting.pop_front() {
        let Ok(dir) = disk.open_dir(root, &folder) else { continue };
        for (name, kind) in disk.entries(&dir, NAMES).unwrap_or_default() {
            match kind {
                FileKind::File if name.eq_ignore_ascii_case(".git") => {
                    let beside = path.join(&folder);
                    let target = pointed_to(disk, &dir, &name, "gitdir:", &beside);
                    for target in target.into_iter().flat_map(|target| [common(disk, &target), Some(target)])
                    {
                        let inside = target.as_ref().and_then(|target| target.strip_prefix(path).ok());
                        let names: Vec<OsString> = inside.into_iter().flatten().map(OsString::from).collect();
                        if !names.is_empty() && !found.contains(&names) {
                            found.push(names);
                        }
                    }
                }
                FileKind::Dir if depth < DEEPEST && left > 0 && name != ".git" && name != "node_modules" => {
                    left -= 1;
                    waiting.push_back((folder.join(name), depth + 1));
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns git's folder, without links, that a file in `dir` points to; relative paths start at `beside`.
fn pointed_to(disk: &dyn Disk, dir: &Dir, name: &OsStr, before: &str, beside: &Path) -> Option<PathBuf> {
    let file = disk.open_file(dir, name).ok()?;
    let text = String::from_utf8(disk.read(&file, LONGEST, &mut |_| {}).ok()?).ok()?;
    let target = beside.join(text.strip_prefix(before)?.trim()).canonicalize().ok()?;
    is_git(disk, &Dir::open_ambient_dir(&target, cap_std::ambient_authority()).ok()?).then_some(target)
}

/// Returns the common folder that a worktree's own folder shares with the others.
fn common(disk: &dyn Disk, folder: &Path) -> Option<PathBuf> {
    let dir = Dir::open_ambient_dir(folder, cap_std::ambient_authority()).ok()?;
    pointed_to(disk, &dir, OsStr::new("commondir"), "", folder)
}

/// Returns why a folder inside one of git's cannot be opened, if so. A folder with its own `.git` is a project:
/// worktrees may be inside their bare repository.
pub(crate) fn around(path: &Path) -> Option<String> {
    let has = |folder: &Path, name: &str| folder.join(name).symlink_metadata().is_ok();
    let mut inside = path.ancestors().take_while(|folder| !has(folder, ".git"));
    let gits = inside.find_map(|folder| {
        let parent = folder.parent()?;
        looks_like_git(|name| has(parent, name)).then_some(parent)
    })?;
    Some(format!(
        "it is inside {}, a folder of git's (with HEAD, and objects and refs), from which git runs programs; name the \
         project's own folder instead",
        gits.display()
    ))
}

/// Returns whether git would take a folder with these names for one of its own.
pub(crate) fn looks_like_git(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn is_git(disk: &dyn Disk, dir: &Dir) -> bool {
    looks_like_git(|name| disk.stat(dir, OsStr::new(name)).is_ok())
}
