//! Values that are set, added and removed, and what stands around them.

mod certain;
mod placed;

use serde_json::{Value, json};

use crate::{Action, Change, Changed, Data, Fault, Format, Key, Shape, Step, find};

fn data(value: &Value) -> Data {
    crate::from_json(&value.to_string()).unwrap()
}

fn applied(text: &str, Changed { splices, .. }: Changed) -> String {
    let mut new = text.to_owned();
    for splice in splices.into_iter().rev() {
        new.replace_range(splice.range, &splice.new);
    }
    new
}

fn made(format: Format, text: &str, key: &str, action: Action) -> Result<String, Fault> {
    let change = Change { key: Key::Dotted(key.to_owned()), document: None, expected: Vec::new(), action };
    let splices = super::change(format, text, &[change]).map_err(|(_, fault)| fault)?;
    Ok(applied(text, splices))
}

fn set(format: Format, text: &str, key: &str, value: &Value) -> Result<String, Fault> {
    made(format, text, key, Action::Set(data(value)))
}

fn insert(format: Format, text: &str, key: &str, value: &Value) -> Result<String, Fault> {
    made(format, text, &new_key(key), Action::Insert { value: data(value), before: None })
}

/// The last step of a new key is in quotes if it follows another.
fn new_key(key: &str) -> String {
    match key.rsplit_once('.') {
        Some((way, last)) if !last.ends_with([']', '"']) => format!("{way}.\"{last}\""),
        _ => key.to_owned(),
    }
}

fn before(format: Format, text: &str, key: &str, value: &Value, other: &str) -> Result<String, Fault> {
    made(format, text, &new_key(key), Action::Insert { value: data(value), before: Some(other.into()) })
}

fn delete(format: Format, text: &str, key: &str) -> Result<String, Fault> {
    made(format, text, key, Action::Delete)
}

#[track_caller]
fn check(made: Result<String, Fault>, expected: &str) {
    match made {
        Ok(text) => assert_eq!(text, expected),
        Err(fault) => panic!("{fault:?}"),
    }
}

const JSONC: &str = "{\r\n  // of it\r\n  \"a\": 1, // one\r\n  \"b\": { \"c\": [1, 2 /* two */], \"d.e\": null },\r\n  \"list\": [\r\n    \"x\",\r\n    \"y\", // last\r\n  ],\r\n  \"z\": {}\r\n}\r\n";

#[test]
fn json() {
    use Format::Json;
    check(set(Json, JSONC, "a", &json!("é\n")), &JSONC.replace("\"a\": 1,", "\"a\": \"é\\n\","));
    check(set(Json, JSONC, "b.c[-1]", &json!(3)), &JSONC.replace("2 /*", "3 /*"));
    check(set(Json, JSONC, "b.d.e", &json!(true)), &JSONC.replace("null", "true"));
    check(
        set(Json, JSONC, "a", &json!({"k": [1, {}]})),
        &JSONC.replace("\"a\": 1,", "\"a\": { \"k\": [1, {}] },"),
    );
    check(set(Json, JSONC, "b.c", &json!([3])), &JSONC.replace("[1, 2 /* two */]", "[3]"));
    check(insert(Json, JSONC, "new", &json!(2)), &JSONC.replace("\"z\": {}", "\"z\": {},\r\n  \"new\": 2"));
    check(insert(Json, JSONC, "b.f", &json!([1])), &JSONC.replace("null }", "null, \"f\": [1] }"));
    check(
        insert(Json, JSONC, "list[-1]", &json!("w")),
        &JSONC.replace("// last\r\n", "// last\r\n    \"w\",\r\n"),
    );
    check(insert(Json, JSONC, "list[0]", &json!("w")), &JSONC.replace("\"x\",", "\"w\",\r\n    \"x\","));
    check(insert(Json, JSONC, "z.k", &json!(1)), &JSONC.replace("{}", "{\r\n    \"k\": 1\r\n  }"));
    check(
        before(Json, JSONC, "new", &json!(2), "b"),
        &JSONC.replace("\"b\": {", "\"new\": 2,\r\n  \"b\": {"),
    );
    check(delete(Json, JSONC, "a"), &JSONC.replace("  // of it\r\n  \"a\": 1, // one\r\n", ""));
    check(delete(Json, JSONC, "z"), &JSONC.replace("],\r\n  \"z\": {}\r\n", "]\r\n"));
    check(delete(Json, JSONC, "b.c"), &JSONC.replace("\"c\": [1, 2 /* two */], ", ""));
    check(delete(Json, JSONC, "b.c[1]"), &JSONC.replace("[1, 2 /* two */]", "[1 /* two */]"));
    check(delete(Json, JSONC, "list[1]"), &JSONC.replace("    \"y\", // last\r\n", ""));
    check(insert(Json, "{}", "a", &json!({"b": 1})), "{\"a\": { \"b\": 1 }}");
    check(insert(Json, "{\n}\n", "a", &json!([])), "{\n  \"a\": []\n}\n");
    check(insert(Json, "{\"a\": 1}", "b", &json!(2)), "{\"a\": 1, \"b\": 2}");
    check(insert(Json, "[1 // one\n]", "[-1]", &json!(2)), "[1, // one\n2\n]");
    check(delete(Json, "{\"a\": 1}", "a"), "{}");
}

