//! An apply model: a language model that merges a described change into a file. This crate asks one for a text, over
//! HTTP, within limits.
//!
//! It decides nothing. What comes back is only text, of which a caller checks every line before anything is done with it.
//!
//! [`Model`] is the seam: [`connect()`] makes the one that speaks HTTP, if the feature `http` is on, and tests have their own.
//! Read the modules in the order below; each uses only those above it.

pub mod address;
pub mod key;
pub mod prompt;

pub mod failure;

mod model;
#[cfg(feature = "http")]
mod reply;
mod settings;

mod connect;
#[cfg(feature = "http")]
mod over_http;

pub use address::Address;
pub use connect::{NoModel, connect};
pub use failure::Failure;
pub use key::Key;
pub use model::Model;
pub use prompt::{Prompt, Retry};
pub use settings::Settings;
