//! Two servers against a program that writes into the same file in place: it opens the file, writes one byte of it or
//! all of it, and closes it. What it wrote must be in the file afterwards.
//!
//! One case is left: the program looks the file up, Emend exchanges it, checks it and lets go of it, and only then the
//! program opens what it has found. It then writes into the displaced file, which is kept.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::{Folder, Launch, folder};
use serde_json::json;

use super::Beat;
use crate::random::{Random, any_seed};

/// The number of edits by each server in a round.
const EDITS: usize = 20;
/// The number of bytes that the program writes, each once. They come first in the file, so that they never move.
const BYTES: usize = 8_000;

/// How the program writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Overwrites one byte.
    Byte,
    /// Truncates the file and writes all of it with one byte changed. Like an editor, the program remembers its own
    /// bytes: what it reads may be a version of ours that is withdrawn a moment later.
    Whole,
}

/// The fates of the program's bytes and of the edits.
#[derive(Debug, Default)]
struct Count {
    edits: usize,
    refused: usize,
    told: usize,
    written: usize,
    kept: usize,
    /// Those of `kept` in rounds in which no answer mentioned any.
    silent: usize,
    lost: usize,
}

/// Plays rounds until the time is over, each with its own file.
pub(super) fn run(emend: &Path, way: Way, time: Duration) -> Result<()> {
    let until = Instant::now() + time;
    let mut random = Random::new(any_seed());
    let mut count = Count::default();
    while Instant::now() < until {
        round(emend, way, &mut random, &mut count)?;
    }
    let Count { edits, refused, told, written, kept, silent, lost } = count;
    println!(
        "in place ({way:?}): {edits} edits and {refused} refusals beside {written} writes of another \
         program; {kept} of them only in kept files, of which {told} answers told, and {silent} without a \
         word; {lost} lost"
    );
    ensure!(lost == 0, "{lost} bytes of a program that writes in place were lost");
    super::judge(&format!("in place ({way:?})"), written, kept, silent)?;
    ensure!(edits > 20 && written > 20, "too little was written to say anything");
    Ok(())
}

fn round(emend: &Path, way: Way, random: &mut Random, count: &mut Count) -> Result<()> {
    let folder = Folder::new();
    let lines = ["A", "B"].iter().flat_map(|who| (0..EDITS).map(move |i| format!("{who}{i:02} = old\n")));
    folder.write("file.txt", ".".repeat(BYTES) + "\n" + &lines.collect::<String>());
    let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
    let (path, at_work) = (folder.at("file.txt"), AtomicUsize::new(2));
    let (servers, written) = thread::scope(|scope| {
        let servers = ["A", "B"].map(|who| {
            let (launch, at_work) = (&launch, &at_work);
            scope.spawn(move || {
                let counted = edit_all(launch, who);
                at_work.fetch_sub(1, Ordering::SeqCst);
                counted
            })
        });
        let outside = scope.spawn(|| write_while(&at_work, &path, way, random));
        (servers.map(thread::ScopedJoinHandle::join), outside.join())
    });
    let (Ok(written), [Ok(a), Ok(b)]) = (written, servers) else { anyhow::bail!("a writer failed") };
    let told = a.told + b.told;
    for server in [a, b] {
        count.edits += server.edits;
        count.refused += server.refused;
        count.told += server.told;
    }
    count.written += written;
    let end = folder.read("file.txt");
    let kept = folder::tree(&folder.state());
    let has = |content: &[u8], at: usize| content.get(at) == Some(&b'x');
    for at in (0..written).filter(|&at| !has(&end, at)) {
        match kept.values().any(|content| has(content, at)) {
            true => {
                count.kept += 1;
                count.silent += usize::from(told == 0);
            }
            false => count.lost += 1,
        }
    }
    Ok(())
}

fn edit_all(launch: &Launch, who: &str) -> Count {
    let mut client = launch.legacy();
    let mut count = Count::default();
    for i in 0..EDITS {
        let (old, new) = (format!("{who}{i:02} = old"), format!("{who}{i:02} = new"));
        let arguments = json!({"path": "file.txt", "old_string": old, "new_string": new});
        let answer = client.call("str_replace", arguments);
        // The note says that another program had the file open, and where its later writes go.
        count.told += usize::from(answer.structured["notes"].is_array());
        match answer.code() {
            None => count.edits += 1,
            Some("io-error") => count.told += 1,
            Some(_) => count.refused += 1,
        }
    }
    count
}

/// Writes byte after byte until both servers have ended or all bytes are written. Returns their number.
fn write_while(at_work: &AtomicUsize, path: &Path, way: Way, random: &mut Random) -> usize {
    let mut written = 0;
    let mut beat = Beat::start();
    while written < BYTES && at_work.load(Ordering::SeqCst) > 0 {
        // One or two at once, then a pause of the same length.
        let burst = 1 + random.below(2);
        for _ in 0..burst {
            written += usize::from(written < BYTES && write(path, way, written, random));
        }
        (0..burst).for_each(|_| beat.wait());
    }
    written
}

/// Writes the next byte, sometimes a while after opening the file. Returns whether it was written.
fn write(path: &Path, way: Way, at: usize, random: &mut Random) -> bool {
    match way {
        Way::Byte => {
            let file = OpenOptions::new().write(true).open(path);
            (0..random.below(8)).for_each(|_| thread::yield_now());
            file.is_ok_and(|file| file.write_all_at(b"x", at as u64).is_ok())
        }
        Way::Whole => {
            let Ok(mut content) = fs::read(path) else { return false };
            content[..=at].fill(b'x');
            let file = OpenOptions::new().write(true).truncate(true).open(path);
            file.is_ok_and(|mut file| file.write_all(&content).is_ok())
        }
    }
}
