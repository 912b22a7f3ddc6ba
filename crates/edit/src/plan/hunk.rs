//! Placing of a hunk of whole lines: in the block of its anchors, at its line number, or where its lines are unique.
//!
//! A unique match can still be wrong: the named place may have the edit already, or its lines may have changed. So a hunk
//! that is found elsewhere is accepted only after a look at the named place.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::numbering::HunkNumbers;
use super::place::{EXPECTED, Placer};
use super::splice::is_telling;
use super::{PlacedHunk, PlanNote};
use crate::find::{self, BlockForm, FAITHFUL, LAYERS, Layer, Match, Nearness};
use crate::patch::{Line, LineChange};
use crate::problem::{Kind, NoChange};

impl Placer<'_> {
    pub(super) fn lines(
        &mut self,
        number: usize,
        change: &LineChange,
        numbers: &HunkNumbers,
    ) -> Result<(), Kind> {
        let mut scope = find::search_scope(&self.haystack, &change.anchors, self.budget)?;
        if !scope.unknown.is_empty() {
            // An anchor that is not in the file locates nothing: the hunk must be unique in the whole file.
            scope.starts = alloc::vec![0..self.haystack.lines().len()];
            scope.anchor_lines.clear();
        }
        let old: Vec<&str> = change.lines.iter().filter_map(Line::before).collect();
        if old.is_empty() {
            let line = self.insertion_line(change, &scope)?;
            self.check_added(&change.lines)?;
            return self.insert_alone(number, line, change);
        }
        let found = match self.hunk(number, change, numbers, &scope) {
            Err(Kind::Unclear) => return Err(self.mismatch(&change.lines)),
            found => found?,
        };
        self.check_numbered_place(&change.lines, numbers, &found)?;
        self.check_added(&change.lines)?;
        let telling = old.iter().filter(|line| !line.trim().is_empty()).count();
        if let Some(anchor) = scope.unknown.first().filter(|_| telling < 2) {
            // A single line that happens to be unique does not outweigh the anchor.
            return Err(Kind::AnchorNotFound { anchor: anchor.clone(), total: 0 });
        }
        if !change.lines.iter().any(|line| matches!(line, Line::Removed(_) | Line::Added(_))) {
            self.inert.push((number, self.line_range(&found.range)));
            return Ok(());
        }
        for anchor in &scope.unknown {
            self.notes.push(PlanNote::WithoutAnchor { hunk: number, anchor: anchor.clone() });
        }
        self.splice(number, &change.lines, found, change.final_newline);
        Ok(())
    }

    /// Inserts the lines of a hunk that has no others before line `line`.
    fn insert_alone(&mut self, number: usize, line: usize, change: &LineChange) -> Result<(), Kind> {
        self.insert(number, line, &change.lines, change.final_newline)?;
        self.placed.push(PlacedHunk { layer: Some(Layer::Exact), ..PlacedHunk::new(number, line, 0) });
        Ok(())
    }

    /// Finds the only match of a hunk's old lines.
    fn hunk(
        &mut self,
        number: usize,
        change: &LineChange,
        numbers: &HunkNumbers,
        scope: &find::SearchScope,
    ) -> Result<Match, Kind> {
        let (last, end) = (self.haystack.lines().len(), self.haystack.text().body().end);
        let first_at_end = last.saturating_sub(change.lines.iter().filter_map(Line::before).count());
        let mut starts = scope.starts.clone();
        if change.at_end {
            starts.retain_mut(|range| {
                *range = range.start.max(first_at_end)..range.end.min(first_at_end + 1);
                range.start < range.end
            });
        }
        let locate = |placer: &Self, starts: &[Range<usize>], layers| {
            placer.locate(&change.lines, starts, BlockForm::Diff, &numbers.current, layers)
        };
        let not_at_end = |placer: &Self, found: &Match| {
            Err(Kind::NotAtEndOfFile { line: placer.haystack.line_number(found.range.start), last })
        };
        let is_anchored = !change.at_end && !scope.anchor_lines.is_empty();
        let mut inside = locate(self, &starts, FAITHFUL)?;
        if inside.is_none() && is_anchored {
            inside = locate(self, &self.definitions_at(&scope.anchor_lines)?, FAITHFUL)?;
        }
        if let Some(found) = inside {
            if change.at_end && found.range.end != end {
                return not_at_end(self, &found);
            }
            self.check_not_made_nearer(change, scope, &found)?;
            self.check_exact_elsewhere(change, numbers, scope, &found)?;
            return Ok(found);
        }
        // The hunk is not in its block: then it must be unique below the anchor, or at the end of the file.
        let outside = if change.at_end {
            locate(self, &[first_at_end..last], FAITHFUL)?.filter(|found| found.range.end == end)
        } else if is_anchored {
            let below = match scope.anchor_lines[..] {
                [anchor] if !scope.is_part => anchor + 1..last,
                _ => 0..last,
            };
            let found = match locate(self, &scope.sections, FAITHFUL)? {
                None => locate(self, &[below], FAITHFUL)?,
                found => found,
            };
            let first = if scope.is_part { 0 } else { scope.anchor_lines[0] + 1 };
            found.filter(|found| self.line_range(&found.range).start >= first)
        } else {
            None
        };
        if let Some(found) = outside {
            self.check_block(change, scope, &found)?;
            self.note_outside(number, change, scope, &found);
            return Ok(found);
        }
        if !change.at_end {
            let loose = locate(self, &starts, &LAYERS[FAITHFUL.len()..])?;
            return loose.ok_or_else(|| self.mismatch(&change.lines));
        }
        match locate(self, &scope.starts, FAITHFUL)? {
            Some(found) => not_at_end(self, &found),
            None => Err(self.mismatch(&change.lines)),
        }
    }

    /// Notes that a hunk is not in the block of its anchor.
    fn note_outside(&mut self, number: usize, change: &LineChange, scope: &find::SearchScope, found: &Match) {
        let line = self.haystack.line_number(found.range.start);
        let anchor = change.anchors.last().cloned().unwrap_or_default();
        self.notes.push(
            match scope.is_part && scope.anchor_lines.first().is_some_and(|first| line <= *first) {
                true => PlanNote::WithoutAnchor { hunk: number, anchor },
                false => PlanNote::BelowAnchor { hunk: number, anchor, line },
            },
        );
    }

    /// Refuses a hunk outside of the block of its anchor, if it was made there or nearly has its lines there, or on the way.
    fn check_block(&self, change: &LineChange, scope: &find::SearchScope, found: &Match) -> Result<(), Kind> {
        let at = self.line_range(&found.range);
        // Where a hunk begins with the head of the next block, git shows the head of the one before.
        let is_next = |block: &Range<usize>| block.end == at.start;
        if change.lines.first().is_some_and(Line::is_context) && scope.sections.iter().any(is_next) {
            return Ok(());
        }
        let mut named = scope.starts.clone();
        named.extend(nearer(scope, &at));
        self.check_named_place(&change.lines, &named, found, Nearness::Half)
    }

    /// Refuses a hunk in the block of its anchor, if its new lines stand nearer to the anchor, with enough lines that stay.
    fn check_not_made_nearer(
        &self,
        change: &LineChange,
        scope: &find::SearchScope,
        found: &Match,
    ) -> Result<(), Kind> {
        match shows_its_place(&change.lines) {
            false => Ok(()),
            true => self.check_not_made(&change.lines, &nearer(scope, &self.line_range(&found.range))),
        }
    }

    /// Refuses a hunk that only a loose layer finds in the block of its anchor, if its exact lines are elsewhere.
    fn check_exact_elsewhere(
        &self,
        change: &LineChange,
        numbers: &HunkNumbers,
        scope: &find::SearchScope,
        found: &Match,
    ) -> Result<(), Kind> {
        let exact = &LAYERS[..=Layer::TrailingSpace as usize];
        if scope.anchor_lines.is_empty() || exact.contains(&found.layer) {
            return Ok(());
        }
        match self.locate_anywhere(&change.lines, BlockForm::Diff, &numbers.current, exact)? {
            Some(other) => {
                Err(self.other_place(self.line_range(&found.range).start, &found.range, &other.range))
            }
            None => Ok(()),
        }
    }

    /// Returns the lines of the definitions of which these lines have the name, or are the first.
    fn definitions_at(&self, named: &[usize]) -> Result<Vec<Range<usize>>, Kind> {
        let Some(places) = self.numbering.sources.places else { return Ok(Vec::new()) };
        if self.definitions.get().is_none() {
            self.budget.spend(self.bytes().len())?;
        }
        let all = self.definitions.get_or_init(|| places(self.numbering.name, self.bytes()));
        let is_named =
            |line: usize| line.checked_sub(1).is_some_and(|line| named.binary_search(&line).is_ok());
        let mut found: Vec<Range<usize>> = all
            .iter()
            .filter(|one| is_named(one.first) || is_named(one.name_line))
            .map(|one| one.first - 1..one.last)
            .collect();
        found.sort_by_key(|lines| lines.start);
        found.dedup_by(|next, last| {
            let overlap = next.start < last.end;
            last.end = if overlap { last.end.max(next.end) } else { last.end };
            overlap
        });
        Ok(found)
    }

    /// Refuses a hunk that was found elsewhere than at the line by whose number it is named, if it was made there or
    /// nearly has its lines there.
    pub(super) fn check_numbered_place(
        &self,
        lines: &[Line],
        numbers: &HunkNumbers,
        found: &Match,
    ) -> Result<(), Kind> {
        if numbers.may_differ && !shows_its_place(lines) {
            return Ok(());
        }
        let named: Vec<Range<usize>> = numbers.named.iter().map(|&line| line - 1..line).collect();
        self.check_named_place(lines, &named, found, Nearness::Almost)
    }

    /// Refuses a hunk that was found outside the place that the request names, if that place has its new lines, or nearly
    /// its old ones: the edit was made already, or the place has changed.
    fn check_named_place(
        &self,
        lines: &[Line],
        named: &[Range<usize>],
        found: &Match,
        nearness: Nearness,
    ) -> Result<(), Kind> {
        let at = self.line_range(&found.range);
        if named.is_empty() || named.iter().any(|range| range.contains(&at.start)) {
            return Ok(());
        }
        self.check_not_made(lines, named)?;
        let old: Vec<&[u8]> = lines.iter().filter_map(Line::before).map(str::as_bytes).collect();
        let near = find::nearly_in(&self.haystack, &old, named, &at, nearness, self.budget)?;
        let Some(near) = near else { return Ok(()) };
        let lines = self.haystack.lines();
        let range = lines.start(near)..lines.start((near + old.len()).min(lines.len()));
        Err(self.other_place(near, &range, &found.range))
    }

    /// Refuses a hunk whose new lines stand where the request names it.
    fn check_not_made(&self, lines: &[Line], named: &[Range<usize>]) -> Result<(), Kind> {
        let new: Vec<&[u8]> = lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
        let adds = lines.iter().any(|line| matches!(line, Line::Added(text) if is_telling(text.as_bytes())));
        if named.is_empty() || !adds && new.iter().filter(|line| is_telling(line)).count() < 2 {
            return Ok(());
        }
        match find::stands_in(&self.haystack, &new, named, self.budget)? {
            Some(line) => Err(Kind::NoOp { why: NoChange::MadeAt { line: line + 1 } }),
            None => Ok(()),
        }
    }

    /// Makes the problem that a request may mean either of two places: `near` is where it names its lines.
    fn other_place(&self, near: usize, near_range: &Range<usize>, found: &Range<usize>) -> Kind {
        Kind::OtherPlace {
            near: near + 1,
            found: self.haystack.line_number(found.start),
            shown: [near_range, found].map(|place| find::shown(&self.haystack, place)).into(),
        }
    }

    /// Returns the lines of a range, counted from 0.
    pub(super) fn line_range(&self, range: &Range<usize>) -> Range<usize> {
        let lines = self.haystack.lines();
        lines.index_of(range.start)..lines.index_of(range.end.saturating_sub(1).max(range.start)) + 1
    }

    /// Places a hunk of only added lines between its neighbours, which must be beside each other.
    pub(super) fn between(
        &mut self,
        number: usize,
        change: &LineChange,
        neighbours: [usize; 2],
    ) -> Result<(), Kind> {
        let [above, below] = neighbours.map(|hunk| {
            let inert = self.inert.iter().find(|(number, _)| *number == hunk);
            let found = self.found.iter().find(|found| found.number == hunk);
            inert.map(|(_, lines)| lines.clone()).or_else(|| Some(self.line_range(&found?.found.range)))
        });
        match (above, below) {
            (Some(above), Some(below)) if above.end == below.start => {
                self.check_added(&change.lines)?;
                self.insert_alone(number, above.end, change)
            }
            _ => Err(Kind::NoPlaceBetween),
        }
    }

    /// Makes the problem that these lines are not in the file.
    pub(super) fn mismatch(&mut self, lines: &[Line]) -> Kind {
        let old: Vec<&[u8]> = lines.iter().filter_map(Line::before).map(str::as_bytes).collect();
        let new: Vec<&[u8]> = lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
        let expected = lines.iter().filter_map(Line::before).take(EXPECTED).map(String::from).collect();
        Kind::HunkContextMismatch { near: Box::new(self.near(&old, &new)), expected }
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
        if let Some(anchor) = scope.unknown.first().or(Some(innermost).filter(|_| scope.is_part)) {
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
}

/// Returns the lines between the anchor and these lines. An equal place there would be meant rather than these lines.
fn nearer(scope: &find::SearchScope, found: &Range<usize>) -> Vec<Range<usize>> {
    let nearest = scope.anchor_lines.iter().rev().find(|anchor| **anchor < found.start);
    nearest.map(|anchor| *anchor..found.start).into_iter().collect()
}

/// Returns whether a hunk has enough lines that stay to know its place by them.
fn shows_its_place(lines: &[Line]) -> bool {
    let stays = |line: &&Line| matches!(line, Line::Context(text) if is_telling(text.as_bytes()));
    lines.iter().filter(stays).count() > 1
}
