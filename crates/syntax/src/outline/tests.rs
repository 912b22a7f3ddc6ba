//! What holds for outlines in every language, and how a definition is found by its name.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::tests::PATIENT;

mod documents;
mod languages;

/// Returns each definition with its lines, indented by its depth, with the line of its name if that is not the first.
fn shown(path: &str, text: &str) -> Vec<String> {
    let outline = outline(path, text.as_bytes(), &PATIENT).expect("there is an outline");
    let line = |definition: &Definition| {
        let (first, last) = (definition.lines.start(), definition.lines.end());
        let name = if definition.name_line == *first {
            String::new()
        } else {
            format!(" @{}", definition.name_line)
        };
        let doubt = definition.doubts.any().map_or(String::new(), |doubt| format!(" {doubt:?}"));
        let indent = "  ".repeat(definition.depth);
        format!("{indent}{} {first}-{last}{name}{doubt}", outline.describe(definition))
    };
    outline.definitions().iter().map(line).collect()
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let found = shown(path, text);
    assert_eq!(
        found,
        expected,
        "\n{}",
        found.iter().map(|line| format!("            \"{line}\",\n")).collect::<String>()
    );
}

fn found<'o>(outline: &'o Outline, name: &str) -> Vec<(&'static str, String, RangeInclusive<usize>)> {
    let one =
        |definition: &&'o Definition| (definition.kind, outline.path(definition), definition.lines.clone());
    outline.find(name).iter().map(one).collect()
}

#[test]
fn a_name_is_a_path_or_its_end() {
    let text = "mod a {\n    impl T for B {\n        fn c() {}\n    }\n    fn bc() {}\n}\n";
    let outline = outline("a.rs", text.as_bytes(), &PATIENT).unwrap();
    let c = vec![("function", "a.B.c".to_owned(), 3..=3)];
    for name in ["a.B.c", "B.c", "c", "a::B::c", "B::c", " c ", "function c", "function B.c"] {
        assert_eq!(found(&outline, name), c, "{name}");
    }
    for name in ["", ".", ".c", "a.c", "C", "B.c.", "b.a.B.c", "T.c", "method c", "function", "x"] {
        assert_eq!(found(&outline, name), [], "{name}");
    }
    let title = |name| outline.find(name).iter().map(|found| outline.describe(found)).collect::<Vec<_>>();
    assert_eq!(title("B"), ["impl T for B"]);
    assert_eq!(title("impl T for B"), ["impl T for B"]);
    assert_eq!(title("c"), ["function a.B.c"]);
    assert_eq!(outline.find("c")[0].describe(), "function c");
}

#[test]
fn a_name_that_fits_several_finds_all() {
    let text = "class A {\n    f() {}\n}\nclass B {\n    f() {}\n}\nfunction f() {}\n";
    let outline = outline("a.js", text.as_bytes(), &PATIENT).unwrap();
    let lines = |name| outline.find(name).iter().map(|found| found.lines.clone()).collect::<Vec<_>>();
    assert_eq!(lines("f"), [2..=2, 5..=5, 7..=7]);
    assert_eq!(lines("A.f"), [2..=2]);
    assert_eq!(lines("function f"), [7..=7]);
    assert_eq!(lines("method f"), [2..=2, 5..=5]);
}

#[test]
fn a_type_is_found_before_its_impl_blocks() {
    let text = "struct B;\nimpl B { fn c() {} }\nimpl T for B { fn d() {} }\n";
    let outline = outline("a.rs", text.as_bytes(), &PATIENT).unwrap();
    let lines = |name| outline.find(name).iter().map(|found| found.lines.clone()).collect::<Vec<_>>();
    assert_eq!(lines("B"), [1..=1]);
    assert_eq!(lines("impl T for B"), [3..=3]);
    assert_eq!(lines("impl B"), [2..=2]);
}

