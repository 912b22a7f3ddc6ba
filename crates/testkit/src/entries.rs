//! The files of a folder with their metadata, for suites that also compare modes, owners and attributes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::path::Path;

/// A file, a link or a folder.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The bytes of a file, the target of a link, nothing for a folder.
    pub content: Vec<u8>,
    /// Kind and permissions in the system's `st_mode`; zero on systems without it.
    pub mode: u32,
    /// The ids of user and group.
    pub owner: (u32, u32),
    /// The value of the attribute `user.emend`, if it is set.
    pub attribute: Option<Vec<u8>>,
}

/// All entries of a folder, by path; the path of a folder ends in a slash.
pub type Entries = BTreeMap<String, Entry>;

/// The extended attribute that is compared.
pub const ATTRIBUTE: &str = "user.emend";

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = String::from_utf8_lossy(&self.content[..self.content.len().min(40)]);
        write!(
            f,
            "{:o} of {}:{}, {} bytes {shown:?}",
            self.mode,
            self.owner.0,
            self.owner.1,
            self.content.len()
        )?;
        self.attribute.as_ref().map_or(Ok(()), |value| write!(f, ", attribute {value:?}"))
    }
}

/// Reads all entries of a folder; none if the folder does not exist.
#[must_use]
pub fn entries(folder: &Path) -> Entries {
    let mut found = Entries::new();
    if folder.is_dir() {
        gather(folder, "", &mut found);
    }
    found
}

fn gather(folder: &Path, prefix: &str, found: &mut Entries) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let about = path.symlink_metadata().unwrap();
        let (name, content) = if about.is_dir() {
            let name = format!("{name}/");
            gather(&path, &name, found);
            (name, Vec::new())
        } else if about.is_symlink() {
            (name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else if about.is_file() {
            (name, fs::read(&path).unwrap())
        } else {
            (name, Vec::new())
        };
        let (mode, owner) = mode_and_owner(&about);
        found.insert(name, Entry { content, mode, owner, attribute: attribute(&path) });
    }
}

#[cfg(unix)]
fn mode_and_owner(about: &Metadata) -> (u32, (u32, u32)) {
    use std::os::unix::fs::MetadataExt;
    (about.mode(), (about.uid(), about.gid()))
}

#[cfg(not(unix))]
fn mode_and_owner(_about: &Metadata) -> (u32, (u32, u32)) {
    (0, (0, 0))
}

#[cfg(target_os = "linux")]
fn attribute(path: &Path) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let len = rustix::fs::lgetxattr(path, ATTRIBUTE, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}

#[cfg(not(target_os = "linux"))]
fn attribute(_path: &Path) -> Option<Vec<u8>> {
    None
}
