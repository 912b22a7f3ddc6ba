//! Approval by a user at a terminal, for clients that cannot ask. An edit that needs it waits; the user allows or
//! denies it; and exactly what they allowed happens, once.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;

use emend_edit::patch::{Patch, TextChange};
use emend_testkit::client::patch;
use emend_testkit::failing_disk::FailingDisk;
use emend_testkit::{Answer, Client, Folder, Launch, at_terminal, at_terminal_ahead};
use emend_workspace::problem::Code;
use emend_workspace::{
    Approval, EditContext, Mode, Mutex, NotCommitted, Origin, Policy, Request, RootSpec, Settings, Workspace,
    disk,
};
use serde_json::{Value, json};

use crate::EMEND;
use crate::policy::serve_with;

/// `emend approve`, for what waits here.
fn approve(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = emend_testkit::command(EMEND);
    command.arg("approve").arg("--state-dir").arg(folder.state()).args(arguments).env_remove("NO_COLOR");
    command
}

/// What waits.
fn waiting(folder: &Folder) -> Vec<Value> {
    let listed = approve(folder, &["--json"]).output().unwrap();
    assert!(listed.status.success());
    serde_json::from_slice(&listed.stdout).unwrap()
}

/// The id of the newest that waits.
fn newest(folder: &Folder) -> String {
    waiting(folder).last().expect("something waits")["id"].as_str().unwrap().to_owned()
}

/// A person says this of the newest that waits. Yields what they were shown.
pub(crate) fn say(folder: &Folder, word: &str) -> String {
    let (status, shown) = at_terminal(&mut approve(folder, &[&newest(folder)]), &format!("{word}\n"));
    assert!(status.success(), "{shown}");
    shown
}

fn ask(folder: &Folder) -> Client {
    serve_with(folder, &["--mode", "ask"])
}

/// An edit is refused until a person allows it, and then made: once.
#[track_caller]
fn check_allowed(folder: &Folder, mut edit: impl FnMut() -> Answer) {
    let before = folder.tree();
    edit().refused("approval-needed");
    say(folder, "y");
    assert_eq!(folder.tree(), before);
    edit().ok();
    assert_ne!(folder.tree(), before);
    assert_eq!(waiting(folder).len(), 0, "it does not wait any more");
}

#[test]
fn a_person_allows_an_edit_and_it_is_made_once() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = ask(&folder);
    let mut edit = || client.replace("a.txt", "old", "new");
    check_allowed(&folder, &mut edit);
    assert_eq!(folder.text("a.txt"), "new\n");
    folder.write("a.txt", "old\n");
    edit().refused("approval-needed");
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn what_waits_is_shown_whole_before_a_person_answers() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "\u{1b}[2Ktwo\u{202e}\r\n")]);
    let mut client = ask(&folder);
    client
        .patch("*** Update File: a.txt\n@@\n-one\n+ONE\n*** Update File: b.txt\n@@\n+zero\n \u{1b}[2Ktwo\u{202e}")
        .refused("approval-needed");
    let [waits] = &waiting(&folder)[..] else { panic!("one edit waits") };
    assert_eq!(waits["client"], "testkit");
    assert_eq!(waits["tool"], "apply_patch");
    assert_eq!(waits["workspace"], folder.path().to_str().unwrap());
    assert_eq!(waits["rules"], json!(["the mode is ask"]));
    assert_eq!(waits["files"], json!(["modify a.txt, +1 -1", "modify b.txt, +1 -0"]));
    let shown = say(&folder, "n");
    for line in ["-one", "+ONE", "+zero"] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(!shown.contains("\u{1b}[2K") && !shown.contains('\u{202e}'), "{shown:?}");
    assert!(shown.contains("\\u{1b}[2Ktwo\\u{202e}\\r"), "{shown}");
}

#[test]
fn the_answer_names_the_command_that_finds_the_edit() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = ask(&folder);
    let told = client.replace("a.txt", "old", "new").refused("approval-needed").text.clone();
    let named = told.split('`').nth(1).unwrap_or_else(|| panic!("{told}"));
    let arguments = named.strip_prefix("emend ").unwrap_or_else(|| panic!("{told}"));
    let line = format!("'{EMEND}' {arguments} --deny");
    let mut shell = Command::new("sh");
    let ran = shell.args(["-c", &line]).env_remove("EMEND_STATE_DIR").stdout(Stdio::null());
    assert!(ran.status().unwrap().success(), "{line}");
    client.replace("a.txt", "old", "new").refused("approval-denied");
}

#[test]
fn an_id_under_which_nothing_waits_is_refused_and_no_wrong_usage() {
    let folder = Folder::with([("a.txt", "old\n")]);
    for arguments in [&["abc"][..], &["abc", "--deny"]] {
        let ended = approve(&folder, arguments).output().unwrap();
        assert_eq!(ended.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&ended.stderr).contains("nothing waits under the id abc"));
    }
}

