//! Where what is new goes, and what goes with what is deleted.

use serde_json::json;

use super::{before, check, delete, insert};
use crate::{Action, Data, Fault, Format, Key, Note, Shape, Step};

/// Inserts at the end of a way that is given step by step.
fn insert_at(format: Format, text: &str, steps: &[&str], value: &serde_json::Value) -> Result<String, Fault> {
    let key = Key::Steps(steps.iter().map(|step| Step::Word((*step).to_owned())).collect());
    let action = Action::Insert { value: super::data(value), before: None };
    let change = crate::Change { key, document: None, expected: Vec::new(), action };
    let splices = crate::change(format, text, &[change]).map_err(|(_, fault)| fault)?;
    Ok(super::applied(text, splices))
}

const INI: &str = "[server]\nport = 1\n\n[logging]\nlevel = INFO\n";

#[test]
fn a_key_of_an_ini_file_goes_into_a_section_where_there_are_any() {
    use Format::Ini;
    let (server, logging) = ("server".to_owned(), "logging".to_owned());
    let sections = vec![server, logging.clone()];
    let refused = Err(Fault::NoSection { key: "level".into(), having: vec![logging], sections });
    assert_eq!(insert(Ini, INI, "level", &json!("DEBUG")), refused);
    assert_eq!(super::set(Ini, INI, "level", &json!("DEBUG")), refused);
    check(insert(Ini, "root = true\n\n[*]\n", "x", &json!(1)), "root = true\nx = 1\n\n[*]\n");
    check(insert(Ini, "[a]\n", "a.x", &json!(1)), "[a]\nx = 1\n");
    check(insert_at(Ini, INI, &["new", "k"], &json!(1)), &format!("{INI}\n[new]\nk = 1\n"));
    check(
        before(Ini, INI, "new", &json!({"k": 1}), "logging"),
        &INI.replace("[logging]", "[new]\nk = 1\n\n[logging]"),
    );
}

#[test]
fn a_step_for_a_list_is_no_key_of_a_map() {
    use Format::Json;
    let text = "{\"deps\": {\"a\": 1}}";
    for step in ["name=zod", "-1"] {
        let (within, step) = (Some("deps".to_owned()), step.to_owned());
        let refused = insert_at(Json, text, &["deps", &step], &json!("3"));
        assert_eq!(refused, Err(Fault::NoList { within, step, known: vec!["a".into()] }));
    }
    check(insert(Json, text, "deps.\"name=zod\"", &json!(3)), "{\"deps\": {\"a\": 1, \"name=zod\": 3}}");
    check(insert_at(Json, text, &["deps", "404"], &json!(3)), "{\"deps\": {\"a\": 1, \"404\": 3}}");
    // What holds several values is not lost by accident.
    let list = "{\"files\": [1, 2]}";
    let set = |key: &str, expected: &[Data]| {
        let action = Action::Set(Data::Text("x".into()));
        let change = crate::Change {
            key: Key::Dotted(key.into()),
            document: None,
            expected: expected.to_vec(),
            action,
        };
        let changed = crate::change(Json, list, &[change]).map_err(|(_, fault)| fault)?;
        Ok(super::applied(list, changed))
    };
    assert_eq!(set("files", &[]), Err(Fault::Whole(Shape::List(2))));
    check(set("files", &[super::data(&json!([1, 2]))]), "{\"files\": \"x\"}");
    check(insert(Json, "{}", "$schema", &json!("x")), "{\"$schema\": \"x\"}");
}