#[test]
fn a_way_is_found_or_the_refusal_says_what_is_there() {
    use Format::Json;
    let text = r#"{"a": {"b": 1}, "a.b": 2, "dep": {"x/y": 3}, "c": 1, "c": 2, "l": [{"n": "p", "v": 1}, {"n": "q", "v": 2}], "exports": {"./x": 1}}"#;
    let of = |key: Key, value: &Value| {
        let change = Change { key, document: None, expected: Vec::new(), action: Action::Set(data(value)) };
        super::change(Json, text, &[change]).map(|splices| applied(text, splices)).map_err(|(_, fault)| fault)
    };
    let steps =
        |steps: &[&str]| Key::Steps(steps.iter().map(|step| Step::Name((*step).to_owned())).collect());
    assert_eq!(set(Json, text, "a.b", &json!(5)), Err(Fault::Ambiguous("a.b".into())));
    check(of(steps(&["a.b"]), &json!(5)), &text.replace("\"a.b\": 2", "\"a.b\": 5"));
    check(of(steps(&["a", "b"]), &json!(5)), &text.replace("\"b\": 1", "\"b\": 5"));
    check(set(Json, text, "\"a.b\"", &json!(5)), &text.replace("\"a.b\": 2", "\"a.b\": 5"));
    check(set(Json, text, "exports.\"./x\"", &json!(5)), &text.replace("\"./x\": 1", "\"./x\": 5"));
    check(set(Json, text, "exports['./x']", &json!(5)), &text.replace("\"./x\": 1", "\"./x\": 5"));
    check(set(Json, text, "$.dep.x/y", &json!(5)), &text.replace("3", "5"));
    assert_eq!(set(Json, text, "c", &json!(5)), Err(Fault::Duplicate { key: "c".into(), count: 2 }));
    let missing = delete(Json, text, "dep.z");
    let (key, known, elsewhere) = ("z".to_owned(), vec!["x/y".to_owned()], Vec::new());
    assert_eq!(missing, Err(Fault::Missing { key, known, elsewhere, is_last: true }));
    let by = |value: &str| {
        Key::Steps(vec![Step::Name("l".into()), Step::Word(format!("n={value}")), Step::Name("v".into())])
    };
    check(of(by("q"), &json!(9)), &text.replace("\"v\": 2", "\"v\": 9"));
    assert_eq!(
        of(by("r"), &json!(9)),
        Err(Fault::NoElement { key: "n=r".into(), known: vec!["p".into(), "q".into()] })
    );
    assert_eq!(set(Json, text, "a.b.c", &json!(1)), Err(Fault::NoMap { key: "c".into() }));
    assert_eq!(set(Json, text, "", &json!(1)), Err(Fault::NoKey));
    assert_eq!(set(Json, text, "a[", &json!(1)), Err(Fault::BadKey("a[".into())));
    for place in ["l[5]", "l[-2]", "l[-9]", "l[\"n=q\"]"] {
        assert_eq!(insert(Json, text, place, &json!(1)), Err(Fault::NoPlace { len: 2 }), "{place}");
    }
    let dotted = Action::Insert { value: data(&json!(1)), before: None };
    assert_eq!(made(Json, text, "dep.new", dotted), Err(Fault::DottedNew("dep.new".into())));
    check(insert(Json, "{\"a\":{}}", "\"a.b\"", &json!(1)), "{\"a\":{}, \"a.b\": 1}");
    let none = Fault::NoNeighbour { key: "q".into(), known: vec!["x/y".into()] };
    assert_eq!(before(Json, text, "dep.new", &json!(1), "q"), Err(none));
    let none = Fault::NoNeighbour { key: "n=q".into(), known: Vec::new() };
    assert_eq!(before(Json, text, "l[0]", &json!(1), "n=q"), Err(none));
    assert!(super::from_json("[{\"z\": 1, \"z\": 2}]").unwrap_err().why.contains("z stands in it twice"));
    assert_eq!(insert(Json, text, "dep", &json!(1)), Err(Fault::Exists(Shape::Map(1))));
    assert_eq!(set(Json, text, "exports", &json!({"./x": 1})), Err(Fault::Same));
    let change = Change {
        key: steps(&["a", "b"]),
        document: None,
        expected: vec![data(&json!(2))],
        action: Action::Delete,
    };
    assert_eq!(super::change(Json, text, &[change]), Err((0, Fault::Other("1".into()))));
    assert_eq!(&text[find(Json, text, &steps(&["dep"]), None).unwrap()], "\"dep\": {\"x/y\": 3}");
}

