//! Places of a file that a tool has found, as the hunks of a patch.

use std::ops::Range;

use emend_edit::patch::PlaceChange;

/// Makes places of changes in the body of a file, which starts at this byte of it. They are in order.
pub(super) fn places(
    text: &str,
    start: usize,
    changes: impl IntoIterator<Item = (Range<usize>, String)>,
) -> Vec<PlaceChange> {
    let place = |change| {
        let (range, new) = with_neighbour(text, change);
        PlaceChange { offset: start + range.start, old: text[range].to_owned(), new, is_proven: false }
    };
    changes.into_iter().map(place).collect()
}

/// Makes places of changes that were proved to make of the file what was asked, all of them together.
pub(super) fn proven_places(
    text: &str,
    start: usize,
    changes: impl IntoIterator<Item = (Range<usize>, String)>,
) -> Vec<PlaceChange> {
    let places = places(text, start, changes).into_iter();
    places.map(|place| PlaceChange { is_proven: true, ..place }).collect()
}

/// A place must have a text: what only comes takes the character beside it along.
fn with_neighbour(text: &str, (range, new): (Range<usize>, String)) -> (Range<usize>, String) {
    if !range.is_empty() {
        return (range, new);
    }
    match (text[..range.start].chars().next_back(), text[range.end..].chars().next()) {
        (Some(before), _) => (range.start - before.len_utf8()..range.end, format!("{before}{new}")),
        (None, Some(after)) => (0..after.len_utf8(), format!("{new}{after}")),
        (None, None) => (range, new),
    }
}
