//! Changes that must not reach beyond their value: aliases, the blocks around it, and what other programs read.

use serde_json::{Value, json};

use super::{applied, before, check, data, delete, insert, set};
use crate::{Action, Bar, Change, Fault, Format, Key, Note, Step};

/// Makes a change in a document of a YAML text.
fn in_document(text: &str, document: usize, key: &[&str], action: Action) -> Result<String, Fault> {
    let key = Key::Steps(key.iter().map(|step| Step::Word((*step).to_owned())).collect());
    let change = Change { key, document: Some(document), expected: Vec::new(), action };
    crate::change(Format::Yaml, text, &[change])
        .map(|changed| applied(text, changed))
        .map_err(|(_, fault)| fault)
}

#[test]
fn an_alias_keeps_its_meaning() {
    let anchor = Err(Fault::Barred(Bar::Anchor));
    let documents = "x: &n 1\n---\na:\n- &n 2\nb: *n\nc: 3\n";
    assert_eq!(in_document(documents, 1, &["a"], Action::Delete), anchor);
    let replaced = Change {
        key: Key::Only("a".into()),
        document: Some(1),
        expected: vec![data(&json!([2]))],
        action: Action::Set(data(&json!(5))),
    };
    assert_eq!(crate::change(Format::Yaml, documents, &[replaced]), Err((0, Fault::Barred(Bar::Anchor))));
    check(in_document(documents, 1, &["c"], Action::Delete), &documents.replace("c: 3\n", ""));
    check(
        in_document(documents, 0, &["d"], Action::Set(data(&json!(1)))),
        &documents.replace("---", "d: 1\n---"),
    );
    let twice = documents.replace("---\n", "");
    assert_eq!(in_document(&twice, 0, &["a"], Action::Delete), anchor);
    // Nothing else stands for what goes here.
    let unused = "a:\n- &n 2\n- *n\nb: &n 1\nc: *n\n";
    check(in_document(unused, 0, &["a"], Action::Delete), "b: &n 1\nc: *n\n");
    // YAML ends an anchor with its document.
    let lost = "x: &n 1\n---\nb: *n\n";
    assert!(
        matches!(in_document(lost, 0, &["x"], Action::Delete), Err(Fault::Unread(unread)) if unread.line == 3)
    );
}

#[test]
fn a_tag_stays_with_its_value() {
    let text = "a: !x-y\n  b: 1\nl:\n  - !t-u one\n  - two\n";
    check(
        insert(Format::Yaml, text, "l[0]", &json!("zero")),
        &text.replace("  - !t-u", "  - zero\n  - !t-u"),
    );
    check(delete(Format::Yaml, text, "l[0]"), &text.replace("  - !t-u one\n", ""));
    assert_eq!(set(Format::Yaml, text, "a.b", &json!(2)), Err(Fault::Barred(Bar::Tag)));
    let tagged = super::made(Format::Yaml, text, "l[0]", Action::SetText("x".into()));
    assert_eq!(tagged, Err(Fault::Barred(Bar::Tag)));
}

#[test]
fn a_block_scalar_ends_where_its_lines_do() {
    use Format::Yaml;
    for sign in ["|", ">", ">-", "|+", "|2"] {
        let text = format!("- - {sign}\n    a\n  - c\n- d\n");
        check(delete(Yaml, &text, "[0][0]"), "- - c\n- d\n");
        let text = format!("- - {sign}\n    a\n  - c\n");
        check(set(Yaml, &text, "[0][1]", &json!("x")), &text.replace("- c", "- x"));
    }
    let text = "a: |\n    x\n\n  # of b\nb: 1\n";
    check(set(Yaml, text, "a", &json!("z")), "a: z\n\n  # of b\nb: 1\n");
    let text = "a: |\n  | x\n  y |\nb: >1\n  z\n";
    check(set(Yaml, text, "a", &json!("v")), "a: v\nb: >1\n  z\n");
    check(set(Yaml, text, "b", &json!("v")), "a: |\n  | x\n  y |\nb: v\n");
    let text = "- # |\n  - \"k # |\": |2\n      x\n    other: 1\n  -\n  - last\n";
    check(set(Yaml, text, "[0][0].\"k # |\"", &json!("v")), &text.replace("|2\n      x", "v"));
    check(set(Yaml, text, "[0][1]", &json!("v")), &text.replace("  -\n", "  - v\n"));
}

