//! The expected failures of a request, as data: those that `edit` finds, and those of files, policy, people and the
//! machine.
//!
//! A [`Problem`] is part of an answer, not an accident. Its code is public and never changes its meaning
//! (`docs/ERRORS.md` has a row for each). Callers render its facts as text for their audience.

mod nearest;
mod places;
mod reasons;

use std::fmt;

use emend_edit::Version;
use emend_edit::problem::write_place;
pub use emend_edit::problem::{
    DefinitionLines, Fitting, HunksThatFit, Kind as EditKind, LinesNow, LostLines, NoDefinition, SketchDoubt,
    UncertainSketch, UncertainSymbol, Uncertainty, UnknownSymbol, WhyLost,
};

pub use nearest::nearest;
pub use places::{Expected, LeftOut, NumberedPlace, PlacesOfFile, UnexpectedPlaces};
pub use reasons::{NotUndone, SeveralNames, SincePlanned};

/// One expected failure, and where in the request it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of failure with its facts. Boxed, because every `Result` carries a problem.
    pub kind: Box<Kind>,
    /// The file concerned, by its name in the workspace.
    pub path: Option<String>,
    /// The hunk (or edit of a list) concerned, counted from 1 over the whole request.
    pub hunk: Option<usize>,
    /// The hunks of the same section that do fit.
    pub beside: Vec<Fitting>,
    /// The edit that it concerns, counted from 1, if the request joins several.
    pub edit: Option<usize>,
    /// Whether it concerns the lines that are copied or moved, where they come from.
    pub is_of_origin: bool,
    /// The number of hunks of the request that fit, unless all do.
    pub fit: Option<Box<HunksThatFit>>,
    /// The existing files that the path may mean if it names none, best guess first.
    pub meant: Box<[String]>,
}

impl Problem {
    /// Creates a problem of the request as a whole.
    #[must_use]
    pub fn new(kind: impl Into<Kind>) -> Self {
        Self {
            kind: Box::new(kind.into()),
            path: None,
            hunk: None,
            edit: None,
            is_of_origin: false,
            beside: Vec::new(),
            fit: None,
            meant: Box::default(),
        }
    }

    /// Sets the file that the problem concerns.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the hunk that the problem concerns.
    #[must_use]
    pub fn in_hunk(mut self, number: usize) -> Self {
        self.hunk = Some(number);
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// Returns the line numbers of the places in question, if any.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        match &*self.kind {
            Kind::Edit(kind) => kind.lines(),
            Kind::SyntaxBroken { line, .. } => std::slice::from_ref(line),
            _ => &[],
        }
    }

    /// Returns the current version of the file, if the problem knows it.
    #[must_use]
    pub fn current_version(&self) -> Option<Version> {
        match &*self.kind {
            Kind::Edit(kind) => kind.current_version(),
            Kind::StaleFile { current, .. } => *current,
            Kind::NumbersNeedVersion { current } | Kind::MustRead { current } => Some(*current),
            // A version would let a client edit that has not read the file.
            Kind::NotRead { .. } => None,
            _ => None,
        }
    }
}

/// Converts the problems that `edit` found in a request.
#[must_use]
pub fn from_edit(problems: Vec<emend_edit::Problem>) -> Vec<Problem> {
    problems.into_iter().map(Problem::from).collect()
}

impl From<emend_edit::Problem> for Problem {
    fn from(problem: emend_edit::Problem) -> Self {
        let emend_edit::Problem { kind, path, hunk, edit, is_of_origin, beside, fit } = problem;
        Self { path, hunk, edit, is_of_origin, beside, fit, ..Self::new(*kind) }
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

/// Writes the code and the place, for logs. Failures of the machine are written in their own words.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::IoError { message, .. } => return f.write_str(message),
            Kind::NoWorkspace { reason } => return f.write_str(reason),
            Kind::RecoveryNeeded { what } => return f.write_str(what),
            Kind::Edit(kind) => write!(f, "{kind}")?,
            _ => write!(f, "{}", self.code())?,
        }
        write_place(self.path.as_deref(), self.hunk, f)
    }
}

impl std::error::Error for Problem {}

