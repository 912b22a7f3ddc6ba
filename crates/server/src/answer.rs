//! The answers of tools, which stay values until they are sent, since notes and diagnostics are still added to them.

use rmcp::model::{CallToolResult, ContentBlock};

use emend_workspace::problem::{Code, Problem};
use emend_workspace::{Answers, AwaitingApproval, NotCommitted};

use crate::manner::Manner;
use crate::messages::{Audience, message};
use crate::reading::ReadPart;
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
    Text(Box<TextAnswer>),
}

/// An answer that is only text.
#[derive(Debug)]
pub struct TextAnswer {
    /// The text and what stands beside it; without the readings.
    pub(crate) result: CallToolResult,
    /// The readings, which come first.
    pub(crate) parts: Vec<ReadPart>,
    /// The code of the one problem, if it is a refusal with one.
    pub(crate) code: Option<Code>,
    /// The path of that problem.
    pub(crate) path: Option<String>,
}

impl From<CallToolResult> for TextAnswer {
    fn from(result: CallToolResult) -> Self {
        Self { result, parts: Vec::new(), code: None, path: None }
    }
}

impl From<TextAnswer> for Answer {
    fn from(answer: TextAnswer) -> Self {
        Self::Text(Box::new(answer))
    }
}

impl Answer {
    /// Creates the answer to an edit or its preview.
    pub(crate) fn from_outcome(outcome: Outcome, tense: Tense) -> Self {
        Self::Outcome(Box::new(outcome), tense)
    }

    /// Creates the answer to a request that was refused.
    pub(crate) fn refusal(problems: &[Problem]) -> Self {
        Self::refusal_for(problems, Audience::Model)
    }

    fn refusal_for(problems: &[Problem], audience: Audience) -> Self {
        tracing::debug!(code = problems.first().map(|first| first.code().as_str()), "refused");
        Self::from_outcome(Outcome::failure_for(problems, audience), Tense::Done)
    }

    /// Creates the answer to an edit that was not made, if it has one yet.
    pub(crate) fn from_not_committed(not_committed: NotCommitted) -> Result<Self, Unanswered> {
        Self::not_committed_for(not_committed, Audience::Model)
    }

    /// Creates the answer to an edit that was not made for this reader, if it has one yet.
    pub(crate) fn not_committed_for(
        not_committed: NotCommitted,
        audience: Audience,
    ) -> Result<Self, Unanswered> {
        match not_committed {
            NotCommitted::AwaitingApproval(held) => Err(Unanswered::AwaitingApproval(held)),
            NotCommitted::NotQuick => Err(Unanswered::NotQuick),
            NotCommitted::Repeated(repeat) => Ok(Self::from_outcome(Outcome::repeated(&repeat), Tense::Done)),
            NotCommitted::Problems(problems) => Ok(Self::refusal_for(&problems, audience)),
        }
    }

    /// Creates the answer of a tool that only reads: text without structured content, even for a refusal.
    pub(crate) fn reading(text: Result<String, Problem>) -> Self {
        Self::reading_for(text, Audience::Model)
    }

    /// Creates the answer of a tool that only the review page calls, where a person reads it.
    pub(crate) fn on_page(text: Result<String, Problem>) -> Self {
        Self::reading_for(text, Audience::Person)
    }

    fn reading_for(text: Result<String, Problem>, audience: Audience) -> Self {
        match text {
            Ok(text) => Self::text(text),
            Err(problem) => {
                let code = problem.code();
                let message = refusal::fitted(&message(&problem, audience), refusal::ROOM - CODE);
                let content = vec![ContentBlock::text(format!("{message}\n[{code}]"))];
                let answer = TextAnswer::from(CallToolResult::error(content));
                TextAnswer { code: Some(code), path: problem.path.clone(), ..answer }.into()
            }
        }
    }

