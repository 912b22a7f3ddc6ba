//! Formats with a line for each value: `.env` files, and INI with its sections.

use std::ops::Range;

use crate::Place;
use crate::comments::{owned_start, with_blank_or_end};
use crate::fault::{Fault, Unread};
use crate::format::Format;
use crate::layout::{Text, below_header, line_end, line_indent, line_start, next_line};
use crate::node::{Bar, Data, Entry, Kind, Layout, Node, Style};
use crate::pieces::{Splice, below};

/// Reads a `.env` file.
pub(crate) fn read_env(text: &str) -> Result<Node, Unread> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') {
            at = next_line(text, end);
            continue;
        }
        let start = end - content.len();
        let name = content.strip_prefix("export ").map_or(content, str::trim_start);
        let key_start = end - name.len();
        let Some(equals) = name.find('=') else { return Err(Unread::at(text, at, "the line has no '='")) };
        let key = name[..equals].trim_end();
        if key.is_empty() || key.contains([' ', '\t', '"', '\'']) {
            return Err(Unread::at(text, start, "the line has no name before its '='"));
        }
        let key_range = key_start..key_start + key.len();
        let value = env_value(text, key_start + equals + 1, end)?;
        at = next_line(text, value.range.end);
        entries.push(Entry { key: key.to_owned(), key_range, value });
    }
    Ok(Node { range: 0..text.len(), kind: Kind::Map(entries, Layout::Lines), bar: None })
}

/// Reads the value of a line that ends here, unless a quote makes it longer.
fn env_value(text: &str, from: usize, end: usize) -> Result<Node, Unread> {
    let start = end - text[from..end].trim_start().len();
    let quote = text[start..].chars().next().filter(|quote| matches!(quote, '"' | '\'') && start < end);
    let Some(quote) = quote else {
        let written = &text[start..end];
        let comment =
            written.match_indices('#').find(|(at, _)| *at == 0 || written[..*at].ends_with([' ', '\t']));
        let value = written[..comment.map_or(written.len(), |(at, _)| at)].trim_end();
        let start = if value.is_empty() { from } else { start };
        return Ok(Node::scalar(start..start + value.len(), Data::Text(value.to_owned()), Style::Plain));
    };
    let inside = &text[start + 1..];
    let mut is_escaped = false;
    let close = inside.char_indices().find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = quote == '"' && *c == '\\' && !is_escaped;
        ends
    });
    let Some((close, _)) = close else { return Err(Unread::at(text, start, "its quote does not end")) };
    let range = start..start + close + 2;
    let behind = text[range.end..line_end(text, range.end)].trim_start();
    if !behind.is_empty() && !behind.starts_with('#') {
        return Err(Unread::at(text, range.end, "something stands behind the quote"));
    }
    let written = &inside[..close];
    let style = if quote == '"' { Style::Double } else { Style::Single };
    let value = match style {
        Style::Double => unescaped(written),
        _ => written.to_owned(),
    };
    Ok(Node::scalar(range, Data::Text(value), style))
}

fn unescaped(written: &str) -> String {
    let mut value = String::new();
    let mut rest = written.chars();
    while let Some(c) = rest.next() {
        match (c, rest.as_str().chars().next()) {
            ('\\', Some(next @ ('n' | 'r' | 't' | '"' | '\\' | '$'))) => {
                rest.next();
                value.push(match next {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                });
            }
            _ => value.push(c),
        }
    }
    value
}

/// Reads an INI file. Keys above the first section are keys of the top.
pub(crate) fn read_ini(text: &str) -> Result<Node, Unread> {
    let mut top: Vec<Entry> = Vec::new();
    let mut section: Option<usize> = None;
    let mut at = 0;
    let mut has_entry = false;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        let content = line.trim();
        let start = at + line.len() - line.trim_start().len();
        let next = next_line(text, end);
        if content.is_empty() || content.starts_with(['#', ';']) {
            at = next;
            continue;
        }
        if content.starts_with('[') {
            let close =
                content.rfind(']').ok_or_else(|| Unread::at(text, start, "its bracket does not end"))?;
            let range = start..start + content.len();
            let value = Node { range: range.clone(), kind: Kind::Map(Vec::new(), Layout::Lines), bar: None };
            section = Some(top.len());
            top.push(Entry { key: content[1..close].trim().to_owned(), key_range: range, value });
            has_entry = false;
        } else {
            let entries = match section.map(|section| &mut top[section].value.kind) {
                Some(Kind::Map(entries, _)) => entries,
                _ => &mut top,
            };
            let is_deeper = line_indent(text, start).len()
                > entries.last().map_or(0, |last| line_indent(text, last.key_range.start).len());
            match ini_entry(text, start, start + content.len()) {
                // A line that is indented deeper goes on with the one before, unless it is an entry itself.
                None if has_entry && is_deeper => {
                    if let Some(last) = entries.last_mut() {
                        last.value.bar = Some(Bar::SeveralLines);
                        last.value.range.end = start + content.len();
                    }
                }
                None => entries.push(Entry {
                    key: content.to_owned(),
                    key_range: start..start + content.len(),
                    value: Node {
                        bar: Some(Bar::OddKey),
                        ..Node::scalar(end..end, Data::Null, Style::Plain)
                    },
                }),
                Some(entry) if has_entry && is_deeper && !line_indent(text, start).is_empty() => {
                    // Perhaps a value that goes on, perhaps a key.
                    if let Some(last) = entries.last_mut() {
                        last.value.bar = Some(Bar::SeveralLines);
                    }
                    entries
                        .push(Entry { value: Node { bar: Some(Bar::SeveralLines), ..entry.value }, ..entry });
                }
                Some(entry) => entries.push(entry),
            }
            has_entry = true;
        }
        at = next;
    }
    Ok(Node { range: 0..text.len(), kind: Kind::Map(top, Layout::Lines), bar: None })
}

