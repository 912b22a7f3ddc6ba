//! The few jobs that Cargo cannot do alone: what is made from code, and the start of each suite of `emend_torture`,
//! which lists them.
//!
//! ```text
//! cargo xtask tools                      what a model reads of the tools
//! cargo xtask bundle                     the bundle for desktop clients, made and tried; needs npm
//! cargo xtask picture                    docs/demo.svg, the README's picture of the demo, made anew
//! cargo xtask settings                   the table of settings in docs/CONFIGURATION.md, made anew
//! cargo xtask SUITE                      a suite of crates/torture/src/lib.rs
//! ```

mod bundle;
mod picture;
mod settings;
mod tools;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use emend_torture::{SUITES, built};

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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (task, arguments) = arguments.split_first().map_or(("", &[][..]), |(task, rest)| (*task, rest));
    match (task, arguments) {
        ("bundle", _) => bundle::run(&built::release()?),
        ("picture", _) => picture::run(&built::debug()?),
        ("settings", _) => settings::run(),
        ("tools", _) => tools::run(&built::release()?),
        _ => {
            let is_there = emend_torture::run(task, arguments)?;
            ensure!(is_there, "the tasks are: bundle, picture, settings, tools; and the suites: {SUITES}");
            Ok(())
        }
    }
}
