//! `replace_lines` with `from`: lines that are copied or moved, and not sent.

#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::{launch, serve};

const A: &str = "fn a() {\n    x();\n}\n\nfn b() {\n    y();\n}\n";

fn version(client: &mut Client, path: &str) -> String {
    client.call("read_file", json!({"path": path})).ok().version()
}

/// Lines of a file in its current version.
fn from(client: &mut Client, path: &str, lines: (usize, usize), is_moved: bool) -> Value {
    let version = version(client, path);
    json!({"path": path, "version": version, "start_line": lines.0, "end_line": lines.1, "move": is_moved})
}

/// A call that puts these lines before a line of a file in its current version.
fn before(client: &mut Client, path: &str, line: usize, from: &Value) -> Value {
    let version = version(client, path);
    json!({"path": path, "version": version, "start_line": line, "end_line": line - 1, "from": from})
}

/// Moves or copies lines of `a` before a line of `b`: the answer.
fn take(folder: &Folder, lines: (usize, usize), line: usize, is_moved: bool) -> Answer {
    let mut client = serve(folder);
    let from = from(&mut client, "a", lines, is_moved);
    let call = before(&mut client, "b", line, &from);
    client.call("replace_lines", call)
}

#[test]
fn moved_lines_do_not_take_the_room_of_new_ones() {
    let block: String =
        (0..14).map(|line| format!("    a_line_that_only_moves({line}, \"elsewhere\");\n")).collect();
    let new: String = (0..12).map(|line| format!("    a_new_line({line});\n")).collect();
    let folder = Folder::with([("a", &*block), ("b", "1\n"), ("c", "2\n")]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (1, 14), true);
    let mut moved = before(&mut client, "b", 2, &from);
    moved["tool"] = "replace_lines".into();
    let insert = json!({"tool": "str_replace", "path": "c", "insert_after": new});
    let answer = client.call("edit_files", json!({"edits": [moved, insert]})).ok();
    assert_eq!(folder.text("b"), format!("1\n{block}"));
    assert!(answer.text.contains("\\ 12 moved lines\n"), "{}", answer.text);
    assert_eq!(answer.text.matches("+    a_new_line").count(), 12, "{}", answer.text);
    assert!(!answer.text.contains("not shown"), "{}", answer.text);
}

#[test]
fn lines_are_moved_to_another_file_and_one_undo_brings_them_back() {
    let files = [("a", A), ("b", "use x;\n")];
    let folder = Folder::with(files);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (5, 7), true);
    let call = before(&mut client, "b", 2, &from);
    let answer = client.call("replace_lines", call.clone()).ok();
    let after = ("fn a() {\n    x();\n}\n\n".to_owned(), "use x;\nfn b() {\n    y();\n}\n".to_owned());
    assert_eq!((folder.text("a"), folder.text("b")), after);
    // Where the lines are now they are shown, and where they were only told.
    assert!(answer.text.contains("lines 5-7 moved from a\n"), "{}", answer.text);
    assert!(answer.text.contains("+    y();") && !answer.text.contains("-    y();"), "{}", answer.text);
    assert!(answer.text.contains("\\ lines 5-7 moved to b\n"), "{}", answer.text);
    assert_eq!(answer.structured["changed_files"], json!(["b", "a"]));
    // Sent again it is made once, by another server too.
    let again = client.call("replace_lines", call).ok();
    assert!(again.is_repeated() && !again.text.contains("a second time"), "{}", again.text);
    assert_eq!((folder.text("a"), folder.text("b")), after);
    client.call("undo_edit", json!({})).ok();
    for (name, content) in files {
        assert_eq!(folder.text(name), content);
    }
}

