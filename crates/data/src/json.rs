//! JSON, also with comments and commas at the end.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::comments::Comments;
use crate::fault::Unread;
use crate::flow::Flow;
use crate::layout::{self, Indent, Text, is_alone_before, line_indent};
use crate::node::{DEEP, Data, Entry, Kind, Layout, Node, Style};
use crate::pieces::Splice;

/// What real files have beyond JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// JSON itself.
const STRICT: ParseOptions = ParseOptions { allow_comments: false, allow_trailing_commas: false, ..OPTIONS };

pub(crate) fn read(text: &str) -> Result<Node, Unread> {
    read_with(text, &OPTIONS)
}

/// Reads JSON and nothing beyond it. A byte order mark before it is no part of it.
pub(crate) fn read_strict(text: &str) -> Result<Node, Unread> {
    // Blanks of the same length, so that all places stay.
    let blanked = text.strip_prefix('\u{feff}').map(|body| format!("   {body}"));
    let text = blanked.as_deref().unwrap_or(text);
    check_strict(text)?;
    read_with(text, &STRICT)
}

/// Refuses what the parser takes although JSON has no such thing, and what is nested too deeply. Brackets in strings count for
/// nothing: the colours of a terminal, which notebooks are full of, have many that never close.
fn check_strict(text: &str) -> Result<(), Unread> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            0..0x20 if is_string => {
                return Err(Unread::at(
                    text,
                    at,
                    "a string has a control character in it that is not escaped",
                ));
            }
            _ if is_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            0x0b | 0x0c | 0x80.. => {
                return Err(Unread::at(
                    text,
                    at,
                    "a character stands outside of strings that JSON has not there",
                ));
            }
            _ => {}
        }
        if depth > DEEP {
            return Err(Unread::at(text, at, "its brackets are nested too deeply"));
        }
    }
    Ok(())
}

fn read_with(text: &str, options: &ParseOptions) -> Result<Node, Unread> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), options)
        .map_err(|error| Unread::at(text, error.range().start, &error.kind().to_string()))?;
    let top = parsed.value.ok_or_else(|| Unread::at(text, 0, "it is empty"))?;
    Ok(node(&top))
}

fn node(value: &ast::Value<'_>) -> Node {
    let range = value.range();
    let range = range.start..range.end;
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Scalar(Data::Text(text.value.to_string()), Style::Double),
        ast::Value::NumberLit(number) => Kind::Scalar(Data::Number(number.value.to_owned()), Style::Plain),
        ast::Value::BooleanLit(is) => Kind::Scalar(Data::Bool(is.value), Style::Plain),
        ast::Value::NullKeyword(_) => Kind::Scalar(Data::Null, Style::Plain),
        ast::Value::Array(array) => Kind::List(array.elements.iter().map(node).collect(), Layout::Flow),
        ast::Value::Object(object) => {
            let entry = |property: &ast::ObjectProp<'_>| {
                let key = property.name.range();
                Entry {
                    key: property.name.as_str().to_owned(),
                    key_range: key.start..key.end,
                    value: node(&property.value),
                }
            };
            Kind::Map(object.properties.iter().map(entry).collect(), Layout::Flow)
        }
    };
    Node { range, kind, bar: None }
}

/// Returns what one level is indented by: what the first entry that begins a line is deeper than its parent.
fn unit(text: &str) -> &str {
    let mut last = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if indent.len() > last.len() && indent.starts_with(last) {
            return &indent[last.len()..];
        }
        last = indent;
    }
    "  "
}

pub(crate) fn set(text: Text<'_>, parent: &Node, at: usize, value: &Data) -> Vec<Splice> {
    let (old, entry) = (parent.child(at), parent.ranges().swap_remove(at));
    // What stands in a line stays in one.
    let is_in_line = old.len() > 0 && !text.text[old.range.clone()].contains('\n');
    let in_lines = !is_in_line && is_alone_before(text.text, entry.start);
    let in_lines = in_lines && (old.len() > 0 || !is_beside_short(text, parent, value));
    let new = written(text, old.range.start, value, in_lines);
    vec![Splice { range: old.range.clone(), new }]
}

/// Returns whether a list or map stands beside others of its kind, all of which are in one line.
fn is_beside_short(text: Text<'_>, parent: &Node, value: &Data) -> bool {
    let is_list = matches!(value, Data::List(_));
    let alike = |node: &&Node| match &node.kind {
        Kind::List(items, _) => is_list && !items.is_empty(),
        Kind::Map(entries, _) => !is_list && !entries.is_empty(),
        Kind::Scalar(..) => false,
    };
    let mut beside = (0..parent.len()).map(|at| parent.child(at)).filter(alike).peekable();
    beside.peek().is_some() && beside.all(|node| !text.text[node.range.clone()].contains('\n'))
}

pub(crate) fn insert(
    text: Text<'_>,
    parent: &Node,
    before: usize,
    key: Option<&str>,
    value: &Data,
) -> Vec<Splice> {
    let flow = Flow::new(text, parent, Comments::Slashes);
    let name = key.map(|key| format!("{}: ", layout::string(key))).unwrap_or_default();
    match flow.first() {
        Some((first, begins_line)) => {
            let in_lines = begins_line && !is_beside_short(text, parent, value);
            let entry = format!("{name}{}", written(text, first, value, in_lines));
            flow.insert(before, &entry, "")
        }
        None => {
            let in_lines = text.text.contains('\n');
            let line = line_indent(text.text, parent.range.start);
            let unit = unit(text.text);
            let deeper = format!("{line}{unit}");
            let indent = Indent { line: &deeper, unit, eol: text.eol };
            let entry = format!("{name}{}", layout::json(value, in_lines.then_some(indent)));
            let empty = match in_lines {
                true => format!("{}{deeper}{entry}{}{line}", text.eol, text.eol),
                false => entry.clone(),
            };
            flow.insert(before, &format!("{deeper}{entry}"), &empty)
        }
    }
}

pub(crate) fn delete(text: Text<'_>, parent: &Node, at: usize) -> Vec<Splice> {
    Flow::new(text, parent, Comments::Slashes).delete(at)
}

fn written(text: Text<'_>, at: usize, value: &Data, in_lines: bool) -> String {
    let indent = Indent { line: line_indent(text.text, at), unit: unit(text.text), eol: text.eol };
    layout::json(value, in_lines.then_some(indent))
}
