//! A patch: a parsed request. Grammatical, and silent about any file.
//!
//! Every edit format and every edit tool ends here, in one type: [`v4a::parse`] reads a text,
//! [`Patch::replace`] and [`Patch::write`] take a tool's arguments. Planning knows nothing of formats.

pub mod v4a;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::problem::{Kind, Problem};

/// A parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    sections: Vec<Section>,
}

/// What a request wants of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The path as it was written.
    pub path: String,
    /// What is to happen to it.
    pub operation: Operation,
}

/// What is to happen to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create it with this content; it must not exist.
    Add(String),
    /// Give it this content, whether or not it exists.
    Write(String),
    /// Delete it.
    Delete,
    /// Change it in places, and perhaps give it another name.
    Update {
        /// The changes, all found in the same text. Empty for a mere move.
        hunks: Vec<Hunk>,
        /// The path that it gets.
        move_to: Option<String>,
    },
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Counted from 1 over the whole request; what messages and previews call it.
    pub number: usize,
    /// How it says what to change.
    pub change: Change,
}

/// How a hunk says what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Some text and what comes in its place, wherever it begins and ends in a line.
    Text(TextChange),
    /// Whole lines: context, removed and added ones.
    Lines(LineChange),
}

/// Some text and what comes in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The text to find.
    pub old: String,
    /// The text that replaces it, literally.
    pub new: String,
    /// Whether every occurrence is meant.
    pub all: bool,
    /// How many occurrences the caller expects.
    pub expected: Option<usize>,
}

/// A hunk of whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineChange {
    /// `@@` lines, outermost first: each narrows the search to the block that it opens.
    pub anchors: Vec<String>,
    /// The lines in order.
    pub lines: Vec<Line>,
    /// Whether they must be the last lines of the file.
    pub at_end: bool,
}

/// One line of a [`LineChange`], without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Must be there, and stays.
    Context(String),
    /// Must be there, and goes.
    Removed(String),
    /// Comes.
    Added(String),
}

impl Line {
    /// The line that must be in the file, if this is one.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Removed(line) => Some(line),
            Self::Added(_) => None,
        }
    }

    /// The line that will be in the file, if this is one.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Added(line) => Some(line),
            Self::Removed(_) => None,
        }
    }
}

impl Operation {
    /// How much text it carries.
    fn bytes(&self) -> usize {
        match self {
            Self::Add(content) | Self::Write(content) => content.len(),
            Self::Delete => 0,
            Self::Update { hunks, .. } => {
                let text = |hunk: &Hunk| match &hunk.change {
                    Change::Text(change) => change.old.len() + change.new.len(),
                    Change::Lines(change) => change
                        .lines
                        .iter()
                        .filter_map(|line| line.before().or(line.after()))
                        .map(str::len)
                        .sum(),
                };
                hunks.iter().map(text).sum()
            }
        }
    }
}

impl Patch {
    /// Replacements of text in one file, all found in the same content.
    pub fn replace(path: &str, changes: Vec<TextChange>) -> Result<Self, Problem> {
        let mut hunks = Vec::with_capacity(changes.len());
        for (i, change) in changes.into_iter().enumerate() {
            let number = i + 1;
            let refused = |kind: Kind| Err(Problem::new(kind).at(path).in_hunk(number));
            if change.old.is_empty() {
                return refused(Kind::InvalidFormat {
                    message: "old_string is empty, so there is nothing to find. To create a file or replace \
                              the whole of one, use write_file; to insert text, give the lines around it."
                        .into(),
                });
            }
            if change.old == change.new {
                return refused(Kind::NoOp { reason: "old_string and new_string are the same" });
            }
            hunks.push(Hunk { number, change: Change::Text(change) });
        }
        let operation = Operation::Update { hunks, move_to: None };
        Ok(Self { sections: vec![Section { path: path.into(), operation }] })
    }

    /// The whole content of one file.
    #[must_use]
    pub fn write(path: &str, content: String) -> Self {
        Self { sections: vec![Section { path: path.into(), operation: Operation::Write(content) }] }
    }

    /// What the request wants, file by file, in its order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Whether this is an everyday request: a few files, a few hunks, not much text.
    #[must_use]
    pub fn is_small(&self) -> bool {
        let hunks: usize = self
            .sections
            .iter()
            .map(|section| match &section.operation {
                Operation::Update { hunks, .. } => hunks.len(),
                _ => 1,
            })
            .sum();
        let bytes: usize = self.sections.iter().map(|section| section.operation.bytes()).sum();
        self.sections.len() <= 8 && hunks <= 32 && bytes <= 256 * 1024
    }

    /// Whether the request takes away what is under this path: deletes it, or gives it another name.
    #[must_use]
    pub fn takes_away(&self, path: &str) -> bool {
        self.sections.iter().filter(|section| section.path == path).any(|section| match &section.operation {
            Operation::Delete => true,
            Operation::Update { move_to, .. } => move_to.is_some(),
            Operation::Add(_) | Operation::Write(_) => false,
        })
    }

    /// Every path that the request names, in its order; some more than once.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().flat_map(|section| {
            let target = match &section.operation {
                Operation::Update { move_to, .. } => move_to.as_deref(),
                _ => None,
            };
            core::iter::once(section.path.as_str()).chain(target)
        })
    }
}
