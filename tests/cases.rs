//! Fixtures: each folder below `cases/FORMAT` is a workspace before and after a patch, with the answer to expect.
//!
//! ```text
//! NAME/case.json   {"code": "ok" or the first problem's code, "reason": one line, "read": [files read before]}
//! NAME/patch.txt   the patch, byte for byte
//! NAME/input/      the workspace; none is an empty one
//! NAME/expected/   the workspace afterwards; a refused case has none, since it changes nothing
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use emend_testkit::{Folder, Tree, folder};
use serde_json::{Value, json};

use crate::serve;

#[test]
fn v4a() {
    check_all("v4a");
}

/// Checks every case of a format, and reports all that fail.
fn check_all(format: &str) {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format);
    let mut names: Vec<String> = fs::read_dir(&cases)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let failures: Vec<String> = names
        .iter()
        .filter_map(|name| check(&cases.join(name)).err().map(|why| format!("{format}/{name}: {why}")))
        .collect();
    assert!(failures.is_empty(), "{} of {} fail\n\n{}", failures.len(), names.len(), failures.join("\n\n"));
}

/// What a case says besides its files.
struct Case {
    code: String,
    read: Vec<String>,
}

impl Case {
    fn parse(text: &str) -> Result<Self, String> {
        let case: Value = serde_json::from_str(text).map_err(|error| format!("case.json: {error}"))?;
        let known = ["code", "reason", "read"];
        if let Some(unknown) =
            case.as_object().ok_or("no object")?.keys().find(|key| !known.contains(&&key[..]))
        {
            return Err(format!("case.json has an unknown field '{unknown}'"));
        }
        let text = |name: &str| case[name].as_str().ok_or_else(|| format!("case.json has no '{name}'"));
        if text("reason")?.is_empty() || text("reason")?.contains('\n') {
            return Err("the reason is one line".into());
        }
        let read = case["read"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(Self { code: text("code")?.into(), read: read.map(Into::into).collect() })
    }
}

fn check(path: &Path) -> Result<(), String> {
    let file = |name: &str| fs::read_to_string(path.join(name)).map_err(|error| format!("{name}: {error}"));
    let case = Case::parse(&file("case.json")?)?;
    let (input, expected) = (path.join("input"), path.join("expected"));
    let refused = case.code != "ok";
    if refused && expected.exists() {
        return Err("a refused case changes nothing, so it has no 'expected'".into());
    }
    let workspace = Folder::new();
    copy(&input, workspace.path());
    let mut client = serve(&workspace);
    for name in &case.read {
        client.read(name);
    }
    let answer = client.call("apply_patch", json!({"patch": file("patch.txt")?}));
    let code = answer.code().unwrap_or("ok");
    if code != case.code {
        return Err(format!("expected {}, got {code}:\n{}", case.code, answer.text));
    }
    let wanted = folder::tree(if refused { &input } else { &expected });
    if !refused && wanted == folder::tree(&input) {
        return Err("input and expected are the same".into());
    }
    compare(&wanted, &workspace.tree())
}

fn compare(wanted: &Tree, found: &Tree) -> Result<(), String> {
    let names = wanted.keys().chain(found.keys().filter(|name| !wanted.contains_key(*name)));
    let show = |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let different: Vec<String> = names
        .filter(|name| wanted.get(*name) != found.get(*name))
        .map(|name| {
            format!("{name}:\n  wanted {:?}\n  found  {:?}", show(wanted.get(name)), show(found.get(name)))
        })
        .collect();
    if different.is_empty() { Ok(()) } else { Err(different.join("\n")) }
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in folder::tree(from) {
        let target: PathBuf = to.join(name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}
