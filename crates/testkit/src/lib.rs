//! The support code of Emend's tests: folders to edit, and clients for the built command.
//!
//! A dev-dependency only. Its functions panic with the facts when an expectation fails.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

pub mod command;
pub mod entries;
pub mod folder;

pub mod failing_disk;

pub mod answer;
#[cfg(feature = "authority")]
pub mod authority;
pub mod chat_endpoint;
pub mod client;
pub mod http;
pub mod imports;
#[cfg(unix)]
pub mod language_server;
pub mod picture;
#[cfg(unix)]
pub mod terminal;
#[cfg(feature = "authority")]
pub mod tls;

pub use answer::Answer;
pub use chat_endpoint::{ChatEndpoint, Heard, Say};
pub use client::{Client, Launch, Link};
pub use command::command;
pub use entries::{Entries, Entry, entries};
pub use folder::{Folder, Tree};
pub use http::{Http, HttpServer};
#[cfg(unix)]
pub use terminal::{at_terminal, at_terminal_ahead};
