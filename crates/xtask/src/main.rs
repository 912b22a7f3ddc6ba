//! The few jobs that Cargo cannot do alone: suites that are too slow for `cargo test`, each bounded in
//! time, against the release build.
//!
//! ```text
//! cargo xtask kill [SECONDS]    servers are killed while they write: no file is ever torn
//! cargo xtask race [SECONDS]    two servers and another program write one file: nothing is lost
//! cargo xtask fuzz [SECONDS]    each target of tests/fuzz, one after another; needs nightly and cargo-fuzz
//! cargo xtask tools             what a model reads of the tools
//! ```

mod fuzz;
mod kill;
mod race;
mod tools;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// How long a suite runs unless it is told.
const SECONDS: u64 = 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let seconds = match arguments.next() {
        Some(seconds) => seconds.parse().context("SECONDS is a whole number")?,
        None => SECONDS,
    };
    let time = Duration::from_secs(seconds);
    match task.as_str() {
        "fuzz" => fuzz::run(time),
        "kill" => kill::run(&emend()?, time),
        "race" => race::run(&emend()?, time),
        "tools" => tools::run(&emend()?),
        _ => bail!("the tasks are: fuzz [SECONDS], kill [SECONDS], race [SECONDS], tools"),
    }
}

/// The release build of the command, made now.
fn emend() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--bin", "emend"]).status()?;
    ensure!(built.success(), "the release build failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Ok(target.join("release").join("emend").canonicalize()?)
}
