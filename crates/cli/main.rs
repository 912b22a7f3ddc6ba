//! The `emend` command: arguments, logging, start.

mod approve;
mod demo;
mod http;
mod serve;
mod settings;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "emend", version, about, long_about = None)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an MCP client over standard input and output, or many over HTTP.
    Serve(Box<serve::Arguments>),
    /// Decide on edits that wait for a person's approval.
    Approve(approve::Arguments),
    /// Show what Emend does, by talking to a server of its own in a temporary folder.
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    // Standard output belongs to the protocol.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("EMEND_LOG").unwrap_or_else(|_| "warn".into()),
        )
        .init();
    let arguments = Arguments::parse();
    // One thread reads, answers and waits; every call is a blocking job on a thread of its own. More
    // workers would only add a hand-over to each message.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(async {
            match arguments.command {
                Command::Serve(arguments) => serve::run(&arguments).await,
                Command::Approve(arguments) => approve::run(&arguments),
                Command::Demo(arguments) => demo::run(&arguments).await,
            }
        }),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("emend: {error:#}");
            ExitCode::FAILURE
        }
    }
}
