//! Editing by symbol: a definition of the version that is named is replaced, deleted, or gets lines above or below it, and
//! every other line of the file stays.

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::serve;

fn call(path: &str, version: &str, symbol: &str, new_text: &str) -> Value {
    json!({"path": path, "version": version, "symbol": symbol, "new_text": new_text})
}

fn insertion(path: &str, version: &str, symbol: &str, insert: &str, new_text: &str) -> Value {
    let mut call = call(path, version, symbol, new_text);
    call["insert"] = insert.into();
    call
}

fn version(client: &mut Client, path: &str) -> String {
    client.read(path).ok().version()
}

const RUST: &str = "\
use x;

/// Doc.
#[inline]
fn a() {
    b();
}

// ---- methods ----
impl B {
    fn c() {} // c
    fn d() {}
}
";

const PYTHON: &str = "\
#!/usr/bin/python3
@cached
@other(
    1,
)
def a(x):
    return x

class B:
    # ---- methods ----
    # Of c.
    @property
    def c(self):
        pass
        # of c
    def d(self): pass
";

const TYPESCRIPT: &str = "\
import { x } from 'x';

/**
 * Adds.
 */
export const add = (a: number) => {
    return a + x;
};
@Component({})
export class A {
    b() { return 1; }
    static c = async () => {
    };
}
";

const JSON: &str = "{\n  \"a\": {\n    \"b\": [\n      1\n    ],\n    \"c\": 2\n  },\n  \"d\": 3\n}\n";

const TOML: &str = "[a]\nb = 1\n# of b\n\n# of c\n[c]\nd = [\n  1,\n]\n# ---- e ----\n[e]\nf = 1\n";

const MARKDOWN: &str = "# A\n\ntext\n\n## B\n\n```sh\n# no heading\n```\n\n## C\nlast\n";

/// A file, a symbol, and the lines that it has.
const CASES: &[(&str, &str, &str, (usize, usize))] = &[
    ("a.rs", RUST, "a", (3, 7)),
    ("a.rs", RUST, "B", (10, 13)),
    ("a.rs", RUST, "B::c", (11, 11)),
    ("a.rs", RUST, "B.d", (12, 12)),
    ("a.py", PYTHON, "a", (2, 7)),
    ("a.py", PYTHON, "B", (9, 16)),
    ("a.py", PYTHON, "B.c", (11, 15)),
    ("a.py", PYTHON, "method d", (16, 16)),
    ("a.ts", TYPESCRIPT, "add", (3, 8)),
    ("a.ts", TYPESCRIPT, "A", (9, 14)),
    ("a.ts", TYPESCRIPT, "A.b", (11, 11)),
    ("a.ts", TYPESCRIPT, "A.c", (12, 13)),
    ("a.json", JSON, "a", (2, 7)),
    ("a.json", JSON, "a.b", (3, 5)),
    ("a.json", JSON, "d", (8, 8)),
    ("a.toml", TOML, "a", (1, 3)),
    ("a.toml", TOML, "c", (5, 9)),
    ("a.toml", TOML, "c.d", (7, 9)),
    ("a.md", MARKDOWN, "A", (1, 12)),
    ("a.md", MARKDOWN, "A.B", (5, 9)),
    ("a.md", MARKDOWN, "heading C", (11, 12)),
];

/// What is left of a text with these lines in the place of so many from this one on.
fn spliced(text: &str, first: usize, count: usize, new: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (above, below) = (&lines[..first - 1], &lines[first - 1 + count..]);
    [&above.concat(), new, &below.concat()].concat()
}

