//! The expected failures of an edit as data: a kind, the facts that help to correct the request, and a code.
//!
//! A [`Problem`] is an answer, not an accident: the file lacks the text, two places have it, the patch was cut off.
//! This module holds facts only. Other crates word the messages, since they know the reader and what that reader can do
//! next.

mod lost;
pub mod malformed;
mod near;
mod sketch;
mod symbol;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::version::Version;

pub use lost::{LinesNow, LostLines, WhyLost};
pub use malformed::Malformed;
pub use near::{Difference, DifferenceKind, DifferingWords, Near, NearPlace, Relation};
pub use sketch::{SketchDoubt, UncertainSketch};
pub use symbol::{DefinitionLines, NoDefinition, Part, UncertainSymbol, Uncertainty, UnknownSymbol};

/// One expected failure, and where in the request it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem with its facts. Boxed to keep every `Result` small.
    pub kind: Box<Kind>,
    /// The file concerned, as the caller names it.
    pub path: Option<String>,
    /// The hunk (or edit of a list) concerned, counted from 1 over the whole request.
    pub hunk: Option<usize>,
    /// The edit that it concerns, counted from 1, if the request joins several.
    pub edit: Option<usize>,
    /// Whether it concerns the lines that are copied or moved, where they come from.
    pub is_of_origin: bool,
    /// Hunks of the same section that do fit.
    pub beside: Vec<Fitting>,
    /// How many hunks of the request fit, where not all of them do.
    pub fit: Option<Box<HunksThatFit>>,
}

/// How many hunks of a request fit, where not all of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunksThatFit {
    /// How many hunks fit.
    pub fit: usize,
    /// How many of the others would write what the file already has.
    pub done: usize,
    /// How many hunks the request has.
    pub total: usize,
}

/// A hunk that fits although another of its section does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// The number of the hunk.
    pub hunk: usize,
    /// The line at which it starts.
    pub line: usize,
    /// Some of the lines that it changes, or of those around its insertion, with their numbers.
    pub lines: Vec<(usize, String)>,
}

impl Problem {
    /// Makes a problem of the request as a whole.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind: Box::new(kind),
            path: None,
            hunk: None,
            edit: None,
            is_of_origin: false,
            beside: Vec::new(),
            fit: None,
        }
    }

    /// Attributes the problem to a file.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Attributes the problem to a file, unless it is attributed to one.
    #[must_use]
    pub fn or_at(self, path: &str) -> Self {
        if self.path.is_some() { self } else { self.at(path) }
    }

    /// Attributes the problem to a hunk.
    #[must_use]
    pub fn in_hunk(mut self, number: usize) -> Self {
        self.hunk = Some(number);
        self
    }

    /// Attributes the problem to the lines that are copied or moved, where they come from.
    #[must_use]
    pub fn of_origin(mut self) -> Self {
        self.is_of_origin = true;
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// Returns whether the file already has what the request would write, for whatever reason.
    #[must_use]
    pub fn is_done_already(&self) -> bool {
        match &*self.kind {
            Kind::SearchNotFound { near, .. } | Kind::HunkContextMismatch { near, .. } => {
                near.relation == Relation::AlreadyThere
            }
            Kind::NoOp { why } => {
                use NoChange::{AlreadyAdded, AlreadyHeld, AlreadyWrapped, MadeAt};
                matches!(why, AlreadyHeld | AlreadyAdded | AlreadyWrapped | MadeAt { .. })
            }
            _ => false,
        }
    }
}

impl From<Kind> for Problem {
    fn from(kind: Kind) -> Self {
        Self::new(kind)
    }
}

impl From<Problem> for Vec<Problem> {
    fn from(problem: Problem) -> Self {
        alloc::vec![problem]
    }
}

impl From<Kind> for Vec<Problem> {
    fn from(kind: Kind) -> Self {
        alloc::vec![Problem::new(kind)]
    }
}

/// Formats the code and the place of the problem for logs, without its facts.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        write_place(self.path.as_deref(), self.hunk, f)
    }
}

/// Writes where a problem is, for logs: ` in a.txt, hunk 2`.
pub fn write_place(path: Option<&str>, hunk: Option<usize>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(path) = path {
        write!(f, " in {path}")?;
    }
    match hunk {
        Some(hunk) => write!(f, ", hunk {hunk}"),
        None => Ok(()),
    }
}

impl core::error::Error for Problem {}

/// A kind of problem with its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is a fact named by its variant")]
pub enum Kind {
    // The text of a patch.
    InvalidFormat {
        /// The line of the patch, counted from 1.
        line: Option<usize>,
        fault: Malformed,
    },
    /// The old text is empty.
    NoOldText,