#[test]
fn a_definition_is_moved_by_its_name_below_another_one() {
    let folder =
        Folder::with([("a.rs", "/// Says x.\nfn a() {}\nfn b() {}\n"), ("b.rs", "fn c() {}\n\nfn d() {}\n")]);
    let mut client = serve(&folder);
    let (a, b) = (version(&mut client, "a.rs"), version(&mut client, "b.rs"));
    let from = json!({"path": "a.rs", "version": a, "symbol": "a", "move": true});
    let call = json!({"path": "b.rs", "version": b, "symbol": "c", "insert": "after", "from": from});
    let answer = client.call("replace_lines", call).ok();
    assert_eq!(folder.text("a.rs"), "fn b() {}\n");
    assert_eq!(folder.text("b.rs"), "fn c() {}\n\n/// Says x.\nfn a() {}\n\nfn d() {}\n");
    assert!(answer.text.contains("lines 1-2 moved from a.rs (function a)\n"), "{}", answer.text);
    assert!(answer.text.contains("function c"), "{}", answer.text);
    let missing = json!({"path": "a.rs", "version": a, "symbol": "e"});
    let call = json!({"path": "b.rs", "version": b, "symbol": "c", "insert": "after", "from": missing});
    let answer = client.call("replace_lines", call).refused("symbol-not-found");
    assert!(answer.text.contains("'e' (from.symbol)"), "{}", answer.text);
}

#[test]
fn lines_are_copied_and_stay() {
    let folder = Folder::with([("a", A), ("b", "1\n2\n")]);
    let answer = take(&folder, (2, 2), 2, false).ok();
    assert_eq!((folder.text("a"), folder.text("b")), (A.to_owned(), "1\n    x();\n2\n".to_owned()));
    assert!(answer.text.contains("line 2 copied from a\n"), "{}", answer.text);
    assert_eq!(answer.structured["changed_files"], json!(["b"]));
}

#[test]
fn lines_are_moved_inside_a_file_under_any_spelling_of_it() {
    for path in ["a", "./a"] {
        let folder = Folder::with([("a", A)]);
        let mut client = serve(&folder);
        let mut from = from(&mut client, "a", (1, 4), true);
        from["path"] = path.into();
        let call = before(&mut client, "a", 8, &from);
        client.call("replace_lines", call).ok();
        assert_eq!(folder.text("a"), "fn b() {\n    y();\n}\nfn a() {\n    x();\n}\n\n");
        let mut back = self::from(&mut client, "a", (4, 7), true);
        back["path"] = path.into();
        let call = before(&mut client, "a", 1, &back);
        client.call("replace_lines", call).ok();
        assert_eq!(folder.text("a"), A);
    }
}

#[test]
fn lines_take_the_place_of_others_and_are_shifted_if_asked() {
    let folder = Folder::with([("a", A), ("b", "mod m {\n    old();\n}\n")]);
    let mut client = serve(&folder);
    let mut from = from(&mut client, "a", (5, 7), true);
    from["indent"] = 4.into();
    let version = version(&mut client, "b");
    let mut call = json!({"path": "b", "version": version, "start_line": 2, "end_line": 2, "from": from});
    client.call("replace_lines", call.clone()).ok();
    assert_eq!(folder.text("b"), "mod m {\n    fn b() {\n        y();\n    }\n}\n");
    call["from"]["indent"] = (-1).into();
    call["from"]["end_line"] = 6.into();
    client.call("undo_edit", json!({})).ok();
    let answer = client.call("replace_lines", call).refused("indentation-mismatch");
    assert!(
        answer.text.contains("Line 5 of a") && answer.text.contains("Leave indent out"),
        "{}",
        answer.text
    );
    assert_eq!(folder.text("a"), A);
}

