//! The identity of a file's content: the blake3 of its bytes.
//!
//! A version answers "is this the content that I saw?", whatever happened to times, inodes or names. The
//! wire shows its first twelve hex digits ([`Version::short`]); a caller may send those or more of them.

use alloc::string::String;
use core::fmt;

/// The blake3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u8; 32]);

/// How many hex digits the wire shows.
const SHOWN: usize = 12;

impl Version {
    /// The version of this content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The version of the content that these pieces make when joined; saves joining them.
    #[must_use]
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The twelve hex digits that stand for this version on the wire.
    #[must_use]
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(SHOWN);
        hex
    }

    /// All sixty-four hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
    }

    /// Whether a caller who wrote `claimed` means this version: at least the digits that the wire shows,
    /// at most all of them, in either case.
    #[must_use]
    pub fn is_named_by(&self, claimed: &str) -> bool {
        let claimed = claimed.trim();
        (SHOWN..=64).contains(&claimed.len())
            && claimed.is_ascii()
            && self.hex().starts_with(&claimed.to_ascii_lowercase())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_version_of_the_whole() {
        assert_eq!(Version::of(b"one two"), Version::of_pieces([&b"one"[..], b" ", b"two"]));
    }

    #[test]
    fn a_short_form_names_its_version_and_a_shorter_one_does_not() {
        let version = Version::of(b"x");
        assert!(version.is_named_by(&version.short()));
        assert!(version.is_named_by(&version.hex().to_uppercase()));
        assert!(!version.is_named_by(&version.short()[..11]));
        assert!(!version.is_named_by(&Version::of(b"y").short()));
        assert!(!version.is_named_by(""));
    }
}