/// The kind of a failure, with its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is a fact named by its variant")]
pub enum Kind {
    /// A problem found without access to the disk.
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
        /// The formatters that undid the edit.
        by: String,
    },
    /// A replacement in many files finds its text nowhere.
    NoPlaces {
        /// The number of files searched.
        searched: usize,
        left_out: LeftOut,
    },
    /// A replacement in many files finds its text in other or more places than the call accepts.
    UnexpectedPlaces(Box<UnexpectedPlaces>),

    // Files.
    /// Another program created the file while the edit was being made.
    CameBetween,
    StaleFile {
        claimed: String,
        current: Option<Version>,
        diff: Option<String>,
        /// The last edit of the file and who made it, if known.
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
    /// The call goes by the line numbers of a reading, and there is none of the file as the client knows it.
    NumbersUnread,
    NotAFile {
        what: &'static str,
    },
    /// A file is to be where a folder is that does not get empty.
    FolderHolds {
        /// What stays in it, as far as it is shown.
        names: Vec<String>,
        is_all: bool,
    },
    /// A link is to be deleted or moved.
    IsLink,
    HardLinked {
        names: u64,
        why: SeveralNames,
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
    /// The caller may not do this.
    ScopeMissing {
        scope: &'static str,
        /// What it is needed for.
        what: &'static str,
    },
    ApprovalNeeded {
        rule: String,
        release: Release,
    },
    ApprovalDenied {
        /// How it can be approved all the same, where perhaps nobody was asked.
        release: Option<Release>,
        /// What the person says to the model; may be empty.
        comment: String,
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

    /// No edit of a language server is made.
    NoServerEdit {
        why: String,
        /// What to do.
        next: String,
    },

    // The apply model.
    ModelFailed {
        /// Its name, if there is one.
        model: Option<String>,
        why: String,
    },
    ProposalRefused {
        model: String,
        why: String,
        /// What it proposed, as a diff.
        diff: String,
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
        since: SincePlanned,
    },

    // History.
    NoHistory,
    UnknownEdit {
        /// The edit that the request names, if any.
        edit: Option<String>,
        /// The file whose newest edit it asks for, if any.
        path: Option<String>,
        /// The newest edits, of that file if there is one, one line each.
        recent: Vec<String>,
    },
    UndoConflict {
        edit: String,
        why: NotUndone,
    },
    /// The files already are what they were before the edit to undo.
    AlreadyBack,

    /// The same call has made an edit already, and it is not known whether that still stands.
    MaybeRepeated {
        edit: String,
        /// Whether the call was known again by its key.
        has_key: bool,
    },
    /// The idempotency key of the call was that of another call, which made this edit.
    KeyOfAnother {
        edit: String,
    },

    // The machine.
    Busy {
        seconds: u64,
    },
    /// The same client already has this many calls of this kind waiting.
    Crowded {
        calls: usize,
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

/// The way in which a person can approve an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// The person answers the client's question.
    Question,
    /// The person runs `emend approve`.
    Command {
        /// The whole command, including the id.
        command: String,
    },
    /// The person decides on a page of a team's server.
    Page {
        /// Its address.
        address: String,
        /// The id under which the edit waits there.
        id: String,
    },
    /// There is no way.
    Nowhere {
        /// The reason.
        why: String,
    },
}

/// How much of a file the client has seen that wants to replace or delete it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Nothing,
    /// Not all of it, or not its current version.
    Part,
    /// Unknown: the client has no session.
    Forgotten,
}

/// What a caller may do after a stale refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Send the same call again: the refusal showed the change, and the call succeeds if it still matches.
    SameCall,
    /// Send the same call again: another program wrote during the edit, and the next answer shows what.
    Retry,
    /// Name the current version; the call named another one.
    NewVersion,
    /// The call names lines by the numbers of a version; they must be those of the current one.
    NewNumbers,
    /// The call names a cell of a notebook as a version has it; it must be as it is now.
    NewCell,
    /// Read the file again: the text of the call is not at the lines that were read, or those are not known any more.
    OtherLines,
    /// Read the whole file again.
    Read,
}

/// The state in which a failed commit left one file. It is never a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing was done to it.
    Untouched,
    /// It was changed, and the old content was put back.
    Restored,
    /// The new content is in place.
    Written,
    /// Another program's content is in place, and none of ours.
    Theirs,
    /// Our new content is in place, with another program's later changes in it.
    Mixed,
    /// It is kept in Emend's state folder: another program put something else in the place of its folder, or a folder in its own.
    Kept,
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
            Self::Kept => "kept, because another program has taken its place",
            Self::Unknown => "unknown",
        })
    }
}

