//! The specification of a tool: its name, description, arguments, effect and function, all on the arguments' type.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool as ListedTool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tracing::field::Empty;
use tracing::{Span, debug_span};

use emend_workspace::problem::Problem;
use emend_workspace::{ListedTools, Mode, NotDone, Origin};

use super::edit_request::EditRequest;
use super::{Call, making};
use crate::answer::{Answer, Unanswered};
use crate::principal::Scope;
use crate::{arguments, schema};

/// The description of a tool for clients, without its arguments.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name on the wire.
    pub name: &'static str,
    /// The title that a person sees.
    pub title: &'static str,
    /// The description that a model reads.
    pub description: &'static str,
    /// The effect on files.
    pub effect: Effect,
    /// Whether a repeated call changes nothing more.
    pub is_idempotent: bool,
    /// Whether it is one of the few tools that most work needs: clients that load tools only when a model searches for them
    /// are asked to load these at once.
    pub is_core: bool,
}

impl About {
    /// Returns the tool as clients see it in the list. What clients assume without being told is left out.
    pub(crate) fn listed(&self, input: &JsonObject, search_words: Option<&str>) -> ListedTool {
        let reads = !matches!(self.effect, Effect::Edits | Effect::Decides);
        let annotations =
            ToolAnnotations::from_raw(Some(self.title.to_owned()), reads.then_some(true), None, None, None);
        let tool = ListedTool::new(self.name, self.description, schema::listed(input.clone()))
            .with_annotations(annotations);
        let mut meta = MetaObject::default();
        if self.is_core {
            meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
        }
        if let Some(words) = search_words {
            meta.insert("anthropic/searchHint".to_owned(), words.into());
        }
        if meta.is_empty() { tool } else { tool.with_meta(meta) }
    }
}

/// The effect of a tool on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The tool changes nothing, and its answer is text alone.
    Reads,
    /// The tool changes nothing, and its answer is the outcome of a preview.
    Shows,
    /// The tool changes no file, but what may be changed; its answer is text alone.
    Decides,
    /// The tool changes files.
    Edits,
}

impl Effect {
    /// Returns the scope that a call with this effect needs.
    #[must_use]
    pub fn scope(self) -> Scope {
        match self {
            Self::Reads => Scope::Read,
            Self::Shows | Self::Edits => Scope::Write,
            Self::Decides => Scope::Approve,
        }
    }

    /// Returns what a call with this effect does, as a verb.
    pub(crate) fn as_verb(self) -> &'static str {
        match self {
            Self::Reads => "read files",
            Self::Shows | Self::Edits => "edit files",
            Self::Decides => "approve edits",
        }
    }
}

/// The arguments of a tool.
pub(super) trait ToolArguments: DeserializeOwned + JsonSchema {
    /// The description of the tool.
    const ABOUT: About;
    /// Whether the tool is listed only where there is an apply model.
    const NEEDS_MODEL: bool = false;
    /// Words by which a model may search for the tool, beyond those of its name and title.
    const SEARCH_WORDS: Option<&'static str> = None;

    /// Generates the schema of the arguments.
    fn schema() -> JsonObject {
        schema::generate::<Self>()
    }

    /// Refuses what the schema would refuse too, but without saying why.
    fn check(_arguments: &JsonObject) -> Result<(), Problem> {
        Ok(())
    }
}

/// A tool with a function of its own.
pub(super) trait Tool: ToolArguments {
    /// Answers a call. Blocks.
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered>;
}

/// A tool that makes a patch, and shares everything after that with the other edit tools.
pub(super) trait EditTool: ToolArguments {
    /// Converts the arguments into the edit that the call asks for.
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>>;
}

/// The unchecked arguments of a call.
pub(super) struct Given<'a, T> {
    arguments: JsonObject,
    schema: &'a JsonObject,
    arguments_of: PhantomData<T>,
}

impl<'a, T: ToolArguments> Given<'a, T> {
    /// Returns the arguments, if they match the schema.
    pub(super) fn read(self) -> Result<T, Problem> {
        T::check(&self.arguments)?;
        arguments::read(self.schema, self.arguments)
    }

    /// Returns the arguments as they were sent.
    pub(super) fn raw(&self) -> &JsonObject {
        &self.arguments
    }

