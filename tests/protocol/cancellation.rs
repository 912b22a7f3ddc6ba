//! Cancelled calls in both eras: before the commit nothing is changed, during it everything is.

use std::fmt::Write;
use std::fs::File;

use emend_testkit::{Client, Folder, Launch, client};
use serde_json::json;

use crate::launch;

const ERAS: [fn(&Launch) -> Client; 2] = [Launch::legacy, Launch::modern];

#[test]
fn a_call_that_is_cancelled_while_it_waits_for_its_turn_changes_nothing() {
    for start in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
        let mut client = start(&launch(&folder));
        let turn = File::open(folder.path()).unwrap();
        turn.lock().unwrap();
        let write = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
        let waiting = client.send_call("str_replace", write);
        client.cancel(waiting);
        // It is answered after the server has got the cancellation.
        client.read("b.txt");
        turn.unlock().unwrap();
        // It is made when the cancelled call has had its turn.
        client.replace("b.txt", "one", "two").ok();
        assert_eq!(folder.text("a.txt"), "one\n");
        assert_eq!(folder.text("b.txt"), "two\n");
        assert!(!client.has_reply(waiting));
        client.replace("a.txt", "one", "three").ok();
        assert_eq!(folder.text("a.txt"), "three\n");
    }
}

#[test]
fn an_undo_or_a_preview_that_is_cancelled_while_it_waits_for_its_turn_changes_nothing() {
    for start in ERAS {
        for tool in ["undo_edit", "apply_preview"] {
            let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
            let mut client = start(&launch(&folder));
            let edit = client.replace("a.txt", "one", "two").ok().structured["edit"].clone();
            let change = json!({"path": "a.txt", "old_string": "two", "new_string": "three"});
            let arguments = match tool {
                "undo_edit" => json!({"edit": edit}),
                _ => json!({"preview": client.preview("str_replace", change).ok().handle()}),
            };
            let turn = File::open(folder.path()).unwrap();
            turn.lock().unwrap();
            let waiting = client.send_call(tool, arguments.clone());
            // What comes first is begun first.
            client.read("b.txt");
            client.cancel(waiting);
            client.read("b.txt");
            turn.unlock().unwrap();
            // It is made when the cancelled call has had its turn.
            client.replace("b.txt", "one", "two").ok();
            assert_eq!(folder.text("a.txt"), "two\n", "{tool}");
            // It can still be done.
            client.call(tool, arguments).ok();
            assert_ne!(folder.text("a.txt"), "two\n", "{tool}");
        }
    }
}

#[test]
fn a_call_that_is_cancelled_during_its_commit_is_completed_and_told_of() {
    const TOTAL: usize = 400;
    for start in ERAS {
        let folder = Folder::new();
        let mut inner = String::new();
        let name = |number: usize| format!("d{:02}/{number}", number % 20);
        for number in 0..TOTAL {
            folder.write(&name(number), "old\n");
            writeln!(inner, "*** Update File: {}\n@@\n-old\n+new", name(number)).unwrap();
        }
        let mut client = start(&launch(&folder).variable("EMEND_PROGRESS_AFTER", "0"));
        let arguments = json!({"patch": client::patch(&inner)});
        let patch = client.send_call_with_token("apply_patch", arguments, &json!("token"));
        // The files were read and planned, and the commit is under way.
        loop {
            let told = client.notified("notifications/progress");
            if !told["message"].as_str().unwrap().starts_with("Read") {
                break;
            }
        }
        client.cancel(patch);
        // This has its turn once that is over.
        let next = json!({"path": "next", "content": "x"});
        let mut answer = client.call("write_file", next.clone());
        while answer.code() == Some("busy") {
            answer = client.call("write_file", next.clone());
        }
        // Either the answer was on its way already, or the next one that is made tells what became of the call.
        while !answer.ok().text.contains("apply_patch call that was cancelled") && !client.has_reply(patch) {
            answer = client.read("next");
        }
        for number in 0..TOTAL {
            assert_eq!(folder.text(&name(number)), "new\n", "{number}");
        }
    }
}
