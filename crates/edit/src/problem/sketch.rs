//! What a refusal shows where it is not certain what a sketch means.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// A line of a sketch about which it is not certain what it means in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncertainSketch {
    /// The number of the line in the sketch, counted from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is not certain.
    pub doubt: SketchDoubt,
    /// The version of the file.
    pub version: Version,
    /// Lines of the file that it is about, each with its number.
    pub shown: Vec<(usize, String)>,
}

/// What is not certain about a line of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SketchDoubt {
    /// There is no line but markers.
    OnlyMarkers,
    /// It is a marker, and the file has the same line.
    MarkerInFile,
    /// It would be new, and may stand for code.
    LikeMarker,
    /// No marker stands above it, and it is not the first line of the file.
    NothingAbove,
    /// No marker stands below it, and it is not the last line of the file.
    NothingBelow,
    /// Nothing of its segment stands in the lines that are left for it at only one place.
    NoAnchor,
    /// It is at the edge of a segment, and stands at several places in the lines that are left for it.
    Several {
        /// Their numbers.
        lines: Vec<usize>,
    },
    /// It is new beside a marker, and it is not certain that it replaces nothing.
    NewAtEdge {
        /// Whether the marker is above it.
        is_above: bool,
    },
    /// It stands in the file where other lines of the sketch leave no room for it.
    OutOfOrder {
        /// The number of the line in the file.
        at: usize,
    },
    /// Lines of the file would be missing from here on, and the sketch does not say so.
    Deletes,
    /// Lines would be replaced from here on by fewer others that are not like them.
    Replaces,
    /// A definition would go, and the sketch does not say so.
    LosesDefinition {
        /// Its kind and its path.
        title: String,
    },
    /// It is the name of a definition that the sketch shows as a whole, with too few of its lines.
    DropsLines {
        /// Its kind and its path.
        title: String,
        /// How many lines neither stay nor are replaced by like ones.
        dropped: usize,
        /// How many lines it has that are not blank.
        filled: usize,
    },
    /// It says that lines go, and there are none at its place.
    RemovesNothing,
    /// No line of the file stands for the marker above it.
    NothingKept,
    /// It is new and indented with blanks where the file has tabs, or with tabs where the file has blanks.
    OtherIndentation {
        /// Whether the file has tabs.
        has_tabs: bool,
    },
}
