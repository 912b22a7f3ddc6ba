//! `search_text`: the matching lines, with the numbers and the text that `read_file` and `replace_lines` use.

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::{launch, serve};

/// The lines of an answer that are about a file, but for its version.
fn lines(answer: &Answer) -> Vec<&str> {
    let lines = answer.text.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.split(" · version ").next().unwrap()).collect()
}

fn search(folder: &Folder, arguments: Value) -> Answer {
    let before = folder.everything();
    let answer = serve(folder).call("search_text", arguments).ok();
    assert_eq!(answer.structured, Value::Null, "some clients would show the model only that");
    assert_eq!(folder.everything(), before, "a search leaves nothing behind");
    answer
}

#[track_caller]
fn check(folder: &Folder, arguments: Value, expected: &[&str]) {
    let answer = search(folder, arguments);
    assert_eq!(lines(&answer), expected, "{}", answer.text);
}

fn project() -> Folder {
    Folder::with([
        ("a.rs", "fn one() {\n    two(1);\n}\n\nfn two(n: u8) {}\n"),
        ("src/b.rs", "use two;\n"),
        ("src/deep/c.txt", "Two\n"),
        (".github/ci.yml", "two: 2\n"),
        (".gitignore", "out/\n"),
        ("out/d.rs", "two\n"),
        (".git/config", "two\n"),
        (".emend/x", "two\n"),
        ("e.bin", "two\0two\n"),
    ])
}

