//! Which program is meant by a name, and which folders it may take programs from in its turn: none that edits could
//! change.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The program of this name: an absolute path, or what is found in the folders of `PATH`. Never one in these roots, where
/// edits could change what it does. The error says why there is none.
pub fn find(name: &str, search: Option<&OsStr>, roots: &[&Path]) -> Result<PathBuf, String> {
    let candidates: Vec<PathBuf> = if Path::new(name).is_absolute() {
        vec![name.into()]
    } else if name.contains('/') {
        return Err(format!("'{name}' is neither a name nor an absolute path"));
    } else {
        // Relative entries would be found in whichever folder this runs in.
        let folders = std::env::split_paths(search.unwrap_or_default()).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(name)).collect()
    };
    let mut inside = None;
    for candidate in candidates {
        let Some(real) = candidate.canonicalize().ok().filter(|real| is_program(real)) else { continue };
        let is_in = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        if is_in(&real) || is_in(&candidate) || is_by_link(&candidate, &is_in) {
            inside.get_or_insert(candidate);
        } else {
            return Ok(candidate);
        }
    }
    Err(match inside {
        Some(inside) => {
            format!("{} is inside the workspace, where edits could change it", inside.display())
        }
        None => format!("there is no program '{name}'"),
    })
}

/// The folders that programs are looked for in.
#[must_use]
pub fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// What a program gets as its `PATH`: none of the folders in these roots, and none that depends on the folder that it runs
/// in. What it runs by name, such as the interpreter of a script, is then no program of a root either.
#[must_use]
pub fn search_path_outside(roots: &[&Path]) -> OsString {
    let search = search_path().unwrap_or_default();
    let is_in = |path: &Path| roots.iter().any(|root| path.starts_with(root));
    let is_outside = |folder: &PathBuf| {
        folder.is_absolute() && !is_in(folder) && !folder.canonicalize().is_ok_and(|real| is_in(&real))
    };
    std::env::join_paths(std::env::split_paths(&search).filter(is_outside)).unwrap_or_default()
}

/// Whether a link on the way from here to the file itself is in one of the folders: it says which program it is.
fn is_by_link(path: &Path, is_in: &dyn Fn(&Path) -> bool) -> bool {
    let mut at = path.to_path_buf();
    // As many links as the system follows.
    for _ in 0..40 {
        let Some(folder) = at.parent().and_then(|folder| folder.canonicalize().ok()) else { return true };
        let Some(name) = at.file_name() else { return true };
        let here = folder.join(name);
        if is_in(&here) {
            return true;
        }
        match here.read_link() {
            Ok(target) => at = folder.join(target),
            Err(_) => return false,
        }
    }
    true
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn no_program_of_the_workspace_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let inside = root.join("sh");
        std::fs::copy("/bin/sh", &inside).unwrap();
        let outside = tempfile::tempdir().unwrap();
        let link = outside.path().join("sh");
        std::os::unix::fs::symlink(&inside, &link).unwrap();
        let roots = [root.as_path()];
        let search = std::env::join_paths([root.as_path(), Path::new("."), Path::new("/bin")]).unwrap();
        assert_eq!(find("sh", Some(&search), &roots).unwrap(), Path::new("/bin/sh"));
        // A link in a root says what is run, wherever that is.
        std::os::unix::fs::symlink("/bin/sh", root.join("links")).unwrap();
        let by_link = outside.path().join("by_link");
        std::os::unix::fs::symlink(root.join("links"), &by_link).unwrap();
        let folder_by_link = outside.path().join("folder");
        std::os::unix::fs::symlink("/bin", root.join("folder")).unwrap();
        std::os::unix::fs::symlink(root.join("folder"), &folder_by_link).unwrap();
        for absolute in [&inside, &link, &by_link, &folder_by_link.join("sh")] {
            assert!(find(absolute.to_str().unwrap(), Some(&search), &roots).unwrap_err().contains("inside"));
        }
        for wrong in ["./sh", "bin/sh", "no-such-program", "/bin"] {
            assert!(find(wrong, Some(&search), &roots).is_err(), "{wrong}");
        }
        assert!(find("sh", Some(OsStr::new(".:")), &[]).is_err());
    }
}
