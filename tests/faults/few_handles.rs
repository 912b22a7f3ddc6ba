//! A server with a low limit of open files: it edits, or says that nothing was changed.

#![cfg(unix)]

use std::fmt::Write;

use emend_testkit::{Answer, Client, Folder, client};
use serde_json::json;

use crate::launch;

/// A client of a server that may have so many handles.
fn with_handles(folder: &Folder, handles: u32) -> Client {
    let limit = ["-c", "ulimit -n \"$0\" && exec \"$@\"", &handles.to_string()].map(str::to_owned);
    launch(folder).under("sh", limit).legacy()
}

fn content(number: usize, word: &str) -> String {
    format!("head {number}\n{word}\n")
}

fn folder_of(files: usize) -> Folder {
    let folder = Folder::new();
    for number in 0..files {
        folder.write(&format!("f{number}.txt"), content(number, "old"));
    }
    folder
}

/// Changes all files with one patch.
fn change_all(client: &mut Client, files: usize) -> Answer {
    let mut inner = String::new();
    for number in 0..files {
        writeln!(inner, "*** Update File: f{number}.txt\n@@\n head {number}\n-old\n+new").unwrap();
    }
    client.call("apply_patch", json!({"patch": client::patch(&inner)}))
}

/// All of an edit has happened, or nothing and that is what is said. Yields whether it has.
#[track_caller]
fn check_all_or_nothing(folder: &Folder, answer: &Answer, files: std::ops::Range<usize>) -> bool {
    let code = answer.code();
    assert!(matches!(code, None | Some("io-error" | "recovery-needed")), "{}", answer.text);
    let nothing = "othing was changed";
    assert!(code.is_none() || answer.text.contains(nothing), "{}", answer.text);
    let word = if code.is_none() { "new" } else { "old" };
    for number in files {
        assert_eq!(folder.text(&format!("f{number}.txt")), content(number, word), "{}", answer.text);
    }
    code.is_none()
}

#[test]
fn files_are_edited_one_after_another_however_many_they_are() {
    let folder = folder_of(120);
    let mut client = with_handles(&folder, 40);
    for number in 0..120 {
        let path = format!("f{number}.txt");
        client.read(&path);
        client.replace(&path, "old", "new").ok();
        assert_eq!(folder.text(&path), content(number, "new"));
    }
    assert!(client.close().0.success());
}

#[test]
fn a_patch_over_more_files_than_can_be_open_is_made() {
    for files in [5, 100, 400] {
        let folder = folder_of(files);
        let mut client = with_handles(&folder, 40);
        let answer = change_all(&mut client, files);
        assert!(check_all_or_nothing(&folder, &answer.ok(), 0..files));
    }
}

#[test]
fn where_the_handles_do_not_suffice_nothing_is_changed() {
    for handles in 16..40 {
        let folder = folder_of(31);
        let mut client = with_handles(&folder, handles);
        let answer = change_all(&mut client, 30);
        let is_done = check_all_or_nothing(&folder, &answer, 0..30);
        let answer = client.replace("f30.txt", "old", "new");
        let is_other_done = check_all_or_nothing(&folder, &answer, 30..31);
        assert!(client.close().0.success());
        assert_eq!(folder.tree().len(), 31);
        // The next server has nothing to mend.
        let mut client = launch(&folder).legacy();
        if !is_done {
            change_all(&mut client, 30).ok();
        }
        if !is_other_done {
            client.replace("f30.txt", "old", "new").ok();
        }
        assert!((0..31).all(|number| folder.text(&format!("f{number}.txt")) == content(number, "new")));
    }
}
