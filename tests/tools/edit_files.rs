//! `edit_files`: edits of several tools, made as one.

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::serve;

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"tool": "str_replace", "path": path, "old_string": old, "new_string": new})
}

#[test]
fn edits_of_every_tool_are_one_edit_and_one_undo() {
    let before = [("a.txt", "a\nb\nc\n"), ("b.txt", "b\n"), ("old.txt", "old\n")];
    let folder = Folder::with(before);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    client.call("read_file", json!({"path": "old.txt"})).ok();
    let patch = "*** Begin Patch\n*** Update File: b.txt\n-b\n+B\n*** End Patch";
    let answer = client.call("edit_files", json!({"edits": [
        {"tool": "replace_lines", "path": "a.txt", "version": version, "start_line": 1, "end_line": 0, "new_text": "0\n"},
        replace("a.txt", "0\na", "zero\na"),
        {"tool": "replace_lines", "path": "a.txt", "version": version, "start_line": 3, "end_line": 3, "new_text": "C\n"},
        {"tool": "apply_patch", "patch": patch},
        {"tool": "write_file", "path": "new.txt", "content": "new\n"},
        replace("new.txt", "new", "newer"),
        {"tool": "move_file", "from": "b.txt", "to": "c.txt"},
        {"tool": "delete_file", "path": "old.txt"},
    ]})).ok();
    assert_eq!(folder.read("a.txt"), b"zero\na\nb\nC\n");
    assert_eq!((folder.read("new.txt"), folder.read("c.txt")), (b"newer\n".to_vec(), b"B\n".to_vec()));
    assert!(!folder.has("old.txt") && !folder.has("b.txt"));
    assert!(answer.text.contains("line 3 of version"), "{}", answer.text);
    client.call("undo_edit", json!({})).ok();
    for (name, content) in before {
        assert_eq!(folder.read(name), content.as_bytes());
    }
}

#[test]
fn one_edit_that_fails_leaves_all_unmade_and_is_named() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    let edits = json!({"edits": [replace("a.txt", "a", "A"), replace("b.txt", "x", "y"), replace("b.txt", "y", "z")]});
    let answer = client.call("edit_files", edits).refused("search-not-found");
    assert_eq!(answer.problems().len(), 1, "what relies on a failed edit is not tried: {}", answer.text);
    assert_eq!(answer.problems()[0]["edit"], 2);
    assert!(answer.text.starts_with("Edit 2 (none of the edits was made): "), "{}", answer.text);
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), (b"a\n".to_vec(), b"b\n".to_vec()));
}

#[test]
fn a_patch_in_a_file_is_another_edit_once_the_file_is_another() {
    let patch = |old: &str, new: &str| {
        format!("*** Begin Patch\n*** Update File: a.txt\n-{old}\n+{new}\n*** End Patch\n")
    };
    let folder = Folder::with([("a.txt", "a\nb\n"), ("p.patch", &patch("a", "A"))]);
    let mut client = serve(&folder);
    let edits = json!({"edits": [{"tool": "apply_patch", "patch_path": "p.patch"}]});
    client.call("edit_files", edits.clone()).ok();
    let again = client.call("edit_files", edits.clone()).ok();
    assert!(again.structured["is_repeated"] == true && again.text.contains("edit_preview"), "{}", again.text);
    folder.write("p.patch", patch("b", "B"));
    client.call("edit_files", edits).ok();
    assert_eq!(folder.text("a.txt"), "A\nB\n");
}

#[test]
fn what_is_wrong_with_the_arguments_of_an_edit_names_it() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve(&folder);
    for (edit, code) in [
        (json!({"tool": "str_replace", "path": "a.txt", "old_sting": "a"}), "unknown-argument"),
        (json!({"tool": "edit_files", "edits": []}), "invalid-argument"),
        (json!({"tool": "read_file", "path": "a.txt"}), "invalid-argument"),
        (json!({"path": "a.txt"}), "invalid-argument"),
        (json!({"tool": "delete_file", "path": "../a.txt"}), "path-outside-workspace"),
        (json!({"tool": "delete_file", "path": "a.txt"}), "not-read"),
    ] {
        let answer = client.call("edit_files", json!({"edits": [edit]}));
        assert_eq!(answer.code(), Some(code), "{edit}: {}", answer.text);
        assert_eq!(folder.read("a.txt"), b"a\n");
    }
    client.call("edit_files", json!({"edits": []})).refused("invalid-argument");
    let unknown = client.call("edit_files", json!({"edits": [{"tool": "read_file", "path": "a.txt"}]}));
    assert!(unknown.text.contains("it must be one of str_replace, "), "{}", unknown.text);
    let in_files = json!({"tool": "replace_in_files", "old_string": "a", "new_string": "b"});
    let answer = client.call("edit_files", json!({"edits": [replace("a.txt", "a", "A"), in_files]}));
    let answer = answer.refused("invalid-argument");
    assert!(
        answer.text.contains("make it the first of them") && answer.problems()[0]["edit"] == 2,
        "{}",
        answer.text
    );
    let with_version = |version: &str| {
        let mut edit = replace("a.txt", "a", "A");
        edit["version"] = version.into();
        edit
    };
    let edits = json!({"edits": [with_version("0123456789ab"), with_version("ab0123456789")]});
    let answer = client.call("edit_files", edits).refused("invalid-argument");
    assert_eq!(answer.problems()[0]["edit"], 2);
}

