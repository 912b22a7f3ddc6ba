//! What a tool is: its name, what a model reads of it, what it takes, what it is like and what it does stand together, on
//! the type of its arguments.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as ListedTool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tracing::field::Empty;
use tracing::{Span, debug_span};

use emend_workspace::problem::Problem;
use emend_workspace::{Mode, NotDone, Origin};

use super::Call;
use super::edit_request::{self, EditRequest};
use crate::answer::{Answer, Unanswered};
use crate::wire::Outcome;
use crate::{arguments, schema};

/// What clients see of a tool, beside its arguments.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name on the wire.
    pub name: &'static str,
    /// What a person sees.
    pub title: &'static str,
    /// What a model reads.
    pub description: &'static str,
    /// What it does to files.
    pub effect: Effect,
    /// Whether the same call does nothing more when it is sent again.
    pub is_idempotent: bool,
}

/// What a tool does to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing; the answer is text alone.
    Reads,
    /// Nothing; the answer is an outcome.
    Shows,
    /// It changes them.
    Edits,
}

/// The arguments of a tool.
pub(super) trait ToolArguments: DeserializeOwned + JsonSchema {
    /// The tool.
    const ABOUT: About;

    /// Their schema.
    fn schema() -> JsonObject {
        schema::generate::<Self>()
    }
}

/// A tool with a function of its own.
pub(super) trait Tool: ToolArguments {
    /// Answers a call. Blocks.
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered>;
}

/// A tool that makes a patch; everything after that is one path.
pub(super) trait EditTool: ToolArguments {
    /// What the call asks for.
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>>;
}

/// The arguments of a call, not looked at yet.
pub(super) struct Given<'a, T> {
    arguments: JsonObject,
    schema: &'a JsonObject,
    arguments_of: PhantomData<T>,
}

impl<'a, T: ToolArguments> Given<'a, T> {
    /// The arguments, if they are what the schema says.
    pub(super) fn read(self) -> Result<T, Problem> {
        arguments::read(self.schema, self.arguments)
    }

    /// The arguments as they were sent.
    pub(super) fn raw(&self) -> &JsonObject {
        &self.arguments
    }

    /// The schema that they are to have.
    pub(super) fn schema(&self) -> &'a JsonObject {
        self.schema
    }

    /// The argument of this name alone, and all others.
    pub(super) fn split(mut self, name: &str) -> (Self, JsonObject) {
        let own = self.arguments.remove_entry(name).into_iter().collect();
        let others = std::mem::replace(&mut self.arguments, own);
        (self, others)
    }
}

type Run = fn(&ToolSpec, &Call<'_>, JsonObject) -> Result<Answer, Unanswered>;
type AsEdit = fn(&ToolSpec, &Call<'_>, JsonObject) -> Result<EditRequest, NotDone<Vec<Problem>>>;

/// A tool in the list of all of them.
#[derive(Clone)]
pub struct ToolSpec {
    /// What clients see of it.
    pub about: About,
    /// The schema of its arguments.
    pub input: Arc<JsonObject>,
    run: Run,
    /// What a call of it asks for, if it makes a patch.
    pub(super) as_edit: Option<AsEdit>,
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}

impl ToolSpec {
    /// A tool with a function of its own.
    pub(super) fn for_tool<T: Tool>() -> Self {
        let run: Run = |tool, call, arguments| T::answer(call, tool.given(arguments));
        Self { about: T::ABOUT, input: Arc::new(T::schema()), run, as_edit: None }
    }

    /// A tool that makes a patch.
    pub(super) fn for_edit<T: EditTool>() -> Self {
        let as_edit: AsEdit = |tool, call, arguments| understand::<T>(call, tool.given(arguments));
        let run: Run =
            |tool, call, arguments| edit_request::run(call, || understand::<T>(call, tool.given(arguments)));
        Self { about: T::ABOUT, input: Arc::new(T::schema()), run, as_edit: Some(as_edit) }
    }

    fn given<T>(&self, arguments: JsonObject) -> Given<'_, T> {
        Given { arguments, schema: &self.input, arguments_of: PhantomData }
    }

    /// Runs the tool. Blocks.
    pub fn run(&self, call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
        (self.run)(self, call, arguments)
    }

    /// What the log and whoever counts edits see of a call. The steps of the edit are spans within it.
    pub(crate) fn span(&self) -> Span {
        match self.about.effect {
            Effect::Edits => debug_span!("edit", tool = self.about.name, code = Empty),
            Effect::Reads | Effect::Shows => debug_span!("call", tool = self.about.name, code = Empty),
        }
    }

    /// Whether there is such a tool where this becomes of edits: where there are none, nothing is listed that only
    /// makes or shows them.
    #[must_use]
    pub fn is_offered(&self, mode: Mode) -> bool {
        mode != Mode::ReadOnly || self.about.effect == Effect::Reads
    }

    /// What clients see.
    #[must_use]
    pub fn listed(&self) -> ListedTool {
        let edits = self.about.effect == Effect::Edits;
        let idempotent = self.about.is_idempotent;
        // What a tool destroys or repeats only means something of one that edits, and is false unless it is said.
        let annotations = ToolAnnotations::from_raw(
            None,
            Some(!edits),
            edits.then_some(true),
            (edits && idempotent).then_some(true),
            Some(false),
        );
        let tool = ListedTool::new(self.about.name, self.about.description, Arc::clone(&self.input))
            .with_title(self.about.title)
            .with_annotations(annotations);
        if self.about.effect == Effect::Reads { tool } else { tool.with_raw_output_schema(outcome_schema()) }
    }
}

/// From the arguments of an edit tool to the patch that they mean.
fn understand<T: EditTool>(
    call: &Call<'_>,
    given: Given<'_, T>,
) -> Result<EditRequest, NotDone<Vec<Problem>>> {
    let _span = tracing::debug_span!("parse", tool = T::ABOUT.name).entered();
    let origin = call.origin(T::ABOUT, given.raw());
    given.read()?.request(call, origin)
}

fn outcome_schema() -> Arc<JsonObject> {
    static SCHEMA: OnceLock<Arc<JsonObject>> = OnceLock::new();
    Arc::clone(SCHEMA.get_or_init(|| Arc::new(schema::generate_for_answer::<Outcome>())))
}
