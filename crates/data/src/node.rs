//! What a data file holds: a tree of values, each with its place in the text.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// How deep values may be nested.
pub(crate) const DEEP: usize = 200;

/// What a text means, without places. Two texts mean the same if these are equal, the order of keys included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Data {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// As it is written.
    Number(String),
    /// A text.
    Text(String),
    /// What JSON has no word for, such as a date, as it is written.
    Other(String),
    /// A value of YAML with its tag.
    Tagged(String, Box<Self>),
    /// An alias of YAML: its name, and the digest of the value that it stands for.
    Alias(String, u64),
    /// Values in order.
    List(Vec<Self>),
    /// Keys with their values, in order.
    Map(Vec<(String, Self)>),
}

impl Data {
    /// Returns its text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a number by which an alias is compared: values with the same digest mean the same.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether it is a scalar that is written so, or a text that says so.
    pub(crate) fn is_written(&self, text: &str) -> bool {
        match self {
            Self::Number(own) | Self::Text(own) | Self::Other(own) => own == text,
            Self::Bool(own) => own.to_string() == text,
            Self::Null => text == "null",
            Self::List(_) | Self::Map(_) | Self::Tagged(..) | Self::Alias(..) => false,
        }
    }

    /// Returns whether both mean the same: numbers may be written in another way, keys stand in another order, and what JSON has
    /// no word for is given as a text.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => is_same_number(one, other),
            (Self::Other(one), Self::Text(other)) => one == other,
            (Self::Tagged(tag, one), Self::Tagged(other_tag, other)) => tag == other_tag && one.is(other),
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
            }
            (Self::Map(one), Self::Map(other)) => {
                let (one, other) = (sorted(one), sorted(other));
                one.len() == other.len()
                    && one.iter().zip(&other).all(|(one, other)| one.0 == other.0 && one.1.is(&other.1))
            }
            _ => self == other,
        }
    }
}

fn sorted(entries: &[(String, Data)]) -> Vec<&(String, Data)> {
    let mut sorted: Vec<&(String, Data)> = entries.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    sorted
}

/// Returns whether two numbers are the same, however they are written. A whole one is no fraction, as in TOML.
fn is_same_number(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").trim_start_matches('+').to_owned();
    let (one, other) = (plain(one), plain(other));
    let is_whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    // Whole numbers are not compared as fractions, which are less exact.
    one == other
        || !(is_whole(&one) || is_whole(&other))
            && matches!((one.parse::<f64>(), other.parse::<f64>()), (Ok(one), Ok(other)) if one == other)
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Where it stands. A block ends with its last value, not with the line; what is not written has no length.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// Why it cannot be changed here, nor what is in it.
    pub(crate) bar: Option<Bar>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar(Data, Style),
    List(Vec<Node>, Layout),
    Map(Vec<Entry>, Layout),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Node,
}

impl Entry {
    pub(crate) fn range(&self) -> Range<usize> {
        self.key_range.start..self.value.range.end.max(self.key_range.end)
    }
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    /// Lines below a `|` or `>` of YAML.
    Block,
}

/// How a list or map is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Between brackets, with commas.
    Flow,
    /// A line or more for each entry, which begins at this column.
    Block(usize),
    /// Entries on lines of their own: a table of TOML, a section, or a whole file of these.
    Lines,
    /// A table of TOML that has no line of its own: its name stands before the keys, or in the headers of others.
    Dotted,
    /// Tables of TOML that have the same header.
    Tables,
}

/// Why a value cannot be changed by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// It has an anchor, or stands in something that has one, so that it is used elsewhere too.
    Anchor,
    /// It is an alias: what it names stands elsewhere.
    Alias,
    /// It has a tag.
    Tag,
    /// Its key is none that a path can name.
    OddKey,
    /// Whether a part of it is a comment depends on the program that reads it.
    MaybeComment,
    /// It goes on over several lines.
    SeveralLines,
    /// Programs read its quotes and escapes in different ways.
    Quotes,
}

impl Node {
    pub(crate) fn scalar(range: Range<usize>, data: Data, style: Style) -> Self {
        Self { range, kind: Kind::Scalar(data, style), bar: None }
    }

    pub(crate) fn data(&self) -> Data {
        match &self.kind {
            Kind::Scalar(data, _) => data.clone(),
            Kind::List(items, _) => Data::List(items.iter().map(Self::data).collect()),
            Kind::Map(entries, _) => {
                Data::Map(entries.iter().map(|entry| (entry.key.clone(), entry.value.data())).collect())
            }
        }
    }

    /// What is in it: the value of each entry.
    pub(crate) fn child(&self, at: usize) -> &Self {
        match &self.kind {
            Kind::List(items, _) => &items[at],
            Kind::Map(entries, _) => &entries[at].value,
            Kind::Scalar(..) => self,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::List(items, _) => items.len(),
            Kind::Map(entries, _) => entries.len(),
            Kind::Scalar(..) => 0,
        }
    }

    pub(crate) fn layout(&self) -> Option<Layout> {
        match &self.kind {
            Kind::List(_, layout) | Kind::Map(_, layout) => Some(*layout),
            Kind::Scalar(..) => None,
        }
    }

    /// Where the entries stand, keys included.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::List(items, _) => items.iter().map(|item| item.range.clone()).collect(),
            Kind::Map(entries, _) => entries.iter().map(Entry::range).collect(),
            Kind::Scalar(..) => Vec::new(),
        }
    }
}
