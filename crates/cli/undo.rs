//! `emend undo`: takes an edit back. On a terminal it shows the result and asks; a script names the edit.

use std::time::Duration;

use emend_server::local;
use emend_workspace::Workspace;
use emend_workspace::history::Edited;
use emend_workspace::problem::{Kind, Problem};

use crate::approve;
use crate::edit_ids;
use crate::exit::{Ended, Exit, Stop};
use crate::history::edits;
use crate::output::{Output, OutputFlags};
use crate::patch;
use crate::workspace::{Opened, WorkspaceFlags};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The edit, by its id; without it, the newest by anybody that is neither an undo nor taken back, also by hand.
    edit: Option<String>,

    /// Do not ask; needed to take back the newest edit where nobody can be asked. Refused where a newer one was taken back
    /// by hand. An edit of what needs your approval is asked about all the same, or refused as approval-needed.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

const CLIENT: &str = "emend undo";

/// How many of the edits that were undone by hand are named.
const PASSED: usize = 5;

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let asks = !arguments.yes && output.can_ask();
    if arguments.edit.is_none() && !arguments.yes && !asks {
        let message = "name the edit to take back ('emend log' lists them), or say --yes for the newest";
        return Err(Stop::usage(message));
    }
    let Opened { workspace, effects, .. } = arguments.workspace.open_past()?;
    let (id, passed) = match &arguments.edit {
        Some(id) => (edit_ids::edit(&workspace, id)?, Vec::new()),
        None => newest(&workspace)?,
    };
    if let (Some(newer), false) = (passed.first(), asks) {
        return Err(Stop::Unknown(format!(
            "The newest edit was taken back by hand, since its files are what they were before it: {}. Nothing was changed. \
             If you mean the newest that was not, name it: emend undo {id}",
            newer.line()
        )));
    }
    if asks {
        let preview = local::preview_undo(&workspace, &id, CLIENT)?;
        let edit = workspace.past_edits().find(&id, "")?;
        let mut text: String =
            passed.iter().take(PASSED).map(|edit| format!("Edit {}\n", edit.line())).collect();
        if !passed.is_empty() {
            let more = passed.len().saturating_sub(PASSED);
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            text.push_str(&format!("was taken back by hand and is passed over{more}.\n\n"));
        }
        text.push_str(&format!("Edit {}\nTaking it back would change this:\n\n", edit.line()));
        output.show(&output.plain(&text))?;
        output.show(&output.diff(&preview.diff()))?;
        if !output.ask("\nTake it back?")? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let made = local::undo(&workspace, &effects, &id, CLIENT, &|held| approve::ask_decision(held, output))?;
    let shown = patch::show_done(&made, output);
    // Hooks have timeouts of their own.
    effects.finish(Duration::MAX);
    shown
}

/// The newest edit that can be undone, and the newer ones whose files are already back to what they were.
fn newest(workspace: &Workspace) -> Result<(String, Vec<Edited>), Stop> {
    let edits = edits(workspace, None, usize::MAX)?;
    let is_open = |edit: &&_| matches!(edit, Edited { undoes: None, undone_by: None, .. });
    let mut passed = Vec::new();
    for edit in edits.iter().filter(is_open) {
        if !workspace.past_edits().is_back(&edit.id) {
            return Ok((edit.id.clone(), passed));
        }
        passed.push(edit.clone());
    }
    let recent = edits.iter().take(5).map(Edited::line).collect();
    Err(Problem::new(Kind::UnknownEdit { edit: None, path: None, recent }).into())
}
