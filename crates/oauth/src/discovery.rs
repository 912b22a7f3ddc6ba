//! What resources and authorities publish of themselves.

use serde_json::Value;

use crate::address;
use crate::fetch::{Fetcher, NoAnswer};

/// Fetches a document that a server names, such as the metadata of a protected resource (RFC 9728). `None` if there is none, or
/// it comes neither over TLS nor from this machine.
#[must_use]
pub fn fetch_document(address: &str) -> Option<Value> {
    Fetcher::new().document(address).ok()
}

/// Fetches the metadata of an authority as its clients do. `None` if there is none that names this issuer.
#[must_use]
pub fn fetch_authority(issuer: &str) -> Option<Value> {
    authority(issuer, &Fetcher::new()).ok()
}

/// Fetches the metadata of an authority, from either of the places where it may be. It must name itself as its tokens do, or
/// another's keys would be taken for its own.
pub(crate) fn authority(issuer: &str, fetcher: &Fetcher) -> Result<Value, NoAnswer> {
    let whole = issuer.trim_end_matches('/');
    let (origin, path) = address::split(whole);
    let places = [
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{whole}/.well-known/openid-configuration"),
    ];
    let is_own = |metadata: &Value| metadata.get("issuer").and_then(Value::as_str) == Some(issuer);
    let mut found = places.iter().filter_map(|place| fetcher.document(place).ok());
    found.find(is_own).ok_or(NoAnswer)
}
