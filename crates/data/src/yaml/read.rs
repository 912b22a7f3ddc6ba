//! The tree of a YAML text.

use std::borrow::Cow;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::fault::Unread;
use crate::layout::{line_end, line_indent, line_start, next_line};
use crate::node::{Bar, DEEP, Data, Entry, Kind, Layout, Node, Style};

/// A list or map that has not ended yet.
struct Open {
    start: usize,
    is_map: bool,
    is_flow: bool,
    bar: Option<Bar>,
    items: Vec<Node>,
}

pub(crate) fn read(text: &str) -> Result<Vec<Node>, Unread> {
    let offsets = offsets(text);
    let offset = |at: usize| match &offsets {
        Some(offsets) => offsets.get(at).copied().unwrap_or(text.len()),
        None => at.min(text.len()),
    };
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| Unread::at(text, offset(error.marker().index()), error.info()))?;
        let range = offset(span.start.index())..offset(span.end.index());
        let node = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEP => {
                return Err(Unread::at(text, range.start, "it is nested too deeply"));
            }
            Event::SequenceStart(anchor, ref tag) | Event::MappingStart(anchor, ref tag) => {
                let is_map = matches!(event, Event::MappingStart(..));
                let start = after_properties(text, range.start);
                let is_flow = text[start..].starts_with(if is_map { '{' } else { '[' });
                let bar = bar(anchor, tag.as_ref());
                open.push(Open { start, is_map, is_flow, bar, items: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(ended) = open.pop() else { continue };
                closed(text, ended, range.end)
            }
            Event::Alias(_) => {
                let written = text[range.clone()].trim_end();
                let end = range.start + written.len();
                let node = Node::scalar(range.start..end, Data::Other(written.to_owned()), Style::Plain);
                Node { bar: Some(Bar::Alias), ..node }
            }
            Event::Scalar(value, style, anchor, tag) => {
                let parent = open.last().map(|open| parent_column(text, open));
                let node = of_scalar(text, range, &value, style, tag.as_ref(), parent.unwrap_or_default());
                Node { bar: bar(anchor, tag.as_ref()).or(node.bar), ..node }
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
    Ok(documents)
}

/// Returns the byte offsets of all characters; `None` if each has one byte.
fn offsets(text: &str) -> Option<Vec<usize>> {
    (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect())
}

fn bar(anchor: usize, tag: Option<&Cow<'_, Tag>>) -> Option<Bar> {
    if anchor > 0 {
        return Some(Bar::Anchor);
    }
    tag.map(|_| Bar::Tag)
}

/// Skips the anchor and the tag before a value.
fn after_properties(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        if !rest[blank..].starts_with(['&', '!']) {
            return at + blank;
        }
        let word = &rest[blank..];
        at += blank + word.find(char::is_whitespace).unwrap_or(word.len());
    }
}

/// Returns the column of the block that has begun; lines of its scalars are deeper.
fn parent_column(text: &str, open: &Open) -> Option<usize> {
    (!open.is_flow).then(|| match open.items.first() {
        Some(first) if open.is_map => first.range.start - line_start(text, first.range.start),
        // The first key itself, or an element behind its dash.
        _ => line_indent(text, open.start).len(),
    })
}

fn of_scalar(
    text: &str,
    range: Range<usize>,
    value: &str,
    style: ScalarStyle,
    tag: Option<&Cow<'_, Tag>>,
    column: Option<usize>,
) -> Node {
    let start = if range.is_empty() { range.start } else { after_properties(text, range.start) };
    match style {
        ScalarStyle::Plain => {
            let written = text[start..range.end.max(start)].trim_end();
            let data = if tag.is_some() { Data::Other(written.to_owned()) } else { plain(value) };
            Node::scalar(start..start + written.len(), data, Style::Plain)
        }
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            let is_double = style == ScalarStyle::DoubleQuoted;
            let end = end_of_quoted(text, start, is_double);
            let style = if is_double { Style::Double } else { Style::Single };
            Node::scalar(start..end, Data::Text(value.to_owned()), style)
        }
        ScalarStyle::Literal | ScalarStyle::Folded => {
            let sign = if style == ScalarStyle::Literal { '|' } else { '>' };
            let range = of_block(text, range.start, sign, column);
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

/// Returns where a block scalar stands, from its sign to its last line with content. The parser names a place in it.
fn of_block(text: &str, at: usize, sign: char, column: Option<usize>) -> Range<usize> {
    // The sign ends a line: of this place, or of one above it.
    let mut line = line_start(text, at);
    let start = loop {
        let head = text[line..line_end(text, line)].trim_end();
        let head = head.split(" #").next().unwrap_or(head).trim_end();
        if let Some(found) = head.rfind(sign)
            && head[found + 1..].chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-'))
            && line + found <= at
        {
            break line + found;
        }
        if line == 0 {
            break at;
        }
        line = line_start(text, line - 1);
    };
    let least = column.map_or(0, |column| column + 1);
    let mut end = line_end(text, start);
    let mut next = next_line(text, end);
    while next < text.len() {
        let content = &text[next..line_end(text, next)];
        if !content.trim().is_empty() {
            if content.len() - content.trim_start_matches(' ').len() < least || content.starts_with("---") {
                break;
            }
            end = next + content.len();
        }
        next = next_line(text, next);
    }
    start..end
}

/// Makes the node of a list or map that has ended.
fn closed(text: &str, ended: Open, end: usize) -> Node {
    let Open { start, is_map, is_flow, bar, items } = ended;
    let last = items.last().map_or(start, |item| item.range.end);
    let first = items.first().map_or(start, |item| item.range.start);
    let (range, layout) = if is_flow {
        (start..end, Layout::Flow)
    } else {
        let first = if is_map { first } else { text[..first].rfind('-').unwrap_or(first) };
        (first..last, Layout::Block(first - line_start(text, first)))
    };
    if !is_map {
        return Node { range, kind: Kind::List(items, layout), bar };
    }
    let mut entries = Vec::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push(entry(text, key, value, is_flow));
    }
    // An empty value ends with the colon of its key.
    let end = entries.last().map_or(range.end, |entry| range.end.max(entry.value.range.end));
    Node { range: range.start..end, kind: Kind::Map(entries, layout), bar }
}

fn entry(text: &str, key: Node, mut value: Node, is_flow: bool) -> Entry {
    let is_explicit = text[..key.range.start].trim_end_matches([' ', '\t']).ends_with('?');
    let (name, is_odd) = match &key.kind {
        Kind::Scalar(Data::Text(name) | Data::Number(name), _) => (name.clone(), is_explicit),
        Kind::Scalar(Data::Bool(_) | Data::Null, _) => (text[key.range.clone()].to_owned(), is_explicit),
        Kind::Scalar(Data::Other(name), _) => (name.clone(), true),
        _ => (text[key.range.clone()].to_owned(), true),
    };
    if value.range.is_empty() && !is_flow {
        let colon = text[key.range.end..].find(':').map_or(key.range.end, |at| key.range.end + at + 1);
        value.range = colon..colon;
    }
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
