//! The setting that has a value for each of some clients, which are known by the names that they give themselves.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::rules::May;
use super::values::{Said, Value, Wrong, must_be};
use super::words::ListedTools;

/// Which tools are listed to some clients, by their names in lower case. An empty one sets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsFor(BTreeMap<String, ListedTools>);

impl ToolsFor {
    /// Returns what is listed to the client of this name, if that is set.
    #[must_use]
    pub fn get(&self, client: &str) -> Option<ListedTools> {
        self.0.get(&client.to_lowercase()).copied()
    }

    /// Returns whether nothing is set for any client.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::policy) fn set(&mut self, client: &str, listed: ListedTools) -> Result<(), String> {
        if client.is_empty() {
            return Err("a client has a name".into());
        }
        self.0.insert(client.to_lowercase(), listed);
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        self.0.iter().map(|(client, listed)| format!("{client}={listed}")).collect()
    }
}

impl Said for ToolsFor {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let table =
            value.as_table().ok_or_else(|| must_be("a table, such as { cursor = \"core\" }", value))?;
        let mut said = Self::default();
        for (client, listed) in table {
            said.set(client.get_ref(), ListedTools::from_toml(listed.get_ref())?)?;
        }
        Ok(said)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        let parts = written.rsplit_once('=');
        let (client, listed) = parts.ok_or("it must be CLIENT=WHICH, such as cursor=core")?;
        self.set(client, ListedTools::from_flag(listed)?)
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
