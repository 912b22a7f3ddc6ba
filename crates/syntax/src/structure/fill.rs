//! The text that replaces a place: the new text of the replacement, with what its variables stand for as it stands in the file.

use std::ops::Range;

use ast_grep_core::NodeMatch;
use ast_grep_core::tree_sitter::StrDoc;

use super::Grammar;

/// A place that matches, with what its variables stand for.
pub(super) type Place<'t> = NodeMatch<'t, StrDoc<Grammar>>;

/// A part of the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Variable { name: String, is_multiple: bool },
}

/// Splits a text at its variables. A `$` that no name follows is text.
pub(super) fn parts(written: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let signs = rest[at..].bytes().take_while(|byte| *byte == b'$').count();
        let after = &rest[at + signs..];
        let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        let is_name = after.starts_with(|first: char| first.is_ascii_uppercase());
        if is_name && matches!(signs, 1 | 3) {
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Variable { name: after[..end].to_owned(), is_multiple: signs == 3 });
            rest = &after[end..];
        } else {
            text.push_str(&rest[at..at + signs]);
            rest = after;
        }
    }
    text.push_str(rest);
    parts.push(Part::Text(text));
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    parts
}

/// Writes new texts, those of places inside of others with them.
pub(super) struct Writer<'a, 't> {
    pub(super) new: &'a [Part],
    pub(super) text: &'a str,
    pub(super) places: &'a [Place<'t>],
    /// What was put in for variables that stand for one node, and where in the new text.
    pub(super) put: Vec<(&'a str, Range<usize>)>,
    /// How much may still be written, in pieces and their bytes: what a variable stands for may be put in twice, at each
    /// level again.
    pub(super) left: usize,
}

impl<'a> Writer<'a, '_> {
    fn push(&mut self, text: &str, into: &mut String) -> Option<()> {
        self.left = self.left.checked_sub(text.len() + 1)?;
        into.push_str(text);
        Some(())
    }

    /// Writes a part of the text with the places in it replaced. `None` if it is too much.
    fn fill(&mut self, range: Range<usize>, into: &mut String) -> Option<()> {
        let mut at = range.start;
        for place in outer(self.places, range.clone()) {
            self.push(&self.text[at..place.range().start], into)?;
            self.replace(place, into)?;
            at = place.range().end;
        }
        self.push(&self.text[at..range.end], into)
    }

    /// Writes what replaces a place.
    pub(super) fn replace(&mut self, place: &Place<'_>, into: &mut String) -> Option<()> {
        let variables = place.get_env();
        let start = into.len();
        // Whether the comma goes that follows a variable which stands for nothing.
        let mut drops_comma = false;
        for part in self.new {
            match part {
                Part::Text(text) if drops_comma => {
                    let rest = text.trim_start().strip_prefix(',').map(str::trim_start);
                    let before = into[start..].trim_end();
                    if rest.is_none() && before.ends_with(',') {
                        into.truncate(start + before.len() - 1);
                    }
                    self.push(rest.unwrap_or(text), into)?;
                    drops_comma = false;
                }
                Part::Text(text) => self.push(text, into)?,
                Part::Variable { name, is_multiple: false } => {
                    if let Some(node) = variables.get_match(name) {
                        let start = into.len();
                        self.fill(node.range(), into)?;
                        self.put.push((name, start..into.len()));
                    }
                }
                Part::Variable { name, is_multiple: true } => {
                    let nodes = variables.get_multiple_matches(name);
                    match (nodes.first(), nodes.last()) {
                        (Some(first), Some(last)) => {
                            self.fill(first.range().start..last.range().end, into)?;
                        }
                        _ => drops_comma = true,
                    }
                }
            }
        }
        Some(())
    }
}

/// Returns the places in a range that lie in no other of it.
pub(super) fn outer<'p, 't>(
    places: &'p [Place<'t>],
    within: Range<usize>,
) -> impl Iterator<Item = &'p Place<'t>> {
    let first = places.partition_point(|place| place.range().start < within.start);
    let mut at = within.start;
    places[first..].iter().map_while(move |place| (place.range().start < within.end).then_some(place)).filter(
        move |place| {
            let Range { start, end } = place.range();
            let is_outer = start >= at && end <= within.end;
            at = if is_outer { end } else { at };
            is_outer
        },
    )
}