#[test]
fn a_symbol_is_edited_by_exactly_its_lines() {
    let files = [("a.rs", RUST), ("a.py", PYTHON), ("a.ts", TYPESCRIPT), ("a.json", JSON), ("a.toml", TOML)];
    for ending in ["\n", "\r\n"] {
        let folder = Folder::with(files);
        for (name, text) in files.into_iter().chain([("a.md", MARKDOWN)]) {
            folder.write(name, text.replace('\n', ending));
        }
        let mut client = serve(&folder);
        for (name, text, symbol, (first, last)) in CASES {
            let before = text.replace('\n', ending);
            let version = version(&mut client, name);
            let mut check = |arguments: Value, (first, count): (usize, usize), new: &str| {
                let answer = client.call("replace_lines", arguments.clone()).ok();
                let expected = spliced(&before, first, count, &new.replace('\n', ending));
                assert_eq!(folder.text(name), expected, "{arguments}");
                client.call("undo_edit", json!({})).ok();
                assert_eq!(folder.text(name), before, "{arguments}");
                answer
            };
            let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
            let whole = (*first, last + 1 - first);
            let answer = check(call(name, &version, symbol, "new 1\n  new 2\n"), whole, "new 1\n  new 2\n");
            assert!(answer.text.contains(&format!(", {lines}")), "{lines}: {}", answer.text);
            check(insertion(name, &version, symbol, "before", "new 1\n\n"), (*first, 0), "new 1\n\n");
            check(insertion(name, &version, symbol, "after", "\nnew 1"), (last + 1, 0), "\nnew 1\n");
            // With the blank lines around it, for which there are tests of their own.
            client.call("replace_lines", call(name, &version, symbol, "")).ok();
            let lines = |text: &str| {
                text.split_inclusive('\n').filter(|line| !line.trim().is_empty()).collect::<String>()
            };
            assert_eq!(lines(&folder.text(name)), lines(&spliced(&before, whole.0, whole.1, "")));
            client.call("undo_edit", json!({})).ok();
        }
    }
}

#[test]
fn no_line_is_glued_to_a_symbol_at_the_end_of_the_file() {
    let text = "def a(): pass\n\ndef b(): pass";
    for (arguments, after) in [
        (json!({"new_text": ""}), "def a(): pass\n"),
        (json!({"new_text": "def c(): pass\n"}), "def a(): pass\n\ndef c(): pass"),
        (
            json!({"new_text": "def c(): pass\n", "insert": "after"}),
            "def a(): pass\n\ndef b(): pass\n\ndef c(): pass",
        ),
        (json!({"new_text": "x = 1", "insert": "before"}), "def a(): pass\n\nx = 1\n\ndef b(): pass"),
    ] {
        let folder = Folder::with([("a.py", text)]);
        let mut client = serve(&folder);
        let mut all = call("a.py", &version(&mut client, "a.py"), "b", "");
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        client.call("replace_lines", all).ok();
        assert_eq!(folder.text("a.py"), after, "{arguments}");
    }
}

#[test]
fn a_symbol_is_looked_for_in_the_version_that_is_named() {
    let folder = Folder::with([("a.py", "x = 1\n\ndef a():\n    return 1\n\ny = 2\n")]);
    let mut client = serve(&folder);
    let first = version(&mut client, "a.py");
    // By now there are two of the name, and the first of them is another one.
    client.replace("a.py", "x = 1\n", "x = 1\n\ndef a(): pass\n").ok();
    // Somebody else writes, too.
    let now = folder.text("a.py");
    folder.write("a.py", format!("import b\n{now}z = 3\n"));
    let answer = client.call("replace_lines", call("a.py", &first, "a", "def a():\n    return 2\n")).ok();
    let expected = "import b\nx = 1\n\ndef a(): pass\n\ndef a():\n    return 2\n\ny = 2\nz = 3\n";
    assert_eq!(folder.text("a.py"), expected);
    assert!(answer.text.contains("function a, lines 6-7"), "{}", answer.text);
    let ambiguous = call("a.py", &answer.version(), "a", "");
    client.call("replace_lines", ambiguous).refused("ambiguous-symbol");
    // What was made later is none of it.
    client.replace("a.py", "z = 3\n", "z = 3\ndef later(): pass\n").ok();
    client.call("replace_lines", call("a.py", &first, "later", "")).refused("symbol-not-found");
    let below = insertion("a.py", &first, "a", "after", "w = 4\n");
    let lost = client.call("replace_lines", below).refused("stale-file");
    assert!(lost.text.contains("beside function a"), "{}", lost.text);
}

