//! A patch: a parsed request. Grammatical, and silent about any file.
//!
//! Every edit format and every edit tool ends here, in one type: a parser for each format reads a text,
//! [`Patch::replace`], [`Patch::replace_range`] and [`Patch::write`] take a tool's arguments. Planning knows
//! nothing of formats.

pub mod recognise;

pub mod context;
pub mod ed;
pub mod rcs;
pub mod search_replace;
pub mod unified;
pub mod v4a;
pub mod whole;

mod body;
mod colours;
mod envelope;
mod git;
mod lines;
mod names;
mod target;

pub mod print;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::problem::{Kind, NoChange, Problem};

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
    /// Whether the file is to be executable; `None` leaves that as it is.
    pub executable: Option<bool>,
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
    /// Give it this content; it must exist. What the request calls it may be no name at all otherwise.
    Replace(String),
    /// Delete it.
    Delete {
        /// What the request says that it holds, where it does: then it must.
        content: Option<String>,
    },
    /// Change it in places, and perhaps give it another name.
    Update {
        /// The changes, all found in the same text. Empty for a mere move or change of mode.
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
    /// Whole lines to find, and the lines in their place.
    Block(BlockChange),
    /// Lines by their numbers.
    Range(RangeChange),
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
    /// The line, counted from 1, at which they are said to stand. It only chooses among equal places.
    pub hint: Option<usize>,
    /// Whether the file ends with a newline after this; `None` leaves that as it is. Only of the last lines.
    pub final_newline: Option<bool>,
}

/// A block of whole lines and what comes in its place; what both share says where, and stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockChange {
    /// Usually one. Several were parted by elisions (`...`): each stands once, in this order.
    pub pieces: Vec<Piece>,
    /// The line, counted from 1, at which it is said to stand. It only chooses among equal places.
    pub hint: Option<usize>,
}

/// A stretch of a [`BlockChange`]: lines with LF, the last one's optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The lines to find.
    pub old: String,
    /// The lines that replace them; the same for a piece that only says where the next one is. Both are empty
    /// where an elision begins or ends the block. Where only `old` is, the elision says no place for `new`.
    pub new: String,
    /// The line (`...`) that parted it from the piece before, as it was written in both texts, without its
    /// ending. It may be a real line of the file: with it the pieces join to the block that was sent.
    pub elision: Option<String>,
}

/// Lines by their numbers: only safe with the version that has those numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeChange {
    /// The first line that goes, counted from 1; with `count` 0 the line before which the new ones come.
    pub first: usize,
    /// How many lines go.
    pub count: usize,
    /// The lines that come, without their endings.
    pub lines: Vec<String>,
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
    /// A line without a marker. It can only be context that lost its leading space, and is only taken for
    /// that where it stands in the file exactly so.
    Bare(String),
}

/// Above this many line pairs, what two blocks share in their middle is not looked for.
const COMPARED: usize = 4_000_000;

impl Line {
    /// Two blocks of lines as one: what both share is context.
    #[must_use]
    pub fn between(old: &[&str], new: &[&str]) -> Vec<Self> {
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
        let (old_mid, new_mid) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
        let owned = |kind: fn(String) -> Self| move |line: &&str| kind(String::from(*line));
        let mut lines: Vec<Self> = old[..head].iter().map(owned(Self::Context)).collect();
        let ops = if old_mid.len().saturating_mul(new_mid.len()) > COMPARED {
            let (old_len, new_len) = (old_mid.len(), new_mid.len());
            vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
        } else {
            capture_diff_slices(Algorithm::Myers, old_mid, new_mid)
        };
        for op in ops {
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(old_mid[op.old_range()].iter().map(owned(Self::Context)));
            } else {
                lines.extend(old_mid[op.old_range()].iter().map(owned(Self::Removed)));
                lines.extend(new_mid[op.new_range()].iter().map(owned(Self::Added)));
            }
        }
        lines.extend(old_rest[old_mid.len()..].iter().map(owned(Self::Context)));
        lines
    }

    /// Whether it stays as it is.
    #[must_use]
    pub fn is_context(&self) -> bool {
        matches!(self, Self::Context(_) | Self::Bare(_))
    }

    /// The line that must be in the file, if this is one.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Removed(line) | Self::Bare(line) => Some(line),
            Self::Added(_) => None,
        }
    }

    /// The line that will be in the file, if this is one.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Added(line) | Self::Bare(line) => Some(line),
            Self::Removed(_) => None,
        }
    }
}

