//! The path from a root to a file as journals and history write it: percent-encoded, so that every name has a spelling
//! that any file system accepts and that decodes to exactly this name.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A path of at least one component, none of them empty or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Trail(Vec<OsString>);

impl Trail {
    /// Creates the trail of these components.
    pub(crate) fn new(names: &[OsString]) -> Self {
        Self(names.to_vec())
    }

    /// Returns the components, from the root on.
    pub(crate) fn names(&self) -> &[OsString] {
        &self.0
    }

    /// Returns the folder of the file, and the file's name in it.
    pub(crate) fn split(&self) -> (PathBuf, &OsString) {
        let (name, folders) = self.0.split_last().expect("a trail has a name");
        (folders.iter().collect(), name)
    }

    /// Encodes the trail as one name, for a file in a folder of ours.
    pub(crate) fn as_one_name(&self) -> String {
        String::from(self.clone()).replace('/', "%2F")
    }

    /// Decodes the result of [`Self::as_one_name`].
    pub(crate) fn of_one_name(name: &str) -> Option<Self> {
        Self::try_from(name.replace("%2F", "/")).ok()
    }

    /// Returns the trail for display.
    pub(crate) fn shown(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|name| name.to_string_lossy()).collect();
        names.join("/")
    }
}

impl From<Trail> for String {
    fn from(trail: Trail) -> Self {
        let names: Vec<Self> = trail.0.iter().map(|name| escape(name.as_encoded_bytes())).collect();
        names.join("/")
    }
}

impl TryFrom<String> for Trail {
    type Error = &'static str;

    fn try_from(written: String) -> Result<Self, Self::Error> {
        let names: Option<Vec<OsString>> = written.split('/').map(unescape).collect();
        names.map(Self).ok_or("not a path beneath a root")
    }
}

fn escape(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    let hex = |out: &mut String, byte: u8| out.push_str(&format!("%{byte:02X}"));
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '/' | '\\' | '%' | ':' | '\0'..='\x1f' => hex(&mut out, c as u8),
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|&byte| hex(&mut out, byte));
    }
    out
}

fn unescape(written: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    let climbs = matches!(&bytes[..], b"" | b"." | b"..");
    if climbs || bytes.iter().any(|byte| matches!(byte, 0 | b'/')) {
        return None;
    }
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes));
    #[cfg(not(unix))]
    return String::from_utf8(bytes).ok().map(OsString::from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn every_name_reads_back() {
        use std::os::unix::ffi::OsStringExt;
        let names: Vec<OsString> =
            [&b"src"[..], b"100%", b"a%2Fb", "gr\u{fc}n".as_bytes(), b"\xff\n:x", b"..."]
                .map(|name| OsString::from_vec(name.to_vec()))
                .into();
        let trail = Trail::new(&names);
        assert_eq!(Trail::try_from(String::from(trail.clone())), Ok(trail.clone()));
        let name = trail.as_one_name();
        assert!(!name.contains('/'));
        assert_eq!(Trail::of_one_name(&name), Some(trail));
    }

    #[test]
    fn what_climbs_is_no_trail() {
        for written in ["", "/etc", "a//b", "..", "a/../b", "a/%2E%2E/b", "a/.", "%00", "a%2Fb%2", "%2F"] {
            assert!(Trail::try_from(written.to_owned()).is_err(), "{written}");
        }
    }
}
