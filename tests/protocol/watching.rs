//! Remarks about changes by other programs to files that a client has read, once for each change.
//!
//! The system may report a change late, so a harmless call is repeated until the remark comes. Remarks that must not
//! come are tested by the next one.

#![cfg(unix)]

use std::fs;
use std::time::{Duration, Instant};

use emend_testkit::{Answer, Client, Folder, HttpServer, Launch};
use serde_json::json;

use crate::{launch, serve};

/// How long a remark may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What answers say of files that others have changed.
fn remarks(answer: &Answer) -> Vec<String> {
    let notes = answer.structured["notes"].as_array().into_iter().flatten();
    let notes: Vec<&str> = notes.filter_map(|note| note.as_str()).collect();
    let lines = if answer.structured.is_null() { answer.text.lines().collect() } else { notes };
    lines
        .into_iter()
        .filter(|line| line.contains("by somebody else") || line.contains("is gone"))
        .map(str::to_owned)
        .collect()
}

/// The next remarks, by whatever calls are harmless.
#[track_caller]
fn next(mut call: impl FnMut() -> Answer) -> Vec<String> {
    let until = Instant::now() + DEADLINE;
    loop {
        let said = remarks(&call());
        if !said.is_empty() {
            return said;
        }
        assert!(Instant::now() < until, "nothing was said");
    }
}

#[track_caller]
fn hears(client: &mut Client, expected: &str) {
    let said = next(|| client.call("list_files", json!({})));
    assert!(said.len() == 1 && said[0].contains(expected), "{said:?} instead of {expected}");
}

/// Puts a file in place at once, so that there is one change and not two.
fn put(folder: &Folder, name: &str, content: &str) {
    let staged = folder.beside("staged");
    fs::write(&staged, content).unwrap();
    fs::rename(staged, folder.at(name)).unwrap();
}

/// Servers that can watch folders, and one that cannot.
fn servers(folder: &Folder) -> [Launch; 2] {
    // In a namespace of its own, a process may be forbidden to watch anything. Where there are none, it watches.
    let unwatching = "if unshare -Ur true 2>/dev/null; then exec unshare -Ur sh -c \
                      'echo 0 >/proc/sys/user/max_inotify_instances; exec \"$@\"' sh \"$@\"; fi; exec \"$@\"";
    [launch(folder), launch(folder).under("sh", ["-c", unwatching, "sh"])]
}

#[test]
fn what_others_do_to_a_file_that_was_read_is_told_once_in_the_next_answer() {
    for watching in [0, 1] {
        let folder = Folder::with([("src/a.txt", "one\n"), ("b.txt", "one\n"), ("c.txt", "one\n")]);
        let mut client = servers(&folder)[watching].legacy();
        client.read("src/a.txt").ok();
        client.read("b.txt").ok();
        put(&folder, "c.txt", "never read\n");
        put(&folder, "src/a.txt", "two\n");
        hears(&mut client, "src/a.txt was changed");
        put(&folder, "b.txt", "two\n");
        hears(&mut client, "b.txt was changed");
        put(&folder, "src/a.txt", "three\n");
        hears(&mut client, "src/a.txt was changed");
        fs::remove_file(folder.at("b.txt")).unwrap();
        hears(&mut client, "b.txt, which you have read, is gone");
        put(&folder, "b.txt", "back\n");
        hears(&mut client, "b.txt was changed");
        fs::rename(folder.at("src"), folder.at("moved")).unwrap();
        hears(&mut client, "src/a.txt, which you have read, is gone");
    }
}

#[test]
fn the_version_that_is_told_is_the_one_that_is_there() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.read("a.txt").ok();
    put(&folder, "a.txt", "two\n");
    let said = next(|| client.call("list_files", json!({})));
    let version = serve(&folder).read("a.txt").ok().version();
    assert!(said[0].contains(&version), "{said:?}");
    // It is refused all the same, with what changed; and that is not said twice.
    client.replace("a.txt", "two", "three").refused("stale-file");
    client.replace("a.txt", "two", "three").ok();
    put(&folder, "a.txt", "four\n");
    hears(&mut client, "a.txt was changed");
}

#[test]
fn an_answer_that_shows_the_change_itself_does_not_tell_it_again() {
    for watching in [0, 1] {
        let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n"), ("mark", "one\n")]);
        let mut client = servers(&folder)[watching].legacy();
        for file in ["a.txt", "b.txt", "mark"] {
            client.read(file).ok();
        }
        put(&folder, "a.txt", "two\n");
        put(&folder, "b.txt", "two\n");
        let refused = remarks(&client.replace("a.txt", "two", "three").refused("stale-file"));
        assert!(refused.iter().all(|said| said.starts_with("b.txt was")), "{refused:?}");
        client.read("b.txt").ok();
        put(&folder, "mark", "two\n");
        let said = next(|| client.call("list_files", json!({})));
        assert!(said.iter().all(|said| said.starts_with("mark was")), "{said:?}");
    }
}

#[test]
fn what_a_session_does_itself_is_not_told_to_it_but_to_others() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n"), ("mark", "one\n")]);
    let server = HttpServer::start(&launch(&folder));
    let (own, other) = (server.client().legacy(), server.client().legacy());
    for file in ["a.txt", "b.txt", "mark"] {
        own.read(file).ok();
        other.read(file).ok();
    }
    put(&folder, "mark", "watched\n");
    for client in [&own, &other] {
        next(|| client.call("list_files", json!({})));
    }
    for (old, new) in [("one", "two"), ("two", "three")] {
        own.replace("a.txt", old, new).ok();
    }
    own.call("move_file", json!({"from": "b.txt", "to": "c.txt"})).ok();
    own.call("undo_edit", json!({})).ok();
    own.call("move_file", json!({"from": "b.txt", "to": "c.txt"})).ok();
    let mut said = Vec::new();
    while said.len() < 2 {
        said.extend(next(|| other.call("list_files", json!({}))));
    }
    said.sort();
    assert!(said[0].starts_with("a.txt was changed"), "{said:?}");
    assert!(said[1].starts_with("b.txt, which you have read, was moved to c.txt"), "{said:?}");
    put(&folder, "mark", "two\n");
    for client in [&own, &other] {
        let said = next(|| client.call("list_files", json!({})));
        assert!(said.len() == 1 && said[0].starts_with("mark was changed"), "{said:?}");
    }
}

#[test]
fn requests_that_stand_alone_are_told_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = HttpServer::start(&launch(&folder));
    let (alone, session) = (server.client(), server.client().legacy());
    alone.read("a.txt").ok();
    session.read("a.txt").ok();
    put(&folder, "a.txt", "two\n");
    next(|| {
        assert_eq!(remarks(&alone.call("list_files", json!({}))).len(), 0);
        session.call("list_files", json!({}))
    });
}
