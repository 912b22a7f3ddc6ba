//! The settings that are lists: patterns, which add up, folders to open, and endings of files.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Deref, DerefMut};

use toml::de::DeValue;

use super::rules::May;
use super::values::{Said, Value};
use crate::policy::folded::folded;

/// Patterns, which add up.
impl Said for Vec<String> {
    const WORDS: &'static [&'static str] = &[];
    const IS_LIST: bool = true;

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        strings(value)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        self.push(written.to_owned());
        Ok(())
    }

    fn over(self, mut other: Self) -> Self {
        // The last that matches decides.
        other.extend(self);
        other
    }

    fn refused(&self, _: &str, _: &Self, _: May) -> Option<(String, String)> {
        None
    }
}

/// Folders to open, as `PATH` or `name=PATH`. None of them says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(pub Vec<String>);

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

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        strings(value).map(Self)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        self.0.add(written)
    }

    fn over(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }

    fn refused(&self, _: &str, _: &Self, _: May) -> Option<(String, String)> {
        None
    }
}

/// The endings of the files that may be changed, as they are written. Of two lists, that is the smaller one of which the
/// other has all endings.
#[derive(Clone, Debug)]
pub struct Extensions(pub Vec<String>);

impl Extensions {
    /// Refuses what can be the ending of no file: with it, nothing could be changed, and nobody would know why.
    pub(in crate::policy) fn check(&self) -> Result<(), String> {
        let is_none = |said: &&String| without_dot(said).contains(['.', '*', '?', '/', '\\']);
        match self.0.iter().find(is_none) {
            Some(said) => Err(format!(
                "'{said}' is no ending; give what stands behind the last dot of a name, such as 'py'"
            )),
            None => Ok(()),
        }
    }

    /// Returns them as they are compared: without their dot. An empty one is that of a file without any.
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

    fn from_toml(value: &DeValue<'_>) -> Result<Self, String> {
        strings(value).map(Self)
    }

    fn from_flag(written: &str) -> Result<Self, String> {
        Ok(Self(vec![written.to_owned()]))
    }

    fn and(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }
}

fn strings(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let items = value.as_array().map(|array| array.iter().map(|item| item.get_ref().as_str()));
    let strings = items.and_then(|mut items| {
        items.try_fold(Vec::new(), |mut all, item| {
            all.push(item?.to_owned());
            Some(all)
        })
    });
    strings.ok_or_else(|| "it must be a list of strings".into())
}
