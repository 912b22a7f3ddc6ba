//! `write_file`: it creates files, and replaces only those that the caller has seen in full.

use emend_testkit::{Client, Folder};
use serde_json::json;

use crate::{serve, serve_in_full};

fn write(client: &mut Client, path: &str, content: &str) -> emend_testkit::Answer {
    client.call("write_file", json!({"path": path, "content": content}))
}

#[test]
fn a_new_file_is_created_with_its_folders() {
    let folder = Folder::new();
    let mut client = serve(&folder);
    let outcome = write(&mut client, "src/deep/a.txt", "one\r\ntwo").ok();
    assert_eq!(folder.read("src/deep/a.txt"), b"one\r\ntwo", "exactly the content");
    assert_eq!(outcome.structured["files"][0]["change"], "create");
    assert_eq!(outcome.version(), client.read("src/deep/a.txt").version());
    write(&mut client, "empty.txt", "").ok();
    assert_eq!(folder.read("empty.txt"), b"");
}

#[test]
fn what_was_read_in_full_is_replaced() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\n")]);
    let mut client = serve_in_full(&folder);
    client.read("a.txt");
    let outcome = write(&mut client, "a.txt", "one\nTWO\nthree\nfour\n").ok();
    assert_eq!(folder.text("a.txt"), "one\nTWO\nthree\nfour\n");
    let file = &outcome.structured["files"][0];
    assert_eq!((&file["change"], &file["added"], &file["removed"]), (&json!("modify"), &json!(2), &json!(1)));
    assert_eq!(
        outcome.structured["diff"],
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n three\n+four\n"
    );
}

#[test]
fn what_was_not_read_is_not_replaced() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let before = folder.everything();
    let refused = write(&mut serve(&folder), "a.txt", "new\n").refused("not-read");
    // The key comes with a reading.
    let version = emend_edit::Version::hash(b"one\n").short();
    assert!(!refused.text.contains(&version) && !refused.structured.to_string().contains(&version));
    assert_eq!(folder.everything(), before);
}

#[test]
fn an_empty_file_needs_no_reading() {
    let folder = Folder::with([("a.txt", ""), ("b.txt", ""), ("c.txt", "\u{feff}")]);
    let mut client = serve(&folder);
    write(&mut client, "a.txt", "new\n").ok();
    assert_eq!(folder.text("a.txt"), "new\n");
    client.call("delete_file", json!({"path": "b.txt"})).ok();
    assert!(!folder.has("b.txt"));
    write(&mut client, "c.txt", "new\n").refused("not-read");
}

#[test]
fn a_reading_of_a_part_is_not_enough_and_readings_of_all_parts_are() {
    let folder = Folder::with([("a.txt", "1\n2\n3\n4\n")]);
    let mut client = serve(&folder);
    let part = |client: &mut Client, offset: usize, limit: usize| {
        client.call("read_file", json!({"path": "a.txt", "offset": offset, "limit": limit})).ok();
    };
    part(&mut client, 1, 2);
    write(&mut client, "a.txt", "new\n").refused("not-read");
    part(&mut client, 4, 1);
    write(&mut client, "a.txt", "new\n").refused("not-read");
    part(&mut client, 2, 2);
    write(&mut client, "a.txt", "new\n").ok();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn a_line_that_was_shown_in_part_was_not_read() {
    let folder = Folder::with([("a.txt", &"x".repeat(200_000))]);
    let mut client = serve(&folder);
    client.read("a.txt");
    write(&mut client, "a.txt", "new\n").refused("not-read");
}

#[test]
fn an_edit_by_match_is_no_reading() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "1").ok();
    write(&mut client, "a.txt", "new\n").refused("not-read");
}

#[test]
fn whoever_wrote_all_of_a_file_has_seen_it() {
    let folder = Folder::new();
    let mut client = serve(&folder);
    write(&mut client, "a.txt", "one\n").ok();
    write(&mut client, "a.txt", "two\n").ok();
    client.replace("a.txt", "two", "2").ok();
    write(&mut client, "a.txt", "three\n").ok();
    client.patch("*** Add File: b.txt\n+b").ok();
    write(&mut client, "b.txt", "B\n").ok();
    assert_eq!(folder.tree(), Folder::with([("a.txt", "three\n"), ("b.txt", "B\n")]).tree());
}

#[test]
fn the_current_version_is_as_good_as_a_reading() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let version = serve(&folder).read("a.txt").version();
    let mut client = serve(&folder);
    let with = |version: &str| json!({"path": "a.txt", "content": "new\n", "version": version});
    let refused = client.call("write_file", with("000000000000")).refused("stale-file");
    assert_eq!(refused.problems()[0]["current_version"], version);
    assert_eq!(folder.text("a.txt"), "one\n");
    client.call("write_file", with(&version)).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn a_version_of_a_file_that_is_not_there_is_stale() {
    let folder = Folder::new();
    let request = json!({"path": "a.txt", "content": "new\n", "version": "0123456789ab"});
    serve(&folder).call("write_file", request).refused("stale-file");
    assert!(folder.tree().is_empty());
}

