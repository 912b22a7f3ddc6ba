//! The `emend` command: arguments, logging, start.

mod approve;
mod asking;
mod choose;
mod completions;
mod demo;
mod doctor;
mod edit_ids;
mod events;
mod exit;
mod history;
mod hook;
mod http;
mod init;
mod logging;
mod output;
mod pager;
mod patch;
mod program;
mod review;
mod review_terminal;
mod serve;
mod settings;
mod signals;
mod since;
mod team;
#[cfg(feature = "otel")]
mod telemetry;
mod undo;
mod undo_session;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};

use crate::exit::{Ended, Stop};
use crate::output::Output;

/// How long the process waits at its end for calls whose caller is gone.
const LEFT: Duration = Duration::from_secs(2);

/// The help text below the list of commands.
const EXIT_CODES: &str = "Exit codes:\n  \
    0  done\n  \
    1  refused: nothing was changed, and the answer says why\n  \
    2  wrong usage: an argument or a configuration file\n  \
    3  the machine's fault: no space, no permission, another edit in the way";

#[derive(Parser)]
#[command(name = "emend", version, about, long_about = None, after_help = EXIT_CODES)]
struct Arguments {
    #[command(flatten)]
    logging: logging::LogFlags,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an MCP client over standard input and output, or many over HTTP.
    Serve(Box<serve::Arguments>),
    /// Apply a patch, in any format that apply_patch knows, all of it or nothing.
    Apply(Box<patch::ApplyArguments>),
    /// Show what a patch would do, and write nothing.
    Preview(Box<patch::Arguments>),
    /// List what was edited, by whoever, the newest first.
    Log(Box<history::LogArguments>),
    /// Show one edit: its files, its diff and its request.
    Show(Box<history::ShowArguments>),
    /// Show all edits of a session as one diff.
    Diff(Box<history::DiffArguments>),
    /// Take an edit back, all of its files in one step.
    Undo(Box<undo::Arguments>),
    /// Make again what was undone.
    Redo(Box<undo::RedoArguments>),
    /// Show what was edited and refused, by whoever, the newest last, and wait for more.
    Events(Box<events::Arguments>),
    /// Add Emend to a client's configuration, after showing the change.
    Init(Box<init::Arguments>),
    /// Show a person the diff of an edit, run by a client after each call.
    Hook(hook::Arguments),
    /// Say what is wrong with a set-up, and what to do about it.
    Doctor(Box<doctor::Arguments>),
    /// Print what a shell needs to complete Emend's commands.
    Completions(completions::Arguments),
    /// Decide on edits that wait for a person's approval.
    Approve(approve::Arguments),
    /// See and decide, in the browser or the terminal: what waits and what was previewed.
    Review(Box<review::Arguments>),
    /// Show what Emend does, by talking to a server of its own in a temporary folder.
    Demo(demo::Arguments),
}

impl Command {
    /// How and where the command shows its results.
    fn output(&self) -> Output {
        match self {
            Self::Approve(arguments) if arguments.json => Output::of_documents(),
            Self::Events(arguments) if arguments.json => Output::of_documents(),
            Self::Serve(_)
            | Self::Events(_)
            | Self::Approve(_)
            | Self::Completions(_)
            | Self::Hook(_)
            | Self::Review(_)
            | Self::Demo(_) => Output::of_errors(),
            Self::Apply(arguments) => arguments.patch.output.output(),
            Self::Preview(arguments) => arguments.output.output(),
            Self::Log(arguments) => arguments.output.output(),
            Self::Show(arguments) => arguments.output.output(),
            Self::Diff(arguments) => arguments.output.output(),
            Self::Undo(arguments) => arguments.output.output(),
            Self::Redo(arguments) => arguments.output.output(),
            Self::Init(arguments) => arguments.output.output(),
            Self::Doctor(arguments) => arguments.output.output(),
        }
    }

