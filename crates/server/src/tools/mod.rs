//! The tools: one table with what a model reads of each, and one function for each.

mod diagnostics;
mod edit;
mod history;
mod list;
mod preview;
mod read;
mod search;
mod wrapper;

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use tracing::field::Empty;
use tracing::{Span, debug_span};

use emend_edit::problem::{Kind, Seen};
use emend_workspace::{Approval, Effort, Manner, Mode, Origin, Progress, Report, Stopped, Workspace};

pub(crate) use self::diagnostics::PATIENCE as DIAGNOSTICS_PATIENCE;
pub(crate) use self::edit::parse_patch;
pub(crate) use self::history::in_short;
pub(crate) use self::history::recent as recent_edits;
use crate::answer::{Answer, Unanswered};
use crate::effects::Effects;
use crate::previews::Previews;
use crate::schema;
use crate::session::Caller;
use crate::wire::{self, Outcome};

/// A tool: what clients see of it, and what it does.
#[derive(Debug)]
pub struct ToolSpec {
    /// Its name on the wire.
    pub name: &'static str,
    /// What a person sees.
    pub title: &'static str,
    /// What a model reads.
    pub description: &'static str,
    /// What it takes.
    pub input: Arc<JsonObject>,
    /// What it is like.
    pub effect: Effect,
    run: fn(&Call<'_>, JsonObject) -> Result<Answer, Unanswered>,
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
    /// How an edit that it asks for is to be made.
    fn manner(&self) -> Manner<'_> {
        let Self { effort, approval, cancelled, progress, .. } = *self;
        Manner { effort, approval, cancelled, progress }
    }

    /// The outcome of an edit that was made, with what was begun for it.
    fn done(&self, report: &Report) -> Outcome {
        let mut outcome = Outcome::success(report);
        outcome.side_effects_fired.extend(self.effects.fired(report));
        outcome
    }

    /// The same, and that nothing is remembered of who has no session.
    fn explained(&self, mut stopped: Stopped) -> Stopped {
        if let Stopped::Problems(problems) = &mut stopped
            && !self.caller.lasts()
        {
            for problem in problems {
                if let Kind::NotRead { seen, .. } = &mut *problem.kind {
                    *seen = Seen::Forgotten;
                }
            }
        }
        stopped
    }

    /// Who asks for an edit, and how.
    fn origin(&self, tool: &str, arguments: &JsonObject) -> Origin {
        self.caller.origin(tool, serde_json::to_string(arguments).unwrap_or_default())
    }
}