#[test]
fn several_changes_see_those_before() {
    let text = "{\n  \"a\": 1\n}\n";
    let change = |key: &str, action| Change {
        key: Key::Dotted(key.into()),
        document: None,
        expected: Vec::new(),
        action,
    };
    let changes = [
        change("b", Action::Insert { value: data(&json!({})), before: None }),
        change("b.\"c\"", Action::Insert { value: data(&json!(1)), before: None }),
        change("a", Action::Delete),
    ];
    let splices = super::change(Format::Json, text, &changes).unwrap();
    assert_eq!(applied(text, splices), "{\n  \"b\": {\n    \"c\": 1\n  }\n}\n");
}

#[test]
fn so_many_changes_that_nobody_waits_for_them_are_refused() {
    let text = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    let change = Change {
        key: Key::Dotted("a".into()),
        document: None,
        expected: Vec::new(),
        action: Action::SetText("y".into()),
    };
    assert_eq!(super::change(Format::Json, &text, &vec![change.clone(); 65]), Err((64, Fault::TooMuch)));
    assert!(super::change(Format::Json, &text, &[change]).is_ok());
}

const TOML: &str = "# top\nname = \"x\" # the name\nwhen = 2024-01-01\n\n[deps]\nserde = { version = \"1\", features = [\"a\"] }\na.b.c = 1\nlist = [\n    1, # one\n    2\n]\n\n[deps.sub]\n# inside\n\n[[bin]]\nname = \"one\"\n\n[[bin]]\nname = 'two'\n\n[x.y]\nz = 1\n";

