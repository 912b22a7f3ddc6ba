//! The few jobs that Cargo cannot do alone: suites that are too slow for `cargo test`, each bounded in
//! time, against the release build; and what is made from code.
//!
//! ```text
//! cargo xtask kill [SECONDS]             servers are killed while they write: no file is ever torn
//! cargo xtask race [SECONDS]             others write meanwhile, or swap links: nothing is lost or gets out
//! cargo xtask strace [SECONDS [SEED]]    every system call of an edit fails, or is the last; by default all
//! cargo xtask strace POINT               one of them again, as it was printed
//! cargo xtask power [SECONDS]            the power goes off: what was acknowledged is there; needs root
//! cargo xtask load [SECONDS]             64 clients over HTTP at once: no edit is lost, nothing is left over
//! cargo xtask many [FILES]               one patch over many files, timed beside the bare writes
//! cargo xtask overhead                   what a call costs beside its edit, over each transport
//! cargo xtask fuzz [SECONDS]             each target of tests/fuzz in turn; needs nightly and cargo-fuzz
//! cargo xtask tools                      what a model reads of the tools
//! cargo xtask bundle                     the bundle for desktop clients, made and tried; needs npm
//! cargo xtask conformance                the official suite, against its fixtures and against the command; needs npm
//! cargo xtask editors                    real editors show what was edited; those that are not installed are skipped
//! cargo xtask clients [NAME...]          real client libraries, each a whole round; needs Python and npm
//! cargo xtask agents [NAME...]           real agents with a scripted model, each a whole round; needs npm
//! cargo xtask servers [NAME...]          real language servers, and what they say of edits; needs npm, clangd, gopls
//! cargo xtask formatters                 real formatters as filters, edit after edit; needs Python
//! cargo xtask picture                    docs/demo.svg, the README's picture of the demo, made anew
//! ```

mod agents;
mod bounded;
mod bundle;
mod clients;
mod conformance;
mod editors;
mod formatters;
mod fuzz;
mod installed;
mod kill;
mod load;
mod many;
mod overhead;
mod picture;
mod power;
mod race;
mod random;
mod servers;
mod strace;
mod tools;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// How long a suite runs unless it is told.
const SECONDS: u64 = 20;
/// How many files a patch over many has unless it is told.
const FILES: usize = 1_000;

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
    let time = || number(0, "SECONDS").map(|seconds| Duration::from_secs(seconds.unwrap_or(SECONDS)));
    match (task, arguments) {
        ("agents", names) => agents::run(&emend()?, names),
        ("bundle", _) => bundle::run(&emend()?),
        ("clients", names) => clients::run(&emend()?, names),
        ("conformance", _) => conformance::run(&emend()?),
        ("editors", _) => editors::run(&emend()?),
        ("formatters", _) => formatters::run(&emend()?),
        ("fuzz", _) => fuzz::run(time()?),
        ("kill", _) => kill::run(&emend()?, time()?),
        ("load", _) => load::run(&emend()?, time()?),
        ("many", _) => many::run(&emend()?, number(0, "FILES")?.map_or(FILES, |files| files as usize)),
        ("overhead", _) => overhead::run(&emend()?),
        ("picture", _) => picture::run(&built("dev", "debug")?),
        ("power", _) => power::run(&emend()?, time()?),
        ("race", _) => race::run(&emend()?, time()?),
        ("servers", names) => servers::run(&emend()?, names),
        ("strace", [point]) if point.contains('/') => strace::one(&emend()?, point),
        ("strace", _) => {
            let time = number(0, "SECONDS")?.map(Duration::from_secs);
            strace::run(&emend()?, time, number(1, "SEED")?.unwrap_or_else(random::any_seed))
        }
        ("tools", _) => tools::run(&emend()?),
        _ => bail!(
            "the tasks are: agents [NAME...], bundle, clients [NAME...], conformance, editors, formatters, fuzz [SECONDS], kill [SECONDS], load [SECONDS], many [FILES], overhead, \
             picture, power [SECONDS], race [SECONDS], servers [NAME...], strace [SECONDS [SEED]], strace POINT, tools"
        ),
    }
}

/// The release build of the command, made now.
fn emend() -> Result<PathBuf> {
    built("release", "release")
}

/// The command, built now in a profile. Cargo puts what it builds into a folder of the target folder.
fn built(profile: &str, folder: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--profile", profile, "--bin", "emend"]).status()?;
    ensure!(built.success(), "the {profile} build failed");
    Ok(target()?.join(folder).join("emend"))
}

/// Where Cargo builds, and where the tasks put what they make.
fn target() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.canonicalize().with_context(|| format!("there is no {}", target.display()))
}
