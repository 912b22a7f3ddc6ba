//! The definitions of a tree: one walk in order, which knows what stands above each node.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::banner::{self, Use};
use super::extent::{LineStarts, trimmed};
use super::lead::Lead;
use super::marks::{Mark, Marks, Named};
use super::{Definition, Doubt, Doubts, IMPL};
use crate::Language;

/// How deep a tree may be.
const DEEP: usize = 10_000;
/// How deep definitions may be nested.
const NESTED: usize = 100;

/// A node with what stands above it and belongs to it.
#[derive(Debug, Clone)]
struct Extent {
    range: Range<usize>,
    /// Whether more that stands above it may belong to it.
    is_open: bool,
}

/// The children of one node.
#[derive(Debug, Default)]
struct Level {
    /// What stands directly before the next child.
    lead: Option<Lead>,
    /// A node that belongs to the definition inside of it.
    whole: Option<Extent>,
    /// The definition that contains the children.
    parent: Option<usize>,
    /// The first of the definitions whose children these are.
    owner: Option<usize>,
    /// The end of the child before.
    end: usize,
    /// Where comments begin that follow the last other child and that something parts from it.
    remarks: Option<usize>,
    /// Whether a syntax error is around the children, so that nothing of them is certain.
    is_broken: bool,
}

struct Collect<'t> {
    language: Language,
    text: &'t [u8],
    lines: LineStarts<'t>,
    found: Vec<Found>,
    /// Whether there is a syntax error between the definition before and what follows.
    is_after_error: bool,
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
    let lines = LineStarts::new(text);
    let mut collect = Collect { language, text, lines, found: Vec::new(), is_after_error: false };
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
            let Some(owner) = left.owner else { continue };
            // What is broken inside of it is its own.
            collect.is_after_error = false;
            let lead = left.lead.as_ref().and_then(Lead::start_of_documentation);
            if let Some(start) = left.remarks.into_iter().chain(lead).min() {
                collect.give_up(owner, start, left.end);
                levels.last_mut()?.lead = left.lead;
            }
        }
    }
}

