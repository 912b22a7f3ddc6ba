//! The lines of the file that a refusal shows, so that the caller's next request can succeed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// The lines of the file that are nearest to the searched text, or other helpful ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The file's current version.
    pub version: Version,
    /// How many lines the file has.
    pub total: usize,
    /// How the places relate to the request.
    pub relation: Relation,
    /// The shown places, the best first.
    pub places: Vec<NearPlace>,
    /// The line at which the new text already stands, if that is elsewhere than the nearest lines.
    pub new_at: Option<usize>,
}

impl Near {
    /// Returns the numbers of the shown lines of the best place.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        self.places.first().map_or(&[], |place| &place.numbers)
    }
}

/// One place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearPlace {
    /// The first line of the place, counted from 1.
    pub first: usize,
    /// The last line of the place.
    pub last: usize,
    /// The numbers of the shown lines: a long place has gaps, and one line before and after gives context.
    pub numbers: Vec<usize>,
    /// The shown lines without their endings, otherwise byte for byte.
    pub lines: Vec<String>,
    /// The first differences from the request.
    pub differences: Vec<Difference>,
    /// How many further differences there are.
    pub more: usize,
}

/// A difference between a line of the file and the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The one-based line of the file.
    pub line: usize,
    /// The difference in words.
    pub what: String,
    /// The line of the file, where there is one to compare.
    pub file: Option<String>,
    /// The line of the request.
    pub request: Option<String>,
    /// How many other lines have a difference of the same kind.
    pub again: usize,
}

/// How the places of a [`Near`] relate to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The places resemble the searched text.
    Nearest,
    /// Nothing resembles the searched text; this is the whole file.
    WholeFile,
    /// Nothing resembles the searched text; this is the beginning of the file.
    Head,
    /// The file already has the new text here.
    AlreadyThere,
    /// The file already has the new text here, with other white space.
    AlreadyThereButSpace,
}
