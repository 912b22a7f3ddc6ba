//! What was edited, and taking it back.

use std::fmt::Write;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};

use emend_edit::problem::{Kind, Problem};
use emend_workspace::history::undo::Undo;
use emend_workspace::history::{Asked, Edited, EditedFile, ago};
use emend_workspace::{ChangeKind, Effort, Origin};

use super::{Call, NotQuick, answer, find, refusal};
use crate::arguments;
use crate::render::Tense;
use crate::wire::{EditHistory, Outcome, UndoEdit};

/// How many edits are listed unless the call says otherwise.
const LISTED: usize = 20;
/// The most that are.
const MOST: usize = 1_000;

pub(super) fn undo_edit(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    if call.effort == Effort::Quick {
        return Err(NotQuick);
    }
    let origin = call.origin("undo_edit", &arguments);
    match undo(call, &origin, arguments) {
        Ok(outcome) => Ok(answer(&outcome, Tense::Done)),
        Err(problems) => Ok(refusal(&problems)),
    }
}

fn undo(call: &Call<'_>, origin: &Origin, arguments: JsonObject) -> Result<Outcome, Vec<Problem>> {
    let input = &find("undo_edit").expect("it is in the table").input;
    let asked: UndoEdit = arguments::read(input, arguments).map_err(|problem| vec![problem])?;
    if asked.edit.is_some() && asked.path.is_some() {
        let message = "give either edit or path".into();
        return Err(vec![Problem::new(Kind::InvalidArgument { name: "path".into(), message })]);
    }
    let readings = call.callers.readings(call.caller);
    let undo = Undo { edit: asked.edit.as_deref().map(str::trim), path: asked.path.as_deref() };
    Ok(Outcome::success(&call.workspace.undo(&undo, origin, &readings, call.progress)?))
}

pub(super) fn edit_history(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    if call.effort == Effort::Quick {
        return Err(NotQuick);
    }
    match tell(call, arguments) {
        Ok(text) => Ok(CallToolResult::success(vec![ContentBlock::text(text)])),
        Err(problem) => Ok(refusal(&[problem])),
    }
}

fn tell(call: &Call<'_>, arguments: JsonObject) -> Result<String, Problem> {
    let input = &find("edit_history").expect("it is in the table").input;
    let asked: EditHistory = arguments::read(input, arguments)?;
    if let Some(id) = asked.edit.as_deref() {
        return Ok(in_full(&call.workspace.edited(id.trim(), call.session)?));
    }
    if asked.net == Some(true) {
        let (diff, unknown) = call.workspace.net(call.session)?;
        let mut text = match diff.is_empty() && unknown.is_empty() {
            true => "Your edits of this session change nothing, taken together.\n".to_owned(),
            false => diff,
        };
        for name in unknown {
            let _ = writeln!(text, "{name}: its content is not known any more; it was changed since.");
        }
        return Ok(text);
    }
    let limit = asked.limit.unwrap_or(LISTED).clamp(1, MOST);
    let edits = call.workspace.history(&Asked { path: asked.path.as_deref(), limit }, call.session)?;
    if edits.is_empty() {
        return Ok("No edits yet.\n".to_owned());
    }
    Ok(edits.iter().map(in_short).collect())
}

/// `ID  3 minutes ago, apply_patch by claude-code (you)` and a line for each file.
fn in_short(edit: &Edited) -> String {
    let you = if edit.is_own { " (you)" } else { "" };
    let mut text = format!("{}  {}, {} by {}{you}", edit.id, ago(edit.time), edit.tool, edit.client);
    if let Some(undone) = &edit.undoes {
        let _ = write!(text, ", takes back {undone}");
    }
    if let Some(by) = &edit.undone_by {
        let _ = write!(text, ", taken back by {by}");
    }
    text.push('\n');
    for file in &edit.files {
        let _ = writeln!(text, "  {}", line(file));
    }
    text
}

/// `M src/a.rs +2 -1, 0123 -> 4567`
fn line(file: &EditedFile) -> String {
    let (letter, from) = match (file.change, &file.moved_from) {
        (ChangeKind::Create, _) => ('A', String::new()),
        (ChangeKind::Delete, _) => ('D', String::new()),
        (_, Some(from)) => ('M', format!(" (from {from})")),
        (_, None) => ('M', String::new()),
    };
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "nothing".into());
    let (before, after) = (version(&file.before), version(&file.after));
    format!("{letter} {}{from} +{} -{}, {before} -> {after}", file.name, file.added, file.removed)
}

fn in_full(edit: &Edited) -> String {
    let mut text = in_short(edit);
    match &edit.diff {
        Some(diff) => {
            let _ = write!(text, "\n{diff}");
        }
        None => text.push_str("\nIts diff was not kept.\n"),
    }
    match &edit.request {
        Some(request) => {
            let _ = write!(text, "\nThe request: {} {request}\n", edit.tool);
        }
        None => text.push_str("\nIts request was not kept.\n"),
    }
    text
}