    // Finding.
    SearchNotFound {
        near: Box<Near>,
    },
    HunkContextMismatch {
        near: Box<Near>,
        expected: Vec<String>,
    },
    AnchorNotFound {
        anchor: String,
        total: usize,
    },
    AmbiguousMatch {
        lines: Vec<usize>,
        total: usize,
        more: bool,
        in_patch: bool,
        /// The layer that found them, if the exact text was not found.
        loose: Option<&'static str>,
        /// The first places with their neighbouring lines, which could tell them apart.
        places: Vec<Vec<(usize, String)>>,
    },
    /// The lines are not where the request names them, and elsewhere they are. Where it names them is nearly the same.
    OtherPlace {
        /// The line at which nearly the same stands.
        near: usize,
        /// The line at which the lines themselves stand.
        found: usize,
        /// Both places with their neighbouring lines.
        shown: Vec<Vec<(usize, String)>>,
    },
    /// A hunk of only added lines follows another and precedes one, and these are not beside each other.
    NoPlaceBetween,
    ExpectedCount {
        expected: usize,
        found: usize,
        lines: Vec<usize>,
    },
    OverlappingPlaces {
        lines: Vec<usize>,
    },
    OverlappingEdits {
        first: usize,
        second: usize,
        line: usize,
    },
    NotAtEndOfFile {
        line: usize,
        last: usize,
    },
    NoSuchLines {
        first: usize,
        count: usize,
        total: usize,
    },
    /// The lines were found with differences that leave open how the new lines are meant.
    Unclear,
    /// Lines are named by the numbers of another version, and where they are now is not certain.
    LostLines(Box<LostLines>),
    /// No definition has the name that is given.
    SymbolNotFound {
        why: NoDefinition,
        unknown: Box<UnknownSymbol>,
    },
    /// Several definitions have the name that is given.
    AmbiguousSymbol {
        /// Their first lines.
        lines: Vec<usize>,
        unknown: Box<UnknownSymbol>,
    },
    /// The definition is not its lines alone, or its lines are not certain.
    UncertainSymbol(Box<UncertainSymbol>),
    /// A definition is named of a version whose content is not known.
    SymbolOfUnknownVersion {
        symbol: String,
        claimed: String,
        current: Version,
    },
    /// What a sketch means is not certain.
    UncertainSketch(Box<UncertainSketch>),
    /// Lines are named by number alone, and an earlier change has moved them.
    MovedNumbers,
    WorkLimit {
        work: Work,
    },

    // New text that cannot be meant.
    /// The change would alter one part of a word of the file and keep the other.
    CutWord {
        line: usize,
        word: String,
        /// How many bytes of the word are left of the cut.
        at: usize,
        /// Whether the old text begins in the word, and does not end in it.
        begins: bool,
        /// The lines of the place with their neighbouring lines.
        shown: Vec<(usize, String)>,
    },
    /// A hunk adds a copy of the line beside it, and does something else too.
    LineThere {
        /// Where it stands.
        line: usize,
        text: String,
    },
    /// The lines to insert begin or end with those beside which they go.
    AnchorRepeated {
        line: usize,
    },
    /// Lines were to go beside a text that has only a part of this line.
    PartOfLine {
        line: usize,
        /// The lines of the place with their neighbouring lines.
        shown: Vec<(usize, String)>,
    },
    LineEndingLost {
        /// The line that would be glued to the new text.
        line: usize,
        text: String,
    },
    OmissionPlaceholder {
        line: String,
    },
    IndentationMismatch {
        line: usize,
        /// That line with its neighbouring lines.
        shown: Vec<(usize, String)>,
    },
    EscapedText {
        line: String,
        escape: &'static str,
        instead: &'static str,
    },
    /// The new lines have the line numbers of a reading before them.
    ShownNumbers {
        /// The first of them.
        line: String,
    },
    NoOp {
        why: NoChange,
    },

    // Files.
    MissingOriginal,
    /// The file of hunks that only add lines does not exist.
    NothingToAddTo,
    /// The file to add exists.
    AlreadyExists,
    /// The target of the move exists.
    TargetExists,
    NotText {
        why: NotText,
    },
    NotEncodable {
        character: char,
        encoding: &'static str,
    },
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    /// The caller has refused this source, and knows why.
    NoSource,

