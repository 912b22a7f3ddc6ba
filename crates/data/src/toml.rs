//! TOML: tables with headers, dotted keys, and values in their lines.

mod tables;

use std::ops::Range;

use toml_edit::{Document, Item, TableLike};

use crate::Place;
use crate::comments::{Comments, owned_start, with_blank_or_end};
use crate::fault::{Fault, Unread};
use crate::flow::Flow;
use crate::format::Format;
use crate::layout::{
    self, Text, below_header, is_alone_before, line_end, line_indent, line_start, next_line,
};
use crate::node::{Bar, Data, Entry, Kind, Layout, Node, Style};
use crate::pieces::{Splice, below};

pub(crate) fn read(text: &str) -> Result<Node, Unread> {
    let document = Document::parse(text).map_err(|error| {
        Unread::at(
            text,
            error.span().map_or(0, |span| span.start),
            error.message().lines().next().unwrap_or_default(),
        )
    })?;
    let top = document.as_table();
    Ok(Node { range: 0..0, kind: Kind::Map(entries(text, top), Layout::Lines), bar: None })
}

fn entries(text: &str, table: &dyn TableLike) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(name, item)| {
            let value = node(text, item);
            let key = table.key(name).and_then(toml_edit::Key::span);
            let key_range = key.unwrap_or(value.range.start..value.range.start);
            Entry { key: name.to_owned(), key_range, value }
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_range.start);
    entries
}

fn node(text: &str, item: &Item) -> Node {
    let range = item.span().unwrap_or_default();
    let kind = match item {
        Item::None => Kind::Scalar(Data::Null, Style::Plain),
        Item::Table(table) => {
            let has_line = !table.is_dotted() && !table.is_implicit();
            let layout = if has_line { Layout::Lines } else { Layout::Dotted };
            let range = if has_line { header(text, range) } else { 0..0 };
            let kind = Kind::Map(entries(text, table), layout);
            return Node { range, kind, bar: None };
        }
        Item::ArrayOfTables(tables) => {
            let table = |table: &toml_edit::Table| Node {
                range: header(text, table.span().unwrap_or_default()),
                kind: Kind::Map(entries(text, table), Layout::Lines),
                bar: None,
            };
            let kind = Kind::List(tables.iter().map(table).collect(), Layout::Tables);
            return Node { range: 0..0, kind, bar: None };
        }
        Item::Value(value) => return of_value(text, value),
    };
    Node { range, kind, bar: None }
}

/// Returns the line of a header.
fn header(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..line_end(text, range.start)
}

fn of_value(text: &str, value: &toml_edit::Value) -> Node {
    let range = value.span().unwrap_or_default();
    let written = text.get(range.clone()).unwrap_or_default();
    let scalar = |data, style| Kind::Scalar(data, style);
    let kind = match value {
        toml_edit::Value::String(value) => {
            let style = if written.starts_with('\'') { Style::Single } else { Style::Double };
            scalar(Data::Text(value.value().clone()), style)
        }
        toml_edit::Value::Integer(_) | toml_edit::Value::Float(_) => {
            scalar(Data::Number(written.to_owned()), Style::Plain)
        }
        toml_edit::Value::Boolean(value) => scalar(Data::Bool(*value.value()), Style::Plain),
        toml_edit::Value::Datetime(_) => scalar(Data::Other(written.to_owned()), Style::Plain),
        toml_edit::Value::Array(array) => {
            Kind::List(array.iter().map(|value| of_value(text, value)).collect(), Layout::Flow)
        }
        toml_edit::Value::InlineTable(table) => {
            if table.is_dotted() {
                let entries = entries(text, table);
                let start = entries.first().map_or(0, |first| first.key_range.start);
                let end = entries.iter().map(|entry| entry.range().end).max();
                let kind = Kind::Map(entries, Layout::Dotted);
                return Node { range: start..end.unwrap_or(start), kind, bar: Some(Bar::OddKey) };
            }
            Kind::Map(entries(text, table), Layout::Flow)
        }
    };
    Node { range, kind, bar: None }
}

