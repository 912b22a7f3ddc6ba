//! What may be touched inside the workspace. Asked about resolved names, after every link is followed.

use std::ffi::OsString;

use emend_edit::problem::Kind;

/// The largest file that is read or written.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The folder of Emend's own in a workspace.
pub(crate) const OWN_FOLDER: &str = ".emend";

/// Whether this resolved path may be touched at all.
pub(crate) fn admit(names: &[OsString]) -> Result<(), Kind> {
    let is = |name: &OsString, other: &str| name.eq_ignore_ascii_case(other);
    if names.iter().any(|name| is(name, ".git")) {
        return Err(Kind::PathForbidden { rule: ".git belongs to git; use git to change it" });
    }
    if names.iter().any(|name| is(name, OWN_FOLDER)) {
        return Err(Kind::PathForbidden { rule: ".emend holds the means to undo edits" });
    }
    Ok(())
}
