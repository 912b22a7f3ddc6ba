//! A proposal: the whole text of a file as somebody else thinks that it becomes by a sketch, such as a model that was asked.
//!
//! It is trusted in nothing. [`guard()`] takes it only if it is a reading of the sketch: the file as it is, with the lines of
//! the sketch where its anchors let them be. What passes is turned into line changes of the file, so that every
//! other byte stays by construction.
//!
//! ```text
//! file     = gap range gap ... range gap          each gap may be empty only where no marker stands
//! proposal = gap merge gap ... merge gap          the same gaps, byte for byte
//! merge    = all lines of a piece of the sketch, in order, and lines of its range, in order
//! range    = empty  |  from a line that the piece keeps to a line that it keeps
//! ```
//!
//! Where the first and the last line of a piece stand once in the file, in this order, they leave one range, and are its ends:
//! neither may come a second time.

mod decide;
mod merge;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use alloc::sync::Arc;

use similar::DiffOp;

use crate::Text;
use crate::compare::compare;
use crate::find::FindLimits;
use crate::patch::answer::{self, AnswerFault, FileAnswer};
use crate::patch::sketch::Sketch;
use crate::patch::{Patch, RangeChange};
use crate::plan::{self, Source, Sources};

/// What a sketch says: its pieces, which markers separate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline<'a> {
    /// The lines of each piece, without their endings. No piece is empty.
    pub pieces: Vec<Vec<&'a str>>,
    /// Whether a marker stands above the first piece.
    pub opens: bool,
    /// Whether a marker stands below the last piece.
    pub closes: bool,
}

impl<'a> From<&'a Sketch> for Outline<'a> {
    fn from(sketch: &'a Sketch) -> Self {
        let pieces = sketch.segments().iter();
        let pieces = pieces.map(|segment| segment.lines.iter().filter_map(|line| line.text()).collect());
        Self { pieces: pieces.collect(), opens: sketch.is_kept_above(), closes: sketch.is_kept_below() }
    }
}

impl Outline<'_> {
    /// Returns whether a marker stands above this piece.
    fn is_open_above(&self, piece: usize) -> bool {
        piece > 0 || self.opens
    }

    /// Returns whether a marker stands below this piece.
    fn is_open_below(&self, piece: usize) -> bool {
        piece + 1 < self.pieces.len() || self.closes
    }
}

/// A proposal that passed the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The changes that make the proposal of the file.
    pub changes: Vec<RangeChange>,
    /// Whether the sketch is one piece with one range, and the proposal loses no line there. If not, somebody has to look
    /// at it.
    pub is_sure: bool,
}

/// Why a proposal was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The sketch has no lines of its own.
    EmptySketch,
    /// The proposal is the file as it is.
    NoChange,
    /// This line of the sketch is missing.
    LineMissing(String),
    /// This line of the proposal, counted from 1, is neither one of the file nor one of the sketch.
    ForeignLine(usize),
    /// The lines are there, but others than those that the sketch names were changed, moved or lost.
    ChangedElsewhere,
    /// There are too many ways to read it.
    TooMuch,
}

/// Checks a proposal for the file with these lines. All lines are without their endings.
pub fn guard(file: &[&str], sketch: &Outline<'_>, proposed: &[&str]) -> Result<Accepted, Objection> {
    if sketch.pieces.is_empty() || sketch.pieces.iter().any(Vec::is_empty) {
        return Err(Objection::EmptySketch);
    }
    if file == proposed {
        return Err(Objection::NoChange);
    }
    check_lines(file, sketch, proposed)?;
    if !merge::is_reading(file, sketch, proposed)? {
        return Err(Objection::ChangedElsewhere);
    }
    let is_sure = decide::is_sure(file, sketch, proposed);
    Ok(Accepted { changes: changes(file, proposed), is_sure })
}

/// Returns what a model may mean with its answer as the new text of a file, most likely first.
pub fn texts(answer: &str, path: &str, file: &str) -> Result<Vec<String>, AnswerFault> {
    match answer::of_file(answer, path)? {
        FileAnswer::Texts(texts) => Ok(texts),
        FileAnswer::Blocks(patch) => Ok(Vec::from([applied(&patch, path, file).ok_or(AnswerFault::Blocks)?])),
    }
}

/// Returns the text of the file after these changes, if they fit.
fn applied(patch: &Patch, path: &str, file: &str) -> Option<String> {
    let mut sources = Sources::default();
    sources.insert(path, path, Source::Present(Arc::new(Text::new(file.into()).ok()?)));
    let plan = plan::build(patch, &sources, &FindLimits::default()).ok()?;
    String::from_utf8(plan.files().first()?.new_text()?.to_vec()).ok()
}

/// Checks that every line of the proposal comes from somewhere, and that no line of the sketch is missing.
fn check_lines(file: &[&str], sketch: &Outline<'_>, proposed: &[&str]) -> Result<(), Objection> {
    let sketched = || sketch.pieces.iter().flatten();
    // A blank line may be layout.
    let known: BTreeSet<&str> = file.iter().chain(sketched()).copied().chain([""]).collect();
    if let Some(at) = proposed.iter().position(|line| !known.contains(line)) {
        return Err(Objection::ForeignLine(at + 1));
    }
    let there: BTreeSet<&str> = proposed.iter().copied().collect();
    match sketched().find(|line| !there.contains(*line)) {
        Some(line) => Err(Objection::LineMissing((*line).into())),
        None => Ok(()),
    }
}

/// Returns the changes that make one list of lines of another.
fn changes(file: &[&str], proposed: &[&str]) -> Vec<RangeChange> {
    let operations = compare(file, proposed);
    let changed = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    changed
        .map(|operation| RangeChange {
            first: operation.old_range().start + 1,
            count: operation.old_range().len(),
            lines: proposed[operation.new_range()].iter().map(|line| String::from(*line)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
