//! Expected failures, as data: a stable code, and the facts that mend the call.
//!
//! A [`Problem`] is an answer, not an accident: the file does not hold that text, two places do, the path
//! leaves the workspace. The code is public and never changes its meaning (`docs/ERRORS.md` has a row for
//! each). What is told of a problem is made of its facts elsewhere, by those who know whom they tell.

mod near;
mod nearest;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::version::Version;

pub use near::{Difference, Near, NearPlace, Relation};
pub use nearest::nearest;

/// One expected failure, and where in the request it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, with the facts. Boxed, since a problem travels in every `Result`.
    pub kind: Box<Kind>,
    /// The file that it concerns, as the workspace names it.
    pub path: Option<String>,
    /// The hunk (or edit of a list) that it concerns, counted from 1 over the whole request.
    pub hunk: Option<usize>,
    /// Hunks of the same section that do fit.
    pub beside: Vec<Fitting>,
    /// How many hunks of the request fit, and how many it has.
    pub fit: Option<(usize, usize)>,
    /// The files that its path may mean, which leads nowhere; the best guess first.
    pub meant: Vec<String>,
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
        Self {
            kind: Box::new(kind),
            path: None,
            hunk: None,
            beside: Vec::new(),
            fit: None,
            meant: Vec::new(),
        }
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

    /// The line numbers of the places in question, where there are any.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        match &*self.kind {
            Kind::AmbiguousMatch { lines, .. }
            | Kind::ExpectedCount { lines, .. }
            | Kind::OverlappingPlaces { lines } => lines,
            Kind::SearchNotFound { near, .. } | Kind::HunkContextMismatch { near, .. } => near.numbers(),
            Kind::SyntaxBroken { line, .. } => core::slice::from_ref(line),
            _ => &[],
        }
    }

    /// The version that the file has now, where the problem knows it.
    #[must_use]
    pub fn current_version(&self) -> Option<Version> {
        match &*self.kind {
            Kind::SearchNotFound { near, .. } | Kind::HunkContextMismatch { near, .. } => Some(near.version),
            Kind::StaleFile { current, .. } => *current,
            Kind::NumbersNeedVersion { current } | Kind::MustRead { current } => Some(*current),
            // Whoever has not read the file would have the key to it without having seen what it holds.
            Kind::NotRead { .. } => None,
            _ => None,
        }
    }
}

impl From<Kind> for Problem {
    fn from(kind: Kind) -> Self {
        Self::new(kind)
    }
}

/// Says which problem it is and where. What failed on this machine is said in the words in which it came.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::InvalidFormat { message } | Kind::IoError { message, .. } => return f.write_str(message),
            Kind::NoWorkspace { reason } => return f.write_str(reason),
            Kind::RecoveryNeeded { what } => return f.write_str(what),
            _ => write!(f, "{}", self.code())?,
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
#[expect(missing_docs, reason = "each field is a fact named by the message of its variant")]
pub enum Kind {
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
    Unclear,
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
    MovedNumbers,
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
    WorkLimit {
        what: &'static str,
    },

