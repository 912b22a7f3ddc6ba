//! The typed arguments of a call, read from its JSON, with errors from which a model can correct its call.
//!
//! Names that models know from other tools are accepted silently, whichever of them the schema has. Any other unknown name is refused with the likeliest
//! one, since a dropped argument may be the one that mattered. `null` means absent, and so does an empty optional
//! value: some model APIs make every argument required.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use emend_workspace::problem::{Kind, Problem, nearest};

/// The names of arguments in other edit tools, each with ours.
const ALIASES: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_str", "old_string"),
    ("oldText", "old_string"),
    ("new_str", "new_string"),
    ("newText", "new_string"),
    ("input", "patch"),
    ("target_file", "path"),
    ("code_edit", "sketch"),
    ("instructions", "instruction"),
];

/// The arguments for which an empty value means something: the old and the new text of a replacement, a new value, the line
/// before the first, and the list of hunks, where an empty one must be refused rather than taken for all hunks.
const MEANT_EMPTY: &[&str] =
    &["old_string", "new_string", "new_text", "value", "document", "start_line", "end_line", "hunks"];

/// The texts that are JSON, or may be: any other value is taken as it is written.
const WRITTEN_AS_JSON: &[&str] = &["json", "expected"];

/// The texts that may be a number.
const MAYBE_NUMBER: &[&str] = &["cell", "key"];

/// What becomes of an optional argument that is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    /// It counts as absent, unless it means something by its name.
    IsAbsent,
    /// It stays: who reads the arguments knows what it means.
    IsKept,
}

/// Reads the arguments of a tool whose input has this schema.
pub fn read<T: DeserializeOwned>(schema: &JsonObject, arguments: JsonObject) -> Result<T, Problem> {
    typed_as(check(schema, arguments, "", Empty::IsAbsent)?)
}

/// Reads the arguments of a tool whose input has this schema, the empty ones too.
pub fn read_with_empty<T: DeserializeOwned>(
    schema: &JsonObject,
    arguments: JsonObject,
) -> Result<T, Problem> {
    typed_as(check(schema, arguments, "", Empty::IsKept)?)
}

/// Returns whether these are arguments of a tool whose input has this schema, as far as their names and their words say: each
/// is known, none that is required is missing, and where one of a few words is wanted, it is one of them.
#[must_use]
pub fn fit(schema: &JsonObject, arguments: &JsonObject) -> bool {
    let none = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let given: Option<Vec<&str>> = (arguments.iter())
        .filter(|(name, value)| !value.is_null() || known_as(properties, name).is_some())
        .map(|(name, value)| {
            let known = known_as(properties, name)?;
            let words = properties.get(known)?.get("enum").and_then(Value::as_array);
            let is_allowed = !value.is_string() || words.is_none_or(|words| words.contains(value));
            is_allowed.then_some(known)
        })
        .collect();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    given.is_some_and(|given| required.filter_map(Value::as_str).all(|name| given.contains(&name)))
}

fn typed_as<T: DeserializeOwned>(checked: JsonObject) -> Result<T, Problem> {
    serde_json::from_value(Value::Object(checked)).map_err(|error| invalid("arguments", error.to_string()))
}

/// Returns the name that the schema has for an argument: its own, or another name for the same thing.
fn known_as<'a>(properties: &'a JsonObject, name: &str) -> Option<&'a str> {
    let meaning = |name: &str| ALIASES.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    let meant = meaning(name).unwrap_or(name);
    let own = properties.get_key_value(name).map(|(own, _)| own);
    own.or_else(|| properties.keys().find(|other| meaning(other).unwrap_or(other) == meant))
        .map(String::as_str)
}

fn invalid(name: &str, message: impl Into<String>) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}

/// Checks the types of the arguments, and returns them under our names.
fn check(
    schema: &JsonObject,
    arguments: JsonObject,
    within: &str,
    empty: Empty,
) -> Result<JsonObject, Problem> {
    let none = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let mut checked = JsonObject::new();
    for (name, value) in arguments {
        let known = known_as(properties, &name);
        let Some((known, property)) = known.and_then(|known| properties.get_key_value(known)) else {
            if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
                // They are checked by whom they are for.
                checked.insert(name, value);
                continue;
            }
            // Null means absent, whatever is absent.
            if value.is_null() {
                continue;
            }
            let known: Vec<String> = properties.keys().cloned().collect();
            let suggestion = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(Problem::new(Kind::UnknownArgument {
                name: format!("{within}{name}"),
                suggestion,
                known,
            }));
        };
        let may_be_unset = empty == Empty::IsAbsent
            && !required.contains(&known.as_str())
            && !MEANT_EMPTY.contains(&known.as_str());
        if value.is_null() || may_be_unset && is_empty(property, &value) {
            continue;
        }
        let value = typed(property, value, &format!("{within}{known}"), empty)?;
        if checked.insert(known.clone(), value).is_some() {
            return Err(invalid(
                &format!("{within}{known}"),
                "it is given twice, under two names".to_owned(),
            ));
        }
    }
    for name in required {
        if !checked.contains_key(name) {
            return Err(invalid(&format!("{within}{name}"), "it is required"));
        }
    }
    Ok(checked)
}

