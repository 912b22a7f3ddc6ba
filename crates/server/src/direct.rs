//! A way past the protocol for whoever holds the workspace itself: the command line. An edit goes the same path as a
//! call of its tool, and comes out as the same outcome; only the diff is whole, since a person can scroll.

use std::sync::Mutex;

use serde_json::Value;

use emend_edit::problem::{Kind, Problem};
use emend_workspace::{Effort, Mode, Origin, Readings, Report, Request, Stopped, Workspace};

use crate::render::{self, Tense};
use crate::tools::parse_patch;
use crate::wire::{ApplyPatch, Outcome};

/// An edit that was made, or that would be.
#[derive(Debug)]
pub struct Made {
    report: Report,
    tense: Tense,
}

impl Made {
    /// What a report says.
    #[must_use]
    pub fn of(report: Report) -> Self {
        let tense = if report.edit.is_some() { Tense::Done } else { Tense::Previewed };
        Self { report, tense }
    }

    /// What happened, in words, without the diff and without how a model takes it back.
    #[must_use]
    pub fn prose(&self) -> String {
        let outcome = Outcome { edit: None, diff: String::new(), ..Outcome::success(&self.report) };
        render::outcome(&outcome, self.tense)
    }

    /// The whole diff.
    #[must_use]
    pub fn diff(&self) -> String {
        self.report.diff()
    }

    /// The edit's id, if it was made.
    #[must_use]
    pub fn edit(&self) -> Option<&str> {
        self.report.edit.as_deref()
    }

    /// The outcome, as on the wire.
    #[must_use]
    pub fn document(&self) -> Value {
        serde_json::json!(Outcome::success(&self.report))
    }
}

/// Applies a patch for somebody who calls himself `client`.
pub fn apply_patch(workspace: &Workspace, asked: ApplyPatch, client: &str) -> Result<Made, Vec<Problem>> {
    patch(workspace, asked, client, |request, readings| {
        workspace.edit(request, readings).map_err(|stopped| refused(workspace, stopped))
    })
}

/// Shows what the patch would do.
pub fn preview_patch(workspace: &Workspace, asked: ApplyPatch, client: &str) -> Result<Made, Vec<Problem>> {
    patch(workspace, asked, client, |request, readings| {
        Ok(workspace.preview(request, readings)?.report().clone())
    })
}

/// Who asks for an edit, in a session of its own.
pub fn origin(client: &str, tool: &str, request: &Value) -> Result<Origin, Problem> {
    let session = Origin::new_session().map_err(|error| {
        let message = format!("Naming this session failed: {error}. Nothing was changed.");
        Problem::new(Kind::IoError { message, states: Vec::new() })
    })?;
    Ok(Origin { client: client.into(), session, tool: tool.into(), request: request.to_string() })
}

fn patch(
    workspace: &Workspace,
    asked: ApplyPatch,
    client: &str,
    run: impl FnOnce(&Request<'_>, &Mutex<Readings>) -> Result<Report, Vec<Problem>>,
) -> Result<Made, Vec<Problem>> {
    let one = |problem: Problem| vec![problem];
    // Where a client would have no tool for it.
    if workspace.mode() == Mode::ReadOnly {
        return Err(one(Problem::new(Kind::NoEdits { mode: Mode::ReadOnly.as_str() })));
    }
    let origin = origin(client, "apply_patch", &serde_json::json!(asked)).map_err(one)?;
    let text = asked.patch.as_deref().unwrap_or_default();
    let parse = || parse_patch(text, &asked);
    let request = Request {
        patch: &tracing::debug_span!("parse", tool = "apply_patch").in_scope(parse)?,
        versions: &asked.versions.unwrap_or_default(),
        effort: Effort::Patient,
        cancelled: &|| false,
        origin: &origin,
        approval: None,
        progress: &|_| {},
    };
    run(&request, &Mutex::default()).map(Made::of)
}

/// What is told of an edit that was not made. One that a person must allow waits for that.
fn refused(workspace: &Workspace, stopped: Stopped) -> Vec<Problem> {
    match stopped {
        Stopped::Problems(problems) => problems,
        Stopped::Held(held) => workspace.wait_for_a_person(&held),
    }
}