fn ini_entry(text: &str, start: usize, end: usize) -> Option<Entry> {
    let line = &text[start..end];
    let sign = line.find(['=', ':'])?;
    let key = line[..sign].trim_end();
    if key.is_empty() {
        return None;
    }
    let value = line[sign + 1..].trim();
    let from = if value.is_empty() { start + sign + 1 } else { end - line[sign + 1..].trim_start().len() };
    let bar = may_have_comment(value).then_some(Bar::MaybeComment);
    let value =
        Node { bar, ..Node::scalar(from..from + value.len(), Data::Text(value.to_owned()), Style::Plain) };
    Some(Entry { key: key.to_owned(), key_range: start..start + key.len(), value })
}

pub(crate) fn set(format: Format, text: Text<'_>, old: &Node, value: &Data) -> Result<Vec<Splice>, Fault> {
    let Kind::Scalar(_, style) = old.kind else { return Err(Fault::Table) };
    let new = match written(format, style, value)? {
        // Some programs take the comment behind a value that is empty for the value.
        new if format == Format::Env
            && new.is_empty()
            && line_end(text.text, old.range.end) > old.range.end =>
        {
            "''".to_owned()
        }
        new => new,
    };
    let blank = text.text[..old.range.start].ends_with(['=', ':'])
        && old.range.is_empty()
        && text.text[line_start(text.text, old.range.start)..old.range.start].contains(" =");
    Ok(vec![Splice { range: old.range.clone(), new: if blank { format!(" {new}") } else { new } }])
}

fn written(format: Format, style: Style, value: &Data) -> Result<String, Fault> {
    let value = match value {
        Data::Text(text) | Data::Number(text) | Data::Other(text) => text.clone(),
        Data::Bool(is) => is.to_string(),
        Data::Null | Data::List(_) | Data::Map(_) | Data::Tagged(..) | Data::Alias(..) => {
            return Err(Fault::NoSuchValue);
        }
    };
    if format == Format::Ini {
        if may_have_comment(&value) || value.starts_with(['#', ';']) || value.matches('"').count() % 2 == 1 {
            return Err(Fault::Barred(Bar::MaybeComment));
        }
        let is_plain = value.trim() == value && !value.contains(['\n', '\r']);
        return if is_plain { Ok(value) } else { Err(Fault::NoSuchValue) };
    }
    // Shells and the libraries that read such files agree on what stands bare, and on single quotes. In double quotes some
    // put variables in, and some know escapes that others do not.
    let is_bare = value.chars().all(|c| c.is_alphanumeric() || "_-./:@%+,=".contains(c));
    let is_alike_in_double_quotes = !value.contains(['"', '\\', '$', '`', '\n', '\r', '!']);
    Ok(match style {
        Style::Double if is_alike_in_double_quotes => format!("\"{value}\""),
        Style::Plain | Style::Block if is_bare => value,
        _ if !value.contains(['\'', '\r']) && !value.contains("\\\\") && !value.ends_with('\\') => {
            format!("'{value}'")
        }
        _ if is_alike_in_double_quotes => format!("\"{value}\""),
        _ => return Err(Fault::Barred(Bar::Quotes)),
    })
}

/// Returns whether a part of a value is a comment to some programs.
fn may_have_comment(value: &str) -> bool {
    [" ;", " #", "\t;", "\t#"].iter().any(|sign| value.contains(sign)) || value.ends_with('\\')
}

