//! The tools: one table with what a model reads of each, and one function for each.

mod diagnostics;
mod edit;
mod edit_request;
mod history;
mod list;
mod preview;
mod read;
mod search;
mod spec;
mod wrapper;

use std::sync::OnceLock;

use rmcp::model::JsonObject;

use emend_workspace::problem::{Kind, Seen};
use emend_workspace::{Approval, EditContext, Effort, NotCommitted, Origin, Progress, Report, Workspace};

pub(crate) use self::diagnostics::PATIENCE as DIAGNOSTICS_PATIENCE;
pub(crate) use self::edit::parse_patch;
pub(crate) use self::history::recent as recent_edits;
pub(crate) use self::history::summary;
pub use self::spec::{About, Effect, ToolSpec};
use crate::effects::Effects;
use crate::previews::Previews;
use crate::session::Caller;
use crate::wire::{
    ApplyPreview, Diagnostics, EditHistory, EditPreview, ListFiles, Outcome, ReadFile, SearchText, UndoEdit,
};

/// What a running tool has at hand.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The files.
    pub workspace: &'a Workspace,
    /// What waits to be applied.
    pub previews: &'a Previews,
    /// What follows edits.
    pub effects: &'a Effects,
    /// Who is calling.
    pub caller: Caller<'a>,
    /// How long the call may take.
    pub effort: Effort,
    /// What a person has allowed, if one was asked.
    pub approval: Option<&'a Approval>,
    /// Whether they have given up meanwhile.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Told how far an edit has come.
    pub progress: &'a dyn Fn(Progress),
}

impl Call<'_> {
    /// For whom an edit that it asks for is made, and how.
    fn context<'a>(&'a self, origin: &'a Origin) -> EditContext<'a> {
        let Self { effort, approval, cancelled, progress, .. } = *self;
        EditContext { readings: self.caller.readings(), origin, approval, effort, cancelled, progress }
    }

    /// The outcome of an edit that was made, with what was begun for it.
    fn done(&self, report: &Report) -> Outcome {
        let mut outcome = Outcome::success(report);
        outcome.side_effects_fired.extend(self.effects.fired(report));
        outcome
    }

    /// The same, and that nothing is remembered of who has no session.
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

    /// Who asks for an edit, and how.
    fn origin(&self, tool: About, arguments: &JsonObject) -> Origin {
        self.caller.origin(tool.name, serde_json::to_string(arguments).unwrap_or_default())
    }
}

/// All tools, in the order in which they are listed.
pub fn all() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<Vec<ToolSpec>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let mut tools = vec![
            ToolSpec::for_tool::<ReadFile>(),
            ToolSpec::for_tool::<ListFiles>(),
            ToolSpec::for_tool::<SearchText>(),
        ];
        tools.extend_from_slice(edit::tools());
        tools.extend([
            ToolSpec::for_tool::<EditPreview>(),
            ToolSpec::for_tool::<ApplyPreview>(),
            ToolSpec::for_tool::<UndoEdit>(),
            ToolSpec::for_tool::<EditHistory>(),
            ToolSpec::for_tool::<Diagnostics>(),
        ]);
        tools
    })
}

/// The tool of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    all().iter().find(|tool| tool.about.name == name)
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
