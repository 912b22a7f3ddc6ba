//! `emend apply` and `emend preview`: take a patch from a file or from standard input, as `apply_patch` does from a
//! call.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;

use anyhow::Context;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use emend_server::local::{self, Made};
use emend_server::wire::ApplyPatch;
use emend_workspace::FileReport;
use emend_workspace::edit::Text;
use emend_workspace::edit::patch::recognise::{self, Format};
use emend_workspace::problem::{EditKind, Problem};

use crate::approve;
use crate::choose;
use crate::exit::{Ended, Exit, Stop};
use crate::output::{Output, OutputFlags};
use crate::workspace::{Opened, WorkspaceFlags};

/// The longest bar of `--stat`.
const BAR: usize = 50;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  git diff other | emend preview\n  emend apply fix.patch --workspace ~/project"
)]
pub(crate) struct Arguments {
    /// The file that holds the patch; - or nothing means standard input. Several are one edit.
    #[arg(value_name = "PATCH", value_hint = ValueHint::FilePath)]
    patches: Vec<String>,

    /// The file to change, relative to the workspace, where the patch names none.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    path: Option<String>,

    /// What the patch is written in; without it, that is recognised.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<String>,

    /// The version that a file must have, as PATH=VERSION; needed to delete or replace a whole file. May be given
    /// several times.
    #[arg(long = "versions", value_name = "PATH=VERSION", value_parser = version)]
    versions: Vec<(String, String)>,

    /// Take the changes of a unified diff back.
    #[arg(long, short = 'R')]
    reverse: bool,

    /// Show how much would change in each file, and not the diff. Nothing is written.
    #[arg(long)]
    stat: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(clap::Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) patch: Arguments,

    /// Only say whether the patch could be applied. Nothing is written.
    #[arg(long)]
    check: bool,

    /// Ask about each hunk, with the answers of 'git add -p'. The patch must be in a file.
    #[arg(long, short, conflicts_with_all = ["check", "stat", "json"])]
    interactive: bool,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()))
}

fn version(written: &str) -> Result<(String, String), String> {
    let (path, version) = written.rsplit_once('=').ok_or("it must be PATH=VERSION")?;
    Ok((path.to_owned(), version.to_owned()))
}

pub(crate) fn apply(arguments: &ApplyArguments, output: Output) -> Ended {
    let ApplyArguments { patch: arguments, check, interactive } = arguments;
    if *check || arguments.stat {
        return examine(arguments, *check, output);
    }
    if *interactive {
        return apply_chosen(arguments, output);
    }
    let Opened { workspace, effects, .. } = arguments.workspace.open_to_edit()?;
    let made = local::apply_patch(&workspace, &effects, arguments.call()?, "emend apply", &|held| {
        approve::ask_decision(held, output)
    })?;
    let shown = show_done(&made, output);
    // Hooks have timeouts of their own.
    effects.finish(Duration::MAX);
    shown
}

/// Says whether a patch fits, or how much it would change where, and writes nothing.
fn examine(arguments: &Arguments, checks: bool, output: Output) -> Ended {
    let workspace = arguments.workspace.open()?;
    let client = if checks { "emend apply --check" } else { "emend apply --stat" };
    let made = local::preview_patch(&workspace, arguments.call()?, client)?;
    if output.json {
        output.document(&made.document())?;
        return Ok(Exit::Done);
    }
    let mut text = if arguments.stat { stat(&made, output) } else { String::new() };
    text.push_str(&totals(&made));
    output.show_long(&text)?;
    output.show("The patch fits. Nothing was written.\n")?;
    Ok(Exit::Done)
}

/// Applies the hunks that the person chooses.
fn apply_chosen(arguments: &Arguments, output: Output) -> Ended {
    if arguments.patches.is_empty() || arguments.patches.iter().any(|file| file == "-") || !output.can_ask() {
        return Err(Stop::usage("-i asks at a terminal: name a file that holds the patch"));
    }
    let Opened { workspace, effects, .. } = arguments.workspace.open_to_edit()?;
    let proposed = local::propose_patch(&workspace, arguments.call()?, "emend apply")?;
    let (proposed, chosen, is_everything) = choose::hunks(proposed, output)?;
    if chosen.is_empty() {
        output.show("No hunk was chosen. Nothing was changed.\n")?;
        return Ok(Exit::Refused);
    }
    output.show("\n")?;
    let hunks = (!is_everything).then_some(&*chosen);
    let made = proposed.apply(&workspace, &effects, hunks, &|held| approve::ask_decision(held, output))?;
    let shown = show_done(&made, output);
    // Hooks have timeouts of their own.
    effects.finish(Duration::MAX);
    shown
}

