//! The tree of a YAML text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::fault::Unread;
use crate::layout::{line_end, line_start, next_line};
use crate::node::{Bar, DEEP, Data, Entry, Kind, Layout, Node, Style};

/// A list or map that has not ended yet.
struct Open {
    start: usize,
    is_map: bool,
    is_flow: bool,
    properties: Properties,
    items: Vec<Node>,
}

/// The anchor and the tag of a value.
struct Properties {
    /// The parser's number of the anchor; 0 without one.
    anchor: usize,
    tag: Option<String>,
}

impl Properties {
    fn new(anchor: usize, tag: Option<&Cow<'_, Tag>>) -> Self {
        Self { anchor, tag: tag.map(|tag| format!("{}{}", tag.handle, tag.suffix)) }
    }

    fn count(&self) -> usize {
        usize::from(self.anchor > 0) + usize::from(self.tag.is_some())
    }

    /// Gives them to a value. What is in a value with a tag cannot be changed by its key.
    fn mark(self, node: Node, anchors: &mut Anchors) -> Node {
        let mut node = node;
        if let Some(tag) = self.tag {
            let data = Data::Tagged(tag, Box::new(node.data()));
            node = Node { bar: Some(Bar::Tag), ..Node::scalar(node.range, data, Style::Plain) };
        }
        if self.anchor > 0 {
            anchors.insert(self.anchor, Some(node.data().digest()));
            node.bar = Some(Bar::Anchor);
        }
        node
    }
}

/// The digests of the values that have anchors in a document; `None` while a value has not ended.
type Anchors = HashMap<usize, Option<u64>>;

pub(crate) fn read(text: &str) -> Result<Vec<Node>, Unread> {
    let offsets = offsets(text);
    let offset = |at: usize| match &offsets {
        Some(offsets) => offsets.get(at).copied().unwrap_or(text.len()),
        None => at.min(text.len()),
    };
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors = Anchors::new();
    let mut document = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| Unread::at(text, offset(error.marker().index()), error.info()))?;
        let range = offset(span.start.index())..offset(span.end.index());
        let before = behind_sign(text, open.last(), document);
        let node = match event {
            Event::DocumentStart(is_marked) => {
                // The parser keeps the anchors of the document before, which YAML ends with it.
                anchors.clear();
                document = if is_marked { range.end } else { range.start };
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEP => {
                return Err(Unread::at(text, range.start, "it is nested too deeply"));
            }
            Event::SequenceStart(anchor, ref tag) | Event::MappingStart(anchor, ref tag) => {
                let is_map = matches!(event, Event::MappingStart(..));
                let properties = Properties::new(anchor, tag.as_ref());
                // The parser does not say where the first dash of a list is that is no deeper than its key.
                let start = before.map_or(range.start, |before| after_blank(text, before));
                let start = after_properties(text, start, properties.count());
                // `[a: b]` is a list with a map without brackets of its own.
                let has_brackets = text[start..].starts_with(if is_map { '{' } else { '[' });
                let is_flow = has_brackets || open.last().is_some_and(|parent| parent.is_flow);
                anchors.extend((anchor > 0).then_some((anchor, None)));
                open.push(Open { start, is_map, is_flow, properties, items: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut ended) = open.pop() else { continue };
                let properties = std::mem::replace(&mut ended.properties, Properties::new(0, None));
                let is_pair = ended.is_flow && !text[ended.start..].starts_with(['{', '[']);
                let mut node = closed(text, ended, range.start);
                node.bar = is_pair.then_some(Bar::OddKey);
                properties.mark(node, &mut anchors)
            }
            Event::Alias(anchor) => {
                let Some(digest) = anchors.get(&anchor) else {
                    return Err(Unread::at(text, range.start, "an alias names no anchor of its document"));
                };
                let written = text[range.clone()].trim_end();
                let end = range.start + written.len();
                let data = Data::Alias(written.to_owned(), digest.unwrap_or_default());
                Node { bar: Some(Bar::Alias), ..Node::scalar(range.start..end, data, Style::Plain) }
            }
            Event::Scalar(value, style, anchor, tag) => {
                let properties = Properties::new(anchor, tag.as_ref());
                let node = of_scalar(text, (range, before), (&value, style), properties.count(), open.last());
                properties.mark(node, &mut anchors)
            }
            _ => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.items.push(node),
            None => documents.push(node),
        }
    }
    if documents.is_empty() {
        return Err(Unread::at(text, 0, "it is empty"));
    }
    match documents.iter().find_map(|document| misplaced(text, document)) {
        Some(at) => Err(Unread::at(text, at, "it is written in a way that is not understood well enough")),
        None => Ok(documents),
    }
}