#[test]
fn what_a_new_value_is_in_is_made_and_told() {
    use Format::{Json, Toml, Yaml};
    check(insert_at(Json, "{}", &["keywords", "-1"], &json!("shop")), "{\"keywords\": [\"shop\"]}");
    check(insert_at(Yaml, "a: 1\n", &["b", "c", "d"], &json!(1)), "a: 1\nb:\n  c:\n    d: 1\n");
    check(
        insert_at(Toml, "[tool.black]\nx = 1\n", &["tool", "ruff", "y"], &json!(1)),
        "[tool.black]\nx = 1\n\n[tool.ruff]\ny = 1\n",
    );
    let steps = ["keywords", "-1"].map(|step| Step::Word(step.into()));
    let change = crate::Change {
        key: Key::Steps(steps.into()),
        document: None,
        expected: Vec::new(),
        action: Action::Insert { value: Data::Null, before: None },
    };
    let made = Note::Made { key: "keywords".into(), is_list: true };
    assert_eq!(crate::change(Json, "{}", &[change]).unwrap().notes, [made]);
    // A name that is nearly there is a slip.
    let text = "{\"dependencies\": {}}";
    let slip = Fault::Slip { key: "dependecies".into(), near: "dependencies".into(), is_last: false };
    assert_eq!(insert_at(Json, text, &["dependecies", "zod"], &json!("3")), Err(slip));
    for step in ["3", "name=x"] {
        let refused = insert_at(Json, "{}", &["list", step], &json!(1));
        assert!(matches!(refused, Err(Fault::NoList { .. })), "{refused:?}");
    }
}

#[test]
fn the_only_step_of_a_new_key_is_not_taken_apart() {
    let only = |text: &str, key: &str| {
        let action = Action::Insert { value: Data::Bool(true), before: None };
        let change =
            crate::Change { key: Key::Only(key.into()), document: None, expected: Vec::new(), action };
        let changed = crate::change(Format::Json, text, &[change]).map_err(|(_, fault)| fault)?;
        Ok(super::applied(text, changed))
    };
    check(only("{}", "editor.fontSize"), "{\"editor.fontSize\": true}");
    let refused = Err(Fault::DottedNew("editor.fontSize".into()));
    assert_eq!(only("{\"editor\": {}}", "editor.fontSize"), refused);
    check(only("{\"l\": []}", "l[-1]"), "{\"l\": [true]}");
}

#[test]
fn an_element_is_named_by_its_text() {
    use Format::{Json, Yaml};
    check(delete(Json, "{\"k\": [\"a\", \"b\"]}", "k.b"), "{\"k\": [\"a\"]}");
    let text = "env:\n  - A=1\n  - B=2\n";
    let change = crate::Change {
        key: Key::Steps(["env", "B=2"].map(|step| Step::Word(step.into())).into()),
        document: None,
        expected: Vec::new(),
        action: Action::Delete,
    };
    check(
        crate::change(Yaml, text, &[change]).map(|made| super::applied(text, made)).map_err(|(_, f)| f),
        "env:\n  - A=1\n",
    );
    assert_eq!(delete(Json, "{\"k\": [\"a\", \"a\"]}", "k.a"), Err(Fault::Several(vec![0, 1])));
}

const CARGO: &str = "[package]\nname = \"x\"\n\n[[bin]]\nname = \"a\"\n\n[[bin]]\nname = \"b\"\n\n[profile.release]\nlto = true\n";

#[test]
fn a_new_table_stands_as_its_sisters_do() {
    use Format::Toml;
    let features = "\n[features]\ndefault = [\"x\"]\n";
    check(insert(Toml, CARGO, "features", &json!({"default": ["x"]})), &format!("{CARGO}{features}"));
    check(insert_at(Toml, CARGO, &["features", "default"], &json!(["x"])), &format!("{CARGO}{features}"));
    check(
        insert_at(Toml, CARGO, &["bin", "-1"], &json!({"name": "c"})),
        &CARGO.replace("\"b\"\n", "\"b\"\n\n[[bin]]\nname = \"c\"\n"),
    );
    check(
        insert_at(Toml, CARGO, &["bin", "0"], &json!({"name": "c"})),
        &CARGO.replace("[[bin]]\nname = \"a\"", "[[bin]]\nname = \"c\"\n\n[[bin]]\nname = \"a\""),
    );
    check(
        insert_at(Toml, CARGO, &["test", "-1"], &json!({"name": "t"})),
        &format!("{CARGO}\n[[test]]\nname = \"t\"\n"),
    );
    check(
        insert_at(Toml, CARGO, &["profile", "dev"], &json!({"debug": 1})),
        &format!("{CARGO}\n[profile.dev]\ndebug = 1\n"),
    );
    check(
        before(Toml, CARGO, "workspace", &json!({"members": []}), "profile"),
        &CARGO.replace("[profile", "[workspace]\nmembers = []\n\n[profile"),
    );
    check(
        insert(Toml, "[dependencies]\na = { path = \"x\" }\n", "dependencies.b", &json!({"v": 1})),
        "[dependencies]\na = { path = \"x\" }\nb = { v = 1 }\n",
    );
    let commented = "[a]\nx = 1\n# [a] ends\n\n# of b\n[b]\ny = 1";
    check(
        insert(Toml, commented, "c", &json!({"z": 1})),
        "[a]\nx = 1\n# [a] ends\n\n# of b\n[b]\ny = 1\n\n[c]\nz = 1",
    );
    check(delete(Toml, CARGO, "bin[0]"), &CARGO.replace("[[bin]]\nname = \"a\"\n\n", ""));
}

