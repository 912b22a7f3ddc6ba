//! Where what is new goes, and what goes with what is deleted.

use serde_json::json;

use super::{before, check, delete, insert, made};
use crate::{Action, Data, Fault, Format, Key, Step};

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
fn a_key_of_no_section() {
    // Wrong: no program reads this file any more.
    check(insert(Format::Ini, INI, "level", &json!("DEBUG")), &format!("level = DEBUG\n{INI}"));
}

#[test]
fn a_step_that_is_for_lists() {
    // Wrong: these are keys that nobody meant.
    let text = "{\"deps\": {\"a\": 1}}";
    check(
        insert_at(Format::Json, text, &["deps", "name=zod"], &json!("3")),
        "{\"deps\": {\"a\": 1, \"name=zod\": \"3\"}}",
    );
    check(
        insert_at(Format::Json, text, &["deps", "-1"], &json!("3")),
        "{\"deps\": {\"a\": 1, \"-1\": \"3\"}}",
    );
    // Wrong: the list is lost.
    check(
        made(Format::Json, "{\"files\": [1, 2]}", "files", Action::Set(Data::Text("x".into()))),
        "{\"files\": \"x\"}",
    );
    // Wrong: it is another key.
    check(insert(Format::Json, "{}", "$schema", &json!("x")), "{\"schema\": \"x\"}");
}

const CARGO: &str = "[package]\nname = \"x\"\n\n[[bin]]\nname = \"a\"\n\n[[bin]]\nname = \"b\"\n\n[profile.release]\nlto = true\n";

#[test]
fn a_new_table() {
    use Format::Toml;
    // Wrong: it is valid, and no manifest is written so.
    check(
        insert(Toml, CARGO, "features", &json!({"default": ["x"]})),
        &format!("features = {{ default = [\"x\"] }}\n\n{CARGO}"),
    );
    // Wrong: nothing that the refusal says leads on.
    assert_eq!(insert_at(Toml, CARGO, &["bin", "-1"], &json!({"name": "c"})), Err(Fault::Table));
    assert_eq!(insert_at(Toml, CARGO, &["profile", "dev"], &json!({"debug": 1})), Err(Fault::Table));
    // Wrong: two blank lines.
    check(delete(Toml, CARGO, "bin[0]"), &CARGO.replace("[[bin]]\nname = \"a\"\n", ""));
}

#[test]
fn a_comment_above_an_entry() {
    use Format::{Env, Ini, Json, Toml, Yaml};
    // Wrong: the comment is about another one now.
    let ports = "ports:\n  - name: http\n  # tls\n  - name: https\n";
    check(
        insert(Yaml, ports, "ports[1]", &json!({"name": "x"})),
        "ports:\n  - name: http\n  # tls\n  - name: x\n  - name: https\n",
    );
    let services = "services:\n  web:\n    a: 1\n  # The database\n  db:\n    a: 2\n  mq:\n    a: 3\n";
    check(delete(Yaml, services, "services.db"), &services.replace("  db:\n    a: 2\n", ""));
    let json = "{\n  // of a\n  \"a\": 1,\n  // of b\n  \"b\": 2\n}\n";
    check(delete(Json, json, "a"), &json.replace("  \"a\": 1,\n", ""));
    check(before(Json, json, "n", &json!(3), "b"), &json.replace("\"b\"", "\"n\": 3,\n  \"b\""));
    let toml = "a = 1\n# of b\nb = 2\n";
    check(delete(Toml, toml, "b"), "a = 1\n# of b\n");
    check(before(Toml, toml, "n", &json!(3), "b"), "a = 1\n# of b\nn = 3\nb = 2\n");
    check(delete(Env, "A=1\n# of B\nB=2\nC=3\n", "B"), "A=1\n# of B\nC=3\n");
    check(delete(Ini, "[s]\na = 1\n; of b\nb = 2\nc = 3\n", "s.b"), "[s]\na = 1\n; of b\nc = 3\n");
}
