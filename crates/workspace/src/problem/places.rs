//! The facts about a replacement in many files: its places, what the call expects of them, and what was left out.

/// The places of a replacement that the call does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedPlaces {
    /// What the call accepts.
    pub expected: Expected,
    /// The number of places in each file, in the order of their numbers.
    pub files: Vec<PlacesOfFile>,
    /// What was not searched.
    pub left_out: LeftOut,
    /// The handle under which some or all places can be taken.
    pub preview: Option<String>,
}

impl UnexpectedPlaces {
    /// Returns the number of all places.
    #[must_use]
    pub fn places(&self) -> usize {
        self.files.iter().map(|file| file.count).sum()
    }
}

/// What a call accepts of a replacement in many files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// So many places.
    Count(usize),
    /// So many files.
    Files(usize),
    /// At most so many, as long as the call does not say how many it means.
    AtMost {
        /// The number of places.
        places: usize,
        /// The number of files.
        files: usize,
    },
}

/// The places of a replacement in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacesOfFile {
    /// The file.
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub shown: Vec<NumberedPlace>,
}

/// A place of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedPlace {
    /// Its number among the places of all files, counted from 1.
    pub number: usize,
    /// The line, counted from 1.
    pub line: usize,
    /// The line's text; of a long one, the part around the place.
    pub text: String,
}

/// What a replacement in many files has left out. Forbidden files are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of ignored files.
    pub ignored_files: usize,
    /// The number of ignored folders.
    pub ignored_folders: usize,
    /// The number of files that are not text.
    pub binary: usize,
    /// The number of files that are larger than the policy lets be read.
    pub too_large: usize,
    /// The number of files and folders that could not be read.
    pub unreadable: usize,
    /// The number of files in languages in which no structure is known.
    pub other_language: usize,
    /// The number of files that have the words of the pattern and could not be parsed.
    pub unsound: usize,
    /// The number of places that have more in them than the pattern.
    pub fuller_places: usize,
}