#[test]
fn a_whole_description_finds_one_definition_alone() {
    for (path, text, name, found) in [
        ("a.rs", "impl A for B {}\nimpl B {}\n", "impl B", vec![2]),
        ("a.rs", "impl A for B {}\nimpl B {}\n", "B", vec![1, 2]),
        ("a.rs", "impl B {}\nimpl B {}\n", "impl B", vec![1, 2]),
        ("a.rs", "mod a {\nfn b() {}\n}\nmod c {\nmod a {\nfn b() {}\n}\n}\n", "function a::b", vec![2]),
        ("a.json", "{\n\"author\": {\n\"name\": 1\n},\n\"name\": 2\n}\n", "key name", vec![5]),
        ("a.json", "{\n\"author\": {\n\"name\": 1\n},\n\"name\": 2\n}\n", "name", vec![3, 5]),
        ("a.js", "g.f = function () {};\nfunction f() {}\n", "function f", vec![2]),
        ("a.js", "g.f = function () {};\nfunction f() {}\n", "f", vec![1, 2]),
        ("a.md", "# b\n\n# heading b\n", "heading b", vec![1, 3]),
    ] {
        let outline = outline(path, text.as_bytes(), &PATIENT).unwrap();
        let lines: Vec<usize> = outline.find(name).iter().map(|found| *found.lines.start()).collect();
        assert_eq!(lines, found, "{name} in {text}");
    }
}

#[test]
fn names_may_have_dots_of_their_own() {
    let text = "# A.b\n\n## c\n\n# A\n\n## b\n";
    let outline = outline("a.md", text.as_bytes(), &PATIENT).unwrap();
    let lines = |name| outline.find(name).iter().map(|found| found.lines.clone()).collect::<Vec<_>>();
    assert_eq!(lines("A.b"), [1..=3, 7..=7]);
    assert_eq!(lines("A.b.c"), [3..=3]);
    assert_eq!(lines("b"), [7..=7]);
}

#[test]
fn lines_are_the_same_with_other_line_endings_and_without_the_last() {
    for (path, text) in [
        ("a.rs", "/// A.\n#[b]\nfn c() {\n}\n\n// D.\nstruct E;\n"),
        ("a.py", "@a\ndef b():\n    # c\n    pass\n\n# d\nclass E:\n    pass\n"),
        ("a.toml", "# a\n[b]\nc = 1\n\n# d\n[e]\nf = [\n]\n"),
        ("a.json", "{\n \"a\": {\n  \"b\": 1\n }\n}\n"),
        ("a.h", "/* a */\n#define B 1\n\nstruct c {\n};\n"),
        ("a.md", "# a\n\nb\nc\n---\n\n```\n# d\n```\n"),
    ] {
        let expected = shown(path, text);
        assert!(expected.len() > 1);
        let crlf = text.replace('\n', "\r\n");
        for other in [&crlf, text.trim_end(), crlf.trim_end(), &format!("\u{feff}{text}")] {
            assert_eq!(shown(path, other), expected, "{other:?}");
        }
    }
}

#[test]
fn what_has_a_syntax_error_is_doubted() {
    let text = "fn a() {\n    b(;\n}\n\nfn c() {\n}\n";
    let outline = outline("a.rs", text.as_bytes(), &PATIENT).unwrap();
    let doubts = |name| outline.find(name).iter().map(|found| found.doubts.any()).collect::<Vec<_>>();
    assert_eq!(doubts("a"), [Some(Doubt::Broken)]);
    assert_eq!(doubts("c"), [None]);
}

#[test]
fn what_stands_beside_a_syntax_error_is_doubted_on_that_side() {
    let doubts = |path: &str, text: &str| {
        let outline = outline(path, text.as_bytes(), &PATIENT).unwrap();
        let shown = |one: &Definition| (one.name.clone(), one.doubts.above, one.doubts.below);
        outline.definitions().iter().map(shown).collect::<Vec<_>>()
    };
    let broken = Some(Doubt::Broken);
    // A bracket too many has ended the first.
    let early = "fn a() {\n    b();\n    }\n    c();\n}\n\nfn d() {\n}\n\nfn e() {\n}\n";
    let expected = [("a".into(), None, broken), ("d".into(), broken, None), ("e".into(), None, None)];
    assert_eq!(doubts("a.rs", early), expected);
    let shared = "fn a() {} fn b() {}\n";
    let expected = [("a".into(), None, Some(Doubt::Shared)), ("b".into(), Some(Doubt::Shared), None)];
    assert_eq!(doubts("a.rs", shared), expected);
    // Lines can go beside a statement that defines several names.
    let several = outline("a.js", b"const a = 1, b = 2;\n", &PATIENT).unwrap();
    for one in several.definitions() {
        assert_eq!((one.doubts.above, one.doubts.below, one.doubts.any()), (None, None, Some(Doubt::Shared)));
    }
}