/// Replacing `before` with `content` makes `after`.
#[track_caller]
fn check(before: &str, content: &str, after: &str) {
    let folder = Folder::with([("a.txt", before)]);
    let mut client = serve(&folder);
    client.read("a.txt");
    write(&mut client, "a.txt", content).ok();
    assert_eq!(folder.text("a.txt"), after);
}

#[test]
fn a_crlf_file_stays_one() {
    check("one\r\ntwo\r\n", "one\n2\nthree\n", "one\r\n2\r\nthree\r\n");
    check("one\r\ntwo\r\n", "one\r\n2\r\n", "one\r\n2\r\n");
    check("one\ntwo\n", "one\r\n2\r\n", "one\r\n2\r\n");
}

#[test]
fn lines_that_stay_in_a_mixed_file_keep_their_endings() {
    check("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\nc\r\n");
}

#[test]
fn a_byte_order_mark_stays() {
    check("\u{feff}one\n", "two\n", "\u{feff}two\n");
    check("\u{feff}one\n", "\u{feff}two\n", "\u{feff}two\n");
}

#[test]
fn the_final_newline_is_what_the_content_says() {
    check("one\n", "two", "two");
    check("one", "two\n", "two\n");
    check("one\n", "", "");
}

#[test]
fn the_content_that_is_there_already_is_refused() {
    let folder = Folder::with([("a.txt", "one\n"), ("crlf.txt", "one\r\n"), ("empty.txt", "")]);
    let mut client = serve(&folder);
    for path in ["a.txt", "crlf.txt", "empty.txt"] {
        client.read(path);
    }
    write(&mut client, "a.txt", "one\n").refused("no-op");
    write(&mut client, "crlf.txt", "one\n").refused("no-op");
    write(&mut client, "empty.txt", "").refused("no-op");
}

#[test]
fn any_name_that_the_system_takes_is_a_name() {
    let long = "x".repeat(255);
    let deep =
        format!("{}/{long}", "folder-of-forty-characters-in-its-name/".repeat(8).trim_end_matches('/'));
    let names = [
        "with space.txt",
        "-rf",
        "100%.txt",
        "a:b.txt",
        "naïve-日本.txt",
        "a.txt.orig",
        "new\nline",
        "a\\b",
        "...",
        &long,
        &deep,
    ];
    let folder = Folder::new();
    let mut client = serve(&folder);
    for name in names {
        write(&mut client, name, "one\n").ok();
        client.replace(name, "one", "two").ok();
        assert_eq!(folder.text(name), "two\n", "{name:?}");
    }
    assert_eq!(folder.tree().len(), names.len());
    write(&mut client, &"x".repeat(256), "one\n").refused("io-error");
    assert_eq!(folder.tree().len(), names.len());
}

#[test]
fn what_can_be_no_file_is_refused() {
    let folder = Folder::with([("folder/a.txt", "a\n")]);
    let before = folder.everything();
    let mut client = serve(&folder);
    write(&mut client, "folder", "x").refused("not-a-file");
    write(&mut client, "folder/a.txt/b", "x").refused("not-a-file");
    write(&mut client, "new.txt", "a\0b").refused("not-text");
    write(&mut client, "", "x").refused("invalid-argument");
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_file_is_not_written_over_what_is_no_text() {
    let folder = Folder::new();
    folder.write("logo.png", b"\x89PNG\0\xff");
    write(&mut serve(&folder), "logo.png", "new\n").refused("not-text");
    assert_eq!(folder.read("logo.png"), b"\x89PNG\0\xff");
}

#[test]
fn no_edit_makes_of_a_text_what_is_none() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let before = folder.everything();
    let mut client = serve(&folder);
    client.read("a.txt");
    write(&mut client, "a.txt", "a\0b").refused("not-text");
    client.replace("a.txt", "one", "a\0b").refused("not-text");
    client.patch("*** Update File: a.txt\n@@\n-one\n+a\0b").refused("not-text");
    client.patch("*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+a\0b").refused("not-text");
    client.patch("*** Add File: b.txt\n+a\0b").refused("not-text");
    client.preview("write_file", json!({"path": "a.txt", "content": "a\0b"})).refused("not-text");
    assert_eq!(folder.everything(), before);
}

#[test]
fn an_empty_version_is_none() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.call("write_file", json!({"path": "new.txt", "content": "x", "version": ""})).ok();
    assert_eq!(folder.text("new.txt"), "x");
    client.call("write_file", json!({"path": "a.txt", "content": "x", "version": ""})).refused("not-read");
    client.call("delete_file", json!({"path": "a.txt", "version": ""})).refused("not-read");
    assert_eq!(folder.text("a.txt"), "one\n");
}
