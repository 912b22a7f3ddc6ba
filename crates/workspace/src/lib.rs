//! The only part of Emend that touches files.
//!
//! A request comes in as a [`Patch`](emend_edit::patch::Patch), is gathered, checked, planned and
//! committed under the root's lock, and goes out as a [`Report`]. Async, MCP and JSON are unknown here:
//! these are plain functions that block.
//!
//! Read in this order: where files are ([`disk`], [`roots`], [`resolve`](mod@resolve)), what is known of them
//! ([`snapshot`], [`readings`]), how they are found ([`list`], [`search`], [`catalogue`]), how they change ([`lock`],
//! [`vault`], [`commit`]), what a person must allow first ([`approval`]), and the whole of it ([`workspace`]).

pub mod disk;

pub mod policy;
pub mod resolve;
pub mod roots;

pub mod contents;
pub mod readings;
mod sight;
pub mod snapshot;

pub mod catalogue;
pub mod list;
pub mod search;
mod walk;
mod wildcards;

pub mod commit;
pub mod lock;
pub mod vault;

mod past;
mod recovery;
mod seal;

pub mod approval;
pub mod event_log;
pub mod history;
pub mod report;

mod gather;
mod git_folder;
mod guard;
pub mod hooks;
mod landed;
mod late_warning;
mod meant;
mod merge;
mod prepared;
pub mod program;
mod request;
mod under_way;
pub mod workspace;

pub mod survey;

mod effort;
mod fault;
mod spans;
mod trail;

pub use approval::{Approval, Held, Stopped};
pub use contents::Contents;
pub use disk::Stat;
pub use effort::{Effort, Phase, Progress};
pub use emend_edit as edit;
pub use history::Origin;
pub use landed::{Landed, LandedFile};
pub use policy::{Mode, Policy, Settings};
pub use prepared::Preview;
pub use readings::Readings;
pub use report::{ChangeKind, FileReport, Report};
pub use request::{Manner, Request};
pub use roots::RootSpec;
pub use sight::Sight;
pub use walk::{Scope, Unseen};
pub use workspace::Workspace;
