//! `set_value`: values of data files by their keys. What is found in a version becomes a patch of that version, with a hunk for
//! each place that changes.

use std::collections::BTreeMap;

use emend_data::{Action, Change, Data, Format, Key, Splice, Step};
use emend_edit::patch::Patch;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{NotDone, Origin};
use rmcp::model::JsonObject;

use super::Call;
use super::edit_request::EditRequest;
use super::places::proven_places;
use super::spec::{About, EditTool, Effect, ToolArguments};
use crate::messages::data::Asked;
use crate::wire::{OneValue, SetValue};
use crate::{arguments, messages, schema};

impl ToolArguments for SetValue {
    const ABOUT: About = About {
        name: "set_value",
        title: "Edit JSON, TOML or YAML: set a value",
        description: "Set, add or remove values by key in JSON, TOML, YAML, .env and INI files.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for SetValue {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let refused = |problem: Problem| NotDone::Refused(vec![problem]);
        let Self { path, version, edits, one } = self;
        let edits = match (edits, one.key.is_some()) {
            (Some(_), true) => return Err(refused(invalid("edits", "give either key or edits"))),
            (None, false) => return Err(refused(invalid("key", "it is required, or edits"))),
            (None, true) => vec![one],
            (Some(edits), false) => {
                if let Some(name) = one.given() {
                    return Err(refused(invalid(name, "with edits, it belongs into each of them")));
                }
                several(edits).map_err(refused)?
            }
        };
        let snapshot = call.workspace.files().read_within(&path, call.effort);
        let (name, snapshot) = snapshot.map_err(|why| match why {
            NotDone::NotQuick => NotDone::NotQuick,
            NotDone::Refused(problem) => refused(problem),
        })?;
        let Some(format) = Format::of(&name) else {
            let message = "its name tells no format; this is for JSON, TOML, YAML, .env and INI files, and str_replace for all";
            return Err(refused(invalid("path", message).at(&name)));
        };
        let text = snapshot.text.known_characters().map_err(|kind| refused(Problem::new(kind).at(&name)))?;
        if text.is_empty() {
            return Err(refused(
                invalid("path", "the file is empty, so there is no key; write_file writes it").at(&name),
            ));
        }
        let several = edits.len() > 1;
        let mut changes = Vec::new();
        for (at, edit) in edits.into_iter().enumerate() {
            let of_this = |problem: Problem| Problem { edit: several.then_some(at + 1), ..problem.at(&name) };
            changes.push(edit.change().map_err(|problem| refused(of_this(problem)))?);
        }
        let changed = match emend_data::change(format, text, &changes) {
            Ok(changed) => changed,
            Err((at, fault)) => {
                let asked = match changes[at].action {
                    Action::Insert { .. } => Asked::Insert,
                    Action::Set(_) | Action::SetText(_) => Asked::Set,
                    Action::Delete => Asked::Present,
                };
                let (argument, message) = messages::data::fault(&fault, format, asked);
                let problem = invalid(argument, &message).at(&name);
                // If the same call was made before, its value is there already, or its key is gone.
                let refusal = Some(Problem { edit: several.then_some(at + 1), ..problem });
                return Ok(EditRequest { refusal, ..EditRequest::new(Patch::replace_places([]), origin) });
            }
        };
        let start = snapshot.text.body().start;
        let places =
            proven_places(text, start, changed.splices.into_iter().map(|Splice { range, new }| (range, new)));
        let patch = Patch::replace_places([(name.clone(), places)]);
        let is_named = version.is_some();
        let version = version.unwrap_or_else(|| snapshot.text.version().short());
        Ok(EditRequest {
            versions: BTreeMap::from([(name, version)]),
            places_are_found: !is_named,
            notes: changed.notes.iter().map(messages::data::note).collect(),
            ..EditRequest::new(patch, origin)
        })
    }
}

/// Reads changes, each of which has the arguments of one.
fn several(edits: Vec<JsonObject>) -> Result<Vec<OneValue>, Problem> {
    let schema = schema::generate::<OneValue>();
    let one = |(at, edit)| {
        arguments::read(&schema, edit).map_err(|problem| Problem { edit: Some(at + 1), ..problem })
    };
    edits.into_iter().enumerate().map(one).collect()
}

impl OneValue {
    /// Returns the name of an argument that is given.
    fn given(&self) -> Option<&'static str> {
        let Self { key, value, json, expected, insert, before, delete, document } = self;
        let given = [
            ("key", key.is_some()),
            ("value", value.is_some()),
            ("json", json.is_some()),
            ("expected", expected.is_some()),
            ("insert", insert.is_some()),
            ("before", before.is_some()),
            ("delete", delete.is_some()),
            ("document", document.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    fn change(self) -> Result<Change, Problem> {
        let Self { key, value, json, expected, insert, before, delete, document } = self;
        let key = key.filter(|key| !key.is_empty()).ok_or_else(|| invalid("key", "it is required"))?;
        let new = match (value, json) {
            (Some(text), Some(_)) if !text.is_empty() => {
                return Err(invalid("json", "give either value, for a text, or json, for all else"));
            }
            (_, Some(json)) => Some(New::Json(emend_data::from_json(&json).map_err(|unread| {
                invalid("json", &format!("it is no JSON ({}); a text goes into value", unread.why))
            })?)),
            (text, None) => text.map(New::Text),
        };
        let is_insert = insert == Some(true) || before.is_some();
        if is_insert && expected.is_some() {
            return Err(invalid("expected", "insert adds a key, where nothing stands yet"));
        }
        let action = match (new, delete == Some(true)) {
            (None | Some(New::Text(_)), true) if is_insert => {
                return Err(invalid("delete", "insert adds a key, and delete removes one"));
            }
            (Some(New::Text(text)), true) if !text.is_empty() => {
                return Err(invalid("delete", "value sets a text, and delete removes it"));
            }
            (Some(New::Json(_)), true) => {
                return Err(invalid("delete", "json sets a value, and delete removes it"));
            }
            (_, true) => Action::Delete,
            (Some(new), false) if is_insert => Action::Insert { value: new.value(), before },
            (Some(New::Text(text)), false) => Action::SetText(text),
            (Some(New::Json(value)), false) => Action::Set(value),
            (None, false) => return Err(invalid("value", "give value, json or delete")),
        };
        Ok(Change {
            key: steps(key),
            document,
            expected: expected.map(expected_value).unwrap_or_default(),
            action,
        })
    }
}

enum New {
    Text(String),
    Json(Data),
}

impl New {
    fn value(self) -> Data {
        match self {
            Self::Text(text) => Data::Text(text),
            Self::Json(value) => value,
        }
    }
}

/// A key of one text may be one with dots, or a key itself.
fn steps(key: Vec<String>) -> Key {
    match <[String; 1]>::try_from(key) {
        Ok([written]) => Key::Only(written),
        Err(key) => Key::Steps(key.into_iter().map(Step::Word).collect()),
    }
}

/// What is expected may be written as JSON or as a text.
fn expected_value(written: String) -> Vec<Data> {
    let json = emend_data::from_json(&written).ok();
    json.into_iter().chain([Data::Text(written)]).collect()
}

fn invalid(name: &str, message: &str) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}
