//! Others write while Emend does. Each race has its file: what the others do, and what must hold.

mod in_place;
mod links;
mod renames;
mod servers;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

/// Every race, each for its share of the time. What one finds does not keep the others from running.
pub(crate) fn run(emend: &Path, time: Duration) -> Result<()> {
    let share = time / 4;
    let races = [
        servers::run(emend),
        renames::run(emend, share),
        in_place::run(emend, in_place::Way::Byte, share),
        in_place::run(emend, in_place::Way::Whole, share),
        links::run(emend, share),
    ];
    let found: Vec<String> =
        races.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    ensure!(found.is_empty(), "{}", found.join("; "));
    Ok(())
}

/// The number in the line `NAME = NUMBER`.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ")?.parse().ok())
}
