//! Tokens that say nothing by themselves: their authority is asked (RFC 7662), and what it says is kept for a moment.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use emend_threads::Mutex;
use serde_json::{Map, Value};

use crate::claims::{Claims, Form, Refusal};
use crate::fetch::Fetcher;
use crate::keys::Published;
use crate::settings::AuthoritySettings;

/// The time for which an answer is believed. A token that is revoked may be good for as long.
const BELIEVED: Duration = Duration::from_secs(30);
/// The most answers that are kept.
const KEPT: usize = 4_096;

/// The answers of one authority, by the hashes of the tokens.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<blake3::Hash, Answer>>);

#[derive(Clone, Debug)]
struct Answer {
    said: Result<Claims, Refusal>,
    until: Instant,
}

impl Answers {
    /// Returns what an authority says of a token. Asks it if `may_ask` says so.
    pub(crate) fn check(
        &self,
        token: &str,
        authority: &AuthoritySettings,
        published: &Published,
        fetcher: &Fetcher,
        may_ask: bool,
    ) -> Result<Claims, Refusal> {
        let unknown = Refusal::Invalid("it is not known here");
        let by = authority.introspection.as_ref().ok_or(unknown)?;
        let hash = blake3::hash(token.as_bytes());
        if let Some(answer) = self.0.lock().get(&hash).filter(|answer| answer.until > Instant::now()) {
            return answer.said.clone();
        }
        if !may_ask {
            return Err(Refusal::NotKnown);
        }
        let endpoint = match &by.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => published.introspection(authority, fetcher, may_ask)?,
        };
        let answer = fetcher.introspect(&endpoint, by, token).map_err(|_| Refusal::Unavailable)?;
        let answer = answer.as_object().cloned().unwrap_or_default();
        let (said, left) = read(authority, answer, now());
        let until = Instant::now() + left.min(BELIEVED);
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.retain(|_, answer| answer.until > Instant::now());
        }
        // Made-up tokens push out no other.
        if kept.len() < KEPT {
            kept.insert(hash, Answer { said: said.clone(), until });
        }
        said
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Reads what the authority says, and for how long it holds.
fn read(
    authority: &AuthoritySettings,
    said: Map<String, Value>,
    now: u64,
) -> (Result<Claims, Refusal>, Duration) {
    let refused = |why| (Err(Refusal::Invalid(why)), BELIEVED);
    if said.get("active") != Some(&Value::Bool(true)) {
        return refused("it is not known here, or has expired");
    }
    // Whoever it is that answers, it is only asked about its own tokens.
    if said.get("iss").is_some_and(|issuer| issuer.as_str() != Some(&authority.issuer)) {
        return refused("its issuer is another");
    }
    let is_ours = |audience: &Value| {
        audience.as_str().is_some_and(|one| authority.audiences.iter().any(|ours| ours == one))
    };
    let is_for_us = match said.get("aud") {
        Some(Value::Array(audiences)) => audiences.iter().any(is_ours),
        Some(audience) => is_ours(audience),
        None => false,
    };
    if !is_for_us {
        return refused("it is for another server");
    }
    let time = |name: &str| {
        said.get(name).map(|time| time.as_u64().or_else(|| time.as_f64().map(|time| time as u64)))
    };
    let leeway = authority.leeway.as_secs();
    let left = match time("exp") {
        Some(Some(end)) if end.saturating_add(leeway) <= now => return refused("it has expired"),
        Some(Some(end)) => Duration::from_secs(end.saturating_add(leeway).saturating_sub(now)),
        Some(None) => return refused("it cannot be read"),
        None => BELIEVED,
    };
    match time("nbf") {
        Some(Some(begin)) if begin > now.saturating_add(leeway) => return refused("it is not valid yet"),
        Some(None) => return refused("it cannot be read"),
        _ => {}
    }
    (Claims::read(&authority.issuer, Form::Opaque, said), left)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claims::Subject;

    #[test]
    fn an_answer_counts_only_for_our_audience_and_within_its_time() {
        let authority = AuthoritySettings::new("https://id.example", "https://files.example/mcp");
        let good =
            json!({"active": true, "sub": "ann", "aud": ["x", "https://files.example/mcp"], "exp": 1000});
        let read = |said: &Value, now| read(&authority, said.as_object().cloned().unwrap_or_default(), now);
        let (said, left) = read(&good, 990);
        assert_eq!(
            (said.map(|claims| claims.subject), left.as_secs()),
            (Ok(Subject::Person("ann".to_owned())), 70)
        );
        assert!(read(&good, 1059).0.is_ok() && read(&good, 1060).0.is_err());
        for (name, value) in [
            ("active", json!("true")),
            ("active", json!(false)),
            ("iss", json!("https://other.example")),
            ("aud", json!("https://other.example/mcp")),
            ("aud", json!(null)),
            ("exp", json!("2000")),
            ("nbf", json!(2000)),
            ("nbf", json!("x")),
            ("sub", json!(null)),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(matches!(read(&bad, 990).0, Err(Refusal::Invalid(_))), "{bad}");
        }
    }
}