/// Returns whether a value is the empty one of its type.
fn is_empty(property: &Value, value: &Value) -> bool {
    match (property.get("type").and_then(Value::as_str), value) {
        (Some("string"), Value::String(text)) => text.is_empty(),
        (Some("integer"), Value::Number(number)) => number.as_u64() == Some(0),
        (Some("array"), Value::Array(items)) => items.is_empty(),
        // Where the fields are no arguments but names that the caller chose, an empty one of them says something.
        (Some("object"), Value::Object(fields)) if property.get("properties").is_some() => {
            fields.values().all(is_nothing)
        }
        (Some("object"), Value::Object(fields)) => fields.is_empty(),
        _ => false,
    }
}

/// Returns whether a value says nothing, whatever its type.
pub(crate) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns whether a list has texts.
fn is_of_texts(property: &Value) -> bool {
    property.pointer("/items/type").is_some_and(|kind| kind == "string")
}

/// Returns the name of an argument without what it is in, nor its place in a list.
fn last_name(name: &str) -> &str {
    let name = name.rsplit('.').next().unwrap_or(name);
    name.split('[').next().unwrap_or(name)
}

/// Returns a key that is one text, as one from the top: it has dots between its steps, as the only element of a list need not.
fn way(text: String) -> String {
    match text.chars().next() {
        None => text,
        Some('[') => format!("${text}"),
        Some('$') if text.starts_with("$.") || text.starts_with("$[") => text,
        Some(_) => format!("$.{text}"),
    }
}

