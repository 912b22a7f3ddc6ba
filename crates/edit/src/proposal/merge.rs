//! Whether a proposal is a reading of a sketch: a search through the ways in which it could have come about.
//!
//! A state is a position in the sketch, in the file and in the proposal. Every line of the proposal has to come from
//! somewhere, so few states are reached; the number of steps between them is bounded all the same.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use super::decide::only_range;
use super::{Objection, Outline};

/// The most steps that are made.
const STEPS: usize = 500_000;

/// A position in the sketch, in the file and in the proposal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    piece: usize,
    /// The line of the piece that comes next; `None` in the gap above it.
    line: Option<usize>,
    /// The line of the file that comes next.
    file: usize,
    /// The line of the proposal that comes next.
    proposed: usize,
    kept: Kept,
}

/// What the range of a piece has kept so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    /// Nothing: it is empty.
    Nothing,
    /// Its last line is one that the piece keeps, so that it may end here.
    Anchored,
    /// Its last line is one that the piece does not have.
    Loose,
}

/// Returns whether the proposal is a reading of the sketch.
pub(super) fn is_reading(file: &[&str], sketch: &Outline<'_>, proposed: &[&str]) -> Result<bool, Objection> {
    let mut search = Search {
        file,
        sketch,
        proposed,
        places: places(file),
        anchors: (0..sketch.pieces.len()).map(|piece| only_range(file, sketch, piece)).collect(),
        open: Vec::new(),
        seen: BTreeSet::new(),
        steps: 0,
    };
    let line = if sketch.opens { None } else { Some(0) };
    search.visit(State { piece: 0, line, file: 0, proposed: 0, kept: Kept::Nothing });
    while let Some(state) = search.open.pop() {
        if search.is_end(state) {
            return Ok(true);
        }
        if search.steps > STEPS {
            return Err(Objection::TooMuch);
        }
        match state.line {
            None => search.leave_gap(state),
            Some(line) => search.leave_line(state, line),
        }
    }
    Ok(false)
}

/// Returns at which lines of a file each of its texts stands.
fn places<'a>(file: &[&'a str]) -> BTreeMap<&'a str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in file.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    places
}

struct Search<'a> {
    file: &'a [&'a str],
    sketch: &'a Outline<'a>,
    proposed: &'a [&'a str],
    places: BTreeMap<&'a str, Vec<usize>>,
    /// The range of each piece whose lines beside its markers leave only one.
    anchors: Vec<Option<Range<usize>>>,
    open: Vec<State>,
    seen: BTreeSet<State>,
    steps: usize,
}

impl Search<'_> {
    fn visit(&mut self, state: State) {
        self.steps += 1;
        if self.steps <= STEPS && self.seen.insert(state) {
            self.open.push(state);
        }
    }

    /// Returns the line of the file which this line of a piece is, where it can be no other.
    fn anchor(&self, piece: usize, line: usize) -> Option<usize> {
        let range = self.anchors[piece].as_ref()?;
        let is_first = line == 0 && self.sketch.is_open_above(piece);
        let is_last = line + 1 == self.sketch.pieces[piece].len() && self.sketch.is_open_below(piece);
        if is_first { Some(range.start) } else { is_last.then(|| range.end - 1) }
    }

    /// Returns whether everything is accounted for.
    fn is_end(&self, state: State) -> bool {
        let State { piece, line, file, proposed, kept } = state;
        let is_last = piece + 1 == self.sketch.pieces.len();
        match line {
            None => piece == self.sketch.pieces.len() && self.file[file..] == self.proposed[proposed..],
            // Without a marker below it, the last piece is the end of the file, whatever stood there.
            Some(line) => {
                let has_all = is_last && line == self.sketch.pieces[piece].len();
                let ends = has_all && proposed == self.proposed.len() && !self.sketch.closes;
                ends && kept != Kept::Loose
            }
        }
    }

    /// Goes on in a gap: by one line of it, or into the piece below.
    fn leave_gap(&mut self, state: State) {
        let State { piece, file, proposed, .. } = state;
        let Some(next) = self.proposed.get(proposed) else { return };
        if self.file.get(file) == Some(next) {
            self.visit(State { file: file + 1, proposed: proposed + 1, ..state });
        }
        if self.sketch.pieces.get(piece).is_some_and(|lines| lines[0] == *next || next.is_empty()) {
            self.visit(State { line: Some(0), kept: Kept::Nothing, ..state });
        }
    }

    /// Goes on in a piece: into the gap below, by one of its lines, or by a line of the file that stays.
    fn leave_line(&mut self, state: State, line: usize) {
        let State { piece, file, proposed, kept, .. } = state;
        let lines = &self.sketch.pieces[piece];
        if line == lines.len() && kept != Kept::Loose && self.sketch.is_open_below(piece) {
            self.visit(State { piece: piece + 1, line: None, kept: Kept::Nothing, ..state });
        }
        let Some(next) = self.proposed.get(proposed) else { return };
        let is_own = lines.get(line) == Some(next);
        let own = State { line: Some(line + 1), proposed: proposed + 1, ..state };
        let anchor = self.anchor(piece, line);
        if is_own && anchor.is_none() {
            self.visit(own);
        }
        // Blank lines beside a marker are no part of the sketch: a new one may come there.
        let is_above = line == 0 && self.sketch.is_open_above(piece);
        let is_below = line == lines.len() && self.sketch.is_open_below(piece);
        if next.is_empty() && kept != Kept::Loose && (is_above || is_below) {
            self.visit(State { proposed: proposed + 1, ..state });
        }
        // A range begins with a line that the piece keeps, right below the gap; or with the file.
        let may_skip = kept != Kept::Nothing || !self.sketch.is_open_above(piece);
        let from = |at: &&usize| if may_skip { **at >= file } else { **at == file };
        let places: Vec<usize> = self.places.get(next).into_iter().flatten().filter(from).copied().collect();
        for at in places {
            if is_own && anchor.is_none_or(|anchor| anchor == at) {
                self.visit(State { file: at + 1, kept: Kept::Anchored, ..own });
            }
            if may_skip && line > 0 {
                self.visit(State { file: at + 1, proposed: proposed + 1, kept: Kept::Loose, ..state });
            }
        }
    }
}
