//! `emend approve`: shows a person the edits that wait for approval and takes their decision.
//!
//! Only a person who sees the whole edit may approve it. So the command asks at a terminal, after the diff, and no flag
//! answers for the person.

use std::io::{self, BufRead, IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use serde_json::json;

use clap_complete::ArgValueCandidates;
use emend_server::approval::Decision;
use emend_server::messages::notes;
use emend_workspace::AwaitingApproval;
use emend_workspace::approval::{Approvals, PersonsDecision, Waiting, pointed_out, visible, visible_line};
use emend_workspace::history::ago;

use crate::completions;
use crate::edit_ids;
use crate::exit::{Ended, Exit, Stop};
use crate::output::{Colours, Output, forget_typed};
use crate::workspace::state_folder;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The edit to decide on, by the id that its answer names or a beginning that only this one has. Without one, a
    /// terminal shows one after the other and asks about each; elsewhere all that wait are listed.
    #[arg(add = ArgValueCandidates::new(completions::waiting))]
    id: Option<String>,

    /// Show all that wait, then ask once about all of them.
    #[arg(long, conflicts_with = "id")]
    all: bool,

    /// List what waits, and ask about nothing.
    #[arg(long, conflicts_with_all = ["id", "all"])]
    list: bool,

    /// Say no to it, without being asked.
    #[arg(long, requires = "id")]
    deny: bool,

    /// List what waits as JSON.
    #[arg(long, conflicts_with_all = ["id", "all"])]
    pub(crate) json: bool,

    /// Where the server keeps its state.
    #[arg(long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR")]
    state: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let approvals = opened(arguments).map_err(Stop::of)?;
    let Some(id) = &arguments.id else { return without_id(arguments, approvals, output).map_err(Stop::of) };
    let found = match &approvals {
        Some(approvals) => {
            let all = approvals.all().context("what waits cannot be read").map_err(Stop::of)?;
            let known = all.iter().map(|waiting| (waiting.id(), head(waiting)));
            let id = edit_ids::named(known, &id.trim().to_ascii_lowercase()).map_err(Stop::Unknown)?;
            id.and_then(|id| all.into_iter().find(|waiting| waiting.id() == id)).map(|it| (approvals, it))
        }
        None => None,
    };
    let (approvals, waiting) = found.ok_or_else(|| {
        Stop::Unknown(format!(
            "nothing waits under the id {id} (an edit waits for a day); `emend approve` lists what does"
        ))
    })?;
    decide(arguments, approvals, &waiting, output).map_err(Stop::of)
}

/// Opens what waits for this user.
fn opened(arguments: &Arguments) -> anyhow::Result<Option<Approvals>> {
    let state = arguments.state.clone().or_else(state_folder);
    let state = state.context("there is no state folder; name it with --state-dir")?;
    Approvals::of_user(&state).with_context(|| format!("the state folder {} cannot be used", state.display()))
}

/// Walks through what waits, or lists it.
fn without_id(arguments: &Arguments, approvals: Option<Approvals>, output: Output) -> anyhow::Result<Exit> {
    let waiting = match &approvals {
        Some(approvals) => approvals.all().context("what waits cannot be read")?,
        None => Vec::new(),
    };
    let undecided: Vec<&Waiting> = waiting.iter().filter(|waiting| waiting.word.is_none()).collect();
    let can_ask = stdin().is_terminal() && stdout().is_terminal();
    ensure!(can_ask || !arguments.all, "--all asks a person: run it in a terminal");
    let is_walk = can_ask && !arguments.json && !arguments.list && !undecided.is_empty();
    match approvals.filter(|_| is_walk) {
        Some(approvals) if arguments.all => decide_on_all(&approvals, &undecided, output)?,
        Some(approvals) => walk(&approvals, &undecided, output)?,
        None => list(&waiting, arguments.json, output)?,
    }
    Ok(Exit::Done)
}

