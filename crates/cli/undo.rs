//! `emend undo`: takes an edit back. A person sees first what that would do; a script says which edit it means.

use std::time::Duration;

use emend_server::direct;
use emend_workspace::Workspace;
use emend_workspace::edit::problem::{Kind, Problem};
use emend_workspace::history::Edited;

use crate::approve;
use crate::exit::{Ended, Exit, Stop};
use crate::history::edits;
use crate::output::{Output, OutputFlags};
use crate::patch;
use crate::workspace::{Opened, WorkspaceFlags};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The edit, by its id; without it, the newest by anybody that is neither an undo nor undone.
    edit: Option<String>,

    /// Do not ask; needed to take back the newest edit where nobody can be asked.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

const CLIENT: &str = "emend undo";

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let asks = !arguments.yes && output.can_ask();
    if arguments.edit.is_none() && !arguments.yes && !asks {
        let message = "name the edit to take back ('emend log' lists them), or say --yes for the newest";
        return Err(Stop::usage(message));
    }
    let Opened { workspace, effects } = arguments.workspace.open_past()?;
    let id = match &arguments.edit {
        Some(id) => id.trim().to_owned(),
        None => newest(&workspace)?,
    };
    if asks {
        let preview = direct::preview_undo(&workspace, &id, CLIENT)?;
        let edit = workspace.edited(&id, "")?;
        let told = format!("Edit {}\nTaking it back would change this:\n\n", edit.line());
        output.show(&output.plain(&told))?;
        output.show(&output.diff(&preview.diff()))?;
        if !output.ask("\nTake it back?")? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let made = direct::undo(&workspace, &effects, &id, CLIENT, &|held| approve::asked(held, output))?;
    let shown = patch::show_done(&made, output);
    // Hooks have limits of their own.
    effects.finish(Duration::MAX);
    shown
}

/// The newest edit that can be meant: what was changed back by other means needs no undo.
fn newest(workspace: &Workspace) -> Result<String, Stop> {
    let edits = edits(workspace, None, usize::MAX)?;
    let is_open = |edit: &&_| matches!(edit, Edited { undoes: None, undone_by: None, .. });
    let is_needed = |edit: &&Edited| !workspace.is_back(&edit.id);
    let newest = edits.iter().filter(is_open).find(is_needed).map(|edit| edit.id.clone());
    newest.ok_or_else(|| {
        let recent = edits.iter().take(5).map(Edited::line).collect();
        Problem::new(Kind::UnknownEdit { edit: None, recent }).into()
    })
}
