//! Why a preview no longer fits, why a file with several names is left alone, and why an edit cannot be taken back.

use emend_edit::Version;

/// What became of a file since a preview was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SincePlanned {
    /// It changed, and is at this version now.
    Changed(Version),
    /// It is gone.
    Gone,
    /// It was not there, and is now.
    Made,
}

/// Why a file with several names (hard links) is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeveralNames {
    /// Replacing it under one name would part it from the others.
    WouldPart,
    /// One request touches it under several of its names, and writing in place changes all of them.
    InOneRequest,
    /// The root has too many files to find all of its names, of which one may be protected.
    NotAllFound,
}

/// Why an edit cannot be taken back as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotUndone {
    /// It was taken back by this edit already.
    UndoneBy(String),
    /// It deleted the file, which exists again.
    MadeAgain {
        /// The version that it has now.
        version: Version,
    },
    /// The file is gone since.
    Gone,
    /// The file was changed since.
    Changed {
        /// The version that it has now.
        version: Version,
        /// What changed, where it is known.
        diff: Option<String>,
        /// Whether the edit's lines alone would have been taken back, if nobody had changed them or those beside them.
        may_merge: bool,
    },
    /// A file of the name that it had before is there again.
    OldNameTaken {
        /// That name.
        name: String,
    },
    /// The displaced file is not kept any more.
    NotKept,
    /// A program that had the displaced file open wrote into it afterwards.
    KeptChanged,
}