    // Copying and moving lines.
    /// A line cannot be taken to its new place as it is asked.
    CannotTake {
        line: usize,
        why: CannotTake,
    },
    /// Lines cannot be put at this line: a character that is there, or one of theirs, would become another.
    CannotPut {
        line: usize,
        why: CannotPut,
    },
    /// Lines are to be moved to a place inside or around themselves.
    MovedIntoItself {
        first: usize,
        count: usize,
    },
    /// Lines are to make up a new file, and the file exists: the place in it was not named.
    NoPlace,

    // Taking a part of a plan.
    /// Only one half of a move was taken: its source without its target, or the reverse.
    HalfMove {
        from: String,
        to: String,
    },
    /// The hunks of this file depend on each other.
    InseparableHunks {
        name: String,
    },
}

/// The kind of work that would be too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Comparing, because the text nearly matches in too many places.
    Comparing,
    /// Replacing, because the text stands in more places than may be changed at once.
    Replacing,
    /// Copying, because the lines are too many.
    Copying,
}

/// Says which problem it is, for logs: its code, and what a patch has done wrong.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())?;
        if let Self::InvalidFormat { line, fault } = self {
            write!(f, ", {fault:?}")?;
            if let Some(line) = line {
                write!(f, " on line {line}")?;
            }
        }
        Ok(())
    }
}

/// The reason why a line cannot be copied or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotTake {
    /// It is to be shifted to the left by more than its indentation, which has so many characters.
    LessIndented {
        /// How many.
        has: usize,
    },
    /// It is to be shifted, and what it is indented with is not one kind of white space.
    MixedIndentation,
    /// The characters that its bytes stand for are a guess, and would be written in another encoding.
    Uncertain {
        /// The encoding that is guessed.
        encoding: &'static str,
        /// The other encoding.
        into: &'static str,
    },
    /// It is of a file with bytes that are no UTF-8, and not all of it is ASCII.
    InvalidBytes {
        /// The encoding in which it would be written.
        into: &'static str,
    },
    /// It ends with a carriage return that is no part of its ending, and would become one.
    CarriageReturn,
}

/// The reason why lines cannot be put at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotPut {
    /// They begin with U+FEFF, which is a byte order mark at the start of a file.
    ByteOrderMark,
    /// They would end the last line, and with its carriage return that would be another line ending.
    CarriageReturn,
}

/// The reason why nothing would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChange {
    /// The file already holds what the request asks for.
    AlreadyHeld,
    /// The added lines already stand at their place.
    AlreadyAdded,
    /// The file already has the new lines at the named place.
    MadeAt {
        /// The line, counted from 1.
        line: usize,
    },
    /// The hunk does what another one does.
    SameHunk {
        /// The other one.
        first: usize,
    },
    /// The file already has the new text, which contains the old one, where the old one was found.
    AlreadyWrapped,
    /// The old and the new text are the same.
    SameText,
    /// The old and the new lines are the same.
    SameLines,
    /// The file would be moved to where it is.
    SamePath,
    /// The lines would be moved to where they are.
    SamePlace,
    /// The hunk has only context lines.
    OnlyContext,
    /// The selected hunks change nothing without the others.
    NothingTaken,
}

/// The reason why bytes are no editable text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotText {
    /// They have NUL bytes, and no UTF-16 byte order mark.
    Nul,
    /// They have too many control characters.
    Binary,
    /// They have a UTF-32 byte order mark.
    Utf32,
    /// They have a UTF-16 byte order mark, but an odd length.
    OddUtf16,
    /// They have a UTF-16 byte order mark, but half a surrogate pair.
    HalfSurrogate,
    /// They have a UTF-16 byte order mark, but NUL characters.
    NulInUtf16,
    /// They are not UTF-8, and no other encoding explains all of them.
    NoEncoding,
    /// The new text has a NUL byte.
    NulInNewText,
    /// The edit would leave bytes that are no text.
    AfterEdit,
    /// Their encoding is a guess, where the characters must be certain.
    Uncertain,
}

macro_rules! codes {
    ($($variant:ident $spelling:literal),* $(,)?) => {
        /// The stable codes. Their spelling is API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "docs/ERRORS.md has a row for each, and a test that none is missing")]
        pub enum Code { $($variant),* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the spelling of the code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $spelling),* }
            }
        }
    };
}

