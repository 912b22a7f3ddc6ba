//! YAML: blocks, flows in a line, and several documents.
//!
//! The events of the parser say what a text means and where values begin; where blocks and quotes end is found in the text.

mod read;
mod write;

use self::read::next_dash;
pub(crate) use self::read::read;
use self::write::{block, flow as in_flow, is_block, one, scalar};
use crate::comments::{Comments, are_parted, owned_start, with_blank};
use crate::fault::Fault;
use crate::flow::Flow;
use crate::format::Format;
use crate::layout::{Text, is_alone_before, line_end, line_start, next_line};
use crate::node::{Bar, Data, Kind, Layout, Node, Style};
use crate::pieces::{Splice, below};

pub(crate) fn set(text: Text<'_>, parent: &Node, at: usize, value: &Data) -> Result<Vec<Splice>, Fault> {
    let old = parent.child(at);
    if parent.layout() == Some(Layout::Flow) {
        let sign = match (&parent.kind, old.range.is_empty()) {
            (Kind::Map(..), true) if text.text[..old.range.start].ends_with(':') => " ",
            (Kind::Map(..), true) => ": ",
            _ => "",
        };
        let new = format!("{sign}{}", in_flow(value, style_of(old)));
        return Ok(vec![Splice { range: old.range.clone(), new }]);
    }
    let Some(Layout::Block(column)) = parent.layout() else { return Err(Fault::Table) };
    let unit = unit(text.text);
    if let (Some(Layout::Block(own)), true) = (old.layout(), is_block(value)) {
        // A list may stand below its key without being deeper, and a map may not.
        let deeper = if matches!(value, Data::Map(_)) && own <= column { column + unit } else { own };
        let new = block(value, deeper, unit, text.eol);
        let new = format!("{}{}", " ".repeat(deeper - own), new.trim_start());
        return Ok(vec![ended(text, Splice { range: old.range.clone(), new })]);
    }
    let sign = sign_end(text.text, parent, at);
    let comment = comment_of_block(text.text, old);
    if is_block(value) && old.layout() != Some(Layout::Flow) {
        let (line, first) = match parent.kind {
            Kind::List(..) => (column + 2, true),
            _ => (column + unit, false),
        };
        let lines = block(value, line, unit, text.eol);
        if first {
            let new = match comment {
                "" => format!(" {}", lines.trim_start()),
                comment => format!("{comment}{}{lines}", text.eol),
            };
            return Ok(vec![ended(text, Splice { range: sign..old.range.end.max(sign), new })]);
        }
        // A comment behind the old value stays behind the key.
        let end = line_end(text.text, old.range.end.max(sign));
        let mut splices = vec![ended(text, Splice::insert(end, format!("{comment}{}{lines}", text.eol)))];
        if !old.range.is_empty() {
            splices.push(Splice::delete(sign..old.range.end));
        }
        return Ok(splices);
    }
    // What stands behind it in its line would become a part of a block.
    let end = old.range.end.max(sign);
    let has_rest = !text.text[end..line_end(text.text, end)].trim().is_empty();
    let old_data = old.data();
    let new = match value {
        Data::List(_) | Data::Map(_) => in_flow(value, Style::Plain),
        Data::Text(new)
            if is_date(old_data.text()) && is_date(Some(new)) && style_of(old) == Style::Plain =>
        {
            new.clone()
        }
        _ => scalar(value, style_of(old), (!has_rest).then_some((column + unit, text.eol))),
    };
    let head = new.find(text.eol).unwrap_or(new.len());
    let new = format!("{}{comment}{}", &new[..head], &new[head..]);
    if matches!(old.layout(), Some(Layout::Block(_))) && !text.text[sign..old.range.start].trim().is_empty() {
        // Comments between the key and the block stay.
        let start = line_start(text.text, old.range.start);
        let end = next_line(text.text, old.range.end);
        return Ok(vec![Splice::insert(sign, format!(" {new}")), Splice::delete(start..end)]);
    }
    let from = if old.range.is_empty() || matches!(old.layout(), Some(Layout::Block(_))) {
        sign
    } else {
        old.range.start
    };
    let blank = if from == sign { " " } else { "" };
    Ok(vec![ended(text, Splice { range: from..end, new: format!("{blank}{new}") })])
}

