//! `replace_in_files`: one replacement in many files, as one edit.

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::{launch, serve};

fn replace(client: &mut Client, arguments: Value) -> Answer {
    client.call("replace_in_files", arguments)
}

fn apply(client: &mut Client, handle: &str, hunks: Option<&[usize]>) -> Answer {
    let mut arguments = json!({"preview": handle});
    if let Some(hunks) = hunks {
        arguments["hunks"] = json!(hunks);
    }
    client.call("apply_preview", arguments)
}

/// Replaces in one file of these bytes.
#[track_caller]
fn check(before: impl AsRef<[u8]>, arguments: Value, after: impl AsRef<[u8]>) {
    let folder = Folder::new();
    folder.write("a.txt", before);
    replace(&mut serve(&folder), arguments).ok();
    let (is, expected) = (folder.read("a.txt"), after.as_ref());
    assert!(is == expected, "{:?}", String::from_utf8_lossy(&is));
}

fn regex(old: &str, new: &str) -> Value {
    json!({"old_string": old, "new_string": new, "regex": true})
}

fn text(old: &str, new: &str) -> Value {
    json!({"old_string": old, "new_string": new})
}

fn with(mut arguments: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_rename_in_many_files_is_one_call_and_one_undo() {
    let folder = Folder::new();
    let name = |at: usize| format!("d{}/f{at}.rs", at % 3);
    let content = |at: usize| format!("fn f{at}() {{\n    old_name({at});\n    old_name(old_names);\n}}\n");
    (0..14).for_each(|at| folder.write(&name(at), content(at)));
    folder.write("other.md", "old_name\n");
    let before = folder.tree();
    let mut client = serve(&folder);
    let arguments = with(
        text("old_name", "new_name"),
        &json!({"glob": "*.rs", "whole_words": true, "expected_count": 28, "expected_files": 14}),
    );
    let answer = replace(&mut client, arguments).ok();
    for at in 0..14 {
        assert_eq!(folder.text(&name(at)), content(at).replace("old_name(", "new_name("));
    }
    assert_eq!(folder.text("other.md"), "old_name\n");
    let files = answer.structured["files"].as_array().unwrap();
    assert!(files.len() == 14 && files.iter().all(|file| file["places"] == 2), "{}", answer.structured);
    let lines: Vec<&str> = answer.text.lines().take(2).collect();
    assert!(
        lines[0].ends_with(", 28 places in 14 files:") && lines[1].ends_with(", 2 places"),
        "{}",
        answer.text
    );
    // One place of the one change is shown, and the other files only with their numbers of places.
    assert_eq!(answer.text.matches("\n@@ ").count(), 1, "{}", answer.text);
    assert!(
        answer.text.contains("\nOne place is shown; 26 more in 13 files: d0/f12.rs 2, "),
        "{}",
        answer.text
    );
    assert!(answer.text.chars().count() <= 700, "{}", answer.text);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.tree(), before);
}

#[test]
fn one_place_of_each_distinct_change_is_shown() {
    let content = |at: usize| format!("import a{at}\n{}import a{at}\n", "\n".repeat(9));
    let folder = Folder::new();
    (0..40).for_each(|at| folder.write(&format!("{at:02}.py"), content(at % 20)));
    let answer = replace(&mut serve(&folder), regex("import (a[01])$", "import ${1}b")).ok();
    assert_eq!(answer.text.matches("\n@@ ").count(), 2, "{}", answer.text);
    let told = "One place is shown of each of the first of 2 distinct changes; 4 more in 2 files: 20.py 2, 21.py 2.\n";
    assert!(answer.text.ends_with(told), "{}", answer.text);
    assert_eq!(answer.structured["files"].as_array().unwrap().len(), 4);
    let answer = replace(&mut serve(&folder), regex("import (a\\d+)$", "import ${1}b")).ok();
    assert!(
        answer.text.matches("\n@@ ").count() <= 8 && answer.text.chars().count() < 1_800,
        "{}",
        answer.text
    );
    assert!(answer.text.contains("of the first of 18 distinct changes"), "{}", answer.text);
}

