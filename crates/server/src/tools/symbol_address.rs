//! Where the name of a symbol stands that a call means: a definition by its name, or a name in a line.
//!
//! A name that stands in several places is refused with those, since nobody can tell which is meant.

use std::ops::Range;

use emend_workspace::problem::Problem;

use super::asked_servers::{Known, invalid};
use crate::messages::server_edits;

/// The arguments that name a symbol of a file.
pub(super) struct SymbolAddress<'a> {
    /// Its name, or its path.
    pub(super) symbol: Option<&'a str>,
    /// A line where it stands, from 1.
    pub(super) line: Option<usize>,
    /// A column where it stands, from 1.
    pub(super) column: Option<usize>,
}

impl SymbolAddress<'_> {
    /// Returns where the name stands that the call means.
    pub(super) fn place(&self, file: &Known) -> Result<Range<usize>, Problem> {
        let text = file.characters();
        let last = self.symbol.map(last_part);
        let line = match (self.symbol, self.line, self.column) {
            (_, Some(line), _) => line,
            (_, None, Some(_)) => return Err(invalid("line", "it is required with column".into())),
            (None, None, None) => return Err(invalid("symbol", "it is required, or line and column".into())),
            (Some(symbol), None, None) => defined(file, symbol)?,
        };
        let Some((start, content)) = line_of(text, line) else {
            return Err(invalid("line", format!("the file has no line {line}")));
        };
        match (last, self.column) {
            (name, Some(column)) => {
                let at = column.checked_sub(1).and_then(|before| content.char_indices().nth(before));
                let range = at.and_then(|(at, _)| word_around(content, at)).ok_or_else(|| {
                    invalid(
                        "column",
                        format!("no name stands at column {column} of line {line}: {}", content.trim()),
                    )
                })?;
                if name.is_some_and(|name| *name != content[range.clone()]) {
                    let found = &content[range];
                    return Err(invalid(
                        "symbol",
                        format!("at column {column} of line {line} stands {found}"),
                    ));
                }
                Ok(start + range.start..start + range.end)
            }
            (Some(name), None) => {
                let found: Vec<usize> = words(content, name).collect();
                match found[..] {
                    [at] => Ok(start + at..start + at + name.len()),
                    [] => Err(invalid(
                        "symbol",
                        format!("{name} does not stand in line {line}: {}", content.trim()),
                    )),
                    _ => {
                        let columns: Vec<String> =
                            found.iter().map(|at| (content[..*at].chars().count() + 1).to_string()).collect();
                        let message = format!(
                            "{name} stands in line {line} more than once; give line = {line} and the column: {}",
                            columns.join(" or ")
                        );
                        Err(invalid("column", message))
                    }
                }
            }
            (None, None) => Err(invalid(
                "column",
                "it is required with line, or symbol, the name that stands there".into(),
            )),
        }
    }
}

/// Returns the line of the name of a definition.
fn defined(file: &Known, symbol: &str) -> Result<usize, Problem> {
    let name = last_part(symbol);
    let outline = emend_workspace::symbols::outline(&file.name, &file.text);
    let found = outline.as_ref().map(|outline| outline.find(symbol)).unwrap_or_default();
    match found[..] {
        [one] => Ok(one.name_line),
        [] => {
            let lines: Vec<String> = mentions_of(file, name);
            let mut single =
                file.characters().lines().zip(1..).filter(|(line, _)| words(line, name).next().is_some());
            match &lines[..] {
                [_] if name == symbol => Ok(single.next().map_or(1, |(_, number)| number)),
                [] => Err(invalid("symbol", format!("{name} does not stand in this file"))),
                _ => Err(invalid(
                    "symbol",
                    format!(
                        "no definition in this file is called {symbol}; give the line where it stands: {}",
                        server_edits::named(&lines)
                    ),
                )),
            }
        }
        _ => {
            let lines: Vec<String> =
                found.iter().map(|one| format!("{} (line {})", symbol, one.name_line)).collect();
            Err(invalid(
                "symbol",
                format!("several are called so; give line: {}", server_edits::named(&lines)),
            ))
        }
    }
}

/// Returns the places of a name in a file.
pub(super) fn mentions_of(file: &Known, name: &str) -> Vec<String> {
    let lines = file.characters().lines().zip(1..);
    let found = lines.filter(|(line, _)| words(line, name).next().is_some());
    found.map(|(_, number): (&str, usize)| format!("{}:{number}", file.name)).collect()
}

/// Returns where a name stands in a line by itself.
pub(super) fn words<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let is_apart = |beside: Option<char>| !beside.is_some_and(is_of_word);
        !name.is_empty()
            && is_apart(line[..*at].chars().next_back())
            && is_apart(line[at + name.len()..].chars().next())
    })
}

/// Returns the name around a byte of a line.
fn word_around(line: &str, at: usize) -> Option<Range<usize>> {
    let start = line[..at].trim_end_matches(is_of_word).len();
    let end = line.len() - line[at..].trim_start_matches(is_of_word).len();
    (start < end).then_some(start..end)
}

pub(super) fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$'
}

/// Returns the start of a line, counted from one, and its content.
pub(super) fn line_of(text: &str, line: usize) -> Option<(usize, &str)> {
    let mut start = 0;
    for (content, number) in text.split_inclusive('\n').zip(1..) {
        if number == line {
            return Some((start, content.trim_end_matches(['\r', '\n'])));
        }
        start += content.len();
    }
    None
}

pub(super) fn last_part(symbol: &str) -> &str {
    symbol.rsplit(['.', ':', '/', '#', ' ']).next().unwrap_or(symbol)
}
