//! Many clients of one server over HTTP, and the memory that it takes for them.

use std::time::Duration;

use anyhow::Result;
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};

use super::http::{self, Connection, Era};
use super::machine::memory_of;
use super::measurement::Measurement;
use super::page::{Goal, Page, millis, whole};
use super::sample;
use super::servers::{floor_load, row};
use super::times::{Load, beside};

/// The numbers of clients.
const CLIENTS: [usize; 3] = [1, 8, 64];
/// The goal for the edits per second of most clients, as a multiple of those of one.
const RATE_GOAL: f64 = 1.5;
/// The goal for 99 % of the edits of most clients: a multiple of the time in which each makes one edit on average.
const LATENCY_GOAL: f64 = 2.0;
/// The goal for the server's memory, in MB.
const MEMORY_GOAL: f64 = 60.0;
/// The size of the files.
const BYTES: usize = 4 << 10;

/// The server's memory in MB.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    before: f64,
    after: f64,
    peak: f64,
}

impl Memory {
    /// The larger one of each.
    fn most(self, other: Self) -> Self {
        let Self { before, after, peak } = self;
        Self { before: before.max(other.before), after: after.max(other.after), peak: peak.max(other.peak) }
    }
}

/// Measures clients with and without sessions.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.heading(2, "Many clients of one server");
    page.paragraph(
        "One server over HTTP. Each client has a connection that it keeps, and edits a 4 KB file of its own as fast \
         as it can. The clients run on the same cores as the server. The floor does the same edits with as many \
         threads. Each number had its turn five times, for two seconds; the rate is the median. Memory is what the \
         server has in use: before the first client, after the last edit, and at its peak.",
    );
    for era in Era::ALL {
        let kind = match era {
            Era::Stateless => "without sessions",
            Era::Session => "each in its session",
        };
        page.heading(3, &format!("Clients of revision {}, {kind}", era.revision()));
        let mut memories = [Memory::default(); CLIENTS.len()];
        // Even kinds are Emend's, odd ones the floor's.
        let loads: [Load; 2 * CLIENTS.len()] = measurement.loads(|kind, time| {
            let count = CLIENTS[kind / 2];
            if kind % 2 == 1 {
                return floor_load(count, time);
            }
            let (load, memory) = emend_load(measurement, era, count, time)?;
            memories[kind / 2] = memories[kind / 2].most(memory);
            Ok(load)
        })?;
        let (mut rows, first) = (Vec::new(), loads[0].rate);
        for (at, memory) in memories.iter().enumerate() {
            let (load, floor) = (&loads[2 * at], &loads[2 * at + 1]);
            let [number, rate, over, median, p99, floor] =
                row(&CLIENTS[at].to_string(), load, first, floor.rate);
            let [before, after, peak] =
                [memory.before, memory.after, memory.peak].map(|size| format!("{} MB", whole(size)));
            rows.push([number, rate, over, median, p99, floor, before, after, peak]);
        }
        page.table(
            [
                "Number",
                "Edits per second",
                "Over one",
                "Median",
                "99 % within",
                "Floor, edits per second",
                "Memory before",
                "after",
                "peak",
            ],
            &rows,
        );
        let (most, memory) = (&loads[2 * CLIENTS.len() - 2], memories[CLIENTS.len() - 1]);
        let turn = 1_000.0 * most.made.len() as f64 / most.rate;
        let p99 = most.times.percentile(99);
        page.goals(&[
            Goal::at_least(RATE_GOAL, "Edits per second of 64 clients over those of one", most.rate / first),
            Goal::at_most(
                LATENCY_GOAL,
                format!(
                    "99 % of their edits within, over 64 divided by their edits per second ({})",
                    millis(turn)
                ),
                p99 / turn,
            ),
            Goal::at_most(MEMORY_GOAL, "Peak memory for 64 clients in MB", memory.peak).decimals(0),
        ]);
    }
    Ok(())
}

fn emend_load(measurement: &Measurement, era: Era, count: usize, time: Duration) -> Result<(Load, Memory)> {
    let folder = Folder::new();
    let launch = Launch::new(&measurement.emend).workspace(folder.path()).state(folder.state());
    let server = HttpServer::start(&launch);
    let memory = |field| memory_of(server.process(), field);
    let before = memory("VmRSS")?;
    let editor = |client| {
        let name = format!("file-{client:02}.txt");
        folder.write(&name, sample::text(BYTES));
        Ok(http::editor(Connection::open(&server, era)?, name))
    };
    let load = beside((0..count).map(editor).collect::<Result<_>>()?, time)?;
    Ok((load, Memory { before, after: memory("VmRSS")?, peak: memory("VmHWM")? }))
}
