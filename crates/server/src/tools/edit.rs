//! The tools that edit: each makes a patch of its arguments; the rest is one path.

use std::collections::BTreeMap;

use rmcp::model::JsonObject;

use emend_edit::patch::Patch;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::problem::{Kind, Problem};
use emend_workspace::{Origin, Request, Stopped};

use super::{Answer, Call, Unanswered, find, wrapper};
use crate::arguments;
use crate::render::Tense;
use crate::wire::{ApplyPatch, DeleteFile, MoveFile, Outcome, ReplaceLines, StrReplace, WriteFile};

/// What a call of an edit tool asks for.
pub(super) struct Asked {
    patch: Patch,
    versions: BTreeMap<String, String>,
    /// Whether it is only to be checked.
    pub(super) validate_only: bool,
    origin: Origin,
}

impl Asked {
    /// A change of one file, perhaps of a version that the call names.
    fn one(patch: Patch, path: &str, version: Option<String>, origin: Origin) -> Self {
        let versions = version.into_iter().map(|version| (path.to_owned(), version)).collect();
        Self { patch, versions, validate_only: false, origin }
    }

    pub(super) fn request<'a>(&'a self, call: &'a Call<'_>) -> Request<'a> {
        Request {
            patch: &self.patch,
            versions: &self.versions,
            effort: call.effort,
            cancelled: call.cancelled,
            origin: &self.origin,
            approval: call.approval,
            progress: call.progress,
        }
    }
}

pub(super) fn run(call: &Call<'_>, tool: &str, arguments: JsonObject) -> Result<Answer, Unanswered> {
    match edit(call, tool, arguments) {
        Ok((outcome, tense)) => Ok(Answer::of(outcome, tense)),
        Err(stopped) => Answer::unmade(call.explained(stopped)),
    }
}

fn edit(call: &Call<'_>, tool: &str, arguments: JsonObject) -> Result<(Outcome, Tense), Stopped> {
    let asked = understand(call, tool, arguments)?;
    let readings = call.caller.readings();
    let request = asked.request(call);
    if asked.validate_only {
        let prepared = call.workspace.preview(&request, readings)?;
        return Ok((Outcome::success(prepared.report()), Tense::Validated));
    }
    let report = call.workspace.edit(&request, readings)?;
    Ok((call.done(&report), Tense::Done))
}

/// From the arguments of an edit tool to the patch that they mean.
pub(super) fn understand(call: &Call<'_>, tool: &str, arguments: JsonObject) -> Result<Asked, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    let _span = tracing::debug_span!("parse", tool).entered();
    let input = &find(tool).expect("it is in the table").input;
    let origin = call.origin(tool, &arguments);
    match tool {
        "str_replace" => {
            let mut asked: StrReplace = arguments::read(input, arguments).map_err(one)?;
            let changes = asked.changes().map_err(one)?;
            let patch = Patch::replace(&asked.path, changes).map_err(one)?;
            Ok(Asked::one(patch, &asked.path, asked.version, origin))
        }
        "replace_lines" => {
            let asked: ReplaceLines = arguments::read(input, arguments).map_err(one)?;
            let patch = Patch::replace_lines(&asked.path, asked.change().map_err(one)?);
            Ok(Asked::one(patch, &asked.path, Some(asked.version), origin))
        }
        "write_file" => {
            let asked: WriteFile = arguments::read(input, arguments).map_err(one)?;
            let patch = Patch::write(&asked.path, asked.content);
            Ok(Asked::one(patch, &asked.path, asked.version, origin))
        }
        "move_file" => {
            let asked: MoveFile = arguments::read(input, arguments).map_err(one)?;
            let patch = Patch::rename(&asked.from, &asked.to).map_err(one)?;
            Ok(Asked::one(patch, &asked.from, None, origin))
        }
        "delete_file" => {
            let asked: DeleteFile = arguments::read(input, arguments).map_err(one)?;
            Ok(Asked::one(Patch::delete(&asked.path), &asked.path, asked.version, origin))
        }
        _ => {
            let asked: ApplyPatch = arguments::read(input, arguments).map_err(one)?;
            let text = patch_text(call, &asked).map_err(one)?;
            Ok(Asked {
                patch: parse_patch(&text, &asked)?,
                versions: asked.versions.unwrap_or_default(),
                validate_only: asked.validate_only.unwrap_or(false),
                origin,
            })
        }
    }
}

/// From the text of a patch to what it means, with what else the call says of it.
pub(crate) fn parse_patch(text: &str, asked: &ApplyPatch) -> Result<Patch, Vec<Problem>> {
    recognise::parse(&wrapper::unwrapped(text), format_of(asked), asked.path.as_deref())
}

/// The format that the call names, which the schema has checked.
fn format_of(asked: &ApplyPatch) -> Option<Format> {
    let name = asked.format.as_deref()?;
    Format::ALL.iter().copied().find(|format| format.as_str() == name)
}

/// The text of a patch: the argument, or what is in the file that it names.
fn patch_text(call: &Call<'_>, asked: &ApplyPatch) -> Result<String, Problem> {
    let invalid =
        |message: &str| Problem::new(Kind::InvalidArgument { name: "patch".into(), message: message.into() });
    match (&asked.patch, &asked.patch_path) {
        (Some(patch), None) => Ok(patch.clone()),
        (None, Some(path)) => {
            let (name, snapshot) = call.workspace.read(path, call.effort)?;
            let patch = snapshot.text.certain();
            patch.map(str::to_owned).map_err(|not_text| Problem::new(not_text).at(&name))
        }
        (None, None) => Err(invalid("it is required, or patch_path")),
        (Some(_), Some(_)) => Err(invalid("give either patch or patch_path")),
    }
}
