//! Readings: numbered lines of a file under a header with all that an edit needs to know.

use std::fmt::Write;
use std::ops::Range;

use emend_data::notebook::Image;
use emend_data::{Format, Key};
use emend_edit::Text;
use emend_edit::text::LineEndings;
use emend_workspace::problem::{DefinitionLines, Kind, Problem};
use emend_workspace::symbols;

use crate::notebook_reading::{self, CellsShown};
use crate::{messages, outline_text};

/// The most bytes of lines that are shown unless the call says how many lines it wants.
pub const SHOWN: usize = 16_000;
/// The most bytes of lines in any case; some clients put longer answers into a file.
pub const BYTES: usize = 48_000;

/// How many lines of a long file are shown above its outline, and how many bytes these may have to be no data.
const HEAD: usize = 60;
const HEAD_BYTES: usize = 24_000;
/// The bytes that a line takes beside its content.
const BESIDE: usize = 8;

/// The part of a file to show.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// As many lines as fit; of a longer file the head and the outline, if its language is known.
    Whole,
    /// So many lines from this one on, counted from one; by default the first, and as many as fit.
    Lines(Option<usize>, Option<usize>),
    /// The definition of this name, or so many of its lines; of a longer one its head and what it contains.
    Symbol(&'a str, Option<usize>),
    /// The cell of a notebook with this id or number.
    Cell(&'a str),
}

/// Some lines of a file, to be shown.
#[derive(Debug)]
pub struct Reading {
    /// The name of the file.
    pub name: String,
    /// The line above, with all that an edit needs to know.
    header: String,
    /// The lines, each behind its number and a tab.
    lines: String,
    /// Says that a single line goes on.
    cut: String,
    /// The first line that is not shown, counted from one, if there are more.
    pub next: Option<usize>,
    /// Whether all lines that the call asked for are shown.
    is_all_asked: bool,
    /// What is said below the lines.
    pub after: String,
    /// The lines that are shown in full, zero-based.
    pub shown: Range<usize>,
    /// The number of lines of the file.
    pub total: usize,
    /// The images that a cell has put out.
    pub images: Vec<Image>,
}

impl Reading {
    /// Returns the reading as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_with("read_file", "offset")
    }

    /// Returns the reading as text, where the call of this tool with this argument shows more.
    #[must_use]
    pub fn text_with(&self, tool: &str, argument: &str) -> String {
        let more = self.more(tool, argument);
        format!("{}{}{}{more}{}", self.header, self.lines, self.cut, self.after)
    }

    /// Returns the lines as `cat -n` shows them.
    #[must_use]
    pub fn numbered(&self) -> &str {
        &self.lines
    }

    /// Returns each line with its number.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.lines.split_terminator('\n').filter_map(|line| line.split_once('\t'));
        lines.map(|(number, content)| (number.trim_start(), content))
    }

    /// Returns what is said below the lines, where the call of this tool with this argument shows more.
    #[must_use]
    pub fn notes(&self, tool: &str, argument: &str) -> String {
        format!("{}{}{}", self.cut, self.more(tool, argument), self.after)
    }

    fn more(&self, tool: &str, argument: &str) -> String {
        let next = self.next.filter(|_| !self.is_all_asked);
        next.map(|next| format!("There is more: {tool} with {argument} {next}.\n")).unwrap_or_default()
    }
}

/// A part of an answer that shows readings.
#[derive(Debug)]
pub enum ReadPart {
    /// A reading.
    Shown(Box<Reading>),
    /// What is said instead of one.
    Said(String),
}

impl ReadPart {
    /// Returns the part as text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Shown(reading) => reading.text(),
            Self::Said(text) => text.clone(),
        }
    }
}

/// Returns whether showing this part in so many bytes may take long.
pub fn is_long(text: &Text, part: Part<'_>, room: usize) -> bool {
    match part {
        Part::Whole => size(text, 0..text.lines().len()) > room,
        Part::Lines(..) => false,
        Part::Symbol(..) | Part::Cell(_) => true,
    }
}