#[test]
fn a_text_is_taken_as_it_is_and_an_expression_has_groups() {
    check("a.b axb $1\n", text("a.b", "$1$$"), "$1$$ axb $1\n");
    check("f(1, 2) f(3, 4)\n", regex(r"f\((\w+), (\w+)\)", "g($2, ${1}0) $$1"), "g(2, 10) $1 g(4, 30) $1\n");
    check("key = 1\nkey2 = 2\n", regex(r"^(?<name>\w+) = (\d)$", "$name: $2"), "key: 1\nkey2: 2\n");
    check("cat concat Cat\n", with(text("cat", "dog"), &json!({"whole_words": true})), "dog concat Cat\n");
    check("cat CAT\n", with(text("cat", "dog"), &json!({"ignore_case": true})), "dog dog\n");
    check(
        "cat\ncat\n",
        with(regex("CAT", "dog"), &json!({"ignore_case": true, "expected_count": 2})),
        "dog\ndog\n",
    );
    check("a, b, \n", text(", ", ""), "ab\n");
}

#[test]
fn the_bytes_around_a_place_stay() {
    check("a\r\nb\nc x\r\nx", regex("x$", "y"), "a\r\nb\nc y\r\ny");
    check("one\r\ntwo\r\nthree\r\n", text("one\ntwo", "1\n2\n3"), "1\r\n2\r\n3\r\nthree\r\n");
    check("x\nlast x", text("x", "yy"), "yy\nlast yy");
    check("\u{feff}x = 1\n", regex("^x", "y"), "\u{feff}y = 1\n");
    check(utf_16("x\r\nné x\r\n"), text("né", "été"), utf_16("x\r\nété x\r\n"));
    check(b"caf\xe9 x\r\nth\xe9\n", text("x", "\u{e9}"), b"caf\xe9 \xe9\r\nth\xe9\n");
    check(
        b"x \xff in \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9\n",
        regex("(?-u:x) ", "y "),
        b"y \xff in \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9\n",
    );
}

#[test]
fn what_a_search_shows_is_what_is_replaced() {
    let lines = "a\tb\r\nab\r\n a b\nend a\u{2028}b\na.b";
    let folder = Folder::with([("a.txt", lines)]);
    let mut client = serve(&folder);
    for pattern in [r"a\sb", "a.b", r"a[^x]b", r"^\s*a", r"b$", r"\ba\b"] {
        let found = client.call("search_text", json!({"pattern": pattern})).ok();
        let found = found.text.split_whitespace().next().unwrap().to_owned();
        let refused = replace(&mut client, with(regex(pattern, "!"), &json!({"expected_count": 1_000})));
        let refused = refused.refused("ambiguous-match");
        assert!(refused.text.starts_with(&format!("There are {found} place")), "{pattern}: {}", refused.text);
    }
}

#[test]
fn ignored_and_binary_files_are_left_out_and_counted_and_forbidden_ones_are_not() {
    let folder = Folder::with([
        ("a.txt", "x\n"),
        (".gitignore", "out/\n*.log\n"),
        ("out/b.txt", "x\n"),
        ("c.log", "x\n"),
        ("d.bin", "x\0x\n"),
        (".env", "x\n"),
        (".git/config", "x\n"),
    ]);
    let mut client = serve(&folder);
    let answer = replace(&mut client, text("x", "y")).ok();
    assert_eq!(answer.structured["changed_files"], json!(["a.txt"]));
    let left_out = "Skipped: 1 ignored file, 1 ignored folder, 1 binary file";
    assert_eq!(answer.structured["notes"], json!([left_out]));
    assert!(answer.text.contains(left_out), "{}", answer.text);
    for (name, content) in [("out/b.txt", "x\n"), ("c.log", "x\n"), ("d.bin", "x\0x\n"), (".env", "x\n")] {
        assert_eq!(folder.text(name), content);
    }
    let answer = replace(&mut client, text("xx", "y")).refused("search-not-found");
    assert!(answer.text.contains("in the 2 files searched"), "{}", answer.text);
    assert!(answer.text.contains(left_out), "{}", answer.text);
    // Naming the folder means its files.
    let answer = replace(&mut client, with(text("x", "z"), &json!({"path": "out"}))).ok();
    assert_eq!(answer.structured["changed_files"], json!(["out/b.txt"]));
    replace(&mut client, with(text("x", "z"), &json!({"path": ".env"}))).refused("path-forbidden");
    let none =
        replace(&mut client, with(text("x", "z"), &json!({"glob": "*.rs"}))).refused("search-not-found");
    assert!(none.text.starts_with("No file was searched"), "{}", none.text);
}