    /// Creates an answer that is only text.
    pub(crate) fn text(text: String) -> Self {
        TextAnswer::from(CallToolResult::success(vec![ContentBlock::text(text)])).into()
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

    /// Returns whether the answer is the refusal of a reading, with this code.
    pub(crate) fn is_refused_with(&self, code: Code) -> bool {
        matches!(self, Self::Text(answer) if answer.code == Some(code))
    }

    /// Puts a text above an answer that is only text and no refusal.
    pub(crate) fn put_above(&mut self, text: &str) {
        if let Self::Text(answer) = self
            && answer.code.is_none()
        {
            answer.result.content.insert(0, ContentBlock::text(text));
        }
    }

    /// Returns the result in a word: `ok`, the code of the first problem, or `refused` if the text alone has the code.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Outcome(outcome, _) => outcome.error.as_ref().map_or("ok", |error| &error.code),
            Self::Text(answer) if answer.result.is_error == Some(true) => "refused",
            Self::Text(_) => "ok",
        }
    }

    /// Adds notes that do not concern the call itself.
    pub(crate) fn append_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            match self {
                Self::Outcome(outcome, _) => outcome.notes.get_or_insert_default().push(note),
                Self::Text(answer) => answer.result.content.push(ContentBlock::text(format!("\n{note}\n"))),
            }
        }
    }

    /// Converts the answer for the protocol: an outcome both as text and as structured content; in the words of another system
    /// as text alone.
    pub(crate) fn into_result(self, answers: Answers, manner: &Manner<'_>) -> CallToolResult {
        let (outcome, tense) = match self {
            Self::Outcome(outcome, tense) => (outcome, tense),
            Self::Text(answer) => return answer.into_result(manner),
        };
        let words = match outcome.is_failure() || tense != Tense::Done || outcome.is_repeated {
            true => None,
            false => manner.done(&outcome),
        };
        let is_short = answers == Answers::Short;
        let is_in_words_of_another = words.is_some();
        let (text, outcome) = match (outcome.is_failure(), is_short, words) {
            (true, ..) => {
                let text = manner.refused(&outcome, render::outcome(&outcome, tense));
                let mut outcome = if is_short { short::refusal(*outcome) } else { *outcome };
                let message = outcome.error.as_mut().map(|error| std::mem::take(&mut error.message));
                let message = message.map(|message| manner.refused(&outcome, message));
                if let (Some(error), Some(message)) = (&mut outcome.error, message) {
                    error.message = message;
                }
                (text, outcome)
            }
            (false, true, None) if tense == Tense::Done => short::success(*outcome),
            (false, true, Some(words)) => {
                let (_, outcome) = short::success(*outcome);
                (words + &short::beside(&outcome), outcome)
            }
            (false, _, words) => (words.unwrap_or_default() + &render::outcome(&outcome, tense), *outcome),
        };
        let mut content = vec![ContentBlock::text(text)];
        if let Some(edit) = outcome.edit.as_ref().filter(|_| outcome.diff_goes_on) {
            content.push(ContentBlock::resource_link(uri::link_to_diff(edit)));
        }
        let mut result = match outcome.is_failure() {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        // Some clients show a model the structured content alone, so it would hide the words.
        if !is_in_words_of_another {
            result.structured_content = serde_json::to_value(outcome).ok();
        }
        result
    }
}

impl TextAnswer {
    fn into_result(mut self, manner: &Manner<'_>) -> CallToolResult {
        if !self.parts.is_empty() {
            let shown = self.parts.iter().map(|part| match part {
                ReadPart::Shown(reading) => manner.reading(reading),
                ReadPart::Said(said) => said.clone(),
            });
            let text = shown.collect::<Vec<String>>().join("\n");
            let images = self.parts.iter().flat_map(|part| match part {
                ReadPart::Shown(reading) => reading.images.as_slice(),
                ReadPart::Said(_) => &[],
            });
            let images = images.map(|image| ContentBlock::image(image.base64.clone(), image.mime.clone()));
            self.result.content.splice(0..0, std::iter::once(ContentBlock::text(text)).chain(images));
        }
        if let (Some(code), Some(block)) = (self.code, self.result.content.first_mut())
            && let Some(said) = block.as_text().map(|text| text.text.clone())
        {
            *block = ContentBlock::text(manner.not_read(code.as_str(), self.path.as_deref(), said));
        }
        self.result
    }
}