    fn run(&self, output: Output) -> Ended {
        match self {
            Self::Serve(arguments) => match arguments.http.team_file() {
                Some(file) => in_runtime(team::run(arguments, file)),
                None => in_runtime(serve::run(arguments)),
            },
            Self::Apply(arguments) => patch::apply(arguments, output),
            Self::Preview(arguments) => patch::preview(arguments, output),
            Self::Log(arguments) => history::log(arguments, output),
            Self::Show(arguments) => history::show(arguments, output),
            Self::Diff(arguments) => history::diff(arguments, output),
            Self::Undo(arguments) => undo::run(arguments, output),
            Self::Redo(arguments) => undo::redo(arguments, output),
            Self::Events(arguments) => events::run(arguments),
            Self::Init(arguments) => init::run(arguments, output),
            Self::Hook(_) => Ok(hook::run()),
            Self::Doctor(arguments) => doctor::run(arguments, output),
            Self::Completions(arguments) => completions::run(arguments, output),
            Self::Approve(arguments) => approve::run(arguments, output),
            Self::Review(arguments) => in_runtime(review::run(arguments, output)),
            Self::Demo(arguments) => in_runtime(demo::run(arguments)),
        }
    }
}

fn main() -> ExitCode {
    // A client waits for it after each call.
    if hook::is_called() {
        return hook::run().into();
    }
    logging::report_panics_by_place();
    completions::answer(Arguments::command);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_understood(error),
    };
    let output = arguments.command.output();
    let ended = arguments.logging.start().and_then(|_logging| arguments.command.run(output));
    let exit = ended.unwrap_or_else(|stop| {
        output.stop(&stop);
        stop.exit()
    });
    exit.into()
}

/// Prints what clap says of a wrong command line, or the help that was asked for.
fn not_understood(mut error: clap::Error) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    settings::teach_value_of_flag(&mut error, &arguments);
    // clap did not get as far as the command, so `--json` counts wherever it is.
    let is_json = arguments.iter().take_while(|&argument| argument != "--").any(|it| it == "--json");
    if !error.use_stderr() || !is_json {
        error.exit();
    }
    let stop = Stop::usage(error.render().to_string().trim_end().trim_start_matches("error: "));
    Output::of_documents().stop(&stop);
    stop.exit().into()
}

/// The folders that `emend` would serve with these arguments, as written; the error says why it would not start.
fn served(arguments: &[String]) -> Result<Vec<String>, String> {
    serving(arguments).map(|serving| serving.workspaces)
}

/// The configuration file, and the folders in it that such a server opens if its arguments name none.
fn configured_folders(arguments: &[String]) -> Option<(String, Vec<String>)> {
    let said = serving(arguments).ok()?.opening.policy.merged(workspace::home().as_deref()).ok()?;
    let names_any =
        |file: &&PathBuf| settings::read(file).ok().flatten().is_some_and(|said| !said.workspace.is_empty());
    let file = said.files.iter().find(names_any)?;
    Some((file.display().to_string(), said.settings.workspace.0))
}

fn serving(arguments: &[String]) -> Result<Box<serve::Arguments>, String> {
    if arguments.first().is_none_or(|first| first != "serve") {
        return Err("they do not begin with \"serve\"".into());
    }
    let line = std::iter::once("emend").chain(arguments.iter().map(String::as_str));
    match Arguments::try_parse_from(line) {
        Ok(Arguments { command: Command::Serve(arguments), .. }) => Ok(arguments),
        Ok(_) => Err("they start no server".into()),
        Err(wrong) => {
            let wrong = wrong.render().to_string();
            Err(wrong.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
        }
    }
}

/// Runs a command on one thread, since each call is a blocking job on a thread of its own. More workers would only hand
/// each message over once more.
fn in_runtime(command: impl Future<Output = Ended>) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(command);
    // A job that still runs may hang, for example on a dead disk. Nobody waits for its answer.
    runtime.shutdown_timeout(LEFT);
    ended
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_call_that_hangs_does_not_keep_the_process_from_ending() {
        let (_never, hangs) = mpsc::channel::<()>();
        let (ended, ends) = mpsc::channel();
        std::thread::spawn(move || {
            let command = async {
                tokio::task::spawn_blocking(move || hangs.recv());
                Ok(exit::Exit::Done)
            };
            ended.send(in_runtime(command).is_ok()).unwrap();
        });
        assert!(ends.recv_timeout(Duration::from_secs(60)).unwrap());
    }
}
