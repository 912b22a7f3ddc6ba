//! Anchors of a sketch: the lines of the file at which each segment begins and ends.
//!
//! A distinctive line that stands once in the file and once in the sketch is the same line. From the first and the last of
//! these in a segment, equal lines are followed to its edges. Where that stops before an edge, the line at the edge must
//! stand once in what is left above or below, equal lines on the way among them: these may be new. A segment without such
//! a line is looked for between its neighbours, by the lines at its edges alone. Where the text does not decide, a
//! definition does that begins or ends there, and has the name of one of the file.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::beside::leaves_open;
use super::{DefinitionPlace, Reader, is_blank, is_telling};
use crate::problem::{Kind, SketchDoubt};

/// How many lines that stay are compared with new ones beside a marker.
const COMPARED: usize = 60;

/// The lines of the file that a segment replaces, counted from 0.
#[derive(Clone, Debug)]
pub(super) struct Anchored {
    pub(super) lines: Range<usize>,
}

/// A line of a segment and the line of the file that it is.
type Pair = (usize, usize);

impl Reader<'_> {
    /// Returns the lines that each segment replaces.
    pub(super) fn anchor(&self) -> Result<Vec<Anchored>, Kind> {
        let pairs = self.unique_lines()?;
        let count = self.segments.len();
        let mut found: Vec<Option<Anchored>> = vec![None; count];
        loop {
            let (mut is_new, mut refused) = (false, None);
            for i in 0..count {
                if found[i].is_some() {
                    continue;
                }
                let window = self.window(i, &pairs, &found);
                match self.anchor_one(i, &pairs[i], window) {
                    Ok(anchored) => {
                        found[i] = Some(anchored);
                        is_new = true;
                    }
                    Err(kind) => refused = refused.or(Some(kind)),
                }
            }
            match refused {
                None => break,
                Some(kind) if !is_new => return Err(kind),
                Some(_) => {}
            }
        }
        let found: Vec<Anchored> = found.into_iter().flatten().collect();
        for (i, pair) in found.windows(2).enumerate() {
            let (above, below) = (&pair[0].lines, &pair[1].lines);
            let line = self.segments[i + 1].first;
            if above.end > below.start {
                let doubt = SketchDoubt::OutOfOrder { at: below.start + 1 };
                return Err(self.uncertain(line, doubt, below.clone()));
            }
            if self.file[above.end..below.start].iter().all(|line| is_blank(line)) {
                return Err(self.uncertain(
                    line,
                    SketchDoubt::NothingKept,
                    above.end.max(1) - 1..below.start + 1,
                ));
            }
        }
        Ok(found)
    }

    /// Returns the lines of each segment that stand once in the file and once in the sketch. They must be in order, except
    /// lines between two others of their segment that are: these are repeated on purpose, and new where they are.
    fn unique_lines(&self) -> Result<Vec<Vec<Pair>>, Kind> {
        let mut sketched: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, line) in self.sketch.lines() {
            *sketched.entry(line).or_default() += 1;
        }
        let mut all: Vec<(usize, Pair)> = Vec::new();
        for (i, segment) in self.segments.iter().enumerate() {
            for (k, line) in segment.lines.iter().enumerate() {
                if let Some(line) = line.filter(|line| is_telling(line.as_bytes()) && sketched[line] == 1)
                    && let &[at] = self.places(line, 0..self.file.len())
                {
                    all.push((i, (k, at)));
                }
            }
        }
        let ordered = longest_in_order(&all.iter().map(|(_, (_, at))| *at).collect::<Vec<_>>());
        let mut pairs = vec![Vec::new(); self.segments.len()];
        for (place, (i, pair)) in all.iter().enumerate() {
            if ordered.binary_search(&place).is_ok() {
                pairs[*i].push(*pair);
            }
        }
        for (i, (k, at)) in all {
            let (first, last): (Option<&Pair>, Option<&Pair>) = (pairs[i].first(), pairs[i].last());
            if first.is_none_or(|first| k < first.0) || last.is_none_or(|last| k > last.0) {
                let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
                return Err(self.uncertain(self.segments[i].first + k, doubt, at..at + 1));
            }
        }
        Ok(pairs)
    }

    /// Returns the lines that the other segments leave for this one.
    fn window(&self, i: usize, pairs: &[Vec<Pair>], found: &[Option<Anchored>]) -> Range<usize> {
        let end_of = |other: usize| match &found[other] {
            Some(found) => Some(found.lines.end),
            None => pairs[other].last().map(|(_, at)| at + 1),
        };
        let start_of = |other: usize| match &found[other] {
            Some(found) => Some(found.lines.start),
            None => pairs[other].first().map(|(_, at)| *at),
        };
        let start = (0..i).rev().find_map(end_of).unwrap_or(0);
        let end = (i + 1..self.segments.len()).find_map(start_of).unwrap_or(self.file.len());
        start..end.max(start)
    }

    fn anchor_one(&self, i: usize, pairs: &[Pair], window: Range<usize>) -> Result<Anchored, Kind> {
        let segment = &self.segments[i];
        let beyond = |(_, at): &&Pair| !window.contains(at);
        if let Some((k, at)) = pairs.iter().find(beyond) {
            let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
            return Err(self.uncertain(segment.first + k, doubt, *at..at + 1));
        }
        let no_anchor = || self.uncertain(segment.first, SketchDoubt::NoAnchor, 0..0);
        let (top, bottom) = (self.file_edge(i, true), self.file_edge(i, false));
        let is_within = |at: usize| window.contains(&at);
        if !top.is_none_or(is_within) || !bottom.is_none_or(|end| is_within(end - 1)) {
            return Err(no_anchor());
        }
        // One line at an edge of the file is the first and the last of its segment, unless it may be new beside a marker.
        let lone = |beside: usize| segment.lines.len() == 1 && self.is_edge(segment.lines[0], beside);
        let by_first = || match pairs.first() {
            Some(first) => self.first_line(i, *first, window.start),
            None => match bottom.filter(|_| lone(segment.first - 1)) {
                Some(end) => Ok(end - 1),
                None => self.edge(i, true, &window),
            },
        };
        let by_last = || match pairs.last() {
            Some(last) => self.last_line(i, *last, window.end),
            None => match top.filter(|_| lone(segment.last() + 1)) {
                Some(start) => Ok(start + 1),
                None => self.edge(i, false, &window).map(|at| at + 1),
            },
        };
        let start = top.map_or_else(by_first, Ok);
        let end = bottom.map_or_else(by_last, Ok);
        let by_text = start.is_ok() && end.is_ok();
        let start = start.or_else(|kind| self.first_of_definition(i).ok_or(kind))?;
        let end = end.or_else(|kind| self.last_of_definition(i).ok_or(kind))?;
        let outside = |&&(_, at): &&Pair| at < start || at >= end;
        if let Some((k, at)) = pairs.iter().find(outside) {
            let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
            return Err(self.uncertain(segment.first + k, doubt, *at..at + 1));
        }
        if start < window.start || end > window.end || start > end {
            return Err(no_anchor());
        }
        self.check_file_edges(i, &(start..end))?;
        if by_text {
            self.check_blanks(i, &(start..end))?;
        }
        Ok(Anchored { lines: start..end })
    }

    /// Returns where the line at an edge of a segment stands beside a marker, if that is one place in what is left for it.
    fn edge(&self, i: usize, above: bool, window: &Range<usize>) -> Result<usize, Kind> {
        let segment = &self.segments[i];
        let (line, beside, is_marked) = match above {
            true => (segment.first, segment.first - 1, i > 0 || self.sketch.is_kept_above()),
            false => {
                let is_marked = i + 1 < self.segments.len() || self.sketch.is_kept_below();
                (segment.last(), segment.last() + 1, is_marked)
            }
        };
        let edge = segment.lines[line - segment.first];
        match edge.map_or(&[][..], |edge| self.places(edge, window.clone())) {
            [one] if is_marked && self.is_edge(edge, beside) => Ok(*one),
            [] | [_] => Err(self.uncertain(segment.first, SketchDoubt::NoAnchor, 0..0)),
            several => Err(self.several(line, several)),
        }
    }

    /// Returns where a segment without a marker on its outer side begins or ends: with the file.
    fn file_edge(&self, i: usize, above: bool) -> Option<usize> {
        let lines = &self.segments[i].lines;
        let is_filled = |line: &[u8]| !is_blank(line);
        if above {
            let at = self.file.iter().position(|line| is_filled(line))?;
            let begins = i == 0 && !self.sketch.is_kept_above();
            (begins && (*lines.first()?)?.as_bytes() == self.file[at]).then_some(at)
        } else {
            let at = self.file.iter().rposition(|line| is_filled(line))?;
            let ends = i + 1 == self.segments.len() && !self.sketch.is_kept_below();
            (ends && (*lines.last()?)?.as_bytes() == self.file[at]).then_some(at + 1)
        }
    }

    /// Refuses a segment without a marker on its outer side where lines of the file are there.
    fn check_file_edges(&self, i: usize, lines: &Range<usize>) -> Result<(), Kind> {
        let segment = &self.segments[i];
        let has_text = |lines: Range<usize>| self.file[lines].iter().any(|line| !is_blank(line));
        if i == 0 && !self.sketch.is_kept_above() && has_text(0..lines.start) {
            return Err(self.uncertain(segment.first, SketchDoubt::NothingAbove, 0..lines.start));
        }
        let is_last = i + 1 == self.segments.len();
        if is_last && !self.sketch.is_kept_below() && has_text(lines.end..self.file.len()) {
            return Err(self.uncertain(
                segment.last(),
                SketchDoubt::NothingBelow,
                lines.end..self.file.len(),
            ));
        }
        Ok(())
    }

    /// Returns the line of the file with which a segment begins, from a line further down that is known.
    fn first_line(&self, i: usize, known: Pair, top: usize) -> Result<usize, Kind> {
        let segment = &self.segments[i];
        let (mut k, mut at) = known;
        while k > 0
            && at > top
            && segment.lines[k - 1].is_some_and(|line| line.as_bytes() == self.file[at - 1])
        {
            (k, at) = (k - 1, at - 1);
        }
        let edge = segment.lines[0];
        if k == 0 {
            // A line that stands once more on the way may be new there, and the edge further down.
            let again = edge.is_some_and(|edge| !self.places(edge, at + 1..known.1).is_empty());
            let places = edge.map_or(&[][..], |edge| self.places(edge, at..known.1));
            return if again { Err(self.several(segment.first, places)) } else { Ok(at) };
        }
        let (k, at) = self.below_own_end(&segment.lines, (k, at), known);
        let stay = top.max(at.saturating_sub(COMPARED))..at;
        let is_certain = || {
            let new = &segment.lines[..k];
            let shows_blank = self.is_shown_blank(segment.first - 1);
            let is_marked = i > 0 || self.sketch.is_kept_above();
            let is_doubtful = (is_marked && self.is_empty(top..at))
                || self.beheads_block(new, top..at)
                || self.may_close(new, true, stay.clone())
                || leaves_open(new)
                || (shows_blank && self.may_replace(new, (top..at).rev()));
            !is_doubtful && self.is_insertion(new, stay.clone())
        };
        let new = || self.uncertain(segment.first, SketchDoubt::NewAtEdge { is_above: true }, at..at + 1);
        match edge.map_or(&[][..], |edge| self.places(edge, top..known.1)) {
            // One that was followed is another line of the segment.
            [one] if *one < at && self.is_edge(edge, segment.first - 1) => Ok(*one),
            [_] => Err(new()),
            [] if edge.is_some() && is_certain() => Ok(at),
            [] => Err(new()),
            several => Err(self.several(segment.first, several)),
        }
    }

    /// Returns the line of the file before which a segment ends, from a line further up that is known.
    fn last_line(&self, i: usize, known: Pair, bottom: usize) -> Result<usize, Kind> {
        let segment = &self.segments[i];
        let (mut k, mut at) = (known.0 + 1, known.1 + 1);
        while k < segment.lines.len()
            && at < bottom
            && segment.lines[k].is_some_and(|line| line.as_bytes() == self.file[at])
        {
            (k, at) = (k + 1, at + 1);
        }
        let edge = segment.lines[segment.lines.len() - 1];
        if k == segment.lines.len() {
            let again = edge.is_some_and(|edge| !self.places(edge, known.1 + 1..at - 1).is_empty());
            let places = edge.map_or(&[][..], |edge| self.places(edge, known.1 + 1..at));
            return if again { Err(self.several(segment.last(), places)) } else { Ok(at) };
        }
        let stay = at..bottom.min(at + COMPARED);
        let is_certain = || {
            let new = &segment.lines[k..];
            let shows_blank = self.is_shown_blank(segment.last() + 1);
            let is_marked = i + 1 < self.segments.len() || self.sketch.is_kept_below();
            let is_doubtful = (is_marked && self.is_empty(at..bottom))
                || self.cuts_block(edge, stay.clone())
                || self.may_close(new, false, stay.clone())
                || self.last_of_definition(i).is_some_and(|end| end != at)
                || (shows_blank && self.may_replace(new, at..bottom));
            !is_doubtful && self.is_insertion(new, stay.clone())
        };
        let new = || self.uncertain(segment.last(), SketchDoubt::NewAtEdge { is_above: false }, at - 1..at);
        match edge.map_or(&[][..], |edge| self.places(edge, known.1 + 1..bottom)) {
            [one] if *one >= at && self.is_edge(edge, segment.last() + 1) => Ok(one + 1),
            [_] => Err(new()),
            [] if edge.is_some() && is_certain() => Ok(at),
            [] => Err(new()),
            several => Err(self.several(segment.last(), several)),
        }
    }

    fn several(&self, line: usize, places: &[usize]) -> Kind {
        let lines = places.iter().take(super::SHOWN).map(|at| at + 1).collect();
        self.uncertain(line, SketchDoubt::Several { lines }, 0..0)
    }

    /// Returns the line of the file with which a segment begins that begins with a definition.
    fn first_of_definition(&self, i: usize) -> Option<usize> {
        let segment = &self.segments[i];
        let begins = |one: &&DefinitionPlace| one.first == segment.first && one.is_certain;
        let one = self.outlines.sketch.iter().find(begins)?;
        let of_file = self.counterpart(one).filter(|of_file| of_file.is_certain)?;
        let above = |lines: Range<usize>| &self.file[lines.start - 1..lines.end - 1];
        let lead = above(of_file.first..of_file.name_line);
        let is_comment = |line: &&[u8]| {
            let line = line.trim_ascii();
            [&b"//"[..], b"#", b"--", b"/*", b"*", b";", b"%"].iter().any(|opener| line.starts_with(opener))
                && !line.starts_with(b"#[")
        };
        if one.first < one.name_line || lead.is_empty() {
            Some(of_file.first - 1)
        } else {
            // A comment above that is not shown stays; a decorator may be meant to go.
            lead.iter().all(is_comment).then_some(of_file.name_line - 1)
        }
    }

    /// Returns the line of the file before which a segment ends that ends with the end of a definition.
    fn last_of_definition(&self, i: usize) -> Option<usize> {
        let segment = &self.segments[i];
        let ends = |one: &&DefinitionPlace| {
            one.last == segment.last() && one.is_certain && self.is_ended(one, segment)
        };
        let one = self.outlines.sketch.iter().find(ends)?;
        self.counterpart(one).filter(|of_file| of_file.is_certain).map(|of_file| of_file.last)
    }
}

/// Returns the positions of the most numbers that are in order.
fn longest_in_order(numbers: &[usize]) -> Vec<usize> {
    // The position of the smallest last number of each length, and the position before each in its sequence.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut ordered: Vec<usize> =
        core::iter::successors(ends.last().copied(), |place| before[*place]).collect();
    ordered.reverse();
    ordered
}
