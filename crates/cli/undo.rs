//! `emend undo` and `emend redo`: take an edit back, or an undo. On a terminal they show the result and ask; a script
//! names the edit. `crate::undo_session` takes back all of a session.

use std::collections::BTreeMap;
use std::time::Duration;

use clap_complete::ArgValueCandidates;
use emend_server::local;
use emend_workspace::Workspace;
use emend_workspace::history::Edited;
use emend_workspace::problem::{Kind, Problem};

use crate::approve;
use crate::asking::AskingFlags;
use crate::completions;
use crate::edit_ids;
use crate::exit::{Ended, Exit, Stop};
use crate::history::edits;
use crate::output::{Output, OutputFlags};
use crate::patch;
use crate::undo_session::undo_session;
use crate::workspace::{Opened, WorkspaceFlags};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  emend undo             take the newest edit back, after a look at it\n  \
                  emend undo 1a200d98    take this one back\n  \
                  emend undo --session   take back all that the newest session did"
)]
pub(crate) struct Arguments {
    /// The edit, by any beginning of its id that only one has, @ for the newest of all or @~N for one before it; without
    /// it, the newest by anybody that is neither an undo nor taken back, also by hand.
    #[arg(add = ArgValueCandidates::new(completions::edit_ids))]
    edit: Option<String>,

    /// Take back all edits of a session, the newest first, all or none: the session that is named, as 'emend log --json'
    /// does, or that of the newest edit that is neither an undo nor taken back.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, add = ArgValueCandidates::new(completions::sessions), conflicts_with = "edit")]
    session: Option<Option<String>>,

    #[command(flatten)]
    asking: AskingFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(clap::Args)]
pub(crate) struct RedoArguments {
    /// The edit that was undone, or its undo, named as for 'emend undo'; without it, the newest undo that stands.
    #[arg(add = ArgValueCandidates::new(completions::edit_ids))]
    edit: Option<String>,

    #[command(flatten)]
    asking: AskingFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

/// Whether an edit is taken back, or an undo.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

impl Direction {
    fn client(self) -> &'static str {
        if self == Self::Undo { "emend undo" } else { "emend redo" }
    }
}

/// How many of the edits that were undone by hand are named.
const PASSED: usize = 5;

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let asking = arguments.asking;
    asking.check_named(arguments.edit.is_some() || matches!(&arguments.session, Some(Some(_))), output)?;
    let opened = arguments.workspace.open_past()?;
    if let Some(session) = &arguments.session {
        return undo_session(&opened, session.as_deref(), asking, output);
    }
    let (id, passed) = match &arguments.edit {
        Some(written) => (edit_ids::edit(&opened.workspace, written)?, Vec::new()),
        None => newest(&opened.workspace, Direction::Undo)?,
    };
    take_back(&opened, &id, &passed, Direction::Undo, asking, output)
}

pub(crate) fn redo(arguments: &RedoArguments, output: Output) -> Ended {
    let asking = arguments.asking;
    asking.check_named(arguments.edit.is_some(), output)?;
    let opened = arguments.workspace.open_past()?;
    let (id, passed) = match &arguments.edit {
        Some(written) => (undo_of(&opened.workspace, written)?, Vec::new()),
        None => newest(&opened.workspace, Direction::Redo)?,
    };
    take_back(&opened, &id, &passed, Direction::Redo, asking, output)
}

fn take_back(
    opened: &Opened,
    id: &str,
    passed: &[Edited],
    direction: Direction,
    asking: AskingFlags,
    output: Output,
) -> Ended {
    let Opened { workspace, effects, .. } = opened;
    let client = direction.client();
    let asks = asking.asks(output);
    if let (Some(newer), true) = (passed.first(), asking.yes || !(asks || asking.dry_run)) {
        return Err(Stop::Unknown(format!(
            "The newest edit was taken back by hand, since its files are what they were before it: {}. Nothing was changed. \
             If you mean the newest that was not, name it: {client} {id}",
            newer.line()
        )));
    }
    if asking.dry_run && output.json {
        output.document(&local::preview_undo(workspace, id, client)?.document())?;
        return Ok(Exit::Done);
    }
    if asks || asking.dry_run {
        let preview = local::preview_undo(workspace, id, client)?;
        let edit = workspace.past_edits().find(id, "")?;
        let mut text: String =
            passed.iter().take(PASSED).map(|edit| format!("Edit {}\n", edit.line())).collect();
        if !passed.is_empty() {
            let more = passed.len().saturating_sub(PASSED);
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            text.push_str(&format!("was taken back by hand and is passed over{more}.\n\n"));
        }
        text.push_str(&format!("Edit {}\nTaking it back would change this:\n\n", edit.line()));
        let text = output.plain(&text).into_owned() + &output.diff(&preview.diff());
        if asking.dry_run {
            output.show_long(&text)?;
            output.show("\nNothing was changed.\n")?;
            return Ok(Exit::Done);
        }
        output.show(&text)?;
        if !output.ask("\nTake it back?")? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let made = local::undo(workspace, effects, id, client, &|held| approve::ask_decision(held, output))?;
    let shown = patch::show_done(&made, output);
    // Hooks have timeouts of their own.
    effects.finish(Duration::MAX);
    shown
}

/// The newest edit that can be undone, or the newest undo, and the newer ones whose files are already back to what they
/// were.
fn newest(workspace: &Workspace, direction: Direction) -> Result<(String, Vec<Edited>), Stop> {
    let edits = edits(workspace, None, usize::MAX)?;
    let undoes = undoes(&edits);
    let is_open = |edit: &&Edited| {
        let is_meant = match direction {
            Direction::Undo => edit.undoes.is_none(),
            Direction::Redo => is_undo(edit, &undoes),
        };
        is_meant && edit.undone_by.is_none()
    };
    let mut passed = Vec::new();
    for edit in edits.iter().filter(is_open) {
        if !workspace.past_edits().is_back(&edit.id) {
            return Ok((edit.id.clone(), passed));
        }
        passed.push(edit.clone());
    }
    if direction == Direction::Redo && passed.is_empty() {
        return Err(Stop::Unknown("There is no undo that could be taken back. Nothing was changed.".into()));
    }
    let recent = edits.iter().take(5).map(Edited::line).collect();
    Err(Problem::new(Kind::UnknownEdit { edit: None, path: None, recent }).into())
}

/// The undo to take back so that an edit stands again, which is named itself or by the edit.
fn undo_of(workspace: &Workspace, written: &str) -> Result<String, Stop> {
    let id = edit_ids::edit(workspace, written)?;
    let edit = workspace.past_edits().find(&id, "")?;
    let edits = edits(workspace, None, usize::MAX)?;
    if let Some(undo) = edit.undone_by {
        return Ok(undo);
    }
    if is_undo(&edit, &undoes(&edits)) {
        return Ok(id);
    }
    Err(Stop::Unknown(format!("Edit {id} was not undone, so there is nothing to redo. Nothing was changed.")))
}

/// Which edit each edit undoes.
fn undoes(edits: &[Edited]) -> BTreeMap<&str, &str> {
    edits.iter().filter_map(|edit| Some((edit.id.as_str(), edit.undoes.as_deref()?))).collect()
}

/// Whether this is an undo, and not one of an undo, which is the edit again.
fn is_undo(edit: &Edited, undoes: &BTreeMap<&str, &str>) -> bool {
    std::iter::successors(edit.undoes.as_deref(), |id| undoes.get(id).copied()).count() % 2 == 1
}
