//! Bearer tokens, each with a name, which the history records.
//!
//! Only hashes are kept and compared, in constant time, so that the time of a refusal reveals nothing.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::session::Token;

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
    token: Token,
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

    /// Parses a file of tokens, with a name and its token on each line. Lines that begin with `#` are ignored. The
    /// error names the line, never the token.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut keys: Vec<Key> = Vec::new();
        let mut names = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| Err(format!("line {}: {what}", number + 1));
            let mut words = line.split_whitespace();
            let (Some(name), Some(token), None) = (words.next(), words.next(), words.next()) else {
                return wrong("it must be a name, a space and a token");
            };
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@".contains(letter);
            if name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
                return wrong("a name is at most 64 letters, digits and . _ - @");
            }
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return wrong("a token is at least 20 visible ASCII characters");
            }
            let hash = blake3::hash(token.as_bytes());
            if !names.insert(name) || keys.iter().any(|key| key.hash == hash) {
                return wrong("this name or token is there twice");
            }
            if keys.len() == MOST {
                return wrong("there are at most 256 tokens");
            }
            keys.push(Key { token: Token::new(name), hash });
        }
        let number = keys.len();
        if number == 0 {
            return Err("there is no token in it".into());
        }
        let share = |key: Key| Key { token: key.token.shared_by(number), ..key };
        Ok(Self(keys.into_iter().map(share).collect()))
    }

    /// Returns all tokens in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Token> {
        self.0.iter().map(|key| &key.token)
    }

    /// Returns the number of the presented token.
    pub(super) fn position(&self, presented: &[u8]) -> Option<usize> {
        let hash = blake3::hash(presented);
        // Every hash is compared, so that the time does not depend on the position.
        self.0
            .iter()
            .enumerate()
            .fold(None, |found, (at, key)| if key.hash == hash { Some(at) } else { found })
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
