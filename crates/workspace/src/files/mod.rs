//! The access to the user's files: resolving, reading, finding and changing them, and the history of the changes.
//!
//! Nothing here knows who asks for an edit, or why: that is in [`edits`](crate::edits).

pub(crate) mod call;
pub mod resolve;
pub(crate) mod root_locks;
pub mod roots;
pub(crate) mod trail;
pub mod written;

pub(crate) mod effort;
pub(crate) mod fingerprint;
pub(crate) mod note;
pub mod report;
pub mod snapshot;

pub mod catalogue;
pub mod list;
pub(crate) mod meant;
pub mod search;
pub mod symbols;
pub(crate) mod walk;

pub mod commit;
pub(crate) mod file_locks;
pub mod folder_lock;
pub(crate) mod recovery;
pub(crate) mod seal;
pub(crate) mod sealed_folder;
pub mod vault;

pub mod mailbox;

pub mod history;
pub mod survey;