#[test]
fn only_somebody_at_a_terminal_can_allow_an_edit() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = ask(&folder);
    client.replace("a.txt", "old", "new").refused("approval-needed");
    let before = folder.everything();
    let id = newest(&folder);
    let mut piped = approve(&folder, &[&id]);
    let mut child =
        piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have ended before.
    let _ = std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"y\n");
    assert!(!child.wait_with_output().unwrap().status.success());
    for wrong in [&[&*id, "--yes"][..], &["000000000000"], &["../key"], &["--deny"]] {
        let (status, _) = at_terminal(&mut approve(&folder, wrong), "y\n");
        assert!(!status.success(), "{wrong:?}");
    }
    // Neither silence nor a word that is neither is a yes.
    for typed in ["\x04", "\n", "what\nwhat\nwhat\n"] {
        let _ = at_terminal(&mut approve(&folder, &[&id]), typed);
        assert_ne!(client.replace("a.txt", "old", "new").code(), None);
    }
    assert_eq!(folder.tree(), Folder::with([("a.txt", "old\n")]).tree());
    assert!(before.keys().all(|name| folder.everything().contains_key(name)));
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = ask(&folder);
    client.replace("a.txt", "old", "new").refused("approval-needed");
    let (status, _) = at_terminal_ahead(&mut approve(&folder, &[&newest(&folder)]), "y\n", "n\n");
    assert!(status.success());
    client.replace("a.txt", "old", "new").refused("approval-denied");
    // However much it is.
    let (status, _) = at_terminal_ahead(&mut approve(&folder, &[&newest(&folder)]), "what\ny\n", "\x04");
    assert!(status.success());
    client.replace("a.txt", "old", "new").refused("approval-denied");
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn what_is_denied_stays_so_until_the_person_says_otherwise() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.txt", "old\n")]);
    let mut client = ask(&folder);
    client.replace("a.txt", "old", "new").refused("approval-needed");
    say(&folder, "n");
    for _ in 0..2 {
        client.replace("a.txt", "old", "new").refused("approval-denied");
    }
    // Another edit is another question.
    client.replace("b.txt", "old", "new").refused("approval-needed");
    assert!(approve(&folder, &["--deny", &newest(&folder)]).status().unwrap().success());
    client.replace("b.txt", "old", "new").refused("approval-denied");
    let first = waiting(&folder)[0]["id"].as_str().unwrap().to_owned();
    assert!(at_terminal(&mut approve(&folder, &[&first]), "y\n").0.success());
    client.replace("a.txt", "old", "new").ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("new\n".into(), "old\n".into()));
}

#[test]
fn an_approval_is_for_the_plan_whoever_sends_it_and_for_no_other() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let (mut one, mut other) = (ask(&folder), ask(&folder));
    one.replace("a.txt", "old", "new").refused("approval-needed");
    let id = newest(&folder);
    say(&folder, "y");
    // Another edit, and the same one of what is another file by now.
    other.replace("a.txt", "old", "newer").refused("approval-needed");
    folder.write("a.txt", "old\nmore\n");
    other.replace("a.txt", "old", "new").refused("approval-needed");
    assert_eq!(folder.text("a.txt"), "old\nmore\n");
    folder.write("a.txt", "old\n");
    // The same bytes from another client, process and tool are the same plan.
    other.patch("*** Update File: a.txt\n@@\n-old\n+new").ok();
    assert_eq!(folder.text("a.txt"), "new\n");
    assert!(waiting(&folder).iter().all(|waiting| waiting["id"] != *id));
}

#[test]
fn an_approval_is_for_its_folder() {
    let (folder, twin) = (Folder::with([("a.txt", "old\n")]), Folder::with([("a.txt", "old\n")]));
    let mut client = ask(&folder);
    let server = Launch::new(EMEND).workspace(twin.path()).state(folder.state());
    let mut other = server.argument("--mode").argument("ask").legacy();
    client.replace("a.txt", "old", "new").refused("approval-needed");
    say(&folder, "y");
    other.replace("a.txt", "old", "new").refused("approval-needed");
    client.replace("a.txt", "old", "new").ok();
    assert_eq!((folder.text("a.txt"), twin.text("a.txt")), ("new\n".into(), "old\n".into()));
}

#[test]
fn every_way_to_edit_waits_for_the_same_word() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = ask(&folder);
    let two = "*** Update File: a.txt\n@@\n-a\n+A\n*** Update File: b.txt\n@@\n-b\n+B";
    check_allowed(&folder, || client.patch(two));
    check_allowed(&folder, || client.call("undo_edit", json!({})));
    check_allowed(&folder, || client.patch("*** Move File: a.txt -> sub/c.txt"));
    check_allowed(&folder, || client.call("undo_edit", json!({})));
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("a\n".into(), "b\n".into()));
    let preview = client.preview("apply_patch", json!({"patch": patch(two)})).ok().handle();
    check_allowed(&folder, || client.call("apply_preview", json!({"preview": preview, "hunks": [2]})));
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("a\n".into(), "B\n".into()));
    check_allowed(&folder, || client.call("write_file", json!({"path": "new.txt", "content": "x\n"})));
}

