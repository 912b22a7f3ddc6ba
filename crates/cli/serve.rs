//! `emend serve`: the workspace, then the server, on standard input and output or on HTTP.

use std::sync::Arc;

use anyhow::anyhow;

use emend_server::{Effects, Emend, serve_stdio};

use crate::exit::{Ended, Exit, Stop};
use crate::http;
use crate::workspace::{For, Opened, OpeningFlags};

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
    match arguments.http.listen().await.map_err(Stop::of)? {
        Some(listening) => listening.serve(emend).await,
        None => serve_stdio(emend).await.map_err(|error| anyhow!("serving failed: {error}"))?,
    }
    effects.finish();
    Ok(Exit::Done)
}
