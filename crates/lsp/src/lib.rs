//! Runs language servers for two purposes: to report which errors and warnings an edit brought and how many it removed, and
//! to learn which edit a renamed symbol or a moved file needs, where a symbol stands, and what a server would change about
//! what it finds wrong.
//!
//! The crate does not depend on Emend. A program reports each edit that it has made to [`Servers`] and gets a
//! [`PendingAftermath`], which is complete once all servers concerned have answered. Callers wait for it only if they
//! choose to, and a server that hangs or misbehaves spoils no more than its own answers. A server reads files that
//! others wrote, so no server program is taken from the workspace, and each server is configured to run nothing from
//! there.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use emend_lsp::{FileChange, LspSettings, ServerState, Servers};
//!
//! let root = std::env::temp_dir();
//! // No program is found in this search path, so that the example starts none.
//! let settings = LspSettings { roots: vec![root.clone()], search: Some("".into()), ..LspSettings::default() };
//! let servers = Servers::new(settings);
//! assert!(servers.list().iter().all(|info| matches!(info.state, ServerState::NotInstalled { .. })));
//!
//! let change = FileChange {
//!     path: root.join("main.go"),
//!     before: Some(Box::new(|| "package main\n".to_owned())),
//!     after: Some(Box::new(|| "package main\n\nfunc main() {}\n".to_owned())),
//! };
//! match servers.notify_edit(vec![change]) {
//!     Some(pending) => println!("{:?}", pending.wait(Instant::now() + Duration::from_secs(5))),
//!     None => println!("no server is installed for this file"),
//! }
//! ```
//!
//! Read the modules in this order: what goes in ([`settings`]) and comes out ([`aftermath`], [`pending`], [`question`], [`place`],
//! [`workspace_edit`]), which servers
//! there are (`known`, `server_config`), all of them together ([`servers`]), one server in one root (`worker`, `queue`), a
//! running process (`server_process`, `wire`, `requests`), the documents that are open in it (`open_documents`), an
//! initialized server (`lsp_session`), its diagnostics (`position`, `raw_diagnostic`, `compare`), and what it offers to change (`code_action`).

pub mod settings;

pub mod aftermath;
pub mod pending;
pub mod place;
pub mod question;
pub mod workspace_edit;

mod known;
mod server_config;

pub mod servers;

mod queue;
mod worker;

mod requests;
mod server_process;
mod wire;

mod lsp_session;
mod open_documents;

mod code_action;
mod compare;
mod position;
mod raw_diagnostic;

pub use aftermath::{
    Aftermath, Diagnosis, Diagnostic, DiagnosticChanges, FileChange, LazyContent, ServerInfo, ServerReport,
    ServerState, Severity,
};
pub use pending::PendingAftermath;
pub use place::Place;
pub use question::{Answered, Asked, Fix, Question, Said, Which};
pub use servers::Servers;
pub use settings::{LspSettings, ServerLimits, ServerSetting};
pub use workspace_edit::{TextChange, WorkspaceEdit};
