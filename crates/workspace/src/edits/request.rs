//! What a client asks for.

use std::collections::BTreeMap;

use emend_edit::patch::Patch;

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What to change.
    pub patch: &'a Patch,
    /// The versions that the call names, by path as it was written.
    pub versions: &'a BTreeMap<String, String>,
}