/// All tools, in the order in which they are listed.
pub fn all() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<Vec<ToolSpec>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let str_replace = schema::of::<wire::StrReplace>();
        let replace_lines = schema::of::<wire::ReplaceLines>();
        let apply_patch = schema::of::<wire::ApplyPatch>();
        let write_file = schema::of::<wire::WriteFile>();
        let move_file = schema::of::<wire::MoveFile>();
        let delete_file = schema::of::<wire::DeleteFile>();
        let own = schema::of::<wire::EditPreview>();
        let edit_tools = [&str_replace, &replace_lines, &apply_patch, &write_file, &move_file, &delete_file];
        let edit_preview = schema::union(own, &edit_tools);
        vec![
            ToolSpec {
                name: "read_file",
                title: "Read a file",
                description: READ_FILE,
                input: Arc::new(schema::of::<wire::ReadFile>()),
                effect: Effect::Reads,
                run: read::read_file,
            },
            ToolSpec {
                name: "list_files",
                title: "List files",
                description: LIST_FILES,
                input: Arc::new(schema::of::<wire::ListFiles>()),
                effect: Effect::Reads,
                run: list::list_files,
            },
            ToolSpec {
                name: "search_text",
                title: "Search text in files",
                description: SEARCH_TEXT,
                input: Arc::new(schema::of::<wire::SearchText>()),
                effect: Effect::Reads,
                run: search::search_text,
            },
            ToolSpec {
                name: "str_replace",
                title: "Replace text in a file",
                description: STR_REPLACE,
                input: Arc::new(str_replace),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "str_replace", arguments),
            },
            ToolSpec {
                name: "replace_lines",
                title: "Replace lines by number",
                description: REPLACE_LINES,
                input: Arc::new(replace_lines),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "replace_lines", arguments),
            },
            ToolSpec {
                name: "apply_patch",
                title: "Apply a patch to several files",
                description: APPLY_PATCH,
                input: Arc::new(apply_patch),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "apply_patch", arguments),
            },
            ToolSpec {
                name: "write_file",
                title: "Write a whole file",
                description: WRITE_FILE,
                input: Arc::new(write_file),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "write_file", arguments),
            },
            ToolSpec {
                name: "move_file",
                title: "Move or rename a file",
                description: MOVE_FILE,
                input: Arc::new(move_file),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "move_file", arguments),
            },
            ToolSpec {
                name: "delete_file",
                title: "Delete a file",
                description: DELETE_FILE,
                input: Arc::new(delete_file),
                effect: Effect::Edits,
                run: |call, arguments| edit::run(call, "delete_file", arguments),
            },
            ToolSpec {
                name: "edit_preview",
                title: "Preview an edit",
                description: EDIT_PREVIEW,
                input: Arc::new(edit_preview),
                effect: Effect::Shows,
                run: preview::edit_preview,
            },
            ToolSpec {
                name: "apply_preview",
                title: "Apply a preview",
                description: APPLY_PREVIEW,
                input: Arc::new(schema::of::<wire::ApplyPreview>()),
                effect: Effect::Edits,
                run: preview::apply_preview,
            },
            ToolSpec {
                name: "undo_edit",
                title: "Take an edit back",
                description: UNDO_EDIT,
                input: Arc::new(schema::of::<wire::UndoEdit>()),
                effect: Effect::Edits,
                run: history::undo_edit,
            },
            ToolSpec {
                name: "edit_history",
                title: "Show past edits",
                description: EDIT_HISTORY,
                input: Arc::new(schema::of::<wire::EditHistory>()),
                effect: Effect::Reads,
                run: history::edit_history,
            },
            ToolSpec {
                name: "diagnostics",
                title: "Show errors and warnings",
                description: DIAGNOSTICS,
                input: Arc::new(schema::of::<wire::Diagnostics>()),
                effect: Effect::Reads,
                run: diagnostics::diagnostics,
            },
        ]
    })
}

/// The tool of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    all().iter().find(|tool| tool.name == name)
}

impl ToolSpec {
    /// Runs the tool. Blocks.
    pub fn run(&self, call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
        (self.run)(call, arguments)
    }

    /// What the log and whoever counts edits see of a call. The steps of the edit are spans within it.
    pub(crate) fn span(&self) -> Span {
        match self.effect {
            Effect::Edits => debug_span!("edit", tool = self.name, code = Empty),
            Effect::Reads | Effect::Shows => debug_span!("call", tool = self.name, code = Empty),
        }
    }

    /// Whether there is such a tool where this becomes of edits: where there are none, nothing is listed that only
    /// makes or shows them.
    #[must_use]
    pub fn is_offered(&self, mode: Mode) -> bool {
        mode != Mode::ReadOnly || self.effect == Effect::Reads
    }

    /// What clients see.
    #[must_use]
    pub fn listed(&self) -> Tool {
        let edits = self.effect == Effect::Edits;
        // Sent twice, an edit finds its text gone, a patch its lines, a preview its first outcome; but a
        // plain insertion would be made twice.
        let idempotent = matches!(self.name, "write_file" | "apply_preview");
        // What a tool destroys or repeats only means something of one that edits, and is false unless it is said.
        let annotations = ToolAnnotations::from_raw(
            None,
            Some(!edits),
            edits.then_some(true),
            (edits && idempotent).then_some(true),
            Some(false),
        );
        let tool = Tool::new(self.name, self.description, Arc::clone(&self.input))
            .with_title(self.title)
            .with_annotations(annotations);
        if self.effect == Effect::Reads { tool } else { tool.with_raw_output_schema(outcome_schema()) }
    }
}