pub(crate) fn insert(
    text: Text<'_>,
    parent: &Node,
    before: usize,
    key: Option<&str>,
    value: &Data,
) -> Result<Vec<Splice>, Fault> {
    let key = key.map(|key| Data::Text(key.to_owned()));
    let Some(Layout::Block(column)) = parent.layout() else {
        let value = in_flow(value, Style::Plain);
        let name = key.map(|key| format!("{}: ", in_flow(&key, Style::Plain))).unwrap_or_default();
        let entry = format!("{name}{value}");
        return Ok(Flow::new(text, parent, Comments::Hash).insert(before, &entry, &entry));
    };
    let name = key.map(|key| scalar(&key, Style::Plain, None));
    let unit = unit(text.text);
    let is_in_flow = is_beside_flow(parent, value);
    let one = |value, column| match is_in_flow {
        true => in_flow(value, Style::Plain),
        false => one(value, column, text.eol),
    };
    let new = match (&name, is_block(value) && !is_in_flow) {
        (Some(name), true) => format!("{name}:{}{}", text.eol, block(value, column + unit, unit, text.eol)),
        (Some(name), false) => format!("{name}: {}", one(value, column + unit)),
        (None, true) => format!("- {}", block(value, column + 2, unit, text.eol).trim_start()),
        (None, false) => format!("- {}", one(value, column + 2)),
    };
    let indent = " ".repeat(column);
    let blank = if are_parted(text.text, &parent.ranges()) { text.eol } else { "" };
    if before < parent.len() {
        let start = start_of(text.text, parent, before);
        if is_alone_before(text.text, start) {
            // The comment above the next one stays with it.
            let above = owned_start(Format::Yaml, text.text, start);
            return Ok(vec![Splice::insert(above, format!("{indent}{new}{}{blank}", text.eol))]);
        }
        return Ok(vec![Splice::insert(start, format!("{new}{}{indent}", text.eol))]);
    }
    let last = parent.child(parent.len().saturating_sub(1));
    let end = last.range.end.max(parent.ranges().last().map_or(0, |range| range.end));
    let end = with_comments(text.text, end, column);
    Ok(vec![ended(text, below(text, end, &format!("{blank}{indent}{new}")))])
}

/// Returns whether a list or map stands beside others of its kind, all of which are in brackets.
fn is_beside_flow(parent: &Node, value: &Data) -> bool {
    let is_list = matches!(value, Data::List(_));
    let alike = |node: &&Node| match &node.kind {
        Kind::List(items, _) => is_list && !items.is_empty(),
        Kind::Map(entries, _) => !is_list && !entries.is_empty(),
        Kind::Scalar(..) => false,
    };
    let mut beside = (0..parent.len()).map(|at| parent.child(at)).filter(alike).peekable();
    beside.peek().is_some() && beside.all(|node| node.layout() == Some(Layout::Flow))
}

/// Returns the end of an entry with the comments below it that are deeper than this column, and so belong to it.
fn with_comments(text: &str, end: usize, column: usize) -> usize {
    let (mut end, mut at) = (end, next_line(text, end));
    while at < text.len() {
        let line = &text[at..line_end(text, at)];
        let content = line.trim_start_matches(' ');
        if content.starts_with('#') && line.len() - content.len() > column {
            end = at + line.len();
        } else if !content.trim().is_empty() {
            break;
        }
        at = next_line(text, at);
    }
    end
}

