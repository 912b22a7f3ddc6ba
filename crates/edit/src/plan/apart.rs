//! The blank lines that set a definition apart from its neighbours: they come and go with it.
//!
//! A definition that goes takes those of one side with it, so that its neighbours are as far apart as the farther of them was
//! from it. Where it is the first or the last of its block, the distance to that end of the block stays. What comes beside a
//! definition is as far from it as its neighbour there was; a definition of several lines also counts its neighbour on the
//! other side. The end of a block is a line that is less indented, or the end of the file.

use core::ops::Range;

use crate::follow::CurrentLines;
use crate::patch::Part;
use crate::text::Lines;

/// What is between a definition and what stands next on one side of it.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// How many blank lines.
    blank: usize,
    /// Whether what stands next is the end of the block.
    is_edge: bool,
}

/// Returns the lines that go with a definition: its own, and the blank lines on one side of it.
pub(super) fn with_gap(lines: &Lines<'_>, definition: CurrentLines) -> Range<usize> {
    let (first, end) = (definition.first(), definition.first() + definition.count());
    let (above, below) = gaps(lines, definition);
    let takes_above = match (above.is_edge, below.is_edge) {
        (_, true) => true,
        (true, false) => false,
        (false, false) => above.blank <= below.blank,
    };
    if takes_above { first - above.blank..end } else { first..end + below.blank }
}

/// Returns how many blank lines go between a definition and what comes on this side of it, at this place. Of a definition
/// that has changed only the place is known.
pub(super) fn between(
    lines: &Lines<'_>,
    part: Part,
    place: usize,
    definition: Option<CurrentLines>,
) -> usize {
    let Some(definition) = definition else {
        return match part {
            Part::Above => blank_above(lines, place),
            Part::Whole | Part::Below => blank_below(lines, place),
        };
    };
    let (above, below) = gaps(lines, definition);
    let (own, other) = if part == Part::Above { (above, below) } else { (below, above) };
    match (own.is_edge, other.is_edge) {
        (true, true) => 0,
        (true, false) => other.blank,
        // Constants, one below the other, are no reason to keep away from the functions on the other side.
        (false, false) if definition.count() > 1 => own.blank.max(other.blank),
        (false, _) => own.blank,
    }
}

/// Returns how many of these lines are blank before the first that is not.
pub(super) fn leading_blank<'l>(lines: impl Iterator<Item = &'l [u8]>) -> usize {
    lines.take_while(|line| is_blank(line)).count()
}

/// Returns whether these lines are blank, or none.
pub(super) fn are_blank(lines: &Lines<'_>, mut range: Range<usize>) -> bool {
    range.all(|line| is_blank(lines.content(line)))
}

fn gaps(lines: &Lines<'_>, definition: CurrentLines) -> (Gap, Gap) {
    let (first, end) = (definition.first(), definition.first() + definition.count());
    let (above, below) = (blank_above(lines, first), blank_below(lines, end));
    let own = if definition.count() == 0 { &[] } else { indentation(lines.content(first)) };
    let is_edge = |next: Option<usize>| {
        next.is_none_or(|next| {
            let indent = indentation(lines.content(next));
            indent.len() < own.len() && own.starts_with(indent)
        })
    };
    let after = end + below;
    let next_below = (after < lines.len()).then_some(after);
    (
        Gap { blank: above, is_edge: is_edge((first - above).checked_sub(1)) },
        Gap { blank: below, is_edge: is_edge(next_below) },
    )
}

fn blank_above(lines: &Lines<'_>, place: usize) -> usize {
    leading_blank((0..place).rev().map(|line| lines.content(line)))
}

fn blank_below(lines: &Lines<'_>, place: usize) -> usize {
    leading_blank((place..lines.len()).map(|line| lines.content(line)))
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn indentation(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::NamedLines;
    use crate::text::Text;

    fn of(content: &str, first: usize, count: usize) -> (Text, CurrentLines) {
        let text = Text::new(content.into()).unwrap();
        let at = NamedLines::new(first, count).unwrap().within(text.lines().len()).unwrap();
        (text, at)
    }

    #[test]
    fn a_definition_that_goes_leaves_its_neighbours_as_far_apart_as_the_farther_one_was() {
        for (content, first, count, goes) in [
            ("a\n\n\nb\n\n\nc\n", 4, 1, 1..4),
            ("a\n\nb\n\n\nc\n", 3, 1, 1..3),
            ("a\n\n\nb\n\nc\n", 4, 1, 3..5),
            ("a\n\nb\nc\n", 3, 1, 2..3),
            ("a\nb\n\nc\n", 2, 1, 1..2),
            // At an end of the file or of the block.
            ("a\n\nb\n", 3, 1, 1..3),
            ("a\n \nb", 3, 1, 1..3),
            ("b\n\nc\n", 1, 1, 0..2),
            ("b\n\n", 1, 1, 0..1),
            ("{\n  b\n\n  c\n}\n", 2, 1, 1..3),
            ("{\n  b\n\n  c\n}\n", 4, 1, 2..4),
            ("{\n\n  b\n\n  c\n}\n", 3, 1, 2..4),
            ("class A:\n\tb\n\n\tc\n\n\nd\n", 4, 1, 2..4),
            // Spaces are not less than a tab.
            ("a\n\n\tb\n  c\n", 3, 1, 2..3),
        ] {
            let (text, at) = of(content, first, count);
            assert_eq!(with_gap(&text.lines(), at), goes, "{content:?}");
        }
    }

    #[test]
    fn what_comes_beside_a_definition_is_as_far_from_it_as_its_neighbours_are() {
        for (content, first, count, above, below) in [
            ("a\n\n\nb\n1\n\n\nc\n", 4, 2, 2, 2),
            ("a\n\nb\n1\n", 3, 2, 1, 1),
            ("b\n1\n\n\nc\n", 1, 2, 2, 2),
            ("b\n1\n", 1, 2, 0, 0),
            ("a\nb\n1\n\nc\n", 2, 2, 1, 1),
            // One of several lines without a blank one between them.
            ("x\n\na\nb\nc\n", 3, 1, 1, 0),
            ("x\n\na\nb\nc\n", 4, 1, 0, 0),
            ("{\n  a\n  1\n\n  b\n  2\n}\n", 2, 2, 1, 1),
            ("{\n  a\n  1\n\n  b\n  2\n}\n", 5, 2, 1, 1),
            ("A:\n  a\n  1\n\n\nB\n", 2, 2, 0, 0),
        ] {
            let (text, at) = of(content, first, count);
            let lines = text.lines();
            let beside = |part, place| between(&lines, part, place, Some(at));
            let found = (beside(Part::Above, at.first()), beside(Part::Below, at.first() + count));
            assert_eq!(found, (above, below), "{content:?}");
        }
        let (text, at) = of("a\n\n\nb\n1\n\nc\n", 4, 2);
        let lines = text.lines();
        assert_eq!(between(&lines, Part::Above, at.first(), None), 2);
        assert_eq!(between(&lines, Part::Below, at.first() + 2, None), 1);
    }
}
