//! The apply model that the user has configured: where it is, its name, and what may be sent.
//!
//! Only the user's own configuration names one: it decides who gets to read their files.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::programs::{Fields, Wrong};

/// How long an answer may take unless the user says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How many bytes a question and an answer may have unless the user says otherwise.
const BYTES: usize = 512 * 1024;
/// The most bytes that the user may allow.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A configured apply model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyModel {
    /// The URL of the chat endpoint, as it was written.
    pub url: String,
    /// The name of the model.
    pub model: String,
    /// The name of the environment variable that has the key, if the endpoint wants one.
    pub key_variable: Option<String>,
    /// Whether a proposal is made without anybody looking at it, where the sketch leaves no choice of place.
    pub auto: bool,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How many bytes a question and an answer may have.
    pub max_bytes: usize,
}

impl ApplyModel {
    /// The key of a configuration file that this type reads.
    pub(super) const KEY: &'static str = "apply_model";

    /// Reads the table of the configuration file.
    pub(super) fn read(value: &Spanned<DeValue<'_>>) -> Result<Self, Wrong> {
        fields(value.get_ref()).map_err(|what| Wrong { at: value.span().start, what })
    }
}

fn fields(value: &DeValue<'_>) -> Result<ApplyModel, String> {
    let known = ["url", "model", "key_variable", "auto", "timeout", "max_bytes"];
    let mut fields = Fields::of(ApplyModel::KEY, value, &known)?;
    let url = fields.text("url")?.ok_or_else(|| fields.lacks("url"))?;
    let model =
        fields.text("model")?.filter(|model| !model.is_empty()).ok_or_else(|| fields.lacks("model"))?;
    let key_variable = fields.text("key_variable")?;
    if key_variable.as_deref().is_some_and(|name| !is_variable(name)) {
        // What is written there may be the key itself: it is not repeated.
        return Err(fields
            .must("key_variable", "the name of an environment variable, such as APPLY_KEY, not the key"));
    }
    let auto = fields.truth("auto")?.unwrap_or(false);
    let timeout = fields.seconds("timeout")?.unwrap_or(TIMEOUT);
    let max_bytes = fields.number("max_bytes", 1..=MOST_BYTES)?.unwrap_or(BYTES);
    Ok(ApplyModel { url, model, key_variable, auto, timeout, max_bytes })
}

/// Returns whether this is the name of a variable. Keys of the usual services are none: they have dashes, or are longer.
fn is_variable(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Settings;

    fn read(text: &str) -> Result<Option<ApplyModel>, String> {
        Settings::parse(text).map(|settings| settings.apply_model)
    }

    #[test]
    fn every_field_can_be_said_and_most_have_a_default() {
        let text = "[apply_model]\nurl = 'https://api.example.com/v1/chat/completions'\nmodel = 'm'\n\
                    key_variable = 'APPLY_KEY'\nauto = true\ntimeout = 5\nmax_bytes = 1_000\n";
        let all = read(text).unwrap().unwrap();
        assert_eq!((all.model.as_str(), all.key_variable.as_deref()), ("m", Some("APPLY_KEY")));
        assert_eq!((all.auto, all.timeout, all.max_bytes), (true, Duration::from_secs(5), 1000));
        let few = read("apply_model = { url = 'http://127.0.0.1/v1', model = 'm' }").unwrap().unwrap();
        assert_eq!((few.auto, few.timeout, few.max_bytes, few.key_variable), (false, TIMEOUT, BYTES, None));
        assert_eq!(read(""), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named_and_a_key_is_not_repeated() {
        for (fields, telling) in [
            ("model = 'm'", "apply_model: url is missing"),
            ("url = 'x'", "apply_model: model is missing"),
            ("url = 'x'\nmodel = ''", "apply_model: model is missing"),
            ("url = 1\nmodel = 'm'", "apply_model.url"),
            ("url = 'x'\nmodel = 'm'\nkey = 'sk-secret'", "unknown 'key'"),
            ("url = 'x'\nmodel = 'm'\nkey_variable = 'sk-secret'", "apply_model.key_variable"),
            ("url = 'x'\nmodel = 'm'\ntimeout = 0", "apply_model.timeout"),
            ("url = 'x'\nmodel = 'm'\nmax_bytes = 0", "apply_model.max_bytes"),
            ("url = 'x'\nmodel = 'm'\nmax_bytes = 99_999_999", "apply_model.max_bytes"),
            ("url = 'x'\nmodel = 'm'\nauto = 'yes'", "apply_model.auto"),
        ] {
            let error = read(&format!("\n[apply_model]\n{fields}")).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(telling), "{fields}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