#[test]
fn toml() {
    use Format::Toml;
    check(set(Toml, TOML, "name", &json!("y\"")), &TOML.replace("\"x\"", "\"y\\\"\""));
    check(set(Toml, TOML, "when", &json!("2025-02-03")), &TOML.replace("2024-01-01", "2025-02-03"));
    check(set(Toml, TOML, "deps.serde.version", &json!("2")), &TOML.replace("\"1\"", "\"2\""));
    check(set(Toml, TOML, "deps.a.b.c", &json!(2.5)), &TOML.replace("c = 1", "c = 2.5"));
    check(set(Toml, TOML, "x.y.z", &json!(1.0)), &TOML.replace("z = 1", "z = 1.0"));
    check(set(Toml, TOML, "deps.list[1]", &json!(3)), &TOML.replace("    2\n", "    3\n"));
    check(
        set(Toml, TOML, "deps.list", &json!([3, 4])),
        &TOML.replace("    1, # one\n    2\n", "    3,\n    4,\n"),
    );
    check(set(Toml, TOML, "bin[1].name", &json!("zwei")), &TOML.replace("'two'", "'zwei'"));
    check(
        insert(Toml, TOML, "new", &json!({"a": [1]})),
        &TOML.replace("z = 1\n", "z = 1\n\n[new]\na = [1]\n"),
    );
    check(
        insert(Toml, TOML, "deps.\"x y\"", &json!("1")),
        &TOML.replace("    2\n]\n", "    2\n]\n\"x y\" = \"1\"\n"),
    );
    check(
        insert(Toml, TOML, "deps.serde.optional", &json!(true)),
        &TOML.replace("[\"a\"] }", "[\"a\"], optional = true }"),
    );
    check(insert(Toml, TOML, "deps.list[-1]", &json!(3)), &TOML.replace("    2\n]", "    2,\n    3\n]"));
    check(
        insert(Toml, TOML, "deps.a.b.d", &json!(2)),
        &TOML.replace("a.b.c = 1\n", "a.b.c = 1\na.b.d = 2\n"),
    );
    check(insert(Toml, TOML, "deps.sub.k", &json!(2)), &TOML.replace("[deps.sub]\n", "[deps.sub]\nk = 2\n"));
    check(before(Toml, TOML, "new", &json!(1), "when"), &TOML.replace("when", "new = 1\nwhen"));
    check(delete(Toml, TOML, "name"), &TOML.replace("# top\nname = \"x\" # the name\n", ""));
    check(delete(Toml, TOML, "deps.list"), &TOML.replace("list = [\n    1, # one\n    2\n]\n", ""));
    check(delete(Toml, TOML, "deps.serde.features"), &TOML.replace(", features = [\"a\"]", ""));
    check(delete(Toml, TOML, "x.y"), &TOML.replace("[x.y]\nz = 1\n", "[x]\n"));
    check(delete(Toml, TOML, "bin[0]"), &TOML.replace("[[bin]]\nname = \"one\"\n\n", ""));
    assert_eq!(set(Toml, TOML, "deps", &json!({})), Err(Fault::Table));
    check(insert(Toml, TOML, "x.k", &json!(1)), &TOML.replace("[x.y]", "[x]\nk = 1\n\n[x.y]"));
    assert_eq!(set(Toml, TOML, "name", &json!(null)), Err(Fault::NoSuchValue));
    check(insert(Toml, "", "a", &json!(1)), "a = 1\n");
    check(insert(Toml, "[a]", "a.b", &json!(1)), "[a]\nb = 1");
    assert!(matches!(set(Toml, "a = ", "a", &json!(1)), Err(Fault::Unread(_))));
}

const YAML: &str = "# top\nname: 'x'   # c\non:\n  push: {branches: [main, 'dev']}\n  pull_request:\njobs:\n  build:\n    runs-on: ubuntu # here\n    steps:\n      - uses: a@v4\n        with:\n          a: 1\n\n      # comment\n      - run: |\n          echo hi\n\n          echo ho\n\n      - name: >-\n          folded\n          text\n        if: a\n          b\n    \"quoted key\": ~\nlist:\n- 1\n- two\nlast: \u{e9}\n";

