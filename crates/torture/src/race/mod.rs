//! Races with programs that write while Emend does. Each race has a file, which says what the other program does and
//! what must hold.

mod in_place;
mod links;
mod renames;
mod servers;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// Runs all races, each for its share of the time, even if one of them fails.
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

/// The other program's writes per second. An editor that saves at each keystroke is a hundred times slower.
const WRITES: u32 = 1_000;
/// One in this many writes of another program may be lost, if an answer says so.
const LOST_OF: usize = 60_000;

/// Fails if too many of another program's writes were lost, or one without a word in an answer.
fn judge(what: &str, written: usize, lost: usize, silent: usize) -> Result<()> {
    ensure!(
        lost <= written.div_ceil(LOST_OF),
        "{what}: {lost} of {written} writes of another program were lost"
    );
    ensure!(silent == 0, "{what}: {silent} of {written} writes of another program were lost without a word");
    Ok(())
}

/// A clock for the other program's writes.
struct Beat(Instant);

impl Beat {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Waits for the next beat. After a late beat, the next ones do not come faster.
    fn wait(&mut self) {
        self.0 = (self.0 + Duration::from_secs(1) / WRITES).max(Instant::now());
        std::thread::sleep(self.0.saturating_duration_since(Instant::now()));
    }
}

/// The number in the line `NAME = NUMBER`.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ")?.parse().ok())
}
