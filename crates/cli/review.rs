//! `emend review`: a page on which a person sees what waits, what was previewed and what was edited, and decides.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};

use clap_complete::ArgValueCandidates;
use emend_server::Emend;
use emend_server::in_process::InProcess;
use emend_server::loopback::LoopbackPage;
use emend_workspace::{make_private, mark_state_folder};

use crate::completions;
use crate::exit::{Ended, Exit, Stop};
use crate::output::Output;
use crate::program;
use crate::review_terminal;
use crate::signals::StopRequests;
use crate::workspace::{Opened, WorkspaceFlags, state_folder};

/// The client's name in the history.
const CLIENT: &str = "emend review";
/// Why the review is in the terminal.
const NO_BROWSER: &str = "No browser was found (BROWSER, DISPLAY), so this is the review in the terminal.";
/// The folder in the state folder with the files that lead to the page.
const FOLDER: &str = "review";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to show first: an edit that waits for approval, a preview, or an edit, by its id. Without it, all of them.
    #[arg(add = ArgValueCandidates::new(completions::waiting))]
    id: Option<String>,

    /// Review in the terminal. So it is too where no browser is found.
    #[arg(long)]
    terminal: bool,

    /// Open no browser: say which file leads to the page.
    #[arg(long, conflicts_with = "terminal")]
    no_open: bool,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

pub(crate) async fn run(arguments: &Arguments, output: Output) -> Ended {
    let Opened { workspace, effects, apply_model } = arguments.workspace.open_to_edit()?;
    let state = arguments.workspace.state().or_else(state_folder);
    let state = state.context("there is no state folder; name it with --state-dir").map_err(Stop::Usage)?;
    // A server with another state folder does not know this one, and lets its model read it.
    let is_beneath =
        |root: &Path| emend_workspace::canonical(&state).is_ok_and(|state| state.starts_with(root));
    let is_readable = workspace.roots().all().iter().any(|root| is_beneath(&root.path));
    if is_readable && state_folder().is_none_or(|own| own != state) {
        return Err(Stop::usage(
            "the state folder is in the workspace, where a model may read what leads to the page; name another with --state-dir",
        ));
    }
    let emend = Emend::with_model(Ok(workspace), effects, apply_model);
    let client = InProcess::connect(emend, CLIENT).await.map_err(|error| Stop::of(error.into()))?;
    let first = match &arguments.id {
        Some(id) => {
            let named = review_terminal::named(&client, id.trim()).await;
            Some(named.map_err(|error| Stop::Unknown(error.to_string()))?)
        }
        None => None,
    };
    let requests = StopRequests::listen(std::time::Duration::from_secs(10), None)?;
    let browser = if arguments.no_open { None } else { browser() };
    if arguments.terminal || (browser.is_none() && !arguments.no_open && stdout().is_terminal()) {
        let why = if arguments.terminal { "" } else { NO_BROWSER };
        // A signal must not leave the terminal as the review has it.
        return tokio::select! {
            ended = review_terminal::run(client, first, output.colours, why) => ended.map_err(Stop::of),
            () = requests.first() => Ok(Exit::Done),
        };
    }
    let (page, address) = LoopbackPage::open(client).await.map_err(|error| Stop::of(error.into()))?;
    let subject = first.map(|first| format!("#{}={}", first.name(), first.id())).unwrap_or_default();
    let way = Way::make(&state, &format!("{address}{subject}")).map_err(|error| Stop::of(error.into()))?;
    match browser {
        Some(browser) => {
            open(&browser, &way.0).map_err(Stop::of)?;
            say(&format!(
                "The review page opens in your browser, by {}. Ctrl-C ends it.\n",
                way.0.display()
            ))?;
        }
        // The address is a secret; what is printed here may be read along.
        None => say(&format!(
            "This file leads to the review page, once:\n{}\nCtrl-C ends it.\n",
            way.0.display()
        ))?,
    }
    page.serve(requests.first()).await;
    Ok(Exit::Done)
}

fn say(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The file that leads to the page, which is removed at the end.
struct Way(PathBuf);

impl Way {
    /// Writes a file for this user alone that leads to this address.
    fn make(state: &Path, address: &str) -> io::Result<Self> {
        let folder = state.join(FOLDER);
        make_private(&folder)?;
        mark_state_folder(state)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = folder.join(format!("{}.html", std::process::id()));
        // One of a process that had this number before.
        let _ = fs::remove_file(&path);
        let mut file = options.open(&path)?;
        let way = Self(path);
        let address = address.replace('&', "&amp;").replace('"', "&quot;");
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" \
             content=\"0;url={address}\"><title>emend review</title>"
        )?;
        Ok(way)
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The program that opens a file in the person's browser, if there is one to open it in.
fn browser() -> Option<PathBuf> {
    if let Some(browser) = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty()) {
        return program::on_path(&browser.to_string_lossy());
    }
    if cfg!(target_os = "macos") {
        return program::on_path("open");
    }
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_screen { program::on_path("xdg-open") } else { None }
}

fn open(browser: &Path, file: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(browser);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| anyhow!("{} was not started: {error}", browser.display()))?;
    // Nobody waits for the browser, but its end is taken note of.
    std::thread::spawn(move || child.wait());
    Ok(())
}
