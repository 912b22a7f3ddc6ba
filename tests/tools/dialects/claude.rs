//! Claude Code's tools.

use emend_testkit::Folder;
use serde_json::json;

use super::{absolute, speaking};

#[test]
fn a_file_is_read_edited_and_written_in_claudes_words() {
    let folder = Folder::with([("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n")]);
    let mut client = speaking(&folder, "claude");
    let path = absolute(&folder, "a.py");
    let read = client.call("Read", json!({"file_path": path, "offset": 2, "limit": 1})).ok();
    assert_eq!(read.text, "     2\t    return 1\n");
    let edit = json!({
        "file_path": path, "old_string": "def g():\n    return 1", "new_string": "def g():\n    return 2",
        "replace_all": false,
    });
    let edited = client.call("Edit", edit).ok();
    let head = format!(
        "The file {path} has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"
    );
    assert!(edited.text.starts_with(&head), "{}", edited.text);
    assert!(edited.text.contains("     6\t    return 2\n"), "{}", edited.text);
    assert!(edited.structured.is_null(), "a client may show the structured content alone");
    let new = absolute(&folder, "new/b.py");
    let written = client.call("Write", json!({"file_path": new, "content": "x = 1\n"})).ok();
    assert!(written.text.starts_with(&format!("File created successfully at: {new}\n")), "{}", written.text);
    let empty = client.call("Edit", json!({"file_path": new, "old_string": "", "new_string": "y"}));
    let empty = empty.refused("already-exists");
    assert!(empty.text.starts_with("Cannot create new file - file already exists.\n"), "{}", empty.text);
    let all = json!({"file_path": path, "old_string": "return", "new_string": "yield", "replace_all": true});
    assert!(client.call("Edit", all).ok().text.contains("All occurrences were successfully replaced."));
    assert_eq!(folder.text("a.py"), "def f():\n    yield 1\n\n\ndef g():\n    yield 2\n");
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.py"), "def f():\n    return 1\n\n\ndef g():\n    return 2\n");
}

#[test]
fn a_refusal_has_claudes_words_in_front_and_ours_whole() {
    let folder = Folder::with([("a.txt", "one\ntwo\ntwo\n")]);
    let mut client = speaking(&folder, "claude");
    let mut edit = |old: &str, new: &str| {
        let arguments = json!({"file_path": "a.txt", "old_string": old, "new_string": new});
        client.call("Edit", arguments)
    };
    let missing = edit("three", "3").refused("search-not-found");
    assert!(missing.text.starts_with("String to replace not found in file.\n"), "{}", missing.text);
    assert!(missing.text.trim_end().ends_with("[search-not-found]"), "{}", missing.text);
    let message = missing.structured["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("String to replace not found in file.\n"), "{message}");
    let several = edit("two", "2").refused("ambiguous-match");
    assert!(several.text.starts_with("Found several matches of the string to replace"), "{}", several.text);
    assert!(several.text.contains('2') && several.text.contains('3'), "{}", several.text);
    edit("one", "one").refused("no-op");
    let unread = client.call("Write", json!({"file_path": "a.txt", "content": "x\n"})).refused("not-read");
    assert!(unread.text.contains("(Here read_file is Read"), "{}", unread.text);
    let gone = client.call("Read", json!({"file_path": "b.txt"})).refused("missing-original");
    assert!(gone.text.starts_with("File does not exist.\n"), "{}", gone.text);
    let misspelt = client.call("Edit", json!({"file_path": "a.txt", "old_text": "one", "new_string": "1"}));
    let misspelt = misspelt.refused("unknown-argument");
    assert!(misspelt.text.contains("old_string"), "{}", misspelt.text);
    assert_eq!(folder.text("a.txt"), "one\ntwo\ntwo\n");
}

#[test]
fn the_edits_of_multi_edit_see_each_other_and_are_all_or_none() {
    let before = "Hello world\nThis is a test file\nGoodbye world";
    let folder = Folder::with([("f.txt", before)]);
    let mut client = speaking(&folder, "claude");
    assert!(client.tools().iter().all(|tool| tool["name"] != "MultiEdit"));
    let mut edits = |edits| client.call("MultiEdit", json!({"file_path": "f.txt", "edits": edits}));
    edits(json!([
        {"old_string": "Hello", "new_string": "Hi"}, {"old_string": "not found", "new_string": "test"},
    ]))
    .refused("search-not-found");
    edits(json!([])).refused("invalid-argument");
    assert_eq!(folder.text("f.txt"), before);
    edits(json!([
        {"old_string": "Hello world", "new_string": "Hi universe"},
        {"old_string": "Hi universe", "new_string": "Greetings cosmos"},
        {"old_string": "world", "new_string": "moon", "replace_all": true},
    ]))
    .ok();
    assert_eq!(folder.text("f.txt"), "Greetings cosmos\nThis is a test file\nGoodbye moon");
}

#[test]
fn the_same_edit_by_either_name_is_one_edit() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let mut client = speaking(&folder, "claude");
    client.call("Edit", json!({"file_path": "a.txt", "old_string": "x", "new_string": "x x"})).ok();
    let again = client.call("str_replace", json!({"path": "a.txt", "old_string": "x", "new_string": "x x"}));
    assert!(again.is_repeated(), "{again:?}");
    assert_eq!(folder.text("a.txt"), "x x\n");
}
