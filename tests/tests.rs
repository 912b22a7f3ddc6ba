//! The promises of docs/GUARANTEES.md, tested end to end: the built command, spoken to over its standard input and
//! output, and the bytes on disk afterwards. What is compared is bytes and codes, never the text of a message.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod after_hooks;
mod apply_patch;
mod approval;
mod asking;
mod cancellation;
mod cli;
mod cli_doctor;
mod cli_events;
mod cli_history;
mod cli_init;
mod cli_log;
mod concurrency;
mod configuration;
mod crashes;
mod demo;
mod diagnostics;
mod differential;
mod documents;
mod editors;
mod encodings;
#[cfg(unix)]
mod ending;
mod events;
mod faults;
mod few_handles;
mod formats;
mod formatters;
mod history;
mod hooks;
mod http;
mod http_limits;
mod in_place;
mod kept;
mod list_files;
mod loosening;
mod many_files;
mod messages;
mod metadata;
mod move_delete;
mod packaging;
mod paths;
mod policy;
mod portable;
mod preview;
mod prompts;
mod protected_roots;
mod protocol;
mod reading;
mod recovery;
mod replace_lines;
mod resources;
mod roots;
mod schemas;
mod search_text;
mod special_files;
mod stale;
mod str_replace;
mod subscriptions;
mod syntax_guard;
#[cfg(feature = "otel")]
mod telemetry;
mod tidy;
mod watching;
mod write_file;

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
