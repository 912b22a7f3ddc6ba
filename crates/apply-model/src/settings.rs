//! The settings of a model: where it is, and the limits of a question.

use std::time::Duration;

use crate::address::Address;

/// The settings of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address of the chat endpoint.
    pub address: Address,
    /// The name of the model.
    pub model: String,
    /// The name of the variable that has the key; none for an endpoint that asks for no key.
    pub key_variable: Option<String>,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How many bytes a question and an answer may have.
    pub max_bytes: usize,
}
