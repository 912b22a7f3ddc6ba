//! What can be expected to be wrong with an edit of a text, as data: a kind, the facts that mend the request, and a code.
//!
//! A [`Problem`] is an answer, not an accident: the file does not hold that text, two places do, the patch was cut off.
//! Here are the facts alone. What is told of them is for others to say, who know whom they tell and what that reader can
//! do next; so nothing here is a sentence that somebody would have to mend for another reader.

pub mod malformed;
mod near;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::version::Version;

pub use malformed::Malformed;
pub use near::{Difference, Near, NearPlace, Relation};

/// One expected failure, and where in the request it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, with the facts. Boxed, since a problem travels in every `Result`.
    pub kind: Box<Kind>,
    /// The file that it concerns, as the caller names it.
    pub path: Option<String>,
    /// The hunk (or edit of a list) that it concerns, counted from 1 over the whole request.
    pub hunk: Option<usize>,
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
    /// How many of the others would write what is there already.
    pub done: usize,
    /// How many hunks the request has.
    pub total: usize,
}

/// A hunk that fits, though another of its section does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// Its number.
    pub hunk: usize,
    /// The line at which it starts.
    pub line: usize,
    /// The lines of the file that it changes, or those around its insertion, with their numbers; some of them.
    pub lines: Vec<(usize, String)>,
}