/// Returns how many bytes these lines take with their numbers.
fn size(text: &Text, lines: Range<usize>) -> usize {
    let all = text.lines();
    all.start(lines.end) - all.start(lines.start) + lines.len() * (BESIDE - 1)
}

/// Shows a part of the file, in so many bytes of lines.
pub fn show(name: &str, text: &Text, part: Part<'_>, room: usize) -> Result<Reading, Problem> {
    let total = text.lines().len();
    match part {
        Part::Cell(cell) => {
            let notebook = notebook_reading::read(name, text)?;
            let cell = notebook_reading::find(&notebook, name, cell)?;
            Ok(of_cells(name, text, notebook_reading::single(&notebook, cell, room)))
        }
        Part::Whole => {
            // What is no notebook in spite of its name is shown by its lines.
            if notebook_reading::is_notebook(name)
                && let Ok(notebook) = notebook_reading::read(name, text)
            {
                return Ok(of_cells(name, text, notebook_reading::all(&notebook, room)));
            }
            let outlined = (size(text, 0..total) > room).then(|| headed(name, text, None, 0..total, room));
            Ok(outlined.flatten().unwrap_or_else(|| numbered(name, text, None, 0..total, room)))
        }
        Part::Lines(offset, limit) => {
            let first = offset.unwrap_or(1).max(1) - 1;
            if first > 0 && first >= total {
                let message = format!("the file has {total} lines");
                return Err(Problem::new(Kind::InvalidArgument { name: "offset".into(), message }).at(name));
            }
            let last = limit.map_or(total, |limit| total.min(first.saturating_add(limit.max(1))));
            Ok(numbered(name, text, None, first..last, room))
        }
        Part::Symbol(symbol, limit) => {
            let found = match symbols::find(name, text, symbol) {
                Ok(found) => found,
                // What is no definition may be the key of a value.
                Err(kind) => {
                    return value(name, text, symbol, limit, room)
                        .unwrap_or_else(|| Err(Problem::new(kind)))
                        .map_err(|problem| problem.at(name));
                }
            };
            let DefinitionLines { title, first, last } = found.definition;
            let title = messages::symbols::title(&title);
            if limit.is_none()
                && size(text, first - 1..last) > room
                && let Some(mut reading) = headed(name, text, Some(&title), first - 1..last, room)
            {
                reading.after.push_str(outline_text::doubt(found.doubts));
                return Ok(reading);
            }
            let end = limit.map_or(last, |limit| last.min(first.saturating_add(limit.max(1)) - 1));
            let mut reading = numbered(name, text, Some(&title), first - 1..total.min(end), room);
            if end < last {
                let _ = writeln!(reading.after, "The definition goes on to line {last}.");
            }
            reading.after.push_str(outline_text::doubt(found.doubts));
            Ok(reading)
        }
    }
}

/// Shows cells of a notebook. None of the lines of the file counts as shown.
fn of_cells(name: &str, text: &Text, shown: CellsShown) -> Reading {
    let CellsShown { title, lines, after, images } = shown;
    let header = format!("{name} · {title} · version {}\n", text.version().short());
    let total = text.lines().len();
    let name = name.to_owned();
    let (cut, next, is_all_asked, shown) = (String::new(), None, true, 0..0);
    Reading { name, header, lines, cut, next, is_all_asked, after, shown, total, images }
}

/// Shows the value of a key in a data file. `None` if that can have none, or if its outline knows its keys.
fn value(
    name: &str,
    text: &Text,
    key: &str,
    limit: Option<usize>,
    room: usize,
) -> Option<Result<Reading, Problem>> {
    let format = Format::of(name)?;
    let content = text.known_characters().ok()?;
    let range = match emend_data::find(format, content, &Key::Dotted(key.to_owned()), None) {
        Ok(range) => range,
        Err(_) if symbols::outline(name, text).is_ok() => return None,
        Err(fault) => {
            let (_, message) = messages::data::fault(&fault, format, messages::data::Asked::Present);
            return Some(Err(Problem::new(Kind::InvalidArgument { name: "symbol".into(), message })));
        }
    };
    let line = |at: usize| content[..at].bytes().filter(|byte| *byte == b'\n').count();
    let (first, last) = (line(range.start), line(range.end) + 1);
    let end = limit.map_or(last, |limit| last.min(first.saturating_add(limit.max(1))));
    let mut reading = numbered(name, text, Some(key), first..text.lines().len().min(end), room);
    if end < last {
        let _ = writeln!(reading.after, "The value goes on to line {last}.");
    }
    Some(Ok(reading))
}

