//! The in-process client: edits for the command line, which holds the workspace itself and needs no connection. An edit
//! takes the path of a call of its tool and has the outcome of one; only the diff is whole, since a person can scroll.

mod choosing;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tracing::debug_span;

use emend_edit::patch::Patch;
use emend_threads::Mutex;
use emend_workspace::history::Edited;
use emend_workspace::history::undo::Undo;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{
    Approval, AwaitingApproval, CallIdentity, EditContext, FileReport, Mailbox, Mode, NotCommitted, Origin,
    Report, Request, Workspace,
};

use crate::approval::{ApprovalLoop, Decision, Step};
use crate::effects::Effects;
use crate::events::{self, Cause, Events};
use crate::messages::notes;
use crate::render::{self, Tense};
use crate::tools::{self, parse_patch};
use crate::wire::{ApplyPatch, Outcome, PastEdit, WriteFile};

pub use self::choosing::{Choice, ProposedPatch, propose_patch};

/// An edit that was made, or that would be.
#[derive(Debug)]
pub struct Made {
    report: Report,
    tense: Tense,
    /// The side effects that were begun for it.
    fired: Vec<String>,
}

impl Made {
    /// Creates the result of an edit, or of its preview, from the report.
    #[must_use]
    pub fn from_report(report: Report) -> Self {
        let tense = if report.edit.is_some() { Tense::Done } else { Tense::Previewed };
        Self { report, tense, fired: Vec::new() }
    }

    /// Returns what happened in words, without the diff and without the advice to a model on undoing it.
    #[must_use]
    pub fn prose(&self) -> String {
        let outcome = Outcome { edit: None, diff: String::new(), ..Outcome::success(&self.report) };
        render::outcome(&outcome, self.tense)
    }

    /// Returns the whole diff.
    #[must_use]
    pub fn diff(&self) -> String {
        self.report.diff()
    }

    /// Returns the id of the edit, if it was made.
    #[must_use]
    pub fn edit(&self) -> Option<&str> {
        self.report.edit.as_deref()
    }

    /// Returns the outcome as it is on the wire.
    #[must_use]
    pub fn document(&self) -> Value {
        json!(self.outcome())
    }

    /// Returns what becomes of each file.
    #[must_use]
    pub fn files(&self) -> &[FileReport] {
        &self.report.files
    }

    fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::success(&self.report);
        outcome.side_effects_fired.extend(self.fired.iter().cloned());
        outcome
    }
}

/// The question to the person at the terminal whether to approve an edit.
pub type Ask<'a> = dyn Fn(&AwaitingApproval) -> Decision + 'a;

/// Applies a patch on behalf of `client`.
pub fn apply_patch(
    workspace: &Workspace,
    effects: &Effects,
    asked: ApplyPatch,
    client: &str,
    ask: &Ask<'_>,
) -> Result<Made, Vec<Problem>> {
    let origin = origin(client, "apply_patch", &json!(asked))?;
    publish_outcome(workspace, &origin, || {
        OwnedRequest::patch(asked, origin.clone())?.edit(workspace, effects, ask)
    })
}

/// Previews what the patch would do.
pub fn preview_patch(workspace: &Workspace, asked: ApplyPatch, client: &str) -> Result<Made, Vec<Problem>> {
    let origin = origin(client, "apply_patch", &json!(asked))?;
    OwnedRequest::patch(asked, origin)?.preview(workspace)
}

/// Writes a whole file; one that exists only if it has the version that is named.
pub fn write_file(
    workspace: &Workspace,
    asked: WriteFile,
    client: &str,
    ask: &Ask<'_>,
) -> Result<Made, Vec<Problem>> {
    let origin = origin(client, "write_file", &json!(asked))?;
    publish_outcome(workspace, &origin, || {
        OwnedRequest::whole(asked, origin.clone()).edit(workspace, &Effects::none(), ask)
    })
}

/// Previews what writing the file would do.
pub fn preview_write(workspace: &Workspace, asked: WriteFile, client: &str) -> Result<Made, Vec<Problem>> {
    let origin = origin(client, "write_file", &json!(asked))?;
    OwnedRequest::whole(asked, origin).preview(workspace)
}

