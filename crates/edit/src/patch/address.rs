//! How a request names lines of a file, in a version of it: by their numbers, or as a definition.

use alloc::string::String;

pub use crate::problem::Part;

/// Lines of a version of a file, which need not be that of today, or a place between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinesOfVersion {
    /// The version, as the caller names it.
    pub version: String,
    /// The lines.
    pub at: LineAddress,
}

impl LinesOfVersion {
    /// Names lines by their numbers.
    #[must_use]
    pub fn numbered(version: String, first: usize, count: usize) -> Self {
        Self { version, at: LineAddress::Numbers { first, count } }
    }
}

/// How lines are named, or a place between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineAddress {
    /// By number.
    Numbers {
        /// The first line, counted from 1.
        first: usize,
        /// How many lines; without any, the place before the first is meant.
        count: usize,
    },
    /// By a definition. Whoever makes a plan says in [`Sources`](crate::plan::Sources) where that is, since nothing here
    /// knows languages.
    Symbol(SymbolPart),
}

impl Default for LineAddress {
    fn default() -> Self {
        Self::Numbers { first: 1, count: 0 }
    }
}

/// The lines of a definition, or the place beside them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolPart {
    /// The name of the definition.
    pub symbol: String,
    /// What of it is meant.
    pub part: Part,
}
