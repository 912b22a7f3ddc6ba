//! `emend serve`: which folders under which policy, then the server.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};

use emend_server::{Emend, serve_stdio};
use emend_workspace::edit::problem::{Kind, Problem};
use emend_workspace::{Policy, RootSpec, Workspace, disk};

use crate::{http, settings};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", num_args = 1..)]
    workspaces: Vec<String>,

    /// Where staged and displaced files are kept, if that is on the workspace's file system; otherwise
    /// they are kept in .emend in the workspace.
    #[arg(long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR")]
    state: Option<PathBuf>,

    #[command(flatten)]
    policy: settings::Flags,

    #[command(flatten)]
    http: http::Flags,
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let said = arguments.policy.said(home().as_deref())?;
    let state = arguments.state.clone().or_else(state_folder);
    // The usual state folder holds the means to undo of other servers, whichever is used here.
    let usual = state_folder();
    let own = said.files.iter().chain(&state).chain(&usual).map(|path| settings::without_links(path));
    let policy = Policy::new(&said.settings).map_err(|wrong| anyhow!("the policy: {wrong}"))?.with_own(own);
    let asked =
        if arguments.workspaces.is_empty() { &said.settings.workspace } else { &arguments.workspaces };
    let workspace = match roots(asked)? {
        Ok(roots) => {
            check_apart(&roots, state.as_deref())?;
            // A folder that was asked for and is not there is a mistake to fix now, not at each call.
            let workspace = Workspace::open_with_policy(disk::for_this_machine(), &roots, state, &policy)
                .map_err(|problem| anyhow!("{problem}"))?;
            for warning in workspace.warnings().map(str::to_owned).chain(workspace.findings()) {
                tracing::warn!("{warning}");
            }
            Ok(workspace)
        }
        Err(problem) => Err(problem),
    };
    let emend = Emend::new(workspace);
    match arguments.http.listen().await? {
        Some(listening) => {
            listening.serve(emend).await;
            Ok(())
        }
        None => serve_stdio(emend).await.map_err(|error| anyhow!("serving failed: {error}")),
    }
}

/// What Emend keeps for itself is off limits, and so would be all of a workspace that is the same folder.
fn check_apart(roots: &[RootSpec], state: Option<&Path>) -> anyhow::Result<()> {
    let state = state.map(settings::without_links);
    let same = roots.iter().find(|root| state.as_ref() == Some(&settings::without_links(&root.path)));
    ensure!(
        same.is_none(),
        "the state folder is the workspace folder itself; give another with --state-dir (or EMEND_STATE_DIR)"
    );
    Ok(())
}

/// The roots that were asked for; else the working folder, unless that is everything or the home folder,
/// as it is for servers that some clients start: then every tool answers with the line to add.
fn roots(asked: &[String]) -> anyhow::Result<Result<Vec<RootSpec>, Problem>> {
    if !asked.is_empty() {
        return Ok(Ok(asked.iter().map(|written| RootSpec::parse(written)).collect()));
    }
    let here = std::env::current_dir().context("the working folder cannot be read")?;
    let is_home = home().is_some_and(|home| home.canonicalize().is_ok_and(|home| home == here));
    if here.parent().is_none() || is_home {
        let reason = format!(
            "No workspace was opened: the server was started in {}, which is too much to open. Add the \
             folder to the server's arguments in the client's configuration: \"args\": [\"serve\", \
             \"--workspace\", \"/path/to/project\"].",
            here.display()
        );
        return Ok(Err(Problem::new(Kind::NoWorkspace { reason })));
    }
    Ok(Ok(vec![RootSpec { name: None, path: here }]))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// `$XDG_STATE_HOME/emend`, by default `~/.local/state/emend`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| home().map(|home| home.join(".local/state")))?;
    Some(base.join(Path::new("emend")))
}
