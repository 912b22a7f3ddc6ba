//! The promises of docs/GUARANTEES.md, tested end to end: the built command, spoken to over its standard input and
//! output, and the bytes on disk afterwards. What is compared is bytes and codes, never the text of a message.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod cli;
mod faults;
mod formats;
mod house;
mod http;
mod policy;
mod protocol;
mod tools;

use emend_testkit::{Client, Folder, Launch};

/// The built command.
const EMEND: &str = env!("CARGO_BIN_EXE_emend");

/// A server of this workspace, not started yet.
fn launch(folder: &Folder) -> Launch {
    Launch::new(EMEND).workspace(folder.path()).state(folder.state())
}

/// A server of this workspace, and a client of it.
fn serve(folder: &Folder) -> Client {
    launch(folder).legacy()
}
