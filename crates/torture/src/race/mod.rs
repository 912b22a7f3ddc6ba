//! Others write while Emend does. Each race has its file: what the others do, and what must hold.

mod in_place;
mod links;
mod renames;
mod servers;

use std::path::Path;
use std::time::{Duration, Instant};

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

/// How many writes another program makes in a second: an editor that saves at each key is a hundred times slower.
const WRITES: u32 = 1_000;
/// Of so many writes of another program one may be lost, and then with a word.
const LOST_OF: usize = 60_000;

/// Fails if more of another program's writes were lost than may be, or one without a word.
fn judge(what: &str, written: usize, lost: usize, silent: usize) -> Result<()> {
    ensure!(
        lost <= written.div_ceil(LOST_OF),
        "{what}: {lost} of {written} writes of another program were lost"
    );
    ensure!(silent == 0, "{what}: {silent} of {written} writes of another program were lost without a word");
    Ok(())
}

/// The beats at which another program writes.
struct Beat(Instant);

impl Beat {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Waits for the next beat. One that is late does not make the next ones come faster.
    fn wait(&mut self) {
        self.0 = (self.0 + Duration::from_secs(1) / WRITES).max(Instant::now());
        std::thread::sleep(self.0.saturating_duration_since(Instant::now()));
    }
}

/// The number in the line `NAME = NUMBER`.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ")?.parse().ok())
}
