//! The blank lines around a definition that is deleted, moved or gets a neighbour: they come and go with it.

use emend_testkit::{Client, Folder};
use serde_json::{Value, json};

use crate::serve;

const PYTHON: &str = "\
import x


def a():
    return 1


class B:
    def c(self):
        pass

    def d(self):
        pass

    # ---- e ----
    def e(self):
        pass


def f():
    pass
";

const TYPESCRIPT: &str = "\
import { x } from 'x';

export function a() {
    return 1;
}

export class B {
    c() {
    }

    d() {
    }
}
";

const RUST: &str = "\
use x;

const A: u8 = 1;
const B: u8 = 2;

/// C.
fn c() {
}

impl D {
    fn e() {
    }

    fn f() {
    }
}
";

const MARKDOWN: &str = "# A\n\ntext\n\n## B\n\ntext\n\n## C\n\nlast\n";

const TOML: &str = "[a]\nb = 1\n\nc = 2\n\n[d]\ne = 1\n";

const JSON: &str = "{\n  \"a\": 1,\n\n  \"b\": 2,\n\n  \"c\": 3\n}\n";

fn version(client: &mut Client, path: &str) -> String {
    client.read(path).ok().version()
}

/// Makes one edit by symbol of a file with this content: what it has afterwards. The same edit of the same content with
/// other line endings differs in these alone.
fn edited(path: &str, before: &str, arguments: &Value) -> String {
    let of_ending = |ending: &str| {
        let folder = Folder::with([(path, "")]);
        folder.write(path, before.replace('\n', ending));
        let mut client = serve(&folder);
        let mut call = json!({"path": path, "version": version(&mut client, path)});
        call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        client.call("replace_lines", call.clone()).ok();
        let after = folder.text(path);
        assert!(client.call("replace_lines", call).ok().is_repeated());
        client.call("undo_edit", json!({})).ok();
        assert_eq!(folder.text(path), before.replace('\n', ending));
        after
    };
    let after = of_ending("\n");
    assert_eq!(of_ending("\r\n"), after.replace('\n', "\r\n"), "{arguments}");
    after
}

#[test]
fn a_definition_that_is_deleted_takes_the_blank_lines_of_one_side_with_it() {
    for (path, before, symbol, gone) in [
        ("a.py", PYTHON, "a", "\n\ndef a():\n    return 1\n"),
        ("a.py", PYTHON, "B.c", "    def c(self):\n        pass\n\n"),
        ("a.py", PYTHON, "B.d", "\n    def d(self):\n        pass\n"),
        ("a.py", PYTHON, "B.e", "    def e(self):\n        pass\n"),
        ("a.py", PYTHON, "f", "\n\ndef f():\n    pass\n"),
        ("a.ts", TYPESCRIPT, "a", "\nexport function a() {\n    return 1;\n}\n"),
        ("a.ts", TYPESCRIPT, "B.c", "    c() {\n    }\n\n"),
        ("a.ts", TYPESCRIPT, "B.d", "\n    d() {\n    }\n"),
        ("a.rs", RUST, "A", "const A: u8 = 1;\n"),
        ("a.rs", RUST, "B", "const B: u8 = 2;\n"),
        ("a.rs", RUST, "c", "\n/// C.\nfn c() {\n}\n"),
        ("a.rs", RUST, "D.e", "    fn e() {\n    }\n\n"),
        ("a.rs", RUST, "D.f", "\n    fn f() {\n    }\n"),
        ("a.md", MARKDOWN, "B", "\n## B\n\ntext\n"),
        ("a.md", MARKDOWN, "C", "\n## C\n\nlast\n"),
        ("a.toml", TOML, "d", "\n[d]\ne = 1\n"),
        // Keys are parts of a list.
        ("a.toml", TOML, "c", "c = 2\n"),
        ("a.json", JSON, "b", "  \"b\": 2,\n"),
    ] {
        assert_eq!(before.matches(gone).count(), 1);
        let after = edited(path, before, &json!({"symbol": symbol, "new_text": ""}));
        assert_eq!(after, before.replacen(gone, "", 1), "{symbol} of {path}");
    }
}

