//! A client against a program that swaps a folder and a file of the workspace with links to the outside, as fast as it
//! can. The client uses every tool that takes a path. No tool may show or change anything outside.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, Launch, entries};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::{Value, json};

/// A text that is only in files outside.
const SECRET: &str = "what-is-outside";

/// Swaps and calls for a while, then compares the files outside with what they were.
pub(super) fn run(emend: &Path, time: Duration) -> Result<()> {
    let folder = Folder::with([("in/file.txt", "value = 0\n"), ("plain.txt", "value = 0\n")]);
    let outside = folder.beside("outside");
    std::fs::create_dir(&outside)?;
    // The same line as in the workspace, so that an edit that leaves it would match.
    for name in ["file.txt", "plain.txt"] {
        std::fs::write(outside.join(name), format!("value = 0\n{SECRET}\n"))?;
    }
    std::fs::write(outside.join(format!("{SECRET}.txt")), "")?;
    std::os::unix::fs::symlink(&outside, folder.at("to-folder"))?;
    std::os::unix::fs::symlink(outside.join("plain.txt"), folder.at("to-file"))?;
    let before = entries(&outside);

    let (stop, until) = (AtomicBool::new(false), Instant::now() + time);
    let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
    let (count, swaps) = thread::scope(|scope| {
        let swapper = scope.spawn(|| swap_until(&stop, &folder));
        let client = scope.spawn(|| call_until(until, &launch));
        let count = client.join();
        stop.store(true, Ordering::Relaxed);
        (count, swapper.join())
    });
    let (Ok(count), Ok(swaps)) = (count, swaps) else { anyhow::bail!("links: a thread failed") };
    let Count { done, refused, shown } = count;
    let swaps = swaps.context("links: nothing can be exchanged here")?;
    let changed = entries(&outside) != before;
    println!(
        "links: {done} calls done and {refused} refused beside {swaps} swaps; {} answers showed what is outside, \
         it was {}changed",
        shown.len(),
        if changed { "" } else { "not " }
    );
    ensure!(shown.is_empty(), "what is outside was shown:\n{}", shown.join("\n"));
    ensure!(!changed, "what is outside was changed: {:?}", entries(&outside));
    ensure!(done > 20 && refused > 20, "too few calls of either kind to say anything");
    Ok(())
}

fn swap_until(stop: &AtomicBool, folder: &Folder) -> std::io::Result<u64> {
    let pairs = [("in", "to-folder"), ("plain.txt", "to-file")].map(|(a, b)| (folder.at(a), folder.at(b)));
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        for (a, b) in &pairs {
            match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
                Ok(()) => swaps += 1,
                // The client has moved the file away for a moment.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(swaps)
}

#[derive(Debug, Default)]
struct Count {
    done: usize,
    refused: usize,
    shown: Vec<String>,
}

/// Calls the tools in turn.
fn call_until(until: Instant, launch: &Launch) -> Count {
    let mut client = launch.legacy();
    let mut count = Count::default();
    for turn in 0.. {
        if Instant::now() >= until {
            break;
        }
        for (tool, arguments) in calls(turn) {
            let answer = client.call(tool, arguments.clone());
            let text = format!("{}\n{}", answer.text, answer.structured);
            if text.contains(SECRET) {
                count.shown.push(format!("{tool} {arguments}: {text}"));
            }
            match answer.is_error {
                false => count.done += 1,
                true => count.refused += 1,
            }
        }
    }
    count
}

fn calls(turn: usize) -> Vec<(&'static str, Value)> {
    let (old, new) = (format!("value = {}", turn % 10), format!("value = {}", (turn + 1) % 10));
    let patch = format!(
        "*** Begin Patch\n*** Add File: in/patched{turn}.txt\n+new\n*** Update File: plain.txt\n@@\n-{new}\n+{old}\n\
         *** End Patch\n"
    );
    let mut calls = Vec::new();
    for path in ["in/file.txt", "plain.txt"] {
        calls.push(("read_file", json!({"path": path})));
        for digit in 0..10 {
            let (old, new) = (format!("value = {digit}"), format!("value = {}", (digit + 1) % 10));
            calls.push(("str_replace", json!({"path": path, "old_string": old, "new_string": new})));
        }
        calls.push(("write_file", json!({"path": path, "content": "value = 0\n"})));
        calls.push(("move_file", json!({"from": path, "to": format!("{path}.moved")})));
        calls.push(("move_file", json!({"from": format!("{path}.moved"), "to": path})));
    }
    calls.push(("write_file", json!({"path": format!("in/new{turn}.txt"), "content": "new\n"})));
    calls.push(("write_file", json!({"path": format!("in/deep{turn}/new.txt"), "content": "new\n"})));
    calls.push(("apply_patch", json!({"patch": patch})));
    calls.push(("apply_patch", json!({"patch_path": "plain.txt"})));
    calls.push(("list_files", json!({})));
    calls.push(("list_files", json!({"path": "in"})));
    calls.push(("search_text", json!({"pattern": "outside"})));
    calls.push(("search_text", json!({"pattern": "outside", "path": "in"})));
    calls
}
