//! The identity of a client's call, by which a call that is sent again is recognised and made once.
//!
//! A client that has lost an answer sends its call again. The [`CallDigest`] of the first call goes with its edit: in the
//! name or the journal of the transaction, which is durable before any file changes, and in the record.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The time for which a call without a key is recognised.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(15 * 60);

/// A hash of who makes a call, the tool and the arguments, or of who makes it and its idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CallDigest(u64);

impl CallDigest {
    fn new(purpose: &str, parts: &[&str]) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in std::iter::once(&purpose).chain(parts) {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let mut digits = [0; 8];
        hash.finalize_xof().fill(&mut digits);
        Self(u64::from_le_bytes(digits))
    }
}

impl From<CallDigest> for String {
    fn from(digest: CallDigest) -> Self {
        format!("{:016x}", digest.0)
    }
}

impl TryFrom<String> for CallDigest {
    type Error = &'static str;

    fn try_from(written: String) -> Result<Self, Self::Error> {
        Self::from_hex(&written).ok_or("not 16 hex digits")
    }
}

impl CallDigest {
    pub(crate) fn from_hex(written: &str) -> Option<Self> {
        let is_hex = written.len() == 16 && written.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u64::from_str_radix(written, 16).ok().map(Self))?
    }
}

/// The identity of a call. A call with the default identity is never recognised.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallIdentity {
    /// The digest of the caller, the tool and the arguments.
    pub(crate) call: Option<CallDigest>,
    /// The digest of the caller and the idempotency key, if the call has one.
    pub(crate) key: Option<CallDigest>,
}

impl CallIdentity {
    /// Makes the identity of a call. The key, if the client names one, tells calls with the same arguments apart.
    #[must_use]
    pub fn new(principal: &str, tool: &str, arguments: &str, key: Option<&str>) -> Self {
        Self {
            call: Some(CallDigest::new("call", &[principal, tool, arguments])),
            key: key.map(|key| CallDigest::new("key", &[principal, key])),
        }
    }

    /// Returns the identity of the same call, whose arguments name a file with this content.
    #[must_use]
    pub fn with_content(self, content: &str) -> Self {
        let add = |call| CallDigest::new("content", &[&String::from(call), content]);
        Self { call: self.call.map(add), ..self }
    }

    /// Returns the identity of the same call, of which this other one is a part.
    #[must_use]
    pub fn with_part(self, part: Self) -> Self {
        let join = |call, part| CallDigest::new("part", &[&String::from(call), &String::from(part)]);
        Self { call: self.call.zip(part.call).map(|(call, part)| join(call, part)), ..self }
    }

    /// Returns the identity of a call whose arguments do not say what it does: only its key makes it known again.
    #[must_use]
    pub fn by_key_alone(self) -> Self {
        Self { call: self.call.filter(|_| self.key.is_some()), ..self }
    }

    /// Whether the client named a key.
    pub(crate) fn has_key(self) -> bool {
        self.key.is_some()
    }

    /// Returns what travels with the transaction, where there is room for one digest.
    pub(crate) fn carried(self) -> Option<CallDigest> {
        self.key.or(self.call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_from_its_digits() {
        let digest = CallIdentity::new("ann", "undo_edit", "{}", None).call.unwrap();
        assert_eq!(CallDigest::from_hex(&String::from(digest)), Some(digest));
        for wrong in ["", "0123456789abcde", "0123456789abcdefg", "+123456789abcdef"] {
            assert_eq!(CallDigest::from_hex(wrong), None);
        }
    }
}