#[test]
fn a_statement_that_assigns_several_names_is_shared() {
    for (path, text) in [
        ("a.js", "var a = b = module.exports = {};\n"),
        ("a.js", "const a = (b = 1);\n"),
        ("a.ts", "export const a = b = () => 1;\n"),
        ("a.js", "var a = b || (c = {});\n"),
        ("a.js", "var a = b || c || (d.e = {});\n"),
        ("a.js", "const a = b ? (c = 1) : 2;\n"),
        ("a.ts", "const a = b ?? (c ??= {});\n"),
        ("a.py", "a = b or (c := 1)\n"),
        ("a.py", "a = b = []\n"),
        ("a.py", "a: int = b = 1\n"),
        ("a.py", "a = (b := 1)\n"),
    ] {
        let outline = outline(path, text.as_bytes(), &PATIENT).unwrap();
        let [a] = outline.definitions() else { panic!("{text}: {outline:?}") };
        assert_eq!(
            (a.doubts.above, a.doubts.below, a.doubts.any()),
            (None, None, Some(Doubt::Shared)),
            "{text}"
        );
    }
}

#[test]
fn what_goes_on_below_a_definition_is_doubted() {
    let shared = Some(Doubt::Shared);
    for (path, text, name, above, below) in [
        ("a.sh", "case x in\ny)\na() {\n:\n} ;;\nesac\n", "a", None, shared),
        ("a.sh", "case x in\ny)\na() {\n:\n}\n;;\nesac\n", "a", None, None),
        ("a.sh", "a() {\n:\n};\n", "a", None, None),
        ("a.c", "struct S {\nint a;\n}\n*f(void)\n{\n}\n", "S", shared, shared),
        ("a.c", "struct S {\nint a;\n}\ns = {1};\n", "S", shared, shared),
        ("a.c", "typedef\nenum S {\na\n}\nT;\n", "S", shared, shared),
        ("a.c", "struct A {\nunion S {\nint a;\n}\nb;\n};\n", "S", shared, shared),
        ("a.c", "struct S {\nint a;\n}\n;\n", "S", None, shared),
        ("a.c", "struct S {\nint a;\n};\n", "S", None, None),
        ("a.js", "x = {\na: function () {\n}\n  , b: 1 };\n", "a", None, shared),
        ("a.js", "x = {\na: function () {\n} // of a\n  // of b\n  , b: 1 };\n", "a", None, shared),
        ("a.js", "x = {\na: function () {\n}, // of a\nb: 1 };\n", "a", None, None),
        ("a.json", "{\n\"a\": 1\n,\"b\": 2\n}\n", "a", None, shared),
        ("a.json", "{\n\"a\": 1,\n\"b\": 2\n}\n", "a", None, None),
    ] {
        let outline = outline(path, text.as_bytes(), &PATIENT).unwrap();
        let found = outline.find(name);
        let [one] = found[..] else { panic!("{text}: {outline:?}") };
        assert_eq!((one.doubts.above, one.doubts.below), (above, below), "{text}");
    }
}

#[test]
fn a_banner_in_the_comment_of_a_definition_leaves_open_where_it_begins() {
    check(
        "a.py",
        "x = 1\n# Does a.\n# -----\n# Twice.\ndef a(): pass\n",
        &["variable x 1-1", "function a 4-5 @5 Comment"],
    );
    check(
        "a.py",
        "x = 1\n\n#####\n# Does a.\n#####\ndef a(): pass\n",
        &["variable x 1-1", "function a 6-6 Comment"],
    );
    check(
        "a.c",
        "int x(void);\n\n/*****\n * Does a.\n *****/\nint a() {}\n",
        &["prototype x 1-1", "function a 6-6 Comment"],
    );
    check("a.js", "f();\n// Of a!!!\n// # A ---\nfunction a() {}\n", &["function a 2-4 @4"]);
    check(
        "a.py",
        "x = 1\n# region a\ndef a(): pass\n# endregion\n",
        &["variable x 1-1", "function a 3-3 Comment"],
    );
    check(
        "a.py",
        "x = 1\n# \u{2500}\u{2500} A \u{2500}\u{2500}\n# Does a.\ndef a(): pass\n",
        &["variable x 1-1", "function a 3-4 @4"],
    );
    // What belongs to it ends at the banner, but for its title.
    check(
        "a.toml",
        "[a]\nb = 1\n# of b?\n# ---- c ----\n[c]\nd = 1\n",
        &["table a 1-3", "  key a.b 2-2", "table c 5-6 Comment", "  key c.d 6-6"],
    );
}

