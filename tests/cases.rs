//! Fixtures: each folder below `cases/FORMAT` is a workspace before and after a call, with the answer to expect.
//!
//! ```text
//! NAME/case.json   {"code": "ok" or the first problem's code, "reason": one line, and what else is needed of
//!                   "read": [files read before], "path", "format", "versions": {file: "current" or a version},
//!                   "layer": that of the first hunk, "tool" and "arguments": another tool in place of a patch}
//! NAME/patch.txt   the patch, byte for byte; none where there is a tool
//! NAME/input/      the workspace; none is an empty one
//! NAME/expected/   the workspace afterwards; a refused case has none, since it changes nothing
//! ```
//!
//! Each case has a server of its own: what one remembers must not help another.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use emend_edit::find::LAYERS;
use emend_edit::{Code, Version};
use emend_testkit::{Folder, Tree, folder};
use serde_json::{Map, Value, json};

use crate::serve;

/// The folders below `cases`, each with its test.
const FORMATS: &[&str] = &["v4a", "unified", "context", "ed", "rcs", "search-replace", "whole", "layers"];
/// How many cases run at once. They mostly wait for the disk.
const AT_ONCE: usize = 4;

#[test]
fn v4a() {
    check_all("v4a");
}

#[test]
fn unified() {
    check_all("unified");
}

#[test]
fn context() {
    check_all("context");
}

#[test]
fn ed() {
    check_all("ed");
}

#[test]
fn rcs() {
    check_all("rcs");
}

#[test]
fn search_replace() {
    check_all("search-replace");
}

#[test]
fn whole() {
    check_all("whole");
}

#[test]
fn layers() {
    check_all("layers");
}

#[test]
fn no_folder_is_forgotten() {
    let found: BTreeSet<String> = names(&root()).into_iter().collect();
    let tested: BTreeSet<String> = FORMATS.iter().map(|&format| format.into()).collect();
    assert_eq!(found, tested);
    let known = ["case.json", "patch.txt", "input", "expected"];
    for (format, name) in FORMATS
        .iter()
        .flat_map(|format| names(&root().join(format)).into_iter().map(move |name| (format, name)))
    {
        let unknown: Vec<String> = names(&root().join(format).join(&name))
            .into_iter()
            .filter(|entry| !known.contains(&&entry[..]))
            .collect();
        assert!(unknown.is_empty(), "{format}/{name} has {unknown:?}");
    }
}

#[test]
fn every_layer_is_shown() {
    let shown: BTreeSet<String> = names(&root().join("layers"))
        .iter()
        .filter_map(|name| {
            let text = fs::read_to_string(root().join("layers").join(name).join("case.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["layer"].as_str().map(Into::into)
        })
        .collect();
    let all: BTreeSet<String> = LAYERS.iter().map(|layer| layer.name().into()).collect();
    assert_eq!(shown, all);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// What is in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Checks every case of a format, and reports all that fail.
fn check_all(format: &str) {
    let cases = root().join(format);
    let names = names(&cases);
    assert!(!names.is_empty());
    let check = |name: &String| check(&cases.join(name)).err().map(|why| format!("{format}/{name}: {why}"));
    let failures: Vec<String> = thread::scope(|scope| {
        let part = names.len().div_ceil(AT_ONCE);
        let parts: Vec<_> = names
            .chunks(part)
            .map(|part| scope.spawn(move || part.iter().filter_map(check).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} of {} fail\n\n{}", failures.len(), names.len(), failures.join("\n\n"));
}

/// What a case says besides its files.
struct Case {
    code: String,
    read: Vec<String>,
    layer: Option<String>,
    tool: String,
    /// All of the call, but for the patch.
    arguments: Map<String, Value>,
}

impl Case {
    fn parse(text: &str, input: &Path) -> Result<Self, String> {
        let case: Value = serde_json::from_str(text).map_err(|error| format!("case.json: {error}"))?;
        let fields = case.as_object().ok_or("case.json is no object")?;
        let known = ["code", "reason", "read", "path", "format", "versions", "layer", "tool", "arguments"];
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&&key[..])) {
            return Err(format!("case.json has an unknown field '{unknown}'"));
        }
        let text = |name: &str| case[name].as_str().ok_or_else(|| format!("case.json has no '{name}'"));
        if text("reason")?.is_empty() || text("reason")?.contains('\n') {
            return Err("the reason is one line".into());
        }
        let code = text("code")?.to_owned();
        if code != "ok" && !Code::ALL.iter().any(|known| known.as_str() == code) {
            return Err(format!("there is no code '{code}'"));
        }
        let mut arguments = case["arguments"].as_object().cloned().unwrap_or_default();
        for name in ["path", "format", "versions"] {
            if let Some(value) = fields.get(name) {
                arguments.insert(name.into(), value.clone());
            }
        }
        if let Some(versions) = arguments.get_mut("versions").and_then(Value::as_object_mut) {
            for (name, version) in versions {
                settle(version, input, name);
            }
        }
        if let Some(path) = arguments.get("path").and_then(Value::as_str).map(str::to_owned)
            && let Some(version) = arguments.get_mut("version")
        {
            settle(version, input, &path);
        }
        Ok(Self {
            code,
            read: case["read"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(Into::into)
                .collect(),
            layer: case["layer"].as_str().map(Into::into),
            tool: case["tool"].as_str().unwrap_or("apply_patch").into(),
            arguments,
        })
    }
}

/// Puts the version of a file in the place of the word "current".
fn settle(version: &mut Value, input: &Path, name: &str) {
    if version == "current" {
        let bytes = fs::read(input.join(name)).unwrap_or_default();
        *version = json!(Version::of(&bytes).short());
    }
}

fn check(path: &Path) -> Result<(), String> {
    let file = |name: &str| fs::read_to_string(path.join(name)).map_err(|error| format!("{name}: {error}"));
    let (input, expected) = (path.join("input"), path.join("expected"));
    let mut case = Case::parse(&file("case.json")?, &input)?;
    let refused = case.code != "ok";
    if refused && expected.exists() {
        return Err("a refused case changes nothing, so it has no 'expected'".into());
    }
    if case.tool == "apply_patch" {
        case.arguments.insert("patch".into(), file("patch.txt")?.into());
    } else if path.join("patch.txt").exists() {
        return Err(format!("{} takes no patch", case.tool));
    }
    let workspace = Folder::new();
    copy(&input, workspace.path());
    let mut client = serve(&workspace);
    for name in &case.read {
        client.read(name);
    }
    let answer = client.call(&case.tool, case.arguments.into());
    let code = answer.code().unwrap_or("ok");
    if code != case.code {
        return Err(format!("expected {}, got {code}:\n{}", case.code, answer.text));
    }
    if let Some(layer) = case.layer {
        let found = answer.structured["files"][0]["hunks"][0]["layer"].as_str();
        if found != Some(&layer) {
            return Err(format!("expected the layer {layer}, got {found:?}:\n{}", answer.text));
        }
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
