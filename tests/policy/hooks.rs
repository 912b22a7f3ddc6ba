//! Hooks before an edit: a refusal counts, a hook that cannot answer stops nothing, and no lock is held meanwhile.

#![cfg(unix)]

use std::fs::{self, File};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::{Value, json};

use crate::launch;

/// A server whose person has this configuration file.
pub(crate) fn configured(folder: &Folder, text: &str) -> Launch {
    let file = folder.beside("config.toml");
    fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured()
}

/// The command that runs this script, which is outside of the workspace. A shell reads it, so that nothing is executed that
/// was only just written.
pub(crate) fn program(folder: &Folder, name: &str, script: &str) -> String {
    let file = folder.beside(name);
    fs::write(&file, format!("{script}\n")).unwrap();
    format!("command = ['/bin/sh', '{}']", file.display())
}

/// What an answer remarks.
pub(crate) fn notes(answer: &Answer) -> Vec<&str> {
    answer.structured["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The hooks that an answer names.
pub(crate) fn fired(answer: &Answer) -> Vec<&str> {
    let fired = answer.structured["side_effects_fired"].as_array().into_iter().flatten();
    fired.filter_map(Value::as_str).filter(|name| name.contains(':')).collect()
}

/// A hook of this script that is asked before edits of `*.txt`.
fn before(folder: &Folder, name: &str, script: &str, more: &str) -> String {
    let command = program(folder, name, script);
    format!("[[hooks.before]]\nname = '{name}'\nfiles = ['*.txt']\n{command}\n{more}\n")
}

/// Says no for as long as there is a file beside the script.
const SAYS_NO_WHILE: &str = "cat > \"$0.heard\"; if [ -e \"$0.no\" ]; then echo 'not now'; exit 3; fi";

/// A server whose hook says no whenever [`deny`] was called.
fn guarded(folder: &Folder) -> Client {
    configured(folder, &before(folder, "guard", SAYS_NO_WHILE, "")).legacy()
}

fn deny(folder: &Folder) {
    fs::write(folder.beside("guard.no"), "").unwrap();
}

fn allow(folder: &Folder) {
    fs::remove_file(folder.beside("guard.no")).unwrap();
}

fn heard(folder: &Folder) -> Value {
    serde_json::from_slice(&fs::read(folder.beside("guard.heard")).unwrap()).unwrap()
}

#[test]
fn a_hook_is_told_of_the_edit_in_one_document() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.md", "b\n")]);
    let mut client = guarded(&folder);
    let patch = "*** Update File: a.txt\n@@\n-old\n+new\n*** Move File: b.md -> c.md";
    let edited = client.patch(patch).ok();
    assert_eq!(fired(&edited), ["before:guard"]);
    let said = heard(&folder);
    assert_eq!((&said["version"], &said["tool"]), (&json!(1), &json!("apply_patch")));
    assert_eq!((&said["client"], &said["root"]), (&json!("testkit"), &json!(folder.path())));
    let [changed, moved] = &said["files"].as_array().unwrap()[..] else { panic!("{said}") };
    assert_eq!((&changed["path"], &changed["change"]), (&json!("a.txt"), &json!("modify")));
    assert!(changed["diff"].as_str().unwrap().contains("+new"));
    assert_eq!(changed["version_after"], edited.structured["files"][0]["version_after"]);
    assert_eq!((&moved["path"], &moved["moved_from"]), (&json!("c.md"), &json!("b.md")));
    // Undoing is an edit too.
    client.call("undo_edit", json!({})).ok();
    assert_eq!(heard(&folder)["undoes"], edited.structured["edit"]);
}

#[test]
fn a_hook_that_refuses_keeps_every_edit_from_being_made() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.md", "b\n")]);
    let mut client = guarded(&folder);
    client.replace("a.txt", "old", "new").ok();
    let change = json!({"path": "a.txt", "old_string": "new", "new_string": "newer"});
    let shown = client.preview("str_replace", change).ok();
    let before = folder.tree();
    deny(&folder);
    let refused = client.replace("a.txt", "new", "newest").refused("hook-refused");
    assert!(refused.text.contains("guard") && refused.text.contains("not now"));
    client.call("undo_edit", json!({})).refused("hook-refused");
    let apply = json!({"preview": shown.handle()});
    client.call("apply_preview", apply.clone()).refused("hook-refused");
    client.call("move_file", json!({"from": "a.txt", "to": "a.md"})).refused("hook-refused");
    assert_eq!(folder.tree(), before);
    // Others are free, and looking is.
    client.replace("b.md", "b", "B").ok();
    client.preview("str_replace", json!({"path": "a.txt", "old_string": "new", "new_string": "x"})).ok();
    allow(&folder);
    client.call("apply_preview", apply).ok();
    assert_eq!(folder.text("a.txt"), "newer\n");
}

#[test]
fn who_refuses_is_heard_before_anybody_else_is_asked() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let first = before(&folder, "first", "echo >&2 'on the error output'; exit 1", "");
    let second = before(&folder, "second", "touch \"$0.asked\"", "");
    let mut client = configured(&folder, &format!("mode = 'ask'\n{first}{second}")).asking().legacy();
    let refused = client.replace("a.txt", "old", "new").refused("hook-refused");
    assert!(refused.text.contains("on the error output"));
    assert!(!folder.beside("second.asked").exists());
    assert_eq!(refused.problems().len(), 1);
}

