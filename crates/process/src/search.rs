//! Search for programs by name, and the `PATH` that they get in turn: no program that edits could change, and no folder
//! relative to the working directory.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// How many links of one path are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Search for programs along a search path, outside of these roots, where edits could change what a program does.
#[derive(Debug, Default)]
pub struct Search {
    path: OsString,
    /// With links resolved.
    roots: Vec<PathBuf>,
}

/// Why no program was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// The request is neither a name nor an absolute path.
    Unclear(String),
    /// The only candidate is this file, which is in a root or is reached through a link in one.
    Inside(PathBuf),
    /// No file of this name is an executable program.
    Absent(String),
}

impl Search {
    /// Makes a search along this path, or along `PATH` if there is none.
    #[must_use]
    pub fn new<R: AsRef<Path>>(path: Option<OsString>, roots: &[R]) -> Self {
        let path = path.or_else(|| env::var_os("PATH")).unwrap_or_default();
        let resolved = |root: &R| root.as_ref().canonicalize().unwrap_or_else(|_| root.as_ref().to_owned());
        Self { path, roots: roots.iter().map(resolved).collect() }
    }

    /// Finds the program with this name or absolute path. Links are not resolved in the result: some programs act by
    /// the name with which they are called.
    pub fn find(&self, program: &str) -> Result<PathBuf, NotFound> {
        let written = Path::new(program);
        let candidates: Vec<PathBuf> = if written.is_absolute() {
            vec![written.to_owned()]
        } else if written.file_name() == Some(OsStr::new(program)) {
            self.absolute_folders().flat_map(|folder| files(&folder, program)).collect()
        } else {
            return Err(NotFound::Unclear(program.to_owned()));
        };
        let (inside, mut outside): (Vec<_>, Vec<_>) =
            candidates.into_iter().filter(|file| is_program(file)).partition(|file| self.is_inside(file));
        match (outside.is_empty(), inside.into_iter().next()) {
            (false, _) => Ok(outside.swap_remove(0)),
            (true, Some(inside)) => Err(NotFound::Inside(inside)),
            (true, None) => Err(NotFound::Absent(program.to_owned())),
        }
    }

    /// Has a program find what it runs by name, such as the interpreter of a script, outside of the roots too.
    pub fn lead(&self, command: &mut Command) {
        command.env("PATH", self.for_children());
        if cfg!(windows) {
            // Else the working folder, which is often a root, would come before all others.
            command.env("NoDefaultCurrentDirectoryInExePath", "1");
        }
    }

    fn for_children(&self) -> OsString {
        env::join_paths(self.absolute_folders().filter(|folder| !self.is_inside(folder))).unwrap_or_default()
    }

    /// Returns whether a file or folder is in a root, by its path or its target, or is reached through a link in a
    /// root: whoever can change that link chooses the target.
    #[must_use]
    pub fn is_inside(&self, path: &Path) -> bool {
        self.has(path)
            || path.canonicalize().is_ok_and(|path| self.has(&path))
            || links(path).is_none_or(|folders| folders.iter().any(|folder| self.has(folder)))
    }

    fn has(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Returns the absolute folders of the search path; relative ones would depend on the working directory.
    fn absolute_folders(&self) -> impl Iterator<Item = PathBuf> {
        env::split_paths(&self.path).filter(|folder| folder.is_absolute())
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclear(name) => write!(f, "'{name}' is neither a name nor an absolute path"),
            Self::Inside(file) => {
                write!(f, "{} is inside the workspace, where edits could change it", file.display())
            }
            Self::Absent(name) => write!(f, "there is no program '{name}'"),
        }
    }
}

impl Error for NotFound {}

/// Returns the files that a program name can mean in a folder.
fn files(folder: &Path, program: &str) -> Vec<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
    endings.iter().map(|ending| folder.join(format!("{program}{ending}"))).collect()
}

/// Returns the resolved folders of all links on the way to a file; `None` if the way has no end or cannot be followed.
fn links(path: &Path) -> Option<Vec<PathBuf>> {
    let mut folders = Vec::new();
    // The resolved part of the path, and the components left, the next one last.
    let mut at = PathBuf::new();
    let mut left = parts(path);
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let here = at.join(part);
        match here.read_link() {
            Ok(target) => {
                // In the system's own spelling: file names may ignore case.
                folders.push(at.canonicalize().ok()?);
                left.extend(parts(&target));
            }
            Err(_) => at = here,
        }
        if folders.len() > MOST_LINKS {
            return None;
        }
    }
    Some(folders)
}

/// Returns the components of a path in reverse; those of an absolute path include its root.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

/// Returns whether this is an executable file.
#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        fs::write(path, "#!/bin/sh\n").expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("allowed");
    }

    #[test]
    fn no_program_of_a_root_is_found_nor_one_by_a_link_in_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [root, bin, linked, through] = ["root", "bin", "linked", "through"].map(|name| folder.join(name));
        program(&root.join("bin/evil"));
        program(&bin.join("good"));
        fs::write(bin.join("text"), "").unwrap();
        symlink(root.join("bin/evil"), bin.join("evil")).unwrap();
        symlink(root.join("bin"), &linked).unwrap();
        symlink(&root, folder.join("other")).unwrap();
        // The targets are outside, but the links are in the root and can be changed there.
        symlink(bin.join("good"), root.join("link")).unwrap();
        symlink(Path::new("..").join("root").join("link"), bin.join("by_link")).unwrap();
        symlink("../bin", root.join("folder")).unwrap();
        symlink(root.join("folder"), &through).unwrap();
        symlink("round", bin.join("round")).unwrap();
        let path = env::join_paths([&root.join("bin"), &linked, &through, &bin]).unwrap();
        let mut written = OsString::from(".::bin:../bin:");
        written.push(path);
        // The root is given by a link to it.
        let search = Search::new(Some(written), &[folder.join("other")]);
        assert_eq!(search.find("good"), Ok(bin.join("good")));
        assert_eq!(search.for_children(), bin.as_os_str());
        for unclear in ["./good", "bin/good", "good/", "", ".", ".."] {
            assert_eq!(search.find(unclear), Err(NotFound::Unclear(unclear.into())));
        }
        for absent in ["text", "absent", "round"] {
            assert_eq!(search.find(absent), Err(NotFound::Absent(absent.into())));
            let file = bin.join(absent).to_str().unwrap().to_owned();
            assert_eq!(search.find(&file), Err(NotFound::Absent(file)));
        }
        assert_eq!(search.find("evil"), Err(NotFound::Inside(root.join("bin/evil"))));
        for inside in [
            root.join("bin/evil"),
            linked.join("evil"),
            bin.join("evil"),
            bin.join("by_link"),
            through.join("good"),
        ] {
            assert_eq!(search.find(inside.to_str().unwrap()), Err(NotFound::Inside(inside)));
        }
        assert_eq!(search.find(bin.join("good").to_str().unwrap()), Ok(bin.join("good")));
        assert!(search.is_inside(&bin.join("round")) && !search.is_inside(&bin.join("absent")));
    }
}
