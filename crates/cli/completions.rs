//! `emend completions`: prints a shell script that completes commands, their arguments, and the ids of what is there.
//!
//! The script asks `emend` itself, so that what it offers is what this version knows and this folder has.

use std::collections::BTreeSet;

use clap::Parser as _;
use clap_complete::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use emend_workspace::approval::Approvals;
use emend_workspace::history::{Edited, HistoryQuery};

use crate::exit::{Ended, Exit, Stop};
use crate::output::Output;
use crate::workspace::{WorkspaceFlags, state_folder};

/// The variable by which a shell asks.
const VARIABLE: &str = "EMEND_COMPLETE";
/// How many of the newest edits are offered.
const OFFERED: usize = 100;

#[derive(clap::Args)]
#[command(after_help = "For bash, in ~/.bashrc: source <(emend completions bash)")]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let shells = Shells::builtins();
    let shell = shells.completer(&arguments.shell).ok_or_else(|| Stop::usage("no such shell"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "emend", "emend", "emend", &mut script)?;
    output.show(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Answers a shell that asks, and then ends the process.
pub(crate) fn answer(command: fn() -> clap::Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// A command line without arguments: what is around the working folder is meant.
#[derive(clap::Parser)]
struct Here {
    #[command(flatten)]
    workspace: WorkspaceFlags,
}

fn newest() -> Vec<Edited> {
    let opened = Here::try_parse_from(["emend"]).ok().and_then(|here| here.workspace.open_past().ok());
    let query = HistoryQuery { path: None, limit: OFFERED };
    opened.and_then(|opened| opened.workspace.past_edits().newest(&query, "").ok()).unwrap_or_default()
}

/// The edits of the workspace around the working folder, the newest first.
pub(crate) fn edit_ids() -> Vec<CompletionCandidate> {
    let candidate = |(at, (id, line)): (usize, (String, String))| {
        CompletionCandidate::new(id).help(Some(line.into())).display_order(Some(at))
    };
    newest().into_iter().map(|edit| (edit.id.clone(), edit.line())).enumerate().map(candidate).collect()
}

/// The sessions of these edits.
pub(crate) fn sessions() -> Vec<CompletionCandidate> {
    let sessions: BTreeSet<String> = newest().into_iter().map(|edit| edit.session).collect();
    sessions.into_iter().map(CompletionCandidate::new).collect()
}

/// What waits for this user's approval.
pub(crate) fn waiting() -> Vec<CompletionCandidate> {
    let approvals = state_folder().and_then(|state| Approvals::of_user(&state).ok().flatten());
    let all = approvals.and_then(|approvals| approvals.all().ok()).unwrap_or_default();
    all.iter().map(|waiting| CompletionCandidate::new(waiting.id())).collect()
}
