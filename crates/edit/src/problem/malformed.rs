//! The faults in the text of a patch, format by format. Quoted lines are shortened, since a request may have long ones.

use alloc::string::String;
use alloc::vec::Vec;

/// A fault in the text of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is a format")]
pub enum Malformed {
    /// The text is one line, in which `\n` stands for the line breaks.
    EscapedBreaks,
    /// The text is in no known format; this is its first line, if it has any.
    NoFormat(Option<String>),
    V4a(V4a),
    /// A fault in the headers of a file in a unified or context diff.
    Header(Header),
    Unified(Unified),
    Context(Context),
    Ed(Ed),
    Rcs(Rcs),
    SearchReplace(SearchReplace),
    Whole(Whole),
}

/// A fault in a V4A patch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum V4a {
    NoBegin { first: Option<String> },
    NoEnd { last: String },
    SecondPatch,
    SectionOutside { text: String },
    NoSections,
    EmptyEnvironment,
    MoveWithoutTarget,
    NotAHeader { header: String, after_added: bool },
    NoFileNamed,
    EmptySection { path: String },
    NoMarker { text: String },
    NotALine { text: String },
    EmptyHunk,
}

/// A fault in the headers of a file in a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Header {
    CombinedDiff,
    CopiedFile,
    BinaryFile,
    SymbolicLink,
    Submodule,
    UnknownMode {
        mode: String,
    },
    CreatedAndDeleted,
    HalfRename,
    NoFileNamed,
    BothSidesNothing,
    DifferentNames {
        old: String,
        new: String,
    },
    /// The `diff --git` line has one name, and another header the other.
    OtherGitLine {
        line: String,
        other: String,
    },
    /// The caller has named another file than the headers; they may have two names.
    AnotherFile {
        path: String,
        named: String,
        other: Option<String>,
    },
}

/// A fault in a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Unified {
    NoDiff,
    FenceNotClosed,
    OneSideNamed {
        text: String,
    },
    ChangeAfterHunk {
        text: String,
    },
    CombinedDiff,
    EmptyHunk,
    CutOff,
    NoFileNamed,
    DeletedButKept,
    NewWithoutContent,
    NoHunk {
        path: String,
    },
    /// The hunk only adds lines, but its header counts old ones.
    OldLinesMissing,
    /// The hunk only adds lines, and does not say where.
    NoPlace,
    LineEndings,
    /// `\ No newline at end of file` stands before the last line of a side.
    NoNewlineInside,
}

/// A fault in a context diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Context {
    NoDiff,
    NoFileNamed,
    NothingChanged,
    SidesDiffer,
    NotARange { text: String, prefix: &'static str, suffix: &'static str },
    LinesMissing { count: usize },
}

/// A fault in an ed script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Ed {
    NoFileNamed,
    NoCommands,
    /// There is a code fence, but not around all of it.
    FenceNotAround,
    NoCommand {
        text: String,
    },
    NotUpwards {
        line: usize,
        before: usize,
    },
    TextNotEnded,
    NothingToTakeAway,
    AfterEnd {
        text: String,
    },
}

/// A fault in an RCS script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Rcs {
    NoFileNamed,
    NoCommands,
    /// There is a code fence, but not around all of it.
    FenceNotAround,
    NoCommand {
        text: String,
    },
    NotDownwards {
        line: usize,
        done: usize,
    },
    LinesMissing {
        count: usize,
        left: usize,
    },
}

/// A fault in SEARCH/REPLACE blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum SearchReplace {
    NoBlocks,
    MarkerOutside {
        text: String,
    },
    NoFileNamed,
    /// The caller has named another file.
    AnotherFile {
        path: String,
        named: String,
    },
    /// The search text is empty, but there is a line number.
    EmptySearch,
    Elisions {
        old: usize,
        new: usize,
    },
    /// There is no separator; `nearly` is a line that was probably meant as one.
    NoSeparator {
        nearly: Option<(usize, String)>,
    },
    Separators {
        begins: usize,
        lines: Vec<usize>,
    },
    NoEnd {
        has_separator: bool,
        /// Whether the markers are those of cline.
        is_cline: bool,
        found: Option<Found>,
    },
    NotANumber {
        name: &'static str,
    },
    HintInside {
        text: String,
    },
}

/// The line that stands where a block should have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the line.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// Whether the line opens another block, and so may be content that looks like a marker.
    pub is_marker: bool,
}

/// A fault in whole files in fences.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Whole {
    NoFileNamed,
    /// The caller has named another file.
    AnotherFile {
        path: String,
        named: String,
    },
    NoContent {
        path: String,
    },
    FenceNotClosed,
    /// The caller has named a file, but the text does not say that the fence holds all of it.
    UnknownContent,
    SecondTime {
        path: String,
    },
    SecondFence {
        path: String,
    },
    /// The text mentions this file, but does not say that the fence holds it.
    Unnamed {
        path: String,
    },
    Diff {
        path: String,
    },
    UnclearEnd,
}

macro_rules! from {
    ($($format:ident),*) => {$(
        impl From<$format> for Malformed {
            fn from(fault: $format) -> Self {
                Self::$format(fault)
            }
        }
    )*};
}

from!(V4a, Header, Unified, Context, Ed, Rcs, SearchReplace, Whole);
