//! A file as read: bytes, text, version and metadata that belong together.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use emend_edit::Text;
use emend_edit::problem::{Kind, Problem};
use emend_edit::text::Intake;

use crate::disk::{Disk, FileKind, Stat};
use crate::fault::{io_problem, is_absent};
use crate::prepared::Effort;
use crate::roots::{Root, WorkspacePath};

/// A file as read. Only [`read`] makes one.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The content, with its version.
    pub text: Arc<Text>,
    /// What the file system said of the very file that the content came from.
    pub stat: Stat,
}

/// Reads a file. `Ok(None)` where nothing is.
pub(crate) fn read(
    disk: &dyn Disk,
    path: &WorkspacePath,
    effort: Effort,
) -> Result<Option<Snapshot>, Problem> {
    if path.place.missing > 0 {
        return Ok(None);
    }
    let failed = |error: &io::Error| io_problem("Reading", error).at(&path.name);
    let file = match disk.open_file(&path.place.dir, path.place.file_name()) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        // A link took its place since it was resolved, or it cannot be opened as a file at all (a socket).
        Err(error) => {
            let what = match disk.stat(&path.place.dir, path.place.file_name()) {
                Ok(stat) => kind_name(stat.kind),
                Err(_) => None,
            };
            return Err(match what {
                Some(what) => Problem::new(Kind::NotAFile { what }).at(&path.name),
                None => failed(&error),
            });
        }
    };
    let stat = disk.stat_file(&file).map_err(|error| failed(&error))?;
    if let Some(what) = kind_name(stat.kind) {
        return Err(Problem::new(Kind::NotAFile { what }).at(&path.name));
    }
    if stat.links > 1 {
        let other = forbidden_elsewhere(disk, &path.root, &path.place.names, &stat);
        let other = other
            .map_err(|error| io_problem("Looking for the other names of the file", &error).at(&path.name));
        if let Some(kind) = other? {
            return Err(Problem::new(kind).at(&path.name));
        }
    }
    let limit = path.root.policy.terms().max_file_bytes;
    let too_large = |bytes| Problem::new(Kind::TooLarge { bytes, limit }).at(&path.name);
    if stat.size > limit {
        return Err(too_large(stat.size));
    }
    if stat.size > effort.file_bytes() {
        return Err(Problem::new(Kind::NeedsPatience).at(&path.name));
    }
    let mut intake = Intake::default();
    let read = disk.read(&file, limit, &mut |bytes| intake.take(bytes));
    let bytes = read.map_err(|error| failed(&error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    let text = Text::taken(bytes, intake).map_err(|kind| Problem::new(kind).at(&path.name))?;
    Ok(Some(Snapshot { text: Arc::new(text), stat }))
}

/// Why a file is forbidden by another of its names: one beside this one, in its folder or in one above. Elsewhere it
/// could only be found by looking at every file.
pub(crate) fn forbidden_elsewhere(
    disk: &dyn Disk,
    root: &Root,
    names: &[OsString],
    stat: &Stat,
) -> io::Result<Option<Kind>> {
    let mut names = names.to_vec();
    while names.pop().is_some() {
        let dir = disk.open_dir(&root.dir, &names.iter().collect::<PathBuf>())?;
        for beside in disk.names(&dir)? {
            names.push(beside);
            let allowed = root.policy.may_read(&names);
            let Some(beside) = names.pop() else { continue };
            if let Err(kind) = allowed
                && disk.stat(&dir, &beside).is_ok_and(|other| other.is_same_file(stat))
            {
                return Ok(Some(kind));
            }
        }
    }
    Ok(None)
}

fn kind_name(kind: FileKind) -> Option<&'static str> {
    match kind {
        FileKind::File => None,
        FileKind::Dir => Some("a folder"),
        FileKind::Link => Some("a link"),
        FileKind::Other(what) => Some(what),
    }
}
