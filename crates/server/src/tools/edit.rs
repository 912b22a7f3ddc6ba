//! The edit tools: each turns its arguments into a patch, and shares everything after that.

use std::ops::Range;
use std::sync::OnceLock;

use rmcp::model::JsonObject;

use emend_edit::Version;
use emend_edit::patch::Patch;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::sketch::Sketch;
use emend_workspace::problem::{Kind, Problem, from_edit};
use emend_workspace::{NotDone, Origin};

use super::edit_request::EditRequest;
use super::spec::{About, EditTool, Effect, ToolArguments, ToolSpec};
use super::{Call, cells, wrapper};
use crate::schema;
use crate::wire::{
    ApplyPatch, ApplySketch, DeleteFile, EditFiles, MoveFile, RenameSymbol, ReplaceInFiles, ReplaceLines,
    SetValue, StrReplace, WriteFile,
};

/// Returns the edit tools in the order of the list of tools.
pub(super) fn tools() -> &'static [ToolSpec] {
    static TOOLS: OnceLock<[ToolSpec; 11]> = OnceLock::new();
    TOOLS.get_or_init(|| {
        [
            ToolSpec::for_edit::<StrReplace>(),
            ToolSpec::for_edit::<ReplaceInFiles>(),
            ToolSpec::for_edit::<ReplaceLines>(),
            ToolSpec::for_edit::<SetValue>(),
            ToolSpec::for_edit::<RenameSymbol>(),
            ToolSpec::for_edit::<ApplyPatch>(),
            ToolSpec::for_edit::<ApplySketch>(),
            ToolSpec::for_edit::<WriteFile>(),
            ToolSpec::for_edit::<MoveFile>(),
            ToolSpec::for_edit::<DeleteFile>(),
            ToolSpec::for_edit::<EditFiles>(),
        ]
    })
}

fn single_problem(problem: impl Into<Problem>) -> Vec<Problem> {
    vec![problem.into()]
}

