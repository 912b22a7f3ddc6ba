//! Patterns, their places, and the text after.

use super::*;

fn found(language: Language, [pattern, new]: [&str; 2], text: &str) -> Result<StructureFound, NotMatched> {
    Structure::new(language, pattern, new).unwrap().find(text, &Limits::default())
}

#[track_caller]
fn check(language: Language, asked: [&str; 2], text: &str, expected: &str) {
    let found = found(language, asked, text).unwrap();
    assert_eq!(replaced(text, &found.places), expected);
}

#[test]
fn what_a_variable_stands_for_is_put_in_as_it_stands() {
    use Language::{Go, Java, JavaScript, Python, Rust, TypeScript};
    check(
        JavaScript,
        ["console.log($A)", "logger.debug($A)"],
        "console.log( 'console.log(1)' ); console.log(f(x, y)); console.log(a, b)\n",
        "logger.debug('console.log(1)'); logger.debug(f(x, y)); console.log(a, b)\n",
    );
    check(
        JavaScript,
        ["f($$$A)", "g($$$A)"],
        "f(); f(1); f(1,\n  `two\n three`)",
        "g(); g(1); g(1,\n  `two\n three`)",
    );
    check(TypeScript, ["$A as any", "$A as unknown"], "let x = y as any;", "let x = y as unknown;");
    check(
        Python,
        ["assertEqual($A, $B)", "assert $A == $B"],
        "assertEqual(f(1), [2])\n",
        "assert f(1) == [2]\n",
    );
    check(Rust, ["$A.unwrap()", "$A?"], "fn f() { let x = g(1).unwrap(); }\n", "fn f() { let x = g(1)?; }\n");
    check(
        Java,
        ["Objects.equals($A, $B)", "eq($A, $B)"],
        "class A { boolean f() { return Objects.equals(a, b()); } }",
        "class A { boolean f() { return eq(a, b()); } }",
    );
    check(
        Language::C,
        ["free($A)", "release($A)"],
        "void f(void) { free(p->x); }\n",
        "void f(void) { release(p->x); }\n",
    );
    check(
        Go,
        ["errors.New($A)", "fmt.Errorf($A)"],
        "package a\n\nvar x = errors.New(\"a\")\n",
        "package a\n\nvar x = fmt.Errorf(\"a\")\n",
    );
}

#[test]
fn lines_of_the_new_text_are_indented_as_the_place_is() {
    use Language::{Python, TypeScript};
    let asked = ["assert $A == $B, $M", "if $A != $B:\n    raise AssertionError($M)"];
    check(
        Python,
        asked,
        "def f():\n    assert z == 1, \"m\"\nassert y == 2, 'n'\n",
        "def f():\n    if z != 1:\n        raise AssertionError(\"m\")\nif y != 2:\n    raise AssertionError('n')\n",
    );
    check(
        TypeScript,
        ["console.log($A);", "if (DEBUG) {\n  log($A);\n\n}"],
        "function f() {\n\tconsole.log(1);\n}\n",
        "function f() {\n\tif (DEBUG) {\n\t  log(1);\n\n\t}\n}\n",
    );
    // Lines inside of a string or a comment of the new text are what they are.
    check(
        Python,
        ["f($A)", "g(\"\"\"\n  x\n\"\"\", $A,\n  1)"],
        "if a:\n    f(2)\n",
        "if a:\n    g(\"\"\"\n  x\n\"\"\", 2,\n      1)\n",
    );
    check(TypeScript, ["f($A)", "/*\n x */ g(`\n $A`,\n $A)"], "  f(2)", "  /*\n x */ g(`\n 2`,\n   2)");
}