#[test]
fn what_comes_beside_a_definition_is_as_far_from_it_as_its_neighbours_are() {
    let new_python = "def n():\n    pass\n";
    let method = "    def n(self):\n        pass\n";
    for (path, before, symbol, insert, new, at, put) in [
        ("a.py", PYTHON, "a", "after", new_python, "\n\nclass B", "\n\ndef n():\n    pass\n"),
        ("a.py", PYTHON, "a", "before", new_python, "def a", "def n():\n    pass\n\n\n"),
        ("a.py", PYTHON, "f", "after", new_python, "", "\n\ndef n():\n    pass\n"),
        ("a.py", PYTHON, "B.c", "before", method, "    def c", "    def n(self):\n        pass\n\n"),
        ("a.py", PYTHON, "B.c", "after", method, "\n    def d", "\n    def n(self):\n        pass\n"),
        // What may belong to the definition stays beside it.
        ("a.py", PYTHON, "a", "before", "@cached", "def a", "@cached\n"),
        ("a.py", PYTHON, "a", "before", "# Adds.\n", "def a", "# Adds.\n"),
        // What brings its own blank lines gets no others.
        ("a.py", PYTHON, "a", "after", "\ndef n(): pass\n", "\n\nclass B", "\ndef n(): pass\n"),
        ("a.py", PYTHON, "a", "before", "def n(): pass\n\n", "def a", "def n(): pass\n\n"),
        ("a.ts", TYPESCRIPT, "B.d", "after", "    n() {\n    }\n", "}\n", "\n    n() {\n    }\n"),
        ("a.ts", TYPESCRIPT, "B.c", "before", "    n() {\n    }\n", "    c()", "    n() {\n    }\n\n"),
        ("a.ts", TYPESCRIPT, "B", "before", "@Component({\n})\n", "export class", "@Component({\n})\n"),
        ("a.rs", RUST, "B", "before", "const N: u8 = 1;\n", "const B", "const N: u8 = 1;\n"),
        ("a.rs", RUST, "A", "after", "const N: u8 = 1;\n", "const B", "const N: u8 = 1;\n"),
        ("a.rs", RUST, "c", "before", "fn n() {\n}\n", "/// C", "fn n() {\n}\n\n"),
        ("a.rs", RUST, "c", "before", "#[inline]\n", "/// C", "#[inline]\n"),
        ("a.rs", RUST, "D.f", "after", "    fn n() {}\n", "}\n", "\n    fn n() {}\n"),
        ("a.md", MARKDOWN, "B", "after", "## N\n\ntext\n", "\n## C", "\n## N\n\ntext\n"),
        ("a.md", MARKDOWN, "C", "before", "## N\n\ntext\n", "## C", "## N\n\ntext\n\n"),
        ("a.toml", TOML, "d", "before", "[n]\n", "[d]", "[n]\n\n"),
        ("a.toml", TOML, "c", "after", "n = 1\n", "\n[d]", "n = 1\n"),
        ("a.json", JSON, "b", "after", "  \"n\": 1,\n", "\n  \"c\"", "  \"n\": 1,\n"),
        ("a.json", JSON, "b", "before", "  \"n\": 1,\n", "  \"b\"", "  \"n\": 1,\n"),
    ] {
        let after = edited(path, before, &json!({"symbol": symbol, "insert": insert, "new_text": new}));
        let place = if at.is_empty() { before.len() } else { before.rfind(at).unwrap() };
        let expected = [&before[..place], put, &before[place..]].concat();
        assert_eq!(after, expected, "{insert} {symbol} of {path}: {new}");
    }
}

#[test]
fn a_definition_that_is_moved_leaves_no_gap_and_makes_none() {
    let other = "import y\n\n\ndef g():\n    pass\n";
    let folder = Folder::with([("a.py", PYTHON), ("b.py", other)]);
    let mut client = serve(&folder);
    let (a, b) = (version(&mut client, "a.py"), version(&mut client, "b.py"));
    let moved = json!({"path": "a.py", "version": a, "symbol": "a", "move": true});
    let call = json!({"path": "b.py", "version": b, "symbol": "g", "insert": "before", "from": moved});
    client.call("replace_lines", call).ok();
    assert_eq!(folder.text("a.py"), PYTHON.replacen("\n\ndef a():\n    return 1\n", "", 1));
    let definition = "import y\n\n\ndef a():\n    return 1\n\n\ndef g():\n    pass\n";
    assert_eq!(folder.text("b.py"), definition);
    client.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a.py"), folder.text("b.py")), (PYTHON.to_owned(), other.to_owned()));
    // In its own file, too.
    let call = json!({"path": "a.py", "version": a, "symbol": "f", "insert": "after", "from": moved});
    client.call("replace_lines", call).ok();
    let without = PYTHON.replacen("\n\ndef a():\n    return 1\n", "", 1);
    assert_eq!(folder.text("a.py"), format!("{without}\n\ndef a():\n    return 1\n"));
    client.call("undo_edit", json!({})).ok();
    // Where it is already.
    let call = json!({"path": "a.py", "version": a, "symbol": "B", "insert": "before", "from": moved});
    client.call("replace_lines", call).refused("no-op");
    assert_eq!(folder.text("a.py"), PYTHON);
}

#[test]
fn blank_lines_are_counted_as_they_are_now() {
    let folder = Folder::with([("a.py", PYTHON)]);
    let mut client = serve(&folder);
    let first = version(&mut client, "a.py");
    client.replace("a.py", "def a():", "def a(y):").ok();
    let insert = |symbol: &str, text: &str| {
        json!({"path": "a.py", "version": first, "symbol": symbol, "insert": "after",
        "new_text": text})
    };
    client.call("replace_lines", insert("a", "def n():\n    pass\n")).ok();
    client.call("replace_lines", insert("a", "def n():\n    pass\n")).ok();
    let text =
        PYTHON.replacen("def a():\n    return 1\n", "def a(y):\n    return 1\n\n\ndef n():\n    pass\n", 1);
    assert_eq!(folder.text("a.py"), text);
}

#[test]
fn numbers_mean_exactly_their_lines() {
    let folder = Folder::with([("a.py", PYTHON)]);
    let mut client = serve(&folder);
    let first = version(&mut client, "a.py");
    let call = json!({"path": "a.py", "version": first, "start_line": 4, "end_line": 5, "new_text": ""});
    client.call("replace_lines", call).ok();
    assert_eq!(folder.text("a.py"), PYTHON.replacen("def a():\n    return 1\n", "", 1));
}
