//! What a refusal shows where lines were named by the numbers of another version.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// Lines that are named by the numbers of another version, and that are not found again for certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLines {
    /// The version that the request names.
    pub claimed: String,
    /// The version that the file has.
    pub current: Version,
    /// The first of the lines, by its number in the version that is named.
    pub first: usize,
    /// How many there are; with none, the place before the first is meant.
    pub count: usize,
    /// The kind and the path of the definition as which they are named, if they are.
    pub symbol: Option<String>,
    /// Why they are not found.
    pub why: WhyLost,
    /// What to look at instead, if there is anything.
    pub now: Option<LinesNow>,
}

/// Why lines are not found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyLost {
    /// Nobody knows what the file held in the version that is named.
    Unknown,
    /// They, or the neighbours of an insertion, were changed or parted.
    Changed {
        /// Whether it is certain what took their place, and theirs alone.
        is_certain: bool,
    },
    /// They stand in several places.
    Several {
        /// The lines at which these begin, or some of them.
        lines: Vec<usize>,
    },
    /// An earlier edit of the same request has changed them.
    Overwritten,
}

/// Lines of the file as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesNow {
    /// The first of them, counted from 1.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// They and their neighbours, each with its number; not all of them where they are many.
    pub shown: Vec<(usize, String)>,
}
