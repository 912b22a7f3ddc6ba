//! Tokens that are JWTs, as RFC 9068 has them: checked here, with the keys of their issuer.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};

use crate::claims::{Claims, Form, Refusal};
use crate::fetch::Fetcher;
use crate::keys::Published;
use crate::settings::AuthoritySettings;
use crate::signatures;

/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;

/// A token in the form of a JWT, of which nothing is checked yet.
pub(crate) struct UncheckedJwt<'a> {
    text: &'a str,
    header: Header,
    /// Who claims to have issued it.
    pub(crate) issuer: String,
}

impl<'a> UncheckedJwt<'a> {
    /// Returns the token if it has the form of a JWT.
    pub(crate) fn read(text: &'a str) -> Option<Result<Self, Refusal>> {
        if text.bytes().filter(|byte| *byte == b'.').count() != 2 {
            return None;
        }
        // Nobody is asked about it: it would be shown to an authority that need not have issued it.
        if text.len() > LONGEST {
            return Some(Err(Refusal::Invalid("it is too long")));
        }
        let not_taken = Refusal::Invalid("it is no token with a signature that is taken here");
        Some(decode_header(text).map_err(|_| not_taken).and_then(|header| {
            let claims: Map<String, Value> = jsonwebtoken::dangerous::insecure_decode_claims(text)
                .map_err(|_| Refusal::Invalid("its claims cannot be read"))?;
            match claims.get("iss") {
                Some(Value::String(issuer)) => Ok(Self { text, header, issuer: issuer.clone() }),
                _ => Err(Refusal::Invalid("it names no issuer")),
            }
        }))
    }

    /// Checks the token: its type, its algorithm, its signature, and then issuer, audience and times.
    pub(crate) fn check(
        &self,
        authority: &AuthoritySettings,
        published: &Published,
        fetcher: &Fetcher,
        may_ask: bool,
    ) -> Result<Claims, Refusal> {
        signatures::use_ring();
        let Header { alg, typ, kid, crit, .. } = &self.header;
        // Another kind of token of the same issuer, such as one that says who somebody is, is no access token.
        if !is_type_of(authority, typ.as_deref().unwrap_or_default()) {
            return Err(Refusal::Invalid("it is no access token"));
        }
        if crit.is_some() {
            return Err(Refusal::Invalid("it asks for more than is understood here"));
        }
        let algorithms = authority.algorithms();
        if !algorithms.contains(alg) {
            return Err(Refusal::Invalid("its signature is of a kind that is not taken"));
        }
        let key = published.key(kid.as_deref(), *alg, authority, fetcher, may_ask)?;
        let decoded = decode::<Map<String, Value>>(self.text, &key, &validation(authority, *alg));
        let claims = decoded.map_err(|error| Refusal::Invalid(reason(error.kind())))?.claims;
        // jsonwebtoken takes a list for the issuer, and a token without an end for one that has none.
        if claims.get("iss").and_then(Value::as_str) != Some(&authority.issuer) {
            return Err(Refusal::Invalid("its issuer is another"));
        }
        Claims::read(&authority.issuer, Form::Jwt, claims)
    }
}

fn validation(authority: &AuthoritySettings, algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.set_issuer(&[&authority.issuer]);
    validation.set_audience(&authority.audiences);
    validation.set_required_spec_claims(&["exp", "iss", "aud"]);
    validation.leeway = authority.leeway.as_secs();
    validation.validate_nbf = true;
    validation
}

fn is_type_of(authority: &AuthoritySettings, written: &str) -> bool {
    let plain = |name: &str| name.to_ascii_lowercase().trim_start_matches("application/").to_owned();
    authority.types.iter().any(|taken| plain(taken) == plain(written))
}

fn reason(error: &ErrorKind) -> &'static str {
    match error {
        ErrorKind::ExpiredSignature => "it has expired",
        ErrorKind::ImmatureSignature => "it is not valid yet",
        ErrorKind::InvalidAudience => "it is for another server",
        ErrorKind::InvalidIssuer => "its issuer is another",
        ErrorKind::InvalidSignature => "its signature is wrong",
        ErrorKind::MissingRequiredClaim(_) => "it lacks an issuer, an audience or an end",
        _ => "it cannot be read",
    }
}
