//! A file at a glance: what it is now, to tell later whether it has changed.

use emend_edit::Version;

use crate::disk::Stat;
use crate::files::roots::Roots;
use crate::files::snapshot;
use crate::problem::Code;

/// What a file is at a glance: another one means that it has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// It cannot be read: nothing is there, or what is there may not be told of.
    Nothing,
    /// A text of this version.
    Text(Version),
    /// No text, or too large: only what the file system says of it.
    Other(Stat),
}

/// What the file system says of what is written so, as far as that may be told.
pub(crate) fn glance(roots: &Roots, written: &str) -> Option<Stat> {
    let path = roots.admit(written).ok().filter(|path| path.place.missing == 0)?;
    roots.disk().stat(&path.place.dir, path.place.file_name()).ok()
}

/// Looks at the file that is written so.
pub(crate) fn look(roots: &Roots, written: &str) -> Sight {
    let disk = &**roots.disk();
    let Ok(path) = roots.admit(written) else { return Sight::Nothing };
    match snapshot::read(disk, &path) {
        Ok(Some(snapshot)) => Sight::Text(snapshot.text.version()),
        Err(problem) if matches!(problem.code(), Code::NotText | Code::TooLarge) => {
            let stat = disk.stat(&path.place.dir, path.place.file_name());
            stat.map_or(Sight::Nothing, Sight::Other)
        }
        Ok(None) | Err(_) => Sight::Nothing,
    }
}