/// Returns where a value does not stand in what it is in, or not behind the one before it. To change such a text by these
/// places would change something else.
fn misplaced(text: &str, node: &Node) -> Option<usize> {
    let mut last = node.range.start;
    let ranges = node.ranges();
    for (at, range) in ranges.iter().enumerate() {
        let value = &node.child(at).range;
        let is_ordered = last <= range.start && range.start <= value.start && value.end <= range.end;
        if !is_ordered || range.end > node.range.end || text.get(range.clone()).is_none() {
            return Some(last);
        }
        last = range.end;
    }
    (0..node.len()).find_map(|at| misplaced(text, node.child(at)))
}

/// Returns the byte offsets of all characters; `None` if each has one byte.
fn offsets(text: &str) -> Option<Vec<usize>> {
    (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect())
}

/// Skips so many properties before a value, anchors and tags, with the comments behind them.
fn after_properties(text: &str, mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        at += text[at..].find(char::is_whitespace).unwrap_or(text.len() - at);
        at = after_blank(text, at);
    }
    at
}

/// Skips blanks, line endings and comments.
fn after_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = line_end(text, at);
    }
}

/// Returns the place behind the dash or colon of the next value, or the place where the next key of a block goes. Nothing for
/// what has no such sign in brackets.
fn behind_sign(text: &str, parent: Option<&Open>, document: usize) -> Option<usize> {
    let Some(parent) = parent else { return Some(document) };
    let last = parent.items.last().map(|item| item.range.end);
    let is_value = parent.is_map && parent.items.len() % 2 == 1;
    if parent.is_flow && !is_value {
        return None;
    }
    if !parent.is_map {
        return Some(1 + last.map_or(parent.start, |last| next_dash(text, last, column(text, parent.start))));
    }
    let last = last.unwrap_or(parent.start);
    let sign = after_blank(text, last);
    Some(if text[sign..].starts_with(if is_value { ':' } else { '?' }) { sign + 1 } else { last })
}

fn column(text: &str, at: usize) -> usize {
    at - line_start(text, at)
}

/// Makes the node of a scalar at a place of the parser's and behind a sign, in a list or map that is open.
fn of_scalar(
    text: &str,
    (range, before): (Range<usize>, Option<usize>),
    (value, style): (&str, ScalarStyle),
    properties: usize,
    parent: Option<&Open>,
) -> Node {
    let start = after_properties(text, range.start, properties);
    match style {
        ScalarStyle::Plain => {
            // What is not written stands behind its sign or its properties.
            let (start, end) = match value.is_empty() && properties == 0 {
                true => before.map_or((range.start, range.start), |before| (before, before)),
                false => (start.min(range.end), range.end),
            };
            let written = text[start..end].trim_end();
            Node::scalar(start..start + written.len(), plain(value), Style::Plain)
        }
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            let is_double = style == ScalarStyle::DoubleQuoted;
            let end = end_of_quoted(text, start, is_double);
            let style = if is_double { Style::Double } else { Style::Single };
            Node::scalar(start..end, Data::Text(value.to_owned()), style)
        }
        ScalarStyle::Literal | ScalarStyle::Folded => {
            // The parser says only where its content begins.
            let sign = after_blank(text, before.unwrap_or(range.start));
            let column = parent.map(|parent| column(text, parent.start));
            let range = of_block(text, after_properties(text, sign, properties), column);
            // The parser ends the last line of a text that does not end.
            let value = value.strip_suffix('\n').filter(|_| range.end == text.len()).unwrap_or(value);
            Node::scalar(range, Data::Text(value.to_owned()), Style::Block)
        }
    }
}

