//! `emend serve`: the workspace, then the server, on standard input and output or on HTTP.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;

use emend_server::{Effects, Emend, serve_stdio};
use emend_workspace::Workspace;

use crate::exit::{Ended, Exit, Stop};
use crate::http;
use crate::signals::Told;
use crate::workspace::{For, Opened, OpeningFlags};

/// How long hooks after the last edits may still take where the client has left.
const LEFT: Duration = Duration::from_secs(10);
/// How long they may still take where the server was told to stop.
const TOLD: Duration = Duration::from_secs(2);

/// How long edits that are being written may still take: what is not finished then is put back by the next start.
const WRITING: Duration = Duration::from_secs(30);

/// How long all of this may take, whatever hangs,
const LONGEST: Duration = Duration::from_secs(40);
/// and with what calls over HTTP may take before.
const LONGEST_OVER_HTTP: Duration = Duration::from_secs(80);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", num_args = 1..)]
    pub(crate) workspaces: Vec<String>,

    #[command(flatten)]
    pub(crate) opening: OpeningFlags,

    #[command(flatten)]
    http: http::Flags,
}

pub(crate) async fn run(arguments: &Arguments) -> Ended {
    let own = arguments.http.tokens_file();
    let opened = arguments.opening.open(&arguments.workspaces, For::Client, own.as_deref())?;
    let (workspace, effects) = match opened {
        Ok(Opened { workspace, effects }) => (Ok(workspace), effects),
        Err(problem) => (Err(problem), Effects::none()),
    };
    let is_over_http = arguments.http.is_wanted();
    let told = Told::listen(if is_over_http { LONGEST_OVER_HTTP } else { LONGEST })?;
    let emend = Emend::with_effects(workspace.clone(), Arc::clone(&effects));
    let (served, patience) = match arguments.http.listen().await.map_err(Stop::of)? {
        Some(listening) => {
            listening.serve(emend, told.once()).await;
            (Ok(()), TOLD)
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
                    (served.map_err(|error| anyhow!("serving failed: {error}")), LEFT)
                }
                () = told.once() => (Ok(()), TOLD),
            }
        }
    };
    finish(workspace.ok(), effects, patience, &told).await;
    served?;
    Ok(Exit::Done)
}

/// Waits for the edits that are being written, then for what still follows them, unless somebody has no patience for that.
async fn finish(workspace: Option<Arc<Workspace>>, effects: Arc<Effects>, patience: Duration, told: &Told) {
    let finishing = Arc::clone(&effects);
    let finishing = tokio::task::spawn_blocking(move || {
        if workspace.is_some_and(|workspace| !workspace.running_commits().end(WRITING)) {
            tracing::warn!("an edit is still being written; the next start puts its files back");
        }
        finishing.finish(patience);
    });
    tokio::select! {
        _ = finishing => {}
        () = told.again() => effects.give_up(),
    }
}