#[test]
fn a_search_as_a_model_sees_it() {
    let folder = project();
    let mut client = serve(&folder);
    let mut text = String::new();
    for arguments in [
        json!({"pattern": "two"}),
        json!({"pattern": "(?i)two", "glob": "*.{rs,txt}", "context": 1}),
        json!({"pattern": "three"}),
        json!({"pattern": "two("}),
    ] {
        text.push_str(&client.call("search_text", arguments).text);
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_search_keeps_to_its_path_and_glob() {
    let folder = project();
    check(&folder, json!({"pattern": "two", "path": "src"}), &["src/b.rs", "1: use two;"]);
    check(&folder, json!({"pattern": "two", "path": "src/b.rs"}), &["src/b.rs", "1: use two;"]);
    check(&folder, json!({"pattern": "two", "glob": "src/**"}), &["src/b.rs", "1: use two;"]);
    check(&folder, json!({"pattern": "two", "path": "out"}), &["out/d.rs", "1: two"]);
    check(&folder, json!({"pattern": "(?i)TWO", "glob": "*.txt"}), &["src/deep/c.txt", "1: Two"]);
    check(&folder, json!({"pattern": "^fn .*\\}$", "glob": "*.rs"}), &["a.rs", "5: fn two(n: u8) {}"]);
}

/// The numbers under which a text is found in a file of these bytes, and under which a reading shows it.
#[track_caller]
fn check_numbers(content: impl AsRef<[u8]>, needle: &str, expected: &[usize]) {
    let folder = Folder::new();
    folder.write("a.txt", content);
    let mut client = serve(&folder);
    let found = client.call("search_text", json!({"pattern": needle})).ok();
    let numbers = |line: &&str| line.split_once(':')?.0.parse().ok();
    let found: Vec<usize> = lines(&found).iter().filter_map(numbers).collect();
    let read = client.read("a.txt").text;
    let shown =
        read.split('\n').filter_map(|line| line.split_once('\t')).filter(|line| line.1.contains(needle));
    let read: Vec<usize> = shown.filter_map(|line| line.0.trim().parse().ok()).collect();
    assert_eq!((&found[..], &read[..]), (expected, expected));
}

#[test]
fn line_numbers_are_those_of_a_reading() {
    check_numbers("x\nx\nneedle\n", "needle", &[3]);
    check_numbers("x\r\nneedle\r\nx\r\nneedle", "needle", &[2, 4]);
    check_numbers("x\rneedle\rx\nneedle", "needle", &[1, 2]);
    check_numbers("x\u{c}\nx\u{b}needle\nx\u{2028}x\u{85}needle\n", "needle", &[2, 3]);
    check_numbers("\u{feff}needle\nx\n\n\nneedle\n", "needle", &[1, 5]);
    check_numbers("\n\r\n\n\rneedle\n", "needle", &[4]);
    let utf_16: Vec<u8> = "\u{feff}x\r\nnéedle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check_numbers(utf_16, "née", &[2]);
    let utf_16: Vec<u8> = "\u{feff}x\n\u{a0a}needle\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    check_numbers(utf_16, "needle", &[2]);
    check_numbers(b"caf\xe9 = 1\r\nth\xe9 = 2\nend", "thé", &[2]);
    check_numbers(b"# \x90\xdd\x92\xe8\x83t\x83@\x83C\x83\x8b\r\n\x96\xbc\x91O = \"\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83X\x83g\"\r\n", "日本語", &[2]);
    check_numbers(b"needle \xff in \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9\n", "été", &[1]);
}

#[test]
fn anchors_know_crlf_and_the_mark() {
    let folder = Folder::with([("a.txt", "\u{feff}one\r\ntwo\r\n")]);
    check(&folder, json!({"pattern": "^one$"}), &["a.txt", "1: one"]);
    check(&folder, json!({"pattern": "^two$"}), &["a.txt", "2: two"]);
}

#[test]
fn context_is_shown_once_and_gaps_are_marked() {
    let folder = Folder::with([("a.txt", "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n")]);
    check(
        &folder,
        json!({"pattern": "x", "context": 1}),
        &["a.txt", "1- 1", "2: 2 x", "3- 3", "4: 4 x", "5- 5", "--", "7- 7", "8: 8 x"],
    );
}

#[test]
fn too_much_context_is_cut_and_the_answer_says_so() {
    let around = "x\n".repeat(30);
    let folder = Folder::with([("a.txt", &format!("{around}y\n{around}"))]);
    let answer = search(&folder, json!({"pattern": "y", "context": 21}));
    assert_eq!(lines(&answer).len(), 43, "{}", answer.text);
    assert!(answer.text.ends_with("At most 20 lines of context are shown.\n"), "{}", answer.text);
    assert!(!search(&folder, json!({"pattern": "y", "context": 20})).text.contains("At most"));
}

#[test]
fn a_glob_that_takes_no_file_is_told() {
    let folder = project();
    let text = |arguments: Value| search(&folder, arguments).text;
    let none = text(json!({"pattern": "two", "glob": "*.java"}));
    assert!(none.starts_with("No file is taken by the glob *.java;"), "{none}");
    // A binary file is taken and not searched.
    let binary = text(json!({"pattern": "two", "glob": "*.bin"}));
    assert!(binary.starts_with("No match in 0 files searched."), "{binary}");
    assert!(text(json!({"pattern": "three"})).starts_with("No match in 5 files searched."));
}

#[test]
fn the_definition_around_a_match_is_named_once() {
    let code = "use x;\n\nstruct S;\n\nimpl S {\n    fn a() {\n        x();\n        x();\n    }\n\n    fn b() {\n        x();\n    }\n}\n\nstatic T: X = x;\n\nfn x() {\n    x()\n}\n";
    let data = "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"x\": 2\n}\n";
    let folder = Folder::with([("a.rs", code), ("b.json", data)]);
    let rust =
        ["a.rs", "1: use x;", "in S.a", "7:         x();", "8:         x();", "in S.b", "12:         x();"];
    let rest = ["16: static T: X = x;", "18: fn x() {", "19:     x()"];
    let json = ["b.json", "in a", "3:     \"x\": 1", "outside", "5:   \"x\": 2"];
    check(&folder, json!({"pattern": "x"}), &[&rust[..], &rest, &json].concat());
    let several = json!({"pattern": "x\\(\\);\n *\\}\n\n", "multiline": true, "path": "a.rs"});
    check(&folder, several, &["a.rs", "in S.a", "8:         x();", "9:     }", "10: "]);
}

#[test]
fn a_match_of_several_lines_is_shown_and_bounded() {
    let folder = Folder::with([("a.txt", &format!("one\r\ntwo\r\n{}end\r\n", "x\r\n".repeat(50)))]);
    let several = |pattern: &str| json!({"pattern": pattern, "multiline": true});
    check(&folder, several("one\\r?\\ntwo"), &["a.txt", "1: one", "2: two"]);
    check(&folder, several("^one$.^two$|^end$"), &["a.txt", "53: end"]);
    let long = search(&folder, several("two.*end"));
    assert!(long.text.starts_with("1 match in 1 of 1 file\n"), "{}", long.text);
    assert!(long.text.ends_with("\n21: x ... and 32 more lines\n"), "{}", long.text);
}

#[test]
fn files_can_be_listed_with_counts_only() {
    let folder = project();
    let counts = json!({"pattern": "(?i)two", "files_only": true});
    check(&folder, counts, &[".github/ci.yml: 1", "a.rs: 2", "src/b.rs: 1", "src/deep/c.txt: 1"]);
    (0..300).for_each(|i| folder.write(&format!("{i}.txt"), "seek\nseek\n"));
    let many = search(&folder, json!({"pattern": "seek", "files_only": true}));
    assert_eq!(many.text.matches(".txt: 2\n").count(), 250);
    assert!(many.text.contains("... and 100 more matches"), "{}", many.text);
}

#[test]
fn the_versions_of_a_search_are_those_of_line_addresses() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\n"), ("b.txt", "one\ntwo\n")]);
    let mut client = serve(&folder);
    let found = client.call("search_text", json!({"pattern": "two"})).ok();
    let versions: Vec<&str> =
        found.text.lines().filter_map(|line| Some(line.split_once(" · version ")?.1)).collect();
    let [a, b] = versions[..] else { panic!("{}", found.text) };
    let line = |path: &str, version: &str| {
        let new = "2";
        json!({"path": path, "version": version, "start_line": 2, "end_line": 2, "new_text": new})
    };
    client.call("replace_lines", line("b.txt", b)).ok();
    assert_eq!(folder.text("b.txt"), "one\n2\n");
    // Another program writes above the line, which is followed from what the search has shown.
    folder.write("a.txt", "zero\none\ntwo\nthree\n");
    client.call("replace_lines", line("a.txt", a)).ok();
    assert_eq!(folder.text("a.txt"), "zero\none\n2\nthree\n");
}

#[test]
fn what_is_too_much_is_counted() {
    let folder = Folder::new();
    folder.write("full.txt", "match\n".repeat(1_200));
    for i in 0..300 {
        folder.write(&format!("{i:03}.txt"), "a match\n");
    }
    let text = search(&folder, json!({"pattern": "match"})).text;
    assert!(text.starts_with("1,500 matching lines in 301 of 301 files\n"), "{text}");
    assert_eq!(text.matches("\n1: a match\n").count(), 250);
    assert!(text.contains("1,250 more matches"), "{text}");
    let text = search(&folder, json!({"pattern": "match", "path": "full.txt"})).text;
    assert!(text.contains("1,150 more in this file"), "{text}");
    folder.write("fuller.txt", "match\n".repeat(20_000));
    let text = search(&folder, json!({"pattern": "match", "glob": "full*"})).text;
    assert!(text.starts_with("10,000 matching lines") && text.contains("too low"), "{text}");
}

#[test]
fn of_a_long_line_the_part_around_the_match_is_shown() {
    let folder = Folder::with([("a.js", &format!("{}needle{}", "é".repeat(5_000), "x".repeat(5_000)))]);
    let text = search(&folder, json!({"pattern": "needle"})).text;
    assert!(text.contains("éneedlex") && text.contains("(15006 bytes)") && text.len() < 500, "{text}");
}

#[test]
fn a_large_file_is_searched_to_its_end_and_a_binary_one_not_at_all() {
    let folder = Folder::new();
    let mut content = "some line\n".repeat(100_000).into_bytes();
    content.extend_from_slice(b"needle\n");
    folder.write("a.txt", &content);
    for (name, at) in [("early.bin", 5), ("late.bin", 900_000)] {
        let mut binary = content.clone();
        binary[at] = 0;
        folder.write(name, binary);
    }
    check(&folder, json!({"pattern": "needle"}), &["a.txt", "100001: needle"]);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let folder = project();
    let mut client = serve(&folder);
    let mut check = |arguments: Value, code: &str| {
        client.call("search_text", arguments).refused(code);
    };
    for pattern in ["", "(", "a\nb", "a\\nb", "(?<=a)b", "(\\w{1000}){1000}", "\\"] {
        check(json!({"pattern": pattern}), "invalid-argument");
    }
    check(json!({"pattern": "a".repeat(5000)}), "invalid-argument");
    check(json!({"pattern": "a", "glob": "*a".repeat(40)}), "invalid-argument");
    check(json!({"pattern": "a", "glob": "{a"}), "invalid-argument");
    check(json!({"pattern": "a", "path": ".git"}), "path-forbidden");
    check(json!({"pattern": "a", "path": ".git/config"}), "path-forbidden");
    check(json!({"pattern": "a", "path": "../x"}), "path-outside-workspace");
    check(json!({"pattern": "a", "path": "none"}), "missing-original");
    check(json!({"pattern": "a", "case": true}), "unknown-argument");
    check(json!({"path": "src"}), "invalid-argument");
}

#[test]
fn names_and_empty_lines_count_towards_the_size_of_an_answer() {
    let folder = Folder::new();
    let deep = ["d"; 8].map(|name| name.repeat(200)).join("/");
    for i in 0..10 {
        folder.write(&format!("{deep}/{i}.txt"), format!("{}seek\n", "\n".repeat(20)).repeat(50));
    }
    let answer = search(&folder, json!({"pattern": "seek", "context": 20}));
    assert!(answer.text.starts_with("500 matching lines in 10 of 10 files"), "{}", &answer.text[..100]);
    assert!(answer.text.len() < 60_000, "{}", answer.text.len());
}

#[test]
fn a_search_is_no_reading() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.call("search_text", json!({"pattern": "one"})).ok();
    client.call("write_file", json!({"path": "a.txt", "content": "two\n"})).refused("not-read");
}

#[test]
fn all_roots_are_searched() {
    let (one, two) = (Folder::with([("a.txt", "x\n")]), Folder::with([("b.txt", "x\n")]));
    let mut client = launch(&one).workspace(format!("two={}", two.path().display())).legacy();
    let answer = client.call("search_text", json!({"pattern": "x"})).ok();
    assert_eq!(lines(&answer), ["two:b.txt", "1: x", "ws:a.txt", "1: x"]);
    let answer = client.call("search_text", json!({"pattern": "x", "path": "two:"})).ok();
    assert_eq!(lines(&answer), ["two:b.txt", "1: x"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_handles_are_left_open() {
    let folder = Folder::new();
    for i in 0..300 {
        folder.write(&format!("{i}/{i}/a.txt"), "x\n");
    }
    let mut client = serve(&folder);
    let handles = |client: &emend_testkit::Client| {
        std::fs::read_dir(format!("/proc/{}/fd", client.process())).unwrap().count()
    };
    client.call("list_files", json!({})).ok();
    let before = handles(&client);
    for _ in 0..3 {
        client.call("list_files", json!({})).ok();
        client.call("search_text", json!({"pattern": "x"})).ok();
    }
    assert_eq!(handles(&client), before);
}