#[test]
fn lines_of_a_variable_move_with_the_line_on_which_it_begins() {
    use Language::{JavaScript, Python};
    let text = "def f(a):\n    if a:\n        b()\n        # c\n        d(\"\"\"\n  e\"\"\")\n\n        f(\n            1)\n";
    check(
        Python,
        ["if $C:\n    $$$B", "with x:\n    while $C:\n        $$$B\n        break"],
        text,
        "def f(a):\n    with x:\n        while a:\n            b()\n            # c\n            d(\"\"\"\n  e\"\"\")\n\n            \
         f(\n                1)\n            break\n",
    );
    check(
        Python,
        ["def $N(self, $P):\n    $$$B", "def $N(self, $P):\n    trace()\n    $$$B"],
        "class A:\n    def f(self, x):\n        a()\n        b()\n",
        "class A:\n    def f(self, x):\n        trace()\n        a()\n        b()\n",
    );
    check(
        JavaScript,
        ["f($$$A);", "if (a) {\n  g($$$A);\n}"],
        "f(\nb,\nc);\n",
        "if (a) {\n  g(b,\n  c);\n}\n",
    );
    // What is not moved keeps its bytes, also in a place inside of another.
    check(
        JavaScript,
        ["f($A)", "g($A)"],
        "  f({\n      a: f([\n 1]),\n\tb: `\n  `})",
        "  g({\n      a: g([\n 1]),\n\tb: `\n  `})",
    );
    check(
        JavaScript,
        ["f($A)", "g(\n  $A)"],
        "  f({\n    a: f(1),\n    b: `\n    `})",
        "  g(\n    {\n      a: g(\n        1),\n      b: `\n    `})",
    );
}

#[test]
fn python_that_would_be_indented_wrongly_is_refused() {
    let asked = ["if $C:\n    $$$B", "while $C:\n $$$B\n    pass"];
    assert_eq!(found(Language::Python, asked, "if a:\n    b()\n"), Err(NotMatched::Breaks));
    let asked = ["f($A)", ""];
    assert_eq!(found(Language::Python, asked, "if a:\n    f(1)\n"), Err(NotMatched::Breaks));
}

#[test]
fn a_variable_that_stands_for_nothing_takes_its_comma_along() {
    check(Language::JavaScript, ["f($$$A)", "g($$$A, 1)"], "f(); f(2);", "g(1); g(2, 1);");
    check(Language::JavaScript, ["f($$$A)", "g(1, $$$A)"], "f(); f(2);", "g(1); g(1, 2);");
    check(Language::JavaScript, ["f($$$A)", "g(0, $$$A, 1)"], "f(); f(2, 3);", "g(0, 1); g(0, 2, 3, 1);");
    check(Language::JavaScript, ["f($$$A)", "g($$$A)"], "f();", "g();");
}

#[test]
fn the_same_variable_stands_for_the_same_code() {
    check(Language::JavaScript, ["$A = $A + 1", "$A++"], "a = a + 1; a = b + 1;", "a++; a = b + 1;");
}

#[test]
fn a_place_with_more_in_it_than_the_pattern_is_told_and_left() {
    let asked = ["f($A, $B)", "f($B, $A)"];
    let text = "f(1, 2);\nf(1, /* two */ 2);\nf(1, 2,);\n";
    let both = found(Language::JavaScript, asked, text).unwrap();
    assert_eq!((both.places.len(), both.more), (1, vec![2, 3]));
    let asked = ["function $F() { $$$B }", "const $F = () => { $$$B }"];
    let some = found(Language::JavaScript, asked, "async function f() { g(); }\n").unwrap();
    assert_eq!(some.places, []);
}

#[test]
fn what_lies_inside_of_a_place_is_replaced_with_it() {
    check(Language::JavaScript, ["f($A)", "g($A)"], "f(f(x, f(1))) + f(2)", "g(f(x, g(1))) + g(2)");
    check(
        Language::JavaScript,
        ["$A.f($B)", "f($A, $B, $B)"],
        "a.f(1).f(b.f(2))",
        "f(f(a, 1, 1), f(b, 2, 2), f(b, 2, 2))",
    );
    check(Language::JavaScript, ["f($$$A)", "g($$$A)"], "f(1, f(f(2), 3))", "g(1, g(g(2), 3))");
    check(Language::JavaScript, ["f($_)", "g()"], "f(f(1))", "g()");
}

