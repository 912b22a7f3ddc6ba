//! Emend's MCP server: the only crate that knows rmcp, JSON Schema and the names on the wire.
//!
//! One [`Emend`] handler serves both eras of the protocol, on every transport of rmcp:
//!
//! ```
//! use emend_server::Emend;
//! use emend_workspace::{RootSpec, Workspace, disk};
//! use rmcp::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let root = RootSpec { name: None, path: folder.path().to_owned() };
//! let emend = Emend::new(Workspace::open(disk::for_this_machine(), &[root], None));
//!
//! // A program would call `emend_server::serve_stdio(emend)`; here both ends are in one process.
//! let (here, there) = tokio::io::duplex(64 * 1024);
//! let server = tokio::spawn(async move { emend.serve(there).await });
//! let client = ().serve(here).await?;
//! let tools = client.list_all_tools().await?;
//! assert!(tools.iter().any(|tool| tool.name == "apply_patch"));
//! # client.cancel().await?;
//! # server.await??.waiting().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A call goes one way: [`arguments`] checks it and gives it types, [`tools`] turns it into a patch and asks the
//! workspace, [`wire`] turns the result into an outcome, [`render`] into prose. Async stops here: calls block a thread.

pub mod messages;

pub mod answer;
pub mod arguments;
pub mod schema;
pub mod wire;

pub mod app_approval;
mod apply_model;
pub mod approval;
mod asking;
mod kept_session;
pub mod manner;
mod notebook_reading;
mod outline_text;
pub mod previews;
pub mod principal;
mod progress;
pub mod reading;
mod refusal;
mod refused_hunks;
mod registrations;
pub mod render;
mod running_calls;
pub mod server_diagnostics;
pub mod session;
mod short;

pub mod tools;

mod completions;
mod editors;
pub mod local;
mod prompts;
mod resources;
mod review_page;
mod skills;
mod subscriptions;
mod uri;
mod watch;

pub mod events;

pub mod effects;
pub mod handler;

mod call_slots;
mod calls;
mod door;
mod resumption;

mod dialects;
mod malformed;

pub mod http;
pub mod in_process;
pub mod loopback;
mod page_answers;
mod stdio;

pub use apply_model::ApplyModel;
pub use effects::Effects;
pub use handler::Emend;
pub use http::serve_http;
pub use stdio::serve_stdio;
