//! The jobs that Cargo cannot do alone: they generate files from code, and start the suites of `emend_torture`, which
//! lists them.
//!
//! ```text
//! cargo xtask tools                      what a model reads of the tools
//! cargo xtask bundle                     the bundle for desktop clients, made and tried; needs npm
//! cargo xtask picture                    docs/demo.svg, the README's picture of the demo, made anew
//! cargo xtask mutants [N [SEED [MINUTES]]]  N changes to the code, and whether its tests notice
//! cargo xtask macos [quick]              compiles and links the command for both kinds of Mac, and, unless it is to be quick,
//!                                        compiles the tests; needs Python
//! cargo xtask release [FOLDER]           what a release offers, made and tried; needs npm and Python
//! cargo xtask review [--check]           the review page, made anew or checked; needs npm
//! cargo xtask settings                   the table of settings in docs/CONFIGURATION.md, made anew
//! cargo xtask SUITE                      a suite of crates/torture/src/lib.rs
//! ```

mod bundle;
mod macos;
mod mutants;
mod picture;
mod release;
mod review;
mod settings;
mod target;
mod tools;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_torture::random::any_seed;
use emend_torture::{SUITES, built};

/// The default number of mutants.
const MUTANTS: usize = 20;
/// The default time for them, in minutes.
const MINUTES: u64 = 3;

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
    let number = |at: usize, what: &str| {
        let written = arguments.get(at).map(|written| written.parse::<u64>());
        written.transpose().with_context(|| format!("{what} is a whole number"))
    };
    match (task, arguments) {
        ("bundle", _) => bundle::run(&[(target::Target::own()?, &built::release()?)]),
        ("macos", ["quick"]) => macos::run(macos::Extent::Command),
        ("macos", _) => macos::run(macos::Extent::Everything),
        ("mutants", _) => {
            let count = number(0, "N")?.map_or(MUTANTS, |count| count as usize);
            let time = Duration::from_secs(60 * number(2, "MINUTES")?.unwrap_or(MINUTES));
            mutants::run(count, number(1, "SEED")?.unwrap_or_else(any_seed), time)
        }
        ("picture", _) => picture::run(&built::debug()?),
        ("release", builds) => release::run(builds.first().map(Path::new)),
        ("review", arguments) => review::run(arguments == ["--check"]),
        ("settings", _) => settings::run(),
        ("tools", _) => tools::run(&built::release()?),
        _ => {
            let is_there = emend_torture::run(task, arguments)?;
            ensure!(
                is_there,
                "the tasks are: bundle, macos [quick], mutants [N [SEED [MINUTES]]], picture, release [FOLDER], review [--check], settings, tools; and the suites: {SUITES}"
            );
            Ok(())
        }
    }
}
