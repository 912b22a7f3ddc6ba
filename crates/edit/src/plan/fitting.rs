//! The hunks that fit, as a refusal shows them: where they fit, and which lines they change. The caller need not search
//! for these again.

use alloc::vec::Vec;
use core::ops::Range;

use super::PlacedHunk;
use crate::edit::EditBuilder;
use crate::excerpt::around;
use crate::find::Haystack;
use crate::problem::Fitting;

/// How many lines are shown of one hunk.
const OF_ONE: usize = 12;
/// How many lines are shown of all hunks.
const OF_ALL: usize = 20;
/// How many hunks are shown; their number is reported anyway.
const HUNKS: usize = 20;
/// How many bytes of a line are shown.
const COLUMNS: usize = 200;

/// Returns the placed hunks, in order.
pub(super) fn fitting(h: &Haystack<'_>, placed: &[PlacedHunk], builder: &EditBuilder) -> Vec<Fitting> {
    let mut room = OF_ALL;
    placed
        .iter()
        .take(HUNKS)
        .map(|hunk| {
            let mut lines: Vec<usize> = Vec::new();
            for range in builder.ranges_of(hunk.number) {
                lines.extend(touched(h, &range).filter(|line| !lines.contains(line)).collect::<Vec<_>>());
            }
            lines.truncate(OF_ONE.min(room));
            room -= lines.len();
            let lines = lines
                .into_iter()
                .map(|line| (line + 1, around(h.lines().content(line), 0, COLUMNS)))
                .collect();
            Fitting { hunk: hunk.number, line: hunk.line, lines }
        })
        .collect()
}

/// Returns the lines that a range replaces, or those around an insertion.
fn touched(h: &Haystack<'_>, range: &Range<usize>) -> Range<usize> {
    let lines = h.lines();
    if lines.is_empty() {
        return 0..0;
    }
    if range.is_empty() {
        let next = lines.index_of(range.start);
        return next.saturating_sub(1)..next + 1;
    }
    lines.index_of(range.start)..lines.index_of(range.end - 1) + 1
}
