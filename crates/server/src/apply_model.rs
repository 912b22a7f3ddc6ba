//! The apply model that the user has configured, as tools ask it.

use std::sync::Arc;

use emend_apply_model::{Failure, Model, NoModel, Prompt, Retry};
use emend_workspace::problem::{Kind, Problem};

/// The apply model, or why there is none.
#[derive(Clone, Debug)]
pub struct ApplyModel {
    model: Result<Arc<dyn Model>, NoModel>,
    is_auto: bool,
}

impl Default for ApplyModel {
    fn default() -> Self {
        Self { model: Err(NoModel::NotConfigured), is_auto: false }
    }
}

/// An answer that cannot be used.
#[derive(Debug)]
pub(crate) struct Unfit {
    /// The reasons, for the model.
    pub(crate) reasons: String,
    /// The problem, for the caller, if the second answer is no better.
    pub(crate) problem: Box<Problem>,
}

impl ApplyModel {
    /// Wraps a model, or the reason why there is none. With `is_auto`, a proposal that leaves no doubt is made at once.
    #[must_use]
    pub fn new(model: Result<Arc<dyn Model>, NoModel>, is_auto: bool) -> Self {
        Self { model, is_auto }
    }

    /// Returns whether there is a model to ask.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.model.is_ok()
    }

    /// Returns why a model that is configured cannot be asked.
    #[must_use]
    pub fn unavailable(&self) -> Option<String> {
        match &self.model {
            Ok(_) | Err(NoModel::NotConfigured) => None,
            Err(why) => Some(why.to_string()),
        }
    }

    /// Returns whether a proposal that leaves no doubt is made at once.
    pub(crate) fn is_auto(&self) -> bool {
        self.is_auto
    }

    /// Returns the name of the model, or the problem that there is none.
    pub(crate) fn name(&self) -> Result<&str, Problem> {
        match &self.model {
            Ok(model) => Ok(model.name()),
            Err(why) => Err(Problem::new(Kind::ModelFailed { model: None, why: why.to_string() })),
        }
    }

    /// Asks the model, and once more with the reasons if `judge` finds its answer unfit. Blocks; nothing may be locked.
    pub(crate) fn ask<T>(
        &self,
        mut prompt: Prompt,
        cancelled: &dyn Fn() -> bool,
        judge: impl Fn(&str) -> Result<T, Unfit>,
    ) -> Result<T, Problem> {
        let name = self.name()?.to_owned();
        let failed = |failure: Failure| match failure {
            Failure::Cancelled => Problem::new(Kind::Cancelled),
            failure => {
                Problem::new(Kind::ModelFailed { model: Some(name.clone()), why: failure.to_string() })
            }
        };
        let Ok(model) = &self.model else { return Err(failed(Failure::Cancelled)) };
        let answer = model.ask(&prompt, cancelled).map_err(failed)?;
        let reasons = match judge(&answer) {
            Ok(fit) => return Ok(fit),
            Err(unfit) => unfit.reasons,
        };
        prompt.retry = Some(Retry { answer, reasons });
        let answer = model.ask(&prompt, cancelled).map_err(failed)?;
        judge(&answer).map_err(|unfit| *unfit.problem)
    }
}
