//! What happens around an edit on a busy machine: servers that are killed while they write, and programs that write the same
//! file again and again. On every system the same must hold.
//!
//! No test depends on who is first. `cargo xtask kill` and `cargo xtask race` do the same for longer, on Linux.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use emend_testkit::{Client, Folder, folder};
use serde_json::json;

use crate::launch;

/// The number of edits beside the writes of another program, each in a line of its own.
const EDITS: usize = 20;
/// The number of times that an edit is sent which the other program's writes refuse.
const TRIES: usize = 10;

/// The moment at which a server is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Some time after the call was sent.
    Later(u64),
    /// As soon as the new content is seen to be written.
    Staged,
    /// As soon as the file is another one than before, or is missing.
    Placed,
}

/// Returns whether anything is staged in a state folder.
fn is_staged(state: &Path) -> bool {
    let homes = fs::read_dir(state.join("roots")).into_iter().flatten().flatten();
    let staged = homes.filter_map(|home| fs::read_dir(home.path().join("tx")).ok()).flatten();
    staged.count() > 0
}

/// Sends an edit of a large file and kills the server, with an answer or without.
fn edit_and_kill(folder: &Folder, call: &serde_json::Value, old: &[u8], moment: Moment) {
    let mut client = launch(folder).legacy();
    let id = client.send_call("str_replace", call.clone());
    match moment {
        Moment::Later(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
        Moment::Staged => while !is_staged(&folder.state()) && !client.has_reply(id) {},
        Moment::Placed => {
            let is_old = || fs::metadata(folder.at("big.txt")).is_ok_and(|now| now.len() == old.len() as u64);
            while is_old() && !client.has_reply(id) {}
        }
    }
    client.kill();
}

#[test]
fn a_large_file_is_old_or_new_whenever_its_server_is_killed() {
    let line = |number: usize| format!("line {number:06} of a file that takes a while to be written\n");
    let old: String = (0..40_000).map(line).collect();
    let new = old.replace("line 020000", "line 020000, with more in it,");
    let call = json!({"path": "big.txt", "old_string": "line 020000", "new_string": "line 020000, with more in it,"});
    let later = [0, 5, 15, 30, 60].map(Moment::Later);
    let (mut old_ones, mut new_ones, mut missing) = (0, 0, 0);
    for moment in [Moment::Staged, Moment::Placed, Moment::Staged, Moment::Placed].into_iter().chain(later) {
        let folder = Folder::with([("big.txt", &old)]);
        edit_and_kill(&folder, &call, old.as_bytes(), moment);
        // Where an exchange takes several steps, a kill between them leaves the name free until the next start.
        let is_whole = |content: &[u8]| content == old.as_bytes() || content == new.as_bytes();
        match fs::read(folder.at("big.txt")) {
            Ok(content) => assert!(is_whole(&content), "{moment:?}: {} bytes", content.len()),
            Err(_) if cfg!(windows) => missing += 1,
            Err(error) => panic!("{moment:?}: {error}"),
        }
        let mut client = launch(&folder).legacy();
        // A listing needs no turn, so it says that the server has started and nothing more.
        client.call("list_files", json!({})).ok();
        let is_made = folder.read("big.txt") == new.as_bytes();
        assert!(is_whole(&folder.read("big.txt")), "{moment:?}: it is whole again");
        *if is_made { &mut new_ones } else { &mut old_ones } += 1;
        let again = client.call("str_replace", call.clone()).ok();
        assert_eq!(again.is_repeated(), is_made, "{moment:?}: {}", again.text);
        assert!(folder.read("big.txt") == new.as_bytes(), "{moment:?}: the call is made once");
        assert_eq!(folder.tree().len(), 1, "{moment:?}: nothing is left behind");
    }
    println!("{old_ones} times old, {new_ones} times new, {missing} times missing until the next start");
}

/// What became of the edits of a client.
#[derive(Debug, Default)]
struct Edited {
    made: Vec<usize>,
    /// The answers that say that another program had the file open, or that its file could not be put back.
    told: usize,
}

/// Changes one line after the other, and counts each answer. What is refused is sent a few times again.
fn edit_all(client: &mut Client, answers: &AtomicUsize) -> Edited {
    let mut edited = Edited::default();
    for number in 0..EDITS {
        let (old, new) = (format!("A{number:02} is old"), format!("A{number:02} is new"));
        for _ in 0..TRIES {
            let answer = client.replace("file.txt", &old, &new);
            answers.fetch_add(1, Ordering::SeqCst);
            edited.told += usize::from(answer.structured["notes"].is_array());
            match answer.code() {
                None => {
                    edited.made.push(number);
                    break;
                }
                Some("stale-file" | "busy" | "search-not-found" | "missing-original") => {}
                Some("io-error") => edited.told += 1,
                Some(code) => panic!("{code}: {}", answer.text),
            }
        }
    }
    edited
}

/// Waits for the next write of the other program: now a blink, now longer than an edit takes.
fn pause(number: usize) {
    const MICROSECONDS: [u64; 5] = [0, 100, 300, 1_000, 4_000];
    // Under Wine, an edit takes that much longer.
    let times = if cfg!(windows) { 20 } else { 1 };
    thread::sleep(Duration::from_micros(MICROSECONDS[number % MICROSECONDS.len()] * times));
}

fn lines_of_edits() -> String {
    (0..EDITS).map(|number| format!("A{number:02} is old\n")).collect()
}

#[test]
fn what_another_program_writes_into_the_file_meanwhile_is_in_it_or_kept_and_told() {
    const BYTES: usize = 4_000;
    let folder = Folder::with([("file.txt", &(".".repeat(BYTES) + "\n" + &lines_of_edits()))]);
    let (path, is_over) = (folder.at("file.txt"), AtomicBool::new(false));
    let mut client = launch(&folder).legacy();
    let (edited, written) = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 0;
            while written < BYTES && !is_over.load(Ordering::SeqCst) {
                let file = File::options().write(true).open(&path);
                let is_written = file.is_ok_and(|mut file| {
                    file.seek(SeekFrom::Start(written as u64)).is_ok() && file.write_all(b"x").is_ok()
                });
                written += usize::from(is_written);
                pause(written);
            }
            written
        });
        let edited = edit_all(&mut client, &AtomicUsize::new(0));
        is_over.store(true, Ordering::SeqCst);
        (edited, writer.join().unwrap())
    });
    drop(client);
    let end = folder.read("file.txt");
    let text = String::from_utf8_lossy(&end);
    for number in &edited.made {
        assert!(text.contains(&format!("A{number:02} is new\n")), "{number} was acknowledged: {text}");
    }
    assert_eq!(text.lines().count(), 1 + EDITS, "{text}");
    let kept = folder::tree(&folder.state());
    for at in (0..written).filter(|&at| end.get(at) != Some(&b'x')) {
        assert!(kept.values().any(|bytes| bytes.get(at) == Some(&b'x')), "byte {at} of {written} is lost");
        assert!(edited.told > 0, "byte {at} of {written} is in a kept file alone, and nobody was told");
    }
    println!("{written} bytes were written beside {edited:?}");
    assert!(written > 0 && !edited.made.is_empty(), "{written} bytes, {edited:?}");
}

