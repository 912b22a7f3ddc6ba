//! The fingerprint of a file: what it is now, to tell later whether it has changed.

use emend_edit::Version;

use crate::disk::Stat;
use crate::files::roots::Roots;
use crate::files::snapshot;
use crate::problem::Code;

/// The fingerprint of a file: a different one means that the file has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Fingerprint {
    /// No file that may be read: it is missing, forbidden or unreadable.
    Unreadable,
    /// A text of this version.
    Text(Version),
    /// A file that is not text or too large, of which only the metadata counts.
    Other(Stat),
}

/// Returns the metadata of the file at a written path, if it exists and may be read.
pub(crate) fn stat(roots: &Roots, written: &str) -> Option<Stat> {
    let path = roots.admit(written).ok().filter(|path| path.place.missing == 0)?;
    roots.disk().stat(&path.place.dir, path.place.file_name()).ok()
}

/// Reads the file at a written path and returns its fingerprint.
pub(crate) fn read(roots: &Roots, written: &str) -> Fingerprint {
    let disk = &**roots.disk();
    let Ok(path) = roots.admit(written) else { return Fingerprint::Unreadable };
    match snapshot::read(disk, &path) {
        Ok(Some(snapshot)) => Fingerprint::Text(snapshot.text.version()),
        Err(problem) if matches!(problem.code(), Code::NotText | Code::TooLarge) => {
            let stat = disk.stat(&path.place.dir, path.place.file_name());
            stat.map_or(Fingerprint::Unreadable, Fingerprint::Other)
        }
        Ok(None) | Err(_) => Fingerprint::Unreadable,
    }
}