impl Collect<'_> {
    /// Takes a node, and returns the level of its children unless they are to be skipped.
    fn enter(&mut self, node: &Node<'_>, marks: &Marks, level: &mut Level) -> Option<Level> {
        let range = trimmed(self.text, node.byte_range());
        let parent = level.parent;
        let mark = marks.mark(node);
        if node.is_error() || node.is_missing() || (mark == Some(&Mark::Opaque) && node.has_error()) {
            self.doubt_neighbours(range.start);
        }
        let is_broken = level.is_broken || node.is_error();
        let before = std::mem::replace(&mut level.end, range.end);
        if mark != Some(&Mark::Comment) {
            level.remarks = None;
        }
        match mark {
            Some(Mark::Comment) => self.comment(level, range, before),
            Some(Mark::Attribute) => self.attribute(level, range),
            Some(Mark::Opaque) => level.lead = None,
            Some(Mark::Whole) => {
                let extent = self.extent(level, &range);
                // One inside another, as `declare` inside `export`.
                let whole = level.whole.clone().unwrap_or(extent);
                return Some(Level { whole: Some(whole), parent, is_broken, ..Level::default() });
            }
            Some(Mark::Definitions(names)) => {
                let extent = self.extent(level, &range);
                let extent = level.whole.clone().unwrap_or(extent);
                let owner = self.found.len();
                let doubts = self.doubts(node, &extent, marks, is_broken);
                let range = extent.range;
                self.is_after_error = false;
                for name in names {
                    let definition = self.definition(name, &range, parent, &doubts);
                    self.found.push(Found { definition, range: range.clone() });
                }
                let parent = self.found.len().checked_sub(1);
                return Some(Level { parent, owner: Some(owner), ..Level::default() });
            }
            None => {
                // The first child may be what follows it: the first method of a class in Python.
                let lead = level.lead.take();
                return Some(Level { lead, parent, is_broken, ..Level::default() });
            }
        }
        None
    }

    /// Adds a comment to what stands directly above it. A banner parts what is above it from what is below.
    fn comment(&self, level: &mut Level, range: Range<usize>, before: usize) {
        let above = level.lead.take().filter(|above| self.is_joined(above, range.start));
        let use_of_it = banner::use_of(&self.text[range.clone()]);
        if use_of_it != Use::Remark || self.lines.line(range.start) > self.lines.last_line(before) + 1 {
            level.remarks.get_or_insert(range.start);
        }
        let lines = self.lines.lines(&range);
        level.lead = match above {
            Some(above) => Some(above.with_comment(&range, use_of_it, lines.clone().count())),
            None if !self.lines.begins_line(range.start) => None,
            None => Some(Lead::from_comment(&range, use_of_it, *lines.start() == 1, lines.count())),
        };
    }

    /// Adds an attribute to what stands directly above it.
    fn attribute(&self, level: &mut Level, range: Range<usize>) {
        let has_lead = level.lead.as_ref().is_some_and(|above| self.is_joined(above, range.start));
        let extent = self.extent(level, &range);
        if has_lead || self.lines.begins_line(range.start) {
            level.lead = Some(Lead::from_attribute(extent.range, extent.is_open));
        }
    }

    /// Returns what a node has, with what stands above it.
    fn extent(&self, level: &mut Level, range: &Range<usize>) -> Extent {
        let above = level.lead.take().filter(|above| self.is_joined(above, range.start));
        let Some(above) = above.map(|above| above.resolved(self.text)) else {
            return Extent { range: range.clone(), is_open: false };
        };
        let start = above.start_of_documentation().unwrap_or(range.start);
        Extent {
            range: start..range.end,
            is_open: above.is_open(self.text, self.text[range.clone()].starts_with(b"//")),
        }
    }

    /// Returns whether nothing parts a lead from what begins at this offset: no blank line, and no other indentation.
    fn is_joined(&self, above: &Lead, at: usize) -> bool {
        let (last, line) = (self.lines.last_line(above.range().end), self.lines.line(at));
        let is_below =
            line == last + 1 && self.lines.indentation(above.range().start) == self.lines.indentation(at);
        above.holds() || line == last || is_below
    }

    /// Returns why the lines of a definition are not exactly the definition.
    fn doubts(&self, node: &Node<'_>, extent: &Extent, marks: &Marks, is_broken: bool) -> Doubts {
        let Extent { range, is_open } = extent;
        let is_part = marks.is_part(node);
        let shares = |is_shared: bool| is_shared.then_some(Doubt::Shared);
        let is_broken_above = is_broken || self.is_after_error;
        let is_broken_below = is_broken || node.has_error();
        let above = match is_broken_above {
            true => Some(Doubt::Broken),
            false if is_part || !self.lines.begins_line(range.start) => Some(Doubt::Shared),
            false => is_open.then_some(Doubt::Comment),
        };
        let below = match is_broken_below {
            true => Some(Doubt::Broken),
            false => shares(is_part || !self.lines.ends_line(self.language, range.end)),
        };
        Doubts { above, below, all: shares(is_part || marks.is_shared(node)) }
    }

    /// Doubts where the definitions end that end before a syntax error and are the last ones there, and where the next one
    /// begins: a bracket too many, for one, may have ended them too early.
    fn doubt_neighbours(&mut self, error: usize) {
        self.is_after_error = true;
        let mut last = self.found.len().checked_sub(1);
        while let Some(at) = last {
            let range = self.found[at].range.clone();
            if range.end > error {
                break;
            }
            last = self.found[at].definition.parent;
            let same = self.found[..=at].iter_mut().rev().take_while(|found| found.range == range);
            same.for_each(|found| found.definition.doubts.below = Some(Doubt::Broken));
        }
    }

    fn definition(
        &self,
        named: &Named,
        range: &Range<usize>,
        parent: Option<usize>,
        doubts: &Doubts,
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
            doubts: *doubts,
            scope: named.scope.as_ref().map(text),
            parent,
            name,
        }
    }

    fn is_too_deep(&self) -> bool {
        self.found.last().is_some_and(|last| last.definition.depth > NESTED)
    }

    /// Takes comments from the end of a definition, from this offset on: they may belong to what follows, as in TOML, where
    /// nothing ends a table.
    fn give_up(&mut self, owner: usize, start: usize, end: usize) {
        for found in &mut self.found[owner..] {
            // Those inside of it end before its comments anyway.
            if found.range.end >= end && found.range.start < start {
                found.range = trimmed(self.text, found.range.start..start);
                found.definition.lines = self.lines.lines(&found.range);
            }
        }
    }

    fn finish(self) -> Vec<Definition> {
        let definitions: Vec<Definition> = self.found.into_iter().map(|found| found.definition).collect();
        // The walk of a broken tree can reach a definition after others that begin below it.
        let mut order: Vec<usize> = (0..definitions.len()).collect();
        order.sort_by_key(|at| *definitions[*at].lines.start());
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
        let parent = |one: &Definition| one.parent.map(|parent| places[parent]);
        let moved = |at: &usize| Definition { parent: parent(&definitions[*at]), ..definitions[*at].clone() };
        order.iter().map(moved).collect()
    }
}

/// Returns a name as it is shown: without quotes around it, nor blanks inside of these, by which nobody would name it, and on
/// one line.
fn name(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let unquoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    ['"', '\''].into_iter().find_map(unquoted).map(|name| name.trim().to_owned()).unwrap_or(text)
}