#[test]
fn lines_are_moved_to_a_new_file_with_their_bytes() {
    let folder = Folder::new();
    folder.write("a", b"\xef\xbb\xbfone\r\ntwo\nthree");
    folder.write("b", "");
    #[cfg(unix)]
    fs::set_permissions(folder.at("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (2, 3), true);
    let answer = client.call("replace_lines", json!({"path": "new/c", "from": from})).ok();
    assert_eq!(folder.read("new/c"), b"\xef\xbb\xbftwo\nthree");
    assert_eq!(folder.read("a"), b"\xef\xbb\xbfone\r\n");
    assert!(answer.text.contains("A new/c ") && answer.text.contains("lines 2-3 moved from a"));
    let again = client.call("replace_lines", json!({"path": "new/c", "from": from})).ok();
    assert!(again.is_repeated() && !again.text.contains("a second time"), "{}", again.text);
    #[cfg(unix)]
    {
        let mode = |name: &str| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o111;
        assert_eq!((mode("a"), mode("new/c")), (0o111, 0));
    }
    // A file that is there has places, and which one is meant was not said.
    let from = self::from(&mut client, "a", (1, 1), true);
    let answer = client.call("replace_lines", json!({"path": "b", "from": from})).refused("already-exists");
    assert!(answer.text.contains("start_line and end_line"), "{}", answer.text);
    client.call("undo_edit", json!({})).ok();
    assert!(!folder.has("new/c"));
    assert_eq!(folder.read("a"), b"\xef\xbb\xbfone\r\ntwo\nthree");
}

/// The file from which a line is moved, that to whose start it goes, and what that holds then or the code of the refusal.
type Case<'a> = (Vec<u8>, Vec<u8>, Result<Vec<u8>, &'a str>);

#[test]
fn lines_get_the_encoding_and_the_endings_of_the_file_where_they_go() {
    let utf_16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let latin = b"Gr\xfc\xdfe aus M\xfcnchen, sch\xf6ne Gr\xfc\xdfe\r\n".to_vec();
    let cases: [Case<'_>; 7] = [
        ("x\r\ny\r\n".into(), "a\n".into(), Ok("x\na\n".into())),
        ("x\ny\n".into(), "a\r\n".into(), Ok("x\r\na\r\n".into())),
        (utf_16("\u{fc}\r\ny\r\n"), "a\n".into(), Ok("\u{fc}\na\n".into())),
        ("\u{fc}\ny\n".into(), utf_16("a\r\n"), Ok(utf_16("\u{fc}\r\na\r\n"))),
        ("\u{fc}\ny\n".into(), latin.clone(), Ok([b"\xfc\r\n", &latin[..]].concat())),
        ("\u{2192}\ny\n".into(), latin.clone(), Err("not-encodable")),
        ([&latin[..], b"y\r\n"].concat(), "a\n".into(), Err("not-text")),
    ];
    for (a, b, expected) in cases {
        let folder = Folder::new();
        folder.write("a", &a);
        folder.write("b", &b);
        let answer = take(&folder, (1, 1), 1, true);
        match expected {
            Ok(expected) => {
                answer.ok();
                assert_eq!(folder.read("b"), expected);
            }
            Err(code) => {
                answer.refused(code);
                assert_eq!((folder.read("a"), folder.read("b")), (a, b));
            }
        }
    }
}

#[test]
fn no_line_is_glued_to_a_last_line_of_either_file() {
    for (a, b, line, after) in [
        ("x\ny", "a\nb", 3, ("x\n", "a\nb\ny")),
        ("x\ny", "a\n", 1, ("x\n", "y\na\n")),
        ("y", "a", 2, ("", "a\ny")),
    ] {
        let folder = Folder::with([("a", a), ("b", b)]);
        let last = a.lines().count();
        take(&folder, (last, last), line, true).ok();
        assert_eq!((folder.text("a").as_str(), folder.text("b").as_str()), after);
    }
}

#[test]
fn older_versions_are_followed_in_both_files() {
    let folder = Folder::with([("a", "}\nx\n}\ny\n}\n"), ("b", "1\n2\n")]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (3, 4), true);
    let call = before(&mut client, "b", 2, &from);
    let (version_a, version_b) = (&from["version"], &call["version"]);
    client
        .call(
            "replace_lines",
            json!({"path": "a", "version": version_a, "start_line": 1, "end_line": 0, "new_text": "}\n"}),
        )
        .ok();
    client
        .call(
            "replace_lines",
            json!({"path": "b", "version": version_b, "start_line": 1, "end_line": 0, "new_text": "0\n"}),
        )
        .ok();
    // By another server, which has read neither.
    let answer = serve(&folder).call("replace_lines", call).ok();
    assert_eq!((folder.text("a"), folder.text("b")), ("}\n}\nx\n}\n".into(), "0\n1\n}\ny\n2\n".into()));
    let told = format!("lines 4-5 moved from a (lines 3-4 of version {})", version_a.as_str().unwrap());
    assert!(answer.text.contains(&told), "{}", answer.text);
    assert!(answer.text.contains("is before line 3 now"), "{}", answer.text);
}

#[test]
fn lines_that_changed_since_are_neither_copied_nor_moved() {
    for is_moved in [true, false] {
        let folder = Folder::with([("a", "x\ny\nz\n"), ("b", "1\n2\n")]);
        let mut client = serve(&folder);
        let from = from(&mut client, "a", (2, 2), is_moved);
        let call = before(&mut client, "b", 2, &from);
        folder.write("a", "x\nY\nz\n");
        let answer = client.call("replace_lines", call).refused("stale-file");
        assert!(
            answer.text.contains("Line 2 of version") && answer.text.contains(" of a "),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("from.version") && answer.text.contains("from.start_line"));
        assert_eq!((folder.text("a"), folder.text("b")), ("x\nY\nz\n".into(), "1\n2\n".into()));
    }
}

#[test]
fn lines_are_not_moved_into_themselves() {
    let folder = Folder::with([("a", A)]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (1, 3), true);
    let inside = before(&mut client, "a", 2, &from);
    let answer = client.call("replace_lines", inside).refused("overlapping-edits");
    assert!(answer.text.contains("Lines 1 to 3 of a are to be moved"), "{}", answer.text);
    let beside = before(&mut client, "a", 4, &from);
    client.call("replace_lines", beside).refused("no-op");
    assert_eq!(folder.text("a"), A);
}

#[test]
fn a_rule_that_forbids_reading_or_changing_a_file_holds_for_its_lines() {
    let folder = Folder::with([("secret/k", "key\n"), ("fixed/a", "one\ntwo\n"), ("b", "1\n")]);
    let arguments = ["--forbid=secret/", "--read-only=fixed/"];
    let mut client = launch(&folder).argument(arguments[0]).argument(arguments[1]).legacy();
    let secret = json!({"path": "secret/k", "version": "0123456789ab", "start_line": 1, "end_line": 1});
    let call = before(&mut client, "b", 1, &secret);
    let answer = client.call("replace_lines", call).refused("path-forbidden");
    assert!(!answer.text.contains("key"), "{}", answer.text);
    let mut fixed = from(&mut client, "fixed/a", (2, 2), true);
    let call = before(&mut client, "b", 1, &fixed);
    client.call("replace_lines", call).refused("read-only");
    assert_eq!((folder.text("fixed/a"), folder.text("b")), ("one\ntwo\n".into(), "1\n".into()));
    fixed["move"] = false.into();
    let call = before(&mut client, "b", 1, &fixed);
    client.call("replace_lines", call).ok();
    assert_eq!((folder.text("fixed/a"), folder.text("b")), ("one\ntwo\n".into(), "two\n1\n".into()));
    let into = before(
        &mut client,
        "fixed/a",
        1,
        &json!({"path": "b", "version": "0", "start_line": 1, "end_line": 1}),
    );
    client.call("replace_lines", into).refused("read-only");
}

#[test]
fn a_file_with_lines_that_nobody_has_seen_is_not_replaced() {
    let folder = Folder::with([("a", A), ("b", "1\n")]);
    let mut client = serve(&folder);
    let shown = client.call("read_file", json!({"path": "a", "limit": 1})).ok().version();
    let from = json!({"path": "a", "version": shown, "start_line": 5, "end_line": 7, "move": true});
    let call = before(&mut client, "b", 1, &from);
    client.call("replace_lines", call).ok();
    let write = json!({"path": "b", "content": "1\n"});
    client.call("write_file", write.clone()).refused("not-read");
    client.read("b");
    client.call("write_file", write).ok();
}

#[test]
fn both_sides_of_a_move_are_one_hunk_of_a_preview() {
    let folder = Folder::with([("a", A), ("b", "1\n2\n3\n")]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (5, 7), true);
    let mut moving = before(&mut client, "b", 1, &from);
    moving["tool"] = "replace_lines".into();
    let other = json!({"tool": "str_replace", "path": "a", "old_string": "x();", "new_string": "z();"});
    let third = json!({"tool": "str_replace", "path": "b", "old_string": "3", "new_string": "three"});
    let shown = client.preview("edit_files", json!({"edits": [other, moving, third]})).ok();
    assert!(shown.text.contains("-    y();") && shown.text.contains("+    y();"), "{}", shown.text);
    assert_eq!(folder.text("a"), A);
    client.call("apply_preview", json!({"preview": shown.handle(), "hunks": [2]})).ok();
    assert_eq!(folder.text("a"), "fn a() {\n    x();\n}\n\n");
    assert_eq!(folder.text("b"), "fn b() {\n    y();\n}\n1\n2\n3\n");
}

#[test]
fn lines_are_taken_as_earlier_edits_of_the_call_leave_them() {
    let folder = Folder::with([("a", A), ("b", "1\n")]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (5, 7), true);
    let above = json!({"tool": "str_replace", "path": "a", "edits": [{"insert_before": "// top"}]});
    let mut moving = before(&mut client, "b", 1, &from);
    moving["tool"] = "replace_lines".into();
    let after = json!({"tool": "str_replace", "path": "b", "old_string": "y();", "new_string": "z();"});
    let edits = json!({"edits": [above, moving, after]});
    client.call("edit_files", edits).ok();
    assert_eq!(folder.text("a"), "// top\nfn a() {\n    x();\n}\n\n");
    assert_eq!(folder.text("b"), "fn b() {\n    z();\n}\n1\n");
    // What an earlier edit has changed is not what was named.
    let from = self::from(&mut client, "a", (2, 4), false);
    let change = json!({"tool": "str_replace", "path": "a", "old_string": "x();", "new_string": "z();"});
    let mut copy = before(&mut client, "b", 1, &from);
    copy["tool"] = "replace_lines".into();
    let answer = client.call("edit_files", json!({"edits": [change, copy]})).refused("overlapping-edits");
    assert_eq!(answer.problems()[0]["edit"], 2);
}

#[test]
fn what_does_not_go_with_from_is_refused() {
    let folder = Folder::with([("a", A), ("b", "1\n")]);
    let mut client = serve(&folder);
    let from = from(&mut client, "a", (2, 2), false);
    let call = before(&mut client, "b", 1, &from);
    let with = |name: &str, value: Value| {
        let mut call = call.clone();
        match name.strip_prefix("from.") {
            Some(name) => call["from"][name] = value,
            None => call[name] = value,
        }
        call
    };
    for (call, argument) in [
        (with("new_text", "x".into()), "'new_text'"),
        (with("version", Value::Null), "'version'"),
        (with("from.version", Value::Null), "'from.version'"),
        (with("from.end_line", 1.into()), "'from.end_line'"),
        (with("from.start_line", 0.into()), "'from.start_line'"),
        (with("from.indent", 100.into()), "'from.indent'"),
        (with("from", Value::Null), "'new_text'"),
        // What names a place makes no new file.
        (json!({"path": "new", "insert": "after", "from": from}), "'version'"),
        (json!({"path": "new", "start_line": 0, "end_line": 5, "from": from}), "'version'"),
    ] {
        let answer = client.call("replace_lines", call).refused("invalid-argument");
        assert!(answer.text.contains(argument), "{argument}: {}", answer.text);
    }
    assert_eq!(folder.text("b"), "1\n");
    // A client that has to send every argument sends empty ones.
    client.call("replace_lines", with("new_text", "".into())).ok();
    let whole =
        json!({"path": "c", "version": "", "start_line": 0, "end_line": 0, "new_text": "", "from": from});
    client.call("replace_lines", whole).ok();
    assert_eq!((folder.text("b"), folder.text("c")), ("    x();\n1\n".into(), "    x();\n".into()));
}

#[test]
fn what_of_the_lines_to_take_is_not_certain_is_named_by_the_arguments_of_from() {
    let folder = Folder::with([("a.rs", "fn a() {} fn b() {}\n"), ("b", "1\n")]);
    let mut client = serve(&folder);
    let mut from = from(&mut client, "a.rs", (1, 9), false);
    let call = before(&mut client, "b", 1, &from);
    let answer = client.call("replace_lines", call.clone()).refused("invalid-argument");
    assert!(answer.text.contains("from.end_line") && !answer.text.contains("append"), "{}", answer.text);
    from = json!({"path": "a.rs", "version": from["version"], "symbol": "a"});
    let mut call = call;
    call["from"] = from;
    let answer = client.call("replace_lines", call).refused("uncertain-symbol");
    let instead = "Give from.start_line and from.end_line in place of from.symbol, with from.version: ";
    assert!(answer.text.contains(instead), "{}", answer.text);
}
