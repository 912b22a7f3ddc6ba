//! The end of a server on standard input and output, by a signal or by its client. Whatever its standard input is, no
//! acknowledged edit is lost, and an edit that is being written is finished.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use emend_testkit::{Folder, Link, client};
use rustix::process::Signal;
use serde_json::json;

use crate::{launch, opening, spawn};

const LINKS: [Link; 3] = [Link::Pipes, Link::Sockets, Link::Terminal];

#[test]
fn it_ends_when_it_is_told_to_whatever_its_standard_input_is() {
    for link in LINKS {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
            // What is started under `nohup` is meant to outlive its terminal, and so is what that starts.
            if signal == Signal::HUP && hangups_are_ignored() {
                continue;
            }
            let folder = Folder::with([("a.txt", "one\n")]);
            let mut client = launch(&folder).over(link).legacy();
            client.replace("a.txt", "one", "two").ok();
            client.signal(signal);
            let (status, log) = client.end();
            assert!(status.success(), "{link:?} {signal:?}: {status}\n{log}");
            // At a terminal it says what it waits for.
            assert!(link == Link::Terminal || log.is_empty(), "{link:?} {signal:?}: {log}");
            assert_eq!(folder.text("a.txt"), "two\n");
        }
    }
}

/// Whether this process ignores that its terminal is closed, and so whatever it starts.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

#[test]
fn it_ends_when_its_input_does() {
    for link in [Link::Pipes, Link::Sockets] {
        let folder = Folder::with([("a.txt", "one\n")]);
        let mut client = launch(&folder).over(link).legacy();
        client.replace("a.txt", "one", "two").ok();
        let (status, log) = client.close();
        assert!(status.success() && log.is_empty(), "{link:?}: {status}\n{log}");
    }
}

#[test]
fn an_edit_that_is_being_written_when_it_is_told_to_end_is_finished() {
    const TOTAL: usize = 1_000;
    for link in [Link::Pipes, Link::Sockets] {
        let folder = Folder::new();
        let mut inner = String::new();
        let name = |number: usize| format!("d{:02}/{number}", number % 20);
        for number in 0..TOTAL {
            folder.write(&name(number), "old\n");
            writeln!(inner, "*** Update File: {}\n@@\n-old\n+new", name(number)).unwrap();
        }
        let mut client = launch(&folder).variable("EMEND_PROGRESS_AFTER", "0").over(link).legacy();
        let arguments = json!({"patch": client::patch(&inner)});
        client.send_call_with_token("apply_patch", arguments, &json!("token"));
        // The files were read and planned, and the commit is under way.
        while client.notified("notifications/progress")["message"].as_str().unwrap().starts_with("Read") {}
        client.signal(Signal::TERM);
        let (status, log) = client.end();
        assert!(status.success(), "{link:?}: {status}\n{log}");
        for number in 0..TOTAL {
            assert_eq!(folder.text(&name(number)), "new\n", "{link:?} {number}");
        }
    }
}

#[test]
fn a_terminal_that_is_closed_does_not_concern_what_was_started_to_outlive_it() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).under("nohup", [""; 0]).legacy();
    client.signal(Signal::HUP);
    client.replace("a.txt", "one", "two").ok();
    client.signal(Signal::TERM);
    assert!(client.end().0.success());
}

#[test]
fn it_ends_after_its_input_also_where_nobody_reads_its_answers() {
    let folder = Folder::with([("a.txt", &*"x".repeat(100_000))]);
    let mut server = spawn(&folder);
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{}", opening()).unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    for id in 1..20 {
        let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": read}))
            .unwrap();
    }
    drop(input);
    let _unread = server.stdout.take().unwrap();
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_client_that_goes_before_it_says_anything_ends_it_as_one_that_goes_later() {
    let folder = Folder::new();
    let started = launch(&folder).command().stdin(Stdio::null()).output().unwrap();
    let log = String::from_utf8(started.stderr).unwrap();
    assert!(started.status.success() && started.stdout.is_empty() && log.is_empty(), "{log}");
}

#[test]
fn a_client_that_goes_without_a_word_is_nothing_to_log() {
    let folder = Folder::new();
    let mut server = launch(&folder)
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{}", opening()).unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).unwrap();
    drop(input);
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