pub(crate) fn set(text: Text<'_>, old: &Node, value: &Data) -> Result<Vec<Splice>, Fault> {
    let is_table = matches!(old.layout(), Some(Layout::Lines | Layout::Dotted | Layout::Tables));
    if is_table {
        return Err(Fault::Table);
    }
    let new = match (&old.kind, value) {
        // A date stays one.
        (Kind::Scalar(Data::Other(_), _), Data::Text(text))
            if text.parse::<toml_edit::Datetime>().is_ok() =>
        {
            text.clone()
        }
        (Kind::Scalar(Data::Text(_), Style::Single), Data::Text(text)) if is_literal(text) => {
            format!("'{text}'")
        }
        // A list over several lines stays one.
        (Kind::List(..), Data::List(items))
            if text.text[old.range.clone()].contains('\n') && !items.is_empty() =>
        {
            let line = line_indent(text.text, old.range.start);
            let inner = match old.ranges().first().filter(|first| is_alone_before(text.text, first.start)) {
                Some(first) => line_indent(text.text, first.start).to_owned(),
                None => format!("{line}    "),
            };
            let items: Option<Vec<String>> = items.iter().map(written).collect();
            let items = items.ok_or(Fault::NoSuchValue)?;
            let lines: String = items.iter().map(|item| format!("{inner}{item},{}", text.eol)).collect();
            format!("[{}{lines}{line}]", text.eol)
        }
        _ => written(value).ok_or(Fault::NoSuchValue)?,
    };
    Ok(vec![Splice { range: old.range.clone(), new }])
}

fn is_literal(text: &str) -> bool {
    !text.contains('\'') && !text.chars().any(|c| c.is_control() && c != '\t')
}

/// Writes a value in one line; `None` if TOML has none like it.
pub(super) fn written(value: &Data) -> Option<String> {
    Some(match value {
        Data::Null | Data::Tagged(..) | Data::Alias(..) => return None,
        Data::Bool(is) => is.to_string(),
        Data::Number(number) => number.clone(),
        Data::Text(text) | Data::Other(text) => quoted(text),
        Data::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(written).collect();
            format!("[{}]", items?.join(", "))
        }
        Data::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Data::Map(entries) => {
            let entry = |(key, value): &(String, Data)| Some(format!("{} = {}", name(key), written(value)?));
            let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
            format!("{{ {} }}", entries?.join(", "))
        }
    })
}

/// JSON's escapes are TOML's, but for this character.
fn quoted(text: &str) -> String {
    layout::string(text).replace('\u{7f}', "\\u007f")
}

pub(super) fn name(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_bare { key.to_owned() } else { quoted(key) }
}

pub(crate) fn insert(
    text: Text<'_>,
    place: &Place<'_>,
    key: Option<&str>,
    value: &Data,
) -> Result<Vec<Splice>, Fault> {
    let (parent, before) = (place.parent, place.before);
    if let Some(splices) = tables::insert(text, place, key, value)? {
        return Ok(splices);
    }
    let written = written(value).ok_or(Fault::NoSuchValue)?;
    let new = match key {
        Some(key) => format!("{} = {written}", name(key)),
        None => written,
    };
    if parent.layout() == Some(Layout::Flow) {
        let flow = Flow::new(text, parent, Comments::Hash);
        let empty = if key.is_some() { format!(" {new} ") } else { new.clone() };
        return Ok(flow.insert(before, &new, &empty));
    }
    let Kind::Map(entries, layout) = &parent.kind else { return Err(Fault::Table) };
    // Those that are in lines of the table itself, and not in tables with headers of their own.
    let own: Vec<&Entry> = entries.iter().filter(|entry| own_range(entry).is_some()).collect();
    // The names before the key, where the table has no line.
    let prefix = match (layout, own.first()) {
        (Layout::Dotted, Some(first)) => {
            let start = line_start(text.text, first.key_range.start);
            text.text[start..first.key_range.start].trim_start().to_owned()
        }
        (Layout::Dotted, None) => return Err(Fault::Table),
        _ => String::new(),
    };
    if let Some(next) = entries.get(before) {
        let Some(range) = own_range(next) else { return Err(Fault::Table) };
        let (start, indent) = (
            owned_start(Format::Toml, text.text, first_name(text.text, range.start)),
            line_indent(text.text, range.start),
        );
        return Ok(vec![Splice::insert(start, format!("{indent}{prefix}{new}{}", text.eol))]);
    }
    let last = own.iter().filter_map(|entry| own_range(entry)).max_by_key(|range| range.end);
    let (at, indent) = match (last, parent.range.is_empty()) {
        (Some(last), _) => (last.end, line_indent(text.text, last.start)),
        (None, false) => (parent.range.end, line_indent(text.text, parent.range.start)),
        (None, true) => {
            let blank = if text.text.is_empty() { "" } else { text.eol };
            return Ok(vec![Splice::insert(below_header(text.text), format!("{new}{}{blank}", text.eol))]);
        }
    };
    Ok(vec![below(text, at, &format!("{indent}{prefix}{new}"))])
}

