//! Sources that are set.

use super::*;

const CODE: &str = "4f1c22aa";

#[test]
fn a_line_that_changes_is_the_only_one() {
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "import numpy as np\nx = 2\nprint(x)")],
        "x = 1\\n",
        "x = 2\\n",
    );
}

#[test]
fn lines_come_in_the_indentation_of_the_list() {
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "import numpy as np\ny = 0\nx = 1\nprint(x)")],
        "    \"x = 1\\n\",\n",
        "    \"y = 0\\n\",\n    \"x = 1\\n\",\n",
    );
}

#[test]
fn lines_go() {
    check_replaced(JUPYTER, &[source(id(CODE), "x = 1\nprint(x)")], "    \"import numpy as np\\n\",\n", "");
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "import numpy as np\n")],
        ",\n    \"x = 1\\n\",\n    \"print(x)\"",
        "",
    );
}

#[test]
fn a_line_behind_the_last_one_gives_it_its_end() {
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "import numpy as np\nx = 1\nprint(x)\nprint(2)")],
        "\"print(x)\"",
        "\"print(x)\\n\",\n    \"print(2)\"",
    );
}

#[test]
fn a_line_feed_at_the_end_is_in_the_last_line() {
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "import numpy as np\nx = 1\nprint(x)\n")],
        "\"print(x)\"",
        "\"print(x)\\n\"",
    );
    check_replaced(VSCODE, &[source(CellAddress::Index(0), "a = 1\na")], "\"a\\n\"", "\"a\"");
}

#[test]
fn an_empty_source_is_filled_in_lines() {
    check_replaced(
        JUPYTER,
        &[source(CellAddress::Index(2), "a\n\"b\"\\\té")],
        "\"source\": []",
        "\"source\": [\n    \"a\\n\",\n    \"\\\"b\\\"\\\\\\té\"\n   ]",
    );
}

#[test]
fn a_source_becomes_empty() {
    check_replaced(
        JUPYTER,
        &[source(id(CODE), "")],
        "[\n    \"import numpy as np\\n\",\n    \"x = 1\\n\",\n    \"print(x)\"\n   ]",
        "[]",
    );
}

#[test]
fn lines_that_stay_keep_their_escapes() {
    check_replaced(
        JUPYTER,
        &[source(id("intro"), "# Röntgen 😀\n\nnew\nCafé / café\nText with \"quotes\" é")],
        "    \"Caf\\u00e9 / caf\\u00e9\\n\",\n    \"Text with \\\"quotes\\\"\"",
        "    \"new\\n\",\n    \"Caf\\u00e9 / caf\\u00e9\\n\",\n    \"Text with \\\"quotes\\\" é\"",
    );
}

#[test]
fn lines_that_move_keep_their_escapes() {
    check_replaced(
        JUPYTER,
        &[source(id("intro"), "Café / café\n# Röntgen 😀\n\nText with \"quotes\"")],
        "    \"# Röntgen \\ud83d\\ude00\\n\",\n    \"\\n\",\n    \"Caf\\u00e9 / caf\\u00e9\\n\",\n",
        "    \"Caf\\u00e9 / caf\\u00e9\\n\",\n    \"# Röntgen \\ud83d\\ude00\\n\",\n    \"\\n\",\n",
    );
}

#[test]
fn a_last_line_that_gets_its_end_keeps_its_escapes() {
    let text = JUPYTER.replace("\"print(x)\"", "\"\\u0070rint(x)\"");
    check_replaced(
        &text,
        &[source(id(CODE), "import numpy as np\nx = 1\nprint(x)\nx")],
        "\"\\u0070rint(x)\"",
        "\"\\u0070rint(x)\\n\",\n    \"x\"",
    );
}

#[test]
fn all_is_escaped_where_all_was() {
    check_replaced(
        ESCAPED,
        &[source(CellAddress::Index(0), "café \\u00ff\ntwö 😀")],
        "\"two\"",
        "\"tw\\u00f6 \\ud83d\\ude00\"",
    );
    // A byte order mark is beyond ASCII, and says nothing about it.
    let text = format!("\u{feff}{ESCAPED}");
    check_replaced(&text, &[source(CellAddress::Index(0), "café \\u00ff\ntwö")], "\"two\"", "\"tw\\u00f6\"");
}

#[test]
fn a_backslash_before_a_u_is_no_escape() {
    let text = ESCAPED.replace("caf\\u00e9 ", "");
    check_replaced(&text, &[source(CellAddress::Index(0), "\\u00ff\ntwö")], "\"two\"", "\"twö\"");
}

#[test]
fn one_string_stays_one() {
    check_replaced(MINIFIED, &[source(id("a"), "x = 1\ny = 2\nx + 1")], "x = 1\\nx", "x = 1\\ny = 2\\nx");
    check_replaced(MINIFIED, &[source(id("b"), "")], "\"*\\u00e9*\"", "\"\"");
    check_replaced(MINIFIED, &[source(id("b"), "*é*\nü")], "\"*\\u00e9*\"", "\"*\\u00e9*\\n\\u00fc\"");
}