#[test]
fn what_another_program_puts_in_the_place_of_the_file_meanwhile_is_not_lost() {
    let folder = Folder::with([("file.txt", &(lines_of_edits() + "theirs = 0\n"))]);
    let (path, is_over, answers) = (folder.at("file.txt"), AtomicBool::new(false), AtomicUsize::new(0));
    let mut client = launch(&folder).legacy();
    let (edited, count) = thread::scope(|scope| {
        let writer = scope.spawn(|| replace_until(&is_over, &answers, &path));
        let edited = edit_all(&mut client, &answers);
        is_over.store(true, Ordering::SeqCst);
        (edited, writer.join().unwrap())
    });
    drop(client);
    let end = folder.text("file.txt");
    assert_eq!(end.lines().count(), EDITS + 1, "{end}");
    let last = format!("theirs = {count}\n");
    if !end.ends_with(&last) {
        let kept = folder::tree(&folder.state());
        assert!(
            kept.values().any(|bytes| bytes.ends_with(last.as_bytes())),
            "{count} of theirs is lost: {end}"
        );
        assert!(edited.told > 0, "{count} of theirs is in a kept file alone, and nobody was told");
    }
    println!("{count} files were put there beside {edited:?}");
    assert!(count > 0 && !edited.made.is_empty(), "{count} of theirs, {edited:?}");
}

/// Counts up by reading the file, and renaming a new one over it, until the edits are over. Returns the number that was
/// reached.
fn replace_until(is_over: &AtomicBool, answers: &AtomicUsize, path: &Path) -> u64 {
    let (temporary, mut count) = (path.with_extension("tmp"), 0);
    let read = |count: u64| {
        let text = fs::read_to_string(path).ok()?;
        text.strip_suffix(&format!("theirs = {count}\n")).map(str::to_owned)
    };
    while !is_over.load(Ordering::SeqCst) {
        pause(answers.load(Ordering::SeqCst) + count as usize);
        let Some(others) = read(count) else {
            // It may be missing in the middle of an exchange, or be an edit that is taken back: after two more answers, all
            // that was under way is over.
            let until = answers.load(Ordering::SeqCst) + 2;
            while answers.load(Ordering::SeqCst) < until && !is_over.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            continue;
        };
        let is_replaced = fs::write(&temporary, format!("{others}theirs = {}\n", count + 1)).is_ok()
            && fs::rename(&temporary, path).is_ok();
        count += u64::from(is_replaced);
    }
    let _ = fs::remove_file(&temporary);
    count
}
