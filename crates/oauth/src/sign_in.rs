//! The client's half of OAuth 2.1, for a person with a browser: they sign in with the authority, which sends them back with a
//! code, and the code is exchanged for a token. What that says is not believed here: it is checked as any other token.
//!
//! Each sign-in has a proof key (PKCE, S256) and a state of its own. The token is asked for this resource (RFC 8707), and an
//! authority that says who it is (RFC 9207) must be the one that was asked. Everything here blocks.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use emend_threads::Mutex;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::Value;

use crate::address;
use crate::discovery;
use crate::fetch::{Fetcher, form};
use crate::settings::Secret;

/// The time for which the endpoints of an authority are known.
const KNOWN: Duration = Duration::from_secs(10 * 60);

/// How people sign in with an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInSettings {
    /// The authority.
    pub issuer: String,
    /// The name by which it knows this server as a client.
    pub client: String,
    /// The secret that goes with it; none for a public client.
    pub secret: Option<Secret>,
    /// Where people are sent back to.
    pub redirect: String,
    /// For what tokens are issued.
    pub resource: String,
    /// The scopes that are asked for.
    pub scopes: Vec<String>,
}

/// A client with which people sign in.
#[derive(Debug)]
pub struct SignInClient {
    settings: SignInSettings,
    endpoints: Mutex<Option<(Endpoints, Instant)>>,
    fetcher: Fetcher,
}

/// What the authority says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Endpoints {
    authorization: String,
    token: String,
    /// Whether it takes the secret in the form alone.
    takes_post: bool,
    /// Whether it says in its answers who it is.
    says_issuer: bool,
}

/// A sign-in that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunSignIn {
    /// Where the person signs in.
    pub address: String,
    /// What comes back with the code.
    pub state: String,
    /// The proof key, which nobody but this server knows.
    pub verifier: String,
}

/// Why nobody is signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSignedIn {
    /// The authority does not answer, or says nothing of where people sign in.
    Unavailable,
    /// It does not take the code.
    Refused,
    /// Another authority has answered, or it does not say who it is though it says that it does.
    OtherIssuer,
}

impl SignInClient {
    /// Lets people sign in in this way. The error says what cannot be.
    pub fn new(settings: SignInSettings) -> Result<Self, String> {
        address::check(&settings.issuer)?;
        Ok(Self { settings, endpoints: Mutex::default(), fetcher: Fetcher::new() })
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &SignInSettings {
        &self.settings
    }

    /// Begins a sign-in.
    pub fn begin(&self) -> Result<BegunSignIn, NotSignedIn> {
        let endpoints = self.endpoints()?;
        let (state, verifier) = (random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        let SignInSettings { client, redirect, resource, scopes, .. } = &self.settings;
        let query = query(&[
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", redirect),
            ("scope", &scopes.join(" ")),
            ("resource", resource),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        let mark = if endpoints.authorization.contains('?') { '&' } else { '?' };
        Ok(BegunSignIn { address: format!("{}{mark}{query}", endpoints.authorization), state, verifier })
    }

    /// Exchanges the code of a person who has come back for a token. `issuer` is the authority that has sent them, if it says so.
    pub fn finish(&self, code: &str, issuer: Option<&str>, verifier: &str) -> Result<String, NotSignedIn> {
        let endpoints = self.endpoints()?;
        let is_own = issuer.map_or(!endpoints.says_issuer, |issuer| issuer == self.settings.issuer);
        if !is_own {
            return Err(NotSignedIn::OtherIssuer);
        }
        let SignInSettings { client, secret, redirect, resource, .. } = &self.settings;
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
            ("resource", resource),
        ];
        let credentials = match secret {
            Some(secret) if !endpoints.takes_post => Some((client.as_str(), secret)),
            _ => {
                fields.push(("client_id", client));
                fields.extend(secret.iter().map(|secret| ("client_secret", secret.0.as_str())));
                None
            }
        };
        let answer = self.fetcher.post(&endpoints.token, credentials, query(&fields));
        let answer = answer.map_err(|_| NotSignedIn::Unavailable)?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let is_bearer = text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
        match text("access_token").filter(|token| is_bearer && is_plain(token)) {
            Some(token) => Ok(token.to_owned()),
            None => Err(NotSignedIn::Refused),
        }
    }

    fn endpoints(&self) -> Result<Endpoints, NotSignedIn> {
        let known = self.endpoints.lock().clone();
        if let Some((endpoints, _)) = known.filter(|(_, fetched)| fetched.elapsed() < KNOWN) {
            return Ok(endpoints);
        }
        let metadata = discovery::authority(&self.settings.issuer, &self.fetcher);
        let metadata = metadata.map_err(|_| NotSignedIn::Unavailable)?;
        let endpoints = Endpoints::read(&metadata).ok_or(NotSignedIn::Unavailable)?;
        *self.endpoints.lock() = Some((endpoints.clone(), Instant::now()));
        Ok(endpoints)
    }
}

impl Endpoints {
    fn read(metadata: &Value) -> Option<Self> {
        let address = |name: &str| {
            let found = metadata.get(name)?.as_str()?;
            address::check(found).is_ok().then(|| found.to_owned())
        };
        let takes = |method: &str| {
            let methods = metadata.get("token_endpoint_auth_methods_supported")?.as_array()?;
            Some(methods.iter().any(|known| known == method))
        };
        let takes_basic = takes("client_secret_basic").unwrap_or(true);
        let issuer = metadata.get("authorization_response_iss_parameter_supported");
        Some(Self {
            authorization: address("authorization_endpoint")?,
            token: address("token_endpoint")?,
            takes_post: !takes_basic && takes("client_secret_post") == Some(true),
            says_issuer: issuer == Some(&Value::Bool(true)),
        })
    }
}

/// Makes 256 random bits, as a query has them.
fn random() -> Result<String, NotSignedIn> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).map_err(|_| NotSignedIn::Unavailable)?;
    Ok(URL_SAFE_NO_PAD.encode(random))
}

fn query(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", form(value))).collect();
    pairs.join("&")
}

fn is_plain(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_authority_that_says_less_is_asked_as_the_rfcs_have_it() {
        let least = json!({"authorization_endpoint": "https://id.example/a", "token_endpoint": "https://id.example/t"});
        let read = |name: &str, value: Value| {
            let mut metadata = least.clone();
            metadata[name] = value;
            Endpoints::read(&metadata).map(|read| (read.takes_post, read.says_issuer))
        };
        let methods = "token_endpoint_auth_methods_supported";
        assert_eq!(read("x", json!(1)), Some((false, false)));
        assert_eq!(read(methods, json!(["client_secret_post"])), Some((true, false)));
        assert_eq!(read(methods, json!(["client_secret_post", "client_secret_basic"])), Some((false, false)));
        assert_eq!(read(methods, json!(["private_key_jwt"])), Some((false, false)));
        assert_eq!(read("authorization_response_iss_parameter_supported", json!(true)), Some((false, true)));
        for (name, value) in
            [("token_endpoint", json!("http://id.example/t")), ("authorization_endpoint", json!(null))]
        {
            assert_eq!(read(name, value), None, "{name}");
        }
    }
}
