//! The answers of tools, which stay values until they are sent, since notes and diagnostics are still added to them.

use rmcp::model::{CallToolResult, ContentBlock};

use emend_workspace::problem::Problem;
use emend_workspace::{Answers, AwaitingApproval, NotCommitted};

use crate::messages::{Audience, message};
use crate::refusal;
use crate::render::{self, Tense};
use crate::short;
use crate::uri;
use crate::wire::Outcome;

/// The most characters of the line with the code.
const CODE: usize = 100;

/// The reason why a call has no answer yet. Nothing was done.
#[derive(Debug)]
pub enum Unanswered {
    /// The call cannot be quick: it has to be run again with patience.
    NotQuick,
    /// A person must be asked first.
    AwaitingApproval(Box<AwaitingApproval>),
}

/// The answer of a tool.
#[derive(Debug)]
pub enum Answer {
    /// The outcome of an edit or of its preview, or a refusal.
    Outcome(Box<Outcome>, Tense),
    /// Text for a model to read.
    Text(Box<CallToolResult>),
}

impl Answer {
    /// Creates the answer to an edit or its preview.
    pub(crate) fn from_outcome(outcome: Outcome, tense: Tense) -> Self {
        Self::Outcome(Box::new(outcome), tense)
    }

    /// Creates the answer to a request that was refused.
    pub(crate) fn refusal(problems: &[Problem]) -> Self {
        tracing::debug!(code = problems.first().map(|first| first.code().as_str()), "refused");
        Self::from_outcome(Outcome::failure(problems), Tense::Done)
    }

    /// Creates the answer to an edit that was not made, if it has one yet.
    pub(crate) fn from_not_committed(not_committed: NotCommitted) -> Result<Self, Unanswered> {
        match not_committed {
            NotCommitted::AwaitingApproval(held) => Err(Unanswered::AwaitingApproval(held)),
            NotCommitted::NotQuick => Err(Unanswered::NotQuick),
            NotCommitted::Repeated(repeat) => Ok(Self::from_outcome(Outcome::repeated(&repeat), Tense::Done)),
            NotCommitted::Problems(problems) => Ok(Self::refusal(&problems)),
        }
    }

    /// Creates the answer of a tool that only reads: text without structured content, even for a refusal.
    pub(crate) fn reading(text: Result<String, Problem>) -> Self {
        match text {
            Ok(text) => Self::text(text),
            Err(problem) => {
                let code = problem.code();
                let message = refusal::fitted(&message(&problem, Audience::Model), refusal::ROOM - CODE);
                let content = vec![ContentBlock::text(format!("{message}\n[{code}]"))];
                Self::Text(Box::new(CallToolResult::error(content)))
            }
        }
    }

    /// Creates an answer that is only text.
    pub(crate) fn text(text: String) -> Self {
        Self::Text(Box::new(CallToolResult::success(vec![ContentBlock::text(text)])))
    }

    /// Returns the outcome, if the answer is one.
    pub(crate) fn outcome(&mut self) -> Option<&mut Outcome> {
        match self {
            Self::Outcome(outcome, _) => Some(outcome),
            Self::Text(_) => None,
        }
    }

    /// Returns the id of the edit that was made, if one was.
    pub(crate) fn edit(&self) -> Option<&str> {
        match self {
            Self::Outcome(outcome, _) => outcome.edit.as_deref(),
            Self::Text(_) => None,
        }
    }

    /// Returns the result in a word: `ok`, the code of the first problem, or `refused` if the text alone has the code.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Outcome(outcome, _) => outcome.error.as_ref().map_or("ok", |error| &error.code),
            Self::Text(result) if result.is_error == Some(true) => "refused",
            Self::Text(_) => "ok",
        }
    }

    /// Adds notes that do not concern the call itself.
    pub(crate) fn append_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            match self {
                Self::Outcome(outcome, _) => outcome.notes.get_or_insert_default().push(note),
                Self::Text(result) => result.content.push(ContentBlock::text(format!("\n{note}\n"))),
            }
        }
    }

    /// Converts the answer for the protocol: an outcome both as text and as structured content.
    pub(crate) fn into_result(self, answers: Answers) -> CallToolResult {
        let (outcome, tense) = match self {
            Self::Outcome(outcome, tense) => (outcome, tense),
            Self::Text(result) => return *result,
        };
        let (text, outcome) = match answers {
            Answers::Short if outcome.is_failure() => {
                (render::outcome(&outcome, tense), short::refusal(*outcome))
            }
            Answers::Short if tense == Tense::Done => short::success(*outcome),
            _ => (render::outcome(&outcome, tense), *outcome),
        };
        let mut content = vec![ContentBlock::text(text)];
        if let Some(edit) = outcome.edit.as_ref().filter(|_| outcome.diff_goes_on) {
            content.push(ContentBlock::resource_link(uri::link_to_diff(edit)));
        }
        let mut result = match outcome.is_failure() {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        result.structured_content = serde_json::to_value(outcome).ok();
        result
    }
}