#[test]
fn a_number_of_yaml_is_one_for_all_programs() {
    let set = |number: &str| {
        let value = crate::from_json(number).unwrap();
        let change = Change {
            key: Key::Only("a".into()),
            document: None,
            expected: Vec::new(),
            action: Action::Set(value),
        };
        applied("a: 1\n", crate::change(Format::Yaml, "a: 1\n", &[change]).unwrap())
    };
    for (number, written) in
        [("1e5", "1.0e+5"), ("-2E3", "-2.0e+3"), ("1.5e-7", "1.5e-7"), ("1.5E7", "1.5e+7"), ("10", "10")]
    {
        assert_eq!(set(number), format!("a: {written}\n"));
    }
    check(
        super::set(Format::Yaml, "a: x\n", "a", &json!("2001-12-14t21:59:43")),
        "a: \"2001-12-14t21:59:43\"\n",
    );
    check(super::set(Format::Yaml, "a: x\n", "a", &json!("\u{ffff}")), "a: \"\\uffff\"\n");
}

#[test]
fn a_comment_before_an_entry_in_its_line_is_not_of_the_next() {
    use Format::Json;
    let text = "{\n  /* c */\"A\": 0,\n  \"B\": 2\n}\n";
    check(before(Json, text, "N", &json!(1), "B"), &text.replace("  \"B\"", "  \"N\": 1,\n  \"B\""));
    check(delete(Json, text, "B"), "{\n  /* c */\"A\": 0\n}\n");
    let text = "{\n  \"A\": 0,\n  /* c\n     d */\n  \"B\": 2\n}\n";
    check(before(Json, text, "N", &json!(1), "B"), &text.replace("  /*", "  \"N\": 1,\n  /*"));
}

#[test]
fn a_table_of_toml_outlives_the_last_that_was_in_it() {
    use Format::Toml;
    check(delete(Toml, "x = 1\n\n# of it\n[a.b]\nc = 1\n\n[d]\n", "a.b"), "x = 1\n\n[a]\n\n[d]\n");
    check(delete(Toml, "[a.\"b c\".d]", "a.\"b c\".d"), "[a.\"b c\"]");
    check(delete(Toml, "[a.b]\n[a.c]\n", "a.b"), "[a.c]\n");
    check(delete(Toml, "[t]\n  a . b.c = 1 # c\n", "t.a.b.c"), "[t]\n  a . b = {}\n");
    check(delete(Toml, "a.b = 1\na.c = 2\n", "a.b"), "a.c = 2\n");
    check(before(Toml, "a.b = 1\nc = 2\n", "n", &json!(3), "a"), "n = 3\na.b = 1\nc = 2\n");
    // TOML 1.0 has no comma before the brace.
    check(delete(Toml, "t = { a.b = 1, c = 2 }\n", "t.c"), "t = { a.b = 1 }\n");
    check(delete(Toml, "t = { c = 2, a.b = 1 }\n", "t.c"), "t = { a.b = 1 }\n");
}

#[test]
fn an_empty_value_of_env_takes_no_comment() {
    check(set(Format::Env, "G=y # d\n", "G", &json!("")), "G='' # d\n");
    check(set(Format::Env, "G=y\r\n", "G", &json!("")), "G=\r\n");
    check(set(Format::Ini, "[s]\nG=y \n", "s.G", &json!("")), "[s]\nG= \n");
}

/// Sets a value by a key in one text.
fn only(text: &str, key: &str, value: &Value, is_new: bool) -> Result<(String, Vec<Note>), Fault> {
    let value = data(value);
    let action = if is_new { Action::Insert { value, before: None } } else { Action::Set(value) };
    let change = Change { key: Key::Only(key.into()), document: None, expected: Vec::new(), action };
    let changed = crate::change(Format::Json, text, &[change]).map_err(|(_, fault)| fault)?;
    let notes = changed.notes.clone();
    Ok((applied(text, changed), notes))
}

#[test]
fn a_new_key_in_one_text_is_one_key() {
    let new = |text: &str, key: &str| only(text, key, &json!(1), true).map(|(text, _)| text);
    check(new("{}", "a.b[0]"), "{\"a.b[0]\": 1}");
    check(new("{\"a\": {\"b\": []}}", "a.b[0]"), "{\"a\": {\"b\": [1]}}");
    check(new("[]", "[0]"), "[1]");
    let text = "{\"a\": 1, \"b\": 2, \"a\": 3}";
    let twice = Err(Fault::Duplicate { key: "a".into(), count: 2 });
    assert_eq!(before(Format::Json, text, "n", &json!(1), "a"), twice);
}

