//! Two servers edit a file while another program, which knows nothing of Emend, replaces it by renames.
//! None of its updates may be lost without a word. (Theirs over ours it may lose: it reads, and renames what
//! it made of that over whatever came meanwhile.)

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::json;

use super::counter;

/// How many counters each writer has; each is a line of its own.
const COUNTERS: usize = 40;

/// Lets all three write for a while, then compares the other program's counters with what it wrote.
pub(super) fn run(emend: &Path, time: Duration) -> Result<()> {
    let folder = Folder::new();
    let lines =
        ["A", "B", "C"].iter().flat_map(|who| (0..COUNTERS).map(move |i| format!("{who}{i:02} = 0\n")));
    folder.write("file.txt", lines.collect::<String>());
    let path = folder.at("file.txt");
    let stop = AtomicBool::new(false);
    let until = Instant::now() + time;
    let (servers, theirs) = thread::scope(|scope| {
        let server = |who: &'static str| {
            let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
            let path = &path;
            scope.spawn(move || edit_until(until, &launch, path, who))
        };
        let servers = [server("A"), server("B")];
        let outside = scope.spawn(|| replace_until(&stop, &path));
        let servers = servers.map(thread::ScopedJoinHandle::join);
        stop.store(true, Ordering::Relaxed);
        (servers, outside.join())
    });
    let (Ok(theirs), [Ok(a), Ok(b)]) = (theirs, servers) else { anyhow::bail!("a writer failed") };

    let end = String::from_utf8(folder.read("file.txt"))?;
    let lost = (0..COUNTERS).filter(|&i| counter(&end, &format!("C{i:02}")) != Some(theirs[i])).count();
    let told = a.told + b.told;
    println!(
        "renames: {} edits and {} refusals by two servers beside {} replacements by another program; {lost} of its \
         counters lost, {told} such cases told",
        a.done + b.done,
        a.refused + b.refused,
        theirs.iter().sum::<u64>(),
    );
    ensure!(end.lines().count() == 3 * COUNTERS, "the file has {} lines", end.lines().count());
    ensure!(lost <= told, "updates of another program were lost without a word");
    ensure!(a.done + b.done > 20, "too few edits to say anything");
    Ok(())
}

/// What a server's client was told.
#[derive(Default)]
struct Told {
    done: usize,
    refused: usize,
    /// Refusals that say that a file could not be put back.
    told: usize,
}

fn edit_until(until: Instant, launch: &Launch, path: &Path, who: &str) -> Told {
    let mut client = launch.legacy();
    let mut told = Told::default();
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
        match answer.code() {
            None => told.done += 1,
            Some("io-error") => told.told += 1,
            Some(_) => told.refused += 1,
        }
    }
    told
}

/// Counts up by reading, writing a new file and renaming it over the old one. Yields its counters.
fn replace_until(stop: &AtomicBool, path: &Path) -> [u64; COUNTERS] {
    let temporary = path.with_extension("tmp");
    let mut counts = [0; COUNTERS];
    for turn in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let i = turn % COUNTERS;
        let (old, new) = (format!("C{i:02} = {}\n", counts[i]), format!("C{i:02} = {}\n", counts[i] + 1));
        if let Ok(text) = std::fs::read_to_string(path)
            && text.contains(&old)
            && std::fs::write(&temporary, text.replace(&old, &new)).is_ok()
            && std::fs::rename(&temporary, path).is_ok()
        {
            counts[i] += 1;
        }
    }
    counts
}
