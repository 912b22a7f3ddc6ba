//! The tools that edit: each makes a patch of its arguments; the rest is one path.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, JsonObject};

use emend_edit::patch::{Patch, v4a};
use emend_edit::problem::Problem;
use emend_workspace::Request;

use super::{Call, NotQuick, answer, find, refusal};
use crate::arguments;
use crate::render::Tense;
use crate::wire::{ApplyPatch, Outcome, StrReplace, WriteFile};

/// What a call of an edit tool asks for.
pub(super) struct Asked {
    patch: Patch,
    versions: BTreeMap<String, String>,
    /// Whether it is only to be checked.
    pub(super) validate_only: bool,
}

impl Asked {
    pub(super) fn request<'a>(&'a self, call: &'a Call<'_>) -> Request<'a> {
        Request {
            patch: &self.patch,
            versions: &self.versions,
            effort: call.effort,
            cancelled: call.cancelled,
        }
    }
}

pub(super) fn run(call: &Call<'_>, tool: &str, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    match edit(call, tool, arguments) {
        Ok((outcome, tense)) => Ok(answer(&outcome, tense)),
        Err(problems) if NotQuick::is_in(&problems) => Err(NotQuick),
        Err(problems) => Ok(refusal(&problems)),
    }
}

fn edit(call: &Call<'_>, tool: &str, arguments: JsonObject) -> Result<(Outcome, Tense), Vec<Problem>> {
    let asked = understand(tool, arguments)?;
    let readings = call.callers.readings(call.caller);
    let request = asked.request(call);
    if asked.validate_only {
        let prepared = call.workspace.preview(&request, &readings)?;
        return Ok((Outcome::success(prepared.report()), Tense::Validated));
    }
    let report = call.workspace.edit(&request, &readings)?;
    Ok((Outcome::success(&report), Tense::Done))
}

/// From the arguments of an edit tool to the patch that they mean.
pub(super) fn understand(tool: &str, arguments: JsonObject) -> Result<Asked, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    let input = &find(tool).expect("it is in the table").input;
    let version_of = |path: &str, version: Option<String>| {
        version.into_iter().map(|version| (path.to_owned(), version)).collect()
    };
    match tool {
        "str_replace" => {
            let mut asked: StrReplace = arguments::read(input, arguments).map_err(one)?;
            let changes = asked.changes().map_err(one)?;
            let patch = Patch::replace(&asked.path, changes).map_err(one)?;
            Ok(Asked { patch, versions: version_of(&asked.path, asked.version), validate_only: false })
        }
        "write_file" => {
            let asked: WriteFile = arguments::read(input, arguments).map_err(one)?;
            let patch = Patch::write(&asked.path, asked.content);
            Ok(Asked { patch, versions: version_of(&asked.path, asked.version), validate_only: false })
        }
        _ => {
            let asked: ApplyPatch = arguments::read(input, arguments).map_err(one)?;
            Ok(Asked {
                patch: v4a::parse(&asked.patch)?,
                versions: asked.versions.unwrap_or_default(),
                validate_only: asked.validate_only.unwrap_or(false),
            })
        }
    }
}
