//! What a refusal shows of the file, so that one more call can mend the first.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// The lines of the file that come nearest to what was looked for, or what else helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The file's current version.
    pub version: Version,
    /// How many lines the file has.
    pub total: usize,
    /// How the places relate to the request.
    pub relation: Relation,
    /// The places that are shown, the best first.
    pub places: Vec<NearPlace>,
    /// The line at which what the request wants to write stands already, elsewhere than the nearest lines.
    pub new_at: Option<usize>,
}

impl Near {
    /// The numbers of the lines that are shown of the best place.
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
    /// Its last line.
    pub last: usize,
    /// Which lines are shown, by number; a long place has gaps, and a line before and after stands for
    /// orientation.
    pub numbers: Vec<usize>,
    /// The lines themselves, byte for byte but for their endings.
    pub lines: Vec<String>,
    /// What parts them from the request, as far as it is told.
    pub differences: Vec<Difference>,
    /// How many other differences there are.
    pub more: usize,
}

/// What parts a line of the file from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The one-based line of the file.
    pub line: usize,
    /// The difference in words.
    pub what: String,
    /// What the file has there, where there is a line to compare.
    pub file: Option<String>,
    /// What the request has there.
    pub request: Option<String>,
    /// On how many other lines there is a difference of the same kind.
    pub again: usize,
}

/// How the places of a [`Near`] relate to what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They resemble it.
    Nearest,
    /// Nothing resembles it; this is the whole file.
    WholeFile,
    /// Nothing resembles it; this is how the file begins.
    Head,
    /// What the request wants to write stands here already.
    AlreadyThere,
    /// The same, but for white space.
    AlreadyThereButSpace,
}
