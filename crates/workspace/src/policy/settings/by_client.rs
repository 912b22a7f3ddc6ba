//! The settings that have a value for each of some clients, which are known by the names that they give themselves.

use std::collections::BTreeMap;
use std::fmt;

use toml::de::DeValue;

use super::rules::May;
use super::values::{Said, Value, Wrong, must_be};
use super::words::{DialectName, ListedTools};

/// Which tools are listed to some clients.
pub type ToolsFor = ByClient<ListedTools>;
/// Whose names and manners the tools have for some clients.
pub type DialectFor = ByClient<DialectName>;

/// The values for some clients, by their names in lower case. An empty one sets nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByClient<T>(BTreeMap<String, T>);

impl<T> Default for ByClient<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Copy + fmt::Display> ByClient<T> {
    /// Returns the value for the client of this name, if one is set.
    #[must_use]
    pub fn get(&self, client: &str) -> Option<T> {
        self.0.get(&client.to_lowercase()).copied()
    }

    /// Returns whether nothing is set for any client.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::policy) fn set(&mut self, client: &str, value: T) -> Result<(), String> {
        if client.is_empty() {
            return Err("a client has a name".into());
        }
        self.0.insert(client.to_lowercase(), value);
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        self.0.iter().map(|(client, value)| format!("{client}={value}")).collect()
    }
}

/// Returns a value as an example: the first of the words.
fn example<T: Value>() -> &'static str {
    T::WORDS.first().copied().unwrap_or_default()
}

impl<T: Value + Copy> Said for ByClient<T> {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let such_as = || format!("a table, such as {{ cursor = \"{}\" }}", example::<T>());
        let table = value.as_table().ok_or_else(|| must_be(&such_as(), value))?;
        let mut said = Self::default();
        for (client, set) in table {
            said.set(client.get_ref(), T::from_toml(set.get_ref())?)?;
        }
        Ok(said)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        let parts = written.rsplit_once('=');
        let such_as = || format!("it must be CLIENT=VALUE, such as cursor={}", example::<T>());
        let (client, value) = parts.ok_or_else(such_as)?;
        self.set(client, T::from_flag(value)?)
    }

    fn merged_over(self, mut other: Self) -> Self {
        other.0.extend(self.0);
        other
    }

    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)> {
        may.refused_list(key, [&self.words(), &held.words()])
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::{ListedTools, Settings};

    #[test]
    fn clients_are_told_apart_by_name_and_what_is_said_first_wins_for_each() {
        let file = Settings::parse("tools_for = { Cursor = 'core', zed = 'all' }").unwrap();
        let mut flags = Settings::default();
        flags.add("tools_for", "a=b=core").unwrap();
        flags.add("tools_for", "ZED=core").unwrap();
        let both = flags.merged_over(file).tools_for;
        for (client, listed) in [
            ("cursor", Some(ListedTools::Core)),
            ("CURSOR", Some(ListedTools::Core)),
            ("zed", Some(ListedTools::Core)),
            ("a=b", Some(ListedTools::Core)),
            ("cursor-vscode", None),
            ("", None),
        ] {
            assert_eq!(both.get(client), listed, "{client}");
        }
        for wrong in ["cursor", "=core", "cursor=few"] {
            assert!(Settings::default().add("tools_for", wrong).is_err(), "{wrong}");
        }
    }
}