    // Requests.
    InvalidFormat {
        message: String,
    },
    NoOp {
        reason: &'static str,
    },
    FormattedBack {
        /// The formatters that did it.
        by: String,
    },
    UnknownArgument {
        name: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    InvalidArgument {
        name: String,
        message: String,
    },

    // Files.
    MissingOriginal,
    AlreadyExists {
        instead: &'static str,
    },
    StaleFile {
        claimed: String,
        current: Option<Version>,
        diff: Option<String>,
        /// Which edit made it what it is now and whose that was, where that is known.
        by: Option<String>,
        again: Again,
    },
    NotRead {
        current: Version,
        seen: Seen,
    },
    NumbersNeedVersion {
        current: Version,
    },
    NotText {
        reason: &'static str,
    },
    NotEncodable {
        character: char,
        encoding: &'static str,
    },
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    NotAFile {
        what: &'static str,
    },
    HardLinked {
        names: u64,
    },
    MountPoint,
    ReadOnly {
        why: &'static str,
    },
    MustRead {
        current: Version,
    },

    // Policy.
    ReadOnlyPath {
        rule: String,
    },
    ExtensionNotAllowed {
        allowed: Vec<String>,
    },
    NoEdits {
        mode: &'static str,
    },
    ApprovalNeeded {
        rule: String,
        release: Release,
    },
    ApprovalDenied {
        /// The command that allows it all the same, where nobody may have been asked.
        command: Option<String>,
    },
    InvalidPolicy {
        reason: String,
    },
    HookRefused {
        hook: String,
        said: String,
    },
    HookNotAsked {
        hook: String,
        why: String,
    },
    SyntaxBroken {
        line: usize,
        what: String,
    },

    // Paths.
    PathOutsideWorkspace {
        roots: Vec<String>,
        why: &'static str,
    },
    PathForbidden {
        rule: String,
    },
    AmbiguousPath {
        candidates: Vec<String>,
    },
    SeveralRoots {
        roots: Vec<String>,
    },
    NoWorkspace {
        reason: String,
    },

    // Previews.
    UnknownPreview,
    StalePreview {
        reason: String,
    },

    // History.
    NoHistory,
    UnknownEdit {
        /// The edit that was named, if one was.
        edit: Option<String>,
        /// The newest ones, a line each.
        recent: Vec<String>,
    },
    UndoConflict {
        edit: String,
        reason: String,
        /// What moved on since the edit.
        diff: Option<String>,
    },

    // The machine.
    Busy {
        seconds: u64,
    },
    /// As many edits of the same client were there before.
    Crowded {
        edits: usize,
        seconds: u64,
    },
    Overtaken {
        times: usize,
    },
    RecoveryNeeded {
        what: String,
    },
    IoError {
        message: String,
        states: Vec<(String, FileState)>,
    },
    Cancelled,
}

/// How a person can allow what needs their approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// By answering whoever asks them.
    Question,
    /// By running `emend approve`.
    Command {
        /// The whole command, with the id under which it waits.
        command: String,
    },
    /// In no way.
    Nowhere {
        /// Why not.
        why: String,
    },
}

/// How much of a file somebody has seen who wants to replace or delete it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Nothing,
    /// Not all of it, or not as it is now.
    Part,
    /// Nothing that is remembered: they have no session.
    Forgotten,
}

/// What a caller may do after a stale refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The refusal showed the change; the same call goes through if it still matches.
    SameCall,
    /// Somebody wrote at the very moment of the edit; the same call will show what.
    Retry,
    /// The call named a version; it must name the current one.
    NewVersion,
    /// The file must be read again in full.
    Read,
}

