//! The dialects: calls as other systems' tools take them, what they change, and what is answered in which words.

mod claude;
mod listed;
mod numbers;
mod recorded;
mod refusals;
mod text_editor;

use emend_testkit::{Client, Folder};

use crate::launch;

/// A server of this workspace that speaks this dialect, and a client of it.
fn speaking(folder: &Folder, dialect: &str) -> Client {
    launch(folder).argument("--dialect").argument(dialect).legacy()
}

/// The path as clients of most other systems name it.
fn absolute(folder: &Folder, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}
