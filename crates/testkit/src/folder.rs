//! A temporary folder with a workspace in it, and its content as one value for comparisons.
//!
//! The workspace is a subfolder, so that tests can check the outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The content of a folder, by path: a file's bytes; `name -> target` for a link; `name/` for an empty folder; `name|`
/// for anything else. Two folders with equal trees have the same files.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// A workspace in a temporary folder, which is removed when this is dropped.
#[derive(Debug)]
pub struct Folder {
    outer: TempDir,
    path: PathBuf,
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// Creates an empty workspace.
    #[must_use]
    pub fn new() -> Self {
        let outer = tempfile::Builder::new().prefix("emend-test-").tempdir().unwrap();
        // On some systems, the path of the temporary folder contains a link.
        let path = emend_workspace::canonical(outer.path()).unwrap().join("ws");
        fs::create_dir(&path).unwrap();
        Self { outer, path }
    }

    /// Creates a workspace with these files.
    #[must_use]
    pub fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let folder = Self::new();
        for (name, content) in files {
            folder.write(name, content);
        }
        folder
    }

    /// The path of the workspace, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state folder of the server, beside the workspace.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.beside("state")
    }

    /// A path beside the workspace, and so outside of it.
    #[must_use]
    pub fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// The path of a file in the workspace.
    #[must_use]
    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The URI of a file in the workspace, as the server writes it.
    #[must_use]
    pub fn uri(&self, name: &str) -> String {
        format!("{}/{name}", uri(&self.path))
    }

    /// Writes a file and its folders as another program would, in place.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The bytes of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> Vec<u8> {
        match fs::read(self.at(name)) {
            Ok(bytes) => bytes,
            Err(error) => panic!("{name}: {error}; there is {:?}", self.tree().keys()),
        }
    }

    /// A file as text.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Whether something has this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.at(name).symlink_metadata().is_ok()
    }

    /// Reads everything in the workspace.
    #[must_use]
    pub fn tree(&self) -> Tree {
        tree(&self.path)
    }

    /// Reads everything in the temporary folder: the workspace, the files beside it, and the server's state. On Windows, files
    /// that serve as locks are left out with their folders: a first edit makes them, refused or not.
    #[must_use]
    pub fn everything(&self) -> Tree {
        let mut tree = tree(self.outer.path());
        tree.retain(|name, _| !(cfg!(windows) && is_for_locks(name)));
        tree
    }
}

/// The URI of a path, as the server writes it, if the path is of characters that stand for themselves there.
#[must_use]
pub fn uri(path: &Path) -> String {
    if !cfg!(windows) {
        return format!("file://{}", path.display());
    }
    format!("file:///{}", path.display().to_string().replace('\\', "/").replace(':', "%3A"))
}

/// Returns whether this is in the state folder before any edit is made, where locks are files of it.
fn is_for_locks(name: &str) -> bool {
    let Some(inner) = name.strip_prefix("state/") else { return false };
    let in_vault = inner.strip_prefix("roots/").and_then(|root| root.split_once('/'));
    matches!(inner, "key" | ".emend")
        || in_vault
            .is_some_and(|(_, file)| matches!(file, "folder" | "locks" | "sharing" | "history/" | "tx/"))
}

/// Reads everything in a folder; nothing if the folder does not exist.
#[must_use]
pub fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    if folder.is_dir() {
        gather(folder, "", &mut found);
    }
    found
}

fn gather(folder: &Path, prefix: &str, found: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            found.insert(format!("{name} -> {}", target.display()), Vec::new());
        } else if kind.is_dir() {
            let before = found.len();
            gather(&path, &format!("{name}/"), found);
            if found.len() == before {
                found.insert(format!("{name}/"), Vec::new());
            }
        } else if kind.is_file() {
            found.insert(name, fs::read(&path).unwrap());
        } else {
            found.insert(format!("{name}|"), Vec::new());
        }
    }
}