#[test]
fn yaml() {
    use Format::Yaml;
    check(set(Yaml, YAML, "name", &json!("it's")), &YAML.replace("'x'", "'it''s'"));
    check(set(Yaml, YAML, "name", &json!(1)), &YAML.replace("'x'", "1"));
    check(set(Yaml, YAML, "last", &json!("yes")), &YAML.replace("\u{e9}", "\"yes\""));
    check(
        set(Yaml, YAML, "on.pull_request", &json!({"b": ["x: y"]})),
        &YAML.replace("pull_request:\n", "pull_request:\n    b:\n      - \"x: y\"\n"),
    );
    check(
        set(Yaml, YAML, "on.pull_request", &json!("a")),
        &YAML.replace("pull_request:\n", "pull_request: a\n"),
    );
    check(set(Yaml, YAML, "on.push.branches[0]", &json!("a,b")), &YAML.replace("[main", "[\"a,b\""));
    check(
        set(Yaml, YAML, "jobs.build.runs-on", &json!(["a", 1])),
        &YAML.replace("runs-on: ubuntu # here\n", "runs-on: # here\n      - a\n      - 1\n"),
    );
    check(
        set(Yaml, YAML, "jobs.build.steps[1].run", &json!("one\ntwo\n")),
        &YAML.replace("echo hi\n\n          echo ho\n", "one\n          two\n"),
    );
    check(
        set(Yaml, YAML, "jobs.build.steps[1].run", &json!("one")),
        &YAML.replace("|\n          echo hi\n\n          echo ho\n", "one\n"),
    );
    check(
        set(Yaml, YAML, "jobs.build.steps[2].if", &json!("c")),
        &YAML.replace("if: a\n          b\n", "if: c\n"),
    );
    check(set(Yaml, YAML, "jobs.build.\"quoted key\"", &json!(false)), &YAML.replace("~", "false"));
    check(set(Yaml, YAML, "list[1]", &json!({"a": 1, "b": []})), &YAML.replace("- two", "- a: 1\n  b: []"));
    check(set(Yaml, YAML, "list", &json!([3])), &YAML.replace("- 1\n- two", "- 3"));
    assert_eq!(set(Yaml, YAML, "list", &json!(3)), Err(Fault::Whole(Shape::List(2))));
    check(insert(Yaml, YAML, "list[-1]", &json!("x")), &YAML.replace("- two\n", "- two\n- x\n"));
    check(insert(Yaml, YAML, "list[0]", &json!({"k": "v"})), &YAML.replace("- 1\n", "- k: v\n- 1\n"));
    check(insert(Yaml, YAML, "new", &json!("a\nb\n")), &format!("{YAML}new: |\n  a\n  b\n"));
    check(
        insert(Yaml, YAML, "on.push.tags", &json!(["v*"])),
        &YAML.replace("'dev']}", "'dev'], tags: [v*]}"),
    );
    check(
        insert(Yaml, YAML, "jobs.build.steps[0].id", &json!("k")),
        &YAML.replace("          a: 1\n", "          a: 1\n        id: k\n"),
    );
    check(
        before(Yaml, YAML, "jobs.build.steps[0].id", &json!("k"), "uses"),
        &YAML.replace("- uses", "- id: k\n        uses"),
    );
    check(before(Yaml, YAML, "x", &json!({"k": 1}), "jobs"), &YAML.replace("jobs:", "x:\n  k: 1\njobs:"));
    check(delete(Yaml, YAML, "name"), &YAML.replace("# top\nname: 'x'   # c\n", ""));
    check(delete(Yaml, YAML, "on.pull_request"), &YAML.replace("  pull_request:\n", ""));
    check(
        delete(Yaml, YAML, "jobs.build.steps[0]"),
        &YAML.replace("      - uses: a@v4\n        with:\n          a: 1\n", ""),
    );
    check(delete(Yaml, YAML, "jobs.build.steps[0].uses"), &YAML.replace("uses: a@v4\n        with", "with"));
    check(
        delete(Yaml, YAML, "jobs.build.steps[1]"),
        &YAML.replace("      # comment\n      - run: |\n          echo hi\n\n          echo ho\n\n", ""),
    );
    check(delete(Yaml, YAML, "on.push.branches[1]"), &YAML.replace(", 'dev'", ""));
    assert_eq!(delete(Yaml, YAML, "jobs.build"), Err(Fault::OnlyOne));
    // A block at the end of a text that does not end would get a line ending.
    let open = "a: |\n  x";
    assert_eq!(insert(Yaml, open, "b", &json!(1)), Err(Fault::Breaks));
    check(set(Yaml, open, "a", &json!("x\n")), "a: \"x\\n\"");
    check(set(Yaml, open, "a", &json!("x\ny\n")), "a: |\n  x\n  y\n");
    check(before(Yaml, open, "b", &json!(1), "a"), "b: 1\na: |\n  x");
    let crlf = YAML.replace('\n', "\r\n");
    check(
        insert(Yaml, &crlf, "jobs.x", &json!({"a": [1]})),
        &crlf.replace("\": ~\r\n", "\": ~\r\n  x:\r\n    a:\r\n      - 1\r\n"),
    );
}

#[test]
fn a_comment_stays_with_what_it_is_about() {
    use Format::{Toml, Yaml};
    let steps = "steps:\n  - name: Setup\n    # pinned\n    uses: x@v3\n";
    check(delete(Yaml, steps, "steps[0].name"), "steps:\n  - # pinned\n    uses: x@v3\n");
    check(delete(Yaml, "- - a\n  # about b\n  - b\n", "[0][0]"), "- # about b\n  - b\n");
    let services = "services:\n  db:\n    image: x\n\n    # its ports\n  # next\nvolumes: {}\n";
    check(
        insert(Yaml, services, "services.cache", &json!(1)),
        &services.replace("its ports\n", "its ports\n  cache: 1\n"),
    );
    let header = "# SPDX\n#:schema x\n\n[a]\nb = 1\n";
    check(insert(Toml, header, "v", &json!(1)), &header.replace("x\n\n", "x\n\nv = 1\n\n"));
    check(insert(Toml, "# of a\n[a]\n", "v", &json!(1)), "v = 1\n\n# of a\n[a]\n");
    let header = "# SPDX\na = 1\n";
    check(before(Toml, header, "v", &json!(1), "a"), "# SPDX\nv = 1\na = 1\n");
}

