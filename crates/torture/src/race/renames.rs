//! Two servers against a program that replaces the same file by renames and knows nothing of Emend. None of its updates
//! may be lost without a word. (It may lose Emend's updates: it reads the file, and renames its version over whatever
//! came in between.)

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::json;

use super::{Beat, counter};

/// The number of counters of each writer, each in its own line.
const COUNTERS: usize = 40;
/// After this many answers, all edits that were under way before are done: two by each server.
const ANSWERS: usize = 4;

/// Runs all three for a while, then compares the program's counters with what it wrote.
pub(super) fn run(emend: &Path, time: Duration) -> Result<()> {
    let folder = Folder::new();
    let lines =
        ["A", "B", "C"].iter().flat_map(|who| (0..COUNTERS).map(move |i| format!("{who}{i:02} = 0\n")));
    folder.write("file.txt", lines.collect::<String>());
    let path = folder.at("file.txt");
    let (stop, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let until = Instant::now() + time;
    let (servers, theirs) = thread::scope(|scope| {
        let server = |who: &'static str| {
            let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
            let (path, answers) = (&path, &answers);
            scope.spawn(move || edit_until(until, &launch, path, who, answers))
        };
        let servers = [server("A"), server("B")];
        let outside = scope.spawn(|| replace_until(&stop, &answers, &path));
        let servers = servers.map(thread::ScopedJoinHandle::join);
        stop.store(true, Ordering::SeqCst);
        (servers, outside.join())
    });
    let (Ok(theirs), [Ok(a), Ok(b)]) = (theirs, servers) else { anyhow::bail!("a writer failed") };

    let end = folder.text("file.txt");
    let told = a.unrestored + b.unrestored;
    let Replaced { done, withdrawn, lost } = theirs;
    println!(
        "renames: {} edits and {} refusals by two servers beside {done} replacements by another program; {lost} of \
         them lost, {told} such cases told; {withdrawn} times it saw an edit that was then withdrawn",
        a.done + b.done,
        a.refused + b.refused,
    );
    ensure!(end.lines().count() == 3 * COUNTERS, "the file has {} lines", end.lines().count());
    super::judge("renames", done as usize, lost, lost.saturating_sub(told))?;
    ensure!(a.done + b.done > 20, "too few edits to say anything");
    Ok(())
}

/// What the program did and saw.
#[derive(Default)]
struct Replaced {
    done: u64,
    /// How often the file lacked its last update, which then came back.
    withdrawn: usize,
    /// How often the update did not come back.
    lost: usize,
}

/// The answers that one client got.
#[derive(Default)]
struct AnswerCount {
    done: usize,
    refused: usize,
    /// Refusals that say that a file could not be put back.
    unrestored: usize,
}

fn edit_until(until: Instant, launch: &Launch, path: &Path, who: &str, answers: &AtomicUsize) -> AnswerCount {
    let mut client = launch.legacy();
    let mut seen = AnswerCount::default();
    for turn in 0.. {
        if Instant::now() >= until {
            break;
        }
        let i = turn % COUNTERS;
        let count =
            std::fs::read_to_string(path).ok().and_then(|text| counter(&text, &format!("{who}{i:02}")));
        let Some(count) = count else { continue };
        let (old, new) = (format!("{who}{i:02} = {count}\n"), format!("{who}{i:02} = {}\n", count + 1));
        let arguments = json!({"path": "file.txt", "old_string": old, "new_string": new});
        let answer = client.call("str_replace", arguments);
        answers.fetch_add(1, Ordering::SeqCst);
        match answer.code() {
            None => seen.done += 1,
            Some("io-error") => seen.unrestored += 1,
            Some(_) => seen.refused += 1,
        }
    }
    seen
}

/// Counts up by reading the file and renaming a new version over it. When the file has other counters than those that
/// it remembers, it waits until the edits under way are answered, and reads again: it may have seen a version of ours
/// that is then withdrawn.
fn replace_until(stop: &AtomicBool, answers: &AtomicUsize, path: &Path) -> Replaced {
    let temporary = path.with_extension("tmp");
    let mut counts = [0u64; COUNTERS];
    let mut replaced = Replaced::default();
    let mut beat = Beat::start();
    for turn in 0.. {
        beat.wait();
        let own: String =
            counts.iter().enumerate().map(|(i, count)| format!("C{i:02} = {count}\n")).collect();
        let until = answers.load(Ordering::SeqCst) + ANSWERS;
        let mut read = read_lines(path);
        if read.as_ref().is_some_and(|(_, read)| *read != own) {
            while answers.load(Ordering::SeqCst) < until && !stop.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            read = read_lines(path);
            match &read {
                Some((_, read)) if *read != own => replaced.lost += 1,
                _ => replaced.withdrawn += 1,
            }
        }
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let Some((theirs, _)) = read else { continue };
        let i = turn % COUNTERS;
        counts[i] += 1;
        let text = theirs
            + &own.replace(&format!("C{i:02} = {}\n", counts[i] - 1), &format!("C{i:02} = {}\n", counts[i]));
        if std::fs::write(&temporary, text).is_ok() && std::fs::rename(&temporary, path).is_ok() {
            replaced.done += 1;
        } else {
            counts[i] -= 1;
        }
    }
    replaced
}

/// The lines of the servers, and after them those of the program.
fn read_lines(path: &Path) -> Option<(String, String)> {
    let text = std::fs::read_to_string(path).ok()?;
    let (servers, own) = text.split_at(text.find("C00 = ")?);
    Some((servers.to_owned(), own.to_owned()))
}