#[test]
fn a_key_that_is_not_there_is_added_unless_it_is_like_one_that_is() {
    let set = |text: &str, key: &str| only(text, key, &json!(1), false);
    let text = "{\"version\": 2, \"logLevel\": {\"port\": 3}}";
    let added = Note::Made { key: "name".into(), is_list: false };
    assert_eq!(set(text, "name").unwrap(), (text.replace("}}", "}, \"name\": 1}"), vec![added]));
    for (key, near) in [("verison", "version"), ("log_level", "logLevel"), ("Version", "version")] {
        let slip = Fault::Slip { key: key.into(), near: near.into(), is_last: true };
        assert_eq!(set(text, key), Err(slip));
        assert!(only(text, key, &json!(1), true).is_ok());
    }
    // It is there, a step deeper.
    assert!(matches!(set(text, "port"), Err(Fault::Missing { elsewhere, .. }) if elsewhere == ["logLevel"]));
    assert!(matches!(set(text, "logLevel.host"), Err(Fault::DottedNew(_))));
    assert!(matches!(set(text, "some.host"), Err(Fault::DottedNew(_))));
    // Dots are a part of names where another name has some.
    let dotted = "{\"editor.tab\": 1}";
    check(set(dotted, "editor.font").map(|(text, _)| text), "{\"editor.tab\": 1, \"editor.font\": 1}");
    assert!(matches!(set(dotted, "editor.tap"), Err(Fault::Slip { .. })));
    assert!(matches!(set(dotted, "editor.font[0]"), Err(Fault::DottedNew(_))));
    let steps = |steps: &[&str], expected: Vec<crate::Data>| {
        let key = Key::Steps(steps.iter().map(|step| Step::Word((*step).to_owned())).collect());
        let change = Change { key, document: None, expected, action: Action::SetText("x".into()) };
        crate::change(Format::Json, text, &[change])
            .map(|changed| applied(text, changed))
            .map_err(|(_, it)| it)
    };
    check(steps(&["logLevel", "host"], Vec::new()), &text.replace("3}", "3, \"host\": \"x\"}"));
    assert!(matches!(steps(&["other", "host"], Vec::new()), Err(Fault::Missing { is_last: false, .. })));
    let expected = vec![crate::Data::Text("y".into())];
    assert!(matches!(steps(&["logLevel", "host"], expected), Err(Fault::Missing { is_last: true, .. })));
}

#[test]
fn what_is_left_out_between_brackets_of_yaml_can_be_set() {
    use Format::Yaml;
    check(set(Yaml, "{a: , b, c}\n", "a", &json!(1)), "{a: 1 , b, c}\n");
    check(set(Yaml, "{a: , b, c}\n", "b", &json!(1)), "{a: , b: 1, c}\n");
    check(insert(Yaml, "{a: , b, c}\n", "q?", &json!("r:s")), "{a: , b, c, \"q?\": \"r:s\"}\n");
    check(insert(Yaml, "{}\n", "k", &json!(1)), "{k: 1}\n");
    check(insert(Yaml, "[]\n", "[0]", &json!(1)), "[1]\n");
    check(set(Yaml, "[a: b, c]\n", "[1]", &json!(1)), "[a: b, 1]\n");
    assert_eq!(set(Yaml, "[a: b, c]\n", "[0].a", &json!(1)), Err(Fault::Barred(Bar::OddKey)));
    assert_eq!(delete(Yaml, "a: 1\n&n b: 2\n", "b"), Err(Fault::Barred(Bar::OddKey)));
}

#[test]
fn a_comment_behind_the_sign_of_a_block_scalar_stays() {
    use Format::Yaml;
    check(set(Yaml, "a: [] # c", "a", &json!("v\nw")), "a: \"v\\nw\" # c");
    check(set(Yaml, "a: {} # c\n", "a", &json!({"b": 1})), "a: {b: 1} # c\n");
    let text = "a: |- # c\n  x\n  y\nl:\n  - > # d\n    z\n";
    check(set(Yaml, text, "a", &json!("v")), &text.replace("|- # c\n  x\n  y", "v # c"));
    check(set(Yaml, text, "a", &json!("v\nw")), &text.replace("x\n  y", "v\n  w"));
    check(set(Yaml, text, "a", &json!({"b": 1})), &text.replace(" |- # c\n  x\n  y", " # c\n  b: 1"));
    check(set(Yaml, text, "l[0]", &json!([1])), &text.replace("> # d\n    z", "# d\n    - 1"));
}
