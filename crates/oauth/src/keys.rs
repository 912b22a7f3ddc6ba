//! The keys of an authority, fetched when they are needed and kept for a while.
//!
//! An authority changes its keys, so a token may name one that is not known yet. Then they are fetched anew, but only so
//! often: whoever sends tokens with made-up names cannot have the authority asked for each. If it does not answer, the keys
//! that are there stay good for a time.

use std::time::{Duration, Instant};

use emend_threads::Mutex;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde_json::Value;

use crate::claims::Refusal;
use crate::discovery;
use crate::fetch::{Fetcher, NoAnswer};
use crate::settings::AuthoritySettings;

/// The age at which keys are fetched anew.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// The age beyond which keys are not used, even if no newer ones can be had.
const USABLE: Duration = Duration::from_secs(24 * 60 * 60);
/// The time between two attempts to fetch them.
const PAUSE: Duration = Duration::from_secs(30);
/// The most keys of an authority.
const MOST: usize = 64;

/// What is known of an authority by asking it.
#[derive(Debug, Default)]
pub(crate) struct Published {
    state: Mutex<State>,
    /// Held while the authority is asked, so that it is asked once at a time.
    asking: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    keys: Vec<Key>,
    introspection: Option<String>,
    fetched: Option<Instant>,
    attempted: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    /// The curve that the key is on, if it is on one.
    curve: Option<Algorithm>,
    key: DecodingKey,
}

impl Key {
    /// Reads a key that may check signatures. A shared secret is none: it would not be published.
    fn read(jwk: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(jwk.clone()).ok()?;
        if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let curve = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => None,
            AlgorithmParameters::EllipticCurve(on) => Some(match on.curve {
                EllipticCurve::P256 => Algorithm::ES256,
                EllipticCurve::P384 => Algorithm::ES384,
                _ => return None,
            }),
            AlgorithmParameters::OctetKeyPair(on) if on.curve == EllipticCurve::Ed25519 => {
                Some(Algorithm::EdDSA)
            }
            _ => return None,
        };
        let algorithm = match jwk.common.key_algorithm {
            None => None,
            Some(named) => Some(named.to_string().parse().ok()?),
        };
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        (key.family() != AlgorithmFamily::Hmac).then_some(Self {
            id: jwk.common.key_id,
            algorithm,
            curve,
            key,
        })
    }

    /// Returns whether a token signed with this algorithm may name the key.
    fn is_for(&self, algorithm: Algorithm) -> bool {
        self.key.family() == algorithm.family()
            && self.algorithm.is_none_or(|own| own == algorithm)
            && self.curve.is_none_or(|own| own == algorithm)
    }
}

impl State {
    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        if self.fetched.is_none_or(|at| at.elapsed() > USABLE) {
            return None;
        }
        let mut fitting = self.keys.iter().filter(|key| key.is_for(algorithm));
        match id {
            Some(id) => fitting.find(|key| key.id.as_deref() == Some(id)).map(|key| key.key.clone()),
            // Without a name, only the one key that fits can be meant.
            None => fitting.next().filter(|_| fitting.next().is_none()).map(|key| key.key.clone()),
        }
    }

    fn may_ask(&self) -> bool {
        self.attempted.is_none_or(|at| at.elapsed() >= PAUSE)
    }
}

impl Published {
    /// Returns the key that a token names. Asks the authority if that may help, and `may_ask` says so.
    pub(crate) fn key(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        authority: &AuthoritySettings,
        fetcher: &Fetcher,
        may_ask: bool,
    ) -> Result<DecodingKey, Refusal> {
        let look = || {
            let state = self.state.lock();
            let is_fresh = state.fetched.is_some_and(|at| at.elapsed() < FRESH);
            (state.find(id, algorithm), is_fresh, state.may_ask(), state.fetched.is_some())
        };
        let (found, is_fresh, could_ask, _) = look();
        match found {
            Some(key) if is_fresh || !could_ask => return Ok(key),
            None if !could_ask => return Err(self.unknown()),
            _ if !may_ask => return Err(Refusal::NotKnown),
            _ => {}
        }
        let _asking = self.asking.lock();
        // Another may have asked meanwhile.
        if self.state.lock().may_ask() {
            self.ask(authority, fetcher);
        }
        look().0.ok_or_else(|| self.unknown())
    }

    /// Returns the address at which the authority is asked about tokens.
    pub(crate) fn introspection(
        &self,
        authority: &AuthoritySettings,
        fetcher: &Fetcher,
        may_ask: bool,
    ) -> Result<String, Refusal> {
        let known = || self.state.lock().introspection.clone();
        if let Some(endpoint) = known() {
            return Ok(endpoint);
        }
        if !may_ask {
            return Err(Refusal::NotKnown);
        }
        let _asking = self.asking.lock();
        if self.state.lock().may_ask() {
            self.ask(authority, fetcher);
        }
        known().ok_or(Refusal::Unavailable)
    }

    fn unknown(&self) -> Refusal {
        match self.state.lock().fetched {
            Some(at) if at.elapsed() <= USABLE => Refusal::Invalid("its key is not known"),
            _ => Refusal::Unavailable,
        }
    }

    fn ask(&self, authority: &AuthoritySettings, fetcher: &Fetcher) {
        self.state.lock().attempted = Some(Instant::now());
        let asks = authority.introspection.as_ref().is_some_and(|asked| asked.endpoint.is_none());
        let metadata = match authority.keys.is_none() || asks {
            true => discovery::authority(&authority.issuer, fetcher),
            false => Err(NoAnswer),
        };
        let named = |name: &str| {
            metadata.as_ref().ok().and_then(|metadata| metadata.get(name)?.as_str()).map(str::to_owned)
        };
        let introspection = authority.introspection.as_ref();
        let endpoint = introspection
            .and_then(|asked| asked.endpoint.clone().or_else(|| named("introspection_endpoint")));
        let keys = authority.keys.clone().or_else(|| named("jwks_uri"));
        let keys = keys.ok_or(NoAnswer).and_then(|address| fetcher.document(&address));
        let mut state = self.state.lock();
        state.introspection = endpoint.or(state.introspection.take());
        let listed = keys.as_ref().ok().and_then(|keys| keys.get("keys")?.as_array());
        if let Some(listed) = listed {
            state.keys = listed.iter().take(MOST).filter_map(Key::read).collect();
            state.fetched = Some(Instant::now());
        }
    }
}
