//! The catalogue: all files of the workspace in a fixed order, in pages, and the direct children of a folder.
//!
//! The order is that of a walk: first the files of a folder, then one subfolder after another. So a page continues
//! after the last file of the one before without visiting earlier folders again, and stays correct if files are added
//! or removed meanwhile. Forbidden and ignored files are left out, and so are links, whose targets appear under their
//! own names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::problem::{Kind, Problem};

use crate::disk::FileKind;
use crate::files::roots::{Root, Roots, Start};
use crate::files::snapshot::ForbiddenFiles;
use crate::files::walk::{self, Folder, Walk};

/// A file of the catalogue.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The root of the file.
    pub root: Arc<Root>,
    /// The path from the root.
    pub path: PathBuf,
    /// The name by which tools address it.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
}

/// The start of a page: right after this file of this root, which need not exist any more.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    /// The root.
    pub root: &'a Root,
    /// The path from there.
    pub path: &'a Path,
}

/// A direct child of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Child {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Returns up to `limit` files from there on, and whether there are more.
pub(crate) fn page(
    roots: &Roots,
    after: Option<After<'_>>,
    limit: usize,
    cancelled: &dyn Fn() -> bool,
) -> Result<(Vec<Listed>, bool), Problem> {
    let mut page = Vec::new();
    let passed = after.and_then(|after| roots.all().iter().position(|root| root.path == after.root.path));
    for (at, root) in roots.all().iter().enumerate().skip(passed.unwrap_or(0)) {
        if root.policy.may_read(&[]).is_err() {
            continue;
        }
        match root.check_path(&**roots.disk()) {
            Err(problem) if roots.all().len() == 1 => return Err(problem),
            Err(_) => continue,
            Ok(()) => {}
        }
        let passed = after.filter(|_| passed == Some(at)).map(|after| after.path);
        let mut walk = Walk::new(&**roots.disk(), cancelled, walk::WalkLimits::default());
        let mut forbidden = ForbiddenFiles::default();
        walk.start(root, Path::new(""), 0);
        while let Some(folder) = walk.next()? {
            let (files, folders) = to_come(&folder, passed);
            for name in files {
                if page.len() > limit {
                    break;
                }
                page.extend(listed(roots, &folder, &mut forbidden, name));
            }
            if page.len() > limit {
                page.truncate(limit);
                return Ok((page, true));
            }
            walk.enter_next(&folder, &folders);
        }
    }
    Ok((page, false))
}

/// Returns the files and the subfolders of a folder that come after this path.
fn to_come<'a>(folder: &'a Folder, passed: Option<&Path>) -> (Vec<&'a OsString>, Vec<&'a OsString>) {
    // The components between this folder and the path, if the folder is an ancestor.
    let rest = passed.and_then(|passed| passed.strip_prefix(&folder.path).ok());
    let mut steps = rest.into_iter().flatten();
    let (next, is_deeper) = (steps.next(), steps.next().is_some());
    let entries = || folder.entries.iter();
    let files = entries().filter(|(name, kind)| {
        *kind == FileKind::File && next.is_none_or(|next| !is_deeper && name.as_os_str() > next)
    });
    let folders = entries().filter(|(name, kind)| {
        *kind == FileKind::Dir && next.is_none_or(|next| !is_deeper || name.as_os_str() >= next)
    });
    (files.map(|(name, _)| name).collect(), folders.map(|(name, _)| name).collect())
}

/// Returns a file of the catalogue, unless it is gone, has a name that no call can express, or is forbidden by another
/// of its names.
fn listed(roots: &Roots, folder: &Folder, forbidden: &mut ForbiddenFiles, name: &OsString) -> Option<Listed> {
    let disk = &**roots.disk();
    let path = folder.path.join(name);
    path.to_str()?;
    let stat = disk.stat(&folder.dir, name).ok()?;
    if stat.links > 1 {
        let names: Vec<OsString> = path.iter().map(OsString::from).collect();
        let other = forbidden.by_other_name(disk, &folder.root, &names, &stat);
        other.ok().filter(Option::is_none)?;
    }
    let name = roots.called_at(&folder.root, &path);
    Some(Listed { root: Arc::clone(&folder.root), path, name, size: stat.size })
}

