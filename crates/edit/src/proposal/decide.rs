//! Whether a reading of a sketch needs nobody to look at it: if the sketch is one piece for which the lines beside its
//! markers leave one range, and no line of either is lost or there twice. A deletion has to be said, and a model does not say it.

use alloc::vec;
use core::ops::Range;

use super::Outline;

/// The most pairs of lines that are compared.
const MOST_PAIRS: usize = 4_000_000;

/// Returns whether the sketch has one piece, the piece one range, and the proposal every line of both there and none twice.
pub(super) fn is_sure(file: &[&str], sketch: &Outline<'_>, proposed: &[&str]) -> bool {
    let [lines] = &sketch.pieces[..] else { return false };
    let Some(range) = only_range(file, sketch, 0) else { return false };
    let (above, below) = (range.start, file.len() - range.end);
    if proposed.len() < above + below || proposed[..above] != file[..above] {
        return false;
    }
    let (merged, rest) = proposed[above..].split_at(proposed.len() - above - below);
    let range = &file[range.clone()];
    rest == &file[file.len() - below..]
        && is_within(range, merged)
        && is_within(lines, merged)
        && most_common(range, lines).is_some_and(|common| merged.len() == range.len() + lines.len() - common)
}

/// Returns the only range of the file between the first and the last line of a piece. Where no marker stands above or below
/// them, it begins or ends with the file.
pub(super) fn only_range(file: &[&str], sketch: &Outline<'_>, piece: usize) -> Option<Range<usize>> {
    let lines = &sketch.pieces[piece];
    let (first, last) = (lines.first()?, lines.last()?);
    let only = |line: &&str| {
        let mut places = (0..file.len()).filter(|at| file[*at] == *line);
        places.next().filter(|_| places.next().is_none())
    };
    let start = if sketch.is_open_above(piece) { only(first)? } else { 0 };
    let end = if sketch.is_open_below(piece) { only(last)? + 1 } else { file.len() };
    (start < end).then_some(start..end)
}

/// Returns whether these lines are among the others, in order.
fn is_within(lines: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    lines.iter().all(|line| others.any(|other| other == line))
}

/// Returns how many lines of one list can be those of the other in the same order, at most; `None` if the lists are too long
/// to be sure.
fn most_common(one: &[&str], other: &[&str]) -> Option<usize> {
    if one.len().saturating_mul(other.len()) > MOST_PAIRS {
        return None;
    }
    // The numbers for all beginnings of the other list, and for the beginning of the first one so far.
    let mut row = vec![0; other.len() + 1];
    for line in one {
        let mut diagonal = 0;
        for (at, beside) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if line == beside { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row.last().copied()
}