#[test]
fn a_text_that_is_not_sound_or_would_not_be_has_no_places() {
    let asked = ["f($$$A)", "g($$$A, 1)"];
    assert_eq!(found(Language::JavaScript, asked, "f(2); }"), Err(NotMatched::Unsound));
    assert_eq!(found(Language::JavaScript, ["f($A)", "g($A"], "f(1)"), Err(NotMatched::Breaks));
    assert_eq!(found(Language::JavaScript, asked, "h(); }").unwrap(), StructureFound::default());
    assert_eq!(found(Language::JavaScript, ["f($A)", "f($A)"], "f(1)").unwrap().places, []);
}

#[test]
fn code_that_is_nested_deeply_overflows_no_stack() {
    let nested = |depth: usize| format!("{}1{};", "f(".repeat(depth), ")".repeat(depth));
    let asked = ["f($A)", "g($A)"];
    let shallow = found(Language::JavaScript, asked, &nested(DEEP / 2 - 2)).unwrap();
    assert_eq!(shallow.places.len(), 1);
    for depth in [DEEP, 5_000] {
        assert_eq!(found(Language::JavaScript, asked, &nested(depth)), Err(NotMatched::Unsound), "{depth}");
    }
    let pattern = nested(DEEP);
    assert_eq!(Structure::new(Language::JavaScript, &pattern, "1").err(), Some(StructureFault::TooMuch));
    // A variable that comes twice is compared level by level.
    let twice = format!("f({0}, {0})", nested(DEEP / 2 - 4).trim_end_matches(';'));
    assert_eq!(found(Language::JavaScript, ["f($A, $A)", "g($A)"], &twice).unwrap().places.len(), 1);
}

#[test]
fn what_grows_with_each_level_is_refused_and_not_waited_for() {
    let text = format!("{}1{};", "f(".repeat(64), ")".repeat(64));
    for new in ["g($A, $A)", "$A$A"] {
        let grown = found(Language::JavaScript, ["f($A)", new], &text);
        assert_eq!(grown, Err(NotMatched::TooMuch), "{new}");
    }
    let text = format!("{}{};", "f(".repeat(64), ")".repeat(64));
    let empty = found(Language::JavaScript, ["f($$$A)", "$$$A$$$A"], &text);
    assert_eq!(empty, Err(NotMatched::TooMuch));
    // Each of these is tried once more for each around it.
    let pattern = format!("{}1{}", "f($$$, ".repeat(40), ")".repeat(40));
    assert_eq!(Structure::new(Language::JavaScript, &pattern, "1").err(), Some(StructureFault::TooMuch));
}

#[test]
fn what_a_variable_stands_for_stays_one_piece() {
    let apart = |language, asked, text: &str| match found(language, asked, text) {
        Err(NotMatched::TakesApart(variable)) => variable,
        other => panic!("{text}: {other:?}"),
    };
    let asked = ["double($A)", "$A * 2"];
    assert_eq!(apart(Language::JavaScript, asked, "x = double(1 + 2);"), "A");
    check(Language::JavaScript, asked, "x = double(y.z(1 + 2));", "x = y.z(1 + 2) * 2;");
    check(Language::JavaScript, ["double($A)", "($A) * 2"], "double(1 + 2);", "(1 + 2) * 2;");
    check(
        Language::Rust,
        ["$A.not()", "!$A"],
        "fn f() { (a == b).not(); a.c.not(); }",
        "fn f() { !(a == b); !a.c; }",
    );
    let equal = ["assertEqual($A, $B)", "assert $A == $B"];
    assert_eq!(apart(Language::Python, equal, "assertEqual(x < y, z)\n"), "A");
    check(Language::JavaScript, ["f($A)", "f(\"$A\", $A)"], "f(a + b);", "f(\"a + b\", a + b);");
    // Also of what lies inside of another place.
    check(Language::JavaScript, asked, "double(double(x))", "x * 2 * 2");
    assert_eq!(apart(Language::JavaScript, asked, "double(1 + double(x))"), "A");
}

#[test]
fn another_operator_is_not_more_of_the_same() {
    let text = "p = b != c;\nq = a == b;\nr = a && b;\ns = a /* x */ == b;";
    let found = found(Language::JavaScript, ["$A == $B", "$A === $B"], text).unwrap();
    assert_eq!((found.places.len(), found.more), (1, vec![4]));
}