/// Returns a past edit as a line of text, and a line for each of its files up to `files`.
#[must_use]
pub fn summary(edit: &Edited, files: usize) -> String {
    tools::summary(edit, files)
}

/// Returns a past edit as a document.
#[must_use]
pub fn document(edit: &Edited) -> Value {
    json!(PastEdit::from_edit(edit))
}

/// Previews what undoing this edit would do.
pub fn preview_undo(workspace: &Workspace, edit: &str, client: &str) -> Result<Made, Vec<Problem>> {
    let origin = undo_origin(edit, client)?;
    workspace.past_edits().preview_undo(edit, &origin).map(Made::from_report)
}

/// Undoes this edit.
pub fn undo(
    workspace: &Workspace,
    effects: &Effects,
    edit: &str,
    client: &str,
    ask: &Ask<'_>,
) -> Result<Made, Vec<Problem>> {
    let origin = undo_origin(edit, client)?;
    let undo = Undo { edit: Some(edit), path: None };
    let make = |approval: Option<&Approval>| {
        let readings = Mutex::default();
        workspace.undo(&undo, &EditContext { approval, ..EditContext::patient(&readings, &origin) })
    };
    publish_outcome(workspace, &origin, || make_once_approved(workspace, effects, ask, make))
}

/// Makes an edit and publishes its outcome as an event. Waits until the event is written, but no longer than a server
/// does at its end: a command may exit right after its edit.
fn publish_outcome(
    workspace: &Workspace,
    origin: &Origin,
    make: impl FnOnce() -> Result<Made, Vec<Problem>>,
) -> Result<Made, Vec<Problem>> {
    let mut made = make();
    let mut outcome = match &made {
        Ok(made) => made.outcome(),
        Err(problems) => Outcome::failure(problems),
    };
    let cause = Cause { client: &origin.client, session: &origin.session, tool: &origin.tool };
    let has_event = Events::new(workspace).publish_outcome(cause, &mut outcome);
    if let Some(made) = made.as_mut().ok().filter(|_| has_event) {
        made.fired.push(events::SIDE_EFFECT.to_owned());
    }
    made
}

fn undo_origin(edit: &str, client: &str) -> Result<Origin, Vec<Problem>> {
    origin(client, "undo_edit", &json!({"edit": edit}))
}

/// Creates the origin of an edit, in a session of its own.
fn origin(client: &str, tool: &str, request: &Value) -> Result<Origin, Vec<Problem>> {
    let session = Origin::new_session().map_err(|error| {
        let message = format!("Naming this session failed: {error}. Nothing was changed.");
        vec![Problem::new(Kind::IoError { message, states: Vec::new() })]
    })?;
    let (client, tool, request) = (client.into(), tool.into(), request.to_string());
    // What a person does twice at a terminal is meant twice.
    let call = CallIdentity::default();
    // Nothing reads this mailbox: a command has only one answer.
    let mailbox = Mailbox::default();
    Ok(Origin { client, principal: None, session, tool, model: None, request, call, mailbox })
}

/// A request for an edit, which owns its parts.
struct OwnedRequest {
    patch: Patch,
    versions: BTreeMap<String, String>,
    origin: Origin,
}

impl OwnedRequest {
    fn patch(asked: ApplyPatch, origin: Origin) -> Result<Self, Vec<Problem>> {
        let parse = || parse_patch(asked.patch.as_deref().unwrap_or_default(), &asked);
        let patch = debug_span!("parse", tool = "apply_patch").in_scope(parse)?;
        Ok(Self { patch, versions: asked.versions.unwrap_or_default(), origin })
    }

    fn whole(asked: WriteFile, origin: Origin) -> Self {
        let versions = asked.version.map(|version| (asked.path.clone(), version)).into_iter().collect();
        Self { patch: Patch::write(&asked.path, asked.content), versions, origin }
    }