fn outcome_schema() -> Arc<JsonObject> {
    static SCHEMA: OnceLock<Arc<JsonObject>> = OnceLock::new();
    Arc::clone(SCHEMA.get_or_init(|| Arc::new(schema::of_answer::<Outcome>())))
}

const READ_FILE: &str = "Read a text file: numbered lines under a header with its line count, line endings \
and version. Read a file before you edit it; the edit tools then notice if somebody else changed it since. \
The number and the tab before each line are not part of the file.";

const LIST_FILES: &str = "List the files of a folder, with sizes, by paths that the other tools take. A folder \
that is too much to show is one line with its number of files: list it by itself, or give a glob. Ignored files \
(.gitignore) are left out unless path names their folder.";

const SEARCH_TEXT: &str = "Find lines in files by a regular expression. Answers path:line: text, with the line \
numbers of read_file. Ignored and binary files are left out. It does not count as reading a file.";

const STR_REPLACE: &str = "Replace a piece of text in one file. The best tool for a small change. old_string \
must occur exactly once: copy it from a reading, with enough lines around it to be unique. If it is not found \
or not unique, nothing changes and the answer shows the nearest lines or all places; whole lines may differ in \
white space or curly quotes. Several changes in one file: edits.";

const REPLACE_LINES: &str = "Replace, delete or insert whole lines by their numbers. The version from your \
reading makes the numbers safe: if the file has another by now, nothing changes. After each edit use the new \
version that the answer gives, and mind that the numbers below it moved.";

const APPLY_PATCH: &str = concat!(
    "Change, create, move or delete several files at once: all of it happens or nothing. The patch:\n",
    "*** Begin Patch\n",
    "*** Update File: src/a.py\n",
    "@@ def f():\n",
    "     x = 1\n",
    "-    return x\n",
    "+    return x + 1\n",
    "*** Add File: src/b.py\n",
    "+print('new')\n",
    "*** Delete File: old.py\n",
    "*** End Patch\n",
    "Every line of a change starts with a space (unchanged), - (removed) or + (added), then the line of the \
     file with its own indentation. No line numbers: give about three unchanged lines around each change, and \
     an @@ line with the enclosing function or class where they are not unique. '*** Move to: path' after an \
     Update header renames. Deleting needs a full reading or the version. Unified and git diffs and \
     SEARCH/REPLACE blocks are taken too.",
);

const WRITE_FILE: &str = "Create a file, or replace the whole of one. Folders are made as needed. To replace \
an existing file, read all of it first or send its current version; for a part of it, str_replace is \
shorter and safer.";

const MOVE_FILE: &str = "Move or rename a file, its content untouched. Refused if something is at the new path. \
To change it too, use apply_patch.";

const DELETE_FILE: &str =
    "Delete a file. Read all of it first or send its current version. undo_edit brings it back.";

const EDIT_PREVIEW: &str = "Show what an edit would do without doing it: the diff, numbered hunks, and a \
handle for apply_preview.";

const APPLY_PREVIEW: &str = "Write exactly what edit_preview showed, or some hunks of it. Refused if a file \
changed since. Applying the same handle again returns the first outcome and changes nothing.";

const UNDO_EDIT: &str = "Take an edit back, with all of its files, by its id from the answer or from edit_history; \
without one, the newest of this session. Refused if a file changed since. To have it again, undo the undo.";

const EDIT_HISTORY: &str = "What was edited, the newest first: id, time, client, files. With edit: that one's diff \
and original request. With net: one diff over all of your edits in this session.";

const DIAGNOSTICS: &str =
    "What language servers find wrong in files now. The answer to an edit tells what it changed.";

#[cfg(test)]
mod tests {
    /// The example is what models imitate: it must be a patch, and do what it says.
    #[test]
    fn the_example_in_the_description_is_a_patch_that_fits() {
        let description = super::find("apply_patch").unwrap().description;
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
        let plan = emend_edit::plan::build(&patch, &sources, &emend_edit::find::Limits::default()).unwrap();
        assert_eq!(plan.files().len(), 3);
    }
}
