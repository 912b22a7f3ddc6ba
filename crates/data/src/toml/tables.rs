//! New tables with headers of their own, where a file has such tables.

use super::{name, own_range, written};
use crate::Place;
use crate::comments::{below_own_comment, owned_start};
use crate::fault::Fault;
use crate::format::Format;
use crate::layout::{Text, line_end, line_start, next_line};
use crate::node::{Data, Entry, Kind, Layout, Node};
use crate::pieces::Splice;

/// Puts a new value in tables of its own; `None` if it goes into a line of what it is in.
pub(super) fn insert(
    text: Text<'_>,
    place: &Place<'_>,
    key: Option<&str>,
    value: &Data,
) -> Result<Option<Vec<Splice>>, Fault> {
    let Place { parent, before, .. } = *place;
    let mut path: Vec<&str> = place.path.clone();
    path.extend(key);
    let header: Vec<String> = path.iter().map(|key| name(key)).collect();
    let lines = match (&parent.kind, value) {
        (Kind::List(_, Layout::Tables), Data::Map(entries)) => {
            table(&header.join("."), ["[[", "]]"], entries, text.eol)
        }
        (Kind::List(_, Layout::Tables), _) => return Err(Fault::NoSuchValue),
        (Kind::Map(entries, layout), _) if has_tables(place, entries, *layout) && is_table(value) => {
            tables(&header.join("."), value, text.eol)
        }
        // The table of which only those in it have headers gets one.
        (Kind::Map(entries, Layout::Dotted), _) if entries.iter().all(|entry| own_range(entry).is_none()) => {
            let own = header[..header.len() - 1].join(".");
            let entry = (key.unwrap_or_default().to_owned(), value.clone());
            let lines = table(&own, ["[", "]"], &[entry], text.eol).ok_or(Fault::NoSuchValue)?;
            return Ok(start(parent).map(|first| vec![above(text, first, &lines)]));
        }
        _ => return Ok(None),
    };
    let lines = lines.ok_or(Fault::NoSuchValue)?;
    if before < parent.len() {
        // One in a line of its own is not preceded by tables.
        let next = parent.child(before);
        let has_header = matches!(next.layout(), Some(Layout::Lines | Layout::Tables | Layout::Dotted));
        return Ok(start(next).filter(|_| has_header).map(|first| vec![above(text, first, &lines)]));
    }
    let last = if place.path.is_empty() { text.text.trim_end().len() } else { end(parent) };
    Ok(Some(vec![below(text, last, &lines)]))
}

/// Returns whether what is new in a map stands in tables with headers, as others there do.
fn has_tables(place: &Place<'_>, entries: &[Entry], layout: Layout) -> bool {
    let is_inline = |entry: &Entry| matches!(entry.value.kind, Kind::Map(_, Layout::Flow));
    match layout {
        _ if place.path.is_empty() => has_header(place.top),
        Layout::Dotted => entries.iter().all(|entry| own_range(entry).is_none()),
        Layout::Lines => {
            entries.iter().any(|entry| has_header(&entry.value)) && !entries.iter().any(is_inline)
        }
        _ => false,
    }
}

/// Returns whether there is a header in something.
fn has_header(node: &Node) -> bool {
    (0..node.len()).map(|at| node.child(at)).any(|child| match child.layout() {
        Some(Layout::Lines | Layout::Tables) => true,
        Some(Layout::Dotted) => has_header(child),
        _ => false,
    }) || node.layout() == Some(Layout::Lines) && !node.range.is_empty()
}

fn is_table(value: &Data) -> bool {
    match value {
        Data::Map(_) => true,
        Data::List(items) => !items.is_empty() && items.iter().all(|item| matches!(item, Data::Map(_))),
        _ => false,
    }
}

/// Writes a value as tables. One that has nothing but another table needs no header.
fn tables(header: &str, value: &Data, eol: &str) -> Option<String> {
    match value {
        Data::Map(entries) => match &entries[..] {
            [(key, inner @ Data::Map(_))] => tables(&format!("{header}.{}", name(key)), inner, eol),
            [(key, inner)] if is_table(inner) => tables(&format!("{header}.{}", name(key)), inner, eol),
            entries => table(header, ["[", "]"], entries, eol),
        },
        Data::List(items) => {
            let one = |item: &Data| match item {
                Data::Map(entries) => table(header, ["[[", "]]"], entries, eol),
                _ => None,
            };
            Some(items.iter().map(one).collect::<Option<Vec<String>>>()?.join(eol))
        }
        _ => None,
    }
}

/// Writes a table with a line for each key.
fn table(header: &str, brackets: [&str; 2], entries: &[(String, Data)], eol: &str) -> Option<String> {
    let line = |(key, value): &(String, Data)| Some(format!("{} = {}{eol}", name(key), written(value)?));
    let lines: Option<Vec<String>> = entries.iter().map(line).collect();
    Some(format!("{}{header}{}{eol}{}", brackets[0], brackets[1], lines?.concat()))
}

/// Returns where the first header of something stands.
fn start(node: &Node) -> Option<usize> {
    let own = (node.layout() == Some(Layout::Lines)).then_some(node.range.start);
    let inner = (0..node.len())
        .map(|at| node.child(at))
        .filter(|child| matches!(child.layout(), Some(Layout::Lines | Layout::Tables | Layout::Dotted)));
    own.into_iter().chain(inner.filter_map(start)).min()
}

/// Returns where the last value of something ends.
fn end(node: &Node) -> usize {
    (0..node.len()).map(|at| end(node.child(at))).fold(node.range.end, usize::max)
}

/// Puts tables above a header and the comment that belongs to it.
fn above(text: Text<'_>, header: usize, lines: &str) -> Splice {
    Splice::insert(owned_start(Format::Toml, text.text, header), format!("{lines}{}", text.eol))
}

/// Puts tables below the line of a place, with blank lines around.
fn below(text: Text<'_>, at: usize, lines: &str) -> Splice {
    let next = below_own_comment(text.text, at);
    if !text.text[..next].ends_with('\n') {
        let lines = lines.strip_suffix(text.eol).unwrap_or(lines);
        return Splice::insert(next, format!("{0}{0}{lines}", text.eol));
    }
    let is_blank = |at: usize| line_end(text.text, at) == at;
    let before = if is_blank(line_start(text.text, next - 1)) { "" } else { text.eol };
    let after = if next == text.text.len() || is_blank(next) { "" } else { text.eol };
    debug_assert!(next_line(text.text, at) <= next);
    Splice::insert(next, format!("{before}{lines}{after}"))
}
