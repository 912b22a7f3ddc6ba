//! A patch inside of JSON: the call of some other tool, sent as the text of the patch.
//!
//! ```text
//! {"patch": "..."}   {"input": "..."}   {"command": ["apply_patch", "..."]}   ["apply_patch", "..."]
//! ```
//!
//! Only what holds nothing else is taken off. Beside the patch there might be a folder to work in, or a second
//! command, and then the patch alone would not be what was meant.

use std::borrow::Cow;

use serde_json::Value;

/// The patch, freed of the JSON around it if there is any.
pub(super) fn unwrapped(text: &str) -> Cow<'_, str> {
    // The first character decides: a patch is not read as JSON only to find that it is none.
    let wrapped = text.trim_start().starts_with(['{', '[']);
    let value = wrapped.then(|| serde_json::from_str(text).ok()).flatten();
    value.and_then(patch_of).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn patch_of(value: Value) -> Option<String> {
    match value {
        Value::Array(words) => patch_of_command(words),
        Value::Object(fields) => {
            let mut fields = fields.into_iter();
            match (fields.next()?, fields.next()) {
                ((name, Value::String(patch)), None) if matches!(name.as_str(), "patch" | "input") => {
                    Some(patch)
                }
                ((name, Value::Array(words)), None) if name == "command" => patch_of_command(words),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `["apply_patch", patch]`, nothing else: another program is not run here.
fn patch_of_command(words: Vec<Value>) -> Option<String> {
    let [Value::String(program), Value::String(patch)] = <[Value; 2]>::try_from(words).ok()? else {
        return None;
    };
    (program == "apply_patch").then_some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_is_taken_out_of_its_json() {
        for text in [
            r#"{"command":["apply_patch","*** Begin Patch\n*** End Patch"]}"#,
            r#" ["apply_patch", "*** Begin Patch\n*** End Patch"]"#,
            r#"{"input": "*** Begin Patch\n*** End Patch"}"#,
            "\n{\n  \"patch\": \"*** Begin Patch\\n*** End Patch\"\n}\n",
        ] {
            assert_eq!(unwrapped(text), "*** Begin Patch\n*** End Patch", "{text}");
        }
    }

    #[test]
    fn anything_else_is_left_as_it_is() {
        for text in [
            "*** Begin Patch\n*** End Patch",
            "{\"patch\": \"cut off",
            r#"{"patch": "x", "workdir": "/tmp"}"#,
            r#"{"command": ["rm", "x"]}"#,
            r#"{"command": ["apply_patch", "x", "y"]}"#,
            r#"{"input": 1}"#,
            "{}",
            "[]",
            "",
        ] {
            assert!(matches!(unwrapped(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
