//! Ranges of lines: those that were shown, and those whose numbers an edit leaves.

use std::ops::Range;

use emend_edit::plan::Action;

/// Returns those of these lines whose numbers are the same after an edit, which has made so many lines of the file.
///
/// Of lines below it that have moved, the client may name the old numbers: a call may be on its way before the answer to
/// another one comes.
pub(super) fn kept_numbers(action: &Action, numbered: &[Range<usize>], lines: usize) -> Vec<Range<usize>> {
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = action else { return Vec::new() };
    let (Some(first), Some(last)) = (edit.spans().first(), edit.spans().last()) else {
        return numbered.to_vec();
    };
    let above = 0..base.line_index(first.range.start);
    let below = match lines == base.line_count() {
        true => base.line_index(last.range.end) + 1..lines,
        false => 0..0,
    };
    let mut kept = Vec::new();
    for known in numbered {
        for part in [&above, &below] {
            let both = known.start.max(part.start)..known.end.min(part.end);
            if !both.is_empty() {
                insert_range(&mut kept, both);
            }
        }
    }
    kept
}

pub(super) fn insert_range(ranges: &mut Vec<Range<usize>>, new: Range<usize>) {
    ranges.push(new);
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one_and_others_stay_apart() {
        let mut ranges = Vec::new();
        for (new, expected) in [
            (4..6, vec![4..6]),
            (0..1, vec![0..1, 4..6]),
            (2..3, vec![0..1, 2..3, 4..6]),
            (1..2, vec![0..3, 4..6]),
            (5..5, vec![0..3, 4..6]),
            (3..9, vec![0..9]),
        ] {
            insert_range(&mut ranges, new);
            assert_eq!(ranges, expected);
        }
    }
}
