//! What is set up for an authority.

use std::fmt;
use std::time::Duration;

use jsonwebtoken::Algorithm;

use crate::address;

/// The algorithms that may be taken: those whose keys an authority can publish. Neither `none` nor a shared secret is among
/// them.
pub(crate) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The longest difference between clocks that is passed over.
const LONGEST_LEEWAY: Duration = Duration::from_secs(300);

/// An authority that issues tokens for this resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthoritySettings {
    /// Its name, an address, exactly as its tokens have it.
    pub issuer: String,
    /// The audiences for which its tokens are taken.
    pub audiences: Vec<String>,
    /// The algorithms that are taken, by name; all if there is none.
    pub algorithms: Vec<String>,
    /// The types of tokens that are taken, as their heads have them.
    pub types: Vec<String>,
    /// Where its keys are; if that is not set, its metadata says it.
    pub keys: Option<String>,
    /// How far its clock may be from ours.
    pub leeway: Duration,
    /// How it is asked about tokens that are no JWTs, if it is.
    pub introspection: Option<Introspection>,
}

/// How an authority is asked about a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introspection {
    /// The address; if that is not set, its metadata says it.
    pub endpoint: Option<String>,
    /// The name by which the authority knows this server.
    pub client: String,
    /// The secret that goes with it.
    pub secret: Secret,
}

/// A secret, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl AuthoritySettings {
    /// Returns the settings of an authority of which only the name and the audience are known.
    #[must_use]
    pub fn new(issuer: &str, audience: &str) -> Self {
        Self {
            issuer: issuer.into(),
            audiences: vec![audience.into()],
            algorithms: Vec::new(),
            types: vec!["at+jwt".into()],
            keys: None,
            leeway: Duration::from_secs(60),
            introspection: None,
        }
    }

    /// Checks the settings. The error says which one is wrong.
    pub fn check(&self) -> Result<(), String> {
        address::check(&self.issuer).map_err(|why| format!("issuer: {why}"))?;
        if self.issuer.contains('?') {
            return Err("issuer: it has no query".into());
        }
        if self.audiences.is_empty() || self.audiences.iter().any(String::is_empty) {
            return Err("audience: there must be one, or tokens for other servers would be taken".into());
        }
        let known = |name: &String| ALGORITHMS.iter().any(|algorithm| format!("{algorithm:?}") == *name);
        if let Some(unknown) = self.algorithms.iter().find(|name| !known(name)) {
            return Err(format!("algorithms: '{unknown}' is none of {ALGORITHMS:?}"));
        }
        if self.types.is_empty() {
            return Err("types: there must be one, such as at+jwt".into());
        }
        if self.leeway > LONGEST_LEEWAY {
            return Err("leeway: it is at most 300 seconds".into());
        }
        let asked = self.introspection.as_ref().and_then(|asked| asked.endpoint.as_ref());
        for address in self.keys.iter().chain(asked) {
            address::check(address)?;
        }
        Ok(())
    }

    /// Returns the algorithms that are taken.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let is_taken = |algorithm: &Algorithm| {
            self.algorithms.is_empty() || self.algorithms.contains(&format!("{algorithm:?}"))
        };
        ALGORITHMS.into_iter().filter(is_taken).collect()
    }
}
