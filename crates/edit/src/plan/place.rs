//! Placing of the hunks of a section: each is found in the same text, then all become one edit.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::iter::repeat_n;
use core::ops::Range;

use super::carry::Replacement;
use super::numbering::{HunkNumbers, Numbering};
use super::splice;
use super::suspect;
use super::taken::TakenText;
use super::{DefinitionPlace, Forgiven, NamedAs, PlacedHunk, PlanNote, Taken, fitting, forgiven};
use crate::edit::{Edit, EditBuilder};
use crate::find::{
    self, Block, BlockForm, Budget, FAITHFUL, FindLimits, Haystack, IndentUnit, LAYERS, Layer, Match, Needle,
    contents,
};
use crate::follow::{CurrentLines, NamedLines};
use crate::patch::{
    BlockChange, Change, Hunk, Line, LineChange, NewLines, NumberedChange, Part, Piece, RangeChange,
};
use crate::problem::{Kind, Near, NoChange, Problem};
use crate::text::Text;

/// How many of a request's own lines a refusal repeats to identify the hunk.
pub(super) const EXPECTED: usize = 3;
/// For how many missing hunks the nearest lines are shown.
const SHOWN_MISSES: usize = 10;

/// The placed hunks of a section.
pub(super) struct LocatedHunks {
    /// All of them as one edit.
    pub(super) edit: Edit,
    /// The place of each hunk.
    pub(super) hunks: Vec<PlacedHunk>,
    /// Notes for the reader.
    pub(super) notes: Vec<PlanNote>,
}

/// Finds every hunk in `text`. All problems are reported, not only the first. If the lines have `moved`, line numbers
/// are ignored. `taken` has the lines that hunks take from files, by hunk.
pub(super) fn hunks(
    text: &Text,
    hunks: &[Hunk],
    taken: &BTreeMap<usize, TakenText>,
    moved: bool,
    numbering: &Numbering<'_>,
    limits: &FindLimits,
    budget: &Budget,
) -> Result<LocatedHunks, Vec<Problem>> {
    let mut placer = Placer {
        haystack: Haystack::new(text),
        numbering,
        definitions: OnceCell::new(),
        limits,
        budget,
        builder: EditBuilder::new(text),
        placed: Vec::new(),
        notes: Vec::new(),
        found: Vec::new(),
        inert: Vec::new(),
        missed: 0,
    };
    let mut problems = Vec::new();
    let (mut grown, mut bare) = (0, Vec::new());
    for (index, hunk) in hunks.iter().enumerate() {
        let numbers = numbering.numbers(&hunk.change, moved, grown);
        grown += hunk.change.growth();
        let placed = match &hunk.change {
            Change::Range(_) | Change::Place(_) if moved => Err(Kind::MovedNumbers),
            Change::Text(change) => placer.text(hunk.number, change),
            Change::Insertion(insertion) => placer.insertion(hunk.number, insertion),
            Change::Lines(change) if is_bare(change) && index > 0 && index + 1 < hunks.len() => {
                // Its place is between those of its neighbours.
                bare.push((index, change));
                Ok(())
            }
            Change::Lines(change) => placer.lines(hunk.number, change, &numbers),
            Change::Block(change) => placer.block(hunk.number, change, &numbers),
            Change::Range(change) => placer.range(hunk.number, change),
            Change::Numbered(change) => placer.numbered(hunk.number, change, taken),
            Change::Place(change) => placer.known_place(hunk.number, change),
            Change::Sketch(sketch) => placer.sketch(hunk.number, sketch),
        };
        if let Err(kind) = placed {
            let spent = matches!(kind, Kind::WorkLimit { .. });
            problems.push(Problem::new(kind).in_hunk(hunk.number));
            if spent {
                // The other hunks were not tried, and reporting each of them would bury the problems found.
                break;
            }
        }
    }
    for (index, change) in bare {
        let number = hunks[index].number;
        let neighbours = [index - 1, index + 1].map(|at| hunks[at].number);
        let is_lost = |problem: &Problem| problem.hunk.is_some_and(|hunk| neighbours.contains(&hunk));
        if let Err(kind) = placer.between(number, change, neighbours)
            && !problems.iter().any(is_lost)
        {
            problems.push(Problem::new(kind).in_hunk(number));
        }
    }
    problems.extend(placer.splice_all());
    problems.extend(placer.leave_out_inert(hunks.len()));
    if problems.is_empty() {
        let twice = placer.builder.hunks_made_twice().into_iter();
        problems.extend(twice.map(|(first, second)| {
            Problem::new(Kind::NoOp { why: NoChange::SameHunk { first } }).in_hunk(second)
        }));
    }
    problems.sort_by_key(|problem| problem.hunk);
    if !problems.is_empty() {
        problems[0].beside = fitting::fitting(&placer.haystack, &placer.placed, &placer.builder);
        return Err(problems);
    }
    let Placer { builder, placed, notes, .. } = placer;
    match builder.finish() {
        Ok(edit) => Ok(LocatedHunks { edit, hunks: placed, notes }),
        Err(overlap) => Err(Kind::OverlappingEdits {
            first: overlap.first,
            second: overlap.second,
            line: text.line_number(overlap.offset),
        }
        .into()),
    }
}

