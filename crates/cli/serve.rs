//! `emend serve`: the workspace, then the server, on standard input and output or on HTTP.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;

use emend_server::{ApplyModel, Effects, Emend, serve_stdio};
use emend_workspace::Workspace;

use crate::exit::{Ended, Exit, Stop};
use crate::http;
use crate::signals::StopRequests;
use crate::workspace::{Opened, OpeningFlags, StartedBy};

/// The timeout for hooks after the last edits when the client has disconnected.
const AFTER_DISCONNECT: Duration = Duration::from_secs(10);
/// The timeout for these hooks when a signal has stopped the server.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// The timeout for commits that are under way. The next start rolls back what is not finished then.
const WRITING: Duration = Duration::from_secs(30);

/// The time between a signal and the forced end of a server on standard input and output.
const LONGEST: Duration = Duration::from_secs(40);
/// The time between a signal and the forced end of a server over HTTP, whose calls finish first.
const LONGEST_OVER_HTTP: Duration = Duration::from_secs(80);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", num_args = 1.., value_hint = clap::ValueHint::DirPath)]
    pub(crate) workspaces: Vec<String>,

    #[command(flatten)]
    pub(crate) opening: OpeningFlags,

    #[command(flatten)]
    http: http::Flags,
}

pub(crate) async fn run(arguments: &Arguments) -> Ended {
    let own = arguments.http.tokens_file();
    let opened = arguments.opening.open(&arguments.workspaces, StartedBy::Client, own.as_deref())?;
    let (workspace, effects, apply_model) = match opened {
        Ok(Opened { workspace, effects, apply_model }) => (Ok(workspace), effects, apply_model),
        Err(problem) => (Err(problem), Effects::none(), ApplyModel::default()),
    };
    let is_over_http = arguments.http.is_wanted();
    let requests = StopRequests::listen(if is_over_http { LONGEST_OVER_HTTP } else { LONGEST })?;
    let emend = Emend::with_model(workspace.clone(), Arc::clone(&effects), apply_model);
    let (served, patience) = match arguments.http.listen().await.map_err(Stop::of)? {
        Some(listening) => {
            listening.serve(emend, requests.first()).await;
            (Ok(()), AFTER_SIGNAL)
        }
        None => {
            if io::stdin().is_terminal() {
                let _ = writeln!(
                    io::stderr(),
                    "emend serve waits for an MCP client on standard input: one that 'emend init' has set up starts it by \
                     itself. Ctrl-C ends it."
                );
            }
            tokio::select! {
                served = serve_stdio(emend) => {
                    (served.map_err(|error| anyhow!("serving failed: {error}")), AFTER_DISCONNECT)
                }
                () = requests.first() => (Ok(()), AFTER_SIGNAL),
            }
        }
    };
    finish(workspace.ok(), effects, patience, &requests).await;
    served?;
    Ok(Exit::Done)
}

/// Waits for commits that are under way, then for what follows them. A second signal ends the second wait.
async fn finish(
    workspace: Option<Arc<Workspace>>,
    effects: Arc<Effects>,
    patience: Duration,
    requests: &StopRequests,
) {
    let finishing = Arc::clone(&effects);
    let finishing = tokio::task::spawn_blocking(move || {
        if workspace.is_some_and(|workspace| !workspace.running_commits().end(WRITING)) {
            tracing::warn!("an edit is still being written; the next start puts its files back");
        }
        finishing.finish(patience);
    });
    tokio::select! {
        _ = finishing => {}
        () = requests.next() => effects.give_up(),
    }
}
