//! The settings that are lists: patterns, folders to open, and file extensions.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use toml::de::DeValue;

use super::rules::May;
use super::values::{Said, Value, Wrong};
use crate::policy::folded::folded;
use crate::policy::globs::{self, Globs};

/// Lists of patterns, which add up.
impl Said for Vec<String> {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let patterns = strings(value)?;
        // Compiled together, because a folder's file may have thousands and must not slow down each start.
        let Err(why) = Globs::new(patterns.iter().map(String::as_str)) else { return Ok(patterns) };
        let tried = &patterns[..patterns.len().min(globs::MOST)];
        first_wrong(tried, |pattern| Globs::new([pattern.as_str()]).map(drop))?;
        Err(Wrong { item: None, why })
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        self.push(written.to_owned());
        Ok(())
    }

    fn merged_over(self, mut other: Self) -> Self {
        // The last match decides.
        other.extend(self);
        other
    }

    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)> {
        may.refused_list(key, [self, held])
    }
}

/// Folders to open, as `PATH` or `name=PATH`. An empty list sets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(pub Vec<String>);

impl Folders {
    /// Returns the name of a folder, if it has one, and its path.
    #[must_use]
    pub fn parts(folder: &str) -> (Option<&str>, &str) {
        match folder.split_once('=') {
            Some((name, path)) if !name.contains(['/', '~']) => (Some(name), path),
            _ => (None, folder),
        }
    }
}

impl Deref for Folders {
    type Target = Vec<String>;

    fn deref(&self) -> &Vec<String> {
        &self.0
    }
}

impl DerefMut for Folders {
    fn deref_mut(&mut self) -> &mut Vec<String> {
        &mut self.0
    }
}

impl Said for Folders {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        strings(value).map(Self)
    }

    fn check(&self) -> Result<(), Wrong> {
        first_wrong(self, |folder| {
            let (_, path) = Self::parts(folder);
            if path.starts_with("~/") || Path::new(path).is_absolute() {
                return Ok(());
            }
            Err(format!("'{folder}' must be an absolute path, or begin with ~/"))
        })
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        self.0.add(written)
    }

    fn merged_over(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }

    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)> {
        may.refused_list(key, [self, held])
    }
}

/// The names of clients, in any case. An empty list sets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clients(pub Vec<String>);

impl Clients {
    /// Returns whether the client of this name is one of them.
    #[must_use]
    pub fn has(&self, client: &str) -> bool {
        self.0.iter().any(|name| name.to_lowercase() == client.to_lowercase())
    }
}

impl Said for Clients {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        strings(value).map(Self)
    }

    fn check(&self) -> Result<(), Wrong> {
        let is_name =
            |name: &String| if name.is_empty() { Err("a client has a name".to_owned()) } else { Ok(()) };
        first_wrong(&self.0, is_name)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        self.0.add(written)
    }

    fn merged_over(self, other: Self) -> Self {
        if self.0.is_empty() { other } else { self }
    }

    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)> {
        may.refused_list(key, [&self.0, &held.0])
    }
}

/// The extensions of the files that may be changed, as written. A list is less than another if all of its extensions
/// are in that.
#[derive(Clone, Debug)]
pub struct Extensions(pub Vec<String>);

impl Extensions {
    /// Refuses texts that cannot be an extension: with one, nothing could be changed without an obvious reason.
    pub(in crate::policy) fn check_endings(&self) -> Result<(), Wrong> {
        first_wrong(&self.0, |said| {
            if !without_dot(said).contains(['.', '*', '?', '/', '\\']) {
                return Ok(());
            }
            Err(format!(
                "'{said}' is no ending; give what stands behind the last dot of a name, such as 'py'"
            ))
        })
    }

    /// Returns the extensions folded and without their dot; the empty one is that of files without any.
    pub(in crate::policy) fn compared(&self) -> BTreeSet<String> {
        self.0.iter().map(|said| folded(without_dot(said))).collect()
    }
}

fn without_dot(extension: &str) -> &str {
    extension.strip_prefix('.').unwrap_or(extension)
}

impl PartialEq for Extensions {
    fn eq(&self, other: &Self) -> bool {
        self.compared() == other.compared()
    }
}

impl Eq for Extensions {}

impl PartialOrd for Extensions {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let [ours, theirs] = [self.compared(), other.compared()];
        match (ours.is_subset(&theirs), theirs.is_subset(&ours)) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => None,
        }
    }
}

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Value for Extensions {
    const IS_LIST: bool = true;

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let extensions = Self(strings(value)?);
        extensions.check_endings()?;
        Ok(extensions)
    }

    fn from_flag(written: &str) -> Result<Self, String> {
        Ok(Self(vec![written.to_owned()]))
    }

    fn and(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }
}

fn strings(value: &DeValue<'_>) -> Result<Vec<String>, Wrong> {
    let items = value.as_array().map(|array| array.iter().map(|item| item.get_ref().as_str()));
    let strings = items.and_then(|mut items| {
        items.try_fold(Vec::new(), |mut all, item| {
            all.push(item?.to_owned());
            Some(all)
        })
    });
    strings.ok_or_else(|| "it must be a list of strings".to_owned().into())
}

/// Returns the error of the first invalid item, with its index.
fn first_wrong(items: &[String], check: impl Fn(&String) -> Result<(), String>) -> Result<(), Wrong> {
    let wrong = |(item, said)| check(said).err().map(|why| Wrong { item: Some(item), why });
    items.iter().enumerate().find_map(wrong).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_lists_nothing_else_is_said_than_what_is_held_unless_they_add_up_or_protect_nothing() {
        let list = |items: &[&str]| -> Vec<String> { items.iter().map(ToString::to_string).collect() };
        let (said, held) = (list(&["b"]), list(&["a"]));
        for may in [May::Add, May::Set] {
            assert_eq!(said.refused("read_only", &held, may), None, "{may:?}");
            assert_eq!(
                Folders(said.clone()).refused("workspace", &Folders(held.clone()), may),
                None,
                "{may:?}"
            );
        }
        let lines = |key| Some((format!("{key} = [\"b\"]"), format!("{key} = [\"a\"]")));
        for may in [May::Raise, May::Lower, May::Repeat, May::Nothing("this")] {
            assert_eq!(said.refused("read_only", &held, may), lines("read_only"), "{may:?}");
            let (said_folders, held_folders) = (Folders(said.clone()), Folders(held.clone()));
            assert_eq!(said_folders.refused("workspace", &held_folders, may), lines("workspace"), "{may:?}");
            for (said, held) in [(&held, &held), (&list(&[]), &held), (&said, &list(&[]))] {
                assert_eq!(said.refused("read_only", held, may), None, "{may:?}");
            }
        }
    }
}
