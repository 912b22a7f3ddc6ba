//! The definitions of a tree: one walk in order, which knows what stands above each node.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::extent::{LineStarts, trimmed};
use super::marks::{Mark, Marks, Named};
use super::{Definition, Doubt, IMPL};
use crate::Language;

/// How deep a tree may be.
const DEEP: usize = 10_000;
/// How deep definitions may be nested.
const NESTED: usize = 100;

/// Comments and attributes that stand together.
#[derive(Debug, Clone)]
struct Lead {
    range: Range<usize>,
    /// Whether the last of them is an attribute, which a blank line does not part from what follows.
    holds: bool,
}

/// The children of one node.
#[derive(Debug, Default)]
struct Level {
    /// What stands directly before the next child.
    lead: Option<Lead>,
    /// The range of a node that belongs to the definition inside of it, with what stands above it.
    whole: Option<Range<usize>>,
    /// The definition that contains the children.
    parent: Option<usize>,
    /// The first of the definitions whose children these are.
    owner: Option<usize>,
}

struct Collect<'t> {
    language: Language,
    text: &'t [u8],
    lines: LineStarts<'t>,
    found: Vec<Found>,
}

/// A definition whose end may still change.
struct Found {
    definition: Definition,
    range: Range<usize>,
}

/// Returns the definitions of a tree, in order; `None` if it is too deep.
pub(super) fn definitions(
    language: Language,
    tree: &Tree,
    text: &[u8],
    marks: &Marks,
) -> Option<Vec<Definition>> {
    let mut collect = Collect { language, text, lines: LineStarts::new(text), found: Vec::new() };
    let mut cursor = tree.walk();
    let mut levels = vec![Level::default()];
    loop {
        let node = cursor.node();
        if let Some(inner) = collect.enter(&node, marks, levels.last_mut()?)
            && cursor.goto_first_child()
        {
            if levels.len() == DEEP || collect.is_too_deep() {
                return None;
            }
            levels.push(inner);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(collect.finish());
            }
            let left = levels.pop()?;
            if let Some((owner, lead)) = left.owner.zip(left.lead) {
                collect.give_up(owner, &lead);
                levels.last_mut()?.lead = Some(lead);
            }
        }
    }
}

impl Collect<'_> {
    /// Takes a node, and returns the level of its children unless they are to be skipped.
    fn enter(&mut self, node: &Node<'_>, marks: &Marks, level: &mut Level) -> Option<Level> {
        let range = trimmed(self.text, node.byte_range());
        let parent = level.parent;
        match marks.mark(node) {
            Some(Mark::Comment) => self.lead(level, range, false),
            Some(Mark::Attribute) => self.lead(level, range, true),
            Some(Mark::Opaque) => level.lead = None,
            Some(Mark::Whole) => {
                let start = self.start(level, &range);
                // One inside another, as `declare` inside `export`.
                let whole = level.whole.clone().unwrap_or(start..range.end);
                return Some(Level { whole: Some(whole), parent, ..Level::default() });
            }
            Some(Mark::Definitions(names)) => {
                let start = self.start(level, &range);
                let range = level.whole.clone().unwrap_or(start..range.end);
                let owner = self.found.len();
                let doubt = self.doubt(node, &range, marks.is_shared(node));
                for name in names {
                    let definition = self.definition(name, &range, parent, doubt);
                    self.found.push(Found { definition, range: range.clone() });
                }
                let parent = self.found.len().checked_sub(1);
                return Some(Level { parent, owner: Some(owner), ..Level::default() });
            }
            None => {
                level.lead = None;
                return Some(Level { parent, ..Level::default() });
            }
        }
        None
    }

    /// Adds a comment or an attribute to those above it.
    fn lead(&self, level: &mut Level, range: Range<usize>, holds: bool) {
        let above = level.lead.take().filter(|above| self.is_joined(above, range.start));
        level.lead = match above {
            Some(above) => Some(Lead { range: above.range.start..range.end, holds }),
            None if self.lines.begins_line(range.start) => Some(Lead { range, holds }),
            None => None,
        };
    }

    /// Returns where a node begins, with what stands above it.
    fn start(&self, level: &mut Level, range: &Range<usize>) -> usize {
        let above = level.lead.take().filter(|above| self.is_joined(above, range.start));
        above.map_or(range.start, |above| above.range.start)
    }

    /// Returns whether nothing parts a lead from what begins at this offset.
    fn is_joined(&self, above: &Lead, at: usize) -> bool {
        let end = above.range.end.saturating_sub(1).max(above.range.start);
        above.holds || self.lines.line(at) <= self.lines.line(end) + 1
    }

    /// Returns why the lines of a definition are not exactly the definition.
    fn doubt(&self, node: &Node<'_>, range: &Range<usize>, is_shared: bool) -> Option<Doubt> {
        match (node.has_error(), is_shared) {
            (true, _) => Some(Doubt::Broken),
            (false, true) => Some(Doubt::Shared),
            (false, false) => self.lines.doubt(self.language, range),
        }
    }

    fn definition(
        &self,
        named: &Named,
        range: &Range<usize>,
        parent: Option<usize>,
        doubt: Option<Doubt>,
    ) -> Definition {
        let text = |range: &Range<usize>| name(&self.text[range.clone()]);
        let name = text(&named.name);
        let label = (named.kind == IMPL).then(|| match &named.of_trait {
            Some(of_trait) => format!("{IMPL} {} for {name}", text(of_trait)),
            None => format!("{IMPL} {name}"),
        });
        Definition {
            label,
            kind: named.kind,
            lines: self.lines.lines(range),
            name_line: self.lines.line(named.name.start),
            depth: parent.map_or(0, |parent| self.found[parent].definition.depth + 1),
            doubt,
            scope: named.scope.as_ref().map(text),
            parent,
            name,
        }
    }

    fn is_too_deep(&self) -> bool {
        self.found.last().is_some_and(|last| last.definition.depth > NESTED)
    }

    /// Takes comments from the end of a definition: they belong to what follows, as in TOML, where nothing ends a table.
    fn give_up(&mut self, owner: usize, lead: &Lead) {
        for found in &mut self.found[owner..] {
            // Those inside of it end before its comments anyway.
            if found.range.end >= lead.range.end && found.range.start < lead.range.start {
                found.range = trimmed(self.text, found.range.start..lead.range.start);
                found.definition.lines = self.lines.lines(&found.range);
            }
        }
    }

    fn finish(self) -> Vec<Definition> {
        self.found.into_iter().map(|found| found.definition).collect()
    }
}

/// Returns a name as it is shown: without quotes around it, and on one line.
fn name(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let unquoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    ['"', '\''].into_iter().find_map(unquoted).map(str::to_owned).unwrap_or(text)
}
