//! Hooks after an edit: they are told of it, and whatever they do, the edit and its answer stay.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use emend_testkit::{Client, Folder};
use serde_json::{Value, json};

use crate::EMEND;
use crate::policy::hooks::{configured, fired, notes, program};

/// A hook of this script that is run after edits of `*.txt`.
fn after(folder: &Folder, name: &str, script: &str, more: &str) -> String {
    let command = program(folder, name, script);
    format!("[[hooks.after]]\nname = '{name}'\nfiles = ['*.txt']\n{command}\n{more}\n")
}

/// What the hook has left at last.
fn wait_for(file: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        assert!(Instant::now() < until, "{} is not there", file.display());
        std::thread::yield_now();
    }
    fs::read_to_string(file).unwrap()
}

/// What is told of a hook that failed.
const FAILED: &str = "failed after the edit";

/// Makes a harmless call until its answer tells of a hook that failed.
fn hear(client: &mut Client) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let text = client.call("list_files", json!({})).text;
        if text.contains(FAILED) {
            return text;
        }
        assert!(Instant::now() < until, "nothing is told");
    }
}

/// Leaves what it was told beside its script, once it is whole.
const LISTENS: &str = "cat > \"$0.part\" && mv \"$0.part\" \"$0.heard\"";

#[test]
fn a_hook_is_told_of_the_edit_that_was_made() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.md", "b\n")]);
    let mut client = configured(&folder, &after(&folder, "tags", LISTENS, "")).legacy();
    assert!(fired(&client.replace("b.md", "b", "B").ok()).is_empty());
    let edited = client.replace("a.txt", "old", "new").ok();
    assert_eq!(fired(&edited), ["after:tags"]);
    let said: Value = serde_json::from_str(&wait_for(&folder.beside("tags.heard"))).unwrap();
    assert_eq!((&said["version"], &said["edit"]), (&json!(1), &edited.structured["edit"]));
    assert_eq!((&said["tool"], &said["root"]), (&json!("str_replace"), &json!(folder.path())));
    assert_eq!(said["files"][0]["version_after"], edited.structured["files"][0]["version_after"]);
    assert!(said["files"][0]["diff"].as_str().unwrap().contains("+new"));
}

#[test]
fn what_a_hook_writes_is_an_outside_change() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let script = "echo more >> \"$1\"; touch \"$0.done\"";
    let config = after(&folder, "appends", script, "").replace("appends']", "appends', '{file}']");
    let mut client = configured(&folder, &config).legacy();
    client.read("a.txt");
    client.replace("a.txt", "old", "new").ok();
    wait_for(&folder.beside("appends.done"));
    assert_eq!(folder.text("a.txt"), "new\nmore\n");
    client.replace("a.txt", "new", "newer").refused("stale-file");
}

#[test]
fn a_hook_that_fails_is_told_in_the_next_answer() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let script = "until test -e \"$0.go\"; do sleep 0.01; done; echo 'it is all wrong' >&2; exit 4";
    let mut client = configured(&folder, &after(&folder, "checks", script, "")).legacy();
    let edited = client.replace("a.txt", "old", "new").ok();
    assert!(notes(&edited).is_empty());
    fs::write(folder.beside("checks.go"), "").unwrap();
    let told = hear(&mut client);
    assert!(told.contains("checks") && told.contains("it is all wrong") && told.contains('4'), "{told}");
}

#[test]
fn a_hook_that_hangs_or_floods_or_is_not_there_changes_nothing() {
    let missing = "[[hooks.after]]\nname = 'none'\ncommand = ['no-such-program']\n".to_owned();
    let folder = Folder::with([("a.txt", "old\n")]);
    for config in [
        after(&folder, "hangs", "sleep 1000", "timeout = 0.1"),
        after(&folder, "floods", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "timeout = 0.2"),
        after(&folder, "dies", "kill -9 $$", ""),
        missing,
    ] {
        folder.write("a.txt", "old\n");
        let mut client = configured(&folder, &config).legacy();
        // On a busy machine a hook has failed before the answer to its edit is sent, which then says so.
        let mut is_told = false;
        for (old, new) in [("old", "1"), ("1", "2"), ("2", "3")] {
            let edited = client.replace("a.txt", old, new).ok();
            assert_eq!(folder.text("a.txt"), format!("{new}\n"));
            assert_eq!(fired(&edited).len(), 1);
            is_told |= edited.text.contains(FAILED);
        }
        if !is_told {
            hear(&mut client);
        }
        client.close();
    }
}

#[test]
fn what_a_person_does_at_a_terminal_has_its_hooks_too() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let file = folder.beside("config.toml");
    fs::write(&file, after(&folder, "tags", LISTENS, "")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = emend_testkit::command(EMEND);
        command.args(arguments).arg("--config").arg(&file).arg("--workspace").arg(folder.path());
        command.arg("--state-dir").arg(folder.state()).arg("--json");
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()
    };
    let patch = folder.beside("patch");
    fs::write(&patch, "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n").unwrap();
    let edited = run(&["apply", patch.to_str().unwrap()]);
    assert_eq!(edited["side_effects_fired"], json!(["history", "after:tags"]));
    // The command has waited for it.
    let said: Value = serde_json::from_slice(&fs::read(folder.beside("tags.heard")).unwrap()).unwrap();
    assert_eq!(said["edit"], edited["edit"]);
    run(&["undo", edited["edit"].as_str().unwrap()]);
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn a_server_that_is_told_to_stop_leaves_no_hook_behind() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let script = "echo $$ > \"$0.part\"; mv \"$0.part\" \"$0.pid\"; exec sleep 1000";
    let mut client = configured(&folder, &after(&folder, "hangs", script, "")).legacy();
    client.replace("a.txt", "old", "new").ok();
    let process = wait_for(&folder.beside("hangs.pid"));
    let server = rustix::process::Pid::from_raw(client.process().try_into().unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::TERM).unwrap();
    let (status, _) = client.close();
    assert!(status.success(), "{status}");
    assert!(!Path::new("/proc").join(process.trim()).exists(), "it runs on");
}