    fn edit(&self, workspace: &Workspace, effects: &Effects, ask: &Ask<'_>) -> Result<Made, Vec<Problem>> {
        make_once_approved(workspace, effects, ask, |approval| {
            self.run(workspace, approval, |request, context| workspace.edit(request, context))
        })
    }

    fn preview(&self, workspace: &Workspace) -> Result<Made, Vec<Problem>> {
        let preview = self.run(workspace, None, |request, context| workspace.preview(request, context));
        let preview = preview.map_err(NotCommitted::into_problems)?;
        Ok(Made::from_report(preview.report().clone()))
    }

    fn run<T>(
        &self,
        workspace: &Workspace,
        approval: Option<&Approval>,
        run: impl FnOnce(&Request<'_>, &EditContext<'_>) -> Result<T, NotCommitted>,
    ) -> Result<T, NotCommitted> {
        // In this mode a client is not offered any edit tool.
        if workspace.mode() == Mode::ReadOnly {
            return Err(vec![Problem::new(Kind::NoEdits { mode: Mode::ReadOnly.as_str() })].into());
        }
        let request = Request { patch: &self.patch, versions: &self.versions };
        let readings = Mutex::default();
        run(&request, &EditContext { approval, ..EditContext::patient(&readings, &self.origin) })
    }
}

/// Makes an edit, after the person at the terminal has approved it if it needs approval. Where nobody can be asked, the
/// edit is kept for a later approval.
fn make_once_approved(
    workspace: &Workspace,
    effects: &Effects,
    ask: &Ask<'_>,
    make: impl Fn(Option<&Approval>) -> Result<Report, NotCommitted>,
) -> Result<Made, Vec<Problem>> {
    let (mut approvals, mut step) = ApprovalLoop::begin(None);
    loop {
        step = match step {
            Step::Make(approval) => match make(approval.as_ref()) {
                Ok(report) => {
                    let fired = effects.fired(&report);
                    return Ok(Made { fired, ..Made::from_report(report) });
                }
                Err(NotCommitted::AwaitingApproval(held)) => approvals.after_held(held),
                Err(not_committed) => return Err(not_committed.into_problems()),
            },
            Step::Ask(held) => {
                let decision = ask(&held);
                approvals.after_answer(held, decision)
            }
            Step::LeaveWaiting(held) => {
                return Err(workspace.wait_for_a_person(&held, notes(held.report())).problems);
            }
            Step::Deny(_) => {
                return Err(vec![Problem::new(Kind::ApprovalDenied {
                    release: None,
                    comment: String::new(),
                })]);
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use emend_workspace::problem::Code;
    use emend_workspace::{Policy, RootSpec, Settings, disk};

    use super::*;

    #[test]
    fn a_person_is_not_asked_for_ever_about_a_plan_that_is_another_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let (root, file) = (folder.path().join("root"), folder.path().join("root/a"));
        fs::create_dir(&root).unwrap();
        fs::write(&file, "one\n").unwrap();
        let roots = [RootSpec { name: None, path: root }];
        let policy = Policy::new(&Settings { mode: Some(Mode::Ask), ..Settings::default() }).unwrap();
        let state = Some(folder.path().join("state"));
        let workspace =
            Workspace::open_with_policy(disk::for_this_machine(), &roots, state, &policy).unwrap();
        let questions = Cell::new(0);
        let ask = |_: &AwaitingApproval| {
            questions.set(questions.get() + 1);
            if questions.get() == 100 {
                return Decision::Deny;
            }
            // Whatever is approved, the file has changed in the meantime.
            fs::write(&file, format!("one\n{}\n", questions.get())).unwrap();
            Decision::Approve
        };
        let patch = "*** Begin Patch\n*** Update File: a\n-one\n+two\n*** End Patch\n".to_owned();
        let asked: ApplyPatch = serde_json::from_value(json!({"patch": patch})).unwrap();
        let problems = apply_patch(&workspace, &Effects::none(), asked, "test", &ask).unwrap_err();
        assert_eq!((questions.get(), problems[0].code()), (5, Code::ApprovalNeeded));
    }
}
