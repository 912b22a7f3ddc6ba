//! The changes of a hunk: what is to be found, and what comes in its place.

use alloc::string::String;
use alloc::vec::Vec;

use similar::DiffOp;

use super::sketch::Sketch;
use super::{LinesOfVersion, NewLines};
use crate::compare::compare_middle;

/// The change of a hunk, in one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A text, which may begin and end inside lines, and its replacement.
    Text(TextChange),
    /// Whole lines: context, removed and added ones.
    Lines(LineChange),
    /// Whole lines to find, and the lines that replace them.
    Block(BlockChange),
    /// Lines to insert beside a text.
    Insertion(Insertion),
    /// Lines by number, and the lines that replace them.
    Range(RangeChange),
    /// Lines by the numbers that they have in a version of the file, or a definition of that version.
    Numbered(NumberedChange),
    /// A text where a search has found it, and its replacement.
    Place(PlaceChange),
    /// New text with markers for what stays.
    Sketch(Sketch),
}

impl Change {
    /// Returns the line, counted from 1, that only chooses among equal places.
    #[must_use]
    pub fn hint(&self) -> Option<usize> {
        match self {
            // Lines that are all new have no other place.
            Self::Lines(change) if change.lines.iter().any(|line| line.before().is_some()) => change.hint,
            Self::Block(change) => change.hint,
            _ => None,
        }
    }

    /// Returns how many lines must be in the file, of a change of whole lines.
    #[must_use]
    pub fn old_lines(&self) -> usize {
        match self {
            Self::Lines(change) => change.lines.iter().filter(|line| line.before().is_some()).count(),
            Self::Block(change) => change.pieces.iter().map(|piece| piece.old.lines().count()).sum(),
            _ => 0,
        }
    }

    /// Returns how many more lines there are after a change of whole lines.
    #[must_use]
    pub fn growth(&self) -> isize {
        let after = match self {
            Self::Lines(change) => change.lines.iter().filter(|line| line.after().is_some()).count(),
            Self::Block(change) => change.pieces.iter().map(|piece| piece.new.lines().count()).sum(),
            _ => 0,
        };
        after as isize - self.old_lines() as isize
    }

    /// Returns whether it adds lines and has no old line but blank ones.
    pub(crate) fn only_adds(&self) -> bool {
        let is_blank = |line: &Line| line.before().is_none_or(|text| text.trim().is_empty());
        match self {
            Self::Lines(change) => change.lines.iter().all(is_blank),
            Self::Range(change) => change.count == 0,
            _ => false,
        }
    }

    /// Returns the change without that line, for a text whose lines have moved.
    #[must_use]
    pub fn without_hint(&self) -> Self {
        let mut change = self.clone();
        if self.hint().is_some() {
            match &mut change {
                Self::Lines(change) => change.hint = None,
                Self::Block(change) => change.hint = None,
                _ => {}
            }
        }
        change
    }
}

/// A text and its replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The text to find.
    pub old: String,
    /// The text that replaces it, literally.
    pub new: String,
    /// Whether to replace every occurrence.
    pub all: bool,
    /// How many occurrences the caller expects.
    pub expected: Option<usize>,
}

impl From<TextChange> for Change {
    fn from(change: TextChange) -> Self {
        Self::Text(change)
    }
}

/// Lines to insert beside a text, which stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The text, of whose lines those beside the new ones must be whole; `None` is all of the file.
    pub beside: Option<String>,
    /// The side on which they go.
    pub side: Side,
    /// The lines, without their endings.
    pub lines: Vec<String>,
}

/// A side of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above its first line.
    Before,
    /// Below its last line.
    After,
}

/// A hunk of whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineChange {
    /// The `@@` lines, outermost first: each narrows the search to the block that it opens.
    pub anchors: Vec<String>,
    /// The lines in order.
    pub lines: Vec<Line>,
    /// Whether the lines must be the last of the file.
    pub at_end: bool,
    /// The line, counted from 1, at which the request places the lines. It only chooses among equal places.
    pub hint: Option<usize>,
    /// Whether the file shall end with a newline, for a hunk of its last lines; `None` leaves that as it is.
    pub final_newline: Option<bool>,
}

/// A block of whole lines and its replacement; lines that both share locate the block and stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockChange {
    /// The pieces, usually one. Elisions (`...`) separate several: each must be unique, and they follow in this order.
    pub pieces: Vec<Piece>,
    /// The line, counted from 1, at which the request places the block. It only chooses among equal places.
    pub hint: Option<usize>,
}

/// A piece of a [`BlockChange`]: lines that end in LF, which the last one may lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The lines to find.
    pub old: String,
    /// The lines that replace them, or the same lines in a piece that only locates the next one. Both are empty where
    /// an elision begins or ends the block. If only `old` is empty, the elision gives no place for `new`.
    pub new: String,
    /// The elision line (`...`) between this piece and the one before, as it was sent, without its ending. It may be a
    /// real line of the file: with it, the pieces join to the block that was sent.
    pub elision: Option<String>,
}

/// A replacement of lines by number, which is only safe for the version that has those numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeChange {
    /// The first removed line, counted from 1; if `count` is 0, the line before which the new ones are inserted.
    pub first: usize,
    /// How many lines are removed.
    pub count: usize,
    /// The new lines, without their endings.
    pub lines: Vec<String>,
}

/// A replacement of lines of a version of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedChange {
    /// The lines that go, or the place at which others come.
    pub at: LinesOfVersion,
    /// The lines that come.
    pub new: NewLines,
}

/// A text where a search has found it, and its replacement. It is only safe for the version that was searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceChange {
    /// The offset of the text in the file's view.
    pub offset: usize,
    /// The text that stands there.
    pub old: String,
    /// The text that replaces it, literally.
    pub new: String,
    /// Whether the caller made it of what it meant, and proved that all places of the file together mean that. They make one
    /// change, and their texts are not asked what nobody can mean.
    pub is_proven: bool,
}

/// One line of a [`LineChange`], without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line that must be there and stays.
    Context(String),
    /// A line that must be there and is removed.
    Removed(String),
    /// A new line.
    Added(String),
    /// A line without a marker: context that lost its leading space. It must be equal to the file's line.
    Bare(String),
}

/// The number of line pairs above which shared lines in the middle of two blocks are not searched for.
const COMPARED: usize = 4_000_000;

impl Line {
    /// Merges an old and a new block: lines that both share become context.
    #[must_use]
    pub fn between(old: &[&str], new: &[&str]) -> Vec<Self> {
        let owned = |kind: fn(String) -> Self| move |line: &&str| kind(String::from(*line));
        let mut lines = Vec::new();
        for op in compare_middle(old, new, COMPARED) {
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(old[op.old_range()].iter().map(owned(Self::Context)));
            } else {
                lines.extend(old[op.old_range()].iter().map(owned(Self::Removed)));
                lines.extend(new[op.new_range()].iter().map(owned(Self::Added)));
            }
        }
        lines
    }

    /// Returns whether the line stays as it is.
    #[must_use]
    pub fn is_context(&self) -> bool {
        matches!(self, Self::Context(_) | Self::Bare(_))
    }

    /// Returns the line if it must be in the file before the edit.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Removed(line) | Self::Bare(line) => Some(line),
            Self::Added(_) => None,
        }
    }

    /// Returns the line if it will be in the file after the edit.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Added(line) | Self::Bare(line) => Some(line),
            Self::Removed(_) => None,
        }
    }
}
