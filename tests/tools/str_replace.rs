//! `str_replace`: which bytes it changes, when it refuses, and what it reports.

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::{serve, serve_in_full};

/// One call on a file of these bytes: the answer, and the bytes afterwards. A refusal leaves everything.
#[track_caller]
fn replace(before: &[u8], arguments: &Value) -> (Answer, Vec<u8>) {
    let folder = Folder::new();
    folder.write("a.txt", before);
    folder.write("other.txt", "untouched\n");
    let tree = folder.tree();
    let mut all = json!({"path": "a.txt"});
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    let answer = serve(&folder).call("str_replace", all);
    if answer.is_error {
        assert_eq!(folder.tree(), tree, "a refused call changes nothing");
    }
    (answer, folder.read("a.txt"))
}

/// Replacing `old` by `new` makes `after` of `before`, by way of this layer.
#[track_caller]
fn check_layer(before: &str, old: &str, new: &str, after: &str, layer: &str) {
    let (answer, bytes) = replace(before.as_bytes(), &json!({"old_string": old, "new_string": new}));
    let answer = answer.ok();
    assert_eq!(String::from_utf8(bytes).unwrap(), after);
    // A short answer names a layer only where it forgave something.
    let said = answer.structured["files"][0]["hunks"][0]["layer"].as_str();
    assert_eq!(said.unwrap_or("exact"), layer);
}

#[track_caller]
fn check(before: &str, old: &str, new: &str, after: &str) {
    check_layer(before, old, new, after, "exact");
}

#[track_caller]
fn check_refused(before: &str, arguments: &Value, code: &str) -> Answer {
    replace(before.as_bytes(), arguments).0.refused(code)
}

#[test]
fn the_text_is_replaced_and_nothing_else() {
    check("one\ntwo\nthree\n", "two", "2", "one\n2\nthree\n");
    check("one\ntwo\nthree\n", "two\n", "", "one\nthree\n");
    check("a(one)\n(two)b\nthree\n", "one)\n(two", "", "a()b\nthree\n");
    check("a(b)c\n", "(b)", "[b]", "a[b]c\n");
    check("naïve ☕ café\n", "☕", "🍵", "naïve 🍵 café\n");
}

#[test]
fn the_new_text_is_literal() {
    for literal in ["$&", "$1 ${name} $$", "\\1 \\n \\\\", "&amp; %s {}", "'\"`"] {
        check("a OLD b\n", "OLD", literal, &format!("a {literal} b\n"));
    }
    check("costs $1.00 (.*)\n", "$1.00 (.*)", "nothing", "costs nothing\n");
}

#[test]
fn new_lines_take_the_ending_of_their_neighbours() {
    check("a\r\nb\r\nc\r\n", "b", "B\nB2", "a\r\nB\r\nB2\r\nc\r\n");
    check_layer("a\r\nb\r\nc\r\n", "a\nb", "A\nB\nC", "A\r\nB\r\nC\r\nc\r\n", "line-endings");
    check("a\nb\n", "a", "A\nA2", "A\nA2\nb\n");
    check("a\r\nb\r\n", "a\r\nb", "A\r\nB", "A\r\nB\r\n");
}

#[test]
fn mixed_endings_stay_where_they_are() {
    check("a\r\nb\nc\r\nd\n", "b", "B", "a\r\nB\nc\r\nd\n");
    check_layer("a\r\nb\nc\r\nd\n", "a\nb\nc", "A\nb\nC", "A\r\nb\nC\r\nd\n", "line-endings");
    check_layer("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nx\nb\nc\n", "a\r\nx\r\nb\nc\r\n", "line-endings");
}