#[test]
fn a_symbol_is_followed_through_edits_by_a_server_that_has_never_read_it() {
    let folder = Folder::with([("a.py", "def a(): pass\ndef b(): pass\ndef a2(): pass\n")]);
    let mut client = serve(&folder);
    let first = version(&mut client, "a.py");
    client.call("replace_lines", insertion("a.py", &first, "a", "before", "x = 1\n")).ok();
    client.call("replace_lines", insertion("a.py", &first, "b", "after", "y = 1\n")).ok();
    drop(client);
    let mut client = serve(&folder);
    client.call("replace_lines", call("a.py", &first, "b", "")).ok();
    client.call("replace_lines", call("a.py", &first, "a2", "")).ok();
    assert_eq!(folder.text("a.py"), "x = 1\ndef a(): pass\ny = 1\n");
    // What the first edit has deleted is not found again.
    let gone = client.call("replace_lines", call("a.py", &first, "b", "z")).refused("stale-file");
    assert!(gone.text.contains("(of function b)"), "{}", gone.text);
    let unknown = client.call("replace_lines", call("a.py", "0123456789ab", "a", "")).refused("stale-file");
    assert!(unknown.text.contains("Read the symbol again"), "{}", unknown.text);
}

#[test]
fn a_symbol_that_is_not_one_definition_for_certain_is_refused() {
    let files = [
        ("a.rs", "fn a() {} fn b() {}\nimpl C { fn d() {} }\nimpl E {\n    fn d() {}\n}\n"),
        ("b.rs", "fn a() {\n    b();\n    }\n    c();\n}\n\nfn d() {}\n"),
        ("c.txt", "fn a() {}\n"),
    ];
    let folder = Folder::with(files);
    let mut client = serve(&folder);
    let mut refused = |path: &str, symbol: &str, insert: Option<&str>, code: &str| -> Answer {
        let version = version(&mut client, path);
        let mut arguments = call(path, &version, symbol, "x\n");
        if let Some(side) = insert {
            arguments["insert"] = side.into();
        }
        let answer = client.call("replace_lines", arguments).refused(code);
        assert_eq!(answer.problems()[0]["path"], path);
        answer
    };
    let shared = refused("a.rs", "a", None, "uncertain-symbol");
    assert!(shared.text.contains("     1\tfn a() {} fn b() {}") && shared.text.contains("start_line"));
    let below = refused("a.rs", "a", Some("after"), "uncertain-symbol");
    let instead = "Give start_line 2 and end_line 1 (inserts before line 2) in place of symbol and insert";
    assert!(below.text.contains(instead), "{}", below.text);
    refused("a.rs", "b", Some("before"), "uncertain-symbol");
    let broken = refused("b.rs", "a", None, "uncertain-symbol");
    assert!(
        broken.text.contains("lines are 1-3") && broken.text.contains("     4\t    c();"),
        "{}",
        broken.text
    );
    refused("b.rs", "a", Some("after"), "uncertain-symbol");
    refused("b.rs", "d", Some("before"), "uncertain-symbol");
    let several = refused("a.rs", "d", None, "ambiguous-symbol");
    assert!(
        several.text.contains("2 function C.d") && several.text.contains("4 function E.d"),
        "{}",
        several.text
    );
    assert_eq!(several.problems()[0]["lines"], json!([2, 4]));
    let misspelt = refused("a.rs", "E.dd", Some("after"), "symbol-not-found");
    assert!(misspelt.text.contains("4 function E.d"), "{}", misspelt.text);
    let unknown = refused("c.txt", "a", Some("after"), "symbol-not-found");
    assert!(unknown.text.contains("insert_after of str_replace"), "{}", unknown.text);
    for (path, content) in files {
        assert_eq!(folder.text(path), content);
    }
    // On the side that is certain, lines can be inserted.
    for (path, symbol, insert) in [("a.rs", "a", "before"), ("a.rs", "b", "after"), ("b.rs", "a", "before")] {
        let version = version(&mut client, path);
        client.call("replace_lines", insertion(path, &version, symbol, insert, "// x\n")).ok();
    }
    assert!(folder.text("a.rs").starts_with("// x\nfn a() {} fn b() {}\n// x\nimpl"));
    assert!(folder.text("b.rs").starts_with("// x\nfn a() {\n"));
}

