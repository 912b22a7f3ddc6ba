//! Placing of the hunks of a section: each is found in the same text, then all become one edit.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::repeat_n;
use core::ops::Range;

use super::carry::Replacement;
use super::numbering::Numbering;
use super::splice;
use super::suspect;
use super::taken::TakenText;
use super::{Forgiven, NamedAs, PlacedHunk, PlanNote, Taken, apart, fitting, forgiven};
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
const EXPECTED: usize = 3;
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
    for hunk in hunks {
        let unhinted;
        let change = if moved {
            unhinted = hunk.change.without_hint();
            &unhinted
        } else {
            &hunk.change
        };
        let placed = match change {
            Change::Range(_) | Change::Place(_) if moved => Err(Kind::MovedNumbers),
            Change::Text(change) => placer.text(hunk.number, change),
            Change::Insertion(insertion) => placer.insertion(hunk.number, insertion),
            Change::Lines(change) => placer.lines(hunk.number, change),
            Change::Block(change) => placer.block(hunk.number, change),
            Change::Range(change) => placer.range(hunk.number, change),
            Change::Numbered(change) => placer.numbered(hunk.number, change, numbering, taken),
            Change::Place(change) => placer.known_place(hunk.number, change),
            Change::Sketch(sketch) => placer.sketch(hunk.number, sketch, numbering),
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
    problems.extend(placer.splice_all());
    problems.extend(placer.leave_out_inert(hunks.len()));
    problems.sort_by_key(|problem| problem.hunk);
    if !problems.is_empty() {
        problems[0].beside = fitting::fitting(&placer.haystack, &placer.placed, &placer.builder);
        return Err(problems);
    }
    let Placer { builder, placed, notes, .. } = placer;
    match builder.finish() {
        Ok(edit) => Ok(LocatedHunks { edit, hunks: placed, notes }),
        Err(overlap) => Err(alloc::vec![Problem::new(Kind::OverlappingEdits {
            first: overlap.first,
            second: overlap.second,
            line: text.line_number(overlap.offset),
        })]),
    }
}

pub(super) struct Placer<'a> {
    pub(super) haystack: Haystack<'a>,
    pub(super) limits: &'a FindLimits,
    pub(super) budget: &'a Budget,
    pub(super) builder: EditBuilder,
    placed: Vec<PlacedHunk>,
    notes: Vec<PlanNote>,
    /// Hunks of lines that are found but not spliced yet.
    found: Vec<LocatedHunk>,
    /// Hunks of only context lines, each with the line at which they stand.
    inert: Vec<(usize, usize)>,
    /// How many hunks were not found.
    missed: usize,
}

