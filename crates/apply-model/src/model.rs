//! The seam between those who ask a model and the way to it.

use std::fmt::Debug;

use crate::failure::Failure;
use crate::prompt::Prompt;

/// A model that answers a prompt with a text.
pub trait Model: Debug + Send + Sync {
    /// Returns the name of the model, for records and answers.
    fn name(&self) -> &str;

    /// Asks the model. Blocks until it has answered, the time is over or the caller gives up.
    fn ask(&self, prompt: &Prompt, cancelled: &dyn Fn() -> bool) -> Result<String, Failure>;
}
