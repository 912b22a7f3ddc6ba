//! How long edits take: one at a time, in turn with those that they are compared with, or many beside each other.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Makes the next edit and returns how long it took.
pub(super) type Editor<'a> = Box<dyn FnMut() -> Result<Duration> + Send + 'a>;

/// How many edits each editor makes before it is measured.
const WARM_UP: usize = 5;

/// The durations of several edits, from the shortest to the longest.
#[derive(Debug)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The median, in milliseconds.
    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// What this many of a hundred edits do not exceed, in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    }
}

/// Lets the editors take turns, so that a slow moment of the machine affects all of them.
pub(super) fn in_turn(rounds: usize, editors: &mut [(&str, Editor<'_>)]) -> Result<Vec<Times>> {
    let mut times = vec![Vec::with_capacity(rounds); editors.len()];
    let warm_up = WARM_UP.min(rounds.div_ceil(4));
    for round in 0..warm_up + rounds {
        for ((name, edit), times) in editors.iter_mut().zip(&mut times) {
            let time = edit().with_context(|| format!("{name}, edit {round}"))?;
            if round >= warm_up {
                times.push(time);
            }
        }
    }
    Ok(times.into_iter().map(Times::new).collect())
}

/// The outcome of editors that worked beside each other.
#[derive(Debug)]
pub(super) struct Load {
    /// The durations of all edits.
    pub(super) times: Times,
    /// The number of edits that each editor made.
    pub(super) made: Vec<usize>,
    /// All edits per second.
    pub(super) rate: f64,
}

impl Load {
    /// Joins the outcomes of the same editors at several times. The rate is the median.
    pub(super) fn joined(loads: Vec<Self>) -> Self {
        let mut rates: Vec<f64> = loads.iter().map(|load| load.rate).collect();
        rates.sort_by(f64::total_cmp);
        let rate = rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN);
        let editors = loads.first().map_or(0, |load| load.made.len());
        let made = (0..editors).map(|editor| loads.iter().map(|load| load.made[editor]).sum()).collect();
        let times = loads.into_iter().flat_map(|load| load.times.0).collect();
        Self { times: Times::new(times), made, rate }
    }
}

/// Lets each editor make as many edits as it can in this time, all beside each other.
pub(super) fn beside(editors: Vec<Editor<'_>>, time: Duration) -> Result<Load> {
    let start = Barrier::new(editors.len());
    let parts: Vec<Vec<Duration>> = thread::scope(|scope| {
        let running: Vec<_> = editors
            .into_iter()
            .map(|mut edit| {
                let start = &start;
                scope.spawn(move || {
                    // Nobody may miss the barrier, for which all others wait.
                    let warm = (0..WARM_UP).try_for_each(|_| edit().map(drop));
                    start.wait();
                    warm?;
                    let until = Instant::now() + time;
                    let mut times = Vec::new();
                    loop {
                        let took = edit()?;
                        if Instant::now() > until {
                            return Ok(times);
                        }
                        times.push(took);
                    }
                })
            })
            .collect();
        running
            .into_iter()
            .map(|editor| editor.join().expect("an editor does not panic"))
            .collect::<Result<_>>()
    })?;
    let made: Vec<usize> = parts.iter().map(Vec::len).collect();
    let rate = made.iter().sum::<usize>() as f64 / time.as_secs_f64();
    Ok(Load { times: Times::new(parts.concat()), made, rate })
}