/// A hunk of whole lines with its match.
struct LocatedHunk {
    number: usize,
    written: Vec<Line>,
    found: Match,
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
        suspect::check(&self.haystack, &added, || suspect::takes_away(lines))
    }

    fn lines(&mut self, number: usize, change: &LineChange) -> Result<(), Kind> {
        let mut scope = find::search_scope(&self.haystack, &change.anchors, self.budget)?;
        if !scope.unknown.is_empty() {
            // An anchor that is not in the file locates nothing: the hunk must be unique in the whole file.
            scope.starts = alloc::vec![0..self.haystack.lines().len()];
            scope.sections.clear();
        }
        let old: Vec<&str> = change.lines.iter().filter_map(Line::before).collect();
        if old.is_empty() {
            let line = self.insertion_line(change, &scope)?;
            self.check_added(&change.lines)?;
            self.insert(number, line, &change.lines, change.final_newline)?;
            self.placed.push(PlacedHunk {
                number,
                line,
                lines: 0,
                layer: Some(Layer::Exact),
                places: 1,
                forgiven: Vec::new(),
                named: None,
                taken: None,
            });
            return Ok(());
        }
        let found = match self.hunk(number, change, &scope) {
            Err(Kind::Unclear) => return Err(self.mismatch(&change.lines)),
            found => found?,
        };
        self.check_added(&change.lines)?;
        let telling = old.iter().filter(|line| !line.trim().is_empty()).count();
        if let Some(anchor) = scope.unknown.first().filter(|_| telling < 2) {
            // A single line that happens to be unique does not outweigh the anchor.
            return Err(Kind::AnchorNotFound { anchor: anchor.clone(), total: 0 });
        }
        if !change.lines.iter().any(|line| matches!(line, Line::Removed(_) | Line::Added(_))) {
            self.inert.push((number, self.haystack.line_number(found.range.start)));
            return Ok(());
        }
        for anchor in &scope.unknown {
            self.notes.push(PlanNote::WithoutAnchor { hunk: number, anchor: anchor.clone() });
        }
        self.splice(number, &change.lines, found, change.final_newline)
    }

    /// Finds the only match of a hunk's old lines.
    fn hunk(&mut self, number: usize, change: &LineChange, scope: &find::SearchScope) -> Result<Match, Kind> {
        let last = self.haystack.lines().len();
        let old = change.lines.iter().filter_map(Line::before).count();
        let mut starts = scope.starts.clone();
        if change.at_end {
            let start = last.saturating_sub(old);
            starts.retain_mut(|range| {
                *range = range.start.max(start)..range.end.min(start + 1);
                range.start < range.end
            });
        }
        let locate = |starts: &[Range<usize>], layers| {
            let block = Block::new(&change.lines, starts, BlockForm::Diff, change.hint);
            find::locate(&self.haystack, &Needle::Block(&block), layers, self.limits, self.budget)
        };
        if let Some(found) = locate(&starts, FAITHFUL)? {
            let end = self.haystack.text().body().end;
            if change.at_end && found.range.end != end {
                let line = self.haystack.line_number(found.range.start);
                return Err(Kind::NotAtEndOfFile { line, last });
            }
            return Ok(found);
        }
        if !change.at_end && !scope.sections.is_empty() {
            if let Some(found) = locate(&scope.sections, FAITHFUL)? {
                return Ok(found);
            }
            // The hunk is not in its block: then it must be unique below the anchor.
            let below = match scope.anchor_lines[..] {
                [anchor] => anchor + 1..last,
                _ => 0..last,
            };
            let first = scope.anchor_lines.first().map_or(0, |&anchor| anchor + 1);
            if let Some(found) = locate(core::slice::from_ref(&below), FAITHFUL)?
                && let line = self.haystack.line_number(found.range.start)
                && line >= first
            {
                let anchor = change.anchors.last().cloned().unwrap_or_default();
                self.notes.push(PlanNote::BelowAnchor { hunk: number, anchor, line });
                return Ok(found);
            }
        }
        if change.at_end {
            if let Some(found) = locate(&scope.starts, FAITHFUL)? {
                let line = self.haystack.line_number(found.range.start);
                return Err(Kind::NotAtEndOfFile { line, last });
            }
        } else if let Some(found) = locate(&starts, &LAYERS[FAITHFUL.len()..])? {
            return Ok(found);
        }
        Err(self.mismatch(&change.lines))
    }

    /// Makes the problem that these lines are not in the file.
    fn mismatch(&mut self, lines: &[Line]) -> Kind {
        let old: Vec<&[u8]> = lines.iter().filter_map(Line::before).map(str::as_bytes).collect();
        let new: Vec<&[u8]> = lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
        let expected = lines.iter().filter_map(Line::before).take(EXPECTED).map(String::from).collect();
        Kind::HunkContextMismatch { near: Box::new(self.near(&old, &new)), expected }
    }

    /// Places a block of whole lines, piece by piece if the file does not have it as a whole with its elision lines.
    fn block(&mut self, number: usize, change: &BlockChange) -> Result<(), Kind> {
        let whole = lines_of(&change.pieces);
        if !whole.iter().any(|line| matches!(line, Line::Removed(_) | Line::Added(_))) {
            return Err(Kind::NoOp { why: NoChange::SameLines });
        }
        let starts = [0..self.haystack.text().line_count()];
        let block = Block::new(&whole, &starts, BlockForm::Block, change.hint);
        let layers = if change.pieces.len() > 1 { FAITHFUL } else { LAYERS };
        let wanted = Needle::Block(&block);
        let found = match find::locate(&self.haystack, &wanted, layers, self.limits, self.budget) {
            Err(Kind::Unclear) => return Err(self.mismatch(&whole)),
            found => found?,
        };
        if let Some(found) = found {
            self.check_added(&whole)?;
            return self.splice(number, &whole, found, None);
        }
        if change.pieces.len() < 2 {
            return Err(self.mismatch(&whole));
        }
        self.pieces(number, &change.pieces)
    }

    /// Places pieces between elisions: each must be unique, and below the one before.
    fn pieces(&mut self, number: usize, pieces: &[Piece]) -> Result<(), Kind> {
        let total = self.haystack.lines().len();
        let mut below = 0;
        for piece in pieces {
            let lines = lines_of(&[Piece { elision: None, ..piece.clone() }]);
            if lines.is_empty() {
                continue;
            }
            let starts = [0..total];
            let block = Block::new(&lines, &starts, BlockForm::Block, None);
            let wanted = Needle::Block(&block);
            let found = match find::locate(&self.haystack, &wanted, FAITHFUL, self.limits, self.budget) {
                Err(Kind::Unclear) => None,
                found => found?,
            };
            match found.filter(|found| found.range.start >= below) {
                Some(found) => {
                    self.check_added(&lines)?;
                    below = found.range.end;
                    self.splice(number, &lines, found, None)?;
                }
                None => return Err(self.mismatch(&lines)),
            }
        }
        Ok(())
    }

    /// Returns the number of the line that a hunk of only added lines follows: its anchor, or the last of the file.
    fn insertion_line(&self, change: &LineChange, scope: &find::SearchScope) -> Result<usize, Kind> {
        let lines = self.haystack.lines();
        let Some(innermost) = change.anchors.last() else {
            if let Some(hint) = change.hint.filter(|&hint| hint != lines.len()) {
                return Err(Kind::NotAtEndOfFile { line: hint, last: lines.len() });
            }
            return Ok(lines.len());
        };
        let unknown = |total: usize| Kind::AnchorNotFound { anchor: innermost.clone(), total };
        if let Some(anchor) = scope.unknown.first() {
            return Err(Kind::AnchorNotFound { anchor: anchor.clone(), total: 0 });
        }
        match scope.anchor_lines[..] {
            [line] if change.at_end && line + 1 != lines.len() => {
                Err(Kind::NotAtEndOfFile { line: line + 1, last: lines.len() })
            }
            [line] => Ok(line + 1),
            _ => Err(unknown(scope.anchor_lines.len())),
        }
    }

    /// Records the match of a hunk, which is spliced later.
    pub(super) fn splice(
        &mut self,
        number: usize,
        written: &[Line],
        found: Match,
        final_newline: Option<bool>,
    ) -> Result<(), Kind> {
        self.found.push(LocatedHunk { number, written: written.to_vec(), found, final_newline });
        Ok(())
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
        let note = |(hunk, line)| PlanNote::OnlyContext { hunk, line };
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
        numbering: &Numbering<'_>,
        taken: &BTreeMap<usize, TakenText>,
    ) -> Result<(), Kind> {
        let named = numbering.named(&change.at)?;
        let lines = numbering.lines(named)?;
        match (&change.new, taken.get(&number)) {
            (NewLines::Given(new), _) => {
                if let Some((_, part)) = named.symbol {
                    self.check_not_there(part, lines.first(), new)?;
                }
                let bytes: Vec<&[u8]> = new.iter().map(String::as_bytes).collect();
                let (above, below) = numbering.apart(named, lines, &bytes);
                let new = new.iter().map(String::as_str);
                let come: Vec<&str> = repeat_n("", above).chain(new).chain(repeat_n("", below)).collect();
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

    /// Refuses to insert lines above or below a definition where they stand already, whatever blank lines are between.
    fn check_not_there(&self, part: Part, line: usize, added: &[String]) -> Result<(), Kind> {
        let lines = self.haystack.lines();
        let (added, from) = match part {
            Part::Whole => (added, None),
            Part::Above => {
                let blank = apart::leading_blank(added.iter().rev().map(String::as_bytes));
                let added = &added[..added.len() - blank];
                let above = apart::leading_blank((0..line).rev().map(|line| lines.content(line)));
                (added, (line - above).checked_sub(added.len()))
            }
            Part::Below => {
                let below = apart::leading_blank((line..lines.len()).map(|line| lines.content(line)));
                let blank = apart::leading_blank(added.iter().map(String::as_bytes));
                (&added[blank..], Some(line + below))
            }
        };
        match from {
            Some(from) if self.stands_at(from, added) => Err(Kind::NoOp { why: NoChange::AlreadyAdded }),
            _ => Ok(()),
        }
    }

    /// Returns the replacement of lines of this text by those that the request gives.
    fn given(&self, gone: Range<usize>, come: &[&str]) -> Result<Replacement, Kind> {
        let loses = || {
            let gone = gone.clone().map(|line| String::from_utf8_lossy(self.haystack.lines().content(line)));
            let gone: Vec<_> = gone.collect();
            suspect::loses(&gone.iter().map(AsRef::as_ref).collect::<Vec<_>>(), come)
        };
        suspect::elisions(&self.haystack, come.iter().copied(), loses)?;
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
        self.placed.push(PlacedHunk {
            number,
            line,
            lines,
            layer: None,
            places: 1,
            forgiven: Vec::new(),
            named,
            taken,
        });
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
        self.placed.push(PlacedHunk {
            number,
            line,
            lines,
            layer: Some(layer),
            places,
            forgiven,
            named: None,
            taken: None,
        });
    }
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