fn end_of_quoted(text: &str, start: usize, is_double: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_double => at += 1,
            b'"' if is_double => return at + 1,
            b'\'' if !is_double && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            b'\'' if !is_double => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Returns where a block scalar stands, from its sign to its last line with content, in a list or map of this column.
fn of_block(text: &str, start: usize, column: Option<usize>) -> Range<usize> {
    let head = &text[start..line_end(text, start)];
    let digit = head.chars().take(3).skip(1).find_map(|sign| sign.to_digit(10));
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut indent =
        digit.and_then(|digit| usize::try_from(digit).ok()).map(|digit| column.unwrap_or(0) + digit);
    let (mut end, mut next) = (start + head.trim_end().len(), next_line(text, start));
    while next < text.len() {
        let line = &text[next..line_end(text, next)];
        if !line.trim().is_empty() {
            // The first line with content has the indentation of all.
            let least = *indent.get_or_insert(indent_of(line).max(column.map_or(0, |column| column + 1)));
            let is_marker = line.starts_with("---") || line.starts_with("...");
            if indent_of(line) < least || is_marker {
                break;
            }
            end = next + line.len();
        }
        next = next_line(text, next);
    }
    start..end
}

/// Makes the node of a list or map that has ended. Its bracket stands at `end`, if it has one; the parser counts the comment behind
/// it to the bracket.
fn closed(text: &str, ended: Open, end: usize) -> Node {
    let Open { start, is_map, is_flow, items, .. } = ended;
    let last = items.last().map_or(start, |item| item.range.end);
    let (range, layout) = match is_flow {
        true if text[start..].starts_with(['[', '{']) => (start..end + 1, Layout::Flow),
        true => (start..last, Layout::Flow),
        false => (start..last, Layout::Block(column(text, start))),
    };
    if !is_map {
        return Node { range, kind: Kind::List(items, layout), bar: None };
    }
    let mut entries = Vec::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push(entry(text, key, value));
    }
    // An empty value ends with the colon of its key.
    let end = entries.last().map_or(range.end, |entry| range.end.max(entry.value.range.end));
    Node { range: range.start..end, kind: Kind::Map(entries, layout), bar: None }
}

/// Returns where the dash of the next element of a list stands, whose dashes are in this column.
pub(super) fn next_dash(text: &str, before: usize, column: usize) -> usize {
    let mut line = next_line(text, before);
    while line < text.len() {
        let content = &text[line..line_end(text, line)];
        if content.trim_start_matches(' ').starts_with('-') && content.as_bytes().get(column) == Some(&b'-') {
            return line + column;
        }
        line = next_line(text, line);
    }
    before
}

fn entry(text: &str, key: Node, mut value: Node) -> Entry {
    let is_explicit = text[..key.range.start].trim_end_matches([' ', '\t']).ends_with('?');
    let (name, is_odd) = match &key.kind {
        Kind::Scalar(Data::Text(name) | Data::Number(name), _) => (name.clone(), is_explicit),
        Kind::Scalar(Data::Bool(_) | Data::Null, _) => (text[key.range.clone()].to_owned(), is_explicit),
        Kind::Scalar(Data::Other(name), _) => (name.clone(), true),
        _ => (text[key.range.clone()].to_owned(), true),
    };
    if is_odd || key.bar.is_some() {
        value.bar = Some(Bar::OddKey);
    }
    Entry { key: name, key_range: key.range, value }
}

/// What a scalar without quotes means, by YAML's core schema.
pub(super) fn plain(value: &str) -> Data {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        _ if is_number(value) => Data::Number(value.to_owned()),
        _ => Data::Text(value.to_owned()),
    }
}

fn is_number(value: &str) -> bool {
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let digits = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    if let Some(hex) = value.strip_prefix("0x") {
        return digits(hex, 16);
    }
    if let Some(octal) = value.strip_prefix("0o") {
        return digits(octal, 8);
    }
    let starts = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    starts
        && unsigned.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'))
        && unsigned.chars().any(|c| c.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok()
}
