//! Whether a reading of a sketch needs nobody to look at it: if the sketch is one piece for which the lines beside its
//! markers leave one range, and no line of that is lost. A deletion has to be said, and a model does not say it.

use core::ops::Range;

use super::Outline;

/// Returns whether the sketch has one piece, the piece one range, and the proposal every line of that.
pub(super) fn is_sure(file: &[&str], sketch: &Outline<'_>, proposed: &[&str]) -> bool {
    let [lines] = &sketch.pieces[..] else { return false };
    let Some(range) = only_range(file, lines, (sketch.opens, sketch.closes)) else { return false };
    let (above, below) = (range.start, file.len() - range.end);
    if proposed.len() < above + below || proposed[..above] != file[..above] {
        return false;
    }
    let (merged, rest) = proposed[above..].split_at(proposed.len() - above - below);
    rest == &file[range.end..] && is_within(&file[range], merged) && is_within(lines, merged)
}

/// Returns the only range of the file between the first and the last of these lines. Where no marker stands above or below
/// them, it begins or ends with the file.
fn only_range(file: &[&str], lines: &[&str], (opens, closes): (bool, bool)) -> Option<Range<usize>> {
    let (first, last) = (lines.first()?, lines.last()?);
    let only = |line: &&str| {
        let mut places = (0..file.len()).filter(|at| file[*at] == *line);
        places.next().filter(|_| places.next().is_none())
    };
    let start = if opens { only(first)? } else { 0 };
    let end = if closes { only(last)? + 1 } else { file.len() };
    (start <= end).then_some(start..end)
}

/// Returns whether these lines are among the others, in order.
fn is_within(lines: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    lines.iter().all(|line| others.any(|other| other == line))
}
