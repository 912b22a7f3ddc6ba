//! JSON Schemas that every client accepts: flat, without `null` types, formats or references.
//!
//! schemars describes `Option<T>` as `T` or `null` and numbers with a `format`, which strict clients warn
//! about and some model APIs refuse. An optional field is simply one that is not required.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

/// Generates the plain schema of `T`.
#[must_use]
pub fn generate<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    make_plain(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.remove("$schema");
            object.remove("title");
            object.remove("description");
            object
        }
        _ => JsonObject::new(),
    }
}

/// Returns a schema as clients see it, without `additionalProperties: false`: the list of tools is read at the start of every
/// conversation, and a call with an unknown argument is refused by name. An open object keeps `true`, because some clients
/// close every object that has neither.
pub fn listed(schema: JsonObject) -> JsonObject {
    without(schema, |key, value| key == "additionalProperties" && *value == Value::Bool(false))
}

/// Removes all descriptions from a schema, for arguments that another schema describes already.
pub fn without_descriptions(schema: JsonObject) -> JsonObject {
    // The value of a property named `description` is a schema, not a text.
    without(schema, |key, value| key == "description" && value.is_string())
}

/// Removes keywords from a schema, at any depth.
fn without(mut object: JsonObject, goes: fn(&str, &Value) -> bool) -> JsonObject {
    fn strip(value: &mut Value, goes: fn(&str, &Value) -> bool) {
        match value {
            Value::Object(object) => *object = without(std::mem::take(object), goes),
            Value::Array(items) => items.iter_mut().for_each(|item| strip(item, goes)),
            _ => {}
        }
    }
    object.retain(|key, value| !goes(key, value));
    object.values_mut().for_each(|value| strip(value, goes));
    object
}

fn make_plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // The value of a property named `format` is a schema, not a text.
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            object.remove("default");
            // What an argument's name says needs no words.
            if object.get("description").is_some_and(|text| text == "") {
                object.remove("description");
            }
            if object.get("minimum") == Some(&serde_json::json!(0)) {
                object.remove("minimum");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = &types[..] {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
                if let [Value::Object(only)] = &choices[..] {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(make_plain);
        }
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        _ => {}
    }
}
