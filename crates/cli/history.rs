//! `emend log`, `emend show` and `emend diff`: show the edits of all clients and of this command.

use std::num::NonZeroUsize;
use std::time::SystemTime;

use clap::ValueHint;
use clap_complete::ArgValueCandidates;
use emend_server::local;
use emend_workspace::Workspace;
use emend_workspace::history::{Edited, HistoryQuery};
use emend_workspace::problem::{Kind, Problem};
use serde_json::json;

use crate::completions;
use crate::edit_ids;
use crate::exit::{Ended, Exit, Stop};
use crate::output::{Output, OutputFlags};
use crate::since;
use crate::workspace::{Opened, WorkspaceFlags};

/// How many files of each edit are listed.
const FILES: usize = 20;

#[derive(clap::Args)]
pub(crate) struct LogArguments {
    /// Only edits of this file: relative to the folder of --workspace, else to the working folder.
    #[arg(value_hint = ValueHint::FilePath)]
    path: Option<String>,

    /// How many to list.
    #[arg(long, short = 'n', value_name = "N", default_value = "20")]
    limit: NonZeroUsize,

    /// Show the diff of each edit too.
    #[arg(long, short)]
    patch: bool,

    /// Only edits since then: 90m, 2h, 3d or 1w ago, or the beginning of a day in UTC, as 2026-11-23.
    #[arg(long, value_name = "WHEN", value_parser = since::parse)]
    since: Option<SystemTime>,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(clap::Args)]
pub(crate) struct ShowArguments {
    /// The edit, by any beginning of its id that only one has, @ for the newest or @~N for one before it; without it, the
    /// newest.
    #[arg(add = ArgValueCandidates::new(completions::edit_ids))]
    edit: Option<String>,

    /// Show the request too, word for word.
    #[arg(long)]
    request: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  emend diff                       what the newest session did\n  \
                        emend diff --client claude-code  what the newest session of that client did")]
pub(crate) struct DiffArguments {
    /// Only what became of this file: relative to the folder of --workspace, else to the working folder.
    #[arg(value_hint = ValueHint::FilePath)]
    path: Option<String>,

    /// The session, or its beginning, as 'emend log --json' names it; without it, that of the newest edit.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, add = ArgValueCandidates::new(completions::sessions))]
    session: Option<Option<String>>,

