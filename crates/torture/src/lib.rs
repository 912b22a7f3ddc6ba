//! The long tests: suites that are too slow for `cargo test`. Each is bounded in time, and most test the release build
//! from outside. `cargo xtask NAME` starts the suite of that name.
//!
//! ```text
//! cargo xtask kill [SECONDS]             servers are killed while they write: no file is ever torn
//! cargo xtask race [SECONDS]             others write meanwhile, or swap links: nothing is lost or gets out
//! cargo xtask strace [SECONDS [SEED]]    every system call of an edit fails, or is the last; by default all
//! cargo xtask strace POINT               one of them again, as it was printed
//! cargo xtask power [SECONDS]            the power goes off: what was acknowledged is there; needs root
//! cargo xtask load [SECONDS]             64 clients over HTTP at once: no edit is lost, nothing is left over
//! cargo xtask lines [CASES]              stale line numbers: each lands on the lines that were read, or is refused
//! cargo xtask figures [OPTIONS] [GROUP...]  docs/FIGURES.md: what edits cost, beside the floor and other servers
//! cargo xtask fuzz [SECONDS]             each target of tests/fuzz in turn; needs nightly and cargo-fuzz
//! cargo xtask conformance                the official suite, against its fixtures and against the command; needs npm
//! cargo xtask crowd [SECONDS|table]      200 tenants with 1,000 sessions beside one that floods, for docs/TEAM.md
//! cargo xtask editors                    real editors show what was edited; those that are not installed are skipped
//! cargo xtask browser [pictures]         the review page in a real browser, or its pictures; needs npm and chromium
//! cargo xtask clients [NAME...]          real client libraries, each a whole round; needs Python and npm
//! cargo xtask agents [NAME...]           real agents with a scripted model, each a whole round; needs npm
//! cargo xtask servers [NAME...]          real language servers, and what they say of edits; needs npm, clangd, gopls
//! cargo xtask projects [SECONDS [COLD [NAME...]]]  renames and moves in real projects, beside a plain client
//! cargo xtask formatters                 real formatters as filters, edit after edit; needs Python
//! cargo xtask replicas [SECONDS]         three servers that fail in turn, with Redis and HAProxy: each edit is made once
//! cargo xtask team                       a server for a team, with a real identity provider; needs npm
//! cargo xtask wine [NAME|quick|all [SEED]] what is tested of Windows under Wine; needs wine64 and MinGW's C compiler
//! ```

pub mod bounded;
pub mod built;
pub mod installed;
pub mod random;

mod agents;
mod browser;
mod clients;
mod conformance;
mod editors;
mod figures;
mod formatters;
mod fuzz;
mod kill;
mod lines;
mod load;
mod power;
mod projects;
mod race;
mod replicas;
mod servers;
mod strace;
mod team;
mod wine;

use std::time::Duration;

use anyhow::{Context, Result};

/// The suites and their arguments, as a help text.
pub const SUITES: &str = "agents [NAME...], browser [pictures], clients [NAME...], conformance, crowd [SECONDS|table], editors, \
     figures [--quick] [GROUP...], formatters, fuzz [SECONDS], kill [SECONDS], lines [CASES], load [SECONDS], \
     power [SECONDS], projects [SECONDS [COLD [NAME...]]], race [SECONDS], replicas [SECONDS], servers [NAME...], \
     strace [SECONDS [SEED]], strace POINT, team, wine [NAME|quick|all [SEED]]";

/// The default duration of a suite.
const SECONDS: u64 = 20;
/// After how long no further project is begun, and how often the server of each is started anew.
const PROJECTS: Duration = Duration::from_secs(180);
const COLD: u64 = 2;
/// How many times stale line numbers are followed unless it is told.
const CASES: u64 = 1_000_000;

/// Runs the suite of this name. Returns whether it exists; the error is its finding.
pub fn run(suite: &str, arguments: &[&str]) -> Result<bool> {
    let number = |at: usize, what: &str| {
        let written = arguments.get(at).map(|written| written.parse::<u64>());
        written.transpose().with_context(|| format!("{what} is a whole number"))
    };
    let time = || number(0, "SECONDS").map(|seconds| Duration::from_secs(seconds.unwrap_or(SECONDS)));
    let emend = built::release;
    match (suite, arguments) {
        ("agents", names) => agents::run(&emend()?, names)?,
        ("browser", ["pictures"]) => browser::run(&built::debug()?, browser::Task::Pictures)?,
        ("browser", _) => browser::run(&built::debug()?, browser::Task::Rounds)?,
        ("clients", names) => clients::run(&emend()?, names)?,
        ("conformance", _) => conformance::run(&emend()?)?,
        ("crowd", ["table"]) => figures::crowd::table(&emend()?)?,
        ("crowd", _) => figures::crowd::run(&emend()?, time()?.max(figures::crowd::SHORTEST))?,
        ("editors", _) => editors::run(&emend()?)?,
        ("figures", _) => figures::run(arguments)?,
        ("formatters", _) => formatters::run(&emend()?)?,
        ("fuzz", _) => fuzz::run(time()?)?,
        ("kill", _) => kill::run(&emend()?, time()?)?,
        ("load", _) => load::run(&emend()?, time()?)?,
        ("lines", _) => lines::run(number(0, "CASES")?.unwrap_or(CASES))?,
        ("power", _) => power::run(&emend()?, time()?)?,
        ("projects", _) => {
            let time = number(0, "SECONDS")?.map_or(PROJECTS, Duration::from_secs);
            let cold = usize::try_from(number(1, "COLD")?.unwrap_or(COLD))?;
            // The servers take the time, so that any build will do.
            projects::run(&built::debug()?, time, cold, arguments.get(2..).unwrap_or_default())?;
        }
        ("race", _) => race::run(&emend()?, time()?)?,
        ("replicas", _) => replicas::run(&emend()?, time()?.max(replicas::SHORTEST))?,
        ("servers", names) => servers::run(&emend()?, names)?,
        ("team", _) => team::run(&emend()?)?,
        ("strace", [point]) if point.contains('/') => strace::one(&emend()?, point)?,
        ("strace", _) => {
            let time = number(0, "SECONDS")?.map(Duration::from_secs);
            strace::run(&emend()?, time, number(1, "SEED")?.unwrap_or_else(random::any_seed))?;
        }
        ("wine", _) => {
            let seed = number(1, "SEED")?.unwrap_or_else(random::any_seed);
            let selection = match arguments.first().copied() {
                None | Some("all") => wine::Selection::All,
                Some("quick") => wine::Selection::Quick,
                Some(name) => wine::Selection::Named(name),
            };
            wine::run(selection, seed)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
