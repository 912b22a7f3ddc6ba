//! The cookies of those who have signed in to the review page, or are about to. What they hold is sealed under a key that all
//! servers of a state folder have, so it does not matter to which of them a browser comes, and nobody else can make or read one.
//!
//! A cookie holds the token itself, which is looked at with every request: it is no session that could outlive its token.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::page_answers::{all_cookies, cookies};

/// The most characters in one cookie. Browsers keep 4,096 bytes with its name and attributes.
const PIECE: usize = 3_800;
/// The most cookies that hold one thing.
const PIECES: usize = 3;

/// The name of the cookie of a sign-in, before its number.
const SIGNING_IN: &str = "emend_signing_in_";
/// What stands before the name of a cookie that browsers take from this very host and over TLS alone.
const SECURE: &str = "__Host-";

/// The key under which cookies are sealed.
pub struct CookieKey(LessSafeKey);

/// What a cookie holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Purpose {
    /// The token of somebody who has signed in.
    Session,
    /// What has to come back with somebody who is signing in.
    SigningIn(Turn),
}

/// One of the sign-ins that a browser is at, each in a tab of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) struct Turn(u32);

impl Turn {
    /// Returns the one with which this state comes back.
    pub(in crate::http) fn of(state: &str) -> Self {
        let [one, two, three, four, ..] = *blake3::hash(state.as_bytes()).as_bytes();
        Self(u32::from_be_bytes([one, two, three, four]))
    }
}

impl Purpose {
    /// The name of the cookie.
    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Session => "emend_review".into(),
            Self::SigningIn(Turn(number)) => format!("{SIGNING_IN}{number:08x}").into(),
        }
    }

    /// How long it holds at most.
    fn time(self) -> Duration {
        match self {
            Self::Session => Duration::from_secs(8 * 60 * 60),
            Self::SigningIn(_) => Duration::from_secs(10 * 60),
        }
    }

    /// Which requests bring it. Who comes back from an authority comes from another site.
    fn same_site(self) -> &'static str {
        match self {
            Self::Session => "Strict",
            Self::SigningIn(_) => "Lax",
        }
    }
}

impl CookieKey {
    /// Takes these bytes, which nobody else knows, as the key. `None` if they are no key.
    #[must_use]
    pub fn new(bytes: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&CHACHA20_POLY1305, bytes).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Returns the headers that set a cookie with this content; `None` if it has too much.
    pub(in crate::http) fn set(
        &self,
        purpose: Purpose,
        content: &str,
        is_secure: bool,
    ) -> Option<Vec<HeaderValue>> {
        let until = now().checked_add(purpose.time().as_secs())?;
        let sealed = self.seal(purpose, until, content)?;
        let mut pieces: Vec<&str> = Vec::new();
        let mut rest = sealed.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(PIECE));
            pieces.push(piece);
            rest = after;
        }
        if pieces.len() > PIECES {
            return None;
        }
        // What an earlier one has left would be read with it.
        pieces.resize(PIECES, "");
        let headers = pieces.iter().enumerate().map(|(at, piece)| header(purpose, at, piece, is_secure));
        headers.collect()
    }

    /// Returns what the cookie of a request holds, if it is ours and in its time.
    pub(in crate::http) fn read(
        &self,
        purpose: Purpose,
        headers: &HeaderMap,
        is_secure: bool,
    ) -> Option<String> {
        let mut sealed = String::new();
        for at in 0..PIECES {
            let name = name(purpose, at, is_secure);
            let mut found = cookies(headers, &name);
            match (found.next(), found.next()) {
                (Some(piece), None) => sealed += piece,
                (None, _) => break,
                // Which of them is ours, nobody can say.
                (Some(_), Some(_)) => return None,
            }
        }
        self.open(purpose, &sealed, now())
    }

    fn seal(&self, purpose: Purpose, until: u64, content: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut text = format!("{until} {content}").into_bytes();
        let name = purpose.name();
        let about = Aad::from(name.as_bytes());
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(unique, about, &mut text).ok()?;
        let mut sealed = nonce.to_vec();
        sealed.extend(text);
        Some(URL_SAFE_NO_PAD.encode(sealed))
    }

    fn open(&self, purpose: Purpose, sealed: &str, now: u64) -> Option<String> {
        let mut sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let name = purpose.name();
        let text = self.0.open_in_place(nonce, Aad::from(name.as_bytes()), text).ok()?;
        let (until, content) = std::str::from_utf8(text).ok()?.split_once(' ')?;
        (now < until.parse().ok()?).then(|| content.to_owned())
    }
}

/// Returns the headers that remove a cookie.
pub(in crate::http) fn removed(purpose: Purpose, is_secure: bool) -> Vec<HeaderValue> {
    (0..PIECES).filter_map(|at| header(purpose, at, "", is_secure)).collect()
}

/// Returns the sign-ins that a browser is at.
pub(in crate::http) fn signing_in(headers: &HeaderMap, is_secure: bool) -> Vec<Purpose> {
    let prefix = if is_secure { SECURE } else { "" };
    let digits = all_cookies(headers)
        .filter_map(|(name, _)| name.strip_prefix(prefix)?.strip_prefix(SIGNING_IN))
        .filter(|digits| digits.len() == 8);
    digits
        .filter_map(|digits| Some(Purpose::SigningIn(Turn(u32::from_str_radix(digits, 16).ok()?))))
        .collect()
}