/// Returns where the first name of a key with dots stands, or of a header, which this place is in the line of.
fn first_name(text: &str, at: usize) -> usize {
    line_start(text, at) + line_indent(text, at).len()
}

/// Returns the lines of an entry that is written in its table: `None` for tables with headers.
pub(super) fn own_range(entry: &Entry) -> Option<Range<usize>> {
    match entry.value.layout() {
        Some(Layout::Lines | Layout::Tables) => None,
        Some(Layout::Dotted) => {
            let Kind::Map(entries, _) = &entry.value.kind else { return None };
            let inner: Option<Vec<Range<usize>>> = entries.iter().map(own_range).collect();
            let inner = inner?;
            Some(inner.iter().map(|range| range.start).min()?..inner.iter().map(|range| range.end).max()?)
        }
        _ => Some(entry.range()),
    }
}

pub(crate) fn delete(text: Text<'_>, place: &Place<'_>) -> Result<Vec<Splice>, Fault> {
    let (parent, at) = (place.parent, place.before);
    if parent.layout() == Some(Layout::Flow) {
        return Ok(Flow::new(text, parent, Comments::Hash).delete(at));
    }
    let node = parent.child(at);
    // A table that has no line of its own would go with the last that is in it, and gets one.
    let is_last = parent.layout() == Some(Layout::Dotted) && parent.len() == 1;
    let lines = |range: Range<usize>, left: String| {
        let start = owned_start(Format::Toml, text.text, first_name(text.text, range.start));
        let lines = start..next_line(text.text, range.end);
        match is_last {
            true => {
                let end = if text.text[lines.clone()].ends_with('\n') { text.eol } else { "" };
                let new = format!("{}{left}{end}", line_indent(text.text, range.start));
                Splice { range: lines, new }
            }
            false => Splice::delete(with_blank_or_end(text.text, lines)),
        }
    };
    if let (Kind::Map(entries, _), Some(Layout::Lines)) = (&node.kind, node.layout()) {
        let inner: Option<Vec<Range<usize>>> = entries.iter().map(own_range).collect();
        let end = inner.ok_or(Fault::Table)?.into_iter().map(|range| range.end).max();
        let names: Vec<String> = place.path.iter().map(|key| name(key)).collect();
        let left = format!("[{}]", names.join("."));
        return Ok(vec![lines(node.range.start..end.unwrap_or(node.range.end), left)]);
    }
    match &parent.kind {
        Kind::Map(entries, _) if node.layout().is_none() || node.layout() == Some(Layout::Flow) => {
            let range = entries[at].range();
            let before = &text.text[line_start(text.text, range.start)..range.start];
            let names = before.trim().trim_end_matches('.').trim_end();
            Ok(vec![lines(range, format!("{names} = {{}}"))])
        }
        _ => Err(Fault::Table),
    }
}
