//! Which program is started, and which folders it may take programs from in its turn: none inside a root, by whatever
//! links, and none that depends on the folder in which it is started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where programs are looked for.
#[derive(Debug)]
pub(crate) struct Search {
    path: OsString,
    /// With links resolved.
    roots: Vec<PathBuf>,
}

impl Search {
    pub(crate) fn new(path: Option<OsString>, roots: &[PathBuf]) -> Self {
        let path = path.or_else(|| env::var_os("PATH")).unwrap_or_default();
        let roots = roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect();
        Self { path, roots }
    }

    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The program of this name, or at this absolute path. An error says why there is none.
    pub(crate) fn find(&self, program: &str) -> Result<PathBuf, String> {
        let written = Path::new(program);
        if written.is_absolute() {
            return self.admit(written).ok_or_else(|| {
                if is_program(written) {
                    format!("{program} is inside the workspace, and no program is taken from there")
                } else {
                    format!("there is no program {program}")
                }
            });
        }
        if written.components().count() != 1 {
            return Err(format!("{program} is neither a name nor an absolute path"));
        }
        let mut names = vec![OsString::from(program)];
        if cfg!(windows) {
            names = [".exe", ".cmd"].iter().map(|end| OsString::from(format!("{program}{end}"))).collect();
        }
        let folders: Vec<PathBuf> = self.folders().collect();
        let files = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let mut files = files.filter_map(|file| self.admit(&file));
        files.next().ok_or_else(|| format!("there is no {program} in PATH outside the workspace"))
    }

    /// What a server gets as its `PATH`.
    pub(crate) fn for_children(&self) -> OsString {
        env::join_paths(self.folders()).unwrap_or_default()
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        env::split_paths(&self.path).filter(|folder| folder.is_absolute() && !is_inside(folder, &self.roots))
    }

    /// The file itself if it is a program, and neither it nor what it links to is inside a root. It is not exchanged for
    /// what it links to: some programs do what their name says.
    fn admit(&self, file: &Path) -> Option<PathBuf> {
        let is_ours = is_program(file)
            && !is_inside(file, &self.roots)
            && file.parent().is_none_or(|folder| !is_inside(folder, &self.roots));
        is_ours.then(|| file.to_owned())
    }
}

/// Whether it is in one of these folders, by its name or once links are resolved.
pub(crate) fn is_inside(path: &Path, roots: &[PathBuf]) -> bool {
    let resolved = path.canonicalize();
    let is_in = |path: &Path| roots.iter().any(|root| path.starts_with(root));
    is_in(path) || resolved.is_ok_and(|path| is_in(&path))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// The ending of a file, as servers are chosen by it.
pub(crate) fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

#[cfg(all(test, unix))]
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
    fn no_program_is_taken_from_a_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("there");
        let [root, bin, linked] = ["root", "bin", "linked"].map(|name| folder.join(name));
        program(&root.join("bin/evil"));
        program(&bin.join("good"));
        fs::write(bin.join("text"), "").expect("written");
        symlink(root.join("bin/evil"), bin.join("evil")).expect("linked");
        symlink(root.join("bin"), &linked).expect("linked");
        symlink(&root, folder.join("other")).expect("linked");
        let path = env::join_paths([root.join("bin"), linked.clone(), bin.clone()]).expect("a PATH");
        let mut written = OsString::from(".::bin:../bin:");
        written.push(path);
        // The root is told by another name than its own.
        let search = Search::new(Some(written), &[folder.join("other")]);
        assert_eq!(search.find("good"), Ok(bin.join("good")));
        assert_eq!(search.for_children(), bin.as_os_str());
        for refused in ["evil", "text", "./good", "bin/good", "", ".."] {
            assert!(search.find(refused).is_err(), "{refused}");
        }
        for refused in [root.join("bin/evil"), linked.join("evil"), bin.join("evil"), bin.join("absent")] {
            assert!(search.find(refused.to_str().expect("a name")).is_err(), "{}", refused.display());
        }
        assert!(search.find(bin.join("good").to_str().expect("a name")).is_ok());
    }
}
