//! The pure core: an edit is a value, computed and checked completely before any file changes.
//!
//! ```text
//! text -> parse -> plan -> (check -> commit, in the workspace crate) -> report
//! ```
//!
//! ```
//! use std::sync::Arc;
//!
//! use emend_edit::Text;
//! use emend_edit::find::FindLimits;
//! use emend_edit::patch::v4a;
//! use emend_edit::plan::{self, Source, Sources};
//!
//! let patch = v4a::parse("*** Begin Patch\n*** Update File: a.txt\n-one\n+two\n*** End Patch\n").unwrap();
//! let mut sources = Sources::default();
//! sources.insert("a.txt", "a.txt", Source::Present(Arc::new(Text::new(b"zero\r\none\r\n".to_vec()).unwrap())));
//! let plan = plan::build(&patch, &sources, &FindLimits::default()).unwrap();
//! // The line keeps the line ending that the file has.
//! assert_eq!(plan.files()[0].new_text().unwrap(), b"zero\r\ntwo\r\n");
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

pub mod version;

pub mod problem;

pub mod encoding;

mod compare;

mod tokens;

pub mod elision;

pub mod excerpt;

pub mod text;

pub mod edit;

pub mod follow;

pub mod patch;

pub mod find;

pub mod plan;

pub mod diff;

pub mod proposal;

pub mod standing;

pub use encoding::Encoding;
pub use problem::{Code, Problem};
pub use text::Text;
pub use version::Version;