#[test]
fn a_count_that_is_not_as_expected_numbers_the_places_and_some_are_taken_by_number() {
    let folder = Folder::with([("a.txt", "x 1\nx x\n"), ("b.txt", "x\n"), ("c.txt", "y\n")]);
    let before = folder.tree();
    let mut client = serve(&folder);
    for expected in [
        json!({"expected_count": 3}),
        json!({"expected_files": 3}),
        json!({"expected_count": 4, "expected_files": 1}),
    ] {
        let answer = replace(&mut client, with(text("x", "z"), &expected)).refused("ambiguous-match");
        assert!(answer.text.starts_with("There are 4 places in 2 files, and expected_"), "{}", answer.text);
        let shown = "\na.txt: 3 (numbers 1-3)\nb.txt: 1 (number 4)\n\n1. a.txt:1: x 1\n2. a.txt:2: x x\n3. a.txt:2: x x\n4. b.txt:1: x\n";
        assert!(answer.text.contains(shown), "{}", answer.text);
        assert!(answer.text.contains(&answer.handle()), "{}", answer.text);
        assert_eq!(folder.tree(), before);
    }
    let refused =
        replace(&mut client, with(text("x", "z"), &json!({"expected_count": 5}))).refused("ambiguous-match");
    apply(&mut client, &refused.handle(), Some(&[5])).refused("invalid-argument");
    let done = apply(&mut client, &refused.handle(), Some(&[1, 3, 4])).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("z 1\nx z\n".into(), "z\n".into()));
    client.call("undo_edit", json!({"edit": done.structured["edit"]})).ok();
    assert_eq!(folder.tree(), before);
    let refused =
        replace(&mut client, with(text("x", "z"), &json!({"expected_count": 6}))).refused("ambiguous-match");
    apply(&mut client, &refused.handle(), None).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("z 1\nz z\n".into(), "z\n".into()));
}

#[test]
fn the_places_of_a_refusal_are_not_taken_in_a_file_that_has_changed() {
    let folder = Folder::with([("a.txt", "x\n"), ("b.txt", "x\n")]);
    let mut client = serve(&folder);
    let refused =
        replace(&mut client, with(text("x", "z"), &json!({"expected_count": 1}))).refused("ambiguous-match");
    folder.write("b.txt", "new\nx\n");
    apply(&mut client, &refused.handle(), None).refused("stale-preview");
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("x\n".into(), "new\nx\n".into()));
}

#[test]
fn many_places_or_files_are_only_changed_by_a_call_that_says_how_many() {
    let folder = Folder::with([("a.txt", &"x\n".repeat(1_001))]);
    let mut client = serve(&folder);
    let refused = replace(&mut client, text("x", "y")).refused("work-limit");
    assert!(refused.text.starts_with("There are 1001 places in 1 file."), "{}", refused.text);
    assert!(refused.text.chars().count() <= 8_000);
    replace(&mut client, with(text("x", "y"), &json!({"expected_count": 1_001}))).ok();
    assert_eq!(folder.text("a.txt"), "y\n".repeat(1_001));
    (0..101).for_each(|at| folder.write(&format!("f/{at}.txt"), "z\n"));
    let refused = replace(&mut client, text("z", "Z")).refused("work-limit");
    assert!(refused.text.starts_with("There are 101 places in 101 files."), "{}", refused.text);
    apply(&mut client, &refused.handle(), None).ok();
    replace(&mut client, with(text("Z", "z"), &json!({"expected_files": 101}))).ok();
    assert!((0..101).all(|at| folder.text(&format!("f/{at}.txt")) == "z\n"));
    // What is still too much is refused whatever the call says.
    folder.write("a.txt", "y\n".repeat(20_001));
    replace(&mut client, with(text("y", "x"), &json!({"expected_count": 20_001})))
        .refused("invalid-argument");
}

