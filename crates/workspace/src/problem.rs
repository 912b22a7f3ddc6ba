//! What can be expected to go wrong with a request, as data: what `edit` finds wrong with it, and what comes of files,
//! rules, people and the machine.
//!
//! A [`Problem`] is an answer, not an accident. The code is public and never changes its meaning (`docs/ERRORS.md` has a
//! row for each). What is told of a problem is made of its facts elsewhere, by those who know whom they tell.

mod nearest;

use std::fmt;

use emend_edit::Version;
pub use emend_edit::problem::{Fitting, HunksThatFit, Kind as EditKind};

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
    /// How many hunks of the request fit, where not all of them do.
    pub fit: Option<Box<HunksThatFit>>,
    /// The files that its path may mean, which leads nowhere; the best guess first.
    pub meant: Vec<String>,
}

impl Problem {
    /// A problem of the request as a whole.
    #[must_use]
    pub fn new(kind: impl Into<Kind>) -> Self {
        Self {
            kind: Box::new(kind.into()),
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
            Kind::Edit(kind) => kind.lines(),
            Kind::SyntaxBroken { line, .. } => std::slice::from_ref(line),
            _ => &[],
        }
    }

    /// The version that the file has now, where the problem knows it.
    #[must_use]
    pub fn current_version(&self) -> Option<Version> {
        match &*self.kind {
            Kind::Edit(kind) => kind.current_version(),
            Kind::StaleFile { current, .. } => *current,
            Kind::NumbersNeedVersion { current } | Kind::MustRead { current } => Some(*current),
            // Whoever has not read the file would have the key to it without having seen what it holds.
            Kind::NotRead { .. } => None,
            _ => None,
        }
    }
}

/// These problems of a request, as those of a workspace.
#[must_use]
pub fn from_edit(problems: Vec<emend_edit::Problem>) -> Vec<Problem> {
    problems.into_iter().map(Problem::from).collect()
}

impl From<emend_edit::Problem> for Problem {
    fn from(problem: emend_edit::Problem) -> Self {
        let emend_edit::Problem { kind, path, hunk, beside, fit } = problem;
        Self { path, hunk, beside, fit, ..Self::new(*kind) }
    }
}

impl From<EditKind> for Kind {
    fn from(kind: EditKind) -> Self {
        Self::Edit(kind)
    }
}

impl From<Kind> for Problem {
    fn from(kind: Kind) -> Self {
        Self::new(kind)
    }
}

impl From<EditKind> for Problem {
    fn from(kind: EditKind) -> Self {
        Self::new(kind)
    }
}

/// Says which problem it is and where, for logs. What failed on this machine is said in the words in which it came.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::IoError { message, .. } => return f.write_str(message),
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

impl std::error::Error for Problem {}

/// What is wrong, with the facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is a fact named by its variant")]
pub enum Kind {
    /// What was found without a look at the disk.
    Edit(EditKind),

    // Requests.
    UnknownArgument {
        name: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    InvalidArgument {
        name: String,
        message: String,
    },
    /// The request names no file.
    EmptyRequest,
    FormattedBack {
        /// The formatters that did it.
        by: String,
    },

    // Files.
    /// Another program made the file while the edit was made.
    CameBetween,
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
    /// The files are what they were before the edit that is to be taken back.
    AlreadyBack,

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
    (edit: $($same:ident),*; $($variant:ident $spelling:literal),* $(,)?) => {
        /// The stable codes. Their spelling is API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "docs/ERRORS.md has a row for each, and a test that none is missing")]
        pub enum Code { $($same,)* $($variant),* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$same,)* $(Self::$variant),*];

            /// How the code is spelled on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$same => emend_edit::Code::$same.as_str(),)*
                    $(Self::$variant => $spelling),*
                }
            }
        }

        impl From<emend_edit::Code> for Code {
            fn from(code: emend_edit::Code) -> Self {
                match code { $(emend_edit::Code::$same => Self::$same),* }
            }
        }
    };
}

codes! {
    edit: SearchNotFound, AmbiguousMatch, HunkContextMismatch, MissingOriginal, InvalidFormat, NoOp, OverlappingEdits,
        AlreadyExists, OmissionPlaceholder, EscapedText, IndentationMismatch, NotText, NotEncodable, TooLarge,
        InvalidArgument, WorkLimit;
    StaleFile "stale-file",
    NotRead "not-read",
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
            Self::Edit(kind) => kind.code().into(),
            Self::UnknownArgument { .. } => Code::UnknownArgument,
            Self::InvalidArgument { .. } => Code::InvalidArgument,
            Self::EmptyRequest | Self::FormattedBack { .. } | Self::AlreadyBack => Code::NoOp,
            Self::CameBetween => Code::AlreadyExists,
            Self::StaleFile { .. } => Code::StaleFile,
            Self::NotRead { .. } | Self::NumbersNeedVersion { .. } | Self::MustRead { .. } => Code::NotRead,
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
