//! The same edits by Emend, the floor and other servers.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use emend_testkit::Folder;

use super::measurement::Measurement;
use super::page::{Goal, Page, millis, whole};
use super::peer::Kind;
use super::stdio::{self, StdioServer};
use super::times::{Editor, Times, in_turn};
use super::{floor, sample};

/// A server slower than this is called a few times only.
const SLOW: Duration = Duration::from_secs(4);

/// The outcome for one server: its name, and what it did at each size.
struct Row {
    name: String,
    times: Vec<Option<Times>>,
}

/// Measures Emend, the floor and the peers with the same edits.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    if measurement.peers.is_empty() {
        return Ok(());
    }
    page.heading(2, "Beside other servers");
    page.paragraph(
        "The same edits, one after another over standard input and output; the servers take turns. Most of the others \
         promise less: they write without syncing, keep nothing of the old file, and overwrite what another program \
         has written meanwhile. A dash means that the server did not make the edit.",
    );
    let mut rows: Vec<Row> = Vec::new();
    for (name, bytes) in sample::SIZES {
        let measured = at_size(measurement, name, bytes)?;
        for (at, (name, times)) in measured.into_iter().enumerate() {
            match rows.get_mut(at) {
                Some(row) => row.times.push(times),
                None => rows.push(Row { name, times: vec![times] }),
            }
        }
    }
    let shown: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let cell =
                |at: usize| row.times[at].as_ref().map_or_else(|| "-".into(), |times| millis(times.median()));
            let rate =
                row.times[0].as_ref().map_or_else(|| "-".into(), |times| whole(1_000.0 / times.median()));
            [row.name.clone(), cell(0), cell(1), cell(2), rate]
        })
        .collect();
    page.table(
        ["Server", "4 KB, median", "1 MB, median", "50 MB, median", "Edits of 4 KB per second"],
        &shown,
    );
    let goals = sample::SIZES.iter().enumerate().filter_map(|(at, (size, _))| {
        let emend = rows[0].times[at].as_ref()?.median();
        let peers = rows[2..].iter().filter_map(|row| Some((row.times[at].as_ref()?.median(), &row.name)));
        let (fastest, name) = peers.min_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(Goal::at_most(1.0, format!("{size}, Emend over the fastest peer ({name})"), emend / fastest))
    });
    page.goals(&goals.collect::<Vec<_>>());
    Ok(())
}

/// Measures all servers at one size. A server that fails is left out there.
fn at_size(measurement: &Measurement, size: &str, bytes: usize) -> Result<Vec<(String, Option<Times>)>> {
    let folders: Vec<Folder> = (0..measurement.peers.len() + 2).map(|_| Folder::new()).collect();
    folders.iter().for_each(|folder| folder.write("a.txt", sample::text(bytes)));
    let kept = folders[1].beside("kept");
    fs::create_dir_all(&kept)?;

    let emend = StdioServer::start(&mut stdio::emend(&measurement.emend, &folders[0], stdio::NO_FLAGS))?;
    let mut servers: Vec<(String, Option<Editor<'_>>)> = vec![
        ("Emend".into(), Some(stdio::editor(emend, "a.txt".into()))),
        ("the floor".into(), Some(floor::editor(folders[1].at("a.txt"), kept))),
    ];
    for (peer, folder) in measurement.peers.iter().zip(&folders[2..]) {
        let server = peer.start(folder)?;
        servers.push((peer.kind.name.into(), Some(editor(server, peer.kind, folder.at("a.txt")))));
    }
    // Whoever fails or is slow at the first edits is found before the turns begin.
    let mut rounds = measurement.rounds(bytes);
    for (name, edit) in &mut servers {
        let Some(first) = edit else { continue };
        match first() {
            Ok(time) if time > SLOW => rounds = rounds.min(3),
            Ok(_) => {}
            Err(error) => {
                println!("{name}, {size}: {error:#}");
                *edit = None;
            }
        }
    }
    let mut turns: Vec<(&str, Editor<'_>)> = Vec::new();
    for (name, edit) in &mut servers {
        if let Some(edit) = edit {
            turns.push((name, Box::new(edit)));
        }
    }
    let mut measured = in_turn(rounds, &mut turns)?.into_iter();
    drop(turns);
    Ok(servers.into_iter().map(|(name, edit)| (name, edit.and_then(|_| measured.next()))).collect())
}

/// An editor that calls the server's own tool, and looks at the file after each call.
fn editor(mut server: StdioServer, kind: &'static Kind, file: PathBuf) -> Editor<'static> {
    let path = file.to_string_lossy().into_owned();
    let mut number = 0;
    Box::new(move || {
        let arguments = (kind.call)(&path, &sample::marked(number), &sample::marked(number + 1));
        let time = server.call(kind.tool, &arguments)?.made()?;
        number += 1;
        // Some call a failure a success.
        sample::ensure_edited(&file, number)?;
        Ok(time)
    })
}
