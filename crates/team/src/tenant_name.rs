//! The name of a tenant: one component of a path, on every system, and nothing else.

use std::fmt;

/// The longest name.
const LONGEST: usize = 64;

/// Names that are devices on some systems, with or without an ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// The name of a tenant, which was checked: put into a path, it is exactly one component of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantName(String);

impl TenantName {
    /// Takes a name that begins with a letter, a digit or `_`, goes on with these and `.`, `-` and `@`, and ends in no `.`.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let is_first = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_next = |byte: u8| is_first(byte) || b".-@".contains(&byte);
        let bytes = written.as_bytes();
        let is_well_formed = bytes.first().copied().is_some_and(is_first)
            && bytes.len() <= LONGEST
            && bytes.iter().copied().all(is_next)
            && !written.ends_with('.');
        let stem = written.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_device = DEVICES.iter().any(|device| {
            stem.strip_prefix(device).is_some_and(|rest| rest.is_empty() || rest.parse::<u8>().is_ok())
        });
        (is_well_formed && !is_device).then(|| Self(written.to_owned()))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_component_of_a_path_and_stays_where_it_is_put() {
        for good in
            ["a", "A1", "team-red", "ann@example.com", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "_x", "a.b"]
        {
            let name = TenantName::parse(good).map(|name| name.to_string());
            assert_eq!(name.as_deref(), Some(good));
            let path = std::path::Path::new("/srv").join(good);
            assert_eq!((path.parent(), path.components().count()), (Some(std::path::Path::new("/srv")), 3));
        }
        let long = "a".repeat(LONGEST + 1);
        for bad in [
            "", ".", "..", "../b", "a/b", "a\\b", "/a", "-a", ".a", "@a", "a.", "a b", "a\0", "a\n", "ä",
            "a:b", "~", "a%2f", "{tenant}", "CON", "con.txt", "com1", "nul", &long,
        ] {
            assert_eq!(TenantName::parse(bad), None, "{bad:?}");
        }
    }
}