pub(super) struct Placer<'a> {
    pub(super) haystack: Haystack<'a>,
    pub(super) numbering: &'a Numbering<'a>,
    /// The definitions of the file.
    pub(super) definitions: OnceCell<Vec<DefinitionPlace>>,
    pub(super) limits: &'a FindLimits,
    pub(super) budget: &'a Budget,
    pub(super) builder: EditBuilder,
    pub(super) placed: Vec<PlacedHunk>,
    pub(super) notes: Vec<PlanNote>,
    /// Hunks of lines that are found but not spliced yet.
    pub(super) found: Vec<LocatedHunk>,
    /// Hunks of only context lines, each with the lines on which they stand, counted from 0.
    pub(super) inert: Vec<(usize, Range<usize>)>,
    /// How many hunks were not found.
    missed: usize,
}

/// A hunk of whole lines with its match.
pub(super) struct LocatedHunk {
    pub(super) number: usize,
    written: Vec<Line>,
    pub(super) found: Match,
    final_newline: Option<bool>,
}

impl Placer<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        self.haystack.text().bytes()
    }

    /// Returns the nearest lines for a hunk that is not in the file; after a few hunks, only the version. Each search
    /// walks the file, and no caller corrects more than a few hunks from one answer.
    pub(super) fn near(&mut self, old: &[&[u8]], new: &[&[u8]]) -> Near {
        self.missed += 1;
        if self.missed > SHOWN_MISSES {
            find::version_only(&self.haystack)
        } else {
            find::near(&self.haystack, old, new)
        }
    }

    /// Refuses added lines that the hunk cannot mean.
    pub(super) fn check_added(&self, lines: &[Line]) -> Result<(), Kind> {
        let added: Vec<&str> =
            lines.iter().filter(|line| line.before().is_none()).filter_map(Line::after).collect();
        suspect::check(&self.haystack, &added, || suspect::loss(lines))?;
        suspect::gutters(&self.haystack, lines.iter().filter_map(Line::before), &added)
    }

    /// Places a block of whole lines, piece by piece if the file does not have it as a whole with its elision lines.
    fn block(&mut self, number: usize, change: &BlockChange, numbers: &HunkNumbers) -> Result<(), Kind> {
        let whole = lines_of(&change.pieces);
        if !whole.iter().any(|line| matches!(line, Line::Removed(_) | Line::Added(_))) {
            return Err(Kind::NoOp { why: NoChange::SameLines });
        }
        let layers = if change.pieces.len() > 1 { FAITHFUL } else { LAYERS };
        match self.locate_anywhere(&whole, BlockForm::Block, &numbers.current, layers) {
            Ok(Some(found)) => {
                self.check_numbered_place(&whole, numbers, &found)?;
                self.check_added(&whole)?;
                self.splice(number, &whole, found, None);
                Ok(())
            }
            Ok(None) if change.pieces.len() > 1 => self.pieces(number, &change.pieces),
            Ok(None) | Err(Kind::Unclear) => Err(self.mismatch(&whole)),
            Err(kind) => Err(kind),
        }
    }

    /// Places pieces between elisions: each must be unique, and below the one before.
    fn pieces(&mut self, number: usize, pieces: &[Piece]) -> Result<(), Kind> {
        let mut below = 0;
        for piece in pieces {
            let lines = lines_of(&[Piece { elision: None, ..piece.clone() }]);
            if lines.is_empty() {
                continue;
            }
            match self.locate_anywhere(&lines, BlockForm::Block, &[], FAITHFUL) {
                Ok(Some(found)) if found.range.start >= below => {
                    self.check_added(&lines)?;
                    below = found.range.end;
                    self.splice(number, &lines, found, None);
                }
                Ok(_) | Err(Kind::Unclear) => return Err(self.mismatch(&lines)),
                Err(kind) => return Err(kind),
            }
        }
        Ok(())
    }

    /// Finds the only match of lines that start in one of these ranges.
    pub(super) fn locate(
        &self,
        lines: &[Line],
        starts: &[Range<usize>],
        form: BlockForm,
        hints: &[usize],
        layers: &[Layer],
    ) -> Result<Option<Match>, Kind> {
        let block = Block::new(lines, starts, form, hints);
        find::locate(&self.haystack, &Needle::Block(&block), layers, self.limits, self.budget)
    }

    /// Finds the only match of lines in the file.
    pub(super) fn locate_anywhere(
        &self,
        lines: &[Line],
        form: BlockForm,
        hints: &[usize],
        layers: &[Layer],
    ) -> Result<Option<Match>, Kind> {
        let everywhere = 0..self.haystack.lines().len();
        self.locate(lines, core::slice::from_ref(&everywhere), form, hints, layers)
    }

    /// Records the match of a hunk, which is spliced later.
    pub(super) fn splice(
        &mut self,
        number: usize,
        written: &[Line],
        found: Match,
        final_newline: Option<bool>,
    ) {
        self.found.push(LocatedHunk { number, written: written.to_vec(), found, final_newline });
    }

    /// Splices every hunk at its match. The unit of indentation that one hunk shows also applies to hunks that show
    /// none.
    fn splice_all(&mut self) -> Vec<Problem> {
        let found = core::mem::take(&mut self.found);
        let units = found.iter().filter(|hunk| hunk.found.layer == Layer::Indentation);
        let mut units: Vec<IndentUnit> = units
            .filter_map(|hunk| IndentUnit::from_hunk(&self.haystack, &hunk.written, &hunk.found.range))
            .collect();
        units.dedup();
        let unit = units.pop().filter(|_| units.is_empty());
        let mut problems = Vec::new();
        for LocatedHunk { number, written, found: Match { range, layer, interpretation }, final_newline } in
            found
        {
            let forgiven = forgiven::lines(&self.haystack, &written, &range, layer);
            let converted =
                unit.as_ref().filter(|_| interpretation.is_none()).and_then(|unit| unit.apply_to(&written));
            let lines = interpretation.or(converted).unwrap_or(written);
            match splice::block(&self.haystack, &lines, &range, final_newline) {
                Ok(replacements) => {
                    self.builder.claim(number, range.clone());
                    for (range, text) in replacements {
                        self.builder.replace(number, range, text);
                    }
                    let old = lines.iter().filter(|line| line.before().is_some()).count();
                    self.record(number, &range, layer, old, 1, forgiven);
                }
                Err(kind) => problems.push(Problem::new(kind).in_hunk(number)),
            }
        }
        self.placed.sort_by_key(|hunk| hunk.number);
        problems
    }

    /// Leaves out the hunks that change nothing, if others of the section do. Nothing is lost with them: their lines
    /// have one match and stay as they are.
    fn leave_out_inert(&mut self, hunks: usize) -> Vec<Problem> {
        let inert = core::mem::take(&mut self.inert);
        if inert.len() == hunks {
            let why = NoChange::OnlyContext;
            let problem = |(number, _)| Problem::new(Kind::NoOp { why }).in_hunk(number);
            return inert.into_iter().map(problem).collect();
        }
        let note =
            |(hunk, lines): (usize, Range<usize>)| PlanNote::OnlyContext { hunk, line: lines.start + 1 };
        self.notes.extend(inert.into_iter().map(note));
        Vec::new()
    }

    /// Places a replacement by line numbers. The file's version was checked elsewhere.
    fn range(&mut self, number: usize, change: &RangeChange) -> Result<(), Kind> {
        let total = self.haystack.lines().len();
        let named = NamedLines::new(change.first, change.count);
        let lines = named.and_then(|named| named.within(total)).ok_or(Kind::NoSuchLines {
            first: change.first,
            count: change.count,
            total,
        })?;
        let come: Vec<&str> = change.lines.iter().map(String::as_str).collect();
        let gone = lines.first()..lines.first() + lines.count();
        let replacement = self.given(gone, &come)?;
        self.put(number, lines, replacement, None, None);
        Ok(())
    }

    /// Places a replacement of lines of a version.
    fn numbered(
        &mut self,
        number: usize,
        change: &NumberedChange,
        taken: &BTreeMap<usize, TakenText>,
    ) -> Result<(), Kind> {
        let numbering = self.numbering;
        let named = numbering.named(&change.at)?;
        let lines = numbering.lines(named)?;
        match (&change.new, taken.get(&number)) {
            (NewLines::Given(new), _) => {
                let given: Vec<&str> = new.iter().map(String::as_str).collect();
                if named.symbol.is_some_and(|(_, part)| part != Part::Whole)
                    && splice::stand_beside(&self.haystack, lines.first(), &given).is_some()
                {
                    return Err(Kind::NoOp { why: NoChange::AlreadyAdded });
                }
                let bytes: Vec<&[u8]> = new.iter().map(String::as_bytes).collect();
                let (above, below) = numbering.apart(named, lines, &bytes);
                let come: Vec<&str> = repeat_n("", above).chain(given).chain(repeat_n("", below)).collect();
                let gone = match come.is_empty() {
                    true => numbering.going(named, lines),
                    false => lines.first()..lines.first() + lines.count(),
                };
                let replacement = self.given(gone, &come)?;
                self.put(number, lines, replacement, named.named(lines), None);
            }
            (NewLines::Taken(_), Some(text)) => {
                let is_apart = named.symbol.is_some_and(|(found, _)| found.is_apart);
                text.check_place(&self.haystack, lines, is_apart)?;
                let origin = Taken::From(text.origin.clone());
                let apart = numbering.apart(named, lines, &text.contents());
                let replacement = text.put(&self.haystack, lines, apart);
                self.put(number, lines, replacement, named.named(lines), Some(origin));
            }
            (NewLines::Taken(_), None) => return Err(Kind::NoSource),
        }
        Ok(())
    }

    /// Returns the replacement of lines of this text by those that the request gives.
    fn given(&self, gone: Range<usize>, come: &[&str]) -> Result<Replacement, Kind> {
        let loss = || {
            let gone = gone.clone().map(|line| String::from_utf8_lossy(self.haystack.lines().content(line)));
            let gone: Vec<_> = gone.collect();
            suspect::loss_between(&gone.iter().map(AsRef::as_ref).collect::<Vec<_>>(), come)
        };
        suspect::elisions(&self.haystack, come.iter().copied(), loss)?;
        splice::lines(&self.haystack, gone.start, gone.len(), come.iter().copied(), None)
    }

    /// Replaces lines of this text.
    fn put(
        &mut self,
        number: usize,
        at: CurrentLines,
        (range, text): Replacement,
        named: Option<NamedAs>,
        taken: Option<Taken>,
    ) {
        self.builder.claim(number, range.clone());
        self.builder.replace(number, range, text);
        let (line, lines) = (at.first() + 1, at.count());
        self.placed.push(PlacedHunk { named, taken, ..PlacedHunk::new(number, line, lines) });
    }

    /// Inserts lines before line `line`.
    pub(super) fn insert(
        &mut self,
        number: usize,
        line: usize,
        added: &[Line],
        final_newline: Option<bool>,
    ) -> Result<(), Kind> {
        let (range, text) = splice::insertion(&self.haystack, line, added, final_newline)?;
        let lines = self.haystack.lines();
        let is_below_unended = line == lines.len() && splice::is_unended(&self.haystack);
        if let Some(last) = lines.len().checked_sub(1).filter(|_| is_below_unended) {
            // The new lines begin with the ending that the last line lacks, so the last line must stay.
            self.builder.claim(number, lines.with_ending(last));
        } else if let Some(above) = line.checked_sub(1) {
            self.builder.claim_line_start(number, range.start, lines.start(above));
        }
        self.builder.replace(number, range, text);
        Ok(())
    }

    pub(super) fn record(
        &mut self,
        number: usize,
        range: &Range<usize>,
        layer: Layer,
        lines: usize,
        places: usize,
        forgiven: Vec<Forgiven>,
    ) {
        let line = self.haystack.line_number(range.start);
        let hunk = PlacedHunk::new(number, line, lines);
        self.placed.push(PlacedHunk { layer: Some(layer), places, forgiven, ..hunk });
    }
}

