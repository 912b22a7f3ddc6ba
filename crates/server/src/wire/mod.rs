//! The types on the wire, and the conversions in both directions, all by hand in this one folder.
//!
//! Success and failure have the same outcome type. A field that does not apply is absent, never null.

mod arguments;
mod outcome;
mod past;
mod review;
mod symbols;

pub use arguments::{
    ApplyPatch, ApplyPreview, ApplySketch, DeleteFile, Diagnostics, DraftEdit, EditFiles, EditHistory,
    EditOfSeveral, EditPreview, LinesOfFile, ListFiles, MoveFile, OneEdit, OneValue, ReadFile,
    ReplaceInFiles, ReplaceLines, SearchText, SetValue, StrReplace, UndoEdit, WriteFile,
};
pub use outcome::{ErrorInfo, Outcome, WireFile, WireHunk, WireProblem};
pub use past::PastEdit;
pub use review::{Decide, Review, ReviewEntry, ReviewFile, ReviewHunk, ReviewPage, Revise};
pub use symbols::{FindSymbol, RenameSymbol};
