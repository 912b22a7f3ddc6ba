//! The tools: a table with the specification of each, and a module for each or for a few that belong together.

mod asked_servers;
mod cells;
mod check_move;
mod check_rename;
mod decide;
mod diagnostics;
mod draft_edit;
mod edit;
mod edit_files;
mod edit_request;
mod find_symbol;
mod fixes;
mod history;
mod kept_preview;
mod list;
mod making;
mod mentioned;
mod move_file;
mod old_path;
mod places;
mod preview;
mod proposal;
mod proposed_sketch;
mod read;
mod rename_symbol;
mod replace_in_files;
mod review;
mod revise;
mod search;
mod set_value;
mod spec;
mod symbol_address;
mod wrapper;

use std::sync::OnceLock;

use rmcp::model::JsonObject;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Seen};
use emend_workspace::readings::Readings;
use emend_workspace::{Approval, EditContext, Effort, NotCommitted, Origin, Progress, Report, Workspace};

pub(crate) use self::diagnostics::PATIENCE as DIAGNOSTICS_PATIENCE;
pub(crate) use self::edit::parse_patch;
pub(crate) use self::history::recent as recent_edits;
pub(crate) use self::history::summary;
pub use self::spec::{About, Effect, ToolSpec};
use crate::app_approval::AppApproval;
use crate::apply_model::ApplyModel;
use crate::door::Door;
use crate::effects::Effects;
use crate::messages::Audience;
use crate::previews::Previews;
use crate::principal::Scopes;
use crate::session::Caller;
use crate::wire::{
    ApplyPreview, Decide, Diagnostics, DraftEdit, EditHistory, EditPreview, FindSymbol, ListFiles, Outcome,
    ReadFile, Review, Revise, SearchText, UndoEdit,
};

/// The context of a running tool.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The workspace with the files.
    pub workspace: &'a Workspace,
    /// The previews that wait to be applied.
    pub previews: &'a Previews,
    /// The side effects of edits.
    pub effects: &'a Effects,
    /// The apply model, if the user has one.
    pub apply_model: &'a ApplyModel,
    /// The secrets by which a person approves edits on a client's page.
    pub app_approval: &'a AppApproval,
    /// Who is at the other end.
    pub(crate) door: Door,
    /// The caller.
    pub caller: Caller<'a>,
    /// What the caller may do.
    pub(crate) scopes: Scopes,
    /// What the caller has read. A person on a page of ours has read nothing: they see what an edit does before they make it.
    pub readings: &'a Mutex<Readings>,
    /// The idempotency key that the client named.
    pub key: Option<&'a str>,
    /// Whether line numbers without a version count as far as the caller was shown them.
    pub counts_as_read: bool,
    /// Whether the call is a part of an edit, whose other parts may change the same files before.
    pub(crate) is_part: bool,
    /// The effort that the call may make.
    pub effort: Effort,
    /// The approval of a person, if one was asked.
    pub approval: Option<&'a Approval>,
    /// Returns whether the call was cancelled.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Called with the progress of an edit.
    pub progress: &'a dyn Fn(Progress),
}

impl Call<'_> {
    /// Returns the context of an edit that this call makes.
    fn context<'a>(&'a self, origin: &'a Origin) -> EditContext<'a> {
        let Self { effort, approval, cancelled, progress, .. } = *self;
        EditContext { readings: self.readings, origin, approval, effort, cancelled, progress }
    }

    /// Returns who reads the answer. What a client shows may be read by a model.
    fn audience(&self) -> Audience {
        match self.door {
            Door::Client => Audience::Model,
            Door::Person => Audience::Person,
        }
    }

    /// Creates the outcome of an edit that was made, with the side effects that were begun for it.
    fn done(&self, report: &Report) -> Outcome {
        let mut outcome = Outcome::success(report);
        outcome.side_effects_fired.extend(self.effects.fired(report));
        outcome
    }

    /// Marks unread files as forgotten where the caller has no session, since none of its readings are remembered.
    fn explained(&self, mut not_committed: NotCommitted) -> NotCommitted {
        if let NotCommitted::Problems(problems) = &mut not_committed
            && !self.caller.is_lasting()
        {
            for problem in problems {
                if let Kind::NotRead { seen, .. } = &mut *problem.kind {
                    *seen = Seen::Forgotten;
                }
            }
        }
        not_committed
    }

    /// Returns the origin of an edit that this call makes.
    fn origin(&self, tool: About, arguments: &JsonObject) -> Origin {
        self.caller.origin(tool.name, serde_json::to_string(arguments).unwrap_or_default(), self.key)
    }
}

/// Returns all tools in the order of the list of tools.
pub fn all() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<Vec<ToolSpec>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let mut tools = vec![
            ToolSpec::for_tool::<ReadFile>(),
            ToolSpec::for_tool::<ListFiles>(),
            ToolSpec::for_tool::<SearchText>(),
            ToolSpec::for_tool::<FindSymbol>(),
        ];
        tools.extend_from_slice(edit::tools());
        tools.extend([
            ToolSpec::for_tool::<DraftEdit>(),
            ToolSpec::for_tool::<EditPreview>(),
            ToolSpec::for_tool::<ApplyPreview>(),
            ToolSpec::for_tool::<UndoEdit>(),
            ToolSpec::for_tool::<EditHistory>(),
            ToolSpec::for_tool::<Diagnostics>(),
        ]);
        tools
    })
}

/// Returns the tools that the review page calls, which no model needs.
#[must_use]
pub fn of_page() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<[ToolSpec; 3]> = OnceLock::new();
    TOOLS.get_or_init(|| {
        [ToolSpec::for_tool::<Review>(), ToolSpec::for_tool::<Revise>(), ToolSpec::for_tool::<Decide>()]
    })
}

/// Returns the tool of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    all().iter().chain(of_page()).find(|tool| tool.about.name == name)
}

#[cfg(test)]
mod tests {
    /// The example is what models imitate: it must be a patch, and do what it says.
    #[test]
    fn the_example_in_the_description_is_a_patch_that_fits() {
        let description = super::find("apply_patch").unwrap().about.description;
        let start = description.find("*** Begin").unwrap();
        let end = description.find("*** End Patch").unwrap() + "*** End Patch".len();
        let patch = emend_edit::patch::v4a::parse(&description[start..end]).unwrap();
        let mut sources = emend_edit::plan::Sources::default();
        let mut file = |name: &str, content: &str| {
            let text = emend_edit::Text::new(content.into()).unwrap();
            sources.insert(name, name, emend_edit::plan::Source::Present(std::sync::Arc::new(text)));
        };
        file("src/a.py", "def f():\n    x = 1\n    return x\n");
        file("old.py", "");
        let plan =
            emend_edit::plan::build(&patch, &sources, &emend_edit::find::FindLimits::default()).unwrap();
        assert_eq!(plan.files().len(), 3);
    }
}
