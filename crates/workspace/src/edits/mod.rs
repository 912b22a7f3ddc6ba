//! The stages of an edit, from the request to its effects: the request, the client's readings, the plan, the guard and
//! the hooks, approval, and the events.

pub(crate) mod context;
pub(crate) mod request;

pub mod contents;
pub(crate) mod gather;
mod landing;
mod merge;
pub(crate) mod numbered_versions;
pub mod readings;

pub mod approval;
pub(crate) mod checked_plan;
pub mod hooks;
pub mod kept_sessions;
pub mod placeholders;
pub(crate) mod preview;
pub mod questions;
pub mod reviewable;
pub(crate) mod syntax_guard;

pub(crate) mod committed_edit;
pub mod event_log;
pub(crate) mod running_commits;
pub(crate) mod vault_access;

mod numbers;
pub(crate) mod repeats;
mod stale_check;

pub(crate) mod stages;
