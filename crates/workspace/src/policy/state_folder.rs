//! State folders of Emend, by a mark that each server leaves in its own. Whichever state folder a server has itself, it
//! protects all of them: what waits for approval is in there, and what leads to review pages.
//!
//! The mark is a file with the name of Emend's own folder in workspaces. No tool makes, moves or removes anything with that
//! name, at any place.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::OWN_FOLDER;
use crate::disk::{Disk, FileKind};
use crate::problem::Kind;

/// The content of the mark. A project may have a file of that name for another reason.
const MARK: &[u8] = b"This is a state folder of Emend. No server's tools touch it.\n";

/// Marks a state folder, which must exist.
pub fn mark(state: &Path) -> io::Result<()> {
    let path = state.join(OWN_FOLDER);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(MARK),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether this folder is a state folder.
pub(crate) fn is_marked(disk: &dyn Disk, dir: &Dir) -> bool {
    let name = OsStr::new(OWN_FOLDER);
    let is_like_it =
        disk.stat(dir, name).is_ok_and(|stat| stat.kind == FileKind::File && stat.size == MARK.len() as u64);
    is_like_it && disk.open_file(dir, name).is_ok_and(|file| disk.holds(&file, MARK).unwrap_or(true))
}

/// Checks that this path from a root, without links, leads into no state folder.
pub(crate) fn check_outside(disk: &dyn Disk, root: &Dir, names: &[OsString]) -> Result<(), Kind> {
    let mut folder = PathBuf::new();
    for name in names {
        folder.push(name);
        // What is missing, or no folder, has nothing beneath it.
        let Ok(dir) = disk.open_dir(root, &folder) else { break };
        if is_marked(disk, &dir) {
            return Err(Kind::PathForbidden { rule: "it is in a state folder of Emend".into() });
        }
    }
    Ok(())
}

/// Returns why a folder inside a state folder cannot be opened, if so.
pub(crate) fn around(path: &Path) -> Option<String> {
    let is_marked = |folder: &&Path| std::fs::read(folder.join(OWN_FOLDER)).is_ok_and(|mark| mark == MARK);
    let state = path.ancestors().find(is_marked)?;
    Some(format!(
        "it is inside {}, a state folder of Emend; name the project's own folder instead",
        state.display()
    ))
}
