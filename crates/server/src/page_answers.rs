//! What the servers of the review page have in common, on loopback and over HTTP: the tools that the page calls, what every
//! answer says of itself, and how headers are looked at.

use std::fmt::Write;
use std::io;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use rmcp::model::JsonObject;
use serde::Deserialize;

use crate::review_page::{self, Asker};

/// The tools that the page calls.
const TOOLS: [&str; 6] = ["review", "revise", "decide", "edit_preview", "apply_preview", "undo_edit"];

/// What every response says of itself.
const HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The header with what the page may load and do.
const POLICY: HeaderName = HeaderName::from_static("content-security-policy");

pub(crate) type Answer = Response<Full<Bytes>>;

/// A call of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageCall {
    pub(crate) name: String,
    pub(crate) arguments: JsonObject,
}

impl PageCall {
    /// Reads the body of a call, or returns the refusal of one that the page does not make.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Box<Answer>> {
        let Ok(call) = serde_json::from_slice::<Self>(body) else {
            return Err(refusal(StatusCode::BAD_REQUEST, "That is no call.").into());
        };
        if !TOOLS.contains(&&*call.name) {
            return Err(refusal(StatusCode::FORBIDDEN, "The page does not call this tool.").into());
        }
        Ok(call)
    }
}

/// Returns the review page for whoever asks for it.
pub(crate) fn page(asker: &Asker<'_>) -> Answer {
    let forms = match asker {
        Asker::OnLoopback { .. } => "'none'",
        #[cfg(feature = "team")]
        Asker::SignedIn { .. } => "'self'",
    };
    document(forms, "connect-src 'self'; ", |nonce| review_page::with_nonce(nonce, asker))
}

/// Returns a document, which may send forms to these, and has a policy of its own beside what every document has.
pub(crate) fn document(forms: &str, more: &str, content: impl FnOnce(&str) -> String) -> Answer {
    let Ok(nonce) = secret() else {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "The system gave no random bytes.");
    };
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; {more}base-uri 'none'; form-action \
         {forms}; frame-ancestors 'none'"
    );
    let mut answer = response(StatusCode::OK, "text/html; charset=utf-8", content(&nonce));
    insert(&mut answer, POLICY, &policy);
    answer
}

/// Returns a refusal for whoever reads it.
pub(crate) fn refusal(status: StatusCode, why: &str) -> Answer {
    response(status, "text/plain; charset=utf-8", format!("{why}\n"))
}

/// Returns a response with what every response says of itself.
pub(crate) fn response(status: StatusCode, kind: &str, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    insert(&mut answer, CONTENT_TYPE, kind);
    for (name, value) in HEADERS {
        insert(&mut answer, HeaderName::from_static(name), value);
    }
    answer
}

/// Puts a header into a response, in place of another one of this name.
pub(crate) fn insert(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = value.parse() {
        answer.headers_mut().insert(name, value);
    }
}

/// Returns whether a header stands there once, with this value.
pub(crate) fn is_only(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    let mut all = headers.get_all(name).iter();
    all.next().is_some_and(|given| given == value) && all.next().is_none()
}

/// Returns the names and the values of all cookies.
pub(crate) fn all_cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(http::header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

/// Returns the values of the cookies of this name.
pub(crate) fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    all_cookies(headers).filter(move |(own, _)| *own == name).map(|(_, value)| value)
}

/// Makes 128 random bits, in hex.
pub(crate) fn secret() -> io::Result<String> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let mut text = String::new();
    for byte in random {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
