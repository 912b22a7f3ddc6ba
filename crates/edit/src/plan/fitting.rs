//! What a refusal tells of the hunks that do fit: where, and which lines of the file they change. Whoever mends
//! the others then need not look for these again.

use alloc::vec::Vec;
use core::ops::Range;

use super::PlacedHunk;
use crate::edit::EditBuilder;
use crate::excerpt::around;
use crate::find::Haystack;
use crate::problem::Fitting;

/// How many lines are shown of one hunk, and of all.
const OF_ONE: usize = 12;
const OF_ALL: usize = 20;
/// How many hunks are told; how many there are is said anyway.
const HUNKS: usize = 20;
/// Longer lines are cut.
const COLUMNS: usize = 200;

/// The hunks that were placed, in their order.
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

/// The lines that go, or those around an insertion.
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
