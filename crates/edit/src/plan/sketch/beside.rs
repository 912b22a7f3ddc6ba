//! New lines beside a marker: whether they are new for certain, or may be meant for lines that the marker stands for.

use alloc::vec::Vec;
use core::ops::Range;

use super::{DefinitionPlace, Reader, are_alike, is_blank, is_same, is_telling};
use crate::problem::{Kind, SketchDoubt};

impl Reader<'_> {
    /// Returns whether the line at an edge can be found by itself. Where a blank line is shown between it and the marker, on
    /// this line, that may be the line of the file beside which it is new, unless it is one that is not repeated.
    pub(super) fn is_edge(&self, edge: Option<&str>, beside: usize) -> bool {
        let stands_once = |edge: &str| self.places(edge, 0..self.file.len()).len() == 1;
        !self.is_shown_blank(beside)
            || edge.is_some_and(|edge| is_telling(edge.as_bytes()) && stands_once(edge))
    }

    /// Refuses a segment beside which the sketch shows a blank line where the file has another: that would go without a
    /// word, or the new lines would not be beside the blank line that was shown for their place.
    pub(super) fn check_blanks(&self, i: usize, lines: &Range<usize>) -> Result<(), Kind> {
        let segment = &self.segments[i];
        let is_filled = |at: usize| self.file.get(at).is_some_and(|line| !is_blank(line));
        if let Some(above) = lines.start.checked_sub(1)
            && self.is_shown_blank(segment.first - 1)
            && is_filled(above)
        {
            return Err(self.uncertain(segment.first, SketchDoubt::Deletes, above..lines.start));
        }
        if self.is_shown_blank(segment.last() + 1) && is_filled(lines.end) {
            return Err(self.uncertain(segment.last(), SketchDoubt::Deletes, lines.end..lines.end + 1));
        }
        Ok(())
    }

    pub(super) fn is_shown_blank(&self, line: usize) -> bool {
        self.shown_line(line).is_some_and(|line| line.trim().is_empty())
    }

    /// Returns whether lines between a marker and a known line are new for certain: none stands among the lines that the
    /// marker stands for, none is like one of them, and no definition of theirs is in the file.
    pub(super) fn is_insertion(&self, lines: &[Option<&str>], stay: Range<usize>) -> bool {
        let is_other = |line: &Option<&str>| {
            let Some(line) = line else { return false };
            let is_alike = |other: &&[u8]| **other == *line.as_bytes() || are_alike(line.as_bytes(), other);
            let names = |one: &&DefinitionPlace| {
                self.shown_line(one.name_line) == Some(*line)
                    && self.outlines.file.iter().any(|known| is_same(known, one))
            };
            !self.file[stay.clone()].iter().any(|other| !is_blank(other) && is_alike(other))
                && !self.outlines.sketch.iter().any(|one| names(&one))
        };
        // The end of a whole new block is like that of others.
        let is_whole = balance(&shown(lines)) == Some(0);
        let tells = |line: &&Option<&str>| {
            line.is_none_or(|line| !line.trim().is_empty() && (!is_whole || is_telling(line.as_bytes())))
        };
        lines.iter().filter(tells).all(is_other)
    }

    /// Returns whether new lines, between which and their marker a blank line is shown, may have come in the place of lines
    /// of the file, given from the known line on: as far as another blank line, which may be the one that is shown. Each line
    /// that went has another in its place, and a definition does not go without a word.
    pub(super) fn may_replace(&self, new: &[Option<&str>], stay: impl Iterator<Item = usize>) -> bool {
        let mut stay = stay.skip_while(|at| is_blank(self.file[*at])).peekable();
        let mut went = Vec::new();
        while let Some(at) = stay.next_if(|at| !is_blank(self.file[*at])) {
            went.push(at);
        }
        let ends_at_blank = stay.next().is_some();
        let came = new.iter().flatten().filter(|line| !line.trim().is_empty()).count();
        let defines =
            |one: &DefinitionPlace| went.iter().any(|at| (one.first..=one.name_line).contains(&(at + 1)));
        ends_at_blank && (1..=came).contains(&went.len()) && !self.outlines.file.iter().any(defines)
    }

    /// Returns whether the lines that stay go on deeper than a new line above them: they belong to a block that it would cut.
    pub(super) fn cuts_block(&self, line: Option<&str>, stay: Range<usize>) -> bool {
        let next = self.file[stay].iter().find(|line| !is_blank(line));
        line.zip(next).is_some_and(|(line, next)| depth(next) > depth(line.as_bytes()))
    }

    /// Returns whether new lines would part a block from the line that it belongs to, the last of those that stay above it:
    /// one of them is less indented than the block, so it may have come in the place of that line.
    pub(super) fn beheads_block(&self, new: &[Option<&str>], stay: Range<usize>) -> bool {
        let Some(block) = self.file.get(stay.end).map(|line| depth(line)) else { return false };
        let head = self.file[stay].iter().rev().find(|line| !is_blank(line));
        let is_shallower = |line: &&str| !line.trim().is_empty() && depth(line.as_bytes()) < block;
        head.is_some_and(|head| depth(head) < block) && new.iter().flatten().any(is_shallower)
    }

    /// Returns whether the new line next to a known one, or the one at the marker, begins like the nearest line that stays, or
    /// closes a block or goes on with an expression that began outside of the new lines as that does: one may have come in the
    /// place of the other.
    pub(super) fn may_close(
        &self,
        new: &[Option<&str>],
        is_top: bool,
        kept: impl Iterator<Item = usize>,
    ) -> bool {
        let new = shown(new);
        let filled: Vec<&[u8]> =
            new.iter().map(|line| line.as_bytes()).filter(|line| !is_blank(line)).collect();
        let kept = kept.map(|at| self.file[at]).find(|line| !is_blank(line));
        let (Some(first), Some(last), Some(kept)) = (filled.first(), filled.last(), kept) else {
            return false;
        };
        let mark = |line: &[u8]| {
            let line = line.trim_ascii_start();
            MARKS.iter().find(|mark| line.starts_with(mark.as_bytes())).copied()
        };
        let next = if is_top { last } else { first };
        let own = mark(next);
        let closes_own = matches!(own, Some("}" | ")" | "]")) && balance(&new).is_some();
        let closes = own.is_some() && own == mark(kept) && depth(kept) == depth(next) && !closes_own;
        closes || is_telling(kept) && (begin_alike(first, kept) || begin_alike(last, kept))
    }

    /// Returns how many of the lines that were followed up from a known one are new ones' own. The end of a new block and the
    /// blank line below it are like those of the block before it: they are its own if the block would stay open without
    /// them, or if only blank lines are among them and the new lines belong to no block above.
    pub(super) fn own_end(&self, lines: &[Option<&str>], followed: usize, known: (usize, usize)) -> usize {
        let (k, at) = (known.0 - followed, known.1 - followed);
        let end = (at..known.1).take_while(|at| !is_telling(self.file[*at])).count();
        let new = &lines[..k];
        let Some(first) = new.iter().flatten().find(|line| !line.trim().is_empty()) else { return 0 };
        let is_whole = |new: &[Option<&str>]| balance(&shown(new)) == Some(0);
        let closes = leaves_open(new) && is_whole(&lines[..k + end]);
        let is_apart = is_whole(new)
            && self.is_empty(at..at + end)
            && depth(first.as_bytes()) <= depth(self.file[known.1]);
        if closes || is_apart { end } else { 0 }
    }

    pub(super) fn is_empty(&self, lines: Range<usize>) -> bool {
        self.file[lines].iter().all(|line| is_blank(line))
    }
}