/// Shows the head of a file or a definition that is too long, and the outline of what it contains, if that is known. Very
/// long lines are data rather than definitions.
fn headed(
    name: &str,
    text: &Text,
    title: Option<&str>,
    wanted: Range<usize>,
    room: usize,
) -> Option<Reading> {
    let head = wanted.start..wanted.end.min(wanted.start + HEAD);
    if size(text, head.clone()) > HEAD_BYTES {
        return None;
    }
    let outline = symbols::outline(name, text).ok()?;
    let outline = match title {
        Some(_) => outline.inside(&(wanted.start + 1..=wanted.end)),
        None => outline,
    };
    if outline.definitions().is_empty() {
        return None;
    }
    let outline = outline_text::show(&[outline], room / 2).concat();
    let mut reading = numbered(name, text, title, head, room - outline.len().min(room));
    if reading.shown.end >= wanted.end {
        // With its endings it had seemed longer.
        return None;
    }
    reading.next = Some(reading.shown.end + 1);
    reading.is_all_asked = false;
    if title.is_some() {
        let _ = writeln!(reading.after, "The definition goes on to line {}.", wanted.end);
    }
    let _ = write!(reading.after, "Definitions, for symbol or offset:\n{outline}");
    Some(reading)
}

/// Shows these lines, as far as there is room, under a header.
fn numbered(name: &str, text: &Text, title: Option<&str>, wanted: Range<usize>, room: usize) -> Reading {
    let lines = text.lines();
    let total = lines.len();
    let first = wanted.start;
    let mut body = String::new();
    let mut next = first;
    let mut cut = String::new();
    while next < wanted.end {
        let content = String::from_utf8_lossy(lines.content(next));
        if body.len() + content.len() + BESIDE > room {
            if next == first {
                // A single line is too long for an answer, which shows its beginning.
                let end = content.char_indices().map(|(i, _)| i).take_while(|&i| i <= room).last();
                let _ = writeln!(body, "{:>6}\t{}", next + 1, &content[..end.unwrap_or(0)]);
                cut = format!("Line {} goes on; it has {} bytes in all.\n", next + 1, content.len());
            }
            break;
        }
        let _ = writeln!(body, "{:>6}\t{content}", next + 1);
        next += 1;
    }
    let through = next.max(first + usize::from(!cut.is_empty()));
    let end = if title.is_some() { wanted.end } else { total };
    let is_unended = total > 0 && next == total && !text.bytes().ends_with(b"\n");
    let after = if is_unended { "The last line has no line ending.\n" } else { "" };
    let range = match total {
        0 => "empty".to_owned(),
        _ => format!("lines {}-{through} of {total}", first + 1),
    };
    let header = format!(
        "{name} · {}{}{range} · {}{} · {} · version {}\n",
        title.unwrap_or_default(),
        if title.is_some() { " · " } else { "" },
        text.encoding().name(),
        if text.has_bom() { " with BOM" } else { "" },
        endings(text),
        text.version().short()
    );
    Reading {
        name: name.to_owned(),
        header,
        lines: body,
        cut,
        next: (through < end).then_some(through + 1),
        is_all_asked: next == wanted.end,
        after: after.to_owned(),
        shown: first..next,
        total,
        images: Vec::new(),
    }
}

