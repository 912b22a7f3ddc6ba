//! A fixture: a folder below `tests/cases/FORMAT` is a workspace before and after a call, with the answer to expect.
//!
//! ```text
//! NAME/case.json   {"code": "ok" or the first problem's code, "reason": one line, and what else is needed of
//!                   "read": [files read before], "path", "format", "versions": {file: "current" or a version},
//!                   "layer": that of the first hunk, "tool" and "arguments": another tool in place of a patch,
//!                   "end_to_end": why it takes more than a plan, where nothing else says so}
//! NAME/patch.txt   the patch, byte for byte; none where there is a tool
//! NAME/input/      the workspace; none is an empty one
//! NAME/expected/   the workspace afterwards; a refused case has none, since it changes nothing
//! ```
//!
//! Two programs read fixtures by this module: the tests of this crate run those that a plan decides, in process;
//! `tests/cases.rs` at the top runs the others and a sample of these against the built command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use emend_edit::Version;
use serde_json::{Map, Value, json};

/// The files of a workspace, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Reads every file in a folder; none if there is no such folder.
pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut todo = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = todo.pop() {
        for name in if folder.is_dir() { names_in(&folder) } else { Vec::new() } {
            let (path, name) = (folder.join(&name), format!("{prefix}{name}"));
            if path.is_dir() {
                todo.push((path, format!("{name}/")));
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the names of the entries of a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A fixture that was read.
pub(crate) struct Case {
    pub(crate) code: String,
    /// The files that the client has read before.
    pub(crate) read: Vec<String>,
    pub(crate) layer: Option<String>,
    pub(crate) tool: String,
    /// All arguments of the call, including the patch.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) input: Files,
    /// The workspace afterwards; unchanged if the call is refused.
    pub(crate) wanted: Files,
    is_planned: bool,
}

impl Case {
    /// Reads the case in a folder. The error says why a case cannot be run.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let known = ["case.json", "patch.txt", "input", "expected"];
        if let Some(unknown) = names_in(folder).iter().find(|name| !known.contains(&&name[..])) {
            return Err(format!("it has a '{unknown}'"));
        }
        let file =
            |name: &str| fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
        let case: Value =
            serde_json::from_str(&file("case.json")?).map_err(|error| format!("case.json: {error}"))?;
        let fields = case.as_object().ok_or("case.json is no object")?;
        let known = [
            "code",
            "reason",
            "read",
            "path",
            "format",
            "versions",
            "layer",
            "tool",
            "arguments",
            "end_to_end",
        ];
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&&key[..])) {
            return Err(format!("case.json has an unknown field '{unknown}'"));
        }
        let text = |name: &str| case[name].as_str().ok_or_else(|| format!("case.json has no '{name}'"));
        if text("reason")?.is_empty() || text("reason")?.contains('\n') {
            return Err("the reason is one line".into());
        }
        let code = text("code")?.to_owned();
        let input = files(&folder.join("input"));
        let wanted = match (&code[..], folder.join("expected")) {
            ("ok", expected) => files(&expected),
            (_, expected) if expected.exists() => {
                return Err("a refused case changes nothing, so it has no 'expected'".into());
            }
            _ => input.clone(),
        };
        if code == "ok" && wanted == input {
            return Err("input and expected are the same".into());
        }
        let tool = case["tool"].as_str().unwrap_or("apply_patch").to_owned();
        let mut arguments = case["arguments"].as_object().cloned().unwrap_or_default();
        for name in ["path", "format", "versions"] {
            if let Some(value) = fields.get(name) {
                arguments.insert(name.into(), value.clone());
            }
        }
        if tool == "apply_patch" {
            arguments.insert("patch".into(), file("patch.txt")?.into());
        } else if folder.join("patch.txt").exists() {
            return Err(format!("{tool} takes no patch"));
        }
        settle_versions(&mut arguments, &input);
        // A plan does not decide about files that were read, versions, or the arguments of tools.
        let more = ["read", "versions", "tool", "end_to_end"];
        let is_planned = !more.iter().any(|field| fields.contains_key(*field))
            && !matches!(&code[..], "not-read" | "stale-file");
        let read = case["read"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(Self {
            read: read.map(Into::into).collect(),
            layer: case["layer"].as_str().map(Into::into),
            code,
            tool,
            arguments,
            input,
            wanted,
            is_planned,
        })
    }

    /// Returns whether the parser and the plan decide the whole case.
    pub(crate) fn is_planned(&self) -> bool {
        self.is_planned
    }

    /// Compares the outcome with the expected one: the code, the layer of the first hunk, and all files.
    pub(crate) fn check(
        &self,
        code: &str,
        layer: Option<&str>,
        found: &Files,
        said: &str,
    ) -> Result<(), String> {
        if code != self.code {
            return Err(format!("expected {}, got {code}:\n{said}", self.code));
        }
        if self.layer.is_some() && self.layer.as_deref() != layer {
            return Err(format!("expected the layer {:?}, got {layer:?}:\n{said}", self.layer));
        }
        let show = |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let names = self.wanted.keys().chain(found.keys().filter(|name| !self.wanted.contains_key(*name)));
        let different: Vec<String> = names
            .map(|name| (name, self.wanted.get(name), found.get(name)))
            .filter(|(_, wanted, found)| wanted != found)
            .map(|(name, wanted, found)| {
                format!("{name}:\n  wanted {:?}\n  found  {:?}", show(wanted), show(found))
            })
            .collect();
        if different.is_empty() { Ok(()) } else { Err(different.join("\n")) }
    }
}

/// Replaces the word "current" by the version of the file.
fn settle_versions(arguments: &mut Map<String, Value>, input: &Files) {
    let settle = |version: &mut Value, name: &str| {
        if version == "current" {
            *version = json!(Version::hash(input.get(name).map_or(&[], Vec::as_slice)).short());
        }
    };
    if let Some(versions) = arguments.get_mut("versions").and_then(Value::as_object_mut) {
        for (name, version) in versions {
            settle(version, name);
        }
    }
    if let Some(path) = arguments.get("path").and_then(Value::as_str).map(str::to_owned)
        && let Some(version) = arguments.get_mut("version")
    {
        settle(version, &path);
    }
}

/// Returns every fixture with its name, `FORMAT/NAME`, sorted.
pub(crate) fn all(root: &Path) -> Vec<(String, Result<Case, String>)> {
    let mut found = Vec::new();
    for format in names_in(root) {
        let cases = names_in(&root.join(&format));
        assert!(!cases.is_empty(), "{format} has no cases");
        for name in cases {
            let name = format!("{format}/{name}");
            let folder: PathBuf = root.join(&name);
            found.push((name, Case::read(&folder)));
        }
    }
    found
}