/// Returns whether a hunk has only added lines, and nothing that says where.
fn is_bare(change: &LineChange) -> bool {
    let LineChange { anchors, lines, at_end, hint, .. } = change;
    anchors.is_empty() && !at_end && hint.is_none() && lines.iter().all(|line| line.before().is_none())
}

/// Joins pieces into one block of lines, with the elisions between them.
fn lines_of(pieces: &[Piece]) -> Vec<Line> {
    let mut lines = Vec::new();
    for piece in pieces {
        lines.extend(piece.elision.clone().map(Line::Context));
        let old: Vec<&str> = piece.old.lines().collect();
        let new: Vec<&str> = piece.new.lines().collect();
        lines.extend(Line::between(&old, &new));
    }
    lines
}

/// Checks that a file has this content, whatever its line endings.
pub(super) fn holds(text: &Text, content: &str) -> Result<(), Kind> {
    let haystack = Haystack::new(text);
    // The mark is no part of the first line, but git sends it with that.
    let content = content.strip_prefix('\u{feff}').filter(|_| text.has_bom()).unwrap_or(content);
    let wanted = contents(content.as_bytes());
    let lines = haystack.lines();
    if lines.len() == wanted.len() && (0..wanted.len()).all(|i| lines.content(i) == wanted[i]) {
        return Ok(());
    }
    let near = Box::new(find::near(&haystack, &wanted, &[]));
    Err(Kind::HunkContextMismatch {
        near,
        expected: content.lines().take(EXPECTED).map(String::from).collect(),
    })
}
