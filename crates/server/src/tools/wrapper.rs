//! Patches wrapped in JSON: the call of another tool, sent as the text of a patch.
//!
//! ```text
//! "..."   {"patch": "..."}   {"input": "..."}   {"command": ["apply_patch", "..."]}   ["apply_patch", "..."]
//! ```
//!
//! A wrapper is removed only if it holds nothing else. With a working folder or a second command in it, the patch alone
//! would not be what was meant.

use std::borrow::Cow;

use serde_json::Value;

/// Returns the patch without the JSON around it, if there is any.
pub(super) fn unwrapped(text: &str) -> Cow<'_, str> {
    // The first character decides, so that no ordinary patch is parsed as JSON.
    let wrapped = text.trim_start().starts_with(['{', '[', '"']);
    let value = wrapped.then(|| serde_json::from_str(text).ok()).flatten();
    value.and_then(patch_of).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn patch_of(value: Value) -> Option<String> {
    match value {
        Value::String(patch) => Some(patch),
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

/// Returns the patch of exactly `["apply_patch", patch]`.
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
            r#""*** Begin Patch\n*** End Patch""#,
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
            r#""*** Begin Patch\n*** End Patch" and more"#,
            "\"a.py\"\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE",
            "{}",
            "[]",
            "",
        ] {
            assert!(matches!(unwrapped(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
