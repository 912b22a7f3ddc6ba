//! Anthropic's text editor tool.

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use super::speaking;

fn call(client: &mut Client, command: &str, mut arguments: Value) -> Answer {
    arguments["command"] = command.into();
    client.call("str_replace_based_edit_tool", arguments)
}

#[test]
fn each_command_does_what_it_says() {
    let folder = Folder::with([("t.txt", "a\nb\nc\n"), ("d/sub/x.txt", ""), ("d/sub/deep/y.txt", "")]);
    let mut client = speaking(&folder, "text-editor");
    let range = json!({"path": "t.txt", "view_range": [2, -1]});
    let viewed = call(&mut client, "view", range).ok();
    assert_eq!(viewed.text, "Here's the result of running `cat -n` on t.txt:\n     2\tb\n     3\tc\n");
    let inserted = json!({"path": "t.txt", "insert_line": 1, "insert_text": "A\n"});
    let inserted = call(&mut client, "insert", inserted).ok();
    assert!(inserted.text.starts_with("The file t.txt has been edited."), "{}", inserted.text);
    assert!(inserted.text.contains("     2\tA\n     3\tb\n"), "{}", inserted.text);
    call(&mut client, "insert", json!({"path": "t.txt", "insert_line": 0, "insert_text": "top"})).ok();
    call(&mut client, "str_replace", json!({"path": "t.txt", "old_str": "b\n"})).ok();
    assert_eq!(folder.text("t.txt"), "top\na\nA\nc\n");
    call(&mut client, "undo_edit", json!({"path": "t.txt"})).ok();
    assert_eq!(folder.text("t.txt"), "top\na\nA\nb\nc\n");
    call(&mut client, "create", json!({"path": "new.txt", "file_text": ""})).ok();
    assert_eq!(folder.text("new.txt"), "");
    let listed = call(&mut client, "view", json!({"path": "d"})).ok();
    assert!(listed.text.starts_with("Here's the files and directories up to 2 levels deep in d:\n"));
    assert!(listed.text.contains("d/sub/x.txt") && !listed.text.contains("y.txt"), "{}", listed.text);
}

#[test]
fn a_refusal_has_the_words_of_the_tool_in_front() {
    let folder = Folder::with([("t.txt", "line\nline\nother\n")]);
    let mut client = speaking(&folder, "text-editor");
    let several =
        call(&mut client, "str_replace", json!({"path": "t.txt", "old_str": "line", "new_str": "x"}));
    let several = several.refused("ambiguous-match");
    let words =
        "Error: Found 2 matches for replacement text. Please provide more context to make a unique match.\n";
    assert!(several.text.starts_with(words), "{}", several.text);
    let none = call(&mut client, "str_replace", json!({"path": "t.txt", "old_str": "none", "new_str": "x"}));
    assert!(none.refused("search-not-found").text.starts_with("Error: No match found for replacement."));
    let gone = call(&mut client, "view", json!({"path": "gone.txt"})).refused("missing-original");
    assert!(gone.text.starts_with("Error: File not found\n"), "{}", gone.text);
    for (command, arguments) in [
        ("str_replace", json!({"path": "t.txt", "new_str": "x"})),
        ("insert", json!({"path": "t.txt", "insert_text": "x"})),
        ("insert", json!({"path": "t.txt", "insert_line": -1, "insert_text": "x"})),
        ("view", json!({"path": "t.txt", "view_range": [1]})),
        ("view", json!({"path": "t.txt", "view_range": [3, 1]})),
    ] {
        call(&mut client, command, arguments).refused("invalid-argument");
    }
    call(&mut client, "create", json!({"path": "t.txt", "file_text": "x"})).refused("not-read");
    assert_eq!(folder.text("t.txt"), "line\nline\nother\n");
}

/// Line numbers are those of a reading: without one nobody knows what they mean.
#[test]
fn lines_are_inserted_where_they_were_read() {
    let folder = Folder::with([("t.txt", "a\nb\n")]);
    let mut client = speaking(&folder, "text-editor");
    let insert = || json!({"path": "t.txt", "insert_line": 2, "insert_text": "c"});
    call(&mut client, "insert", insert()).refused("not-read");
    call(&mut client, "view", json!({"path": "t.txt"})).ok();
    folder.write("t.txt", "0\na\nb\n");
    let followed = call(&mut client, "insert", insert());
    if followed.is_error {
        followed.refused("stale-file");
        call(&mut client, "view", json!({"path": "t.txt"})).ok();
        call(&mut client, "insert", json!({"path": "t.txt", "insert_line": 3, "insert_text": "c"})).ok();
    }
    assert_eq!(folder.text("t.txt"), "0\na\nb\nc\n");
    // What others changed was not shown whole, so the numbers are not known any more.
    call(&mut client, "view", json!({"path": "t.txt"})).ok();
    let again = json!({"path": "t.txt", "insert_line": 1, "insert_text": "x"});
    call(&mut client, "insert", again.clone()).ok();
    assert!(call(&mut client, "insert", again).is_repeated());
    assert_eq!(folder.text("t.txt").matches('x').count(), 1);
}
