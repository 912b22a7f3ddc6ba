//! Lines and indentation of a text, and JSON as it is written into one.

use crate::node::Data;

/// A text with its line ending.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    pub(crate) eol: &'static str,
}

/// Returns the line ending of a text, which its first line has.
pub(crate) fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// Returns where the line of this place ends, without its ending.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if end > at && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// Returns where the next line begins.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Returns the blanks with which the line of this place begins.
pub(crate) fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns where the first key of a text goes that has none yet: below the comment at its top, if a blank line ends that.
pub(crate) fn below_header(text: &str) -> usize {
    let mut at = 0;
    while text[at..].starts_with(['#', ';']) {
        at = next_line(text, at);
    }
    let ends = at > 0 && line_end(text, at) == at && next_line(text, at) > at;
    if ends { next_line(text, at) } else { 0 }
}

/// Returns whether only blanks stand before this place in its line.
pub(crate) fn is_alone_before(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// How lines of a value begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indent<'a> {
    /// The line in which the value begins.
    pub(crate) line: &'a str,
    /// One level more.
    pub(crate) unit: &'a str,
    pub(crate) eol: &'a str,
}

/// Writes a value as JSON: over several lines, or in one.
pub(crate) fn json(value: &Data, indent: Option<Indent<'_>>) -> String {
    let (open, close, parts): (_, _, Vec<String>) = match value {
        Data::List(items) if !items.is_empty() => {
            let deeper = indent.map(|indent| (indent, format!("{}{}", indent.line, indent.unit)));
            let part = |item| json(item, deeper.as_ref().map(|(indent, line)| Indent { line, ..*indent }));
            ("[", "]", items.iter().map(part).collect())
        }
        Data::Map(entries) if !entries.is_empty() => {
            let deeper = indent.map(|indent| (indent, format!("{}{}", indent.line, indent.unit)));
            let part = |(key, value): &(String, Data)| {
                let value = json(value, deeper.as_ref().map(|(indent, line)| Indent { line, ..*indent }));
                format!("{}: {value}", string(key))
            };
            ("{", "}", entries.iter().map(part).collect())
        }
        Data::List(_) => return "[]".to_owned(),
        Data::Map(_) => return "{}".to_owned(),
        Data::Null => return "null".to_owned(),
        Data::Bool(is) => return is.to_string(),
        Data::Number(number) => return number.clone(),
        Data::Text(text) | Data::Other(text) | Data::Alias(text, _) => return string(text),
        Data::Tagged(_, value) => return json(value, indent),
    };
    match indent {
        Some(Indent { line, unit, eol }) => {
            let sep = format!(",{eol}{line}{unit}");
            format!("{open}{eol}{line}{unit}{}{eol}{line}{close}", parts.join(&sep))
        }
        None if open == "{" => format!("{{ {} }}", parts.join(", ")),
        None => format!("[{}]", parts.join(", ")),
    }
}

/// Writes a text as a string of JSON.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
