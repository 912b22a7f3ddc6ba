//! Modes, write permission, hard links and special files on Unix. An edit keeps or respects them.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::process::Command;

use emend_testkit::{Folder, client};
use serde_json::json;

#[cfg(target_os = "linux")]
use crate::policy::hooks::notes;
use crate::serve;

#[test]
fn the_mode_of_a_file_is_kept() {
    for mode in [0o755, 0o600, 0o640, 0o666, 0o1700] {
        check_mode_kept(mode);
    }
}

#[test]
fn the_bits_that_writing_clears_are_kept_too() {
    check_mode_kept(0o4755);
    check_mode_kept(0o2755);
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.at(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_a_program_has_open_for_writing_is_edited_and_that_is_said() {
    let folder = Folder::with([("a.log", "one\n"), ("b.log", "one\n")]);
    let mut client = serve(&folder);
    let _log = fs::OpenOptions::new().append(true).open(folder.at("a.log")).unwrap();
    let edited = client.replace("a.log", "one", "1").ok();
    assert_eq!(folder.text("a.log"), "1\n");
    assert!(notes(&edited)[0].contains("a.log"), "{}", edited.text);
    // Who only reads it has lost nothing.
    let _read = fs::File::open(folder.at("b.log")).unwrap();
    let edited = client.replace("b.log", "one", "1").ok();
    assert!(notes(&edited).is_empty(), "{}", edited.text);
}

/// The mode as it is written.
fn mode(folder: &Folder, name: &str) -> String {
    format!("{:o}", fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o7777)
}

#[track_caller]
fn check_mode_kept(before: u32) {
    let folder = Folder::with([("a.sh", "one\n")]);
    set_mode(&folder, "a.sh", before);
    serve(&folder).replace("a.sh", "one", "1").ok();
    assert_eq!(mode(&folder, "a.sh"), format!("{before:o}"));
}

#[test]
fn moved_and_changed_files_keep_their_mode() {
    let folder = Folder::with([("a.sh", "1\n"), ("b.sh", "2\n")]);
    for name in ["a.sh", "b.sh"] {
        set_mode(&folder, name, 0o750);
    }
    serve(&folder)
        .patch("*** Move File: a.sh -> x/a.sh\n*** Update File: b.sh\n*** Move to: x/b.sh\n@@\n-2\n+3")
        .ok();
    for name in ["x/a.sh", "x/b.sh"] {
        assert_eq!(mode(&folder, name), "750", "{name}");
    }
}

#[test]
fn files_that_swap_their_names_keep_their_modes() {
    let folder = Folder::with([("a.sh", "a\n"), ("b.txt", "b\n")]);
    set_mode(&folder, "a.sh", 0o755);
    set_mode(&folder, "b.txt", 0o600);
    let swap = "*** Move File: a.sh -> t\n*** Move File: b.txt -> a.sh\n*** Move File: t -> b.txt";
    serve(&folder).patch(swap).ok();
    assert_eq!((folder.text("b.txt"), mode(&folder, "b.txt")), ("a\n".into(), "755".into()));
    assert_eq!((folder.text("a.sh"), mode(&folder, "a.sh")), ("b\n".into(), "600".into()));
}

#[test]
fn a_read_only_file_is_refused() {
    let folder = Folder::with([("a.txt", "one\n")]);
    set_mode(&folder, "a.txt", 0o444);
    let mut client = serve(&folder);
    client.read("a.txt");
    client.replace("a.txt", "one", "1").refused("read-only");
    client.call("write_file", json!({"path": "a.txt", "content": "1\n"})).refused("read-only");
    client.patch("*** Update File: a.txt\n@@\n-one\n+1").refused("read-only");
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[test]
fn a_read_only_file_is_neither_moved_nor_deleted() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]);
    set_mode(&folder, "a.txt", 0o400);
    let mut client = serve(&folder);
    client.read("a.txt");
    client.patch("*** Update File: b.txt\n@@\n-2\n+two\n*** Delete File: a.txt").refused("read-only");
    client.patch("*** Move File: a.txt -> c.txt").refused("read-only");
    assert_eq!(folder.tree(), Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]).tree());
}

#[test]
fn a_file_with_two_names_is_refused() {
    let folder = Folder::with([("a.txt", "one\n")]);
    fs::hard_link(folder.at("a.txt"), folder.beside("elsewhere.txt")).unwrap();
    let mut client = serve(&folder);
    client.read("a.txt");
    client.replace("a.txt", "one", "1").refused("hard-linked");
    client.call("write_file", json!({"path": "a.txt", "content": "1\n"})).refused("hard-linked");
    assert_eq!(folder.text("a.txt"), "one\n");
    assert_eq!(fs::metadata(folder.at("a.txt")).unwrap().nlink(), 2, "its names are still one file");
}

#[test]
fn a_file_with_two_names_is_moved_and_deleted() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]);
    for name in ["a.txt", "b.txt"] {
        fs::hard_link(folder.at(name), folder.beside(name)).unwrap();
    }
    let mut client = serve(&folder);
    client.read("b.txt");
    client.patch("*** Move File: a.txt -> x/a.txt\n*** Delete File: b.txt").ok();
    assert_eq!(folder.tree(), Folder::with([("x/a.txt", "1\n")]).tree());
    assert_eq!(fs::read(folder.beside("b.txt")).unwrap(), b"2\n", "the other name keeps the content");
    folder.write("x/a.txt", "changed\n");
    assert_eq!(fs::read(folder.beside("a.txt")).unwrap(), b"changed\n", "it is still one file");
}

#[test]
fn validating_and_previewing_refuse_what_the_edit_would_refuse() {
    let folder = Folder::with([("linked.txt", "1\n"), ("read-only.txt", "1\n")]);
    fs::hard_link(folder.at("linked.txt"), folder.beside("elsewhere.txt")).unwrap();
    set_mode(&folder, "read-only.txt", 0o444);
    let mut client = serve(&folder);
    for (name, code) in [("linked.txt", "hard-linked"), ("read-only.txt", "read-only")] {
        let patch = client::patch(&format!("*** Update File: {name}\n@@\n-1\n+one"));
        client.call("apply_patch", json!({"patch": patch})).refused(code);
        client.call("apply_patch", json!({"patch": patch, "validate_only": true})).refused(code);
        client.preview("apply_patch", json!({"patch": patch})).refused(code);
    }
}

#[test]
fn a_fifo_is_refused_and_never_waited_for() {
    let folder = Folder::new();
    make_fifo(&folder, "pipe");
    let mut client = serve(&folder);
    client.call("read_file", json!({"path": "pipe"})).refused("not-a-file");
    client.replace("pipe", "a", "b").refused("not-a-file");
    client.call("write_file", json!({"path": "pipe", "content": "a"})).refused("not-a-file");
    client.patch("*** Delete File: pipe").refused("not-a-file");
    assert!(folder.tree().contains_key("pipe|"));
}

#[test]
fn sockets_and_devices_are_refused() {
    let folder = Folder::new();
    let _socket = UnixListener::bind(folder.at("socket")).unwrap();
    let mut client = serve(&folder);
    client.call("read_file", json!({"path": "socket"})).refused("not-a-file");
    client.replace("socket", "a", "b").refused("not-a-file");
}

pub(crate) fn make_fifo(folder: &Folder, name: &str) {
    let made = Command::new("mkfifo").arg(folder.at(name)).status().unwrap();
    assert!(made.success() && fs::metadata(folder.at(name)).is_ok());
}
