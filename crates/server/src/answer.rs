//! What a tool answers: as values until it goes to the client, since what follows an edit is still told in it.

use rmcp::model::{CallToolResult, ContentBlock};

use emend_workspace::problem::Problem;
use emend_workspace::{AwaitingApproval, NotCommitted};

use crate::messages::{Audience, message};
use crate::refusal;
use crate::render::{self, Tense};
use crate::uri;
use crate::wire::Outcome;

/// How many characters a code has in its line, at most.
const CODE: usize = 100;

/// Why a call has no answer yet. Nothing was done.
#[derive(Debug)]
pub enum Unanswered {
    /// It was to be quick and cannot be: ask again with patience.
    NotQuick,
    /// A person must be asked first.
    AwaitingApproval(Box<AwaitingApproval>),
}

/// What a tool answers.
#[derive(Debug)]
pub enum Answer {
    /// What happened to files, or would happen, or why nothing did.
    Outcome(Box<Outcome>, Tense),
    /// Text for a model to read.
    Text(Box<CallToolResult>),
}

impl Answer {
    /// The answer of an edit that was made, or would be.
    pub(crate) fn from_outcome(outcome: Outcome, tense: Tense) -> Self {
        Self::Outcome(Box::new(outcome), tense)
    }

    /// The answer to a request that was refused.
    pub(crate) fn refusal(problems: &[Problem]) -> Self {
        tracing::debug!(code = problems.first().map(|first| first.code().as_str()), "refused");
        Self::from_outcome(Outcome::failure(problems), Tense::Done)
    }

    /// The answer to an edit that was not made, if it has one.
    pub(crate) fn from_not_committed(not_committed: NotCommitted) -> Result<Self, Unanswered> {
        match not_committed {
            NotCommitted::AwaitingApproval(held) => Err(Unanswered::AwaitingApproval(held)),
            NotCommitted::NotQuick => Err(Unanswered::NotQuick),
            NotCommitted::Problems(problems) => Ok(Self::refusal(&problems)),
        }
    }

    /// The answer of a tool that only reads: text, without structured content, also where it is refused.
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

    /// Text.
    pub(crate) fn text(text: String) -> Self {
        Self::Text(Box::new(CallToolResult::success(vec![ContentBlock::text(text)])))
    }

    /// The outcome, if it is one.
    pub(crate) fn outcome(&mut self) -> Option<&mut Outcome> {
        match self {
            Self::Outcome(outcome, _) => Some(outcome),
            Self::Text(_) => None,
        }
    }

    /// The edit that was made, if one was.
    pub(crate) fn edit(&self) -> Option<&str> {
        match self {
            Self::Outcome(outcome, _) => outcome.edit.as_deref(),
            Self::Text(_) => None,
        }
    }

    /// How it ended, in a word: `ok`, the code of the first problem, or `refused` where that is only in the text.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Outcome(outcome, _) => outcome.error.as_ref().map_or("ok", |error| &error.code),
            Self::Text(result) if result.is_error == Some(true) => "refused",
            Self::Text(_) => "ok",
        }
    }

    /// Adds what has nothing to do with the call itself.
    pub(crate) fn append_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            match self {
                Self::Outcome(outcome, _) => outcome.notes.get_or_insert_default().push(note),
                Self::Text(result) => result.content.push(ContentBlock::text(format!("\n{note}\n"))),
            }
        }
    }

    /// The same for the protocol: an outcome once as text and once as structured content.
    pub(crate) fn into_result(self) -> CallToolResult {
        let (outcome, tense) = match self {
            Self::Outcome(outcome, tense) => (outcome, tense),
            Self::Text(result) => return *result,
        };
        let mut content = vec![ContentBlock::text(render::outcome(&outcome, tense))];
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
