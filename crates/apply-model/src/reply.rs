//! The parser of a chat endpoint's answer.

use serde_json::Value;

use crate::failure::Failure;

/// Returns the text of the model's one message.
pub(crate) fn text_of(body: &[u8]) -> Result<String, Failure> {
    let body: Value = serde_json::from_slice(body).map_err(|_| Failure::Malformed("it is no JSON"))?;
    let choice = body
        .get("choices")
        .and_then(|choices| choices.get(0))
        .ok_or(Failure::Malformed("it has no choices"))?;
    if choice.get("finish_reason").and_then(Value::as_str) == Some("length") {
        return Err(Failure::CutOff);
    }
    let content = choice.get("message").and_then(|message| message.get("content")).and_then(Value::as_str);
    let content = content.ok_or(Failure::Malformed("its message has no text"))?;
    if content.trim().is_empty() {
        Err(Failure::Malformed("its message is empty"))
    } else {
        Ok(content.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_message_is_taken() {
        let read = |body: &str| text_of(body.as_bytes());
        let good =
            r#"{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"a\nb"}}]}"#;
        assert_eq!(read(good).unwrap(), "a\nb");
        assert_eq!(read(&good.replace("\"stop\"", "null")).unwrap(), "a\nb");
        assert_eq!(read(&good.replace("stop", "length")), Err(Failure::CutOff));
        for bad in [
            "",
            "{",
            "[]",
            "null",
            "{\"choices\":[]}",
            "{\"choices\":{}}",
            "{\"error\":\"x\"}",
            r#"{"choices":[{"message":{"content":null}}]}"#,
            r#"{"choices":[{"message":{"content":["a"]}}]}"#,
            r#"{"choices":[{"message":{"content":" \n"}}]}"#,
            r#"{"choices":[{"text":"a"}]}"#,
        ] {
            assert!(matches!(read(bad), Err(Failure::Malformed(_))), "{bad}");
        }
        assert!(matches!(text_of(b"\xff\xfe"), Err(Failure::Malformed(_))));
    }
}
