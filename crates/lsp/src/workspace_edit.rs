//! An edit that a server proposes: changes of texts, and moves of files.
//!
//! What goes beyond that is no edit for us: creating or deleting files, and changes that a person must confirm one by
//! one, are refused as a whole, since a part of an edit is another edit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::position::{ColumnUnits, Lines, Position};
use crate::wire;

/// An edit that a server proposes. Two are equal if they do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceEdit {
    units: ColumnUnits,
    /// The changes of each file, by the path that it has before the edit.
    files: BTreeMap<PathBuf, Vec<RangeEdit>>,
    /// The files and folders that move, with their old and new paths.
    moves: Vec<(PathBuf, PathBuf)>,
}

/// A change of a range of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RangeEdit {
    start: Position,
    end: Position,
    new: String,
}

/// A piece of a text, by its bytes, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The bytes.
    pub range: Range<usize>,
    /// What takes their place.
    pub new: String,
}

impl WorkspaceEdit {
    /// Reads an edit as a server sends it; `null` is an empty one. The error says what cannot be done.
    pub(crate) fn read(sent: &Value, units: ColumnUnits) -> Result<Self, String> {
        let mut edit = Self { units, files: BTreeMap::new(), moves: Vec::new() };
        let confirmed = |annotation: &Value| annotation["needsConfirmation"].as_bool() != Some(true);
        let mut annotations = sent["changeAnnotations"].as_object().into_iter().flat_map(|all| all.values());
        if !annotations.all(confirmed) {
            return Err("it wants each change to be confirmed by a person".to_owned());
        }
        match &sent["documentChanges"] {
            Value::Array(steps) => {
                for step in steps {
                    edit.step(step)?;
                }
            }
            _ => {
                for (uri, edits) in sent["changes"].as_object().into_iter().flatten() {
                    edit.change(uri, edits)?;
                }
            }
        }
        edit.files.retain(|_, edits| !edits.is_empty());
        edit.files.values_mut().for_each(|edits| edits.sort_by_key(|edit| (edit.start, edit.end)));
        Ok(edit)
    }

    /// Returns the versions of documents for which an edit says that it is.
    pub(crate) fn versions(sent: &Value) -> impl Iterator<Item = (PathBuf, i64)> {
        let steps = sent["documentChanges"].as_array().into_iter().flatten();
        steps.filter_map(|step| {
            let document = &step["textDocument"];
            Some((wire::path(document["uri"].as_str()?)?, document["version"].as_i64()?))
        })
    }

    /// Joins what the moves of this edit bring. Some servers name a change in both.
    pub(crate) fn join(&mut self, brought: Self) {
        for (path, edits) in brought.files {
            let own = self.files.entry(path).or_default();
            let new: Vec<RangeEdit> = edits.into_iter().filter(|edit| !own.contains(edit)).collect();
            own.extend(new);
            own.sort_by_key(|edit| (edit.start, edit.end));
        }
        let new: Vec<_> = brought.moves.into_iter().filter(|moved| !self.moves.contains(moved)).collect();
        self.moves.extend(new);
    }

    fn step(&mut self, step: &Value) -> Result<(), String> {
        match step["kind"].as_str() {
            None => {
                let uri = step["textDocument"]["uri"].as_str().unwrap_or_default();
                self.change(uri, &step["edits"])
            }
            Some("rename") => {
                let path = |name: &str| wire::path(step[name].as_str()?);
                let (Some(from), Some(to)) = (path("oldUri"), path("newUri")) else {
                    return Err("it moves what is no file".to_owned());
                };
                self.moves.push((self.origin(&from), to));
                Ok(())
            }
            Some(kind) => Err(format!("it also wants to {kind} a file")),
        }
    }

    fn change(&mut self, uri: &str, edits: &Value) -> Result<(), String> {
        let path = wire::path(uri).ok_or_else(|| format!("it changes what is no file: {uri}"))?;
        let own = self.files.entry(self.origin(&path)).or_default();
        for edit in edits.as_array().ok_or("it does not say what it changes")? {
            let place = |end: &str| {
                let part = |name: &str| u32::try_from(edit["range"][end][name].as_u64()?).ok();
                Some(Position { line: part("line")?, units: part("character")? })
            };
            let (Some(start), Some(end), Some(new)) =
                (place("start"), place("end"), edit["newText"].as_str())
            else {
                return Err("it does not say what it changes".to_owned());
            };
            own.push(RangeEdit { start, end, new: new.to_owned() });
        }
        Ok(())
    }

    /// Returns the path that a file had before the moves so far.
    fn origin(&self, path: &Path) -> PathBuf {
        let moved = self.moves.iter().rev().find_map(|(from, to)| {
            let below = path.strip_prefix(to).ok()?;
            Some(if below.as_os_str().is_empty() { from.clone() } else { from.join(below) })
        });
        moved.unwrap_or_else(|| path.to_owned())
    }

    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.moves.is_empty()
    }

    /// Returns the files whose text changes, by the paths that they have before.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Returns the files and folders that move, with their old and new paths.
    #[must_use]
    pub fn moves(&self) -> &[(PathBuf, PathBuf)] {
        &self.moves
    }

    /// Returns the changes of a file with this text, in order; `None` if the text is not the one that they are for.
    #[must_use]
    pub fn changes(&self, path: &Path, text: &str) -> Option<Vec<TextChange>> {
        let edits = self.files.get(path)?;
        if has_other_line_breaks(text) {
            return None;
        }
        let lines = Lines::new(text);
        let mut changes: Vec<TextChange> = Vec::with_capacity(edits.len());
        let mut last_edit = None;
        for edit in edits {
            let RangeEdit { start, end, new } = edit;
            let range = lines.offset(self.units, *start)?..lines.offset(self.units, *end)?;
            if range.end < range.start {
                return None;
            }
            // Some servers name a place twice.
            if !range.is_empty() && last_edit.replace(edit) == Some(edit) {
                continue;
            }
            match changes.last_mut() {
                Some(last) if range.start < last.range.end => return None,
                // What comes where the one before ends, such as a second insertion, stands behind it.
                Some(last) if range.start == last.range.end => {
                    last.range.end = range.end;
                    last.new.push_str(new);
                }
                _ => changes.push(TextChange { range, new: new.clone() }),
            }
        }
        Some(changes)
    }
}

