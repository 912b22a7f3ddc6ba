//! Lines that a request does not give, but takes from a file: to copy or to move them.

use alloc::string::String;
use alloc::vec::Vec;

use super::LinesOfVersion;

/// The lines that come in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewLines {
    /// The request has them, without their endings.
    Given(Vec<String>),
    /// They stand in a file.
    Taken(TakenLines),
}

impl Default for NewLines {
    fn default() -> Self {
        Self::Given(Vec::new())
    }
}

impl NewLines {
    /// Returns how many bytes of text the request has of them.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Given(lines) => lines.iter().map(String::len).sum(),
            Self::Taken(_) => 0,
        }
    }
}

/// Lines of a file that are put elsewhere, character for character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenLines {
    /// The path of the file, as it was written.
    pub path: String,
    /// The lines.
    pub at: LinesOfVersion,
    /// Whether they are removed from there: a move and no copy.
    pub is_moved: bool,
    /// By how many columns they are shifted to the right, or with less than none to the left.
    pub shift: isize,
}