/// Shows one edit that waits and takes the person's decision.
fn decide(
    arguments: &Arguments,
    approvals: &Approvals,
    waiting: &Waiting,
    output: Output,
) -> anyhow::Result<Exit> {
    let id = waiting.id();
    if arguments.deny {
        approvals.deny(waiting, "").context("your answer could not be written down")?;
        output.show("Denied. Nothing was changed.\n")?;
        return Ok(Exit::Done);
    }
    ensure!(
        stdin().is_terminal() && stdout().is_terminal(),
        "a person must decide on this: run `emend approve {id}` in a terminal, without redirecting its input or output"
    );
    Review::from_waiting(waiting).show(output)?;
    match waiting.word {
        Some(PersonsDecision::Yes) => {
            output.show("\nYou have approved this already; a no takes that back.\n")?;
        }
        Some(PersonsDecision::No) => output.show("\nYou have denied this before.\n")?,
        None => {}
    }
    match ask()? {
        Some(true) => {
            approvals.allow(waiting, "").context("your answer could not be written down")?;
            output.show(&format!(
                "Approved, for a day and for one time. Let {} send the same call again.\n",
                visible_line(&waiting.client)
            ))?;
        }
        Some(false) => {
            approvals.deny(waiting, "").context("your answer could not be written down")?;
            output.show("Denied. Nothing was changed.\n")?;
        }
        None => output.show("Left undecided. Nothing was changed.\n")?,
    }
    Ok(Exit::Done)
}

/// Shows what waits, one edit after the other, and asks about each.
fn walk(approvals: &Approvals, waiting: &[&Waiting], output: Output) -> anyhow::Result<()> {
    let count = waiting.len();
    let mut decided = [0, 0];
    'all: for (at, waiting) in waiting.iter().enumerate() {
        if at > 0 {
            output.show("\n")?;
        }
        Review::from_waiting(waiting).show(output)?;
        let question = format!("\n({}/{count}) May exactly this be written [y,n,s,q,?]? ", at + 1);
        loop {
            match output.ask_for_answer(&question)?.as_deref() {
                Some("y" | "yes") => {
                    approvals.allow(waiting, "").context("your answer could not be written down")?;
                    decided[0] += 1;
                }
                Some("n" | "no") => {
                    approvals.deny(waiting, "").context("your answer could not be written down")?;
                    decided[1] += 1;
                }
                Some("" | "s") => {}
                Some("q") | None => break 'all,
                Some(_) => {
                    output.show("y - approve it\nn - deny it\ns - leave it undecided\nq - leave it and all later ones\n")?;
                    continue;
                }
            }
            break;
        }
    }
    say_decided(decided[0], decided[1], count, output)
}

/// Shows all that waits, then asks once.
fn decide_on_all(approvals: &Approvals, waiting: &[&Waiting], output: Output) -> anyhow::Result<()> {
    for waiting in waiting {
        Review::from_waiting(waiting).show(output)?;
        output.show("\n")?;
    }
    let count = waiting.len();
    let mut approved = 0;
    if output.ask(&format!("May exactly these {count} edits be written?"))? {
        for waiting in waiting {
            approvals.allow(waiting, "").context("your answer could not be written down")?;
            approved += 1;
        }
    }
    say_decided(approved, 0, count, output)
}

fn say_decided(approved: usize, denied: usize, count: usize, output: Output) -> anyhow::Result<()> {
    let left = count - approved - denied;
    let how = if approved > 0 {
        " What is approved holds for a day and one time: let the client send the same call again."
    } else {
        ""
    };
    output.show(&format!("\n{approved} approved, {denied} denied, {left} left undecided.{how}\n"))?;
    Ok(())
}

