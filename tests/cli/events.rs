//! `emend events`: following events, listing them, and the events of a user's own commands.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use emend_testkit::{Folder, Launch};
use serde_json::{Value, json};

use crate::EMEND;
use crate::cli::{Command, emend, on_terminal};
use crate::protocol::events::{kept, numbers, of_each, telling};

/// A command whose lines are read while it goes on.
struct Following {
    child: Child,
    lines: Receiver<String>,
    /// Whether its lines are read on.
    reading: Arc<AtomicBool>,
}

impl Following {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = emend_testkit::command(EMEND);
        command.args(["events", "--follow", "--no-config"]).args(arguments).current_dir(folder.path());
        command.env("XDG_CONFIG_HOME", "/nowhere");
        command.env("EMEND_STATE_DIR", folder.state()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        let reading = Arc::new(AtomicBool::new(true));
        let reads = Arc::clone(&reading);
        std::thread::spawn(move || {
            let mut line = String::new();
            while reads.load(Ordering::SeqCst) && out.read_line(&mut line).is_ok_and(|read| read > 0) {
                let _ = send.send(std::mem::take(&mut line));
            }
        });
        Self { child, lines, reading }
    }

    fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(60)).expect("it goes on");
        serde_json::from_str(&line).unwrap()
    }
}

impl Following {
    /// Its reader goes with the next line, and it ends by itself although nothing comes any more.
    fn ends_with_its_reader(mut self, last: impl FnOnce()) {
        self.reading.store(false, Ordering::SeqCst);
        last();
        self.next();
        let until = Instant::now() + Duration::from_secs(60);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::yield_now();
        };
        assert!(status.success());
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn who_follows_sees_each_event_also_after_files_were_rolled() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut following = Following::start(&folder, &[]);
    assert!(!folder.state().exists());
    let mut client = telling(&folder).legacy();
    let mut edit = |number: usize| {
        client.replace("a.txt", &format!("{number}\n"), &format!("{}\n", number + 1)).ok();
    };
    edit(0);
    assert_eq!(following.next()["event"], 1);
    let log = folder.state().join("events/log.jsonl");
    // Twice: what was rolled first goes when the second is.
    for number in 1..3 {
        // As large as a file becomes: the next event begins a new one.
        let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
        let line = json!({"version": 1, "event": number * 2, "roots": [{"path": folder.path()}], "filled": "x".repeat(16 << 20)});
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        edit(number);
        assert_eq!(following.next()["event"], number * 2);
        assert_eq!(following.next()["event"], number * 2 + 1);
    }
    assert_eq!(fs::read_dir(folder.state().join("events")).unwrap().count(), 2);
    following.ends_with_its_reader(|| edit(3));
}

#[test]
fn where_there_are_no_events_it_is_said_to_whoever_reads_no_document() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let seen = emend(&folder, &["events"]).ends(0);
    assert_eq!((seen.out.as_str(), seen.log.contains("emend serve --emit-event")), ("", true), "{seen:?}");
    assert!(on_terminal(&folder, &["events"], "").ends(0).out.contains("emend serve --emit-event"));
    let seen = emend(&folder, &["events", "--json"]).ends(0);
    assert_eq!((seen.out.as_str(), seen.log.as_str()), ("", ""));
}

#[test]
fn a_person_chooses_which_events_to_see() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let elsewhere = Folder::with([("b.txt", "one\n")]);
    let mut client = telling(&folder).legacy();
    for number in 0..30 {
        client.replace("a.txt", &format!("{number}\n"), &format!("{}\n", number + 1)).ok();
    }
    client.replace("a.txt", "gone", "x").refused("search-not-found");
    client.close();
    let other = Launch::new(EMEND).argument("--emit-event").state(folder.state());
    let mut client = other.workspace(elsewhere.path()).legacy();
    client.replace("b.txt", "one", "two").ok();
    client.close();
    let seen = |arguments: &[&str]| {
        let out = emend(&folder, &[&["events"], arguments].concat()).ends(0).out;
        let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        numbers(&events)
    };
    assert_eq!(seen(&[]), (13..=32).collect::<Vec<_>>());
    assert_eq!(seen(&["-n", "3"]), [30, 31, 32]);
    assert_eq!(seen(&["--after", "0"]), (1..=32).collect::<Vec<_>>());
    assert_eq!(seen(&["--after", "5", "--limit", "2"]), [6, 7]);
    assert_eq!(seen(&["--after", "29", "--all"]), [30, 31, 32, 33, 34]);
    assert_eq!(seen(&["--type", "refused", "--type", "session", "--all"]), [31, 32, 34]);
    assert_eq!(seen(&["--workspace", &elsewhere.path().to_string_lossy()]), [33, 34]);
    assert_eq!(seen(&["--follow", "--after", "7", "-n", "1"]), [8]);
    let screen = on_terminal(&folder, &["events", "-n", "3"], "").ends(0).out;
    let lines: Vec<&str> = screen.lines().collect();
    assert_eq!(lines.len(), 3, "{screen}");
    assert!(
        lines[0].starts_with("30 ") && lines[0].contains(" edit testkit str_replace a.txt +1 -1"),
        "{screen}"
    );
    assert!(lines[1].contains(" refused testkit str_replace search-not-found a.txt"), "{screen}");
    assert!(lines[2].contains(" session testkit: 30 edits of 1 files, 1 refused"), "{screen}");
}

#[test]
fn what_a_person_edits_is_an_event_too() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    let run = |arguments: &[&str]| Command::new(&folder, arguments).input(patch).run();
    let edit = run(&["apply", "--emit-event", "--json"]).ends(0).document();
    run(&["preview", "--emit-event", "--json"]).ends(1);
    run(&["apply", "--emit-event"]).ends(1);
    emend(&folder, &["undo", "--emit-event", "--json", "--yes"]);
    let events = kept(&folder);
    assert_eq!(events[0]["outcome"], edit);
    assert!(edit["side_effects_fired"].as_array().unwrap().contains(&json!("event")));
    assert_eq!(of_each(&events[..2], "type"), ["edit", "refused"]);
    assert_eq!(events[1]["outcome"]["error"]["code"], "hunk-context-mismatch");
    run(&["apply"]);
    assert_eq!(kept(&folder).len(), events.len());
}