/// Returns the direct children of a folder by name, as a listing shows them.
pub(crate) fn children(roots: &Roots, folder: &str) -> Result<Vec<Child>, Problem> {
    let (root, names) = match roots.admit_start(folder)? {
        Start::Folder(root, names) => (root, names),
        Start::File(path) => {
            return Err(Problem::new(Kind::NotAFile { what: "a file, not a folder" }).at(&path.name));
        }
    };
    let mut walk = Walk::new(&**roots.disk(), &|| false, walk::WalkLimits::default());
    walk.start(&root, &names.iter().collect::<PathBuf>(), 0);
    let entries = walk.next()?.map(|folder| folder.entries).unwrap_or_default();
    let child = |(name, kind): (OsString, FileKind)| {
        let name = name.into_string().ok()?;
        matches!(kind, FileKind::File | FileKind::Dir)
            .then_some(Child { name, is_folder: kind == FileKind::Dir })
    };
    Ok(entries.into_iter().filter_map(child).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::roots::RootSpec;

    fn opened(folders: &[&Path]) -> Roots {
        let specs: Vec<RootSpec> =
            folders.iter().map(|folder| RootSpec { name: None, path: folder.into() }).collect();
        Roots::open(crate::disk::for_this_machine(), &specs, &crate::Policy::default()).unwrap()
    }

    fn write(folder: &Path, files: &[&str]) {
        for file in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
    }

    /// Returns all names, in pages of `limit`.
    fn all(roots: &Roots, limit: usize) -> Vec<String> {
        let mut last: Option<Listed> = None;
        let mut names = Vec::new();
        loop {
            let after = last.as_ref().map(|last| After { root: &last.root, path: &last.path });
            let (page, more) = page(roots, after, limit, &|| false).unwrap();
            assert!(page.len() <= limit && (!more || page.len() == limit));
            names.extend(page.iter().map(|file| file.name.clone()));
            last = page.last().cloned();
            if !more {
                return names;
            }
        }
    }

    #[test]
    fn pages_of_any_size_make_the_same_list() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["z", "a.txt", "a/x/2", "a/x/1", "a/b", "a-b/c", ".gitignore", "a/.env", "skipped/d"];
        write(folder.path(), &files);
        std::fs::write(folder.path().join(".gitignore"), "skipped\n").unwrap();
        let roots = opened(&[folder.path()]);
        let whole = all(&roots, 100);
        assert_eq!(whole, [".gitignore", "a.txt", "z", "a/b", "a/x/1", "a/x/2", "a-b/c"]);
        for limit in 1..8 {
            assert_eq!(all(&roots, limit), whole, "{limit}");
        }
    }

    #[test]
    fn a_page_goes_on_after_a_file_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &["a/1", "a/2", "a/3", "b/4"]);
        let roots = opened(&[folder.path()]);
        let rest = |path: &str| {
            let after = After { root: &roots.all()[0], path: Path::new(path) };
            let (page, _) = page(&roots, Some(after), 10, &|| false).unwrap();
            page.into_iter().map(|file| file.name).collect::<Vec<_>>()
        };
        std::fs::remove_file(folder.path().join("a/2")).unwrap();
        assert_eq!(rest("a/2"), ["a/3", "b/4"]);
        std::fs::remove_dir_all(folder.path().join("a")).unwrap();
        assert_eq!(rest("a/2"), ["b/4"]);
    }

    #[test]
    fn one_root_follows_another() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(one.path(), &["a", "b/c"]);
        write(other.path(), &["a"]);
        let roots = opened(&[one.path(), other.path()]);
        let whole = all(&roots, 10);
        assert_eq!(whole.len(), 3);
        assert_eq!(all(&roots, 1), whole);
    }

    #[test]
    fn what_is_right_in_a_folder_is_named_without_what_is_forbidden() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &["a/b/c", "a/d", "a/.env"]);
        let roots = opened(&[folder.path()]);
        let child = |name: &str, is_folder| Child { name: name.into(), is_folder };
        assert_eq!(children(&roots, "").unwrap(), [child("a", true)]);
        assert_eq!(children(&roots, "a").unwrap(), [child("b", true), child("d", false)]);
        assert!(children(&roots, "a/d").is_err() && children(&roots, "e").is_err());
    }
}
