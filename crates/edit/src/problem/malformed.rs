//! What is wrong with the text of a patch, format by format.
//!
//! Quoted lines are shortened, since a request may have long ones.

use alloc::string::String;
use alloc::vec::Vec;

/// What is wrong with the text of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is a format")]
pub enum Malformed {
    /// It is in no format that is known; its first line, if it has any.
    NoFormat(Option<String>),
    V4a(V4a),
    /// The headers of a file in a unified or context diff.
    Header(Header),
    Unified(Unified),
    Context(Context),
    Ed(Ed),
    Rcs(Rcs),
    SearchReplace(SearchReplace),
    Whole(Whole),
}

/// What is wrong with a V4A patch.
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

/// What is wrong with the headers of a file in a diff.
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
    /// The caller has named another file.
    AnotherFile {
        path: String,
        named: String,
    },
}

/// What is wrong with a unified diff.
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
    /// The hunk only adds lines, and nothing says where.
    NoPlace,
    LineEndings,
    /// `\ No newline at end of file` stands before the last line of a side.
    NoNewlineInside,
}

/// What is wrong with a context diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the variants and of their fields are the facts")]
pub enum Context {
    NoDiff,
    NoFileNamed,
    DeletedButKept,
    NothingChanged,
    SidesDiffer,
    NotARange { text: String, prefix: &'static str, suffix: &'static str },
    LinesMissing { count: usize },
}

/// What is wrong with an ed script.
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

/// What is wrong with an RCS script.
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

/// What is wrong with SEARCH/REPLACE blocks.
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
    /// There is nothing to find, and a line number.
    EmptySearch,
    Elisions {
        old: usize,
        new: usize,
    },
    /// A line that was probably meant as the separator.
    NoSeparator {
        nearly: Option<(usize, String)>,
    },
    Separators {
        begins: usize,
        lines: Vec<usize>,
    },
    NoEnd {
        has_separator: bool,
        /// Whether its markers are those of cline.
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
    /// Its number.
    pub line: usize,
    /// What it says.
    pub text: String,
    /// Whether it opens another block, and so may be content that looks like a marker.
    pub is_marker: bool,
}

/// What is wrong with whole files in fences.
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
    /// The caller has named a file, but nothing says that the fence holds all of it.
    UnknownContent,
    SecondTime {
        path: String,
    },
    SecondFence {
        path: String,
    },
    /// The text speaks of this file, but does not say that the fence is it.
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
