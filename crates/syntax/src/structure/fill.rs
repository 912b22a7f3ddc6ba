//! The text that replaces a place: the new text of the replacement, with what its variables stand for.
//!
//! Lines of the new text are indented as the line on which the place begins. Lines of a variable move with the line on which
//! it begins, and so keep their bytes where that keeps its indentation. A line that begins inside of a string or a comment
//! never moves.

use std::ops::Range;

use ast_grep_core::NodeMatch;
use ast_grep_core::tree_sitter::StrDoc;
use tree_sitter::Tree;

use super::{Grammar, is_words};

/// A place that matches, with what its variables stand for.
pub(super) type Place<'t> = NodeMatch<'t, StrDoc<Grammar>>;

/// A part of the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// The end of a line, after which the next one is indented as the place is.
    NewLine,
    Variable {
        name: String,
        is_multiple: bool,
    },
}

/// How far lines of the file move: those that begin with the one indentation begin with the other.
struct Move<'a> {
    from: &'a str,
    to: String,
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

/// Splits the texts among the parts at their lines. `tree` is that of all of it, with a stand-in for each `$`.
pub(super) fn with_lines(parts: Vec<Part>, tree: &Tree, written: &str) -> Vec<Part> {
    let mut starts = memchr::memchr_iter(b'\n', written.as_bytes()).map(|at| at + 1);
    let mut split = Vec::new();
    for part in parts {
        let Part::Text(text) = part else {
            split.push(part);
            continue;
        };
        let mut begun = String::new();
        for line in text.split_inclusive('\n') {
            begun.push_str(line);
            if line.ends_with('\n') && starts.next().is_some_and(|start| !is_inside(tree, start)) {
                begun.pop();
                split.push(Part::Text(std::mem::take(&mut begun)));
                split.push(Part::NewLine);
            }
        }
        split.push(Part::Text(begun));
    }
    split.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    split
}

/// Returns whether the line that starts here begins inside of a string, a comment or another token.
fn is_inside(tree: &Tree, start: usize) -> bool {
    let mut node = tree.root_node().descendant_for_byte_range(start - 1, start);
    while let Some(found) = node {
        let goes_on = found.start_byte() < start && start < found.end_byte();
        if goes_on && (found.child_count() == 0 || is_words(found.kind())) {
            return true;
        }
        node = found.parent();
    }
    false
}

/// Returns the blanks at the start of a line.
fn blanks(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the blanks at the start of the line in which this byte stands.
fn indentation(text: &str, at: usize) -> &str {
    blanks(&text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at])
}

impl Move<'_> {
    fn indented(&self, blanks: &str) -> String {
        match blanks.strip_prefix(self.from) {
            Some(rest) => self.to.clone() + rest,
            None => blanks.to_owned(),
        }
    }
}

/// Writes new texts, those of places inside of others with them.
pub(super) struct Writer<'a, 't> {
    pub(super) new: &'a [Part],
    pub(super) text: &'a str,
    pub(super) tree: &'a Tree,
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

    /// Writes a part of the text that has no places.
    fn copy(&mut self, range: Range<usize>, moved: &Move<'_>, into: &mut String) -> Option<()> {
        if moved.from == moved.to {
            return self.push(&self.text[range], into);
        }
        let start = range.start;
        let mut at = start;
        for line in self.text[range].split_inclusive('\n') {
            let rest =
                line.strip_prefix(moved.from).filter(|rest| !rest.trim_end_matches(['\r', '\n']).is_empty());
            match rest {
                Some(rest) if at > start && !is_inside(self.tree, at) => {
                    self.push(&moved.to, into)?;
                    self.push(rest, into)?;
                }
                _ => self.push(line, into)?,
            }
            at += line.len();
        }
        Some(())
    }

    /// Writes a part of the text with the places in it replaced. `None` if it is too much.
    fn fill(&mut self, range: Range<usize>, moved: &Move<'_>, into: &mut String) -> Option<()> {
        let mut at = range.start;
        for place in outer(self.places, range.clone()) {
            self.copy(at..place.range().start, moved, into)?;
            self.replace(place, moved, into)?;
            at = place.range().end;
        }
        self.copy(at..range.end, moved, into)
    }

    /// Writes what replaces a place that lies in no other.
    pub(super) fn replace_outer(&mut self, place: &Place<'_>, into: &mut String) -> Option<()> {
        self.replace(place, &Move { from: "", to: String::new() }, into)
    }

    fn replace(&mut self, place: &Place<'_>, moved: &Move<'_>, into: &mut String) -> Option<()> {
        let variables = place.get_env();
        let start = into.len();
        let own = moved.indented(indentation(self.text, place.range().start));
        // The blanks with which the line begins that is written.
        let mut line = own.clone();
        let mut is_at_start = false;
        // Whether the comma goes that follows a variable which stands for nothing.
        let mut drops_comma = false;
        for part in self.new {
            let variable = match part {
                Part::Text(text) => {
                    let mut text = text.as_str();
                    if drops_comma {
                        let rest = text.trim_start().strip_prefix(',').map(str::trim_start);
                        let before = into[start..].trim_end();
                        if rest.is_none() && before.ends_with(',') {
                            into.truncate(start + before.len() - 1);
                        }
                        text = rest.unwrap_or(text);
                    }
                    if is_at_start {
                        self.push(&own, into)?;
                        line = own.clone() + blanks(text);
                    }
                    if let Some((_, last)) = text.rsplit_once('\n') {
                        line = blanks(last).to_owned();
                    }
                    self.push(text, into)?;
                    (is_at_start, drops_comma) = (false, false);
                    continue;
                }
                Part::NewLine => {
                    self.push("\n", into)?;
                    is_at_start = true;
                    continue;
                }
                Part::Variable { name, is_multiple } => (name, *is_multiple),
            };
            if std::mem::take(&mut is_at_start) {
                self.push(&own, into)?;
                line.clone_from(&own);
            }
            let (name, is_multiple) = variable;
            let range = if is_multiple {
                let nodes = variables.get_multiple_matches(name);
                nodes.first().zip(nodes.last()).map(|(first, last)| first.range().start..last.range().end)
            } else {
                variables.get_match(name).map(ast_grep_core::Node::range)
            };
            drops_comma = is_multiple && range.is_none();
            if let Some(range) = range {
                let moved = Move { from: indentation(self.text, range.start), to: line.clone() };
                let start = into.len();
                self.fill(range, &moved, into)?;
                if !is_multiple {
                    self.put.push((name, start..into.len()));
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