pub(crate) fn insert(
    format: Format,
    text: Text<'_>,
    place: &Place<'_>,
    key: &str,
    value: &Data,
) -> Result<Vec<Splice>, Fault> {
    let (parent, before, is_top) = (place.parent, place.before, place.path.is_empty());
    let Kind::Map(entries, _) = &parent.kind else { return Err(Fault::NoSuchValue) };
    if let Data::Map(inner) = value {
        return section(format, text, entries, before, key, inner);
    }
    if is_top && has_only_sections(entries) {
        let has_it = |inner: &[Entry]| inner.iter().any(|own| own.key == key);
        let has_it = |entry: &&Entry| matches!(&entry.value.kind, Kind::Map(inner, _) if has_it(inner));
        let having = entries.iter().filter(has_it).map(|entry| entry.key.clone()).collect();
        let sections = entries.iter().map(|entry| entry.key.clone()).collect();
        return Err(Fault::NoSection { key: key.to_owned(), having, sections });
    }
    let is_name = !key.is_empty() && key.trim() == key && !key.contains(['=', '\n', '\r', '#', ';', '[']);
    if !is_name {
        return Err(Fault::NoSuchValue);
    }
    let own = |entry: &&Entry| entry.value.layout().is_none();
    let model = entries.iter().rfind(own);
    let sign = model.map_or(if format == Format::Env { "=" } else { " = " }, |model| {
        let line_end = line_end(text.text, model.key_range.end);
        let behind = &text.text[model.key_range.end..line_end];
        let sign = behind.trim_start();
        let blank = sign.get(1..).unwrap_or_default();
        let end = behind.len() - blank.trim_start_matches([' ', '\t']).len();
        // A value that is not there leaves no blank.
        if blank.trim().is_empty() && !behind.starts_with(' ') {
            sign.get(..1).unwrap_or("=")
        } else {
            &behind[..end]
        }
    });
    let new = format!("{key}{sign}{}", written(format, Style::Plain, value)?);
    if let Some(next) = entries.get(before) {
        let at = owned_start(format, text.text, next.key_range.start);
        let indent = line_indent(text.text, next.key_range.start);
        return Ok(vec![Splice::insert(at, format!("{indent}{new}{}", text.eol))]);
    }
    let (at, indent) = match (model, is_top) {
        (Some(model), _) => {
            (model.value.range.end.max(model.key_range.end), line_indent(text.text, model.key_range.start))
        }
        // Above the sections, or in an empty file.
        (None, true) if format == Format::Env => (text.text.len(), ""),
        (None, true) => {
            return Ok(vec![Splice::insert(below_header(text.text), format!("{new}{}", text.eol))]);
        }
        (None, false) => (parent.range.end, ""),
    };
    Ok(vec![below(text, at, &format!("{indent}{new}"))])
}

/// Says that a key would be in no section of an INI file, if no other key is: programs would not read the file any more, or
/// not find the key.
pub(crate) fn in_section(top: &Node, fault: Fault) -> Fault {
    let Kind::Map(entries, _) = &top.kind else { return fault };
    match fault {
        Fault::Missing { key, known, elsewhere, is_last: true }
            if known.iter().eq(entries.iter().map(|entry| &entry.key)) && has_only_sections(entries) =>
        {
            Fault::NoSection { key, having: elsewhere, sections: known }
        }
        fault => fault,
    }
}

fn has_only_sections(entries: &[Entry]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| entry.value.layout().is_some())
}

/// Adds a section, before another or at the end.
fn section(
    format: Format,
    text: Text<'_>,
    entries: &[Entry],
    before: usize,
    name: &str,
    inner: &[(String, Data)],
) -> Result<Vec<Splice>, Fault> {
    if format != Format::Ini || name.contains(['\n', '\r']) {
        return Err(Fault::NoSuchValue);
    }
    let next = entries.get(before).map(|next| owned_start(format, text.text, next.key_range.start));
    let mut new = String::new();
    if !entries.is_empty() && next.is_none() {
        new.push_str(if text.text.ends_with('\n') { "" } else { text.eol });
        new.push_str(text.eol);
    }
    new.push_str(&format!("[{name}]{}", text.eol));
    for (key, value) in inner {
        new.push_str(&format!("{key} = {}{}", written(format, Style::Plain, value)?, text.eol));
    }
    Ok(vec![match next {
        Some(next) => Splice::insert(next, new + text.eol),
        None => Splice::insert(text.text.len(), new),
    }])
}

pub(crate) fn delete(format: Format, text: Text<'_>, parent: &Node, at: usize) -> Result<Vec<Splice>, Fault> {
    let Kind::Map(entries, _) = &parent.kind else { return Err(Fault::NoSuchValue) };
    let end = |node: &Node, range: Range<usize>| match &node.kind {
        Kind::Map(inner, _) => inner.last().map_or(range.end, |last| last.range().end),
        _ => range.end,
    };
    let range = entries[at].range();
    let end = end(&entries[at].value, range.clone());
    let start = owned_start(format, text.text, range.start);
    Ok(vec![Splice::delete(with_blank_or_end(text.text, start..next_line(text.text, end)))])
}
