//! What is fetched from an authority: JSON, bounded in bytes and in time.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::Agent;
use ureq::config::Config;

use crate::address;
use crate::settings::{Introspection, Secret};

/// The time for one answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of an answer.
const BYTES: u64 = 1024 * 1024;

/// Returns a client that gives an answer this time, and follows no redirect: it would lead where nobody has checked.
#[must_use]
pub fn client(time: Duration) -> Agent {
    let config = Config::builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_global(Some(time))
        .user_agent("emend")
        .build();
    config.into()
}

/// A client for authorities.
#[derive(Debug)]
pub(crate) struct Fetcher(Agent);

/// There is no answer that could be used. The log has why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer;

impl Fetcher {
    pub(crate) fn new() -> Self {
        Self(client(PATIENCE))
    }

    /// Fetches a document.
    pub(crate) fn document(&self, address: &str) -> Result<Value, NoAnswer> {
        address::check(address).map_err(|_| NoAnswer)?;
        read(self.0.get(address).header("accept", "application/json").call())
    }

    /// Asks about a token.
    pub(crate) fn introspect(
        &self,
        endpoint: &str,
        by: &Introspection,
        token: &str,
    ) -> Result<Value, NoAnswer> {
        let body = format!("token={}&token_type_hint=access_token", form(token));
        match self.post(endpoint, Some((&by.client, &by.secret)), body)? {
            Value::Null => Err(NoAnswer),
            answer => Ok(answer),
        }
    }

    /// Sends a form, with these credentials if there are any. Returns nothing (null) if the form is refused.
    pub(crate) fn post(
        &self,
        endpoint: &str,
        credentials: Option<(&str, &Secret)>,
        body: String,
    ) -> Result<Value, NoAnswer> {
        address::check(endpoint).map_err(|_| NoAnswer)?;
        let mut asked = self
            .0
            .post(endpoint)
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded");
        if let Some((client, secret)) = credentials {
            let credentials = format!("{}:{}", form(client), form(&secret.0));
            asked = asked.header("authorization", format!("Basic {}", STANDARD.encode(credentials)));
        }
        match asked.send(body) {
            Ok(answer) if answer.status().is_client_error() => Ok(Value::Null),
            answer => read(answer),
        }
    }
}

fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, NoAnswer> {
    let mut answer = answer.map_err(|_| NoAnswer)?;
    if answer.status() != 200 {
        return Err(NoAnswer);
    }
    let bytes = answer.body_mut().with_config().limit(BYTES).read_to_vec().map_err(|_| NoAnswer)?;
    serde_json::from_slice(&bytes).map_err(|_| NoAnswer)
}

/// Encodes a value for a form (RFC 6749, appendix B).
pub(crate) fn form(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_as_the_rfcs_have_them() {
        assert_eq!(form("a b+c&d=ä"), "a%20b%2Bc%26d%3D%C3%A4");
    }

    #[test]
    fn no_other_address_is_asked() {
        assert_eq!(Fetcher::new().document("http://id.example/keys"), Err(NoAnswer));
    }
}