#[test]
fn a_date_of_yaml_stays_one() {
    check(set(Format::Yaml, "d: 2020-01-01 # c\n", "d", &json!("2021-02-03")), "d: 2021-02-03 # c\n");
    check(set(Format::Yaml, "d: '2020-01-01'\n", "d", &json!("2021-02-03")), "d: '2021-02-03'\n");
    check(set(Format::Yaml, "d: 2020-01-01\n", "d", &json!("soon")), "d: soon\n");
}

#[test]
fn a_value_that_programs_read_in_different_ways_is_not_written() {
    let ini = "[alias]\n\tst = \"status -s\"\n\tco = checkout\n";
    for value in ["status # x", "log ; echo", "#abc", ";x", "it\"s", "a\\"] {
        let refused = Err(Fault::Barred(crate::Bar::MaybeComment));
        assert_eq!(set(Format::Ini, ini, "alias.co", &json!(value)), refused, "{value}");
    }
    check(set(Format::Ini, ini, "alias.co", &json!("a#b \"c\"")), &ini.replace("checkout", "a#b \"c\""));
}

#[test]
fn what_is_shared_or_said_twice_in_yaml_is_left_alone() {
    use Format::Yaml;
    let text = "base: &b\n  a: 1\nuse:\n  <<: *b\n  c: 2\nsame: *b\ntag: !x 1\n? odd\n: 1\nd: 1\nd: 2\n---\nother: 1\n";
    let of = |key: &str, document: usize, value: &Value| {
        let change = Change {
            key: Key::Dotted(key.into()),
            document: Some(document),
            expected: Vec::new(),
            action: Action::Set(data(value)),
        };
        super::change(Yaml, text, &[change]).map(|splices| applied(text, splices)).map_err(|(_, fault)| fault)
    };
    use crate::Bar;
    assert_eq!(set(Yaml, text, "other", &json!(2)), Err(Fault::Documents(2)));
    assert_eq!(of("base.a", 0, &json!(2)), Err(Fault::Barred(Bar::Anchor)));
    assert_eq!(of("use.a", 0, &json!(2)), Err(Fault::Merged));
    check(of("use.c", 0, &json!(3)), &text.replace("c: 2", "c: 3"));
    assert_eq!(of("same", 0, &json!(2)), Err(Fault::Barred(Bar::Alias)));
    assert_eq!(of("tag", 0, &json!(2)), Err(Fault::Barred(Bar::Tag)));
    assert_eq!(of("odd", 0, &json!(2)), Err(Fault::Barred(Bar::OddKey)));
    check(of("other", 1, &json!(2)), &text.replace("other: 1", "other: 2"));
    assert!(matches!(of("d", 0, &json!(3)), Err(Fault::Duplicate { .. } | Fault::Unread(_))));
}