macro_rules! codes {
    (edit: $($same:ident),*; $($variant:ident $spelling:literal),* $(,)?) => {
        /// The stable codes. Their spelling is part of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "docs/ERRORS.md has a row for each, and a test that none is missing")]
        pub enum Code { $($same,)* $($variant),* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$same,)* $(Self::$variant),*];

            /// Returns the spelling of the code on the wire.
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
        AlreadyExists, StaleFile, OmissionPlaceholder, EscapedText, IndentationMismatch, NotText, NotEncodable, TooLarge,
        InvalidArgument, WorkLimit, SymbolNotFound, AmbiguousSymbol, UncertainSymbol, UncertainSketch;
    NotRead "not-read",
    NotAFile "not-a-file",
    HardLinked "hard-linked",
    MountPoint "mount-point",
    ReadOnly "read-only",
    InsufficientScope "insufficient-scope",
    ExtensionNotAllowed "extension-not-allowed",
    ApprovalNeeded "approval-needed",
    ApprovalDenied "approval-denied",
    InvalidPolicy "invalid-policy",
    HookRefused "hook-refused",
    SyntaxBroken "syntax-broken",
    ModelFailed "model-failed",
    LanguageServer "language-server",
    ProposalRefused "proposal-refused",
    PathOutsideWorkspace "path-outside-workspace",
    PathForbidden "path-forbidden",
    AmbiguousPath "ambiguous-path",
    SeveralRoots "several-roots",
    NoWorkspace "no-workspace",
    UnknownPreview "unknown-preview",
    StalePreview "stale-preview",
    UnknownEdit "unknown-edit",
    UndoConflict "undo-conflict",
    MaybeRepeated "maybe-repeated",
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
    /// Returns the stable code of this problem.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Edit(kind) => kind.code().into(),
            Self::UnknownArgument { .. } => Code::UnknownArgument,
            Self::InvalidArgument { .. } | Self::KeyOfAnother { .. } => Code::InvalidArgument,
            Self::EmptyRequest | Self::FormattedBack { .. } | Self::AlreadyBack => Code::NoOp,
            Self::NoPlaces { .. } => Code::SearchNotFound,
            Self::UnexpectedPlaces(found) => match found.expected {
                Expected::Count(_) | Expected::Files(_) => Code::AmbiguousMatch,
                Expected::AtMost { .. } => Code::WorkLimit,
            },
            Self::CameBetween => Code::AlreadyExists,
            Self::StaleFile { .. } => Code::StaleFile,
            Self::NotRead { .. }
            | Self::NumbersNeedVersion { .. }
            | Self::NumbersUnread
            | Self::MustRead { .. } => Code::NotRead,
            Self::NotAFile { .. } | Self::FolderHolds { .. } | Self::IsLink => Code::NotAFile,
            Self::HardLinked { .. } => Code::HardLinked,
            Self::MountPoint => Code::MountPoint,
            Self::ReadOnly { .. } | Self::ReadOnlyPath { .. } | Self::NoEdits { .. } => Code::ReadOnly,
            Self::ScopeMissing { .. } => Code::InsufficientScope,
            Self::ExtensionNotAllowed { .. } => Code::ExtensionNotAllowed,
            Self::ApprovalNeeded { .. } => Code::ApprovalNeeded,
            Self::ApprovalDenied { .. } => Code::ApprovalDenied,
            Self::InvalidPolicy { .. } => Code::InvalidPolicy,
            Self::HookRefused { .. } | Self::HookNotAsked { .. } => Code::HookRefused,
            Self::SyntaxBroken { .. } => Code::SyntaxBroken,
            Self::ModelFailed { .. } => Code::ModelFailed,
            Self::NoServerEdit { .. } => Code::LanguageServer,
            Self::ProposalRefused { .. } => Code::ProposalRefused,
            Self::PathOutsideWorkspace { .. } => Code::PathOutsideWorkspace,
            Self::PathForbidden { .. } => Code::PathForbidden,
            Self::AmbiguousPath { .. } => Code::AmbiguousPath,
            Self::SeveralRoots { .. } => Code::SeveralRoots,
            Self::NoWorkspace { .. } => Code::NoWorkspace,
            Self::UnknownPreview => Code::UnknownPreview,
            Self::StalePreview { .. } => Code::StalePreview,
            Self::NoHistory | Self::UnknownEdit { .. } => Code::UnknownEdit,
            Self::UndoConflict { .. } => Code::UndoConflict,
            Self::MaybeRepeated { .. } => Code::MaybeRepeated,
            Self::Busy { .. } | Self::Crowded { .. } | Self::Overtaken { .. } => Code::Busy,
            Self::RecoveryNeeded { .. } => Code::RecoveryNeeded,
            Self::IoError { .. } => Code::IoError,
            Self::Cancelled => Code::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use emend_edit::patch::v4a;

    use super::Problem;

    #[test]
    fn a_log_says_of_a_problem_of_an_edit_what_the_edit_says_of_it() {
        let problem = v4a::parse("no patch").unwrap_err().remove(0).at("a.txt").in_hunk(2);
        let said = problem.to_string();
        assert!(said.starts_with("invalid-format, ") && said.ends_with(" in a.txt, hunk 2"), "{said}");
        assert_eq!(Problem::from(problem).to_string(), said);
    }
}