codes! {
    SearchNotFound "search-not-found",
    AmbiguousMatch "ambiguous-match",
    HunkContextMismatch "hunk-context-mismatch",
    MissingOriginal "missing-original",
    InvalidFormat "invalid-format",
    NoOp "no-op",
    OverlappingEdits "overlapping-edits",
    AlreadyExists "already-exists",
    StaleFile "stale-file",
    OmissionPlaceholder "omission-placeholder",
    EscapedText "escaped-text",
    IndentationMismatch "indentation-mismatch",
    NotText "not-text",
    NotEncodable "not-encodable",
    TooLarge "too-large",
    InvalidArgument "invalid-argument",
    WorkLimit "work-limit",
    SymbolNotFound "symbol-not-found",
    AmbiguousSymbol "ambiguous-symbol",
    UncertainSymbol "uncertain-symbol",
    UncertainSketch "uncertain-sketch",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Kind {
    /// Returns the stable code of this kind.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidFormat { .. } | Self::NoOldText | Self::MovedNumbers => Code::InvalidFormat,
            Self::SearchNotFound { .. } => Code::SearchNotFound,
            Self::HunkContextMismatch { .. }
            | Self::AnchorNotFound { .. }
            | Self::NotAtEndOfFile { .. }
            | Self::NoPlaceBetween
            | Self::LineThere { .. }
            | Self::Unclear => Code::HunkContextMismatch,
            Self::AmbiguousMatch { .. }
            | Self::OtherPlace { .. }
            | Self::ExpectedCount { .. }
            | Self::OverlappingPlaces { .. } => Code::AmbiguousMatch,
            Self::OverlappingEdits { .. } => Code::OverlappingEdits,
            Self::LostLines(lost) => match lost.why {
                WhyLost::Overwritten => Code::OverlappingEdits,
                WhyLost::Unknown | WhyLost::Changed { .. } | WhyLost::Several { .. } => Code::StaleFile,
            },
            Self::SymbolNotFound { .. } => Code::SymbolNotFound,
            Self::AmbiguousSymbol { .. } => Code::AmbiguousSymbol,
            Self::UncertainSymbol(_) => Code::UncertainSymbol,
            Self::UncertainSketch(_) => Code::UncertainSketch,
            Self::SymbolOfUnknownVersion { .. } => Code::StaleFile,
            Self::WorkLimit { .. } => Code::WorkLimit,
            Self::NoSuchLines { .. }
            | Self::CutWord { .. }
            | Self::PartOfLine { .. }
            | Self::AnchorRepeated { .. }
            | Self::LineEndingLost { .. }
            | Self::HalfMove { .. }
            | Self::InseparableHunks { .. } => Code::InvalidArgument,
            Self::MovedIntoItself { .. } => Code::OverlappingEdits,
            Self::CannotTake { why, .. } => match why {
                CannotTake::LessIndented { .. } | CannotTake::MixedIndentation => Code::IndentationMismatch,
                CannotTake::Uncertain { .. } | CannotTake::InvalidBytes { .. } => Code::NotText,
                CannotTake::CarriageReturn => Code::NotEncodable,
            },
            Self::CannotPut { .. } => Code::NotEncodable,
            Self::NoPlace => Code::AlreadyExists,
            Self::OmissionPlaceholder { .. } => Code::OmissionPlaceholder,
            Self::EscapedText { .. } | Self::ShownNumbers { .. } => Code::EscapedText,
            Self::IndentationMismatch { .. } => Code::IndentationMismatch,
            Self::NoOp { .. } => Code::NoOp,
            Self::MissingOriginal | Self::NothingToAddTo | Self::NoSource => Code::MissingOriginal,
            Self::AlreadyExists | Self::TargetExists => Code::AlreadyExists,
            Self::NotText { .. } => Code::NotText,
            Self::NotEncodable { .. } => Code::NotEncodable,
            Self::TooLarge { .. } => Code::TooLarge,
        }
    }

    /// Returns the line numbers of the places in question, if there are any.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        match self {
            Self::AmbiguousMatch { lines, .. }
            | Self::ExpectedCount { lines, .. }
            | Self::OverlappingPlaces { lines }
            | Self::AmbiguousSymbol { lines, .. } => lines,
            Self::SearchNotFound { near } | Self::HunkContextMismatch { near, .. } => near.numbers(),
            Self::LostLines(lost) => match &lost.why {
                WhyLost::Several { lines } => lines,
                _ => &[],
            },
            Self::UncertainSketch(uncertain) => match &uncertain.doubt {
                SketchDoubt::Several { lines } => lines,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// Returns the current version of the file, if the problem holds it.
    #[must_use]
    pub fn current_version(&self) -> Option<Version> {
        match self {
            Self::SearchNotFound { near } | Self::HunkContextMismatch { near, .. } => Some(near.version),
            Self::LostLines(lost) => Some(lost.current),
            Self::SymbolOfUnknownVersion { current, .. } => Some(*current),
            Self::UncertainSketch(uncertain) => Some(uncertain.version),
            _ => None,
        }
    }
}