#[test]
fn a_replacement_that_is_sent_again_is_made_once() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    // The second time, the text is found again in the new one, or not at all, or the count is another.
    let more = |arguments, count: usize| with(arguments, &json!({"expected_count": count}));
    for (arguments, after) in [
        (text("a", "ab"), "ab\n"),
        (text("ab", "c"), "c\n"),
        (more(with(text("c", "cc"), &json!({"path": "a.txt"})), 1), "cc\n"),
    ] {
        let first = replace(&mut client, arguments.clone()).ok();
        assert_eq!(folder.text("a.txt"), after);
        let again = replace(&mut client, arguments).ok();
        assert!(again.is_repeated(), "{}", again.text);
        assert_eq!(again.structured["edit"], first.structured["edit"]);
        assert!(again.text.contains("preview it with edit_preview and apply that"), "{}", again.text);
        assert_eq!(folder.text("a.txt"), after);
    }
    // Who means it a second time can say so.
    let meant = client.preview("replace_in_files", text("ab", "c"));
    meant.refused("search-not-found");
    let meant =
        client.preview("replace_in_files", more(with(text("c", "cc"), &json!({"path": "a.txt"})), 2)).ok();
    apply(&mut client, &meant.handle(), None).ok();
    assert_eq!(folder.text("a.txt"), "cccc\n");
}

#[test]
fn a_replacement_that_cannot_be_meant_is_refused() {
    let folder = Folder::with([("a.txt", "ab aaa\n")]);
    let mut client = serve(&folder);
    for (arguments, code) in [
        (text("", "x"), "invalid-argument"),
        (text("a", "a"), "no-op"),
        (regex("x*", "y"), "invalid-argument"),
        (regex("(", "y"), "invalid-argument"),
        (regex("(a)", "$2"), "invalid-argument"),
        (regex("(a)", "$1b"), "invalid-argument"),
        (regex(r"a\nb", "x"), "invalid-argument"),
        (text("aa", "b"), "invalid-argument"),
        (with(text("a", "b"), &json!({"glob": "{"})), "invalid-argument"),
        (with(text("a", "b"), &json!({"path": "nowhere"})), "missing-original"),
        (with(text("a", "b"), &json!({"path": ".."})), "path-outside-workspace"),
        (with(text("a", "b"), &json!({"replace_all": true})), "unknown-argument"),
        (json!({"old_string": "a"}), "invalid-argument"),
        (text("a", "a\0"), "not-text"),
    ] {
        let answer = replace(&mut client, arguments.clone());
        assert_eq!(answer.code(), Some(code), "{arguments}: {}", answer.text);
        assert_eq!(folder.text("a.txt"), "ab aaa\n");
    }
    let empty = replace(&mut client, regex("x*", "y"));
    assert!(empty.text.contains("(a.txt, line 1)"), "{}", empty.text);
}

#[test]
fn all_files_or_none_are_changed_where_a_rule_protects_one() {
    let folder =
        Folder::with([("a.txt", "x\n"), ("b.md", "x\n"), (".emend.toml", "read_only = [\"*.md\"]\n")]);
    let mut client = serve(&folder);
    replace(&mut client, text("x", "y")).refused("read-only");
    assert_eq!(folder.text("a.txt"), "x\n");
    replace(&mut client, with(text("x", "y"), &json!({"glob": "!*.md"}))).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.md")), ("y\n".into(), "x\n".into()));
    let folder = Folder::with([("a.txt", "x\n"), (".vscode/tasks.json", "x\n")]);
    let refused = replace(&mut serve(&folder), text("x", "y"));
    assert_eq!(refused.code(), Some("approval-needed"), "{}", refused.text);
    assert_eq!((folder.text("a.txt"), folder.text(".vscode/tasks.json")), ("x\n".into(), "x\n".into()));
}

#[test]
fn it_counts_as_a_reading_of_what_is_there_now() {
    let folder = Folder::with([("a.txt", "x\n"), ("b.txt", "x\n")]);
    let mut client = launch(&folder).argument("--require-read=always").legacy();
    client.read("a.txt");
    folder.write("a.txt", "x\nchanged x\n");
    replace(&mut client, text("x", "y")).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("y\nchanged y\n".into(), "y\n".into()));
}

