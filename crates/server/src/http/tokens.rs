//! Static bearer tokens, each with a name, which the history records, and perhaps with scopes and a tenant.
//!
//! Only hashes are kept and compared, in constant time, so that the time of a refusal reveals nothing.

use std::fmt::Write;

use super::authentication::{Authenticate, Authenticating, Bearer, Unrecognised};
use super::quota::Quota;
use crate::principal::{Scope, Scopes};

/// The shortest allowed token: a shorter one could be guessed.
const SHORTEST: usize = 20;
/// The most tokens of a server, since each has a share of its limits.
const MOST: usize = 256;
/// The longest name of a token.
const LONGEST_NAME: usize = 64;

/// The tokens that a server accepts.
#[derive(Debug)]
pub struct Tokens(Vec<Key>);

#[derive(Debug)]
struct Key {
    bearer: Bearer,
    hash: blake3::Hash,
}

impl Tokens {
    /// Generates a token of this name, and returns its text, which is not kept.
    pub fn generate(name: &str) -> Result<(Self, String), String> {
        let mut random = [0u8; 32];
        getrandom::fill(&mut random).map_err(|error| format!("the system gave no random bytes: {error}"))?;
        let mut text = String::from("emend_");
        for byte in random {
            let _ = write!(text, "{byte:02x}");
        }
        let tokens = Self::parse(&format!("{name} {text}"))?;
        Ok((tokens, text))
    }

    /// Parses a file of tokens, with a name and its token on each line, and perhaps scopes and `tenant=NAME`. A token for
    /// which no scope is given has all of them. Lines that begin with `#` are ignored. The error names the line, never the
    /// token.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut keys: Vec<Key> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = Key::parse(line).map_err(|what| format!("line {}: {what}", number + 1))?;
            if keys.iter().any(|other| other.hash == key.hash || other.bearer.name == key.bearer.name) {
                return Err(format!("line {}: this name or token is there twice", number + 1));
            }
            if keys.len() == MOST {
                return Err(format!("line {}: there are at most 256 tokens", number + 1));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err("there is no token in it".into());
        }
        Ok(Self(keys))
    }

    /// Returns the bearers of all tokens, each with what tells its token from others and says nothing of it.
    pub fn fingerprints(&self) -> impl Iterator<Item = (&Bearer, String)> {
        self.0.iter().map(|key| (&key.bearer, key.hash.to_hex().to_string()))
    }

    /// Returns the bearers of all tokens.
    pub fn bearers(&self) -> impl Iterator<Item = &Bearer> {
        self.0.iter().map(|key| &key.bearer)
    }

    /// Returns the bearer of the presented token.
    #[must_use]
    pub fn bearer(&self, presented: &[u8]) -> Option<&Bearer> {
        self.0.get(self.position(presented)?).map(|key| &key.bearer)
    }

    fn position(&self, presented: &[u8]) -> Option<usize> {
        let hash = blake3::hash(presented);
        // Every hash is compared, so that the time does not depend on the position.
        self.0
            .iter()
            .enumerate()
            .fold(None, |found, (at, key)| if key.hash == hash { Some(at) } else { found })
    }
}

impl Key {
    fn parse(line: &str) -> Result<Self, &'static str> {
        let mut words = line.split_whitespace();
        let (Some(name), Some(token)) = (words.next(), words.next()) else {
            return Err("it must be a name, a space and a token");
        };
        if !is_plain_name(name) {
            return Err("a name is at most 64 letters, digits and . _ - @");
        }
        if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token is at least 20 visible ASCII characters");
        }
        let (mut scopes, mut tenant) = (None, None);
        for word in words {
            if let Some(named) = word.strip_prefix("tenant=") {
                if !is_plain_name(named) || tenant.replace(named.to_owned()).is_some() {
                    return Err("a token has one tenant, of at most 64 letters, digits and . _ - @");
                }
                continue;
            }
            let scope = Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
            let scope =
                scope.ok_or("behind a token stand only scopes, such as files:read, and tenant=NAME")?;
            scopes = Some(scopes.unwrap_or(Scopes::NONE).with(scope));
        }
        let bearer = Bearer {
            key: format!("token {name}"),
            name: name.to_owned(),
            tenant_name: tenant.clone(),
            tenant,
            scopes: scopes.unwrap_or(Scopes::ALL),
            quota: Quota::default(),
            can_step_up: false,
            until: None,
        };
        Ok(Self { bearer, hash: blake3::hash(token.as_bytes()) })
    }
}

fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@".contains(letter);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_plain)
}

impl Authenticate for Tokens {
    fn authenticate<'a>(&'a self, presented: &'a str) -> Authenticating<'a> {
        let bearer = self.bearer(presented.as_bytes()).cloned();
        Box::pin(std::future::ready(bearer.ok_or(Unrecognised::Invalid("it is not known here"))))
    }

    fn sharers(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_text_alone() {
        let text = "# mine\nann 0123456789abcdefghij\n\n  ben\tABCDEFGHIJabcdefghij  \r\n";
        let tokens = Tokens::parse(text).unwrap();
        assert_eq!(tokens.position(b"0123456789abcdefghij"), Some(0));
        assert_eq!(tokens.position(b"ABCDEFGHIJabcdefghij"), Some(1));
        for wrong in ["", "ann", "0123456789abcdefghi", "0123456789abcdefghijk", "0123456789ABCDEFGHIJ"] {
            assert_eq!(tokens.position(wrong.as_bytes()), None, "{wrong}");
        }
        assert!(!format!("{tokens:?}").contains("0123456789abcdefghij"));
    }

    #[test]
    fn a_token_has_the_scopes_and_the_tenant_of_its_line_or_else_all_and_none() {
        let text = "ann 0123456789abcdefghij\nben 1123456789abcdefghij files:read tenant=red\n\
                    cy 2123456789abcdefghij tenant=blue files:write files:read";
        let tokens = Tokens::parse(text).unwrap();
        let said: Vec<_> = tokens.bearers().map(|it| (it.scopes.to_string(), it.tenant.as_deref())).collect();
        let all = Scopes::ALL.to_string();
        let expected = [
            (all, None),
            ("files:read".into(), Some("red")),
            ("files:read files:write".into(), Some("blue")),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_generated_token_is_its_own() {
        let (tokens, text) = Tokens::generate("me").unwrap();
        assert_eq!(tokens.position(text.as_bytes()), Some(0));
        let (_, other) = Tokens::generate("me").unwrap();
        assert_eq!(tokens.position(other.as_bytes()), None);
    }

    #[test]
    fn a_mistake_in_the_file_is_told_by_its_line_and_without_the_token() {
        let many = |number: usize| -> String {
            (0..number).map(|at| format!("n{at} {at:03}-0123456789abcdef\n")).collect()
        };
        assert!(Tokens::parse(&many(256)).is_ok());
        for (text, line) in [
            ("ann short", "line 1"),
            ("#\nann", "line 2"),
            ("ann 0123456789abcdefghij x", "line 1"),
            ("a/b 0123456789abcdefghij", "line 1"),
            ("ann 0123456789abcdefghij files:write files:all", "line 1"),
            ("ann 0123456789abcdefghij tenant=", "line 1"),
            ("ann 0123456789abcdefghij tenant=a tenant=b", "line 1"),
            ("ann 0123456789abcdefghij tenant=../b", "line 1"),
            ("ann 0123456789abcdefghij\nann 1123456789abcdefghij", "line 2"),
            ("ann 0123456789abcdefghij\nben 0123456789abcdefghij", "line 2"),
            ("# nothing\n", "no token"),
            (&many(257), "line 257"),
        ] {
            let error = Tokens::parse(text).unwrap_err();
            assert!(error.contains(line) && !error.contains("0123456789"), "{error}");
        }
    }
}