/// Ends the last line of a text, if a block stands there: without it the block would lose the end of its own last line.
fn ended(text: Text<'_>, splice: Splice) -> Splice {
    let is_last = splice.range.end == text.text.len() && !splice.new.ends_with('\n');
    let is_last = is_last && splice.new.contains(&format!("|{}", text.eol));
    Splice { new: if is_last { splice.new + text.eol } else { splice.new }, ..splice }
}

pub(crate) fn delete(text: Text<'_>, parent: &Node, at: usize) -> Result<Vec<Splice>, Fault> {
    if parent.layout() == Some(Layout::Flow) {
        return Ok(Flow::new(text, parent, Comments::Hash).delete(at));
    }
    if parent.len() == 1 {
        return Err(Fault::OnlyOne);
    }
    let start = start_of(text.text, parent, at);
    let end = parent.ranges()[at].end.max(sign_end(text.text, parent, at));
    if is_alone_before(text.text, start) {
        let end = with_comments(text.text, end, column(parent));
        let lines = owned_start(Format::Yaml, text.text, start)..next_line(text.text, end);
        return Ok(vec![Splice::delete(with_blank(text.text, lines))]);
    }
    // It stands behind a dash, where the next one goes, with the comments above that.
    if at + 1 == parent.len() {
        // Nothing comes behind it, so it is its key that does not begin the line.
        return Err(Fault::Barred(Bar::OddKey));
    }
    let (rest, next) = (line_end(text.text, end), start_of(text.text, parent, at + 1));
    let comment = text.text.get(rest..next).ok_or(Fault::Breaks)?.find('#').map(|sign| rest + sign);
    Ok(vec![Splice::delete(start..comment.unwrap_or(next))])
}

fn column(parent: &Node) -> usize {
    match parent.layout() {
        Some(Layout::Block(column)) => column,
        _ => 0,
    }
}

/// Returns whether a text is a date, which many programs read as such if it has no quotes.
fn is_date(text: Option<&str>) -> bool {
    let is = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    text.is_some_and(|text| {
        let parts: Vec<&str> = text.split('-').collect();
        matches!(parts[..], [year, month, day] if is(year, 4) && is(month, 2) && is(day, 2))
    })
}

/// Returns the comment behind the sign of a block scalar, with the blanks before it: it stays, as others do behind values.
fn comment_of_block<'t>(text: &'t str, node: &Node) -> &'t str {
    if !matches!(node.kind, Kind::Scalar(_, Style::Block)) {
        return "";
    }
    let head = &text[node.range.start..line_end(text, node.range.start).min(node.range.end)];
    head.find([' ', '\t']).map_or("", |blank| head[blank..].trim_end())
}

fn style_of(node: &Node) -> Style {
    match node.kind {
        Kind::Scalar(Data::Text(_), style) => style,
        _ => Style::Plain,
    }
}

/// Returns where an entry of a block begins: its key, or its dash.
pub(crate) fn start_of(text: &str, parent: &Node, at: usize) -> usize {
    match &parent.kind {
        Kind::Map(entries, _) => entries[at].key_range.start,
        _ if at == 0 => parent.range.start,
        _ => next_dash(text, parent.child(at - 1).range.end, column(parent)),
    }
}

/// Returns the end of the colon or dash behind which the value of an entry of a block stands.
fn sign_end(text: &str, parent: &Node, at: usize) -> usize {
    match &parent.kind {
        Kind::Map(entries, _) => {
            let end = entries[at].key_range.end;
            text[end..].find(':').map_or(end, |colon| end + colon + 1)
        }
        _ => start_of(text, parent, at) + 1,
    }
}

/// Returns by how many blanks a map in a map is indented here.
fn unit(text: &str) -> usize {
    let mut last = 0;
    for line in text.lines() {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') || content.starts_with("---") {
            continue;
        }
        let indent = line.len() - content.len();
        if indent > last && !content.starts_with("- ") {
            return indent - last;
        }
        last = indent;
    }
    2
}
