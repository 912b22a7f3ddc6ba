//! What is worth knowing of a plan, though nothing is wrong with it.

use alloc::string::String;
use alloc::vec::Vec;

/// Something that the reader of a plan should know, though nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanNote {
    /// A hunk was applied where its lines stand alone, though a line that it names is not in the file.
    WithoutAnchor {
        /// The hunk.
        hunk: usize,
        /// The line that it names.
        anchor: String,
    },
    /// A hunk was applied in the one place below the line that it names, but not in the block of that.
    BelowAnchor {
        /// The hunk.
        hunk: usize,
        /// The line that it names.
        anchor: String,
        /// The line at which its own lines stand.
        line: usize,
    },
    /// A hunk has only context lines and was left out.
    OnlyContext {
        /// The hunk.
        hunk: usize,
        /// The line at which they stand.
        line: usize,
    },
    /// A text that was replaced several times is a part of a longer word at some of the places.
    InsideWords {
        /// The hunk.
        hunk: usize,
        /// The number of such places.
        places: usize,
    },
    /// A sketch shows a definition as a whole, but without some of its lines.
    DroppedLines {
        /// Its kind and its path.
        title: String,
        /// The lines, each with its number in the file before the edit.
        lines: Vec<(usize, String)>,
    },
    /// What takes the place of a file is in another encoding.
    OtherEncoding {
        /// The file.
        file: String,
        /// The encoding that it was in.
        before: &'static str,
        /// The encoding that it is in with the edit.
        after: &'static str,
    },
    /// The next reading will take a file for one in another encoding than that in which it was edited.
    LooksOtherwise {
        /// The file.
        file: String,
        /// The encoding in which it was edited.
        edited: &'static str,
        /// The encoding for which it will be taken.
        looks: &'static str,
    },
}