#[test]
fn a_comment_belongs_to_a_definition_only_where_nothing_parts_them() {
    let c = "fn a() {\n}\n\n// ---- helpers ----\nfn c() {\n}\n";
    check("a.rs", c, &["function a 1-2", "function c 5-6"]);
    let titled = "fn a() {\n}\n// ------\n// helpers\n// ------\n/// Doc.\nfn c() {\n}\n";
    check("a.rs", titled, &["function a 1-2", "function c 6-8 @7"]);
    let blank = "fn a() {\n}\n\n// Helpers.\n\n// Of c.\nfn c() {\n}\n";
    check("a.rs", blank, &["function a 1-2", "function c 6-8 @7"]);
    // An attribute binds what follows it, whatever stands between.
    let bound = "fn a() {\n}\n// Of c.\n#[b]\n// ---- x ----\n\n// y\n\nfn c() {\n}\n";
    check("a.rs", bound, &["function a 1-2", "function c 3-10 @9"]);
    let other = "x = 1\n# ---- methods ----\nclass A:\n    b = 1  # of b\n    # ---- c ----\n    def c(self):\n        pass\n        # of c\n    # Of d.\n    def d(self):\n        pass\n\n    # ==== e ====\n\n    def e(self):\n        pass\n  # of nobody\n    # Of f.\n    def f(self): pass\n";
    check(
        "a.py",
        other,
        &[
            "variable x 1-1",
            "class A 3-19",
            "  method A.c 6-8",
            "  method A.d 9-11 @10",
            "  method A.e 15-16",
            "  method A.f 18-19 @19",
        ],
    );
    let indented = "def a():\n    pass\n  # of a, or of nobody\ndef b(): pass\n";
    check("a.py", indented, &["function a 1-2", "function b 4-4"]);
    let first = "class A:\n    # ---- b ----\n    # Of b.\n    def b(self): pass\n";
    check("a.py", first, &["class A 1-4", "  method A.b 3-4 @4"]);
    check(
        "a.py",
        "class A:\n    # Of if.\n    if x:\n        def b(self): pass\n",
        &["class A 1-4", "  function A.b 4-4"],
    );
    check("a.ts", "// Of what follows?\nf();\nfunction a() {}\n", &["function a 3-3"]);
    check("a.ts", "f(); // of f\nfunction a() {}\n", &["function a 2-2"]);
}

#[test]
fn a_comment_at_the_top_of_a_file_is_about_the_file() {
    check("a.sh", "#!/bin/bash\na() { :; }\n", &["function a 2-2"]);
    check("a.py", "# Licence.\n\ndef a(): pass\n", &["function a 3-3"]);
    // Directly above a definition, it may be about that.
    check("a.py", "#!/usr/bin/python\n# coding: utf-8\ndef a(): pass\n", &["function a 3-3 Comment"]);
    check("a.js", "// Copyright somebody.\n// All rights.\nfunction a() {}\n", &["function a 3-3 Comment"]);
    check("a.js", "/* Adds. */\nexport function a() {}\n", &["function a 2-2 Comment"]);
    check("a.py", "# Adds.\n@b\ndef a(): pass\n", &["function a 2-3 @3 Comment"]);
    check("a.ts", "/* Adds. */\n@B()\nclass A {}\n", &["class A 2-3 @3 Comment"]);
    check("a.rs", "// Adds.\n#[b]\nfn a() {}\n", &["function a 2-3 @3 Comment"]);
    // A doc comment is, unless it tells of the file.
    check("a.js", "/**\n * Adds.\n */\nfunction a() {}\n", &["function a 1-4 @4"]);
    check("a.ts", "/** Adds. */\n@B()\nexport class A {}\n", &["class A 1-3 @3"]);
    check("a.c", "/// Adds.\n/// Twice.\nint a(void);\n", &["prototype a 1-3 @3"]);
    for other in [
        "/** @file a */",
        "/** Copyright b. */",
        "/**\n * SPDX-License-Identifier: MIT\n */",
        "/** A. */\n/** B. */",
    ] {
        let text = format!("{other}\nfunction a() {{}}\n");
        let line = text.lines().count();
        check("a.js", &text, &[&format!("function a {line}-{line} Comment")]);
    }
    check("a.py", "# Licence.\n\n# Of a.\ndef a(): pass\n", &["function a 3-4 @4"]);
    check("a.rs", "/// A.\nfn a() {}\n", &["function a 1-2 @2"]);
    check("a.rs", "// Licence.\n/// A.\nfn a() {}\n", &["function a 2-3 @3"]);
}

