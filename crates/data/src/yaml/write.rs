//! Values as they are written in YAML.

use super::read::plain;
use crate::layout::{json, string};
use crate::node::{Data, Style};

/// Returns whether a value is written as a block where it can be.
pub(super) fn is_block(value: &Data) -> bool {
    match value {
        Data::List(items) => !items.is_empty(),
        Data::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}

/// Writes a list or map in lines of this column. The last has no ending.
pub(super) fn block(value: &Data, column: usize, unit: usize, eol: &str) -> String {
    let indent = " ".repeat(column);
    let lines: Vec<String> = match value {
        Data::List(items) => {
            let line = |item: &Data| match is_block(item) {
                true => format!("{indent}- {}", block(item, column + 2, unit, eol).trim_start()),
                false => format!("{indent}- {}", one(item, column + 2, eol)),
            };
            items.iter().map(line).collect()
        }
        Data::Map(entries) => {
            let line = |(key, value): &(String, Data)| {
                let key = scalar(&Data::Text(key.clone()), Style::Plain, None);
                match is_block(value) {
                    true => format!("{indent}{key}:{eol}{}", block(value, column + unit, unit, eol)),
                    false => format!("{indent}{key}: {}", one(value, column + unit, eol)),
                }
            };
            entries.iter().map(line).collect()
        }
        _ => vec![format!("{indent}{}", one(value, column, eol))],
    };
    lines.join(eol)
}

/// Writes a value that is no block.
pub(super) fn one(value: &Data, column: usize, eol: &str) -> String {
    match value {
        Data::List(_) => "[]".to_owned(),
        Data::Map(_) => "{}".to_owned(),
        _ => scalar(value, Style::Plain, Some((column, eol))),
    }
}

/// Writes a value in one line, between brackets.
pub(super) fn flow(value: &Data, style: Style) -> String {
    match value {
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(|item| flow(item, Style::Plain)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Map(entries) => {
            let entry = |(key, value): &(String, Data)| {
                format!("{}: {}", flow(&Data::Text(key.clone()), Style::Plain), flow(value, Style::Plain))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            if entries.is_empty() { "{}".to_owned() } else { format!("{{{}}}", entries.join(", ")) }
        }
        Data::Text(text) if style == Style::Plain && text.contains([',', '[', ']', '{', '}', '?', ':']) => {
            string(text)
        }
        _ => scalar(value, style, None),
    }
}

/// Writes a scalar, a text in this style if it can be. Several lines become a block of this column, where there may be one.
pub(super) fn scalar(value: &Data, style: Style, lines: Option<(usize, &str)>) -> String {
    let text = match value {
        Data::Text(text) => text,
        Data::Number(written) => return number(written),
        _ => return json(value, None),
    };
    let is_shown = !text.chars().any(|c| c != '\n' && is_odd(c));
    if let Some((column, eol)) = lines
        && text.trim_end_matches('\n').contains('\n')
        && is_shown
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && style != Style::Double
    {
        let chomping = if text.ends_with('\n') { "" } else { "-" };
        let indent = " ".repeat(column);
        let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        let lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(line).collect();
        return format!("|{chomping}{eol}{}", lines.join(eol));
    }
    match style {
        Style::Single if is_shown && !text.contains('\n') => format!("'{}'", text.replace('\'', "''")),
        Style::Plain | Style::Block if is_plain(text) => text.clone(),
        _ => escaped(text),
    }
}

/// Writes a number of JSON as a number of YAML 1.1 too, where `1e5` is a text: a power of ten follows a fraction and has a sign.
fn number(written: &str) -> String {
    let Some((fraction, power)) = written.split_once(['e', 'E']) else { return written.to_owned() };
    let point = if fraction.contains('.') { "" } else { ".0" };
    let sign = if power.starts_with(['+', '-']) { "" } else { "+" };
    format!("{fraction}{point}e{sign}{power}")
}

/// JSON's strings are YAML's, but for characters that YAML does not print.
fn escaped(text: &str) -> String {
    let mut quoted = String::new();
    for c in string(text).chars() {
        match is_odd(c) {
            true => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => quoted.push(c),
        }
    }
    quoted
}

/// Returns whether a character is not printed as itself, or ends a line to some programs.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a text can stand without quotes, for programs of YAML 1.1 too.
fn is_plain(text: &str) -> bool {
    let is_word = !matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "yes" | "n" | "no" | "on" | "off" | "true" | "false" | "null" | "~" | "<<" | "="
    );
    let begins = text.chars().next().is_some_and(|first| {
        !first.is_whitespace()
            && !matches!(
                first,
                '-' | '?'
                    | ':'
                    | ','
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '#'
                    | '&'
                    | '*'
                    | '!'
                    | '|'
                    | '>'
                    | '\''
                    | '"'
                    | '%'
                    | '@'
                    | '`'
            )
    });
    // Dates, times and numbers of YAML 1.1.
    let is_like_number = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '.'))
        && text.chars().all(|c| {
            c.is_ascii_hexdigit()
                || matches!(c, '.' | ':' | '_' | '-' | '+' | 'x' | 'o' | 'T' | 't' | 'Z' | ' ')
        });
    is_word
        && begins
        && !is_like_number
        && matches!(plain(text), Data::Text(_))
        && !text.ends_with([' ', ':', '\t'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(is_odd)
        && !text.starts_with("...")
}
