//! Refusals name tools and arguments that the client has, or say how they are called in its dialect.

use emend_testkit::Folder;
use serde_json::{Value, json};

use super::speaking;

const OURS: [&str; 11] = [
    "read_file",
    "list_files",
    "write_file",
    "str_replace",
    "replace_in_files",
    "replace_lines",
    "apply_patch",
    "replace_all",
    "expected_count",
    "old_string",
    "new_string",
];

/// The names of the tools and of their arguments in a list of tools, at any depth.
fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                names.extend(properties.keys().cloned());
            }
            names.extend(fields.get("name").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|inner| collect(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, names)),
        _ => {}
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn what_a_refusal_names_is_there_or_translated_in_every_dialect() {
    let dialects =
        ["claude", "text-editor", "codex", "gemini", "openhands", "cline", "roo", "aider", "opencode"];
    for dialect in dialects {
        let folder = Folder::with([("a.txt", "tea\ncake\ntea\n"), ("long.txt", &"cake\n".repeat(9_000))]);
        let mut client = speaking(&folder, dialect);
        let mut there = Vec::new();
        collect(&json!(client.tools()), &mut there);
        let edit = |old: &str| json!({"path": "a.txt", "old_string": old, "new_string": "x"});
        let mut counted = edit("tea");
        counted["expected_count"] = 3.into();
        for (tool, arguments, code) in [
            ("write_file", json!({"path": "a.txt", "content": "x\n"}), "not-read"),
            ("str_replace", edit("tea"), "ambiguous-match"),
            ("str_replace", counted, "ambiguous-match"),
            ("str_replace", edit("coffee"), "search-not-found"),
            ("str_replace", edit(""), "already-exists"),
            ("str_replace", json!({"path": "a.txt", "old_strin": "x"}), "unknown-argument"),
            ("read_file", json!({"path": "a.txt", "offset": 99}), "invalid-argument"),
        ] {
            let answer = client.call(tool, arguments).refused(code);
            let told = answer.text.split_once("\n(Here ").map_or("", |(_, told)| told);
            for name in words(&answer.text).filter(|word| OURS.contains(word)) {
                let is_there = there.iter().any(|known| known == name);
                assert!(
                    is_there || words(told).any(|word| word == name),
                    "{dialect}: {name}: {}",
                    answer.text
                );
            }
        }
        let part = client.call("read_file", json!({"path": "long.txt"})).ok().text;
        let more = part.lines().find(|line| line.contains("There is more: ")).unwrap_or_default();
        for name in words(more).filter(|word| OURS.contains(word) || *word == "offset") {
            assert!(there.iter().any(|known| known == name), "{dialect}: {name}: {part}");
        }
    }
}