#[test]
fn a_request_about_line_endings_is_meant_literally() {
    check("a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n");
    check("a\nb\nc\n", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\nc\n");
}

#[test]
fn the_byte_order_mark_stays() {
    check("\u{feff}one\ntwo\n", "one", "1", "\u{feff}1\ntwo\n");
    check("\u{feff}one\ntwo\n", "one\ntwo\n", "", "\u{feff}");
}

#[test]
fn the_final_newline_is_neither_added_nor_lost() {
    check("one\ntwo", "two", "2", "one\n2");
    check("one\ntwo", "one\ntwo", "1\n2", "1\n2");
    check("one\ntwo\n", "two", "2", "one\n2\n");
    check("one\ntwo", "two", "2\n", "one\n2\n");
}

#[test]
fn a_text_that_occurs_more_than_once_is_refused_with_every_place() {
    let answer =
        check_refused("x\na\nx\nb x\n", &json!({"old_string": "x", "new_string": "y"}), "ambiguous-match");
    assert_eq!(answer.problems()[0]["lines"], json!([1, 3, 4]));
    assert_eq!(answer.problems()[0]["path"], "a.txt");
    check_refused("aaa\n", &json!({"old_string": "aa", "new_string": "b"}), "ambiguous-match");
}

#[test]
fn places_that_differ_only_in_line_endings_are_ambiguous() {
    let both = json!({"old_string": "a\nb", "new_string": "c"});
    let answer = check_refused("a\r\nb\r\na\nb\n", &both, "ambiguous-match");
    assert_eq!(answer.problems()[0]["lines"], json!([1, 3]));
}

#[test]
fn a_text_that_is_not_there_is_refused_with_the_lines_that_are() {
    let before = "def f():\n\treturn 1\n\n\ndef g():\n\treturn 2\n";
    let request = json!({"old_string": "def g():\n\treturn two", "new_string": "def g():\n\treturn 3"});
    let answer = check_refused(before, &request, "search-not-found");
    let problem = &answer.problems()[0];
    assert_eq!(problem["current_version"], emend_edit::Version::hash(before.as_bytes()).short());
    assert!(problem["lines"].as_array().unwrap().contains(&json!(5)), "{problem}");
    check_refused("", &json!({"old_string": "x", "new_string": "y"}), "search-not-found");
    check_refused("One\n", &json!({"old_string": "one", "new_string": "y"}), "search-not-found");
}

#[test]
fn an_empty_old_text_creates_a_file_and_nothing_else() {
    check_refused("one\n", &json!({"old_string": "", "new_string": "x"}), "already-exists");
    check_refused("", &json!({"old_string": "", "new_string": "x"}), "already-exists");
    let all = json!({"old_string": "", "new_string": "x", "replace_all": true});
    check_refused("one\n", &all, "invalid-format");
    let folder = Folder::new();
    serve(&folder)
        .call("str_replace", json!({"path": "new/a.txt", "old_string": "", "new_string": "x\n"}))
        .ok();
    assert_eq!(folder.read("new/a.txt"), b"x\n");
}

#[test]
fn a_call_that_changes_nothing_is_refused() {
    check_refused("one\n", &json!({"old_string": "one", "new_string": "one"}), "no-op");
    let again = json!({"old_string": "two\n", "new_string": "two\nadded line\n"});
    check_refused("one\ntwo\nadded line\n", &again, "no-op");
}

#[test]
fn several_edits_are_all_found_in_the_same_start() {
    let swap = json!({"edits": [
        {"old_string": "left", "new_string": "right"},
        {"old_string": "right", "new_string": "left"},
    ]});
    let (answer, after) = replace(b"left = right\n", &swap);
    let answer = answer.ok();
    assert_eq!(after, b"right = left\n");
    assert_eq!(answer.structured["diff"], "@@ -1 +1 @@\n-left = right\n+right = left\n");
    let all = json!({"edits": [
        {"old_string": "x", "new_string": "X", "replace_all": true},
        {"old_string": "end", "new_string": "END"},
    ]});
    assert_eq!(replace(b"x x\nx\nend\n", &all).1, b"X X\nX\nEND\n");
}

#[test]
fn overlapping_edits_are_refused() {
    let edits = |a: &str, b: &str| json!({"edits": [{"old_string": a, "new_string": "1"}, {"old_string": b, "new_string": "2"}]});
    check_refused("one two three\n", &edits("one two", "two three"), "overlapping-edits");
    check_refused("one two three\n", &edits("two", "one two three"), "overlapping-edits");
    check_refused("one two three\n", &edits("two", "two"), "overlapping-edits");
    let (answer, after) = replace(b"one two three\n", &edits("one ", "two"));
    answer.ok();
    assert_eq!(after, b"12 three\n", "edits that touch do not overlap");
}

#[test]
fn one_bad_edit_of_several_refuses_all_and_every_problem_is_told() {
    let edits = json!({"edits": [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "missing", "new_string": "2"},
        {"old_string": "x", "new_string": "3"},
    ]});
    let answer = check_refused("one\nx\nx\n", &edits, "search-not-found");
    assert_eq!(answer.codes(), ["search-not-found", "ambiguous-match"]);
    assert_eq!(answer.problems()[0]["hunk"], 2);
    assert_eq!(answer.problems()[1]["hunk"], 3);
}

#[test]
fn edits_exclude_what_they_replace() {
    let edit = json!({"old_string": "one", "new_string": "1"});
    check_refused(
        "one\n",
        &json!({"edits": [edit], "old_string": "one", "new_string": "1"}),
        "invalid-argument",
    );
    check_refused("one\n", &json!({"edits": [edit], "replace_all": true}), "invalid-argument");
    check_refused("one\n", &json!({"edits": [edit], "expected_count": 1}), "invalid-argument");
    check_refused("one\n", &json!({"edits": []}), "invalid-argument");
}

