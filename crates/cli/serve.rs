//! `emend serve`: the workspace, then the server, on standard input and output or on HTTP.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;

use emend_server::{Effects, Emend, serve_stdio};

use crate::exit::{Ended, Exit, Stop};
use crate::http;
use crate::workspace::{For, Opened, OpeningFlags};

/// How long hooks after the last edits may still take where the client has left,
const LEFT: Duration = Duration::from_secs(10);
/// and where the server was told to stop.
const TOLD: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", num_args = 1..)]
    pub(crate) workspaces: Vec<String>,

    #[command(flatten)]
    opening: OpeningFlags,

    #[command(flatten)]
    http: http::Flags,
}

pub(crate) async fn run(arguments: &Arguments) -> Ended {
    let (workspace, effects) = match arguments.opening.open(&arguments.workspaces, For::Client)? {
        Ok(Opened { workspace, effects }) => (Ok(workspace), effects),
        Err(problem) => (Err(problem), Effects::none()),
    };
    let emend = Emend::with_effects(workspace, Arc::clone(&effects));
    let (served, patience) = match arguments.http.listen().await.map_err(Stop::of)? {
        Some(listening) => {
            listening.serve(emend).await;
            (Ok(()), TOLD)
        }
        None => {
            if io::stdin().is_terminal() {
                let _ = writeln!(
                    io::stderr(),
                    "emend serve waits for an MCP client on standard input: one that 'emend init' has set up starts it by \
                     itself. Ctrl-D ends it."
                );
            }
            let told = http::Stop::new()?;
            tokio::select! {
                served = serve_stdio(emend) => {
                    (served.map_err(|error| anyhow!("serving failed: {error}")), LEFT)
                }
                () = told.wait() => (Ok(()), TOLD),
            }
        }
    };
    finish(effects, patience).await?;
    served?;
    Ok(Exit::Done)
}

/// Waits for what still follows edits, unless somebody has no patience for that.
async fn finish(effects: Arc<Effects>, patience: Duration) -> std::io::Result<()> {
    let told = http::Stop::new()?;
    let finishing = Arc::clone(&effects);
    let finishing = tokio::task::spawn_blocking(move || finishing.finish(patience));
    tokio::select! {
        _ = finishing => {}
        () = told.wait() => effects.give_up(),
    }
    Ok(())
}