/// Returns the header that sets one piece of a cookie, or removes it if there is nothing in it.
fn header(purpose: Purpose, at: usize, piece: &str, is_secure: bool) -> Option<HeaderValue> {
    let (name, same_site) = (name(purpose, at, is_secure), purpose.same_site());
    let secure = if is_secure { "; Secure" } else { "" };
    let age = if piece.is_empty() { 0 } else { purpose.time().as_secs() };
    let text = format!("{name}={piece}; Path=/; Max-Age={age}; HttpOnly; SameSite={same_site}{secure}");
    HeaderValue::try_from(text).ok()
}

/// Returns the name of a piece of a cookie.
fn name(purpose: Purpose, at: usize, is_secure: bool) -> String {
    let prefix = if is_secure { SECURE } else { "" };
    let number = if at == 0 { String::new() } else { format!("_{at}") };
    format!("{prefix}{}{number}", purpose.name())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use http::header::COOKIE;

    use super::*;

    /// What a browser sends that has got these.
    fn sent(set: &[HeaderValue]) -> HeaderMap {
        let pairs = set.iter().map(|value| value.to_str().unwrap().split(';').next().unwrap());
        let kept: Vec<&str> = pairs.filter(|pair| !pair.ends_with('=')).collect();
        HeaderMap::from_iter([(COOKIE, kept.join("; ").parse().unwrap())])
    }

    #[test]
    fn a_cookie_is_read_under_its_key_for_its_purpose_and_in_its_time() {
        let [key, other] = [[1; 32], [2; 32]].map(|bytes| CookieKey::new(&bytes).unwrap());
        let [signing_in, in_another_tab] = ["1", "2"].map(|state| Purpose::SigningIn(Turn::of(state)));
        for (content, is_secure) in [("token", true), ("", false), (&*"x".repeat(7_000), true)] {
            let headers = sent(&key.set(Purpose::Session, content, is_secure).unwrap());
            assert_eq!(key.read(Purpose::Session, &headers, is_secure).as_deref(), Some(content));
            assert_eq!(key.read(signing_in, &headers, is_secure), None);
            assert_eq!(key.read(Purpose::Session, &headers, !is_secure), None);
            assert_eq!(other.read(Purpose::Session, &headers, is_secure), None);
        }
        assert!(key.set(Purpose::Session, &"x".repeat(9_000), true).is_none());
        let sealed = key.seal(Purpose::Session, 100, "token").unwrap();
        assert_eq!(key.open(Purpose::Session, &sealed, 99).as_deref(), Some("token"));
        assert_eq!(key.open(Purpose::Session, &sealed, 100), None);
        assert_eq!(key.open(signing_in, &sealed, 99), None);
        let sealed_for_tab = key.seal(signing_in, 100, "state").unwrap();
        assert_eq!(key.open(signing_in, &sealed_for_tab, 99).as_deref(), Some("state"));
        assert_eq!(key.open(in_another_tab, &sealed_for_tab, 99), None);
        for changed in [&sealed[1..], &sealed[..sealed.len() - 1], "", "AAAA", &format!("{sealed}A")] {
            assert_eq!(key.open(Purpose::Session, changed, 99), None, "{changed}");
        }
    }

    #[test]
    fn of_two_cookies_of_a_name_none_is_taken() {
        let key = CookieKey::new(&[1; 32]).unwrap();
        let [one, two] = ["a", "b"].map(|token| sent(&key.set(Purpose::Session, token, true).unwrap()));
        let mut both = one.clone();
        both.append(COOKIE, two[COOKIE].clone());
        assert!(key.read(Purpose::Session, &one, true).is_some());
        assert_eq!(key.read(Purpose::Session, &both, true), None);
    }

    #[test]
    fn a_cookie_says_who_gets_it() {
        let key = CookieKey::new(&[1; 32]).unwrap();
        let set = key.set(Purpose::Session, "token", true).unwrap();
        let first = set[0].to_str().unwrap();
        assert!(first.starts_with("__Host-emend_review="), "{first}");
        assert!(first.ends_with("; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure"), "{first}");
        assert!(set[1].to_str().unwrap().starts_with("__Host-emend_review_1=; Path=/; Max-Age=0; "));
        let open = removed(Purpose::SigningIn(Turn(0xab)), false);
        assert_eq!(open[0], "emend_signing_in_000000ab=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn the_sign_ins_of_a_browser_are_known_by_their_cookies() {
        let key = CookieKey::new(&[1; 32]).unwrap();
        let both = ["1", "2"].map(|state| Purpose::SigningIn(Turn::of(state)));
        let long = "x".repeat(5_000);
        let mut set: Vec<HeaderValue> =
            both.iter().flat_map(|purpose| key.set(*purpose, &long, true).unwrap()).collect();
        set.extend(key.set(Purpose::Session, "token", true).unwrap());
        assert_eq!(signing_in(&sent(&set), true), both);
        assert!(signing_in(&sent(&set), false).is_empty());
    }
}
