//! Many servers on one workspace, each with one client: what desktop programs and agents beside each other are.

use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use emend_testkit::Folder;
use serde_json::json;

use super::measurement::Measurement;
use super::page::{Goal, Page, millis, times, whole};
use super::stdio::{self, StdioServer};
use super::times::{Editor, Load, beside};
use super::{floor, sample};

/// The numbers of servers.
const SERVERS: [usize; 3] = [1, 4, 16];
/// The goal for the edits per second of most servers, as a multiple of those of one.
const GOAL: f64 = 0.8;
/// The size of the files.
const BYTES: usize = 4 << 10;

/// Measures servers that edit a file each, then servers that edit the same one.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.heading(2, "Many servers on one workspace");
    own_files(measurement, page)?;
    same_file(measurement, page)
}

fn own_files(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.paragraph(
        "Servers over standard input and output, each with one client that edits a 4 KB file of its own in the common \
         workspace as fast as it can. The floor does the same with as many threads. Each number had its turn five \
         times, for two seconds; the rate is the median.",
    );
    // Even kinds are Emend's, odd ones the floor's.
    let loads: [Load; 2 * SERVERS.len()] = measurement.loads(|kind, time| {
        let count = SERVERS[kind / 2];
        if kind % 2 == 0 { emend_load(measurement, count, time) } else { floor_load(count, time) }
    })?;
    let rate = |at: usize| loads[2 * at].rate;
    let row = |at: usize| row(&SERVERS[at].to_string(), &loads[2 * at], rate(0), loads[2 * at + 1].rate);
    page.table(HEADING, &(0..SERVERS.len()).map(row).collect::<Vec<_>>());
    let ratio = rate(SERVERS.len() - 1) / rate(0);
    page.goals(&[Goal::at_least(GOAL, "Edits per second of 16 servers over those of one", ratio)]);
    Ok(())
}

/// The columns of a table about work beside work.
pub(super) const HEADING: [&str; 6] =
    ["Number", "Edits per second", "Over one", "Median", "99 % within", "Floor, edits per second"];

/// The row of a load, where the first of its table made `first` edits per second.
pub(super) fn row(name: &str, load: &Load, first: f64, floor: f64) -> [String; 6] {
    let (median, p99) = (load.times.median(), load.times.percentile(99));
    [name.into(), whole(load.rate), times(load.rate / first), millis(median), millis(p99), whole(floor)]
}

fn name_of(client: usize) -> String {
    format!("file-{client:02}.txt")
}

fn emend_load(measurement: &Measurement, count: usize, time: Duration) -> Result<Load> {
    let folder = Folder::new();
    let editor = |client| {
        folder.write(&name_of(client), sample::text(BYTES));
        let server = StdioServer::start(&mut stdio::emend(&measurement.emend, &folder, stdio::NO_FLAGS))?;
        Ok(stdio::editor(server, name_of(client)))
    };
    beside((0..count).map(editor).collect::<Result<_>>()?, time)
}

/// What as many threads do at the floor, each with a file of its own.
pub(super) fn floor_load(count: usize, time: Duration) -> Result<Load> {
    let folder = Folder::new();
    let kept = folder.beside("kept");
    fs::create_dir_all(&kept)?;
    let editor = |client| {
        folder.write(&name_of(client), sample::text(BYTES));
        floor::editor(folder.at(&name_of(client)), kept.clone())
    };
    beside((0..count).map(editor).collect(), time)
}

fn same_file(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.paragraph(
        "Sixteen servers whose clients all edit the same file, each in a line of its own. A client is told once of \
         every change of the others since its last look, and calls again; the time of an edit counts all of its calls.",
    );
    let count = SERVERS[SERVERS.len() - 1];
    let [load] = measurement.loads(|_, time| {
        let folder = Folder::new();
        folder.write("common.txt", (0..count).map(|client| line_of(client, 0)).collect::<String>());
        let editor = |client| {
            let server = StdioServer::start(&mut stdio::emend(&measurement.emend, &folder, stdio::NO_FLAGS))?;
            Ok(insistent_editor(server, client))
        };
        beside((0..count).map(editor).collect::<Result<_>>()?, time)
    })?;
    let least = load.made.iter().min().copied().unwrap_or_default();
    let most = load.made.iter().max().copied().unwrap_or_default();
    let cells = [whole(load.rate), whole(least as f64), whole(most as f64)];
    let [rate, slowest, fastest] = cells;
    let row = [
        format!("{count}"),
        rate,
        millis(load.times.median()),
        millis(load.times.percentile(99)),
        slowest,
        fastest,
    ];
    page.table(
        [
            "Number",
            "Edits per second",
            "Median",
            "99 % within",
            "Edits of the slowest",
            "Edits of the fastest",
        ],
        &[row],
    );
    Ok(())
}

fn line_of(client: usize, number: usize) -> String {
    format!("client {client} has counted to {number}.\n")
}

/// An editor that calls again where another has changed the file.
fn insistent_editor(mut server: StdioServer, client: usize) -> Editor<'static> {
    let mut number = 0;
    Box::new(move || {
        let (old, new) = (line_of(client, number), line_of(client, number + 1));
        let arguments = json!({"path": "common.txt", "old_string": old, "new_string": new});
        let mut time = Duration::ZERO;
        loop {
            let answer = server.call("str_replace", &arguments)?;
            time += answer.time;
            if answer.is_made() {
                number += 1;
                return Ok(time);
            }
            ensure!(
                answer.text.contains("stale-file") || answer.text.contains("busy"),
                "refused: {}",
                answer.text
            );
        }
    })
}