#[test]
fn it_is_previewed_as_any_other_edit() {
    let folder = Folder::with([("a.txt", "x\n"), ("b.txt", "x\n")]);
    let mut client = serve(&folder);
    let shown = client.preview("replace_in_files", text("x", "y")).ok();
    assert_eq!(folder.text("a.txt"), "x\n");
    apply(&mut client, &shown.handle(), Some(&[2])).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("x\n".into(), "y\n".into()));
    let refused = client.preview("replace_in_files", with(text("x", "z"), &json!({"expected_count": 2})));
    apply(&mut client, &refused.refused("ambiguous-match").handle(), None).ok();
    assert_eq!(folder.text("a.txt"), "z\n");
    let mut client = launch(&folder).argument("--mode=preview").legacy();
    let refused = replace(&mut client, with(text("z", "x"), &json!({"expected_count": 2})));
    let refused = refused.refused("ambiguous-match");
    assert!(
        refused.structured.get("preview").is_none() && !refused.text.contains("apply_preview"),
        "{}",
        refused.text
    );
}

#[test]
fn one_call_changes_files_of_one_root() {
    let folder = Folder::with([("one/a.txt", "x\n"), ("two/a.txt", "x\n")]);
    let launch =
        emend_testkit::Launch::new(crate::EMEND).workspace(folder.at("one")).workspace(folder.at("two"));
    let mut client = launch.state(folder.state()).legacy();
    replace(&mut client, text("x", "y")).refused("several-roots");
    replace(&mut client, with(text("x", "y"), &json!({"path": "one:a.txt"}))).ok();
    assert_eq!((folder.text("one/a.txt"), folder.text("two/a.txt")), ("y\n".into(), "x\n".into()));
}

#[test]
fn a_header_for_many_files_is_one_call_of_another_tool() {
    let folder = Folder::with([("a.py", "import a\n"), ("b.py", "")]);
    let mut client = serve(&folder);
    let answer = replace(&mut client, regex("\\Aimport", "# x\nimport")).refused("invalid-argument");
    assert!(answer.text.contains("edit_files") && answer.text.contains("insert_before"), "{}", answer.text);
    let edit = |path: &str| json!({"tool": "str_replace", "path": path, "insert_before": "# x"});
    client.call("edit_files", json!({"edits": [edit("a.py"), edit("b.py")]})).ok();
    assert_eq!((folder.text("a.py"), folder.text("b.py")), ("# x\nimport a\n".into(), "# x\n".into()));
}

#[test]
fn each_line_is_matched_as_if_there_were_no_other() {
    for expression in ["foo\\z|bar", "(?-m)foo$|bar"] {
        let folder = Folder::with([("a.txt", "foo\nbar foo\nbar foo\n")]);
        replace(&mut serve(&folder), regex(expression, "Q")).ok();
        assert_eq!(folder.text("a.txt"), "Q\nQ Q\nQ Q\n", "{expression}");
    }
}

fn code(old: &str, new: &str) -> Value {
    json!({"old_string": old, "new_string": new, "ast": true})
}

#[test]
fn a_pattern_of_code_is_replaced_in_each_language_that_it_is_in() {
    let folder = Folder::new();
    folder.write(
        "a.js",
        "// console.log(1)\r\nconsole.log('console.log(2)',\r\n  f(x));\r\nconsole.log(a /* b */);\r\n",
    );
    folder.write("b.ts", "\u{feff}const x: string = `${console.log(f(1), [2])}`;\n");
    folder.write("c.py", "console.log(1, 2)\n");
    folder.write("notes.md", "console.log(1, 2)\n");
    folder.write("broken.js", "console.log(1, 2); }\n");
    let before = folder.tree();
    let mut client = serve(&folder);
    let asked = with(code("console.log($A, $B)", "log($B, $A)"), &json!({"expected_count": 3}));
    let answer = replace(&mut client, asked).ok();
    assert_eq!(
        folder.text("a.js"),
        "// console.log(1)\r\nlog(f(x), 'console.log(2)');\r\nconsole.log(a /* b */);\r\n"
    );
    assert_eq!(folder.text("b.ts"), "\u{feff}const x: string = `${log([2], f(1))}`;\n");
    assert_eq!(folder.text("c.py"), "log(2, 1)\n");
    assert_eq!(folder.text("broken.js"), "console.log(1, 2); }\n");
    assert!(
        answer.text.contains("1 file in another language, 1 file that cannot be parsed"),
        "{}",
        answer.text
    );
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.tree(), before);
}