#[test]
fn lines_in_one_string_keep_their_escapes() {
    let text = MINIFIED.replace("x = 1\\nx + 1", "\\u0078 = 1\\u000a\\/ \\\\n\\nx + 1");
    check_replaced(&text, &[source(id("a"), "x = 1\n/ \\n\nx + 2")], "x + 1", "x + 2");
    check_replaced(
        &text,
        &[source(id("a"), "new\n/ \\n\nx = 1")],
        "\\u0078 = 1\\u000a\\/ \\\\n\\nx + 1",
        "new\\n\\/ \\\\n\\n\\u0078 = 1",
    );
}

#[test]
fn one_string_among_lists_stays_one() {
    let text = COLAB.replace("[\n        \"Hello\"\n      ]", "\"Hello\"");
    check_replaced(&text, &[source(CellAddress::Index(0), "a\nb")], "\"Hello\"", "\"a\\nb\"");
}

#[test]
fn line_endings_of_the_file_are_kept() {
    let text = JUPYTER.replace('\n', "\r\n");
    check_replaced(
        &text,
        &[source(id(CODE), "import numpy as np\nx = 1\nprint(x)\n1"), source(id("9b0d11c3"), "a\nb")],
        "\"print(x)\"\r\n   ]\r\n  },\r\n  {\r\n   \"cell_type\": \"code\",\r\n   \"execution_count\": null,\r\n   \"id\": \"9b0d11c3\",\r\n   \"metadata\": {},\r\n   \"outputs\": [],\r\n   \"source\": []",
        "\"print(x)\\n\",\r\n    \"1\"\r\n   ]\r\n  },\r\n  {\r\n   \"cell_type\": \"code\",\r\n   \"execution_count\": null,\r\n   \"id\": \"9b0d11c3\",\r\n   \"metadata\": {},\r\n   \"outputs\": [],\r\n   \"source\": [\r\n    \"a\\n\",\r\n    \"b\"\r\n   ]",
    );
}

#[test]
fn carriage_returns_in_a_source_are_text() {
    check_replaced(
        COLAB,
        &[source(CellAddress::Index(0), "a\r\nb")],
        "\"Hello\"",
        "\"a\\r\\n\",\n        \"b\"",
    );
}

#[test]
fn a_byte_order_mark_stays() {
    let text = format!("\u{feff}{COLAB}");
    check_replaced(&text, &[source(CellAddress::Index(0), "Bye")], "\"Hello\"", "\"Bye\"");
}

#[test]
fn a_list_that_is_split_elsewhere_stays_so() {
    // As nbformat splits at a form feed, and some writers leave an empty text at the end.
    let list = "\"a\\f\",\"b\\n\",\"c\\nd\\n\",\"e\",\"\"";
    let text = MINIFIED.replace("\"x = 1\\nx + 1\"", &format!("[{list}]"));
    check_replaced(&text, &[source(id("a"), "a\u{c}b\nc\nd\nf")], "\"e\",\"\"", "\"f\"");
    check_replaced(&text, &[source(id("a"), "0\na\u{c}b\nc\nd\ne")], "\"a\\f\"", "\"0\\n\",\"a\\f\"");
    check_replaced(&text, &[source(id("a"), "ab\nc\nd\ne")], "\"a\\f\",\"b\\n\"", "\"ab\\n\"");
}

#[test]
fn a_source_that_is_so_already_is_told() {
    assert_eq!(
        made(COLAB, &[source(CellAddress::Index(0), "Hello")]),
        Err((0, CellFault::Same(crate::notebook::Already::Source)))
    );
}

#[test]
fn a_large_source_is_set() {
    let lines: String = (0..3000).map(|line| format!("line {line}\n")).collect();
    let other = lines.replace("line 5\n", "x\n").replace("line 2990\n", "y\n");
    let text = made(JUPYTER, &[source(id(CODE), &lines)]).unwrap();
    let expected = text.replace("\"line 5\\n\"", "\"x\\n\"").replace("\"line 2990\\n\"", "\"y\\n\"");
    check(&text, &[source(id(CODE), &other)], &expected);
}

proptest::proptest! {
    /// Whatever the old and the new source are, and however the old one is written: the new one is there, and what stands around
    /// it stays.
    #[test]
    fn any_source_takes_the_place_of_any(
        elements in proptest::collection::vec("(a\n|b|é\n|\u{c}|\n|😀|\\\\n){0,3}", 0..5),
        new in "(a\n|b|é\n|\u{c}|\n|😀|\\\\n){0,8}",
        is_one_text: bool,
        escapes: bool,
    ) {
        let old = elements.concat();
        let value = match is_one_text {
            true => serde_json::json!(old),
            false => serde_json::json!(elements),
        };
        let mut value = value.to_string();
        if escapes {
            value = value.replace('é', "\\u00e9").replace('😀', "\\ud83d\\ude00").replace('b', "\\u0062");
        }
        let text = MINIFIED.replace("\"x = 1\\nx + 1\"", &value);
        let (before, behind) = text.split_once(&value).unwrap();
        match made(&text, &[source(id("a"), &new)]) {
            Ok(made) => {
                assert_eq!(Notebook::read(&made).unwrap().cells()[0].source, new);
                let made = made.strip_prefix(before).unwrap().strip_suffix(behind).unwrap();
                assert_eq!(made.starts_with('"'), is_one_text);
            }
            Err(fault) => assert_eq!((fault, &new), ((0, CellFault::Same(crate::notebook::Already::Source)), &old)),
        }
    }
}