#[test]
fn a_preview_that_waits_stays_whole() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = ask(&folder);
    let two = "*** Update File: a.txt\n@@\n-a\n+A\n*** Update File: b.txt\n@@\n-b\n+B";
    let preview = client.preview("apply_patch", json!({"patch": patch(two)})).ok().handle();
    client.call("apply_preview", json!({"preview": preview, "hunks": [1]})).refused("approval-needed");
    client.call("apply_preview", json!({"preview": preview})).refused("approval-needed");
    let of_both = |waiting: &&Value| waiting["files"].as_array().unwrap().len() == 2;
    let id = waiting(&folder).iter().find(of_both).unwrap()["id"].as_str().unwrap().to_owned();
    assert!(at_terminal(&mut approve(&folder, &[&id]), "y\n").0.success());
    // The part was not allowed, and the whole is not used up by trying it.
    client.call("apply_preview", json!({"preview": preview, "hunks": [1]})).refused("approval-needed");
    client.call("apply_preview", json!({"preview": preview})).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("A\n".into(), "B\n".into()));
}

#[test]
fn one_file_that_needs_approval_holds_the_whole_patch() {
    let folder = Folder::with([("db/x.sql", "a\n"), ("a.txt", "a\n")]);
    let mut client = serve_with(&folder, &["--approve", "*.sql"]);
    let both = "*** Update File: db/x.sql\n@@\n-a\n+b\n*** Update File: a.txt\n@@\n-a\n+b";
    check_allowed(&folder, || client.patch(both));
    assert_eq!((folder.text("db/x.sql"), folder.text("a.txt")), ("b\n".into(), "b\n".into()));
    // What needs nobody's word waits for none.
    client.replace("a.txt", "b", "c").ok();
    // What is forbidden is not asked about.
    client.patch("*** Update File: db/x.sql\n@@\n-b\n+c\n*** Add File: .env\n+x").refused("path-forbidden");
    assert_eq!(waiting(&folder).len(), 0);
}

#[test]
fn no_tool_reaches_what_waits_even_where_the_workspace_holds_it() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let outer = folder.path().parent().unwrap();
    let server = Launch::new(EMEND).workspace(outer).state(folder.state());
    let mut client = server.argument("--mode").argument("ask").legacy();
    client.replace("ws/a.txt", "old", "new").refused("approval-needed");
    let path = format!("state/approvals/{}", newest(&folder));
    for answer in [
        client.call("read_file", json!({"path": path})),
        client.call("write_file", json!({"path": format!("{path}.word"), "content": "x"})),
        client.patch(&format!("*** Move File: {path} -> {path}.word")),
        client.call("list_files", json!({"path": "state/approvals"})),
    ] {
        answer.refused("path-forbidden");
    }
    // The displaced files are in .emend here; a person's word is where it always is.
    say(&folder, "y");
    client.replace("ws/a.txt", "old", "new").ok();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn a_yes_is_used_up_by_a_commit_that_fails_and_is_good_for_no_other_plan() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let disk = Arc::new(FailingDisk::new(disk::for_this_machine(), 5));
    let root = RootSpec { name: None, path: folder.path().to_path_buf() };
    let policy = Policy::new(&Settings { mode: Some(Mode::Ask), ..Settings::default() }).unwrap();
    let state = Some(folder.state());
    let workspace = Workspace::open_with_policy(Arc::clone(&disk) as _, &[root], state, &policy).unwrap();
    let edit = |new: &str, approval: Option<&Approval>| {
        let change = TextChange { old: "old".into(), new: new.into(), ..TextChange::default() };
        let request =
            Request { patch: &Patch::replace("a.txt", vec![change]).unwrap(), versions: &BTreeMap::new() };
        let (readings, origin) = (Mutex::default(), Origin::default());
        workspace.edit(&request, &EditContext { approval, ..EditContext::patient(&readings, &origin) })
    };
    let Err(NotCommitted::AwaitingApproval(held)) = edit("new", None) else { panic!("it needs approval") };
    assert_eq!(workspace.wait_for_a_person(&held, Vec::new()).problems[0].code(), Code::ApprovalNeeded);
    say(&folder, "y");
    disk.fail_from_placing(1);
    let Err(NotCommitted::Problems(problems)) = edit("new", None) else { panic!("the disk failed") };
    assert_eq!(problems[0].code(), Code::IoError);
    disk.fail_call(0);
    assert!(matches!(edit("new", None), Err(NotCommitted::AwaitingApproval(_))));
    // Nor is the yes of somebody who was asked.
    let approval = Approval::of_person(held.digest());
    assert!(matches!(edit("newer", Some(&approval)), Err(NotCommitted::AwaitingApproval(_))));
    assert_eq!(folder.text("a.txt"), "old\n");
    edit("new", Some(&approval)).unwrap();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn where_nothing_can_be_kept_nothing_waits() {
    let folder = Folder::with([("a.txt", "old\n")]);
    std::fs::write(folder.state(), "not a folder").unwrap();
    ask(&folder).replace("a.txt", "old", "new").refused("approval-needed");
    assert_eq!(folder.text("a.txt"), "old\n");
    assert!(!approve(&folder, &["--json"]).status().unwrap().success());
}
