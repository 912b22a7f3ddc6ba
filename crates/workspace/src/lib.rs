//! The workspace: the only part of Emend that touches the user's files.
//!
//! A request arrives as a [`Patch`](emend_edit::patch::Patch), is gathered, checked, planned and committed while its
//! files are locked, and leaves as a [`Report`]. Async, MCP and JSON schemas are unknown here: these are plain functions
//! that block.
//!
//! ```
//! use emend_workspace::{RootSpec, Workspace, disk};
//!
//! let folder = tempfile::tempdir().unwrap();
//! std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
//! let root = RootSpec { name: None, path: folder.path().to_owned() };
//! let workspace = Workspace::open(disk::for_this_machine(), &[root], None).unwrap();
//! let (name, snapshot) = workspace.files().read("./a.txt").unwrap();
//! assert_eq!((&name[..], snapshot.text.bytes()), ("a.txt", &b"one\n"[..]));
//! ```
//!
//! Imports run one way, from the bottom up: [`problem`] has the expected failures, [`disk`] is the seam to the
//! operating system, [`policy`] decides what is allowed, [`files`] does it, [`edits`] has the stages of an edit (with their
//! `spans` in the log), and [`workspace`] puts them together.

pub mod problem;

pub mod disk;
pub mod policy;

pub mod files;

mod spans;

pub mod edits;

pub mod workspace;

pub use disk::Stat;
pub use edits::approval::{self, Approval, AwaitingApproval, NotCommitted};
pub use edits::committed_edit::{CommittedEdit, CommittedFile};
pub use edits::contents::Contents;
pub use edits::context::EditContext;
pub use edits::event_log;
pub use edits::hooks;
pub use edits::kept_sessions::KeptSessions;
pub use edits::placeholders;
pub use edits::preview::Preview;
pub use edits::questions::Questions;
pub use edits::readings::{self, KeptReadings, Readings};
pub use edits::request::Request;
pub use edits::reviewable;
pub use edits::running_commits::RunningCommits;
pub use emend_edit as edit;
pub use emend_threads::Mutex;
pub use files::call::CallIdentity;
pub use files::effort::{Effort, NotDone, Phase, Progress};
pub use files::fingerprint::Fingerprint;
pub use files::history::standing::Repeat;
pub use files::history::{self, Origin};
pub use files::mailbox::{Mailbox, Topic};
pub use files::note::{NotFormatted, Note};
pub use files::report::{ChangeKind, FileReport, Report};
pub use files::roots::{self, RootSpec};
pub use files::seal::{Seal, make_private};
pub use files::walk::{Unseen, WalkScope};
pub use files::written::canonical;
pub use files::{catalogue, folder_lock, list, resolve, search, snapshot, survey, symbols, vault};
pub use policy::state_folder::mark as mark_state_folder;
pub use policy::{Answers, AnswersAs, DialectName, ListedTools, Mode, Policy, Settings};
pub use problem::Problem;
pub use workspace::Workspace;
pub use workspace::files::Files;
pub use workspace::past_edits::PastEdits;