/// What a failed commit left of one file. It never guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing was done to it.
    Untouched,
    /// It was changed, and the old content was put back.
    Restored,
    /// The new content is in place.
    Written,
    /// Another program's content stands there, and nothing of ours.
    Theirs,
    /// Our new content stands there, with what another program has written into it since.
    Mixed,
    /// It could not be determined.
    Unknown,
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untouched => "untouched",
            Self::Restored => "restored",
            Self::Written => "written",
            Self::Theirs => "as another program left it",
            Self::Mixed => "the new content, changed by another program since; the old one is kept",
            Self::Unknown => "unknown",
        })
    }
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

            /// How the code is spelled on the wire.
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
    StaleFile "stale-file",
    NotRead "not-read",
    NoOp "no-op",
    OverlappingEdits "overlapping-edits",
    AlreadyExists "already-exists",
    OmissionPlaceholder "omission-placeholder",
    EscapedText "escaped-text",
    IndentationMismatch "indentation-mismatch",
    NotText "not-text",
    NotEncodable "not-encodable",
    TooLarge "too-large",
    NotAFile "not-a-file",
    HardLinked "hard-linked",
    MountPoint "mount-point",
    ReadOnly "read-only",
    ExtensionNotAllowed "extension-not-allowed",
    ApprovalNeeded "approval-needed",
    ApprovalDenied "approval-denied",
    InvalidPolicy "invalid-policy",
    HookRefused "hook-refused",
    SyntaxBroken "syntax-broken",
    PathOutsideWorkspace "path-outside-workspace",
    PathForbidden "path-forbidden",
    AmbiguousPath "ambiguous-path",
    SeveralRoots "several-roots",
    NoWorkspace "no-workspace",
    UnknownPreview "unknown-preview",
    StalePreview "stale-preview",
    UnknownEdit "unknown-edit",
    UndoConflict "undo-conflict",
    UnknownArgument "unknown-argument",
    InvalidArgument "invalid-argument",
    WorkLimit "work-limit",
    Busy "busy",
    RecoveryNeeded "recovery-needed",
    IoError "io-error",
    Cancelled "cancelled",
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
            Self::SearchNotFound { .. } => Code::SearchNotFound,
            Self::HunkContextMismatch { .. } | Self::AnchorNotFound { .. } | Self::NotAtEndOfFile { .. } => {
                Code::HunkContextMismatch
            }
            Self::AmbiguousMatch { .. } | Self::ExpectedCount { .. } | Self::OverlappingPlaces { .. } => {
                Code::AmbiguousMatch
            }
            Self::OverlappingEdits { .. } => Code::OverlappingEdits,
            Self::Unclear => Code::HunkContextMismatch,
            Self::MovedNumbers => Code::InvalidFormat,
            Self::OmissionPlaceholder { .. } => Code::OmissionPlaceholder,
            Self::EscapedText { .. } => Code::EscapedText,
            Self::IndentationMismatch { .. } => Code::IndentationMismatch,
            Self::WorkLimit { .. } => Code::WorkLimit,
            Self::InvalidFormat { .. } => Code::InvalidFormat,
            Self::NoOp { .. } | Self::FormattedBack { .. } => Code::NoOp,
            Self::UnknownArgument { .. } => Code::UnknownArgument,
            Self::InvalidArgument { .. }
            | Self::NoSuchLines { .. }
            | Self::PartOfWord { .. }
            | Self::LineEndingLost { .. } => Code::InvalidArgument,
            Self::MissingOriginal => Code::MissingOriginal,
            Self::AlreadyExists { .. } => Code::AlreadyExists,
            Self::StaleFile { .. } => Code::StaleFile,
            Self::NotRead { .. } | Self::NumbersNeedVersion { .. } | Self::MustRead { .. } => Code::NotRead,
            Self::NotText { .. } => Code::NotText,
            Self::NotEncodable { .. } => Code::NotEncodable,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::NotAFile { .. } => Code::NotAFile,
            Self::HardLinked { .. } => Code::HardLinked,
            Self::MountPoint => Code::MountPoint,
            Self::ReadOnly { .. } | Self::ReadOnlyPath { .. } | Self::NoEdits { .. } => Code::ReadOnly,
            Self::ExtensionNotAllowed { .. } => Code::ExtensionNotAllowed,
            Self::ApprovalNeeded { .. } => Code::ApprovalNeeded,
            Self::ApprovalDenied { .. } => Code::ApprovalDenied,
            Self::InvalidPolicy { .. } => Code::InvalidPolicy,
            Self::HookRefused { .. } | Self::HookNotAsked { .. } => Code::HookRefused,
            Self::SyntaxBroken { .. } => Code::SyntaxBroken,
            Self::PathOutsideWorkspace { .. } => Code::PathOutsideWorkspace,
            Self::PathForbidden { .. } => Code::PathForbidden,
            Self::AmbiguousPath { .. } => Code::AmbiguousPath,
            Self::SeveralRoots { .. } => Code::SeveralRoots,
            Self::NoWorkspace { .. } => Code::NoWorkspace,
            Self::UnknownPreview => Code::UnknownPreview,
            Self::StalePreview { .. } => Code::StalePreview,
            Self::NoHistory | Self::UnknownEdit { .. } => Code::UnknownEdit,
            Self::UndoConflict { .. } => Code::UndoConflict,
            Self::Busy { .. } | Self::Crowded { .. } | Self::Overtaken { .. } => Code::Busy,
            Self::RecoveryNeeded { .. } => Code::RecoveryNeeded,
            Self::IoError { .. } => Code::IoError,
            Self::Cancelled => Code::Cancelled,
        }
    }
}