/// With what a line begins that closes a block or goes on with an expression.
const MARKS: [&str; 8] = ["}", ")", "]", "\"\"\"", "'''", ".", "*/", "</"];

/// Returns whether a line closes a block or goes on with an expression.
pub(super) fn closes(line: &str) -> bool {
    line.trim() == "end" || MARKS.iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Returns whether the last of these lines, which says nothing by itself, may end a block that begins in them.
pub(super) fn ends_own_block(edge: &str, lines: &[Option<&str>]) -> bool {
    let begins = |line: &&str| !line.trim().is_empty() && depth(line.as_bytes()) <= depth(edge.as_bytes());
    let above = lines.split_last().map_or(&[][..], |(_, above)| above);
    !is_telling(edge.as_bytes()) && above.iter().flatten().any(begins)
}

/// Returns whether two lines have at least half of the shorter one in common at their beginnings.
fn begin_alike(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (a.trim_ascii(), b.trim_ascii());
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    same > 0 && 2 * same >= a.len().min(b.len())
}

fn shown<'l>(lines: &[Option<&'l str>]) -> Vec<&'l str> {
    lines.iter().filter_map(|line| *line).collect()
}

/// Returns how many brackets these lines leave open; `None` if they close one that they do not open. Brackets in strings
/// count too.
fn balance(lines: &[&str]) -> Option<usize> {
    let mut open = 0usize;
    for byte in lines.iter().flat_map(|line| line.bytes()) {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.checked_sub(1)?,
            _ => {}
        }
    }
    Some(open)
}

/// Returns how many more brackets a line opens than it closes.
pub(super) fn net(line: &[u8]) -> isize {
    let count = |brackets: &[u8]| line.iter().filter(|byte| brackets.contains(byte)).count().cast_signed();
    count(b"([{") - count(b")]}")
}

/// Returns whether a block that begins in these lines does not end in them.
pub(super) fn leaves_open(lines: &[Option<&str>]) -> bool {
    balance(&shown(lines)).is_some_and(|open| open > 0)
}

/// Returns by how many blanks and tabs a line is indented.
pub(super) fn depth(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