#[test]
fn comments_at_the_end_of_a_table_are_its_own_only_directly_below_a_key() {
    let text = "[a]\nb = 1\n# of b\n\n# section\n\n# of c\n[c]\nd = 1\n# ---- e ----\n[e]\nf = 1\n# last\n";
    check(
        "a.toml",
        text,
        &[
            "table a 1-3",
            "  key a.b 2-2",
            "table c 7-9 @8",
            "  key c.d 9-9",
            "table e 11-12",
            "  key e.f 12-12",
        ],
    );
}

#[test]
fn markdown_is_known_by_three_extensions() {
    for path in ["a.md", "a.mdx", "a.markdown"] {
        assert_eq!(outline(path, b"# a\n", &PATIENT).unwrap().definitions().len(), 1, "{path}");
    }
}

#[test]
fn what_has_no_outline_says_why() {
    for path in ["a.html", "a.txt", "Makefile", "a.yaml", "md"] {
        assert_eq!(outline(path, b"", &PATIENT), Err(NoOutline::UnknownLanguage), "{path}");
    }
    let few_bytes = Limits { bytes: 3, ..PATIENT };
    let no_time = Limits { time: Duration::ZERO, ..PATIENT };
    for path in ["a.rs", "a.md"] {
        assert_eq!(outline(path, b"# a\n", &few_bytes), Err(NoOutline::TooMuch), "{path}");
    }
    let many = "fn a() { b(c, d, e); }\n".repeat(1_000);
    assert_eq!(outline("a.rs", many.as_bytes(), &no_time), Err(NoOutline::TooMuch));
    assert_eq!(outline("a.rs", b"fn a() {}\0", &PATIENT), Err(NoOutline::TooMuch));
    assert_eq!(outline("a.rs", b"", &PATIENT), Ok(Outline::default()));
}

#[test]
fn what_is_nested_deeply_overflows_no_stack() {
    for (path, opening) in [
        ("a.rs", "mod a {"),
        ("a.rs", "(("),
        ("a.js", "function a() {"),
        ("a.js", "a+"),
        ("a.json", "{\"a\":"),
        ("a.css", "@media a {"),
        ("a.toml", "a={a="),
        ("a.md", "# "),
        ("a.md", "<a\n"),
    ] {
        let text = opening.repeat(20_000);
        let _ = outline(path, text.as_bytes(), &Limits { time: Duration::from_secs(1), ..PATIENT });
    }
}

#[test]
fn one_long_line_costs_what_its_length_costs() {
    let text = format!("{{{}\"last\": 1{}}}", "\"a\": 1, ".repeat(40_000), " ".repeat(100_000));
    let outline = outline("a.json", text.as_bytes(), &PATIENT).unwrap();
    assert_eq!(outline.definitions().len(), 40_001);
    assert!(outline.definitions().iter().all(|definition| definition.doubts.any() == Some(Doubt::Shared)));
}

const PATHS: [&str; 14] = [
    "a.sh", "a.c", "a.css", "a.go", "a.html", "a.java", "a.js", "a.json", "a.py", "a.rs", "a.toml", "a.tsx",
    "a.ts", "a.md",
];

/// Checks what holds for the outline of any text.
fn check_any(path: &str, text: &[u8]) {
    let Ok(outline) = outline(path, text, &PATIENT) else { return };
    let count = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    let mut before = 0;
    for definition in outline.definitions() {
        let (first, last) = (*definition.lines.start(), *definition.lines.end());
        assert!(first >= 1 && first <= last && last <= count, "{path}: {definition:?}");
        assert!(definition.lines.contains(&definition.name_line), "{path}: {definition:?}");
        assert!(before <= definition.name_line, "{path}: {definition:?}");
        before = first;
        if let Some(parent) = definition.parent {
            let outer = &outline.definitions()[parent];
            assert!(outer.depth + 1 == definition.depth, "{path}: {definition:?}");
            assert!(
                *outer.lines.start() <= first && last <= *outer.lines.end(),
                "{path}: {outer:?} {definition:?}"
            );
        }
        if !definition.name.is_empty() {
            assert!(
                outline.find(&outline.path(definition)).iter().any(|found| found.name == definition.name),
                "{path}: {definition:?}"
            );
        }
    }
    // Only lines of one definition alone are not doubted.
    for (at, one) in outline.definitions().iter().enumerate() {
        for other in &outline.definitions()[at + 1..] {
            let apart = one.lines.end() < other.lines.start();
            let inside = one.lines.start() <= other.lines.start() && other.lines.end() <= one.lines.end();
            assert!(
                apart || inside || one.doubts.any().is_some() || other.doubts.any().is_some(),
                "{path}: {one:?} {other:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_have_an_outline_or_none(text: Vec<u8>) {
        PATHS.iter().for_each(|path| check_any(path, &text));
    }

    #[test]
    fn any_tokens_have_lines_of_the_file(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 1..60),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = tokens.concat().into_bytes();
        PATHS.iter().for_each(|path| check_any(path, &text[..cut.index(text.len())]));
    }
}

const TOKENS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "`",
    "\n",
    "\n",
    "\r\n",
    "\n    ",
    "\t",
    " ",
    "\u{feff}",
    "é",
    "=",
    ":",
    ";",
    ",",
    "#",
    "# ",
    "//",
    "/*",
    "*/",
    "/// ",
    "#[a]",
    "@a",
    "---",
    "```",
    "<!--",
    "-->",
    "export default ",
    "export ",
    "const a",
    "=> ",
    "fn a",
    "fn b() {}",
    "impl T for B {",
    "mod a {",
    "class A {",
    "class A:",
    "def a():",
    "func a() {",
    "function a() {",
    "[a.b]",
    "[[a]]",
    "a = 1",
    "\"a\": ",
    ".a {",
    "@media a {",
    "struct a {",
    "#define A 1",
    "a() {",
    "int a",
    "namespace A {",
    "static ",
    "type ",
    "@a\n",
];