impl Problem {
    /// A problem of the request as a whole.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind: Box::new(kind), path: None, hunk: None, beside: Vec::new(), fit: None }
    }

    /// The same problem, of this file.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same problem, of this hunk.
    #[must_use]
    pub fn in_hunk(mut self, number: usize) -> Self {
        self.hunk = Some(number);
        self
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// Whether the file already has what the request wants to write, perhaps for another reason than this request.
    #[must_use]
    pub fn is_done_already(&self) -> bool {
        match &*self.kind {
            Kind::SearchNotFound { near, .. } | Kind::HunkContextMismatch { near, .. } => {
                near.relation == Relation::AlreadyThere
            }
            Kind::NoOp { why } => {
                matches!(why, NoChange::AlreadyHeld | NoChange::AlreadyAdded | NoChange::AlreadyWrapped)
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

/// Says which problem it is and where, for logs. The facts are in its kind.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())?;
        if let Kind::InvalidFormat { line, fault } = &*self.kind {
            write!(f, ", {fault:?}")?;
            if let Some(line) = line {
                write!(f, " on line {line}")?;
            }
        }
        if let Some(path) = &self.path {
            write!(f, " in {path}")?;
        }
        match self.hunk {
            Some(hunk) => write!(f, ", hunk {hunk}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Problem {}

/// What is wrong, with the facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is a fact named by its variant")]
pub enum Kind {
    // The text of a patch.
    InvalidFormat {
        /// The line of the patch, counted from 1.
        line: Option<usize>,
        fault: Malformed,
    },
    /// There is nothing to look for.
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
        /// The layer that found them, if the text itself stands nowhere.
        loose: Option<&'static str>,
        /// The first places with their neighbours: what could tell them apart.
        places: Vec<Vec<(usize, String)>>,
    },
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
    /// It stands there, but with differences that leave open how the new lines are meant.
    Unclear,
    /// Lines are named by number alone, and something before has moved them.
    MovedNumbers,
    WorkLimit {
        work: Work,
    },

    // New text that cannot be meant.
    PartOfWord {
        line: usize,
        /// The word of the file that is cut.
        word: String,
        /// Whether it is the beginning of the old text that cuts it, and not its end.
        begins: bool,
        /// The lines of the place with their neighbours.
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
        /// That line with its neighbours.
        shown: Vec<(usize, String)>,
    },
    EscapedText {
        line: String,
        escape: &'static str,
        instead: &'static str,
    },
    NoOp {
        why: NoChange,
    },

    // Files.
    MissingOriginal,
    /// A file is to be added where one is.
    AlreadyExists,
    /// A file is to be moved to where one is.
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
    /// The caller has said that this source cannot be had, and knows why.
    NoSource,

    // Taking a part of a plan.
    /// What is moved cannot be taken without its arrival, nor the other way round.
    HalfMove {
        from: String,
        to: String,
    },
    /// The hunks of this file depend on each other.
    InseparableHunks {
        name: String,
    },
}

/// What would be too much work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Comparing: the text nearly matches in too many places.
    Comparing,
    /// Replacing: it stands in more places than may be changed at once.
    Replacing,
}

/// Why nothing would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChange {
    /// The file already holds what the request asks for.
    AlreadyHeld,
    /// The added lines already stand at their place.
    AlreadyAdded,
    /// The file already has the new text, which contains the old one, where the old one was found.
    AlreadyWrapped,
    /// The old and the new text are the same.
    SameText,
    /// The old and the new lines are the same.
    SameLines,
    /// The file is to be moved to where it is.
    SamePath,
    /// The hunk has only context lines.
    OnlyContext,
    /// The hunks that were taken change nothing without the others.
    NothingTaken,
}

/// Why bytes are no text that can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotText {
    /// They have NUL bytes, and no mark of UTF-16.
    Nul,
    /// They have too many control characters.
    Binary,
    /// They have the mark of UTF-32.
    Utf32,
    /// They have the mark of UTF-16 and are an odd number.
    OddUtf16,
    /// They have the mark of UTF-16, but half a surrogate pair.
    HalfSurrogate,
    /// They have the mark of UTF-16, but NUL characters.
    NulInUtf16,
    /// They are not UTF-8, and no other encoding explains all of them.
    NoEncoding,
    /// The new text has a NUL byte.
    NulInNewText,
    /// With the edit they would be no text any more.
    AfterEdit,
    /// Their encoding is a guess, and what is taken from them must be certain.
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

            /// How the code is spelled.
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
    OmissionPlaceholder "omission-placeholder",
    EscapedText "escaped-text",
    IndentationMismatch "indentation-mismatch",
    NotText "not-text",
    NotEncodable "not-encodable",
    TooLarge "too-large",
    InvalidArgument "invalid-argument",
    WorkLimit "work-limit",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Kind {
    /// The code under which this problem is known.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidFormat { .. } | Self::NoOldText | Self::MovedNumbers => Code::InvalidFormat,
            Self::SearchNotFound { .. } => Code::SearchNotFound,
            Self::HunkContextMismatch { .. }
            | Self::AnchorNotFound { .. }
            | Self::NotAtEndOfFile { .. }
            | Self::Unclear => Code::HunkContextMismatch,
            Self::AmbiguousMatch { .. } | Self::ExpectedCount { .. } | Self::OverlappingPlaces { .. } => {
                Code::AmbiguousMatch
            }
            Self::OverlappingEdits { .. } => Code::OverlappingEdits,
            Self::WorkLimit { .. } => Code::WorkLimit,
            Self::NoSuchLines { .. }
            | Self::PartOfWord { .. }
            | Self::LineEndingLost { .. }
            | Self::HalfMove { .. }
            | Self::InseparableHunks { .. } => Code::InvalidArgument,
            Self::OmissionPlaceholder { .. } => Code::OmissionPlaceholder,
            Self::EscapedText { .. } => Code::EscapedText,
            Self::IndentationMismatch { .. } => Code::IndentationMismatch,
            Self::NoOp { .. } => Code::NoOp,
            Self::MissingOriginal | Self::NoSource => Code::MissingOriginal,
            Self::AlreadyExists | Self::TargetExists => Code::AlreadyExists,
            Self::NotText { .. } => Code::NotText,
            Self::NotEncodable { .. } => Code::NotEncodable,
            Self::TooLarge { .. } => Code::TooLarge,
        }
    }

    /// The line numbers of the places in question, where there are any.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        match self {
            Self::AmbiguousMatch { lines, .. }
            | Self::ExpectedCount { lines, .. }
            | Self::OverlappingPlaces { lines } => lines,
            Self::SearchNotFound { near } | Self::HunkContextMismatch { near, .. } => near.numbers(),
            _ => &[],
        }
    }

    /// The version that the file has now, where the problem knows it.
    #[must_use]
    pub fn current_version(&self) -> Option<Version> {
        match self {
            Self::SearchNotFound { near } | Self::HunkContextMismatch { near, .. } => Some(near.version),
            _ => None,
        }
    }
}
