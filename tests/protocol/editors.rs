//! Notifying editors of edits, with commands in the editors' place; `cargo xtask editors` has real ones. Whatever they
//! do, the edit is made.

#![cfg(unix)]

use std::fs;
use std::time::{Duration, Instant};

use emend_testkit::client::patch;
use emend_testkit::{Folder, Launch};
use serde_json::{Value, json};

use crate::{EMEND, launch};

/// Writes its arguments down, each on a line, beside the workspace.
const TELL: &str = "log=$1; shift; printf '%s\\n' \"$@\" . >>\"$log\"";

/// A server whose person has an editor called `mine`: this script, with these arguments after where it writes.
fn told(folder: &Folder, script: &str, arguments: &[&str]) -> Launch {
    let file = folder.beside("config.toml");
    let mut command = vec!["sh", "-c", script, "sh"];
    let log = folder.beside("log");
    command.push(log.to_str().unwrap());
    command.extend(arguments);
    fs::write(&file, format!("[[editors]]\nname = 'mine'\ntimeout = 60\ncommand = {}\n", json!(command)))
        .unwrap();
    launch(folder).argument("--config").argument(file).configured()
}

/// What the editor has written down, once it is this.
#[track_caller]
fn hears(folder: &Folder, expected: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let log = fs::read_to_string(folder.beside("log")).unwrap_or_default();
        if log == expected {
            return;
        }
        assert!(Instant::now() < until, "{log:?} instead of {expected:?}");
        std::thread::yield_now();
    }
}

fn fired(outcome: &Value) -> Vec<&str> {
    outcome["side_effects_fired"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn a_command_is_told_of_each_file_with_its_line() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("it's {line}; $(b)/c d.txt", "one\n")]);
    let mut client = told(&folder, TELL, &["{path}", "{line}", "{file}", "{root}"]).legacy();
    let outcome = client.replace("a.txt", "two", "three").ok();
    assert_eq!(fired(&outcome.structured), ["history", "editor:mine"]);
    let root = folder.path().display();
    let first = format!("a.txt\n2\n{root}/a.txt\n{root}\n.\n");
    hears(&folder, &first);
    client.replace("it's {line}; $(b)/c d.txt", "one", "two").ok();
    let second = format!("it's {{line}}; $(b)/c d.txt\n1\n{root}/it's {{line}}; $(b)/c d.txt\n{root}\n.\n");
    hears(&folder, &(first + &second));
}

#[test]
fn a_command_is_told_of_all_files_of_an_edit_at_once_and_of_none_that_is_gone() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n"), ("c.txt", "one\n")]);
    let mut client = told(&folder, TELL, &["{files}"]).legacy();
    let inner = "*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: b.txt\n*** Move to: d.txt\n@@\n-one\n+two\n\
                 *** Delete File: c.txt\n";
    client.read("c.txt").ok();
    let outcome = client.call("apply_patch", json!({"patch": patch(inner)})).ok();
    assert_eq!(fired(&outcome.structured), ["history", "editor:mine"]);
    let root = folder.path().display();
    let log = format!("{root}/a.txt\n{root}/d.txt\n.\n");
    hears(&folder, &log);
    client.read("a.txt").ok();
    let outcome = client.call("delete_file", json!({"path": "a.txt"})).ok();
    assert_eq!(fired(&outcome.structured), ["history"]);
    client.replace("d.txt", "two", "three").ok();
    hears(&folder, &format!("{log}{root}/d.txt\n.\n"));
}

#[test]
fn nobody_is_told_where_that_is_not_wanted() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let told = told(&folder, TELL, &["{path}"]);
    let outcome = told.clone().argument("--notify-editor=false").legacy().replace("a.txt", "one", "two").ok();
    assert_eq!(fired(&outcome.structured), ["history"]);
    folder.write(".emend.toml", "notify_editor = false\n");
    let outcome = told.legacy().replace("a.txt", "two", "three").ok();
    assert_eq!(fired(&outcome.structured), ["history"]);
    // A workspace names no program of its own.
    folder.write(".emend.toml", "[[editors]]\ncommand = ['touch', 'ran']\n");
    let outcome = launch(&folder).legacy().replace("a.txt", "three", "four").ok();
    assert_eq!(fired(&outcome.structured), ["history"]);
    assert!(!folder.has("ran") && !folder.beside("log").exists());
}

#[test]
fn an_editor_that_hangs_floods_or_fails_changes_nothing_of_an_edit() {
    for script in ["sleep 1000", "while :; do echo xxxxxxxxxxxxxxxx; done", "exit 1", "kill -9 $$"] {
        let folder = Folder::with([("a.txt", "0\n")]);
        let mut client = told(&folder, script, &["{path}"]).legacy();
        for number in 0..20 {
            let outcome = client.replace("a.txt", &number.to_string(), &(number + 1).to_string()).ok();
            assert_eq!(fired(&outcome.structured), ["history", "editor:mine"]);
            assert_eq!(folder.text("a.txt"), format!("{}\n", number + 1));
        }
        let (status, _) = client.close();
        assert!(status.success(), "{script}");
    }
}

#[test]
fn a_command_at_a_terminal_tells_them_too_before_it_ends() {
    let folder = Folder::with([("a.txt", "one\n")]);
    told(&folder, TELL, &["{path}"]);
    let change = folder.beside("change.patch");
    fs::write(&change, patch("*** Update File: a.txt\n@@\n-one\n+two\n")).unwrap();
    let mut command = emend_testkit::command(EMEND);
    command.arg("apply").arg(&change).arg("--workspace").arg(folder.path()).arg("--json");
    command.arg("--state-dir").arg(folder.state()).arg("--config").arg(folder.beside("config.toml"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(fired(&outcome), ["history", "editor:mine"]);
    hears(&folder, "a.txt\n.\n");
}
