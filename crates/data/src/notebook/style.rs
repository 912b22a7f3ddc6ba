//! How a notebook is written, so that what comes to it looks alike.

use crate::layout::{is_alone_before, line_ending, line_indent, string};
use crate::node::{Data, Kind, Node};

use super::field;

/// How a notebook is written.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) eol: &'static str,
    /// What stands between a key and its value.
    colon: String,
    /// A comma between what stands in one line.
    pub(super) comma: &'static str,
    /// How far the cells are indented, if each begins a line.
    pub(super) list: Option<Lines>,
    /// How far the keys of a cell are, if each begins a line.
    pub(super) cell: Option<Lines>,
    /// Whether characters beyond ASCII are escaped: some are, and none is written as it is.
    escapes: bool,
    /// Whether the sources are written as one text, and none as a list of its lines.
    pub(super) is_one_text: bool,
}

/// How entries begin that have lines of their own.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// The blanks before what the entries are in.
    pub(super) outer: String,
    /// One level more.
    pub(super) unit: String,
}

impl Lines {
    pub(super) fn inner(&self) -> String {
        format!("{}{}", self.outer, self.unit)
    }

    pub(super) fn deeper(&self) -> Self {
        Self { outer: self.inner(), unit: self.unit.clone() }
    }
}

impl Style {
    /// Reads it off a notebook and its list of cells.
    pub(super) fn read(text: &str, top: &Node, cells: &Node) -> Self {
        let top_lines = lines(text, top);
        let (list, cell) = match first(cells) {
            Some(_) => (lines(text, cells), lines(text, cells.child(0))),
            None => {
                let unit = top_lines.map(|lines| lines.unit);
                let outer = line_indent(text, cells.range.start).to_owned();
                let list = unit.map(|unit| Lines { outer, unit });
                (list.clone(), list.map(|list| list.deeper()))
            }
        };
        let colon = match &top.kind {
            Kind::Map(entries, _) => {
                entries.first().map(|entry| entry.key_range.end..entry.value.range.start)
            }
            _ => None,
        };
        let colon = colon.map(|between| &text[between]).filter(|colon| !colon.contains(['\r', '\n']));
        let colon = colon.unwrap_or(": ").to_owned();
        let comma = if colon.ends_with(' ') { ", " } else { "," };
        let sources: Vec<&Node> =
            (0..cells.len()).filter_map(|at| field(cells.child(at), "source")).collect();
        let is_text = |source: &&Node| matches!(source.kind, Kind::Scalar(Data::Text(_), _));
        let is_one_text = !sources.is_empty() && sources.iter().all(is_text);
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let escapes = body.is_ascii() && has_escape(body);
        Self { eol: line_ending(text), colon, comma, list, cell, escapes, is_one_text }
    }

    pub(super) fn entry(&self, key: &str, value: &str) -> String {
        format!("\"{key}\"{}{value}", self.colon)
    }

    /// Writes entries between brackets.
    pub(super) fn bracketed(
        &self,
        [open, close]: [&str; 2],
        parts: &[String],
        lines: Option<&Lines>,
    ) -> String {
        match lines {
            _ if parts.is_empty() => format!("{open}{close}"),
            Some(lines) => {
                let (eol, inner) = (self.eol, lines.inner());
                let sep = format!(",{eol}{inner}");
                format!("{open}{eol}{inner}{}{eol}{}{close}", parts.join(&sep), lines.outer)
            }
            None => format!("{open}{}{close}", parts.join(self.comma)),
        }
    }

    /// Writes what stands between the quotes of a string.
    pub(super) fn inside(&self, text: &str) -> String {
        let quoted = string(text);
        let inside = &quoted[1..quoted.len() - 1];
        if !self.escapes || inside.is_ascii() {
            return inside.to_owned();
        }
        let mut escaped = String::new();
        for character in inside.chars() {
            if character.is_ascii() {
                escaped.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
        escaped
    }
}

fn first(node: &Node) -> Option<usize> {
    node.ranges().first().map(|first| first.start)
}

/// Returns how the entries of a list or map begin; `None` if it has none that begins a line.
fn lines(text: &str, node: &Node) -> Option<Lines> {
    let inner = first(node).filter(|first| is_alone_before(text, *first))?;
    let outer = line_indent(text, node.range.start);
    let unit = line_indent(text, inner).strip_prefix(outer).unwrap_or(" ");
    Some(Lines { outer: outer.to_owned(), unit: unit.to_owned() })
}

/// Returns whether a character beyond ASCII is escaped somewhere.
fn has_escape(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && bytes.next() == Some(b'u') {
            let digits: String = bytes.by_ref().take(4).map(char::from).collect();
            if u32::from_str_radix(&digits, 16).is_ok_and(|code| code >= 0x80) {
                return true;
            }
        }
    }
    false
}