#[test]
fn lines_that_an_earlier_edit_of_the_call_changed_are_refused() {
    let folder = Folder::with([("a.txt", "a\nb\nc\n")]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    let lines = |start: usize, end: usize| {
        json!({"tool": "replace_lines", "path": "a.txt", "version": version, "start_line": start, "end_line": end,
            "new_text": "x\n"})
    };
    let answer = client.call("edit_files", json!({"edits": [lines(1, 2), lines(2, 3)]}));
    let answer = answer.refused("overlapping-edits");
    assert_eq!(answer.problems()[0]["edit"], 2);
    client.call("edit_files", json!({"edits": [lines(1, 1), lines(3, 3)]})).ok();
    assert_eq!(folder.read("a.txt"), b"x\nb\nx\n");
}

#[test]
fn a_move_and_the_fixes_of_its_imports_are_one_edit() {
    let before =
        [("a.py", "import a\n"), ("b.py", "import a\na.f()\n"), ("c.json", "{\"main\": \"a.py\"}\n")];
    let folder = Folder::with(before);
    let mut client = serve(&folder);
    let edits = json!([
        {"tool": "replace_in_files", "old_string": "import a", "new_string": "import z", "glob": "*.py", "expected_count": 2},
        {"tool": "set_value", "path": "c.json", "key": ["main"], "value": "z.py"},
        {"tool": "move_file", "from": "a.py", "to": "z.py"},
        replace("b.py", "a.f()", "z.f()"),
    ]);
    client.call("edit_files", json!({"edits": edits})).ok();
    assert_eq!((folder.text("z.py"), folder.text("b.py")), ("import z\n".into(), "import z\nz.f()\n".into()));
    assert_eq!(folder.text("c.json"), "{\"main\": \"z.py\"}\n");
    client.call("undo_edit", json!({})).ok();
    for (name, content) in before {
        assert_eq!(folder.text(name), content);
    }
}

#[test]
fn what_is_looked_for_on_the_disk_stands_before_what_changes_it() {
    let folder = Folder::with([("a.json", "{\"a\": 1, \"b\": 1}\n")]);
    let mut client = serve(&folder);
    let set = |key: &str| json!({"tool": "set_value", "path": "a.json", "key": [key], "json": "2"});
    let in_files = |count: usize| json!({"tool": "replace_in_files", "old_string": "1", "new_string": "3", "expected_count": count});
    for before in [set("a"), in_files(2), replace("./a.json", "{", "{ ")] {
        let answer =
            client.call("edit_files", json!({"edits": [before, set("b")]})).refused("invalid-argument");
        assert_eq!(answer.problems()[0]["edit"], 2, "{}", answer.text);
    }
    let answer = client.call("edit_files", json!({"edits": [in_files(3)]})).refused("ambiguous-match");
    assert_eq!(answer.problems()[0]["edit"], 1, "{}", answer.text);
    assert_eq!(folder.text("a.json"), "{\"a\": 1, \"b\": 1}\n");
    client.call("edit_files", json!({"edits": [set("a"), replace("a.json", "2", "7")]})).ok();
    assert_eq!(folder.text("a.json"), "{\"a\": 7, \"b\": 1}\n");
}

#[test]
fn several_edits_are_previewed_as_one() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    let edits =
        json!({"tool": "edit_files", "edits": [replace("a.txt", "a", "A"), replace("b.txt", "b", "B")]});
    let preview = client.call("edit_preview", edits).ok();
    assert_eq!(folder.read("a.txt"), b"a\n");
    let handle = preview.handle();
    client.call("apply_preview", json!({"preview": handle, "hunks": [2]})).ok();
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), (b"a\n".to_vec(), b"B\n".to_vec()));
}
