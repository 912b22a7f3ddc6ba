//! What a model is asked: [`Prompt`], and its form on the wire.

use serde_json::{Value, json};

/// A question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What the model is to do, the same for all questions of a kind.
    pub task: &'static str,
    /// The material: what is in the file, and what is wanted.
    pub material: String,
    /// The model's earlier answer, if it was refused.
    pub retry: Option<Retry>,
}

/// An answer that was refused, and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The answer.
    pub answer: String,
    /// Why it is not taken.
    pub reasons: String,
}

impl Prompt {
    /// Makes the material of these parts, each between tags of its name.
    #[must_use]
    pub fn tagged(parts: &[(&str, &str)]) -> String {
        let part = |(name, text): &(&str, &str)| format!("<{name}>{text}</{name}>");
        parts.iter().map(part).collect::<Vec<_>>().join("\n")
    }

    /// Returns the body of the request to a chat endpoint.
    #[must_use]
    pub fn body(&self, model: &str) -> String {
        let message = |role: &str, content: &str| json!({ "role": role, "content": content });
        let mut messages: Vec<Value> = vec![message("system", self.task), message("user", &self.material)];
        if let Some(Retry { answer, reasons }) = &self.retry {
            messages.extend([message("assistant", answer), message("user", reasons)]);
        }
        json!({ "model": model, "messages": messages, "stream": false }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_refused_goes_back_with_the_reasons() {
        let material = Prompt::tagged(&[("code", "a\n"), ("update", "b\n")]);
        assert_eq!(material, "<code>a\n</code>\n<update>b\n</update>");
        let retry = Some(Retry { answer: "c".into(), reasons: "line 1 is lost".into() });
        let body: Value = serde_json::from_str(&Prompt { task: "do it", material, retry }.body("m")).unwrap();
        let roles: Vec<&str> =
            body["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!((body["model"].as_str(), body["stream"].as_bool()), (Some("m"), Some(false)));
        assert_eq!(body["messages"][3]["content"], "line 1 is lost");
    }
}
