//! `edit_files`: edits of several tools as one. Each becomes its own patch; joined, they are planned, checked and made like
//! any other.

use std::collections::BTreeMap;

use rmcp::model::JsonObject;
use serde_json::Value;

use emend_edit::patch::Patch;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{CallIdentity, NotDone, Origin};

use super::edit_request::EditRequest;
use super::spec::{About, EditTool, Effect, ToolArguments};
use super::{Call, find};
use crate::arguments;
use crate::wire::{
    ApplyPatch, ApplySketch, DeleteFile, EditFiles, EditOfSeveral, MoveFile, RenameSymbol, ReplaceInFiles,
    ReplaceLines, SetValue, StrReplace, WriteFile,
};

impl EditFiles {
    /// The tools whose edits it joins.
    const JOINED: [&str; 9] = [
        StrReplace::ABOUT.name,
        ReplaceInFiles::ABOUT.name,
        ReplaceLines::ABOUT.name,
        SetValue::ABOUT.name,
        ApplyPatch::ABOUT.name,
        ApplySketch::ABOUT.name,
        WriteFile::ABOUT.name,
        MoveFile::ABOUT.name,
        DeleteFile::ABOUT.name,
    ];
}

impl ToolArguments for EditFiles {
    const ABOUT: About = About {
        name: "edit_files",
        title: "Edit several files at once",
        description: "Edits of several tools as one, in order, all or none. Line numbers are those of the version.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };

    fn check(arguments: &JsonObject) -> Result<(), Problem> {
        let edits = arguments.get("edits").and_then(Value::as_array).into_iter().flatten();
        for (at, edit) in edits.into_iter().enumerate() {
            let tool = edit.get("tool").and_then(Value::as_str);
            let alone = match tool {
                Some(name) if name == RenameSymbol::ABOUT.name => {
                    Some("rename_symbol is a call of its own, before or after this one")
                }
                Some(name) if name == ReplaceInFiles::ABOUT.name && at > 0 => Some(
                    "replace_in_files looks in the files as they are on the disk, before all edits of this call: make it the \
                     first of them",
                ),
                _ => None,
            };
            if let Some(message) = alone {
                return Err(Problem { edit: Some(at + 1), ..invalid("tool", message) });
            }
            if edit.get("cell").is_some_and(|cell| !arguments::is_nothing(cell) || cell.is_number()) {
                let message = "cells cannot be joined with other edits: a cell is changed by a call of its own, before or after \
                               this one (str_replace or replace_lines, which have cell)";
                return Err(Problem { edit: Some(at + 1), ..invalid("cell", message) });
            }
        }
        Ok(())
    }
}

impl EditTool for EditFiles {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let mut joined = JoinedEdits::default();
        let mut problems = Vec::new();
        for (at, edit) in self.edits.into_iter().enumerate() {
            let of_this = |problem: Problem| Problem { edit: Some(at + 1), ..problem };
            let is_value = edit.tool == SetValue::ABOUT.name;
            match edit.request(call).and_then(|asked| {
                if is_value {
                    joined.check_untouched(call, &asked.patch)?;
                }
                Ok(joined.add(asked, at + 1)?)
            }) {
                Ok(()) => {}
                Err(NotDone::NotQuick) => return Err(NotDone::NotQuick),
                Err(NotDone::Refused(found)) => problems.extend(found.into_iter().map(of_this)),
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let JoinedEdits { patches, versions, calls, notes, refusal } = joined;
        if patches.is_empty() {
            return Err(one(invalid("edits", "the list is empty")).into());
        }
        let call = calls.into_iter().fold(origin.call, CallIdentity::with_part);
        let origin = Origin { call, ..origin };
        Ok(EditRequest { versions, notes, refusal, ..EditRequest::new(Patch::join(patches), origin) })
    }
}

impl EditOfSeveral {
    /// What this edit alone asks for.
    fn request(self, call: &Call<'_>) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let tool = find(&self.tool).filter(|tool| EditFiles::JOINED.contains(&tool.about.name));
        match tool.and_then(|tool| Some((tool, tool.as_edit?))) {
            Some((tool, as_edit)) => as_edit(tool, &Call { is_part: true, ..*call }, self.arguments),
            None => {
                let message = format!("it must be one of {}", EditFiles::JOINED.join(", "));
                Err(one(invalid("tool", &message)).into())
            }
        }
    }
}

/// Edits on their way to one.
#[derive(Default)]
struct JoinedEdits {
    patches: Vec<Patch>,
    versions: BTreeMap<String, String>,
    /// What each is known by: its arguments may name a file with a patch, whose content counts.
    calls: Vec<CallIdentity>,
    notes: Vec<String>,
    /// Why the first of them that is refused is not made.
    refusal: Option<Problem>,
}

impl JoinedEdits {
    /// Refuses an edit whose places were found in files as they are on the disk, if an edit before it changes one of these.
    fn check_untouched(&self, call: &Call<'_>, found: &Patch) -> Result<(), Vec<Problem>> {
        let name = |path: &str| call.workspace.roots().admit(path).ok().map(|path| path.name);
        let before: Vec<String> = self.patches.iter().flat_map(Patch::paths).filter_map(name).collect();
        let Some(path) = found.paths().find(|path| before.iter().any(|name| name == path)) else {
            return Ok(());
        };
        let message = "set_value looks at this file as it is on the disk, and an edit before it changes the file: make \
                       set_value the first of them";
        Err(one(invalid("tool", message).at(path)))
    }

    /// Adds the edit with this number.
    fn add(&mut self, asked: EditRequest, number: usize) -> Result<(), Vec<Problem>> {
        if asked.validate_only {
            return Err(one(invalid("validate_only", "preview all of the edits with edit_preview")));
        }
        for (path, version) in asked.versions {
            let before = self.versions.insert(path.clone(), version.clone());
            if before.is_some_and(|before| before != version) {
                let message = format!("an edit before this one names another version of {path}");
                return Err(one(invalid("version", &message)));
            }
        }
        if let Some(refusal) = asked.refusal {
            self.refusal.get_or_insert(Problem { edit: Some(number), ..refusal });
        }
        self.patches.push(asked.patch);
        self.calls.push(asked.origin.call);
        self.notes.extend(asked.notes);
        Ok(())
    }
}

fn invalid(name: &str, message: &str) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}
