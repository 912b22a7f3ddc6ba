//! The newlines of a text, counted once in steps, so that neither the number of a line nor the place of one needs a pass
//! over all that stands before it.

use alloc::vec::Vec;

/// How many bytes a step has: a lookup passes over one.
const STEP: usize = 4 * 1024;

/// The numbers of newlines up to some offsets of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Newlines {
    /// Offsets in ascending order, each with the number of newlines before it. The last is the end of the text.
    counted: Vec<(usize, usize)>,
}

impl Newlines {
    /// Counts the newlines of a whole text.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut newlines = Self::default();
        newlines.push(text);
        newlines
    }

    /// Counts those of the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (mut end, mut before) = self.counted.last().copied().unwrap_or_default();
        for step in bytes.chunks(STEP) {
            end += step.len();
            before += count(step);
            self.counted.push((end, before));
        }
    }

    /// Returns how many there are.
    pub(super) fn total(&self) -> usize {
        self.counted.last().map_or(0, |(_, total)| *total)
    }

    /// Returns how many there are before `offset` of the text that was counted.
    pub(super) fn before(&self, text: &[u8], offset: usize) -> usize {
        let (at, before) = self.last_step(|(end, _)| end <= offset);
        before + count(&text[at..offset])
    }

    /// Returns the offset after the newline with this number, counted from 1, of the text that was counted; `None` if
    /// there are fewer.
    pub(super) fn end_of(&self, text: &[u8], number: usize) -> Option<usize> {
        let (at, before) = self.last_step(|(_, newlines)| newlines < number);
        memchr::memchr_iter(b'\n', &text[at..])
            .nth((number - before).checked_sub(1)?)
            .map(|found| at + found + 1)
    }

    /// Returns the end of the last step of which this is true, with the number of newlines before it.
    fn last_step(&self, is_before: impl Fn((usize, usize)) -> bool) -> (usize, usize) {
        let steps = self.counted.partition_point(|step| is_before(*step));
        steps.checked_sub(1).map_or((0, 0), |last| self.counted[last])
    }
}

fn count(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}
