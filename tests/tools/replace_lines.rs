//! `replace_lines`: whole lines by their numbers, in the version that has those numbers.

use emend_testkit::{Answer, Client, Folder};
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
fn lines_of_another_version_that_changed_are_refused_with_the_current_one() {
    let folder = Folder::with([("a.txt", "a\nb\n")]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    folder.write("a.txt", "new\naa\nb\n");
    let call = json!({"path": "a.txt", "version": version, "start_line": 1, "end_line": 1, "new_text": "A"});
    let answer = client.call("replace_lines", call).refused("stale-file");
    let now = emend_edit::Version::hash(b"new\naa\nb\n").short();
    assert_eq!(answer.problems()[0]["current_version"], now);
    assert_eq!(folder.read("a.txt"), b"new\naa\nb\n");
    client
        .call("replace_lines", json!({"path": "a.txt", "start_line": 1, "end_line": 1, "new_text": "A"}))
        .refused("invalid-argument");
}

/// A client that has read `a.txt`, and the version that it has read.
fn reader(folder: &Folder) -> (Client, String) {
    let mut client = serve(folder);
    let version = client.call("read_file", json!({"path": "a.txt"})).ok().version();
    (client, version)
}

fn lines(version: &str, start_line: usize, end_line: usize, new_text: &str) -> Value {
    let (path, version) = ("a.txt", version.to_owned());
    json!({"path": path, "version": version, "start_line": start_line, "end_line": end_line, "new_text": new_text})
}

#[test]
fn lines_of_an_older_version_are_followed_through_edits() {
    // Doubled lines everywhere: only what each edit did tells them apart.
    let folder = Folder::with([("a.txt", "x\n}\nx\n}\nx\n}\n")]);
    let (mut client, version) = reader(&folder);
    client.call("replace_lines", lines(&version, 1, 0, "new\n")).ok();
    client.call("replace_lines", lines(&version, 4, 4, "} // second\n")).ok();
    client.call("replace_lines", lines(&version, 1, 1, "")).ok();
    let answer = client.call("replace_lines", lines(&version, 6, 6, "} // third\n")).ok();
    assert_eq!(folder.read("a.txt"), b"new\n}\nx\n} // second\nx\n} // third\n");
    let unmoved = client.call("replace_lines", lines(&version, 5, 5, "five\n")).ok();
    for answer in [answer, unmoved] {
        // The edits together leave both lines where they were.
        assert!(!answer.text.contains(" of version"), "{}", answer.text);
    }
}

#[test]
fn lines_are_followed_by_a_server_that_has_never_read_them() {
    let folder = Folder::with([("a.txt", "a\nb\nc\n")]);
    let (mut client, version) = reader(&folder);
    client.call("replace_lines", lines(&version, 1, 0, "0\n")).ok();
    drop(client);
    let answer = serve(&folder).call("replace_lines", lines(&version, 2, 3, "B\nC\n")).ok();
    assert_eq!(folder.read("a.txt"), b"0\na\nB\nC\n");
    let told = format!("lines 2-3 of version {version} are lines 3-4 now");
    assert!(answer.text.contains(&told), "{}", answer.text);
}

#[test]
fn lines_that_an_edit_changed_are_refused_with_what_took_their_place() {
    let folder = Folder::with([("a.txt", "a\nb\nc\nd\n")]);
    let (mut client, version) = reader(&folder);
    client.call("replace_lines", lines(&version, 1, 0, "0\n")).ok();
    let now = client.call("replace_lines", lines(&version, 2, 3, "B\nB2\nC\n")).ok().version();
    let answer = client.call("replace_lines", lines(&version, 2, 3, "x\n")).refused("stale-file");
    for told in [
        "Lines 2 to 3 of version",
        "     3\tB\n     4\tB2\n     5\tC\n",
        &format!("\"version\": \"{now}\", \"start_line\": 3, \"end_line\": 5."),
    ] {
        assert!(answer.text.contains(told), "{told}: {}", answer.text);
    }
    assert_eq!(answer.problems()[0]["current_version"], now);
    client.call("replace_lines", lines(&version, 3, 2, "x\n")).refused("stale-file");
    client.call("replace_lines", lines(&now, 3, 5, "x\n")).ok();
    assert_eq!(folder.read("a.txt"), b"0\na\nx\nd\n");
}

#[test]
fn lines_are_followed_past_the_change_of_another_program_where_they_stand_once() {
    let folder = Folder::with([("a.txt", "a\nb\nc\nd\nb\n")]);
    let (mut client, version) = reader(&folder);
    folder.write("a.txt", "new\na\nb\nc\nd\nb\n");
    let answer = client.call("replace_lines", lines(&version, 3, 3, "C\n")).ok();
    assert_eq!(folder.read("a.txt"), b"new\na\nb\nC\nd\nb\n");
    assert!(answer.text.contains(&format!("line 3 of version {version} is line 4 now")), "{}", answer.text);
    assert!(answer.text.contains("a.txt changed since you read it") && answer.text.contains("+new"));
    // The version that was read stays known, and what tells equal lines apart are their neighbours.
    client.call("replace_lines", lines(&version, 5, 5, "B\n")).ok();
    assert_eq!(folder.read("a.txt"), b"new\na\nb\nC\nd\nB\n");
    client.call("replace_lines", lines(&version, 4, 3, "between\n")).refused("stale-file");
}

#[test]
fn a_line_that_was_changed_is_not_taken_for_its_like_that_was_written_elsewhere() {
    let before = "fn a() {\n    x();\n    return result;\n}\n\nfn b() {\n    y();\n}\n";
    let after = "fn a() {\n    x();\n    Ok(result)\n}\n\nfn b() {\n    y();\n    return result;\n}\n";
    let folder = Folder::with([("a.rs", before)]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "a.rs"})).ok().version();
    folder.write("a.rs", after);
    let edit = |start: usize, end: usize| {
        let new = "    return a_result;\n";
        json!({"path": "a.rs", "version": version, "start_line": start, "end_line": end, "new_text": new})
    };
    for (start, end) in [(3, 3), (4, 3)] {
        client.call("replace_lines", edit(start, end)).refused("stale-file");
        assert_eq!(folder.text("a.rs"), after);
    }
    let whole = json!({"tool": "write_file", "path": "b.rs", "content": after});
    folder.write("b.rs", before);
    let version = client.call("read_file", json!({"path": "b.rs"})).ok().version();
    let line = json!({"tool": "replace_lines", "path": "b.rs", "version": version, "start_line": 3, "end_line": 3, "new_text": "x\n"});
    client.call("edit_files", json!({"edits": [whole, line]})).refused("overlapping-edits");
    assert_eq!(folder.text("b.rs"), before);
}

