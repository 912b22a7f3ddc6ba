//! Why a text cannot be read, and why a value cannot be found or changed.

use crate::node::{Bar, Data};

/// Where and why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The line, counted from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl Unread {
    pub(crate) fn at(text: &str, at: usize, why: &str) -> Self {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        Self { line: 1 + before.iter().filter(|byte| **byte == b'\n').count(), why: why.to_owned() }
    }
}

/// Why a value cannot be found or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// So many changes of so large a text take too long.
    TooMuch,
    /// The text is not of the format.
    Unread(Unread),
    /// The key is empty.
    NoKey,
    /// The key cannot be read: its quotes or brackets do not end.
    BadKey(String),
    /// There are several documents.
    Documents(usize),
    /// A map has no such key, but these.
    Missing {
        /// The key.
        key: String,
        /// Those that are there.
        known: Vec<String>,
        /// Those of them that have such a key themselves.
        elsewhere: Vec<String>,
        /// Whether it is the last step of the way, and could be added.
        is_last: bool,
    },
    /// A key of an INI file would be in no section, as no other one there is.
    NoSection {
        /// The key.
        key: String,
        /// The sections that have such a key.
        having: Vec<String>,
        /// All of them.
        sections: Vec<String>,
    },
    /// A name is not there, and is a slip from one that is.
    Slip {
        /// The step.
        key: String,
        /// The name that is there.
        near: String,
        /// Whether it is the last step of the way, and could be added.
        is_last: bool,
    },
    /// A step that is for lists, an index or `field=value`, leads into a map.
    NoList {
        /// What the map is called; nothing for the whole file.
        within: Option<String>,
        /// The step.
        step: String,
        /// The keys that are there.
        known: Vec<String>,
    },
    /// A list has no such element.
    NoElement {
        /// The step.
        key: String,
        /// The elements that it has, each in a word.
        known: Vec<String>,
    },
    /// A list has no such place for a new element.
    NoPlace {
        /// How many elements it has.
        len: usize,
    },
    /// There is no such key before which a new one could go, but these.
    NoNeighbour {
        /// The key.
        key: String,
        /// Those that are there; none in a list.
        known: Vec<String>,
    },
    /// A new key is written with dots.
    DottedNew(String),
    /// What the key leads through is neither a map nor a list.
    NoMap {
        /// The step.
        key: String,
    },
    /// The key comes several times in its map.
    Duplicate {
        /// The key.
        key: String,
        /// How many times.
        count: usize,
    },
    /// Several elements fit, at these positions.
    Several(Vec<usize>),
    /// The written key has several readings.
    Ambiguous(String),
    /// The key is there already, with such a value.
    Exists(Shape),
    /// The key is not in the map, into which another is merged.
    Merged,
    /// It cannot be changed by its key.
    Barred(Bar),
    /// What is there is this, and not what was expected.
    Other(String),
    /// A text would take the place of something that is none.
    OtherKind {
        /// What is there.
        now: Shape,
        /// The text.
        new: String,
    },
    /// A single value would take the place of a whole list or map, which the caller does not say that it expects.
    Whole(Shape),
    /// The format cannot hold this value.
    NoSuchValue,
    /// It is a table with lines of its own, spread over the file.
    Table,
    /// It would be left without any entry.
    OnlyOne,
    /// The value is this already.
    Same,
    /// The text would not mean what was asked for.
    Breaks,
}

/// What kind of value there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, a number or another single value.
    Single,
    /// True or false.
    Bool,
    /// A list of so many elements.
    List(usize),
    /// A map of so many keys.
    Map(usize),
}

impl Shape {
    pub(crate) fn of(data: &Data) -> Self {
        match data {
            Data::Bool(_) => Self::Bool,
            Data::List(items) => Self::List(items.len()),
            Data::Map(entries) => Self::Map(entries.len()),
            _ => Self::Single,
        }
    }
}

impl From<Unread> for Fault {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}
