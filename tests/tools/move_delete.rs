//! `move_file` and `delete_file`: what a patch of one such section does, without the patch.

use emend_testkit::Folder;
use serde_json::json;

use crate::serve;

#[test]
fn a_file_moves_with_its_bytes_and_can_be_taken_back() {
    let content = "one\r\ntwo";
    let folder = Folder::with([("a.txt", content)]);
    let mut client = serve(&folder);
    let moved = client.call("move_file", json!({"from": "a.txt", "to": "deep/er/b.txt"})).ok();
    assert!(!folder.at("a.txt").exists());
    assert_eq!(folder.text("deep/er/b.txt"), content);
    let file = &moved.structured["files"][0];
    assert_eq!((&file["change"], &file["moved_from"]), (&json!("move"), &json!("a.txt")));
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.txt"), content);
    assert!(!folder.at("deep/er/b.txt").exists());
}

#[test]
fn what_may_still_name_the_old_path_is_told() {
    let named = [
        ("a.md", "see src/util/old.py here\n"),
        ("b.py", "from util.old import x\n"),
        ("e.rs", "use crate::util::old::f;\n"),
        ("g.toml", "files = ['util/old.py']\n"),
        ("src/c.ts", "import { x } from './util/old';\n"),
        ("src/util/f.py", "from . import old\n"),
        ("src/util.rs", "mod old;\n"),
    ];
    let others = [
        ("h.py", "old = 1\nfrom . import older\n"),
        ("i.md", "the old way, bold.py, old.pyc and utils/older\n"),
        ("j.ts", "import { x } from './old-one';\n"),
        ("c.ts", "import { x } from './old';\n"),
        ("d.rs", "mod old;\nuse other::old;\n"),
        ("f.py", "from . import old\nfrom json import old\n"),
        ("k.md", "other/old.py\n"),
    ];
    let folder = Folder::with(named);
    others.iter().for_each(|(name, text)| folder.write(name, text));
    folder.write("src/util/old.py", "x = 1\n");
    let mut client = serve(&folder);
    let moved = client.call("move_file", json!({"from": "src/util/old.py", "to": "src/util/new.py"})).ok();
    let places: Vec<String> = named.iter().map(|(name, _)| format!("{name}:1")).collect();
    let told = format!(
        "\nNo import was changed with the move. 7 lines may still name the old path: {}\n",
        places.join(", ")
    );
    assert!(moved.text.contains(&told), "{}", moved.text);
    assert!(moved.text.contains("\nR src/util/new.py from src/util/old.py "), "{}", moved.text);
    assert_eq!(folder.text("b.py"), "from util.old import x\n");
    let moved = client.call("move_file", json!({"from": "a.md", "to": "z.md"})).ok();
    assert!(!moved.text.contains("may still name"), "{}", moved.text);
}

#[test]
fn nothing_is_moved_over_what_is_there_nor_onto_itself() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let before = folder.everything();
    let mut client = serve(&folder);
    for (from, to, code) in [
        ("a.txt", "b.txt", "already-exists"),
        ("a.txt", "a.txt", "no-op"),
        ("a.txt", "./a.txt", "no-op"),
        ("c.txt", "d.txt", "missing-original"),
        ("a.txt", "../out.txt", "path-outside-workspace"),
        ("a.txt", ".env", "path-forbidden"),
        (".git/config", "b", "path-forbidden"),
    ] {
        client.call("move_file", json!({"from": from, "to": to})).refused(code);
    }
    assert_eq!(folder.everything(), before);
}

#[test]
fn what_is_deleted_was_read_in_full_or_its_version_is_named() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    let mut client = serve(&folder);
    client.call("delete_file", json!({"path": "a.txt"})).refused("not-read");
    client.call("read_file", json!({"path": "a.txt", "limit": 1})).ok();
    client.call("delete_file", json!({"path": "a.txt"})).refused("not-read");
    client.read("a.txt");
    client.call("delete_file", json!({"path": "a.txt"})).ok();
    assert!(!folder.at("a.txt").exists());
    let version = serve(&folder).read("b.txt").version();
    client.call("delete_file", json!({"path": "b.txt", "version": "0123456789ab"})).refused("stale-file");
    assert!(folder.at("b.txt").exists());
    client.call("delete_file", json!({"path": "b.txt", "version": version})).ok();
    assert!(!folder.at("b.txt").exists());
    client.read("c.txt");
    folder.write("c.txt", "changed\n");
    client.call("delete_file", json!({"path": "c.txt"})).refused("stale-file");
    assert_eq!(folder.text("c.txt"), "changed\n");
}

#[test]
fn both_can_be_previewed() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let mut client = serve(&folder);
    client.read("b.txt");
    let moved = client.preview("move_file", json!({"from": "a.txt", "to": "c.txt"})).ok();
    let deleted = client.preview("delete_file", json!({"path": "b.txt"})).ok();
    assert!(folder.at("a.txt").exists() && folder.at("b.txt").exists());
    client.call("apply_preview", json!({"preview": moved.handle()})).ok();
    client.call("apply_preview", json!({"preview": deleted.handle()})).ok();
    assert_eq!(folder.text("c.txt"), "one\n");
    assert!(!folder.at("a.txt").exists() && !folder.at("b.txt").exists());
}