fn typed(property: &Value, value: Value, name: &str, empty: Empty) -> Result<Value, Problem> {
    let wrong = |what: &str, value: &Value| {
        let mut shown = value.to_string();
        if let Some((end, _)) = shown.char_indices().nth(60) {
            shown.truncate(end);
            shown.push_str("...");
        }
        Err(invalid(name, format!("it must be {what}, not {shown}")))
    };
    match (property.get("type").and_then(Value::as_str), value) {
        (Some("string"), value @ Value::String(_)) => {
            let allowed = property.get("enum").and_then(Value::as_array);
            match allowed {
                Some(allowed) if !allowed.contains(&value) => {
                    let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
                    wrong(&format!("one of {}", allowed.join(", ")), &value)
                }
                _ => Ok(value),
            }
        }
        (Some("string"), value) if WRITTEN_AS_JSON.contains(&last_name(name)) => Ok(value.to_string().into()),
        (Some("string"), Value::Number(number)) if MAYBE_NUMBER.contains(&last_name(name)) => {
            Ok(number.to_string().into())
        }
        (Some("string"), value) => wrong("a string", &value),
        (Some("boolean"), value @ Value::Bool(_)) => Ok(value),
        (Some("boolean"), value) => wrong("true or false", &value),
        (Some("integer"), value) => match property.get("minimum").and_then(Value::as_i64) {
            None if value.is_u64() => Ok(value),
            None => wrong("a whole number, 0 or more", &value),
            Some(least) => {
                let most = property.get("maximum").and_then(Value::as_i64).unwrap_or(i64::MAX);
                match value.as_i64().is_some_and(|number| (least..=most).contains(&number)) {
                    true => Ok(value),
                    false => wrong(&format!("a whole number from {least} to {most}"), &value),
                }
            }
        },
        (Some("array"), Value::Array(items)) => {
            let none = Value::Null;
            let item = property.get("items").unwrap_or(&none);
            let items: Result<Vec<Value>, Problem> = items
                .into_iter()
                .enumerate()
                .map(|(i, value)| match (item.as_object(), value) {
                    (Some(schema), Value::Object(object)) if schema.contains_key("properties") => {
                        check(schema, object, &format!("{name}[{i}]."), empty).map(Value::Object)
                    }
                    (_, value) => typed(item, value, &format!("{name}[{i}]"), empty),
                })
                .collect();
            Ok(Value::Array(items?))
        }
        // One text is a list of one.
        (Some("array"), Value::String(text)) if is_of_texts(property) => {
            let list = serde_json::from_str::<Vec<String>>(&text).unwrap_or_else(|_| vec![way(text)]);
            Ok(list.into())
        }
        (Some("array"), value) => wrong("a list", &value),
        (Some("object"), Value::Object(fields)) => match property.as_object() {
            Some(schema) if schema.contains_key("properties") => {
                check(schema, fields, &format!("{name}."), empty).map(Value::Object)
            }
            _ => Ok(Value::Object(fields)),
        },
        (Some("object"), value) => wrong("an object", &value),
        (_, value) => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Audience, message};
    use crate::tools;
    use serde_json::json;

    fn refused(arguments: &Value) -> String {
        let schema = &tools::find("str_replace").unwrap().input;
        let arguments = arguments.as_object().unwrap().clone();
        message(&read::<Value>(schema, arguments).unwrap_err(), Audience::Model)
    }

    #[test]
    fn a_misspelt_argument_is_refused_with_the_one_that_was_meant() {
        let message = refused(&json!({"path": "a", "old_string": "x", "new_sting": "y"}));
        assert!(message.starts_with("Unknown argument 'new_sting'. Did you mean 'new_string'?"), "{message}");
        let message = refused(&json!({"path": "a", "edits": [{"oldString": "x", "new_string": "y"}]}));
        assert!(message.starts_with("Unknown argument 'edits[0].oldString'. Did you mean 'old_string'?"));
    }

    #[test]
    fn names_of_other_tools_are_understood_and_null_is_absent() {
        let schema = &tools::find("str_replace").unwrap().input;
        let arguments = json!({"file_path": "a", "old_str": "x", "newText": "y", "version": null});
        let read: Value = read(schema, arguments.as_object().unwrap().clone()).unwrap();
        assert_eq!(read, json!({"path": "a", "old_string": "x", "new_string": "y"}));
        assert!(refused(&json!({"path": "a", "file_path": "b"})).contains("given twice"));
    }

    #[test]
    fn what_is_optional_and_empty_is_absent() {
        let every = json!({
            "path": "a", "old_string": "x", "new_string": "", "replace_all": false, "expected_count": 0,
            "version": "", "edits": [],
        });
        let schema = |tool: &str| &tools::find(tool).unwrap().input;
        let meant: Value = read(schema("str_replace"), every.as_object().unwrap().clone()).unwrap();
        let expected = json!({"path": "a", "old_string": "x", "new_string": "", "replace_all": false});
        assert_eq!(meant, expected);
        let none = json!({"preview": "a", "hunks": []});
        assert_eq!(read::<Value>(schema("apply_preview"), none.as_object().unwrap().clone()).unwrap(), none);
        let insertion = json!({"path": "a", "version": "", "start_line": 1, "end_line": 0, "new_text": ""});
        let lines = read::<Value>(schema("replace_lines"), insertion.as_object().unwrap().clone());
        let meant = json!({"path": "a", "start_line": 1, "end_line": 0, "new_text": ""});
        assert_eq!(lines.unwrap(), meant, "0 is the line before the first");
        let from = json!({
            "path": "", "version": "", "start_line": 0, "end_line": 0, "symbol": "", "move": false, "indent": 0,
        });
        let text = json!({"path": "a", "new_text": "x", "from": from});
        let meant = read::<Value>(schema("replace_lines"), text.as_object().unwrap().clone()).unwrap();
        assert_eq!(meant, json!({"path": "a", "new_text": "x"}));
        let versions = json!({"patch": "x", "versions": {"a": ""}});
        let kept = read::<Value>(schema("apply_patch"), versions.as_object().unwrap().clone()).unwrap();
        assert_eq!(kept, versions);
        assert!(refused(&json!({"path": "a", "edits": ""})).contains("it must be a list"));
    }

    #[test]
    fn what_an_argument_holds_is_checked_too() {
        let of = |from: Value| {
            let schema = &tools::find("replace_lines").unwrap().input;
            let arguments = json!({"path": "a", "from": from});
            read::<Value>(schema, arguments.as_object().unwrap().clone())
                .map_err(|problem| message(&problem, Audience::Model))
        };
        let lines = json!({"path": "b", "version": "0", "start_line": 1, "end_line": 1});
        let with = |name: &str, value: i64| {
            let mut lines = lines.clone();
            lines[name] = value.into();
            lines
        };
        assert!(of(with("indent", -4)).is_ok());
        assert!(of(json!({"path": "b"})).unwrap_err().contains("'from.version'"));
        assert!(of(with("ident", 4)).unwrap_err().contains("Did you mean 'indent'?"));
        assert!(of(with("end_line", -4)).unwrap_err().contains("whole number, 0 or more"));
        assert!(of(with("indent", 100)).unwrap_err().contains("from -99 to 99"));
    }

    #[test]
    fn a_wrong_type_names_the_argument_and_the_right_type() {
        let message = refused(&json!({"path": "a", "old_string": 5, "new_string": "y"}));
        assert_eq!(message, "Argument 'old_string': it must be a string, not 5.");
        let message = refused(&json!({"path": "a", "expected_count": -1}));
        assert!(message.contains("whole number"), "{message}");
        assert_eq!(refused(&json!({"old_string": "x"})), "Argument 'path': it is required.");
    }
}