/// Some model APIs make every argument required, so a model sends those it does not mean empty.
#[test]
fn what_is_sent_empty_is_not_meant() {
    let edit = json!({"old_string": "one", "new_string": "1", "replace_all": false});
    let edits = json!({
        "edits": [edit], "old_string": "", "new_string": "", "replace_all": false, "expected_count": 0,
    });
    let text = json!({
        "edits": [], "old_string": "one", "new_string": "", "replace_all": false, "expected_count": 0,
    });
    for (arguments, expected) in [(edits, "1 two\n"), (text, " two\n")] {
        let (answer, after) = replace(b"one two\n", &arguments);
        answer.ok();
        assert_eq!(String::from_utf8(after).unwrap(), expected);
    }
}

#[test]
fn every_occurrence_is_replaced_when_all_are_meant() {
    let all = json!({"old_string": "x", "new_string": "yy", "replace_all": true});
    let (answer, after) = replace(b"x\r\nax\nx", &all);
    assert_eq!(after, b"yy\r\nayy\nyy");
    assert_eq!(answer.ok().structured["files"][0]["places"], 3);
    check_refused("one\n", &all, "search-not-found");
    let overlapping = json!({"old_string": "aa", "new_string": "b", "replace_all": true});
    check_refused("aaa\n", &overlapping, "ambiguous-match");
}

#[test]
fn the_expected_count_must_be_the_real_one() {
    let expect = |count: usize| json!({"old_string": "x", "new_string": "y", "expected_count": count});
    assert_eq!(replace(b"x x\n", &expect(2)).1, b"y y\n");
    assert_eq!(replace(b"x\n", &expect(1)).1, b"y\n");
    check_refused("x x\n", &expect(3), "ambiguous-match");
    check_refused("x x\n", &expect(1), "ambiguous-match");
    check_refused("x\n", &expect(2), "ambiguous-match");
    check_refused("one\n", &expect(2), "search-not-found");
}

#[test]
fn the_version_must_be_the_current_one() {
    let version = emend_edit::Version::hash(b"one\n");
    let with = |version: &str| json!({"old_string": "one", "new_string": "1", "version": version});
    for right in [version.short(), version.hex(), version.hex().to_uppercase()] {
        let (answer, after) = replace(b"one\n", &with(&right));
        assert_eq!(
            (answer.ok().structured["mtime_check_passed"].clone(), &after[..]),
            (json!(true), &b"1\n"[..])
        );
    }
    for wrong in ["000000000000", &version.short()[..11], "latest"] {
        let answer = check_refused("one\n", &with(wrong), "stale-file");
        assert_eq!(answer.problems()[0]["current_version"], version.short());
        assert_eq!(answer.structured["mtime_check_passed"], false);
    }
}

#[test]
fn names_from_other_tools_are_understood() {
    for (path, old, new) in [
        ("path", "old_string", "new_string"),
        ("file_path", "old_str", "new_str"),
        ("file_path", "oldText", "newText"),
    ] {
        let folder = Folder::with([("a.txt", "one\n")]);
        serve(&folder).call("str_replace", json!({path: "a.txt", old: "one", new: "1"})).ok();
        assert_eq!(folder.text("a.txt"), "1\n");
    }
    assert_eq!(replace(b"one\n", &json!({"edits": [{"oldText": "one", "newText": "1"}]})).1, b"1\n");
    let twice = json!({"old_string": "one", "old_str": "one", "new_string": "1"});
    check_refused("one\n", &twice, "invalid-argument");
}

#[test]
fn a_file_that_is_no_text_is_left_alone() {
    let (answer, _) = replace(b"caf\xe9\0\n", &json!({"old_string": "caf", "new_string": "tea"}));
    answer.refused("not-text");
}

#[test]
fn a_file_of_several_megabytes_is_edited_too() {
    let line = "0123456789abcdef\n".repeat(100_000);
    let before = format!("{line}middle\n{line}");
    let (answer, after) =
        replace(before.as_bytes(), &json!({"old_string": "middle", "new_string": "MIDDLE"}));
    answer.ok();
    assert!(after == before.replace("middle", "MIDDLE").as_bytes());
}

