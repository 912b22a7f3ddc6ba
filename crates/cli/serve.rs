//! `emend serve`: the workspace, then the server, on standard input and output or on HTTP.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
pub(crate) const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// The timeout for commits that are under way. The next start rolls back what is not finished then.
const WRITING: Duration = Duration::from_secs(30);

/// The time between a signal and the forced end of a server on standard input and output.
const LONGEST: Duration = Duration::from_secs(40);
/// The time between a signal and the forced end of a server over HTTP, whose calls finish first.
pub(crate) const LONGEST_OVER_HTTP: Duration = Duration::from_secs(80);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", num_args = 1.., value_hint = clap::ValueHint::DirPath)]
    pub(crate) workspaces: Vec<String>,

    #[command(flatten)]
    pub(crate) opening: OpeningFlags,

    #[command(flatten)]
    pub(crate) http: http::Flags,
}

pub(crate) async fn run(arguments: &Arguments) -> Ended {
    let own: Vec<PathBuf> = arguments.http.tokens_file().into_iter().collect();
    let opened = arguments.opening.open(&arguments.workspaces, StartedBy::Client, &own)?;
    let (workspace, effects, apply_model) = match opened {
        Ok(Opened { workspace, effects, apply_model }) => (Ok(workspace), effects, apply_model),
        Err(problem) => (Err(problem), Effects::none(), ApplyModel::default()),
    };
    let is_over_http = arguments.http.is_wanted();
    let requests = StopRequests::listen(if is_over_http { LONGEST_OVER_HTTP } else { LONGEST }, None)?;
    let emend = Emend::with_model(workspace.clone(), Arc::clone(&effects), apply_model);
    let (served, patience) = match arguments.http.listen(false, None).await.map_err(Stop::of)? {
        Some(listening) => {
            let (tokens, shown) = arguments.http.tokens().map_err(Stop::of)?;
            arguments.http.announce(&listening, shown.as_deref()).map_err(Stop::of)?;
            listening.serve(emend, tokens, requests.first()).await;
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
    finish(workspace.ok().map(|workspace| (workspace, effects)).into_iter().collect(), patience, &requests)
        .await;
    served?;
    Ok(Exit::Done)
}

/// Waits for commits that are under way, then for what follows them. A second signal ends the second wait.
pub(crate) async fn finish(
    open: Vec<(Arc<Workspace>, Arc<Effects>)>,
    patience: Duration,
    requests: &StopRequests,
) {
    let all: Vec<_> = open.iter().map(|(_, effects)| Arc::clone(effects)).collect();
    let finishing = tokio::task::spawn_blocking(move || {
        let until = Instant::now() + WRITING;
        for (workspace, _) in &open {
            if !workspace.running_commits().end(until.saturating_duration_since(Instant::now())) {
                tracing::warn!("an edit is still being written; the next start puts its files back");
            }
        }
        let until = Instant::now() + patience;
        for (_, effects) in open {
            effects.finish(until.saturating_duration_since(Instant::now()));
        }
    });
    tokio::select! {
        _ = finishing => {}
        () = requests.next() => all.iter().for_each(|effects| effects.give_up()),
    }
}
