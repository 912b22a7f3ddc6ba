//! The tools `undo_edit` and `edit_history`.

use emend_edit::excerpt::in_line;
use std::fmt::Write;

use emend_workspace::history::undo::Undo;
use emend_workspace::history::{Edited, EditedFile, HistoryQuery, ago};
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{ChangeKind, Effort, FileReport, NotCommitted, Origin, Workspace};

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, Unanswered};
use crate::principal::Scope;
use crate::render::Tense;
use crate::session::Caller;
use crate::wire::{EditHistory, Outcome, UndoEdit};

/// The default number of edits in a list.
const LISTED: usize = 20;
/// The most edits in a list.
const MOST: usize = 1_000;
/// The number of files that a list names of each edit.
const FILES: usize = 20;
/// The most bytes of a diff or a request that are shown: as much as of a file.
const SHOWN: usize = 48_000;

impl ToolArguments for UndoEdit {
    const ABOUT: About = About {
        name: "undo_edit",
        title: "Undo an edit",
        description: "Undo an edit in all of its files: this one, or the newest of this session. To redo, undo the undo.",
        effect: Effect::Edits,
        is_idempotent: false,
        is_core: true,
    };
}

impl Tool for UndoEdit {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            return Err(Unanswered::NotQuick);
        }
        let origin = call.origin(Self::ABOUT, given.raw());
        match given.read().map_err(NotCommitted::from).and_then(|asked| undo(call, &origin, &asked)) {
            Ok(outcome) => Ok(Answer::from_outcome(outcome, Tense::Done)),
            Err(not_committed) => Answer::not_committed_for(not_committed, call.audience()),
        }
    }
}

fn undo(call: &Call<'_>, origin: &Origin, asked: &UndoEdit) -> Result<Outcome, NotCommitted> {
    if asked.edit.is_some() && asked.path.is_some() {
        let message = "give either edit or path".into();
        return Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message }).into());
    }
    if asked.edit.is_none() && !call.caller.is_lasting() {
        return Err(needs_session("edit", "name it, by its id from the answer or from edit_history").into());
    }
    let by_key = || Origin { call: origin.call.by_key_alone(), ..origin.clone() };
    // Without an id, the next undo is of another edit.
    let origin = &if asked.edit.is_none() { by_key() } else { origin.clone() };
    let undo = Undo { edit: asked.edit.as_deref().map(str::trim), path: asked.path.as_deref() };
    if let Some(id) = undo.edit {
        check_may_undo(call, id)?;
    }
    let undone = call.workspace.undo(&undo, &call.context(origin))?;
    Ok(call.done(&undone))
}

/// Refuses to undo an edit that is not known to be the caller's own without the scope for it.
fn check_may_undo(call: &Call<'_>, id: &str) -> Result<(), Problem> {
    let Some(principal) = call.caller.principal().filter(|_| !call.scopes.has(Scope::UndoOthers)) else {
        return Ok(());
    };
    let edit = call.workspace.past_edits().find(id, call.caller.visible_session())?;
    if edit.principal.as_deref() == Some(principal.key()) {
        return Ok(());
    }
    let scope = Scope::UndoOthers.as_str();
    Err(Problem::new(Kind::ScopeMissing { scope, what: "undo an edit of somebody else" }))
}

impl ToolArguments for EditHistory {
    const ABOUT: About = About {
        name: "edit_history",
        title: "Show the edit history",
        description: "List past edits, or show one of them.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
}

impl Tool for EditHistory {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            return Err(Unanswered::NotQuick);
        }
        match given.read().and_then(|asked| show(call, &asked)) {
            Ok(text) => Ok(Answer::text(text)),
            Err(problem) => Ok(Answer::refusal(&[problem])),
        }
    }
}

fn show(call: &Call<'_>, asked: &EditHistory) -> Result<String, Problem> {
    let invalid = |name: &str, message: &str| {
        Err(Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() }))
    };
    let is_net = asked.net == Some(true);
    if let Some(id) = asked.edit.as_deref() {
        if asked.path.is_some() || asked.limit.is_some() || is_net {
            return invalid("edit", "it stands alone");
        }
        return Ok(in_full(&call.workspace.past_edits().find(id.trim(), call.caller.visible_session())?));
    }
    let path = asked.path.as_deref();
    if is_net && call.workspace.past_edits().are_tracked() {
        if asked.limit.is_some() {
            return invalid("limit", "with net, all edits count");
        }
        if !call.caller.is_lasting() {
            return Err(needs_session("net", "name one edit"));
        }
        return Ok(net(&call.workspace.past_edits().net(path, call.caller.session())?));
    }
    let limit = asked.limit.unwrap_or(LISTED).clamp(1, MOST);
    list(call.workspace, call.caller, &HistoryQuery { path, limit })
}