    /// Or the newest session of a client of this name.
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    client: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

/// The newest edits of all sessions, the newest first. No edit counts as one's own here, since a user has no session.
pub(crate) fn edits(workspace: &Workspace, path: Option<&str>, limit: usize) -> Result<Vec<Edited>, Problem> {
    workspace.past_edits().newest(&HistoryQuery { path, limit }, "")
}

pub(crate) fn log(arguments: &LogArguments, output: Output) -> Ended {
    let Opened { workspace, .. } = arguments.workspace.open_past()?;
    let path = arguments.path.as_deref().map(|path| arguments.workspace.path_from_here(&workspace, path));
    let mut edits = edits(&workspace, path.as_deref(), arguments.limit.get())?;
    if edits.is_empty() {
        check_path(&workspace, path.as_deref())?;
    }
    if let Some(since) = arguments.since {
        let all = edits.len();
        edits.retain(|edit| edit.time >= since);
        if edits.is_empty() && all > 0 && !output.json {
            output.show("No edit is as new as that. Without --since, there are older ones.\n")?;
            return Ok(Exit::Done);
        }
    }
    if output.json {
        let edits: Vec<_> = edits.iter().map(local::document).collect();
        output.document(&json!({"edits": edits}))?;
        return Ok(Exit::Done);
    }
    if edits.is_empty() {
        let of = arguments.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
        let above = arguments.workspace.edited_above().map(|folder| {
            format!(" There are some of {}: go there, or name it with --workspace.", folder.display())
        });
        let above = above.unwrap_or_default();
        let folders: Vec<String> =
            workspace.roots().all().iter().map(|root| root.path.display().to_string()).collect();
        let none = format!("No edits{of} in the history of {}.{above}\n", folders.join(", "));
        output.show(&output.plain(&none))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for edit in &edits {
        text.push_str(&summary(edit, FILES, output));
        if arguments.patch {
            text.push_str(&with_diff(&workspace.past_edits().find(&edit.id, "")?, output));
            text.push('\n');
        }
    }
    output.show_long(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn show(arguments: &ShowArguments, output: Output) -> Ended {
    let Opened { workspace, .. } = arguments.workspace.open_past()?;
    let newest = || Ok::<_, Problem>(edits(&workspace, None, 1)?.into_iter().next().map(|edit| edit.id));
    let id = match &arguments.edit {
        Some(id) => edit_ids::edit(&workspace, id)?,
        None => newest()?.ok_or_else(none_yet)?,
    };
    let edit = workspace.past_edits().find(&id, "")?;
    if output.json {
        output.document(&local::document(&edit))?;
        return Ok(Exit::Done);
    }
    let mut text = summary(&edit, usize::MAX, output) + &with_diff(&edit, output);
    if arguments.request {
        match &edit.request {
            Some(request) => {
                let request = output.plain(request);
                text.push_str(&format!("\nThe request: {} {request}\n", edit.tool));
            }
            None => text.push_str("\nIts request was not kept.\n"),
        }
    }
    output.show_long(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn diff(arguments: &DiffArguments, output: Output) -> Ended {
    let Opened { workspace, .. } = arguments.workspace.open_past()?;
    let session = session(arguments, edits(&workspace, None, usize::MAX)?)?;
    let path = arguments.path.as_deref().map(|path| arguments.workspace.path_from_here(&workspace, path));
    let path = path.as_deref();
    if edits(&workspace, path, 1)?.is_empty() {
        check_path(&workspace, path)?;
    }
    let (changed, unknown) = workspace.past_edits().net(path, &session)?;
    let diff: String = changed.iter().map(|file| file.diff.text()).collect();
    if output.json {
        output.document(&json!({"session": session, "diff": diff, "unknown": unknown}))?;
        return Ok(Exit::Done);
    }
    let mut text = output.diff(&diff);
    for name in &unknown {
        let name = output.plain(name);
        text.push_str(&format!("{name}: its content is not known any more; it was changed since.\n"));
    }
    if text.is_empty() {
        let of = path.map(|path| format!(" of {path}")).unwrap_or_default();
        let none = format!("Taken together, the edits of session {session} change no content{of}.\n");
        text = output.plain(&none).into_owned();
    }
    output.show_long(&text)?;
    Ok(Exit::Done)
}

/// The diff of an edit, below its summary.
fn with_diff(edit: &Edited, output: Output) -> String {
    match &edit.diff {
        Some(diff) => format!("\n{}", output.diff(diff)),
        None => "\nIts diff was not kept.\n".to_owned(),
    }
}

/// Checks that a file without edits exists.
fn check_path(workspace: &Workspace, path: Option<&str>) -> Result<(), Stop> {
    match path {
        Some(path) if !workspace.roots().admit(path)?.absolute().exists() => {
            Err(Stop::Unknown(format!("There is no file {path}, and no edit of one in the history.")))
        }
        _ => Ok(()),
    }
}

/// The session that the arguments select; it must have edited something.
fn session(arguments: &DiffArguments, mut edits: Vec<Edited>) -> Result<String, Stop> {
    if edits.is_empty() {
        return Err(none_yet().into());
    }
    let (whose, known) = match (arguments.session.as_ref().and_then(Option::as_ref), &arguments.client) {
        (Some(session), _) => {
            let meant = edit_ids::session(&edits, session)?;
            edits.retain(|edit| Some(&edit.session) == meant.as_ref());
            (format!("of the session {session}"), "'emend log --json' names the sessions")
        }
        (None, Some(client)) => {
            edits.retain(|edit| edit.client == *client);
            (format!("by a client called {client}"), "'emend log' says who edited")
        }
        (None, None) => (String::new(), ""),
    };
    let newest = edits.into_iter().next().map(|edit| edit.session);
    newest.ok_or_else(|| Stop::Unknown(format!("No edit {whose} is in the history; {known}.")))
}

/// One edit as a line, with its files below.
fn summary(edit: &Edited, files: usize, output: Output) -> String {
    let text = local::summary(edit, files);
    let text = output.plain(&text);
    let (id, rest) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {rest}", output.colours.yellow(id))
}

pub(crate) fn none_yet() -> Problem {
    Problem::new(Kind::UnknownEdit { edit: None, path: None, recent: Vec::new() })
}