#[test]
fn an_element_of_a_list_is_searched_for() {
    let folder =
        Folder::with([("a.json", "{\n  \"all\": [\n    {\"name\": \"one\"}\n  ]\n}\n"), ("a.rs", RUST)]);
    let mut client = serve(&folder);
    let told = "\nThe elements of a list have no names: search_text finds their lines.";
    let refused = client.call("read_file", json!({"path": "a.json", "symbol": "all.one"}));
    assert!(refused.text.contains(told), "{}", refused.text);
    let refused = client.call("read_file", json!({"path": "a.rs", "symbol": "B.x"}));
    assert!(!refused.text.contains(told), "{}", refused.text);
}

#[test]
fn a_symbol_that_something_else_continues_is_refused() {
    let box_of_b = "x = 1\n\n#####\n# Does b.\n#####\ndef b(): pass\n";
    for (path, text, symbol, sides) in [
        ("a.js", "var app = exports = module.exports = {};\n", "app", &[""][..]),
        ("a.py", "a = b = []\n", "a", &[""]),
        ("a.sh", "case x in\ny)\na() {\n  :\n} ;;\nesac\n", "a", &["", "after"]),
        ("a.c", "struct S {\n  int a;\n}\n*f(void)\n{\n}\n", "S", &["", "before", "after"]),
        ("a.c", "struct S {\n  int a;\n}\ns = {1};\n", "S", &["", "before", "after"]),
        ("b.js", "x = {\n  a: function () {\n  }\n  , b: 1\n};\n", "a", &["", "after"]),
        ("a.json", "{\n\"a\": 1\n  ,\"b\": 2\n}\n", "a", &["", "after"]),
        ("b.py", "# Adds.\ndef a(): pass\n", "a", &["", "before"]),
        ("c.py", box_of_b, "b", &["", "before"]),
    ] {
        let folder = Folder::with([(path, text)]);
        let mut client = serve(&folder);
        let version = version(&mut client, path);
        for side in sides {
            let mut arguments = insertion(path, &version, symbol, side, "x\n");
            client.call("replace_lines", arguments.clone()).refused("uncertain-symbol");
            arguments["new_text"] = "".into();
            if side.is_empty() {
                client.call("replace_lines", arguments).refused("uncertain-symbol");
            }
        }
        assert_eq!(folder.text(path), text);
    }
    let adds = "/**\n * Adds.\n */\nfunction f() {}\n";
    let folder = Folder::with([("a.js", adds)]);
    let mut client = serve(&folder);
    let version = version(&mut client, "a.js");
    client.call("replace_lines", insertion("a.js", &version, "f", "before", "x();\n")).ok();
    assert_eq!(folder.text("a.js"), format!("x();\n{adds}"));
}

#[test]
fn lines_are_named_in_one_way() {
    let folder = Folder::with([("a.py", "x = 1\ndef a(): pass\n")]);
    let mut client = serve(&folder);
    let version = version(&mut client, "a.py");
    for wrong in [
        json!({}),
        json!({"start_line": 1}),
        json!({"end_line": 1}),
        json!({"start_line": 0, "end_line": 0}),
        json!({"symbol": "a", "start_line": 1}),
        json!({"symbol": "a", "end_line": 1}),
        json!({"symbol": "a", "insert": "beside"}),
        json!({"symbol": "a", "insert": "after", "new_text": ""}),
        json!({"start_line": 1, "end_line": 1, "insert": "after"}),
    ] {
        let mut arguments = json!({"path": "a.py", "version": version, "new_text": "y = 1\n"});
        arguments.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        client.call("replace_lines", arguments).refused("invalid-argument");
    }
    assert_eq!(folder.text("a.py"), "x = 1\ndef a(): pass\n");
    // A client that sends every argument sends empty ones beside those that it means.
    let every = json!({"path": "a.py", "version": version, "symbol": "a", "start_line": 0, "end_line": 0, "insert": "",
        "new_text": "y = 1\n"});
    client.call("replace_lines", every).ok();
    assert_eq!(folder.text("a.py"), "x = 1\ny = 1\n");
}

