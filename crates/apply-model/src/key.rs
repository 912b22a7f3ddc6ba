//! The key of an endpoint: [`Key`], which is shown nowhere.

use std::fmt;

/// A key. It goes into one header of a request and into no log, message or record.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Makes a key of the value of a variable, without the white space around it. `None` if nothing is left, or if it
    /// could not stand in a header.
    #[must_use]
    pub fn new(value: &str) -> Option<Self> {
        let value = value.trim();
        let is_key = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(value.to_owned()))
    }

    /// Returns the header that shows the key to the endpoint.
    #[cfg(feature = "http")]
    pub(crate) fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns whether this text holds the key.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown_and_breaks_no_header() {
        let key = Key::new(" sk-123\n").unwrap();
        assert!(!format!("{key:?}{:?}", Some(&key)).contains("123"));
        assert!(key.is_in("x sk-123 y") && !key.is_in("sk-12"));
        for bad in ["", " \n", "a\r\nHost: evil", "a b", "schlüssel"] {
            assert_eq!(Key::new(bad), None, "{bad:?}");
        }
    }
}
