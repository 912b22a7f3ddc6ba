//! The files of a search: each file of a scope, and the text of one as a reading shows it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use cap_std::fs::Dir;

use crate::disk::{Disk, FileKind};
use crate::files::roots::{Root, Roots, Start};
use crate::files::snapshot::ForbiddenFiles;
use crate::files::walk::{Unseen, Walk, WalkLimits, WalkScope, Within};
use crate::problem::{Kind, Problem};

use super::view::{PEEKED, View, is_binary};

/// A file of the scope.
pub(super) struct ScopedFile<'a> {
    pub(super) root: &'a Root,
    dir: &'a Dir,
    /// Its path from the root.
    pub(super) names: &'a [OsString],
    /// Returns the name by which other tools address it.
    pub(super) called: &'a dyn Fn() -> String,
}

/// What a visit of all files has left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NotVisited {
    pub(super) unseen: Unseen,
    /// The number of ignored files that the scope would take.
    pub(super) ignored_files: usize,
    /// The number of ignored folders, which were not entered.
    pub(super) ignored_folders: usize,
}

/// Calls `visit` for each file of the scope, those nearest to the start first, as long as it returns true.
pub(super) fn visit(
    roots: &Roots,
    scope: &WalkScope<'_>,
    limits: WalkLimits,
    mut visit: impl FnMut(&ScopedFile<'_>) -> bool,
) -> Result<NotVisited, Problem> {
    let within = Within::new(scope, roots)?;
    let mut walk = Walk::new(&**roots.disk(), scope.cancelled, limits);
    let mut left_out = NotVisited::default();
    let mut goes_on = true;
    for start in &within.starts {
        match start {
            Start::Folder(root, names) => walk.start(root, &names.iter().collect::<PathBuf>(), 0),
            Start::File(path) => {
                let (root, dir, names) = (&path.root, &path.place.dir, &path.place.names);
                goes_on = goes_on && visit(&ScopedFile { root, dir, names, called: &|| path.name.clone() });
            }
        }
    }
    while goes_on && let Some(folder) = walk.next()? {
        for (name, kind) in &folder.ignored_entries {
            match kind {
                FileKind::Dir => left_out.ignored_folders += 1,
                FileKind::File if within.takes(&folder.path.join(name)) => left_out.ignored_files += 1,
                FileKind::File | FileKind::Link | FileKind::Other(_) => {}
            }
        }
        for (name, kind) in &folder.entries {
            match kind {
                FileKind::Dir => walk.enter(&folder, name, 0),
                FileKind::File if goes_on => {
                    let path = folder.path.join(name);
                    if within.takes(&path) {
                        let names: Vec<OsString> = path.iter().map(OsString::from).collect();
                        let called = || roots.called_at(&folder.root, &path);
                        let file = ScopedFile {
                            root: &folder.root,
                            dir: &folder.dir,
                            names: &names,
                            called: &called,
                        };
                        goes_on = visit(&file);
                    }
                }
                FileKind::File | FileKind::Link | FileKind::Other(_) => {}
            }
            if (scope.cancelled)() {
                return Err(Problem::new(Kind::Cancelled));
            }
        }
    }
    left_out.unseen = walk.unseen;
    left_out.unseen.rest |= !goes_on;
    Ok(left_out)
}

/// The result of reading a file for a search.
pub(super) enum Searched {
    /// Its text.
    Text(View),
    /// It is not text.
    Binary,
    /// It is larger than the policy lets be read.
    TooLarge,
    /// There is no file that may be read.
    Nothing,
    /// The files read before it were all that one search reads.
    Enough,
}

/// Reads the files of one search, up to a number of bytes.
pub(super) struct Reader<'a> {
    disk: &'a dyn Disk,
    /// The number of bytes that may still be read.
    left: u64,
    /// Whether a file is waited for that another program holds. One search waits for one of them in vain: there may be
    /// thousands.
    is_patient: bool,
    forbidden: ForbiddenFiles,
}

impl<'a> Reader<'a> {
    pub(super) fn new(disk: &'a dyn Disk, bytes: u64) -> Self {
        Self { disk, left: bytes, is_patient: true, forbidden: ForbiddenFiles::default() }
    }

    /// Reads a file as a reading shows it. One that is gone is nothing.
    pub(super) fn read(&mut self, file: &ScopedFile<'_>) -> io::Result<Searched> {
        match self.read_present(file) {
            Err(error) if is_gone(&error) => Ok(Searched::Nothing),
            read => read,
        }
    }

    fn open(&mut self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        if !self.is_patient {
            return self.disk.open_at_once(dir, name);
        }
        self.disk.open_file(dir, name).inspect_err(|error| {
            self.is_patient = error.kind() != io::ErrorKind::ResourceBusy;
        })
    }

    fn read_present(&mut self, file: &ScopedFile<'_>) -> io::Result<Searched> {
        let &ScopedFile { root, dir, names, .. } = file;
        let Some(name) = names.last() else { return Ok(Searched::Nothing) };
        let file = self.open(dir, name)?;
        let stat = self.disk.stat_file(&file)?;
        if stat.kind != FileKind::File {
            return Ok(Searched::Nothing);
        }
        if stat.links > 1 && self.forbidden.by_other_name(self.disk, root, names, &stat)?.is_some() {
            return Ok(Searched::Nothing);
        }
        let largest = root.policy.terms().max_file_bytes;
        if stat.size > largest {
            return Ok(Searched::TooLarge);
        }
        let Some(left) = self.left.checked_sub(stat.size) else { return Ok(Searched::Enough) };
        self.left = left;
        let mut bytes = Vec::new();
        if stat.size > PEEKED * 16 {
            // Most large files are binary, and their first bytes show it.
            bytes = self.disk.read(&file, PEEKED - 1, &mut |_| {})?;
            if is_binary(&bytes) {
                return Ok(Searched::Binary);
            }
        }
        let rest = self.disk.read(&file, largest, &mut |_| {})?;
        if bytes.is_empty() {
            bytes = rest;
        } else {
            bytes.extend_from_slice(&rest);
        }
        Ok(View::of(bytes).map_or(Searched::Binary, Searched::Text))
    }
}

fn is_gone(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let is_link = false;
    is_link || error.kind() == io::ErrorKind::NotFound
}