#[test]
fn the_code_around_a_place_stays_what_it_is() {
    use Language::{C, Go, Java, JavaScript, Python, Rust};
    let sum = ["foo($A, $B)", "$A + $B"];
    let log = ["console.log($$$A)", ""];
    for (language, asked, text, line) in [
        (JavaScript, sum, "x = 1;\ny = -foo(b, c);", 2),
        (JavaScript, sum, "y = foo(b, c);\nz = foo(b, c) * 2;", 2),
        (JavaScript, sum, "w = foo(b, c).x;", 1),
        (JavaScript, sum, "w = !foo(b, c);", 1),
        (Python, ["div($A, $B)", "$A / $B"], "x = div(a, b) ** 2\n", 1),
        (Python, ["div($A, $B)", "$A / $B"], "x = 1 / div(a, b)\n", 1),
        (Python, ["f($X)", "$X or 2"], "y = a * f(x)\n", 1),
        (Rust, ["add($A, $B)", "$A + $B"], "fn f() { let x = 2 * add(1, 2); }", 1),
        (Java, ["add($A, $B)", "$A + $B"], "class A { int x = 2 * add(1, 2); }", 1),
        (JavaScript, log, "if (x) console.log(1)\nlaunch();", 1),
        (JavaScript, ["console.log($$$A);", ""], "if (x) console.log(1);\nvar f = 1;", 1),
        (C, ["dbg($$$A);", ""], "void f() { if (x)\n  dbg(x);\n launch(); }", 2),
        (JavaScript, ["foo($A)", "(a($A))"], "x = y\nfoo(2)", 2),
        (JavaScript, ["foo($A);", "a($A);\nb($A);"], "if (x) foo(1);", 1),
        (JavaScript, ["foo($A)", "$A, b"], "g(foo(x));", 1),
        (JavaScript, ["f($A)", "{ $A }"], "f(a);", 1),
    ] {
        let refused = found(language, asked, text);
        assert_eq!(refused, Err(NotMatched::ChangesAround(line)), "{text}");
    }
    check(JavaScript, ["foo($A, $B)", "($A + $B)"], "y = -foo(b, c) * 2;", "y = -(b + c) * 2;");
    check(JavaScript, sum, "y = foo(b, c); g(foo(b, c), [foo(1, 2)]);", "y = b + c; g(b + c, [1 + 2]);");
    check(JavaScript, ["console.log($$$A);", ""], "{ console.log(1); a(); }", "{  a(); }");
    check(JavaScript, ["foo($A);", "a($A);\nb($A);"], "foo(1);\nc();", "a(1);\nb(1);\nc();");
    check(Python, ["foo($A)", "x = $A"], "if a:\n    foo(1)\n    b()\n", "if a:\n    x = 1\n    b()\n");
    check(Python, ["foo($A)", "$A, b"], "def f():\n    return foo(1)\n", "def f():\n    return 1, b\n");
    check(
        Rust,
        ["$A.unwrap()", "$A?"],
        "fn f() { a.unwrap().b(); c(d.unwrap()); }",
        "fn f() { a?.b(); c(d?); }",
    );
    check(
        Go,
        ["foo($A)", "bar($A, nil)"],
        "package p\nfunc f() { x := foo(1) }\n",
        "package p\nfunc f() { x := bar(1, nil) }\n",
    );
}

#[test]
fn a_pattern_that_cannot_be_meant_is_refused() {
    let fault = |pattern, new| Structure::new(Language::JavaScript, pattern, new).err().unwrap();
    assert_eq!(fault("f(", "g"), StructureFault::NotCode);
    assert_eq!(fault("f(); g()", "g"), StructureFault::NotOne);
    assert_eq!(fault("", "g"), StructureFault::NotOne);
    for only in ["$A", "$$$A", "$_", " $A "] {
        assert_eq!(fault(only, "g"), StructureFault::OnlyVariable, "{only}");
    }
    assert_eq!(fault("f($A)", "g($B)"), StructureFault::UnknownVariable("B".into()));
    assert_eq!(Structure::new(Language::Json, "1", "2").err(), Some(StructureFault::NotCode));
    assert!(Structure::new(Language::JavaScript, "f($_)", "g($1, $x, `${y}`)").is_ok());
}
