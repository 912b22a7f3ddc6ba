//! The request of a client.

use std::collections::BTreeMap;

use emend_edit::patch::Patch;

/// The request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The changes.
    pub patch: &'a Patch,
    /// The versions that the call names, by path as written.
    pub versions: &'a BTreeMap<String, String>,
}
