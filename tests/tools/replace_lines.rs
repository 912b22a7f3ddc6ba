//! `replace_lines`: whole lines by their numbers, in the version that has those numbers.

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::serve;

/// One call on a file of these bytes, with its current version: the answer, and the bytes afterwards.
#[track_caller]
fn replace(before: &str, arguments: &Value) -> (Answer, String) {
    let folder = Folder::with([("a.txt", before)]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    let mut all = json!({"path": "a.txt", "version": version});
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    let answer = client.call("replace_lines", all);
    (answer, String::from_utf8(folder.read("a.txt")).unwrap())
}

#[track_caller]
fn check(before: &str, lines: (usize, usize), new_text: &str, after: &str) {
    let (start_line, end_line) = lines;
    let arguments = json!({"start_line": start_line, "end_line": end_line, "new_text": new_text});
    let (answer, found) = replace(before, &arguments);
    answer.ok();
    assert_eq!(found, after, "{lines:?}");
}

#[track_caller]
fn check_refused(before: &str, arguments: &Value, code: &str) {
    let (answer, found) = replace(before, arguments);
    assert_eq!(answer.code(), Some(code), "{}", answer.text);
    assert_eq!(found, before);
}

#[test]
fn lines_are_replaced_deleted_and_inserted() {
    check("a\nb\nc\n", (2, 2), "B\nB2\n", "a\nB\nB2\nc\n");
    check("a\nb\nc\n", (2, 3), "B", "a\nB\n");
    check("a\nb\nc\n", (2, 2), "", "a\nc\n");
    check("a\nb\nc\n", (2, 2), "\n", "a\n\nc\n");
    check("a\nb\nc\n", (2, 1), "x\n", "a\nx\nb\nc\n");
    check("a\nb\nc\n", (4, 3), "d\n", "a\nb\nc\nd\n");
    check("", (1, 0), "first\n", "first\n");
}

#[test]
fn the_file_keeps_its_line_endings_and_its_final_newline() {
    check("a\r\nb\r\n", (1, 1), "A\nA2", "A\r\nA2\r\nb\r\n");
    check("a\nb", (2, 2), "B\n", "a\nB");
    check("a\nb", (3, 2), "c\n", "a\nb\nc");
}

#[test]
fn escaped_text_is_taken_as_it_is() {
    check("x -> y\n", (1, 1), "x -&gt; y", "x -&gt; y\n");
}

#[test]
fn lines_that_are_not_there_are_refused() {
    let range = |start: usize, end: usize| json!({"start_line": start, "end_line": end, "new_text": "x"});
    check_refused("a\nb\n", &range(0, 1), "invalid-argument");
    check_refused("a\nb\n", &range(2, 3), "invalid-argument");
    check_refused("a\nb\n", &range(4, 3), "invalid-argument");
    check_refused("a\nb\n", &range(2, 0), "invalid-argument");
    let nothing = json!({"start_line": 2, "end_line": 1, "new_text": ""});
    check_refused("a\nb\n", &nothing, "invalid-argument");
    check_refused("a\nb\n", &json!({"start_line": 1, "end_line": 1, "new_text": "a"}), "no-op");
}

#[test]
fn another_version_is_refused_with_the_current_one() {
    let folder = Folder::with([("a.txt", "a\nb\n")]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    folder.write("a.txt", "new\na\nb\n");
    let call = json!({"path": "a.txt", "version": version, "start_line": 1, "end_line": 1, "new_text": "A"});
    let answer = client.call("replace_lines", call).refused("stale-file");
    let now = emend_edit::Version::hash(b"new\na\nb\n").short();
    assert_eq!(answer.problems()[0]["current_version"], now);
    assert_eq!(folder.read("a.txt"), b"new\na\nb\n");
    client
        .call("replace_lines", json!({"path": "a.txt", "start_line": 1, "end_line": 1, "new_text": "A"}))
        .refused("invalid-argument");
}