fn list(waiting: &[Waiting], as_json: bool, output: Output) -> anyhow::Result<()> {
    if as_json {
        let entry = |waiting: &Waiting| {
            let asked = waiting.time().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            json!({
                "id": waiting.id(),
                "asked_at": asked.as_secs(),
                "client": waiting.client,
                "tool": waiting.tool,
                "workspace": waiting.root,
                "rules": waiting.rules,
                "files": waiting.files,
                "diff": waiting.diff,
                "approved": waiting.word == Some(PersonsDecision::Yes),
                "denied": waiting.word == Some(PersonsDecision::No),
            })
        };
        let all: Vec<_> = waiting.iter().map(entry).collect();
        output.show(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        return Ok(());
    }
    if waiting.is_empty() {
        output.show("Nothing waits for approval.\n")?;
        return Ok(());
    }
    let mut text = String::new();
    for waiting in waiting {
        let word = match waiting.word {
            Some(PersonsDecision::Yes) => ", approved: the same call makes it",
            Some(PersonsDecision::No) => ", denied",
            None => "",
        };
        text.push_str(&format!("{}{word}\n", head(waiting)));
        for file in waiting.files.iter().take(10) {
            text.push_str(&format!("  {}\n", visible_line(file)));
        }
        if waiting.files.len() > 10 {
            text.push_str(&format!("  ... and {} more files\n", waiting.files.len() - 10));
        }
    }
    text.push_str("To see all of one and to decide on it: emend approve ID\n");
    output.show(&text)?;
    Ok(())
}

/// The first line of an entry: `ID  str_replace by claude-code, 3 minutes ago, in /home/ann/project`
fn head(waiting: &Waiting) -> String {
    let (tool, client, root) =
        (visible_line(&waiting.tool), visible_line(&waiting.client), visible_line(&waiting.root));
    format!("{}  {tool} by {client}, {}, in {root}", waiting.id(), ago(waiting.time()))
}

/// Everything that a person needs to decide on an edit.
struct Review<'a> {
    head: String,
    rules: &'a [String],
    files: &'a [String],
    notes: &'a [String],
    diff: &'a str,
}

impl<'a> Review<'a> {
    fn from_waiting(waiting: &'a Waiting) -> Self {
        Self {
            head: head(waiting),
            rules: &waiting.rules,
            files: &waiting.files,
            notes: &waiting.notes,
            diff: &waiting.diff,
        }
    }

    /// Shows all of it. Control characters are written out, so that none can hide a part of the edit.
    fn show(&self, output: Output) -> io::Result<()> {
        let colours = Colours::of_standard_output();
        let mut text = colours.bold(&self.head) + "\n";
        text.push_str(&format!(
            "It needs your approval, since {}.\n",
            visible_line(&self.rules.join(", and "))
        ));
        for line in self.files.iter().chain(self.notes) {
            text.push_str(&format!("  {}\n", visible_line(line)));
        }
        for remark in pointed_out(self.files.iter().map(String::as_str), self.diff) {
            text.push_str(&format!("  {remark}.\n"));
        }
        text.push('\n');
        text.push_str(&colours.diff(&visible(self.diff)));
        output.show(&text)
    }
}

/// Asks the person who runs a command, at their terminal, whether its edit may be made.
pub(crate) fn ask_decision(held: &AwaitingApproval, output: Output) -> Decision {
    if !output.can_ask() {
        return Decision::Undecided;
    }
    let (rules, files, notes) = (held.rules(), held.files(), notes(held.report()));
    let review = Review {
        head: format!("An edit in {}", visible_line(&held.root().display().to_string())),
        rules: &rules,
        files: &files,
        notes: &notes,
        diff: &held.report().diff(),
    };
    match review.show(output).map_err(anyhow::Error::from).and_then(|()| ask()) {
        Ok(Some(true)) => Decision::Approve,
        // No answer is a no. The person can run the command again.
        _ => Decision::Deny,
    }
}

/// Asks for the person's answer; `None` if there is none.
fn ask() -> anyhow::Result<Option<bool>> {
    let mut answer = String::new();
    for _ in 0..3 {
        let mut out = stdout().lock();
        forget_typed()?;
        write!(out, "\nMay exactly this be written? [y/N] ")?;
        out.flush()?;
        answer.clear();
        if stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(true)),
            "" | "n" | "no" => return Ok(Some(false)),
            _ => writeln!(out, "Please answer y or n.")?,
        }
    }
    bail!("there was no answer, so nothing was decided")
}
