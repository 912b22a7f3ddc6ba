//! `read_file`: it shows numbered lines with exactly the file's content and its version, and refuses what is no text or
//! no file.

use std::fs::File;

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::serve;

/// The numbered lines of a reading.
fn lines(answer: &Answer) -> Vec<(usize, &str)> {
    let numbered = |line| {
        let (number, content): (&str, &str) = str::split_once(line, '\t')?;
        Some((number.trim_start().parse().ok()?, content))
    };
    answer.text.split('\n').filter_map(numbered).collect()
}

/// Reads a file with this content.
fn read(content: impl AsRef<[u8]>, more: &Value) -> Answer {
    let folder = Folder::new();
    folder.write("a.txt", content);
    let mut arguments = json!({"path": "a.txt"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let before = folder.everything();
    let answer = serve(&folder).call("read_file", arguments);
    assert_eq!(folder.everything(), before, "a reading leaves nothing behind");
    answer
}

fn all(content: impl AsRef<[u8]>) -> Answer {
    read(content, &json!({})).ok()
}

#[test]
fn a_reading_as_a_model_sees_it() {
    let text = read("fn main() {\n\tprintln!(\"é\");\n}\n", &json!({"offset": 2, "limit": 1})).text;
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(all("\u{feff}one\r\ntwo").text);
}

#[test]
fn lines_are_numbered_from_one_and_shown_as_they_are() {
    let answer = all("a\n\n  indented\ttab  \nlast\n");
    assert_eq!(lines(&answer), [(1, "a"), (2, ""), (3, "  indented\ttab  "), (4, "last")]);
    assert_eq!(answer.meta["emend/lines"], 4);
    assert_eq!(answer.meta["emend/path"], "a.txt");
    assert_eq!(answer.structured, Value::Null, "some clients would show the model only that");
}

#[test]
fn a_range_is_shown_under_its_own_numbers() {
    let content = "1\n2\n3\n4\n5\n";
    let range = |more: Value| {
        let answer = read(content, &more).ok();
        lines(&answer).iter().map(|line| line.0).collect::<Vec<_>>()
    };
    assert_eq!(range(json!({"offset": 2, "limit": 2})), [2, 3]);
    assert_eq!(range(json!({"offset": 4})), [4, 5]);
    assert_eq!(range(json!({"limit": 1})), [1]);
    assert_eq!(range(json!({"offset": 5, "limit": 100})), [5]);
    assert_eq!(range(json!({"offset": null, "limit": null})), [1, 2, 3, 4, 5]);
    read(content, &json!({"offset": 6})).refused("invalid-argument");
}

#[test]
fn a_part_has_the_version_of_the_whole() {
    let (whole, part) = (all("1\n2\n3\n"), read("1\n2\n3\n", &json!({"offset": 2})));
    assert_eq!(whole.version(), part.version());
    assert_eq!(part.meta["emend/lines"], 3);
}

#[test]
fn the_version_is_that_of_the_bytes() {
    let version = all("a\n").version();
    assert!(version.len() == 12 && version.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
    assert_eq!(version, emend_edit::Version::hash(b"a\n").short());
    for other in ["a", "a\r\n", "\u{feff}a\n", "b\n", ""] {
        assert_ne!(version, all(other).version(), "{other:?}");
    }
}

#[test]
fn line_endings_and_byte_order_marks_are_no_content() {
    assert_eq!(lines(&all("\u{feff}a\r\nb\nc\r\n")), [(1, "a"), (2, "b"), (3, "c")]);
    assert_eq!(lines(&all("a\rb\n")), [(1, "a\rb")], "a lone CR is");
}

#[test]
fn a_missing_final_newline_makes_no_line_and_loses_none() {
    assert_eq!(lines(&all("a\nb")), [(1, "a"), (2, "b")]);
    assert_eq!(lines(&all("a\n\n")), [(1, "a"), (2, "")]);
}

#[test]
fn an_empty_file_has_no_lines() {
    let answer = all("");
    assert!(lines(&answer).is_empty());
    assert_eq!(answer.meta["emend/lines"], 0);
    assert!(lines(&all("\u{feff}")).is_empty());
}

#[test]
fn a_long_file_is_shown_in_parts_that_meet() {
    let content: String = (1..=4500).map(|i| format!("line {i}\n")).collect();
    let folder = Folder::with([("a.txt", &content)]);
    let mut client = serve(&folder);
    let mut seen = Vec::new();
    while seen.len() < 4500 {
        let answer = client.call("read_file", json!({"path": "a.txt", "offset": seen.len() + 1})).ok();
        let part = lines(&answer);
        assert!(!part.is_empty() && part.len() <= 2000);
        seen.extend(part.iter().map(|line| line.1.to_owned()));
    }
    assert_eq!(seen.join("\n") + "\n", content);
}

#[test]
fn a_large_file_is_read_too() {
    let content = "0123456789abcdef\n".repeat(200_000);
    let answer = read(&content, &json!({"offset": 199_999}));
    assert_eq!(lines(&answer.ok()).last(), Some(&(200_000, "0123456789abcdef")));
}

#[test]
fn what_is_no_text_is_refused() {
    read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &json!({})).refused("not-text");
    read(b"caf\xe9\x01\x02\x03\n", &json!({})).refused("not-text");
    read(b"\xff\xfea\0\n", &json!({})).refused("not-text");
    read(b"a\0b", &json!({})).refused("not-text");
}

#[test]
fn a_file_above_the_limit_is_refused_unread() {
    let folder = Folder::new();
    // Sparse: it has a size and no blocks.
    File::create(folder.at("huge")).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    serve(&folder).call("read_file", json!({"path": "huge"})).refused("too-large");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::with([("folder/a.txt", "a\n")]);
    let mut client = serve(&folder);
    for path in ["folder", "folder/", ".", "folder/a.txt/b"] {
        client.call("read_file", json!({"path": path})).refused("not-a-file");
    }
    client.call("read_file", json!({"path": "missing.txt"})).refused("missing-original");
    client.call("read_file", json!({"path": "no/such/folder.txt"})).refused("missing-original");
}