    /// Returns the schema of the arguments.
    pub(super) fn schema(&self) -> &'a JsonObject {
        self.schema
    }
}

type Run = fn(&ToolSpec, &Call<'_>, JsonObject) -> Result<Answer, Unanswered>;
type AsEdit = fn(&ToolSpec, &Call<'_>, JsonObject) -> Result<EditRequest, NotDone<Vec<Problem>>>;

/// A tool in the list of tools.
#[derive(Clone)]
pub struct ToolSpec {
    /// The description for clients.
    pub about: About,
    /// Whether it is listed only where there is an apply model.
    pub needs_model: bool,
    search_words: Option<&'static str>,
    /// The schema of its arguments.
    pub input: Arc<JsonObject>,
    run: Run,
    /// Reads the edit that a call asks for; `None` unless this is an edit tool.
    pub(super) as_edit: Option<AsEdit>,
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}

impl ToolSpec {
    /// Creates the specification of a tool with a function of its own.
    pub(super) fn for_tool<T: Tool>() -> Self {
        let run: Run = |tool, call, arguments| T::answer(call, tool.given(arguments));
        Self {
            about: T::ABOUT,
            needs_model: T::NEEDS_MODEL,
            search_words: T::SEARCH_WORDS,
            input: Arc::new(T::schema()),
            run,
            as_edit: None,
        }
    }

    /// Creates the specification of a tool that makes a patch.
    pub(super) fn for_edit<T: EditTool>() -> Self {
        let as_edit: AsEdit = |tool, call, arguments| understand::<T>(call, tool.given(arguments));
        let run: Run =
            |tool, call, arguments| making::run(call, || understand::<T>(call, tool.given(arguments)));
        Self {
            about: T::ABOUT,
            needs_model: T::NEEDS_MODEL,
            search_words: T::SEARCH_WORDS,
            input: Arc::new(T::schema()),
            run,
            as_edit: Some(as_edit),
        }
    }

    fn given<T>(&self, arguments: JsonObject) -> Given<'_, T> {
        Given { arguments, schema: &self.input, arguments_of: PhantomData }
    }

    /// Runs the tool. Blocks.
    pub fn run(&self, call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
        (self.run)(self, call, arguments)
    }

    /// Creates the answer to a call whose arguments mean nothing.
    pub(crate) fn refused(&self, problem: &Problem) -> Answer {
        match self.about.effect {
            Effect::Reads | Effect::Decides => Answer::reading(Err(problem.clone())),
            Effect::Shows | Effect::Edits => Answer::refusal(std::slice::from_ref(problem)),
        }
    }

    /// Creates the tracing span of a call. The steps of an edit are spans within it.
    pub(crate) fn span(&self) -> Span {
        match self.about.effect {
            Effect::Edits => debug_span!("edit", tool = self.about.name, code = Empty),
            Effect::Reads | Effect::Shows | Effect::Decides => {
                debug_span!("call", tool = self.about.name, code = Empty)
            }
        }
    }

    /// Returns whether the tool is offered in this mode: a read-only workspace offers none that makes or shows edits.
    #[must_use]
    pub fn is_offered(&self, mode: Mode) -> bool {
        mode != Mode::ReadOnly || self.about.effect == Effect::Reads
    }

    /// Returns whether the tool is in the list that models read, with or without an apply model.
    #[must_use]
    pub fn is_listed(&self, listed: ListedTools, has_model: bool) -> bool {
        (listed == ListedTools::All || self.about.is_core) && (has_model || !self.needs_model)
    }

    /// Returns the tool as clients see it in the list.
    #[must_use]
    pub fn listed(&self) -> ListedTool {
        self.about.listed(&self.input, self.search_words)
    }
}

/// Reads the arguments of an edit tool and makes its patch, within a span.
fn understand<T: EditTool>(
    call: &Call<'_>,
    given: Given<'_, T>,
) -> Result<EditRequest, NotDone<Vec<Problem>>> {
    let _span = tracing::debug_span!("parse", tool = T::ABOUT.name).entered();
    let origin = call.origin(T::ABOUT, given.raw());
    given.read()?.request(call, origin)
}
