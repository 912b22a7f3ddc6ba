//! Emend's MCP surface: the only part that knows rmcp, JSON Schema and the names on the wire.
//!
//! One [`Emend`] handler serves both eras of the protocol. A call goes one way: [`arguments`] checks it and
//! gives it types, [`tools`] turns it into a patch and asks the workspace, [`wire`] turns the answer into
//! an outcome, [`render`] into prose. Async stops here: each call is one blocking job.

pub mod messages;

pub mod answer;
pub mod arguments;
pub mod schema;
pub mod wire;

pub mod approval;
mod asking;
pub mod previews;
mod progress;
pub mod reading;
mod refusal;
mod registrations;
pub mod render;
mod running_calls;
pub mod server_diagnostics;
pub mod session;

pub mod tools;

mod completions;
mod editors;
pub mod local;
mod prompts;
mod resources;
mod subscriptions;
mod uri;
mod watch;

pub mod events;

pub mod effects;
pub mod handler;

mod calls;
mod editing;

mod malformed;

pub mod http;
mod stdio;

pub use effects::Effects;
pub use handler::Emend;
pub use http::serve_http;
pub use stdio::serve_stdio;