/// A line for each file, as `git diff --stat` has it: `src/a.rs | 3 ++-`
fn stat(made: &Made, output: Output) -> String {
    let files = made.files();
    let widest = files.iter().map(|file| file.name.chars().count()).max().unwrap_or(0);
    let most = files.iter().map(|file| file.diff.added + file.diff.removed).max().unwrap_or(0);
    let digits = most.to_string().len();
    let mut text = String::new();
    for file in files {
        let (added, removed) = (file.diff.added, file.diff.removed);
        // A bar that would be too long is shortened, but what there is stays visible.
        let bar = |count: usize| match most {
            ..=BAR => count,
            _ => (count * BAR / most).max(usize::from(count > 0)),
        };
        let name = output.plain(&file.name).into_owned();
        let space = " ".repeat(widest.saturating_sub(file.name.chars().count()));
        let (plus, minus) = ("+".repeat(bar(added)), "-".repeat(bar(removed)));
        let (plus, minus) = (output.colours.green(&plus), output.colours.red(&minus));
        text.push_str(&format!(" {name}{space} | {:>digits$} {plus}{minus}\n", added + removed));
    }
    text
}

pub(crate) fn preview(arguments: &Arguments, output: Output) -> Ended {
    if arguments.stat {
        return examine(arguments, false, output);
    }
    let workspace = arguments.workspace.open()?;
    let made = local::preview_patch(&workspace, arguments.call()?, "emend preview")?;
    show(&made, output)
}

/// Shows an edit that was made, in full. If showing fails, the edit stands.
pub(crate) fn show_done(made: &Made, output: Output) -> Ended {
    show(made, output).map_err(|stop| match stop {
        Stop::Fault(error) => {
            let edit =
                made.edit().map(|edit| format!(": it is edit {edit}, which 'emend undo {edit}' takes back"));
            Stop::Fault(
                error.context(format!("the edit was made{}, but cannot be shown", edit.unwrap_or_default())),
            )
        }
        other => other,
    })
}

/// Shows in full what an edit did or would do.
pub(crate) fn show(made: &Made, output: Output) -> Ended {
    if output.json {
        output.document(&made.document())?;
        return Ok(Exit::Done);
    }
    let diff = made.diff();
    if !diff.is_empty() {
        output.show_long(&output.diff(&diff))?;
        output.show("\n")?;
    }
    // The outcome comes last, where whoever ran the command looks.
    let mut text = output.plain(&made.prose()).into_owned();
    text.push_str(&totals(made));
    if let Some(edit) = made.edit() {
        text.push_str(&format!("This is edit {edit}; 'emend undo {edit}' takes it back.\n"));
    }
    output.show(&text)?;
    Ok(Exit::Done)
}

/// How much was changed in all: `2 files changed, +3 -1`
fn totals(made: &Made) -> String {
    let files = made.files().len();
    let sum = |count: fn(&FileReport) -> usize| made.files().iter().map(count).sum::<usize>();
    let (added, removed) = (sum(|file| file.diff.added), sum(|file| file.diff.removed));
    let s = if files == 1 { "" } else { "s" };
    format!("{files} file{s} changed, +{added} -{removed}\n")
}

impl Arguments {
    /// The arguments for `apply_patch`.
    fn call(&self) -> Result<ApplyPatch, Stop> {
        let versions: BTreeMap<String, String> = self.versions.iter().cloned().collect();
        Ok(ApplyPatch {
            patch: Some(self.text()?),
            patch_path: None,
            path: self.path.clone(),
            format: self.format.clone(),
            versions: (!versions.is_empty()).then_some(versions),
            validate_only: None,
            kept: None,
        })
    }

    /// The text of all patches, one below the other.
    fn text(&self) -> Result<String, Stop> {
        let standard_input = ["-".to_owned()];
        let files = if self.patches.is_empty() { &standard_input[..] } else { &self.patches };
        let mut text = String::new();
        for file in files {
            let one = read(file)?;
            if files.len() > 1 {
                // Each is checked for itself, since the next one hides that it was cut off.
                recognise::parse(&one, self.format(), self.path.as_deref())
                    .map_err(|problems| problems.into_iter().map(Problem::from).collect::<Vec<_>>())?;
            }
            let is_ended = text.is_empty() || text.ends_with('\n');
            text.push_str(if is_ended { "" } else { "\n" });
            text.push_str(&one);
        }
        if !self.reverse {
            return Ok(text);
        }
        let reversed = recognise::reverse(&text, self.path.as_deref())
            .map_err(|problems| problems.into_iter().map(Problem::from).collect::<Vec<_>>())?;
        reversed.ok_or_else(|| {
            Stop::usage(
                "-R takes unified diffs, such as those of 'git diff', and this patch cannot be turned round",
            )
        })
    }

    fn format(&self) -> Option<Format> {
        self.format.as_deref().and_then(Format::named)
    }
}

/// Reads a patch from a file, or from standard input.
fn read(file: &str) -> Result<String, Stop> {
    let is_input = file == "-";
    let bytes = if is_input {
        if io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "Reading the patch from standard input; Ctrl-D ends it.");
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input cannot be read")?;
        bytes
    } else {
        std::fs::read(file)
            .map_err(|error| Stop::usage(format!("the patch {file} cannot be read: {error}")))?
    };
    let name = |kind: EditKind| Problem::new(kind).at(if is_input { "standard input" } else { file });
    let text = Text::new(bytes).map_err(name)?;
    Ok(text.known_characters().map_err(name)?.to_owned())
}