#[test]
fn the_outcome_says_what_was_done() {
    let folder = Folder::with([("src/a.txt", "one\ntwo\nthree\n")]);
    let mut client = serve_in_full(&folder);
    let outcome = client.replace("src/a.txt", "two", "TWO!\nand more").ok();
    let (said, file) = (&outcome.structured, &outcome.structured["files"][0]);
    assert_eq!(said["changed_files"], json!(["src/a.txt"]));
    assert_eq!(said["bytes_changed"], "two".len() + "TWO!\nand more".len());
    assert_eq!(said["side_effects_fired"], json!(["history"]));
    assert!(said["edit"].as_str().is_some_and(|id| !id.is_empty()));
    assert_eq!(
        said["diff"],
        "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO!\n+and more\n three\n"
    );
    for absent in ["error", "problems", "preview", "mtime_check_passed", "notes"] {
        assert!(said.get(absent).is_none(), "{absent} does not apply and is not there");
    }
    assert_eq!((&file["path"], &file["change"]), (&json!("src/a.txt"), &json!("modify")));
    assert_eq!((&file["added"], &file["removed"]), (&json!(2), &json!(1)));
    assert_eq!(file["hunks"], json!([{"hunk": 1, "line": 2, "lines": 1, "layer": "exact"}]));
    assert_eq!(file["version_before"], emend_edit::Version::hash(b"one\ntwo\nthree\n").short());
    assert_eq!(file["version_after"], client.read("src/a.txt").version());
}

#[test]
fn a_long_diff_is_cut_and_the_whole_of_it_is_done() {
    let before = "x\n".repeat(500);
    let all = json!({"old_string": "x", "new_string": "y", "replace_all": true});
    let (answer, after) = replace(before.as_bytes(), &all);
    assert_eq!(after, "y\n".repeat(500).as_bytes());
    assert!(answer.ok().structured["diff"].as_str().unwrap().lines().count() <= 101);
}

#[test]
fn a_missing_file_is_refused() {
    let folder = Folder::with([("readme.md", "one\n")]);
    let answer = serve(&folder).replace("readme.txt", "one", "1").refused("missing-original");
    assert_eq!(answer.problems()[0]["path"], "readme.txt");
    assert!(!folder.has("readme.txt"));
}

/// How many characters an answer has, as text and as structured content.
pub(crate) fn sizes(answer: &Answer) -> (usize, usize) {
    (answer.text.chars().count(), answer.structured.to_string().chars().count())
}

#[test]
fn a_refusal_stays_short_in_a_file_of_long_lines_and_shows_what_matters() {
    let line: String = (0..9_000).map(|i| format!("var v{i}=f{i}({i});")).collect();
    let folder = Folder::with([("a.min.js", &format!("{line}\n{line}x\n"))]);
    let mut client = serve(&folder);
    let answer = client.replace("a.min.js", "var v4000=f4000(4000);var v4001=g4001(4001);", "x");
    let answer = answer.refused("search-not-found");
    assert!(answer.text.contains("var v4001=f4001(4001);"), "{}", answer.text);
    let (text, json) = sizes(&answer);
    assert!(text <= 8_000 && json <= 8_000, "{text} {json}");
    let echo = line.replace("f4001", "g4001");
    let answer = client.patch(&format!("*** Update File: a.min.js\n@@\n-{echo}\n+x"));
    let answer = answer.refused("hunk-context-mismatch");
    assert!(answer.text.contains("f4001(4001)") && answer.text.contains("g4001(4001)"), "{}", answer.text);
    let (text, json) = sizes(&answer);
    assert!(text <= 8_000 && json <= 8_000, "{text} {json}");
}

#[test]
fn a_change_in_a_long_line_is_seen_in_the_diff() {
    let line: String = (0..9_000).map(|i| format!("\"k{i}\": {i}, ")).collect();
    let folder = Folder::with([("a.json", &format!("{{{line}\"end\": 0}}\n"))]);
    let answer = serve(&folder).replace("a.json", "\"k5000\": 5000", "\"k5000\": 77").ok();
    let diff = answer.structured["diff"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = diff.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with('-') && line.contains("\"k5000\": 5000,")), "{diff}");
    assert!(lines.iter().any(|line| line.starts_with('+') && line.contains("\"k5000\": 77,")), "{diff}");
    assert!(diff.len() < 3_000, "{}", diff.len());
}

#[test]
fn a_word_that_a_line_has_again_and_again_makes_it_no_nearer() {
    let text = "alpha\nthe base_uri of a UriInterface turned\nfoo\nbar\nthe the the the the the the\nbaz\n";
    let folder = Folder::with([("s2.txt", text)]);
    let answer = serve(&folder).replace("s2.txt", "convert the base_uri to a UriInterface", "x");
    let lines = answer.refused("search-not-found").problems()[0]["lines"].clone();
    assert!(lines.as_array().unwrap().contains(&json!(2)), "{lines}");
    assert!(!lines.as_array().unwrap().contains(&json!(5)), "{lines}");
}

#[test]
fn lines_that_lost_their_indentation_are_answered_with_those_of_the_file() {
    let folder = Folder::with([("a.py", "class A:\n    def f(self):\n        return 1\n")]);
    let answer = serve(&folder).replace("a.py", "return 1", "return 1\n\n    def g(self):");
    let answer = answer.refused("indentation-mismatch");
    assert!(answer.text.contains("     3\t        return 1"), "{}", answer.text);
}
