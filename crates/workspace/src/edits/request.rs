//! What a client asks for.

use std::collections::BTreeMap;

use emend_edit::patch::Patch;

use crate::edits::approval::Approval;
use crate::files::effort::{Effort, Progress};
use crate::files::history::Origin;

/// What a client asks for.
pub struct Request<'a> {
    /// What to change.
    pub patch: &'a Patch,
    /// The versions that the call names, by path as it was written.
    pub versions: &'a BTreeMap<String, String>,
    /// How long it may take.
    pub effort: Effort,
    /// Whether the client has given up meanwhile. Asked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Who asks, and how; for the history.
    pub origin: &'a Origin,
    /// What a person has allowed, if one was asked.
    pub approval: Option<&'a Approval>,
    /// Told how far the request has come.
    pub progress: &'a dyn Fn(Progress),
}

/// How an edit that is asked for without a patch is to be made.
#[derive(Clone, Copy)]
pub struct Manner<'a> {
    /// How long it may take.
    pub effort: Effort,
    /// What a person has allowed, if one was asked.
    pub approval: Option<&'a Approval>,
    /// Whether the client has given up meanwhile. Asked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Told how far it has come.
    pub progress: &'a dyn Fn(Progress),
}
