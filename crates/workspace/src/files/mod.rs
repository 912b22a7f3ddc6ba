//! What touches the user's files: where they are, what they hold, how they are found, how they change all at once, and what
//! is kept of that.
//!
//! Nothing in here knows who asks for an edit, or why: that is [`edits`](crate::edits).

pub mod resolve;
pub mod roots;
pub(crate) mod trail;

pub(crate) mod effort;
pub mod report;
pub(crate) mod sight;
pub mod snapshot;

pub mod catalogue;
pub mod list;
pub(crate) mod meant;
pub mod search;
pub(crate) mod walk;

pub mod commit;
pub mod lock;
pub(crate) mod recovery;
pub(crate) mod seal;
pub mod vault;

pub mod mailbox;

pub mod history;
pub mod survey;
