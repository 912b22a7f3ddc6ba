//! The promises of docs/GUARANTEES.md, tested end to end with the built command: its standard input and output, and the
//! bytes on disk afterwards. Most tests compare bytes and codes, and not the text of a message.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod cli;
mod faults;
mod formats;
mod house;
mod http;
mod policy;
mod protocol;
mod refused;
#[cfg(feature = "team")]
mod team;
mod tools;
#[cfg(windows)]
mod windows;

use std::process::{Child, Stdio};

use emend_testkit::{Client, Folder, Launch};
use serde_json::{Value, json};

/// The built command.
const EMEND: &str = env!("CARGO_BIN_EXE_emend");

/// No test of its own: see `emend_testkit::language_server`.
#[cfg(unix)]
#[test]
fn serves_as_the_fake_language_server() {
    emend_testkit::language_server::serve_if_started_as_server();
}

/// A server of this workspace, not started yet.
fn launch(folder: &Folder) -> Launch {
    Launch::new(EMEND).workspace(folder.path()).state(folder.state())
}

/// A server of this workspace for who writes and reads its pipes by hand.
fn spawn(folder: &Folder) -> Child {
    let mut command = launch(folder).command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The message by which a client of 2025 opens a session.
fn opening() -> Value {
    let client = json!({"name": "testkit", "version": "0"});
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening})
}

/// A server of this workspace, and a client of it.
fn serve(folder: &Folder) -> Client {
    launch(folder).legacy()
}

/// A server of this workspace with these arguments, and a client of it.
fn serve_with(folder: &Folder, arguments: &[&str]) -> Client {
    arguments.iter().fold(launch(folder), Launch::argument).legacy()
}

/// A server of this workspace that answers in full, and a client of it.
fn serve_in_full(folder: &Folder) -> Client {
    launch(folder).argument("--answers=full").legacy()
}
