//! The pure core: an edit is a value, computed and checked completely before anything is touched.
//!
//! ```text
//! text -> parse -> plan -> (check -> commit, in the workspace crate) -> report
//! ```
//!
//! Nothing here reads a file, a clock or the environment: the crate is `no_std`, so the compiler proves
//! it. Read the modules in the order below; each uses only those above it.
//!
//! Deliberately absent: serde on any type (the wire has its own structs in the server crate), async,
//! paths of the operating system (a file is known here by the name that the workspace gave it).

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod problem;
pub mod version;

pub mod encoding;

mod tokens;

pub mod excerpt;

pub mod text;

pub mod edit;

pub mod patch;

pub mod find;

pub mod plan;

pub mod diff;

pub use encoding::Encoding;
pub use problem::{Code, Problem};
pub use text::Text;
pub use version::Version;