/// Lists the newest edits, as many as by default.
pub(crate) fn recent(workspace: &Workspace, caller: Caller<'_>) -> Result<String, Problem> {
    list(workspace, caller, &HistoryQuery { path: None, limit: LISTED })
}

fn list(workspace: &Workspace, caller: Caller<'_>, asked: &HistoryQuery<'_>) -> Result<String, Problem> {
    if !workspace.past_edits().are_tracked() {
        return Ok("There is no history: track_history is off.\n".to_owned());
    }
    let edits = workspace.past_edits().newest(asked, caller.visible_session())?;
    if edits.is_empty() {
        let of = asked.path.map(|path| format!(" of {path}")).unwrap_or_default();
        return Ok(format!("No edits{of} in the history.\n"));
    }
    Ok(edits.iter().map(|edit| summary(edit, FILES)).collect())
}

/// Creates the refusal of an argument that only means something within a session.
fn needs_session(name: &str, instead: &str) -> Problem {
    let message = format!("this connection has no session, so no edit is known to be yours: {instead}");
    Problem::new(Kind::InvalidArgument { name: name.into(), message })
}

fn net((changed, unknown): &(Vec<FileReport>, Vec<String>)) -> String {
    let diff: String = changed.iter().map(|file| file.diff.text()).collect();
    if diff.is_empty() && unknown.is_empty() {
        return "Your edits of this session change no content, taken together.\n".to_owned();
    }
    let mut text = cut(&diff);
    for name in unknown {
        let _ = writeln!(text, "{name}: its content is not known any more; it was changed since.");
    }
    text
}

/// Cuts a long text after a line, if it has one.
fn cut(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let mut end = SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    format!("{}\n... and {} more bytes\n", text[..end].trim_end(), text.len() - end)
}

/// Renders an edit: `ID  3 minutes ago, apply_patch by claude-code (you)` and a line for each file.
pub(crate) fn summary(edit: &Edited, files: usize) -> String {
    let you = if edit.is_own { " (you)" } else { "" };
    let with = edit.model.iter().map(|model| format!(" with {model}")).collect::<String>();
    let mut text = format!("{}  {}, {}{with} by {}{you}", edit.id, ago(edit.time), edit.tool, edit.client);
    if let Some(undone) = &edit.undoes {
        let _ = write!(text, ", takes back {undone}");
    }
    if let Some(by) = &edit.undone_by {
        let _ = write!(text, ", taken back by {by}");
    }
    text.push('\n');
    for file in edit.files.iter().take(files) {
        let _ = writeln!(text, "  {}", line(file));
    }
    if edit.files.len() > files {
        let _ = writeln!(text, "  ... and {} more files", edit.files.len() - files);
    }
    text
}

/// Renders a file of an edit: `M src/a.rs +2 -1, 0123 -> 4567`.
fn line(file: &EditedFile) -> String {
    let (letter, from) = match (file.change, &file.moved_from) {
        (ChangeKind::Create, _) => ('A', String::new()),
        (ChangeKind::Delete, _) => ('D', String::new()),
        (_, Some(from)) => ('M', format!(" (from {})", in_line(from))),
        (_, None) => ('M', String::new()),
    };
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "nothing".into());
    let (before, after) = (version(&file.before), version(&file.after));
    format!("{letter} {}{from} +{} -{}, {before} -> {after}", in_line(&file.name), file.added, file.removed)
}

fn in_full(edit: &Edited) -> String {
    let mut text = summary(edit, SHOWN / 100);
    match &edit.diff {
        Some(diff) => {
            let _ = write!(text, "\n{}", cut(diff));
        }
        None => text.push_str("\nIts diff was not kept.\n"),
    }
    match &edit.request {
        Some(request) => {
            let _ = write!(text, "\nThe request: {} {}\n", edit.tool, cut(request));
        }
        None => text.push_str("\nIts request was not kept.\n"),
    }
    text
}