impl Section {
    /// What is to happen to the file at `path`, its mode left alone.
    #[must_use]
    pub fn new(path: &str, operation: Operation) -> Self {
        Self { path: path.into(), executable: None, operation }
    }
}

impl Operation {
    /// How much text it carries.
    fn bytes(&self) -> usize {
        match self {
            Self::Add(content) | Self::Write(content) | Self::Replace(content) => content.len(),
            Self::Delete { content } => content.as_ref().map_or(0, String::len),
            Self::Update { hunks, .. } => {
                let text = |hunk: &Hunk| match &hunk.change {
                    Change::Text(change) => change.old.len() + change.new.len(),
                    Change::Lines(change) => change
                        .lines
                        .iter()
                        .filter_map(|line| line.before().or(line.after()))
                        .map(str::len)
                        .sum(),
                    Change::Block(change) => {
                        change.pieces.iter().map(|piece| piece.old.len() + piece.new.len()).sum()
                    }
                    Change::Range(change) => change.lines.iter().map(String::len).sum(),
                };
                hunks.iter().map(text).sum()
            }
        }
    }
}

impl Patch {
    /// Replacements of text in one file, all found in the same content.
    pub fn replace(path: &str, changes: Vec<TextChange>) -> Result<Self, Problem> {
        if let [TextChange { old, new, all: false, expected: None }] = &changes[..]
            && old.is_empty()
        {
            // How many tools let a model create a file.
            return Ok(Self { sections: vec![Section::new(path, Operation::Add(new.clone()))] });
        }
        let mut hunks = Vec::with_capacity(changes.len());
        for (i, change) in changes.into_iter().enumerate() {
            let number = i + 1;
            let refused = |kind: Kind| Err(Problem::new(kind).at(path).in_hunk(number));
            if change.old.is_empty() {
                return refused(Kind::NoOldText);
            }
            if change.old == change.new {
                return refused(Kind::NoOp { why: NoChange::SameText });
            }
            hunks.push(Hunk { number, change: Change::Text(change) });
        }
        let operation = Operation::Update { hunks, move_to: None };
        Ok(Self { sections: vec![Section::new(path, operation)] })
    }

    /// Lines of one file, by their numbers.
    #[must_use]
    pub fn replace_range(path: &str, change: RangeChange) -> Self {
        let hunks = vec![Hunk { number: 1, change: Change::Range(change) }];
        Self { sections: vec![Section::new(path, Operation::Update { hunks, move_to: None })] }
    }

    /// Another path for one file.
    pub fn rename(from: &str, to: &str) -> Result<Self, Problem> {
        if from == to {
            return Err(Problem::new(Kind::NoOp { why: NoChange::SamePath }).at(from));
        }
        let operation = Operation::Update { hunks: Vec::new(), move_to: Some(to.into()) };
        Ok(Self { sections: vec![Section::new(from, operation)] })
    }

    /// The end of one file.
    #[must_use]
    pub fn delete(path: &str) -> Self {
        Self { sections: vec![Section::new(path, Operation::Delete { content: None })] }
    }

    /// The whole content of one file.
    #[must_use]
    pub fn write(path: &str, content: String) -> Self {
        Self { sections: vec![Section::new(path, Operation::Write(content))] }
    }

    /// What the request wants, file by file, in its order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// How many hunks it has.
    #[must_use]
    pub fn hunks(&self) -> usize {
        let of = |section: &Section| match &section.operation {
            Operation::Update { hunks, .. } => hunks.len(),
            _ => 0,
        };
        self.sections.iter().map(of).sum()
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
            Operation::Delete { .. } => true,
            Operation::Update { move_to, .. } => move_to.is_some(),
            Operation::Add(_) | Operation::Write(_) | Operation::Replace(_) => false,
        })
    }

    /// The paths of the files that the request addresses by line numbers. Whoever asks must name their
    /// versions: numbers say nothing about another one.
    pub fn paths_by_line_number(&self) -> impl Iterator<Item = &str> {
        let by_number = |hunk: &Hunk| matches!(hunk.change, Change::Range(_));
        self.sections.iter().filter_map(move |section| match &section.operation {
            Operation::Update { hunks, .. } if hunks.iter().any(by_number) => Some(section.path.as_str()),
            _ => None,
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