#[test]
fn places_of_code_are_numbered_and_what_is_more_than_the_pattern_is_told() {
    let folder = Folder::with([("a.js", "f(1);\nf(f(2));\nf(3 /* three */);\nf(4,);\n")]);
    let mut client = serve(&folder);
    let refused = replace(&mut client, with(code("f($A)", "g($A)"), &json!({"expected_count": 1})));
    let refused = refused.refused("ambiguous-match");
    assert!(refused.text.contains("2 places in 1 file"), "{}", refused.text);
    let preview = refused.structured["preview"].as_str().unwrap().to_owned();
    apply(&mut client, &preview, Some(&[2])).ok();
    assert_eq!(folder.text("a.js"), "f(1);\ng(g(2));\nf(3 /* three */);\nf(4,);\n");
    let done = replace(&mut client, code("f($A)", "g($A)")).ok();
    assert_eq!(folder.text("a.js"), "g(1);\ng(g(2));\nf(3 /* three */);\nf(4,);\n");
    assert!(done.text.contains("2 places that have more in them than the pattern"), "{}", done.text);
}

#[test]
fn a_pattern_of_code_that_cannot_be_meant_is_refused() {
    let folder = Folder::with([("a.js", "f(1);\ny = -f(2);\n"), ("b.py", "x = f(1)\n")]);
    let before = folder.tree();
    let mut client = serve(&folder);
    let mut check = |asked: Value, said: &str| {
        let refused = replace(&mut client, asked).refused("invalid-argument");
        assert!(refused.text.contains(said), "{}", refused.text);
    };
    check(code("f($A", "g($A)"), "no whole piece of JavaScript");
    check(code("f($A)", "g($B)"), "old_string has no $B");
    check(code("f($A)", "g($A"), "would not be valid JavaScript any more");
    check(with(code("f($A)", "g($A)"), &json!({"regex": true})), "this is code");
    check(code("$A", "$A.b"), "every piece of code");
    check(code("f($A)", "$A + 1"), "the code around the place in line 2 would mean something else");
    replace(&mut client, code("h($A)", "g($A)")).refused("search-not-found");
    assert_eq!(folder.tree(), before);
}

#[test]
fn code_of_several_lines_is_indented_as_its_place_is() {
    let folder = Folder::with([("a.py", "def f():\r\n    assert a == 1, \"m\"\r\n    return a\r\n")]);
    let new = "if $A != $B:\n    raise AssertionError($M)";
    replace(&mut serve(&folder), code("assert $A == $B, $M", new)).ok();
    assert_eq!(
        folder.text("a.py"),
        "def f():\r\n    if a != 1:\r\n        raise AssertionError(\"m\")\r\n    return a\r\n"
    );
}

#[test]
fn a_group_in_the_words_of_other_tools_is_refused() {
    let folder = Folder::with([("a.py", "log.warning(x)\n")]);
    let mut client = serve(&folder);
    let refused = replace(&mut client, regex("log\\.warning\\((.*)\\)", "log.info(\\1)"));
    assert!(refused.refused("invalid-argument").text.contains("a group is $1 here"));
    assert_eq!(folder.text("a.py"), "log.warning(x)\n");
    replace(&mut client, regex("log\\.warning\\((?:.*)\\)", "\\1")).ok();
    assert_eq!(folder.text("a.py"), "\\1\n");
}

#[test]
fn code_that_is_nested_deeply_or_grows_with_each_level_ends_nothing() {
    let nested = |depth: usize| format!("{}1{};\n", "f(".repeat(depth), ")".repeat(depth));
    let folder = Folder::with([("a.js", &*nested(64)), ("deep.js", &nested(5_000))]);
    let before = folder.tree();
    let mut client = serve(&folder);
    let refused = replace(&mut client, code("f($A)", "g($A, $A)")).refused("invalid-argument");
    assert!(refused.text.contains("too large to be checked"), "{}", refused.text);
    assert_eq!(folder.tree(), before);
    let done = replace(&mut client, code("f($A)", "g($A)")).ok();
    assert!(done.text.contains("1 file that cannot be parsed"), "{}", done.text);
    assert_eq!(folder.text("a.js"), nested(64).replace('f', "g"));
}
