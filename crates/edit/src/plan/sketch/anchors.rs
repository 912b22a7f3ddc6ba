//! Anchors of a sketch: the lines of the file at which each segment begins and ends.
//!
//! A distinctive line that stands once in the file and once in the sketch is the same line. From the first and the last of
//! these in a segment, equal lines are followed to its edges. Where that stops before an edge, the line at the edge may
//! stand at several places in what is left above or below. Each is a reading of the segment, and only one may be possible:
//! the others would lose lines without a word. A segment without a distinctive line is read by the lines at both its
//! edges. Where the text does not decide, a definition does that begins or ends there, and has the name of one of the file.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::beside::{closes, depth, ends_own_block, leaves_open, net};
use super::{DefinitionPlace, REMOVAL, Reader, are_alike, is_blank, is_same, is_telling, likeness};
use crate::patch::Line;
use crate::problem::{Kind, SketchDoubt};

/// How many lines that stay are compared with new ones beside a marker.
const COMPARED: usize = 60;
/// How many readings of a segment are compared; a segment with more is not certain.
const READINGS: usize = 24;
/// A line of a segment and the line of the file that it is.
pub(super) type Pair = (usize, usize);

impl Reader<'_> {
    /// Returns the lines that each segment replaces.
    pub(super) fn anchor(&self) -> Result<Vec<Range<usize>>, Kind> {
        let pairs = self.unique_lines()?;
        let count = self.segments.len();
        let mut found: Vec<Option<Range<usize>>> = vec![None; count];
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
        let found: Vec<Range<usize>> = found.into_iter().flatten().collect();
        for (i, pair) in found.windows(2).enumerate() {
            let (above, below) = (&pair[0], &pair[1]);
            let line = self.segments[i + 1].first;
            if above.end > below.start {
                let doubt = SketchDoubt::OutOfOrder { at: below.start + 1 };
                return Err(self.uncertain(line, doubt, below.clone()));
            }
            if self.is_empty(above.end..below.start) {
                return Err(self.uncertain(
                    line,
                    SketchDoubt::NothingKept,
                    above.end.max(1) - 1..below.start + 1,
                ));
            }
        }
        Ok(found)
    }

    /// Checks what these lines of a segment take away in the place of these lines of the file.
    fn check(&self, i: usize, own: Range<usize>, lines: &Range<usize>) -> Result<(), Kind> {
        let changes = self.changes(i, own.clone(), lines.clone());
        let filled = |line: &&str| !line.trim().is_empty();
        let changed = || changes.iter().filter(|line| !line.is_context());
        let went = changed().filter_map(Line::before).filter(|line| is_telling(line.as_bytes())).count();
        let came = changed().filter_map(Line::after).filter(filled).count();
        let is_lost = |kind: &Kind| match kind {
            Kind::UncertainSketch(one) => {
                went > came || matches!(one.doubt, SketchDoubt::LosesDefinition { .. })
            }
            _ => false,
        };
        self.lost(i, (own.start, lines.start), &changes).map(drop).or_else(|kind| match is_lost(&kind) {
            true => Err(kind),
            false => Ok(()),
        })
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
        // The lines at the edges stand in the file. Others may be copies of lines from elsewhere.
        let is_edge = |(i, (k, _)): &(usize, Pair)| *k == 0 || k + 1 == self.segments[*i].lines.len();
        let edges: Vec<usize> = all.iter().filter(|one| is_edge(one)).map(|(_, (_, at))| *at).collect();
        let are_ordered = edges.is_sorted();
        let mut beyond = edges.iter().peekable();
        let mut last = None;
        let fits = |one: &&(usize, Pair)| {
            let at = one.1.1;
            if is_edge(one) {
                last = beyond.next();
                return true;
            }
            !are_ordered || last.is_none_or(|last| *last < at) && beyond.peek().is_none_or(|next| at < **next)
        };
        let fitting: Vec<(usize, Pair)> = all.iter().filter(fits).copied().collect();
        let ordered = longest_in_order(&fitting.iter().map(|(_, (_, at))| *at).collect::<Vec<_>>());
        let mut pairs = vec![Vec::new(); self.segments.len()];
        for (i, pair) in ordered.into_iter().map(|place| fitting[place]) {
            pairs[i].push(pair);
        }
        for one in all {
            let (i, (k, at)) = one;
            let (first, last): (Option<&Pair>, Option<&Pair>) = (pairs[i].first(), pairs[i].last());
            // A line that goes between two known ones may be moved.
            let goes = |own: &Vec<Pair>| {
                own.first().zip(own.last()).is_some_and(|(first, last)| first.1 < at && at < last.1)
            };
            let is_beyond = first.is_none_or(|first| k < first.0) || last.is_none_or(|last| k > last.0);
            if is_beyond && (is_edge(&one) || !pairs.iter().any(goes)) {
                let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
                return Err(self.uncertain(self.segments[i].first + k, doubt, at..at + 1));
            }
        }
        Ok(pairs)
    }

    /// Returns the lines that the other segments leave for this one.
    fn window(&self, i: usize, pairs: &[Vec<Pair>], found: &[Option<Range<usize>>]) -> Range<usize> {
        let end_of = |other: usize| match &found[other] {
            Some(found) => Some(found.end),
            None => pairs[other].last().map(|(_, at)| at + 1),
        };
        let start_of = |other: usize| match &found[other] {
            Some(found) => Some(found.start),
            None => pairs[other].first().map(|(_, at)| *at),
        };
        let start = (0..i).rev().find_map(end_of).unwrap_or(0);
        let end = (i + 1..self.segments.len()).find_map(start_of).unwrap_or(self.file.len());
        start..end.max(start)
    }

    fn anchor_one(&self, i: usize, pairs: &[Pair], window: Range<usize>) -> Result<Range<usize>, Kind> {
        let segment = &self.segments[i];
        let refuse_beyond = |lines: &Range<usize>| match pairs.iter().find(|(_, at)| !lines.contains(at)) {
            Some((k, at)) => {
                let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
                Err(self.uncertain(segment.first + k, doubt, *at..at + 1))
            }
            None => Ok(()),
        };
        refuse_beyond(&window)?;
        let no_anchor = || self.uncertain(segment.first, SketchDoubt::NoAnchor, 0..0);
        let (top, bottom) = (self.file_edge(i, pairs, true), self.file_edge(i, pairs, false));
        let read = match (pairs.first(), pairs.last()) {
            (Some(first), Some(last)) => {
                let start = top.map_or_else(|| self.edge(i, *first, &window, true), Ok);
                (start, bottom.map_or_else(|| self.edge(i, *last, &window, false), Ok))
            }
            _ => match self.by_edges(i, (top, bottom), &window) {
                Ok(lines) => (Ok(lines.start), Ok(lines.end)),
                Err(kind) => (top.ok_or_else(|| kind.clone()), bottom.ok_or(kind)),
            },
        };
        let by_text = read.0.is_ok() && read.1.is_ok();
        let start = read.0.or_else(|kind| self.first_of_definition(i).ok_or(kind))?;
        let end = read.1.or_else(|kind| self.last_of_definition(i).ok_or(kind))?;
        refuse_beyond(&(start..end))?;
        if start < window.start || end > window.end || start > end {
            return Err(no_anchor());
        }
        self.check_file_edges(i, &(start..end))?;
        if by_text {
            self.check_blanks(i, &(start..end))?;
        }
        Ok(start..end)
    }

    /// Reads a segment without a distinctive line by the lines at its edges, or by the edges of the file.
    fn by_edges(
        &self,
        i: usize,
        file_edges: (Option<usize>, Option<usize>),
        window: &Range<usize>,
    ) -> Result<Range<usize>, Kind> {
        let (options, line) = self.edge_readings(i, file_edges, window);
        // A bracket at the end of the file says little: a marker may be missing below it.
        let is_outer = file_edges.0.is_some() || file_edges.1.is_some();
        let lines = &self.segments[i].lines;
        let tells = |end: Option<usize>, edge: Option<&Option<&str>>| {
            end.is_none() || !edge.copied().flatten().is_none_or(closes)
        };
        let tells = tells(file_edges.0, lines.first())
            && (tells(file_edges.1, lines.last()) || self.last_of_definition(i) == file_edges.1);
        // Where it changes nothing, its place does not matter. If its last line is in it twice, one of them may be new.
        let stays = |range: &&Range<usize>| {
            self.changes(i, 0..lines.len(), (*range).clone()).iter().all(Line::is_context)
        };
        let is_once =
            |edge: Option<&Option<&str>>| lines.iter().filter(|line| Some(*line) == edge).count() == 1;
        let is_sure = is_outer && is_once(lines.first()) && is_once(lines.last());
        if let Some(same) = options.iter().find(stays).filter(|_| is_sure) {
            return Ok(same.clone());
        }
        if options.len() == READINGS || is_outer && options.len() > usize::from(tells) {
            let lines = options.iter().map(|lines| lines.start + 1).take(super::SHOWN).collect();
            return Err(self.uncertain(line, SketchDoubt::Several { lines }, 0..0));
        }
        let read = self.only_reading(i, 0..self.segments[i].lines.len(), &options, window, line)?;
        // A marker stands for something.
        let is_beside = (i > 0 || file_edges.0.is_some() || !self.is_empty(0..read.start))
            && (i + 1 < self.segments.len()
                || file_edges.1.is_some()
                || !self.is_empty(read.end..self.file.len()));
        is_beside.then_some(read).ok_or_else(|| self.uncertain(line, SketchDoubt::NoAnchor, 0..0))
    }

    /// Returns the readings of a segment by its edges, and its line that has several places.
    fn edge_readings(
        &self,
        i: usize,
        file_edges: (Option<usize>, Option<usize>),
        window: &Range<usize>,
    ) -> (Vec<Range<usize>>, usize) {
        let segment = &self.segments[i];
        let places = |line: usize, beside: usize| match segment.lines[line - segment.first] {
            Some(edge) if self.is_edge(Some(edge), beside) => self.places(edge, window.clone()).to_vec(),
            _ => Vec::new(),
        };
        let starts = file_edges.0.map_or_else(|| places(segment.first, segment.first - 1), |at| vec![at]);
        let ends = file_edges
            .1
            .map_or_else(|| places(segment.last(), segment.last() + 1), |end| vec![end.saturating_sub(1)]);
        let most = 2 * segment.lines.len() + COMPARED;
        // One line may be the edge on both sides.
        let is_possible = |lines: &Range<usize>| !lines.is_empty() && lines.len() <= most;
        let pairs = starts.iter().flat_map(|start| ends.iter().map(|end| *start..end + 1));
        let options: Vec<Range<usize>> = pairs.filter(is_possible).take(READINGS).collect();
        let line = if starts.len() > 1 { segment.first } else { segment.last() };
        (options, line)
    }

    /// Returns the one of these lines of the file that these lines of a segment can replace.
    fn only_reading(
        &self,
        i: usize,
        own: Range<usize>,
        options: &[Range<usize>],
        within: &Range<usize>,
        line: usize,
    ) -> Result<Range<usize>, Kind> {
        let check = |lines: &Range<usize>| self.check(i, own.clone(), lines);
        let mut left = options.iter().filter(|lines| options.len() == 1 || check(lines).is_ok());
        let Some(one) = left.next() else {
            let none = || self.uncertain(line, SketchDoubt::NoAnchor, 0..0);
            return Err(options.first().and_then(|lines| check(lines).err()).unwrap_or_else(none));
        };
        let is_best = options.len() == 1 || self.is_best(i, own.clone(), one, within);
        let is_of = |end: Option<usize>, at: usize| end.is_none_or(|end| end == at);
        let is_of_definition = (own.start > 0 || is_of(self.first_of_definition(i), one.start))
            && (own.end < self.segments[i].lines.len() || is_of(self.last_of_definition(i), one.end));
        let mut is_only = || left.all(|other| self.is_same_change(i, own.clone(), one, other));
        let are_all = options.len() < READINGS || options.last().is_some_and(|last| check(last).is_err());
        if are_all && is_of_definition && is_best && is_only() {
            return Ok(one.clone());
        }
        let at =
            |lines: &Range<usize>| if line == self.segments[i].first { lines.start } else { lines.end - 1 };
        let mut lines: Vec<usize> = options.iter().map(|lines| at(lines) + 1).take(super::SHOWN).collect();
        lines.sort_unstable();
        lines.dedup();
        Err(self.uncertain(line, SketchDoubt::Several { lines }, 0..0))
    }

    /// Returns whether these lines of the file explain the lines of a segment better than all others: brackets stay in
    /// balance, and few of the lines that are new here are like some that only another reading has.
    fn is_best(&self, i: usize, own: Range<usize>, one: &Range<usize>, within: &Range<usize>) -> bool {
        let segment = &self.segments[i];
        let is_new = |number: usize| {
            let holds = |one: &&DefinitionPlace| (one.first..=one.last).contains(&number);
            let mut whole =
                self.outlines.sketch.iter().filter(holds).filter(|one| self.is_whole(one, segment));
            whole.any(|one| !self.outlines.file.iter().any(|known| is_same(known, one)))
        };
        let mut number = segment.first + own.start;
        let changes = self.changes(i, own, one.clone());
        let (mut went, mut came): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let (mut open, mut at) = (0, one.start);
        // The line of the file above new lines, if it begins no block there.
        let mut above: Option<&str> = None;
        for line in &changes {
            match (line.before(), line.after()) {
                (Some(old), None) => {
                    open -= net(old.as_bytes());
                    went.push(old);
                }
                (None, Some(REMOVAL)) => return false,
                (None, Some(new)) => {
                    let is_deeper = |above: &str| depth(new.as_bytes()) > depth(above.as_bytes());
                    if !new.trim().is_empty() && above.take().is_some_and(is_deeper) {
                        return false;
                    }
                    open += net(new.as_bytes());
                    came.extend(Some(new).filter(|_| !is_new(number)));
                }
                (_, kept) => {
                    let begins = |line: &&str| self.cuts_block(Some(line), at + 1..self.file.len());
                    let filled = kept.filter(|line| !line.trim().is_empty());
                    above = filled.map_or(above, |line| Some(line).filter(|line| !begins(line)));
                }
            }
            at += usize::from(line.before().is_some());
            number += usize::from(line.after().is_some());
        }
        let others = || self.file[within.start..one.start].iter().chain(&self.file[one.end..within.end]);
        let is_like = |new: &str, old: &[u8]| new.as_bytes() == old || are_alike(new.as_bytes(), old);
        let is_elsewhere = |new: &&&str| {
            !went.iter().any(|old| is_like(new, old.as_bytes())) && others().any(|old| is_like(new, old))
        };
        let telling: Vec<&str> = came.into_iter().filter(|new| is_telling(new.as_bytes())).collect();
        open == 0 && 2 * telling.iter().filter(is_elsewhere).count() <= telling.len()
    }

    /// Returns whether the file is the same if these lines of a segment replace some or other lines of it.
    fn is_same_change(&self, i: usize, own: Range<usize>, one: &Range<usize>, other: &Range<usize>) -> bool {
        let all = one.start.min(other.start)..one.end.max(other.end);
        let new = || self.segments[i].lines[own.clone()].iter().flatten().map(|line| line.as_bytes());
        let after = |lines: &Range<usize>| {
            let above = self.file[all.start..lines.start].iter().copied();
            above.chain(new()).chain(self.file[lines.end..all.end].iter().copied()).collect::<Vec<_>>()
        };
        one.len() == other.len() && after(one) == after(other)
    }

    /// Returns where a segment without a marker on its outer side begins or ends: with the file, if the line at that edge is
    /// that of the file, or if each line beyond the known one is like the one of the file.
    fn file_edge(&self, i: usize, pairs: &[Pair], above: bool) -> Option<usize> {
        let lines = &self.segments[i].lines;
        let is_outer = match above {
            true => i == 0 && !self.sketch.is_kept_above(),
            false => i + 1 == self.segments.len() && !self.sketch.is_kept_below(),
        };
        let is_filled = |line: &&[u8]| !is_blank(line);
        let first = self.file.iter().position(&is_filled).filter(|_| is_outer)?;
        let end = self.file.iter().rposition(is_filled)? + 1;
        let (edge, at) = if above { (lines.first()?, first) } else { (lines.last()?, end - 1) };
        let (new, old) = match (above, pairs.first(), pairs.last()) {
            (true, Some((k, known)), _) => (&lines[..*k], first..*known),
            (false, _, Some((k, known))) => (&lines[k + 1..], known + 1..end),
            _ => (&[][..], 0..0),
        };
        let are_like = |(new, old): (&Option<&str>, &&[u8])| {
            new.is_some_and(|new| new.as_bytes() == *old || likeness(new.as_bytes(), old).is_gt())
        };
        // What goes above a bracket may be all up to a later one if a marker is missing.
        let says_little = |edge: &str| new.contains(&None) && !is_telling(edge.as_bytes());
        let begins = match edge {
            Some(edge) => {
                edge.as_bytes() == self.file[at] && !says_little(edge)
                    || (!new.is_empty()
                        && new.len() == old.len()
                        && new.iter().zip(&self.file[old]).all(are_like))
            }
            None => false,
        };
        begins.then_some(if above { first } else { end })
    }

    /// Refuses a segment without a marker on its outer side where lines of the file are there.
    fn check_file_edges(&self, i: usize, lines: &Range<usize>) -> Result<(), Kind> {
        let segment = &self.segments[i];
        // Blank lines at the ends of the file must be shown too.
        let text = self.sketch.text();
        let is_shown = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
        let has_blank = (is_shown(text.lines().next()), is_shown(text.lines().next_back()));
        let has_text = |lines: Range<usize>, has_blank: bool| {
            self.file[lines].iter().any(|line| !has_blank || !is_blank(line))
        };
        if i == 0 && !self.sketch.is_kept_above() && has_text(0..lines.start, has_blank.0) {
            return Err(self.uncertain(segment.first, SketchDoubt::NothingAbove, 0..lines.start));
        }
        let is_last = i + 1 == self.segments.len();
        if is_last && !self.sketch.is_kept_below() && has_text(lines.end..self.file.len(), has_blank.1) {
            return Err(self.uncertain(
                segment.last(),
                SketchDoubt::NothingBelow,
                lines.end..self.file.len(),
            ));
        }
        Ok(())
    }

    /// Returns the line of the file with which a segment begins, or before which it ends, from a line inside it that is known.
    fn edge(&self, i: usize, known: Pair, window: &Range<usize>, is_top: bool) -> Result<usize, Kind> {
        let segment = &self.segments[i];
        let lines = &segment.lines[..];
        // From the known line to the edge.
        let (own, outer): (Vec<Option<&str>>, Vec<usize>) = match is_top {
            true => {
                (lines[..known.0].iter().rev().copied().collect(), (window.start..known.1).rev().collect())
            }
            false => (lines[known.0 + 1..].to_vec(), (known.1 + 1..window.end).collect()),
        };
        let is_it = |line: Option<&str>, at: usize| line.is_some_and(|line| line.as_bytes() == self.file[at]);
        let mut followed = own.iter().zip(&outer).take_while(|(line, at)| is_it(**line, **at)).count();
        let edge = if is_top { lines[0] } else { lines[lines.len() - 1] };
        let nearest = outer.iter().position(|at| is_it(edge, *at));
        let border = |followed: usize| if is_top { known.1 - followed } else { known.1 + 1 + followed };
        if followed == own.len() && nearest.is_none_or(|nearest| nearest + 1 >= followed) {
            return Ok(border(followed));
        }
        if is_top {
            followed -= self.own_end(lines, followed, known);
        }
        let (at, count) = (border(followed), own.len() - followed);
        let new = if is_top { &lines[..count] } else { &lines[lines.len() - count..] };
        let (number, beside) =
            if is_top { (segment.first, segment.first - 1) } else { (segment.last(), segment.last() + 1) };
        let is_certain = || {
            let rest = if is_top { window.start..at } else { at..window.end };
            let stay = rest.start.max(at.saturating_sub(COMPARED))..rest.end.min(at + COMPARED);
            let is_marked = if is_top {
                i > 0 || self.sketch.is_kept_above()
            } else {
                i + 1 < self.segments.len() || self.sketch.is_kept_below()
            };
            let outer = || outer[followed..].iter().copied();
            let is_doubtful = match is_top {
                true => self.beheads_block(new, rest.clone()) || leaves_open(new),
                false => {
                    self.cuts_block(edge, stay.clone())
                        || self.last_of_definition(i).is_some_and(|end| end != at)
                }
            } || is_marked && self.is_empty(rest)
                || self.may_close(new, is_top, outer())
                || self.is_shown_blank(beside) && self.may_replace(new, outer());
            !is_doubtful && self.is_insertion(new, stay)
        };
        // A blank line that is shown may be the line of the file beside new ones.
        let is_shown = !self.is_edge(edge, beside);
        let closes = is_top && edge.is_some_and(closes);
        if nearest.is_none() && edge.is_some() && !closes && is_certain() {
            return Ok(at);
        }
        // A line such as the beginning of a comment or the end of a block may be new, and have its like among the lines that
        // were followed.
        let is_among = nearest.is_some_and(|nearest| nearest < followed);
        let is_own = edge.is_some_and(|edge| match is_top {
            true => !closes && !is_telling(edge.as_bytes()),
            false => ends_own_block(edge, new),
        });
        if !is_shown && (nearest.is_none() || (is_own && is_among && !is_certain())) {
            let at = if is_top { at } else { at - 1 };
            return Err(self.uncertain(number, SketchDoubt::NewAtEdge { is_above: is_top }, at..at + 1));
        }
        // Each place of the edge, and below or above each blank line.
        let reading = |at: usize| match (is_it(edge, at), is_shown && is_blank(self.file[at])) {
            (false, false) => None,
            (is_edge, _) if is_top => Some(at + usize::from(!is_edge)..known.1 + 1),
            (is_edge, _) => Some(known.1..at + usize::from(is_edge)),
        };
        let mut options: Vec<_> = outer.iter().filter_map(|at| reading(*at)).take(READINGS).collect();
        options.dedup();
        let (own, within) = match is_top {
            true => (0..known.0 + 1, window.start..known.1 + 1),
            false => (known.0..lines.len(), known.1..window.end),
        };
        let read = self.only_reading(i, own, &options, &within, number)?;
        Ok(if is_top { read.start } else { read.end })
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