#[test]
fn a_preview_of_a_symbol_is_what_is_applied() {
    let folder = Folder::with([("a.rs", RUST)]);
    let mut client = serve(&folder);
    let arguments = call("a.rs", &version(&mut client, "a.rs"), "B.c", "    fn c() { x() }\n");
    let shown = client.preview("replace_lines", arguments).ok();
    assert_eq!(folder.text("a.rs"), RUST);
    assert!(shown.text.contains("function B.c, line 11"), "{}", shown.text);
    client.call("apply_preview", json!({"preview": shown.handle()})).ok();
    assert_eq!(folder.text("a.rs"), spliced(RUST, 11, 1, "    fn c() { x() }\n"));
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.rs"), RUST);
}

#[test]
fn edits_of_several_symbols_of_one_version_are_one_edit() {
    let folder = Folder::with([("a.rs", RUST), ("b.py", "def a(): pass\ndef b(): pass\n")]);
    let mut client = serve(&folder);
    let (a, b) = (version(&mut client, "a.rs"), version(&mut client, "b.py"));
    let edit = |mut arguments: Value| {
        arguments["tool"] = "replace_lines".into();
        arguments
    };
    let edits = json!({"edits": [
        edit(insertion("a.rs", &a, "a", "before", "fn first() {\n}\n\n")),
        edit(call("a.rs", &a, "B.d", "")),
        edit(call("a.rs", &a, "a", "fn a() {}\n")),
        {"tool": "move_file", "from": "b.py", "to": "c.py"},
        edit(call("c.py", &b, "b", "")),
        edit(insertion("c.py", &b, "a", "before", "x = 1\n")),
    ]});
    client.call("edit_files", edits.clone()).ok();
    let after = spliced(&spliced(RUST, 12, 1, ""), 3, 5, "fn first() {\n}\n\nfn a() {}\n");
    assert_eq!((folder.text("a.rs"), folder.text("c.py")), (after, "x = 1\ndef a(): pass\n".into()));
    assert!(client.call("edit_files", edits).ok().is_repeated());
    client.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a.rs"), folder.has("c.py")), (RUST.to_owned(), false));
    let edits = json!({"edits": [edit(call("a.rs", &a, "B.d", "")), edit(call("a.rs", &a, "none", ""))]});
    let answer = client.call("edit_files", edits).refused("symbol-not-found");
    assert_eq!(answer.problems()[0]["edit"], 2);
    assert_eq!(folder.text("a.rs"), RUST);
}

#[test]
fn an_edit_by_symbol_that_is_sent_again_is_made_once() {
    let text = "def a(): pass\n\nx = 1\n\ndef b(): pass\n\ny = 2\n\ndef c(): pass\n";
    let folder = Folder::with([("a.py", text)]);
    let mut client = serve(&folder);
    let first = version(&mut client, "a.py");
    let calls = [
        call("a.py", &first, "a", ""),
        insertion("a.py", &first, "b", "after", "def d(): pass\n"),
        call("a.py", &first, "c", "def e(): pass\n"),
    ];
    let after = "x = 1\n\ndef b(): pass\n\ndef d(): pass\n\ny = 2\n\ndef e(): pass\n";
    for call in &calls {
        client.call("replace_lines", call.clone()).ok();
        assert!(client.call("replace_lines", call.clone()).ok().is_repeated());
    }
    assert_eq!(folder.text("a.py"), after);
    drop(client);
    let mut client = serve(&folder);
    for call in calls {
        assert!(client.call("replace_lines", call).ok().is_repeated());
    }
    assert_eq!(folder.text("a.py"), after);
}

#[test]
fn what_may_not_be_read_has_no_symbols() {
    let secret = "def classified(): pass\ndef classified(): pass\n";
    let folder = Folder::with([("src/.env.py", secret)]);
    let mut client = serve(&folder);
    let known = emend_edit::Version::hash(secret.as_bytes()).short();
    let mut refused = |symbol: &str, version: &str| {
        client.call("replace_lines", call("src/.env.py", version, symbol, "")).refused("path-forbidden").text
    };
    let said = refused("classified", &known);
    assert_eq!(said, refused("none", &known));
    assert_eq!(said, refused("classified", "0123456789ab"));
    assert!(!said.contains("classified"), "{said}");
}
