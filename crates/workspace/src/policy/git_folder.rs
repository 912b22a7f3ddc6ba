//! Folders that are git's without being called `.git`: what a `.git` file points to, the common folder of worktrees, bare
//! repositories and mirrors. What is in them (hooks, `config`) is run by git.
//!
//! Those that a `.git` file near the top names when a root is opened are off limits as `.git` is. Others are known by what
//! is in them, whenever a file is to be changed; they may be read, since projects have such folders to test with.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use crate::disk::{Disk, FileKind};

/// How many folders are looked at for `.git` files, the ones nearest to the top first, and how deep.
const FOLDERS: usize = 256;
const DEEPEST: usize = 2;
/// How many names of each.
const NAMES: usize = 4096;
/// The longest `.git` file that is read.
const LONGEST: u64 = 4096;

/// The folders of git's in this root that `.git` files of it name, by their names from the root.
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

/// The folder of git's, without links, that a file in `dir` points to; paths in it are from `beside`.
fn pointed_to(disk: &dyn Disk, dir: &Dir, name: &OsStr, before: &str, beside: &Path) -> Option<PathBuf> {
    let file = disk.open_file(dir, name).ok()?;
    let text = String::from_utf8(disk.read(&file, LONGEST, &mut |_| {}).ok()?).ok()?;
    let target = beside.join(text.strip_prefix(before)?.trim()).canonicalize().ok()?;
    is_git(disk, &Dir::open_ambient_dir(&target, cap_std::ambient_authority()).ok()?).then_some(target)
}

/// The folder that a worktree's own shares with the others.
fn common(disk: &dyn Disk, folder: &Path) -> Option<PathBuf> {
    let dir = Dir::open_ambient_dir(folder, cap_std::ambient_authority()).ok()?;
    pointed_to(disk, &dir, OsStr::new("commondir"), "", folder)
}

/// Why a folder cannot be opened that is inside one of git's, known by what is in that, if so. What has a `.git` of its own
/// is a project: worktrees lie in the bare repository that they are of.
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

/// Whether git would take a folder for one of its own that has some of these names.
pub(crate) fn looks_like_git(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn is_git(disk: &dyn Disk, dir: &Dir) -> bool {
    looks_like_git(|name| disk.stat(dir, OsStr::new(name)).is_ok())
}