fn endings(text: &Text) -> &'static str {
    match text.line_endings() {
        LineEndings::None => "no line endings",
        LineEndings::Lf => "LF",
        LineEndings::Crlf => "CRLF",
        LineEndings::Mixed => "mixed LF and CRLF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str, offset: Option<usize>, limit: Option<usize>) -> Reading {
        show("a.txt", &Text::new(content.into()).unwrap(), Part::Lines(offset, limit), BYTES).unwrap()
    }

    #[test]
    fn lines_are_numbered_under_a_header() {
        let reading = read("a\r\nb\r\nlast", None, None);
        let version = Text::new(b"a\r\nb\r\nlast".to_vec()).unwrap().version().short();
        assert_eq!(
            reading.text(),
            format!(
                "a.txt · lines 1-3 of 3 · utf-8 · CRLF · version {version}\n     1\ta\n     2\tb\n     \
                 3\tlast\nThe last line has no line ending.\n"
            )
        );
        assert_eq!(reading.shown, 0..3);
    }

    #[test]
    fn a_part_says_how_to_go_on_unless_it_is_all_that_was_asked_for() {
        let reading = read("1\n2\n3\n4\n", Some(2), Some(2));
        assert!(reading.text().ends_with("\n     3\t3\n"), "{}", reading.text());
        assert_eq!((reading.shown, reading.next), (1..3, Some(4)));
        let text = Text::new("1\n".repeat(10_000).into()).unwrap();
        let reading = show("a.txt", &text, Part::Lines(Some(11), None), SHOWN).unwrap();
        let next = reading.shown.end + 1;
        assert!(reading.text().ends_with(&format!("There is more: read_file with offset {next}.\n")));
    }

    #[test]
    fn a_long_file_has_its_room_for_its_head_and_its_outline() {
        let code: String = (0..900).map(|i| format!("def f{i}():\n    return {i}\n")).collect();
        let text = Text::new(code.into()).unwrap();
        for room in [1_000, 4_000, SHOWN] {
            let reading = show("a.py", &text, Part::Whole, room).unwrap();
            assert!((room / 2..room + 300).contains(&reading.text().len()), "{}", reading.text());
            let next = format!("There is more: read_file with offset {}.\n", reading.shown.end + 1);
            assert!(reading.text().contains(&next) && reading.text().ends_with(" more\n"));
            assert!((10..=HEAD).contains(&reading.shown.len()), "{:?}", reading.shown);
        }
    }

    #[test]
    fn a_huge_line_is_cut_and_not_counted_as_seen() {
        let reading = read(&"x".repeat(100_000), None, None);
        assert!(reading.text().contains("Line 1 goes on; it has 100000 bytes in all."));
        assert_eq!(reading.shown, 0..0);
    }

    #[test]
    fn a_long_definition_is_its_head_and_what_it_contains() {
        let keys: String = (0..3_000).map(|i| format!("    \"key{i}\": [{i}],\n")).collect();
        let text = format!("{{\n  \"a\": 1,\n  \"b\": {{\n{keys}    \"end\": 0\n  }}\n}}\n");
        let text = Text::new(text.into()).unwrap();
        let whole = show("a.json", &text, Part::Symbol("b", None), SHOWN).unwrap();
        assert_eq!(whole.shown, 2..62);
        let said = "There is more: read_file with offset 63.\nThe definition goes on to line 3005.\nDefinitions, for symbol or offset:\n4 key key0\n";
        assert!(whole.text().contains(said) && whole.text().len() < 20_000, "{}", whole.text());
        assert!(!whole.text().contains("key a\n"), "{}", whole.text());
        let some = show("a.json", &text, Part::Symbol("b", Some(100)), BYTES).unwrap();
        assert_eq!(some.shown, 2..102);
    }

    #[test]
    fn the_parts_of_a_reading_are_told_apart() {
        let reading = read("1\ta\n\n3", None, None);
        assert_eq!(reading.lines().collect::<Vec<_>>(), [("1", "1\ta"), ("2", ""), ("3", "3")]);
        assert_eq!(reading.notes("Read", "offset"), "The last line has no line ending.\n");
        let long = read(&format!("{}\n", "x".repeat(999)).repeat(99), None, None);
        assert_eq!(long.notes("Read", "from"), "There is more: Read with from 48.\n");
    }

    #[test]
    fn an_empty_file_is_read() {
        assert!(read("", None, None).text().contains("empty"));
    }
}
