//! What the reader of a report should know beside what was changed.

use emend_edit::plan::{PlanNote, UnfitFormat};

/// Something that the reader of a report should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It was known when the edit was planned.
    Plan(PlanNote),
    /// A file changed since its client read it, away from this edit.
    ChangedElsewhere {
        /// The file.
        file: String,
        /// What changed.
        diff: String,
    },
    /// The file changed since its client read it, away from the edit, in ways that cannot be shown.
    ChangedUnseen {
        /// The file.
        file: String,
    },
    /// The edit takes another back.
    TakesBack {
        /// That edit.
        edit: String,
        /// Who made it and when, where that was not this session.
        by: Option<String>,
    },
    /// A file changed elsewhere since the edit that is taken back; those changes stay.
    StaysChanged {
        /// The file.
        file: String,
        /// What changed.
        diff: String,
    },
    /// Who approved the edit says something to it.
    Approved {
        /// What they say.
        comment: String,
    },
    /// A file was formatted, and so is not as it was sent.
    Formatted {
        /// The file.
        file: String,
        /// The formatters.
        by: String,
    },
    /// Formatters undo what the edit does to a file.
    FormattedBack {
        /// The file.
        file: String,
        /// The formatters.
        by: String,
    },
    /// A formatter was left out for a file.
    NotFormatted {
        /// The file.
        file: String,
        /// The formatter.
        formatter: String,
        /// Why it was left out.
        why: NotFormatted,
    },
    /// A hook could not look at the edit, which goes on without it.
    HookNotAsked {
        /// The hook.
        hook: String,
        /// What it, or the system, says.
        why: String,
    },
    /// The edit breaks the syntax of a file.
    BreaksSyntax {
        /// The file.
        file: String,
        /// The line of the new text.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// It will be refused for breaking the syntax.
    WillBeRefused,
    /// Another program has files of the edit open for writing.
    OpenElsewhere {
        /// The first of them.
        file: String,
        /// How many others there are.
        others: usize,
    },
    /// The history has no record of the edit.
    NotRecorded,
    /// What recovery has found, in its own words, which the log has too.
    Recovery(String),
}

/// Why a formatter was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFormatted {
    /// It failed: what it, or the system, says.
    Failed(String),
    /// Its answer does not fit.
    Unfit(UnfitFormat),
}