#[test]
fn a_text_ends_in_a_definition_or_in_what_may_belong_to_the_next_one() {
    let ends = |path: &str, text: &str| ends_in_definition(path, text.as_bytes(), &PATIENT);
    for (path, text) in [
        ("a.py", "def a():\n    return 1\n"),
        ("a.py", "    @b\n    def a(self):\n        return 1\n\n"),
        ("a.rs", "    fn a() {}"),
        ("a.rs", "/// A.\nfn a() {\n}\n"),
        ("a.ts", "function a() {\n}\n"),
        ("a.ts", "    async a(b: C): D {\n        return b;\n    }\n"),
        ("a.js", "  static a() {\n  }\n"),
        ("a.go", "func (a *B) c() {\n}\n"),
        ("A.java", "    public void a() {\n    }\n"),
        ("a.md", "## A\n\ntext\n"),
        ("a.css", "a {\n}\n"),
    ] {
        assert!(ends(path, text), "{path}: {text}");
    }
    for (path, text) in [
        ("a.py", "@a"),
        ("a.py", "@a(\n    1,\n)\n"),
        ("a.py", "def a(): pass\n\n# Of b.\n"),
        ("a.rs", "#[inline]\n"),
        ("a.rs", "fn a() {}\n\n/// Of b.\n"),
        ("a.ts", "@Component({\n})\n"),
        ("a.ts", "/** Of a. */"),
        ("a.ts", "}"),
        ("a.ts", "export"),
        ("a.go", "//go:noinline\n"),
        ("a.c", "static"),
        ("a.json", "\"a\": 1,\n"),
        ("a.txt", "def a(): pass\n"),
        ("a.py", "\n"),
    ] {
        assert!(!ends(path, text), "{path}: {text}");
    }
}

#[test]
fn a_comment_below_a_row_that_nothing_closes_may_be_the_title_of_what_follows() {
    let above = |path: &str, text: &str| {
        let outline = outline(path, text.as_bytes(), &PATIENT).unwrap();
        outline.find("a")[0].doubts.above
    };
    for (path, text) in [
        ("a.py", "x = 1\n\n#########\n# Helpers\ndef a(): pass\n"),
        ("a.js", "x();\n\n// -----------\n// Helpers\nfunction a() {}\n"),
        ("a.js", "x();\n\n/* ========= */\n/* Helpers */\nfunction a() {}\n"),
    ] {
        assert_eq!(above(path, text), Some(Doubt::Comment), "{text}");
    }
    for (path, text) in [
        ("a.py", "x = 1\n\n# ---- helpers ----\n# Of a.\ndef a(): pass\n"),
        ("a.py", "x = 1\n\n#########\ndef a(): pass\n"),
        ("a.js", "x();\n\n// ---------\n// Helpers\n// ---------\n// Of a.\nfunction a() {}\n"),
        ("a.js", "x();\n\n// ---------\n/** Of a. */\nfunction a() {}\n"),
        ("a.rs", "use x;\n\n// ---------\n/// Of a.\nfn a() {}\n"),
    ] {
        assert_eq!(above(path, text), None, "{text}");
    }
}