#[test]
fn the_line_numbers_of_one_file_are_not_those_of_another() {
    let folder = Folder::with([("en.txt", "a\nb\nc\n"), ("de.txt", "x\na\nb\nc\n")]);
    let mut client = serve(&folder);
    let version = client.call("read_file", json!({"path": "en.txt"})).ok().version();
    client.call("read_file", json!({"path": "de.txt"})).ok();
    let edit =
        json!({"path": "de.txt", "version": version, "start_line": 2, "end_line": 2, "new_text": "B\n"});
    client.call("replace_lines", edit).refused("stale-file");
    assert_eq!(folder.text("de.txt"), "x\na\nb\nc\n");
}

#[test]
fn lines_that_stand_twice_by_now_are_refused_with_their_places() {
    let folder = Folder::with([("a.txt", "a\nb\nc\n")]);
    let (mut client, version) = reader(&folder);
    folder.write("a.txt", "a\nb\nc\na\nb\nc\n");
    let answer = client.call("replace_lines", lines(&version, 2, 2, "B\n")).refused("stale-file");
    assert!(answer.text.contains("at lines 2 and 5"), "{}", answer.text);
    assert_eq!(answer.problems()[0]["lines"], json!([2, 5]));
    assert_eq!(folder.read("a.txt"), b"a\nb\nc\na\nb\nc\n");
}

#[test]
fn a_version_that_nobody_knows_is_refused_with_the_lines_as_they_are() {
    let folder = Folder::with([("a.txt", "a\nb\nc\n")]);
    let answer =
        serve(&folder).call("replace_lines", lines("0123456789ab", 2, 2, "B\n")).refused("stale-file");
    assert!(answer.text.contains("     2\tb"), "{}", answer.text);
    assert!(answer.text.contains("Find the lines that you mean"), "{}", answer.text);
}

#[test]
fn what_replaced_a_whole_file_is_compared_with_it() {
    let folder = Folder::with([("a.txt", "a\nb\nb\nc\n")]);
    let (mut client, version) = reader(&folder);
    client.call("write_file", json!({"path": "a.txt", "content": "b\na\nb\nc\n"})).ok();
    client.call("replace_lines", lines(&version, 2, 2, "B\n")).refused("stale-file");
    client.call("replace_lines", lines(&version, 4, 4, "C\n")).ok();
    assert_eq!(folder.read("a.txt"), b"b\na\nb\nC\n");
}

/// Numbers of one reading for a whole session, among lines that nearly all read the same: a model of the file that knows
/// each line says of each edit where it belongs, or that it must be refused.
#[test]
fn the_numbers_of_one_reading_are_good_for_a_whole_session() {
    let letters: Vec<String> = (0..40).map(|line| ["a", "b", "}"][line * 7 % 3].to_owned()).collect();
    let folder = Folder::with([("a.txt", &*(letters.join("\n") + "\n"))]);
    let (mut client, version) = reader(&folder);
    // Each line by its number in the reading, or none for a new one, with its text.
    let mut now: Vec<(Option<usize>, String)> =
        letters.into_iter().enumerate().map(|(line, text)| (Some(line + 1), text)).collect();
    let (mut made, mut seed) = (0, 12_345_usize);
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for call in 0..120 {
        let (first, count) = (random(40) + 1, random(3).min(1));
        // The same call would be a repeated one.
        let new = vec![format!("}} {call}"); count + 1 - random(2).min(count)];
        let at = now.iter().position(|(line, _)| *line == Some(first));
        let before = first.checked_sub(1).filter(|line| *line > 0);
        let place = match (at, count) {
            (Some(at), 0) if at.checked_sub(1).map(|at| now[at].0) == before.map(Some) => Some(at),
            (at, 1) => at,
            _ => None,
        };
        let call = lines(&version, first, first + count - 1, &(new.join("\n") + "\n"));
        let answer = client.call("replace_lines", call);
        match place {
            Some(at) => {
                answer.ok();
                now.splice(at..at + count, new.into_iter().map(|text| (None, text)));
                made += 1;
            }
            None => drop(answer.refused("stale-file")),
        }
        let expected: String = now.iter().map(|(_, text)| format!("{text}\n")).collect();
        assert_eq!(folder.text("a.txt"), expected, "line {first}, {count} of them");
    }
    assert!(made > 40, "{made}");
}
