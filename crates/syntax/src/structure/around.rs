//! What stands around replaced places: it must be the same code afterwards. `a + b` in place of `f(a, b)` is one thing alone, and
//! another behind `-` or before `* 2`; and where a statement goes, the next one may become the body of an `if`.

use std::ops::Range;

use tree_sitter::Tree;

use crate::tree::walk;

/// The kinds of nodes in which any number of statements or definitions may stand, or words that their kinds have.
const LISTS: [&str; 9] = [
    "block",
    "body",
    "compound_statement",
    "declaration_list",
    "module",
    "program",
    "source_file",
    "statement_list",
    "translation_unit",
];

/// Returns the first place around or in which the code would be another.
pub(super) fn first_changed(
    (old, new): (&Tree, &Tree),
    text: &str,
    places: &[(Range<usize>, Range<usize>)],
) -> Option<usize> {
    let parted = places.iter().position(|(_, place)| !is_one_or_list(new, trimmed(text, place)));
    parted.or_else(|| {
        let map = |offset: usize| match places[..places.partition_point(|(old, _)| old.end <= offset)].last()
        {
            Some((old, new)) => offset - old.end + new.end,
            None => offset,
        };
        let outside_old = outside(old, |place| &place.0, places)
            .map(|(kind, range)| (kind, map(range.start)..map(range.end)));
        let outside_new = outside(new, |place| &place.1, places);
        let mut both = outside_old
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(outside_new.map(Some).chain(std::iter::repeat(None)));
        let differs = both.find(|(old, new)| old != new || old.is_none())?;
        let at = match differs {
            (Some((_, old)), Some((_, new))) => old.start.max(new.start),
            (Some((_, range)), None) | (None, Some((_, range))) => range.start,
            (None, None) => return None,
        };
        // The last place that begins before it, or the first.
        Some(places.partition_point(|(_, place)| place.start <= at).saturating_sub(1))
    })
}

type Places = [(Range<usize>, Range<usize>)];

/// Returns the nodes of a tree that are not inside of places.
fn outside<'t>(
    tree: &'t Tree,
    side: impl Fn(&(Range<usize>, Range<usize>)) -> &Range<usize> + Copy + 't,
    places: &'t Places,
) -> impl Iterator<Item = (u16, Range<usize>)> + 't {
    let is_inside = move |range: &Range<usize>| {
        let at = places.partition_point(|place| side(place).end < range.end);
        places.get(at).is_some_and(|place| side(place).start <= range.start && range.end <= side(place).end)
    };
    let nodes = walk(tree, move |node| !is_inside(&node.byte_range()));
    nodes.map(|node| (node.kind_id(), node.byte_range())).filter(move |(_, range)| !is_inside(range))
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..start + inside.trim().len()
}

/// Returns whether a part of a text is one node, or some of those in a list of statements.
fn is_one_or_list(tree: &Tree, range: Range<usize>) -> bool {
    if range.is_empty() {
        return true;
    }
    let Some(node) = tree.root_node().descendant_for_byte_range(range.start, range.end) else { return true };
    let mut cursor = node.walk();
    let children: Vec<Range<usize>> = node.children(&mut cursor).map(|child| child.byte_range()).collect();
    let is_list = LISTS.iter().any(|kind| node.kind().contains(kind))
        && children.iter().any(|child| child.start == range.start)
        && children.iter().any(|child| child.end == range.end);
    node.byte_range() == range || is_list
}