#[test]
fn a_comment_above_an_entry_belongs_to_it() {
    use Format::{Env, Ini, Json, Toml, Yaml};
    let ports = "ports:\n  - name: http\n  # tls\n  - name: https\n";
    check(
        insert(Yaml, ports, "ports[1]", &json!({"name": "x"})),
        "ports:\n  - name: http\n  - name: x\n  # tls\n  - name: https\n",
    );
    let services = "services:\n  web:\n    a: 1\n  # The database\n  db:\n    a: 2\n  mq:\n    a: 3\n";
    check(
        delete(Yaml, services, "services.db"),
        &services.replace("  # The database\n  db:\n    a: 2\n", ""),
    );
    let json = "{\n  // of a\n  \"a\": 1,\n  /* of b,\n     too */\n  \"b\": 2\n}\n";
    check(delete(Json, json, "a"), &json.replace("  // of a\n  \"a\": 1,\n", ""));
    check(before(Json, json, "n", &json!(3), "b"), &json.replace("  /* of b", "  \"n\": 3,\n  /* of b"));
    let toml = "a = 1\n# of b\nb = 2\n";
    check(delete(Toml, toml, "b"), "a = 1\n");
    check(before(Toml, toml, "n", &json!(3), "b"), "a = 1\nn = 3\n# of b\nb = 2\n");
    check(delete(Env, "A=1\n# of B\nB=2\nC=3\n", "B"), "A=1\nC=3\n");
    check(before(Env, "A=1\n# of B\nB=2\n", "N", &json!(3), "B"), "A=1\nN=3\n# of B\nB=2\n");
    check(delete(Ini, "[s]\na = 1\n; of b\nb = 2\nc = 3\n", "s.b"), "[s]\na = 1\nc = 3\n");
    // One of another indentation, behind a blank line or at the head of the file does not.
    check(delete(Toml, "a = 1\n# head\n\nb = 2\n", "b"), "a = 1\n# head\n");
    check(delete(Yaml, "# Copyright\na: 1\nb: 2\n", "a"), "# Copyright\nb: 2\n");
    let change = crate::Change {
        key: Key::Dotted("services.db".into()),
        document: None,
        expected: Vec::new(),
        action: Action::Delete,
    };
    let gone = Note::CommentGone("# The database".into());
    assert_eq!(crate::change(Yaml, services, &[change]).unwrap().notes, [gone]);
}

#[test]
fn what_is_new_is_written_as_what_it_stands_beside() {
    use Format::{Json, Yaml};
    let json = "{\n  \"a\": [1, 2],\n  \"o\": {\"k\": 1}\n}\n";
    check(insert(Json, json, "b", &json!([3])), &json.replace("1}\n", "1},\n  \"b\": [3]\n"));
    check(insert(Json, json, "b", &json!({"k": 2})), &json.replace("1}\n", "1},\n  \"b\": { \"k\": 2 }\n"));
    let yaml = "push:\n  branches: [a, b]\n";
    check(insert(Yaml, yaml, "push.tags", &json!(["v"])), &format!("{yaml}  tags: [v]\n"));
    let parted = "s:\n  a:\n    x: 1\n\n  b:\n    x: 2\n\nend: 1\n";
    check(
        insert(Yaml, parted, "s.c", &json!({"x": 3})),
        &parted.replace("x: 2\n", "x: 2\n\n  c:\n    x: 3\n"),
    );
    check(before(Yaml, parted, "c", &json!({"x": 3}), "s"), &format!("c:\n  x: 3\n\n{parted}"));
}