/// Returns whether a text has characters that some servers take for the end of a line, and others do not.
fn has_other_line_breaks(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'\r') {
        rest = &rest[at + 1..];
        if rest.first() != Some(&b'\n') {
            return true;
        }
    }
    text.contains(['\u{2028}', '\u{2029}'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(line: u32, from: u32, to: u32, new: &str) -> Value {
        let at = |character: u32| json!({"line": line, "character": character});
        json!({"range": {"start": at(from), "end": at(to)}, "newText": new})
    }

    fn read(sent: &Value) -> Result<WorkspaceEdit, String> {
        WorkspaceEdit::read(sent, ColumnUnits::Utf16)
    }

    fn applied(edit: &WorkspaceEdit, path: &str, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for change in edit.changes(Path::new(path), &text)?.into_iter().rev() {
            text.replace_range(change.range, &change.new);
        }
        Some(text)
    }

    #[test]
    fn both_spellings_are_the_same_edit() {
        let edits = json!([change(1, 0, 2, "ef"), change(0, 1, 1, "x"), change(0, 1, 1, "y")]);
        let old = read(&json!({"changes": {"file:///a": edits}})).expect("an edit");
        let uri = json!({"uri": "file:///a", "version": 3});
        let new =
            read(&json!({"documentChanges": [{"textDocument": uri, "edits": edits}]})).expect("an edit");
        assert_eq!(old, new);
        assert_eq!(applied(&old, "/a", "😀ab\ncd\n"), None, "within a character");
        assert_eq!(applied(&old, "/a", "ab\r\ncd\r\n").as_deref(), Some("axyb\r\nef\r\n"));
        assert_eq!(old.files().collect::<Vec<_>>(), [Path::new("/a")]);
        assert!(read(&Value::Null).expect("an edit").is_empty());
    }

    #[test]
    fn changes_that_touch_are_one() {
        let edit = |edits: Value| read(&json!({"changes": {"file:///a": edits}})).expect("an edit");
        let behind = edit(json!([change(0, 0, 2, "new"), change(0, 2, 2, " as old")]));
        assert_eq!(behind.changes(Path::new("/a"), "ab;").map(|changes| changes.len()), Some(1));
        assert_eq!(applied(&behind, "/a", "ab;").as_deref(), Some("new as old;"));
        let before = edit(json!([change(0, 0, 2, "new"), change(0, 0, 0, "old as ")]));
        assert_eq!(applied(&before, "/a", "ab;").as_deref(), Some("old as new;"));
        let twice = edit(json!([change(0, 0, 2, "new"), change(0, 0, 2, "new")]));
        assert_eq!(applied(&twice, "/a", "ab;").as_deref(), Some("new;"));
    }

    #[test]
    fn a_text_that_is_another_is_not_changed() {
        let edit = |edits: Value| read(&json!({"changes": {"file:///a": edits}})).expect("an edit");
        let one = edit(json!([change(0, 1, 2, "x")]));
        for text in ["a", "a\rb\n", "ab\u{2028}\n", ""] {
            assert_eq!(applied(&one, "/a", text), None, "{text:?}");
        }
        assert_eq!(one.changes(Path::new("/b"), "ab"), None);
        let overlapping = edit(json!([change(0, 0, 2, "x"), change(0, 1, 3, "y")]));
        assert_eq!(applied(&overlapping, "/a", "abcd"), None);
    }

    #[test]
    fn what_changes_after_a_move_is_known_by_its_old_path() {
        let steps = json!([
            {"kind": "rename", "oldUri": "file:///old/x", "newUri": "file:///new"},
            {"textDocument": {"uri": "file:///new", "version": null}, "edits": [change(0, 0, 1, "b")]},
            {"kind": "rename", "oldUri": "file:///f", "newUri": "file:///g"},
            {"textDocument": {"uri": "file:///g/h", "version": null}, "edits": [change(0, 0, 1, "b")]},
        ]);
        let edit = read(&json!({"documentChanges": steps})).expect("an edit");
        assert_eq!(edit.files().collect::<Vec<_>>(), [Path::new("/f/h"), Path::new("/old/x")]);
        let moves: Vec<(PathBuf, PathBuf)> =
            vec![("/old/x".into(), "/new".into()), ("/f".into(), "/g".into())];
        assert_eq!(edit.moves(), moves);
    }

    #[test]
    fn what_is_no_edit_of_ours_is_refused_as_a_whole() {
        let file = json!({"textDocument": {"uri": "file:///a"}, "edits": [change(0, 0, 0, "x")]});
        let refused = |sent: Value| read(&sent).expect_err("refused");
        let create = json!({"kind": "create", "uri": "file:///b"});
        assert!(refused(json!({"documentChanges": [file, create]})).contains("create"));
        let asks = json!({"a": {"label": "?", "needsConfirmation": true}});
        assert!(refused(json!({"documentChanges": [file], "changeAnnotations": asks})).contains("confirmed"));
        assert!(refused(json!({"changes": {"untitled:x": []}})).contains("no file"));
        assert!(refused(json!({"changes": {"file:///a": [{"newText": "x"}]}})).contains("does not say"));
    }
}
