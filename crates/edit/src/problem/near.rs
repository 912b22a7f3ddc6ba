//! The lines of the file that a refusal shows, so that the caller's next request can succeed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// The lines of the file that are nearest to the searched text, or other helpful ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The file's current version.
    pub version: Version,
    /// How many lines the file has.
    pub total: usize,
    /// How the places relate to the request.
    pub relation: Relation,
    /// The shown places, the best first.
    pub places: Vec<NearPlace>,
    /// The line at which the new text already stands, if that is elsewhere than the nearest lines.
    pub new_at: Option<usize>,
}

impl Near {
    /// Returns the numbers of the shown lines of the best place.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        self.places.first().map_or(&[], |place| &place.numbers)
    }
}

/// One place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearPlace {
    /// The first line of the place, counted from 1.
    pub first: usize,
    /// The last line of the place.
    pub last: usize,
    /// The numbers of the shown lines: a long place has gaps, and one line before and after gives context.
    pub numbers: Vec<usize>,
    /// The shown lines without their endings, otherwise byte for byte.
    pub lines: Vec<String>,
    /// The first differences from the request.
    pub differences: Vec<Difference>,
    /// How many further differences there are.
    pub more: usize,
}

/// A difference between a line of the file and the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The one-based line of the file.
    pub line: usize,
    /// In what they differ: first what the request has as it was sent, then all else.
    pub kinds: Vec<DifferenceKind>,
    /// The line of the file, where there is one to compare.
    pub file: Option<String>,
    /// The line of the request.
    pub request: Option<String>,
    /// How many other lines have a difference of the same kind.
    pub again: usize,
}

/// One thing in which a line of the file, or a few of them, differ from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "file and request are what either of them has")]
pub enum DifferenceKind {
    // The line as it was sent.
    /// The request has the line number of a reading before the line.
    LineNumber {
        /// The number, with the white space and the mark around it.
        prefix: String,
    },
    /// The request has an escape.
    Escape {
        escape: &'static str,
        /// What the file has in its place.
        stands_for: char,
    },

    // A line and its counterpart.
    /// The request has what a viewer shows beside the line: a line number before it, or a sign for its end.
    Frame { text: String, is_before: bool },
    /// They differ only after so many bytes, which is all that was compared.
    AfterCompared(usize),
    /// The request has a blank line there, and the file does not.
    BlankInRequest,
    /// The file has a blank line there, and the request does not.
    BlankInFile,
    /// The white space at the end of the line.
    LineEnd { file: String, request: String },
    /// The white space at the beginning of the line.
    Indentation { file: String, request: String },
    /// Kinds of spaces: the first pair that differs, if there is one.
    Spaces(Option<(char, char)>),
    /// Kinds of quotes: the curly ones that each has, a few of them.
    Quotes { file: String, request: String },
    /// Kinds of dashes: the first pair that differs, if there is one.
    Dashes(Option<(char, char)>),
    /// One has the single character, the other three dots.
    Ellipsis {
        /// Whether it is the file that has the single character.
        is_in_file: bool,
    },
    /// The first character of each that cannot be seen.
    Invisible { file: Option<char>, request: Option<char> },
    /// Capital and small letters.
    LetterCase(Option<DifferingWords>),
    /// The white space inside the line.
    InnerSpace,
    /// Accented letters are composed of other characters.
    Composition,
    /// Words; `None` where they are too long to be quoted.
    Words(Option<DifferingWords>),

    // Lines that have no counterpart.
    /// The request has an elision.
    Elision {
        /// The first and the last line of the file that it stands for, if it stands for any.
        lines: Option<(usize, usize)>,
    },
    /// The request lacks lines that the file has.
    Lacking {
        first: usize,
        last: usize,
        /// Whether they are blank.
        is_blank: bool,
    },
    /// The request has lines that the file lacks.
    Extra {
        lines: usize,
        /// Whether they are blank.
        is_blank: bool,
        /// How many lines the file has, where they would stand after its last.
        after: Option<usize>,
    },
    /// All lines are there, but not where the request has them.
    Elsewhere {
        /// Whether the last of them is that of the file and has no newline.
        is_unended: bool,
    },
}

/// The words from the first to the last that differ, without the white space around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingWords {
    /// Those of the file; empty where it has nothing there.
    pub file: String,
    /// Those of the request; empty where it has nothing there.
    pub request: String,
}

impl DifferenceKind {
    /// Whether it is of the line as it was sent, which was then compared as it may have been meant.
    #[must_use]
    pub fn is_as_sent(&self) -> bool {
        matches!(self, Self::LineNumber { .. } | Self::Escape { .. })
    }

    /// Whether one line with it stands for all others that have it too.
    pub(crate) fn is_told_once(&self) -> bool {
        !matches!(
            self,
            Self::AfterCompared(_)
                | Self::BlankInRequest
                | Self::BlankInFile
                | Self::Words(_)
                | Self::Lacking { .. }
                | Self::Extra { .. }
                | Self::Elsewhere { .. }
        )
    }
}

/// How the places of a [`Near`] relate to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The places resemble the searched text.
    Nearest,
    /// Nothing resembles the searched text; this is the whole file.
    WholeFile,
    /// Nothing resembles the searched text; this is the beginning of the file.
    Head,
    /// The file already has the new text here.
    AlreadyThere,
    /// The file already has the new text here, with other white space.
    AlreadyThereButSpace,
}
