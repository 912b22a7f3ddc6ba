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
        lines.iter().filter(|line| line.is_none_or(|line| !line.trim().is_empty())).all(is_other)
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

    pub(super) fn is_empty(&self, lines: Range<usize>) -> bool {
        self.file[lines].iter().all(|line| is_blank(line))
    }
}

/// Returns by how many blanks and tabs a line is indented.
fn depth(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