#[test]
fn env_and_ini() {
    use Format::{Env, Ini};
    let env = "# of it\nA=1 # one\nexport B=\"x\\ny\"\nC='z'\nD=\nURL=http://x/#y\n";
    check(set(Env, env, "A", &json!(2)), &env.replace("A=1", "A=2"));
    check(set(Env, env, "A", &json!("a b$c")), &env.replace("A=1", "A='a b$c'"));
    check(set(Env, env, "B", &json!("q\"$x")), &env.replace("\"x\\ny\"", "'q\"$x'"));
    check(set(Env, env, "B", &json!("q x")), &env.replace("x\\ny", "q x"));
    check(
        set(Env, env, "A", &json!("postgres://h/d?a=1&b=2")),
        &env.replace("A=1", "A='postgres://h/d?a=1&b=2'"),
    );
    check(set(Env, env, "C", &json!("a\nb")), &env.replace("'z'", "'a\nb'"));
    for value in ["it's $x", "a\\", "a\\\\b", "it's\nso"] {
        assert_eq!(set(Env, env, "C", &json!(value)), Err(Fault::Barred(crate::Bar::Quotes)), "{value}");
    }
    check(insert(Env, "# only\n", "A", &json!(1)), "# only\nA=1\n");
    check(set(Env, env, "C", &json!("it's")), &env.replace("'z'", "\"it's\""));
    check(set(Env, env, "D", &json!("v")), &env.replace("D=", "D=v"));
    check(set(Env, env, "URL", &json!("u")), &env.replace("http://x/#y", "u"));
    check(insert(Env, env, "E", &json!(true)), &format!("{env}E=true\n"));
    check(before(Env, env, "E", &json!("x"), "C"), &env.replace("C=", "E=x\nC="));
    check(set(Env, "A=it\\'s \\\n", "A", &json!("b")), "A=b\n");
    check(delete(Env, env, "B"), &env.replace("export B=\"x\\ny\"\n", ""));
    assert_eq!(set(Env, env, "A", &json!([1])), Err(Fault::NoSuchValue));
    let ini = "; of it\nroot = 1\n\n[core]\n\tbare = false\n\teditor = vim -n\n[remote \"origin\"]\n\turl = a:b\nx: 1 ; c\n[s]\nlong = a\n  b\nlast=\n";
    check(set(Ini, ini, "core.bare", &json!(true)), &ini.replace("false", "true"));
    check(set(Ini, ini, "remote \"origin\".url", &json!("c")), &ini.replace("a:b", "c"));
    check(set(Ini, ini, "s.last", &json!("v")), &ini.replace("last=", "last=v"));
    check(set(Ini, ini, "root", &json!(2)), &ini.replace("root = 1", "root = 2"));
    check(
        insert(Ini, ini, "core.pager", &json!("less")),
        &ini.replace("vim -n\n", "vim -n\n\tpager = less\n"),
    );
    check(insert(Ini, ini, "new", &json!({"k": "v"})), &format!("{ini}\n[new]\nk = v\n"));
    check(delete(Ini, ini, "core.bare"), &ini.replace("\tbare = false\n", ""));
    assert_eq!(set(Ini, ini, "remote \"origin\".x", &json!(1)), Err(Fault::Barred(crate::Bar::MaybeComment)));
    assert_eq!(set(Ini, ini, "s.long", &json!(1)), Err(Fault::Barred(crate::Bar::SeveralLines)));
}

mod random {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: [(Format, &str); 5] = [
        (Format::Json, JSONC),
        (Format::Toml, TOML),
        (Format::Yaml, YAML),
        (Format::Env, "# of it\nA=1 # one\nexport B=\"x\\ny\"\nC='z'\nD=\n"),
        (Format::Ini, "; of it\nroot = 1\n[core]\n\tbare = false\n[s]\nlong = a\n  b\nlast=\n"),
    ];
    const KEYS: [&str; 16] = [
        "a",
        "b.c",
        "list[0]",
        "list[-1]",
        "name",
        "deps.serde",
        "deps.list[1]",
        "bin[0].name",
        "on.push",
        "jobs.build.steps[0]",
        "jobs.build.steps[1].run",
        "core.bare",
        "s.long",
        "A",
        "D",
        "new",
    ];
    const PIECES: [&str; 16] =
        ["", "é", "{", "}", "[", "]", ":", "- ", "#", "\n", "  ", "\"", "'", "|\n", "&a ", "= "];

    proptest! {
        /// Whatever a text is, a change of it makes that change alone, or is refused.
        #[test]
        fn a_text_that_is_odd_ends_nothing(
            which in 0usize..TEXTS.len(),
            cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..3, 0usize..PIECES.len()), 0..5),
            key in 0usize..KEYS.len(),
            action in 0usize..3,
            value in prop_oneof![Just(json!("x: #y")), Just(json!({"k": ["v", null]})), Just(json!("one\ntwo\n")), Just(json!(1.5))],
        ) {
            let (format, text) = TEXTS[which];
            let mut chars: Vec<char> = text.chars().collect();
            for (at, gone, come) in cuts {
                let at = at.index(chars.len() + 1);
                let end = (at + gone).min(chars.len());
                chars.splice(at..end, PIECES[come].chars());
            }
            let text: String = chars.into_iter().collect();
            let value = data(&value);
            let action = match action {
                0 => Action::Set(value),
                1 => Action::Insert { value, before: None },
                _ => Action::Delete,
            };
            if let Ok(now) = made(format, &text, KEYS[key], action) {
                prop_assert!(crate::read(format, &now).is_ok());
            }
            let _ = find(format, &text, &Key::Dotted(KEYS[key].to_owned()), None);
        }
    }
}