#[test]
fn a_hook_that_has_much_to_say_against_an_edit_is_heard() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let script = "head -c 300000 /dev/zero | tr '\\0' x; exit 1";
    let mut client = configured(&folder, &before(&folder, "loud", script, "timeout = 60")).legacy();
    client.replace("a.txt", "old", "new").refused("hook-refused");
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn what_a_hook_says_is_capped_and_cannot_deceive() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let script = "printf '\\033[2Kgone'; head -c 30000 /dev/zero | tr '\\0' x; exit 1";
    let mut client = configured(&folder, &before(&folder, "loud", script, "")).legacy();
    let refused = client.replace("a.txt", "old", "new").refused("hook-refused");
    assert!(!refused.text.contains('\u{1b}') && refused.text.len() < 6000);
}

#[test]
fn a_hook_that_cannot_answer_stops_an_edit_only_where_it_is_required() {
    for script in ["sleep 1000", "yes", "kill -9 $$"] {
        for is_required in [false, true] {
            let folder = Folder::with([("a.txt", "old\n")]);
            let timeout = if script.starts_with("kill") { "20" } else { "0.3" };
            let more = format!("timeout = {timeout}\nrequired = {is_required}");
            let mut client = configured(&folder, &before(&folder, "weak", script, &more)).legacy();
            let answer = client.replace("a.txt", "old", "new");
            if is_required {
                assert!(answer.refused("hook-refused").text.contains("weak"));
                assert_eq!(folder.text("a.txt"), "old\n");
            } else {
                let answer = answer.ok();
                assert!(notes(&answer).iter().any(|note| note.contains("weak")));
                assert_eq!(folder.text("a.txt"), "new\n");
            }
        }
    }
}

#[test]
fn a_hook_in_the_workspace_is_not_run() {
    let folder = Folder::with([("a.txt", "old\n"), ("guard", "#!/bin/sh\necho > ran\nexit 1\n")]);
    fs::set_permissions(folder.at("guard"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let hook = format!("[[hooks.before]]\nname = 'mine'\ncommand = ['{}']\n", folder.at("guard").display());
    let mut client = configured(&folder, &hook).legacy();
    let edited = client.replace("a.txt", "old", "new").ok();
    assert!(notes(&edited).iter().any(|note| note.contains("mine")));
    let mut client = configured(&folder, &format!("{hook}required = true")).legacy();
    client.replace("a.txt", "new", "newer").refused("hook-refused");
    assert!(!folder.has("ran"));
}

/// A gate that the first run of a hook stands at until the test opens it.
struct Gate {
    fifo: std::path::PathBuf,
}

impl Gate {
    fn new(folder: &Folder) -> Self {
        let fifo = folder.beside("gate");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        Self { fifo }
    }

    /// What a script does to stand there.
    fn script(&self) -> String {
        format!(
            "echo >> \"$0.runs\"; if mkdir \"$0.once\"; then cat '{}' > /dev/null; fi",
            self.fifo.display()
        )
    }

    /// Waits until the hook stands there. It goes on when what this yields is dropped.
    fn reached(&self) -> File {
        let (send, receive) = mpsc::channel();
        let fifo = self.fifo.clone();
        thread::spawn(move || send.send(File::options().write(true).open(fifo).unwrap()));
        receive.recv_timeout(Duration::from_secs(60)).expect("a hook runs")
    }
}

/// Lets a hook of each kind stand at a gate while others edit.
fn check_nothing_is_locked(kind: &str, then: &str) {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\n"), ("b.md", "b\n")]);
    let gate = Gate::new(&folder);
    let command = program(&folder, "slow", &format!("{}; {then}", gate.script()));
    let hook = format!("[[hooks.{kind}]]\nfiles = ['*.txt']\ntimeout = 120\n{command}");
    let mut client = configured(&folder, &hook).legacy();
    let mut other = launch(&folder).legacy();
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    let waits = client.send_call("str_replace", edit);
    let stands = gate.reached();
    // Another file, by the same client and by another process.
    client.replace("b.md", "b", "bb").ok();
    other.replace("b.md", "bb", "bbb").ok();
    // Reading and listing, and the same file by another process.
    client.read("b.md");
    other.replace("a.txt", "five", "5").ok();
    drop(stands);
    client.answer(waits).ok();
    // It was planned for what is there no more, so the hook has run for what is there now.
    assert_eq!(fs::read(folder.beside("slow.runs")).unwrap(), b"\n\n");
    assert_eq!(folder.text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
}

#[test]
fn nothing_is_locked_while_a_hook_is_asked() {
    check_nothing_is_locked("before", "exit 0");
}

#[test]
fn nothing_is_locked_while_a_formatter_runs() {
    check_nothing_is_locked("format", "cat");
}

#[test]
fn an_edit_that_is_given_up_while_its_hook_runs_is_not_made() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.md", "b\n")]);
    let gate = Gate::new(&folder);
    let mut client = configured(&folder, &before(&folder, "slow", &gate.script(), "timeout = 120")).legacy();
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    let waits = client.send_call("str_replace", edit);
    let stands = gate.reached();
    client.cancel(waits);
    // What is answered after it was heard after it.
    client.read("b.md");
    drop(stands);
    // The next edit of the file has its turn once that one is over.
    client.replace("a.txt", "one", "2").ok();
    assert_eq!(folder.text("a.txt"), "2\n");
}

#[test]
fn hooks_end_with_the_edit_that_is_given_up() {
    for kind in ["before", "format"] {
        let folder = Folder::with([("a.txt", "one\n")]);
        let gate = Gate::new(&folder);
        let command = program(&folder, "slow", &gate.script());
        let hook = format!("[[hooks.{kind}]]\ntimeout = 600\n{command}");
        let mut client = configured(&folder, &hook).legacy();
        let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
        let waits = client.send_call("str_replace", edit);
        let stands = gate.reached();
        client.cancel(waits);
        // The server would wait for it.
        assert!(client.close().0.success());
        drop(stands);
        assert_eq!(folder.text("a.txt"), "one\n");
    }
}