impl ToolArguments for StrReplace {
    const ABOUT: About = About {
        name: "str_replace",
        title: "Edit a file: replace text",
        description: "Replace a text in one file, or insert lines beside it. old_string must occur exactly once: copy it \
from a reading, with enough lines around it to be unique.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };

    /// What an edit of the list takes is described where it is taken alone.
    fn schema() -> JsonObject {
        let mut own = schema::generate::<Self>();
        if let Some(edits) = own.get_mut("properties").and_then(|all| all.get_mut("edits"))
            && let Some(serde_json::Value::Object(item)) = edits.get("items").cloned()
        {
            edits["items"] = schema::without_descriptions(item).into();
        }
        own
    }
}

impl EditTool for StrReplace {
    fn request(mut self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        if let Some(cell) = self.cell.take().filter(|cell| !cell.is_empty()) {
            if self.kept.as_deref().is_some_and(|kept| !kept.is_empty()) {
                let message = "no edits of a cell are kept; send all of them".into();
                return Err(single_problem(Problem::new(Kind::InvalidArgument {
                    name: "kept".into(),
                    message,
                }))
                .into());
            }
            return cells::replace_text(self, &cell, call, origin);
        }
        if let Some(problem) =
            self.old_string.as_deref().and_then(|old| cells::in_a_cell(call, &self.path, old))
        {
            return Err(single_problem(problem).into());
        }
        let changes = self.changes().map_err(single_problem)?;
        let patch = Patch::replace(&self.path, changes).map_err(single_problem)?;
        let request = EditRequest::for_file(patch, &self.path, self.version, origin);
        fixed(call, self.kept.as_deref(), request)
    }
}

impl ToolArguments for ReplaceLines {
    const ABOUT: About = About {
        name: "replace_lines",
        title: "Edit lines: replace, move or copy",
        description: "Replace, insert, delete, move or copy lines by number or symbol, or notebook cells. Numbers are those of \
version, and are followed if the file changed since.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for ReplaceLines {
    fn request(mut self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        if let Some(cell) = self.cell.take().filter(|cell| !cell.is_empty()) {
            return cells::replace_lines(self, &cell, call, origin);
        }
        if call.counts_as_read && self.version.is_none() {
            // A place between two lines has the numbers of both.
            let (first, last) = (self.start_line.unwrap_or_default(), self.end_line.unwrap_or_default());
            let lines = first.min(last)..first.max(last) + 1;
            self.version = Some(version_read(call, &self.path, lines)?.short());
        }
        Ok(EditRequest::new(self.patch().map_err(single_problem)?, origin))
    }
}

impl ToolArguments for ApplyPatch {
    const ABOUT: About = About {
        name: "apply_patch",
        title: "Edit files: apply a patch",
        description: concat!(
            "Change, create, move or delete files, all or none. The patch:\n",
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
            "Each line of a change starts with a space (kept), - (removed) or + (added), then the line as in the file. No line \
     numbers: give about three kept lines around each change, and an @@ line with the enclosing function or class where \
     they are not unique. '*** Move to: path' after an Update header renames. Unified and git diffs and SEARCH/REPLACE \
     blocks work too.",
        ),
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
}

impl EditTool for ApplyPatch {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let text = patch_text(call, &self)?;
        let origin = match &self.patch_path {
            Some(_) => Origin { call: origin.call.with_content(&text), ..origin },
            None => origin,
        };
        let mut patch = parse_patch(&text, &self)?;
        if call.counts_as_read && self.versions.is_none() {
            patch.keep_hints(|path, line| version_read(call, path, line..line + 1).is_ok());
        }
        let request = EditRequest {
            versions: self.versions.unwrap_or_default(),
            validate_only: self.validate_only.unwrap_or(false),
            ..EditRequest::new(patch, origin)
        };
        fixed(call, self.kept.as_deref(), request)
    }
}

/// Puts a request into the refused one of which it fixes hunks, if the call names one.
fn fixed(
    call: &Call<'_>,
    kept: Option<&str>,
    request: EditRequest,
) -> Result<EditRequest, NotDone<Vec<Problem>>> {
    let request = EditRequest { can_be_fixed: !call.is_part, ..request };
    match kept.filter(|handle| !handle.is_empty()) {
        Some(handle) => Ok(request.complete(call, handle).map_err(single_problem)?),
        None => Ok(request),
    }
}

impl ToolArguments for ApplySketch {
    const ABOUT: About = About {
        name: "apply_sketch",
        title: "Edit a file: apply a sketch",
        description: "The new code, with comment lines '... existing code ...' for what stays and '... removed ...' for \
what goes. Each part begins and ends with an unchanged line.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for ApplySketch {
    fn request(self, _: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let sketch = Sketch::parse(&self.sketch).replacing(self.replace_whole.clone().unwrap_or_default());
        let patch = Patch::sketch(&self.path, sketch);
        let request = EditRequest::for_file(patch, &self.path, self.version.clone(), origin);
        Ok(EditRequest { sketch: Some(self), ..request })
    }
}

impl ToolArguments for WriteFile {
    const ABOUT: About = About {
        name: "write_file",
        title: "Create or overwrite a file",
        description: "Create a file with its folders, or replace a whole file, which must be read first.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
}

impl EditTool for WriteFile {
    fn request(self, _: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        Ok(EditRequest::for_file(Patch::write(&self.path, self.content), &self.path, self.version, origin))
    }
}

impl ToolArguments for DeleteFile {
    const ABOUT: About = About {
        name: "delete_file",
        title: "Delete a file",
        description: "Delete a file, which must be read first.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };

    fn check(arguments: &JsonObject) -> Result<(), Problem> {
        if !arguments.contains_key("cell") {
            return Ok(());
        }
        let message =
            "this deletes the whole file; replace_lines with cell and an empty new_text deletes a cell"
                .into();
        Err(Problem::new(Kind::InvalidArgument { name: "cell".into(), message }))
    }
}

impl EditTool for DeleteFile {
    fn request(self, _: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        Ok(EditRequest::for_file(Patch::delete(&self.path), &self.path, self.version, origin))
    }
}

/// Returns the version of a file in which the caller knows the number of one of these lines: the last one that it read or
/// wrote.
fn version_read(call: &Call<'_>, path: &str, lines: Range<usize>) -> Result<Version, Vec<Problem>> {
    let path = call.workspace.roots().admit(path).map_err(single_problem)?;
    let known = call.caller.readings().lock().version_of_numbers(&path.name, lines);
    let unread = || single_problem(Problem::new(Kind::NumbersUnread).at(&path.name));
    known.ok_or_else(unread)
}

/// Parses the text of a patch, in the format and for the path that the call names.
pub(crate) fn parse_patch(text: &str, asked: &ApplyPatch) -> Result<Patch, Vec<Problem>> {
    recognise::parse(&wrapper::unwrapped(text), format_of(asked), asked.path.as_deref()).map_err(from_edit)
}

/// Returns the format that the call names, which the schema has checked.
fn format_of(asked: &ApplyPatch) -> Option<Format> {
    let name = asked.format.as_deref()?;
    Format::ALL.iter().copied().find(|format| format.as_str() == name)
}

/// Returns the text of a patch: the argument itself, or the content of the file that it names.
fn patch_text(call: &Call<'_>, asked: &ApplyPatch) -> Result<String, NotDone> {
    let invalid =
        |message: &str| Problem::new(Kind::InvalidArgument { name: "patch".into(), message: message.into() });
    match (&asked.patch, &asked.patch_path) {
        (Some(patch), None) => Ok(patch.clone()),
        (None, Some(path)) => {
            let (name, snapshot) = call.workspace.files().read_within(path, call.effort)?;
            let patch = snapshot.text.known_characters();
            Ok(patch.map(str::to_owned).map_err(|not_text| Problem::new(not_text).at(&name))?)
        }
        (None, None) => Err(invalid("it is required, or patch_path").into()),
        (Some(_), Some(_)) => Err(invalid("give either patch or patch_path").into()),
    }
}
