//! One SEARCH/REPLACE block: its markers, its hints, and its escaped lines. `search_replace` has the grammar.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::super::envelope::Fence;
use super::super::lines::shorten;
use super::{is_nearly_a_marker, refusal};
use crate::problem::Problem;
use crate::problem::malformed::{Found, SearchReplace as Fault};

/// A SEARCH line, which determines the other markers of its block.
#[derive(Clone, Copy)]
pub(super) struct SearchMarker<'a> {
    pub(super) indent: &'a str,
    /// The mark of the line, `<` or `-`.
    mark: char,
    marks: usize,
}

impl<'a> SearchMarker<'a> {
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        let mark = text.chars().next().filter(|c| matches!(c, '<' | '-'))?;
        let word = text.trim_start_matches(mark);
        let marks = text.len() - word.len();
        let search = Self { indent, mark, marks };
        let known = matches!(word.trim_end(), " SEARCH" | " SEARCH>");
        (known && search.counts(marks)).then_some(search)
    }

    pub(super) fn is_cline(&self) -> bool {
        self.mark == '-'
    }

    /// Returns whether a marker of this dialect may have this number of marks.
    fn counts(&self, marks: usize) -> bool {
        if self.is_cline() { marks >= 3 } else { (5..=9).contains(&marks) }
    }

    /// Returns the number of marks of a line, and the text after them.
    fn marked<'l>(&self, line: &'l str, mark: char) -> Option<(usize, &'l str)> {
        let text = line.strip_prefix(self.indent)?;
        let rest = text.trim_start_matches(mark);
        let marks = text.len() - rest.len();
        self.counts(marks).then_some((marks, rest))
    }

    /// Returns the number of marks if this line is a separator. In cline, no space may follow them.
    fn separator(&self, line: &str) -> Option<usize> {
        let (marks, rest) = self.marked(line, '=')?;
        let rest = if self.is_cline() { rest } else { rest.trim_end() };
        rest.is_empty().then_some(marks)
    }

    fn is_replace(&self, line: &str) -> bool {
        let mark = if self.is_cline() { '+' } else { '>' };
        self.marked(line, mark).is_some_and(|(_, rest)| {
            rest.trim_end() == " REPLACE" || (self.is_cline() && rest.trim_end() == " REPLACE>")
        })
    }
}

/// A block as it was written, without its markers.
pub(super) struct MarkedBlock<'a> {
    /// The SEARCH line of the block.
    pub(super) search: SearchMarker<'a>,
    /// The line at which the request places the block.
    pub(super) hint: Option<usize>,
    /// The lines to find.
    pub(super) old: Vec<&'a str>,
    /// The lines that replace them.
    pub(super) new: Vec<&'a str>,
}

/// Reads the block that opens at line `at`, and returns it with the line after it.
pub(super) fn read<'a>(
    lines: &[&'a str],
    at: usize,
    search: SearchMarker<'a>,
) -> (Result<MarkedBlock<'a>, Problem>, usize) {
    let opens = |line| SearchMarker::read(line).is_some_and(|other| other.indent == search.indent);
    let end = (at + 1..lines.len())
        .find(|&i| search.is_replace(lines[i]) || opens(lines[i]))
        .unwrap_or(lines.len());
    let separators: Vec<(usize, usize)> =
        (at + 1..end).filter_map(|i| Some((i, search.separator(lines[i])?))).collect();
    let (end, next) = if lines.get(end).is_some_and(|line| search.is_replace(line)) {
        (end, end + 1)
    } else if let &[(_, first), (second, marks)] = separators.as_slice()
        && first == marks
        && let Some(Fence { info: "", .. }) = lines.get(second + 1).and_then(|line| Fence::opened_by(line))
    {
        // In aider, a second separator ends the block. Here it does so only right before the end of the fence:
        // elsewhere it could be content of a request that was cut off.
        return (content(&lines[..second], at, search, separators[0].0), second + 1);
    } else {
        return (Err(unterminated(lines, at, end, search, separators.len())), end);
    };
    let mut as_long = separators.iter().filter(|(_, marks)| *marks == search.marks);
    let separator = match (separators.as_slice(), as_long.next(), as_long.next()) {
        (&[(only, _)], ..) | (_, Some(&(only, _)), None) => only,
        ([], ..) => {
            let nearly = (at + 1..end).find(|&i| {
                let line = lines[i].trim();
                line.len() >= 3 && line.trim_start_matches(['=', '-', ' ']).is_empty() && line.contains('=')
            });
            let nearly = nearly.map(|i| (i + 1, lines[i].to_string()));
            return (Err(refusal(end, Fault::NoSeparator { nearly })), next);
        }
        _ => {
            let lines = separators.iter().map(|(i, _)| i + 1).collect();
            return (Err(refusal(separators[1].0, Fault::Separators { begins: at + 1, lines })), next);
        }
    };
    (content(&lines[..end], at, search, separator), next)
}

fn unterminated(
    lines: &[&str],
    at: usize,
    end: usize,
    search: SearchMarker<'_>,
    separators: usize,
) -> Problem {
    let found = |line: usize, is_marker| Found { line: line + 1, text: shorten(lines[line]), is_marker };
    let found = match lines.get(end) {
        Some(_) => Some(found(end, true)),
        None => (at + 1..end).find(|&i| is_nearly_a_marker(lines[i])).map(|i| found(i, false)),
    };
    let (has_separator, is_cline) = (separators > 0, search.is_cline());
    refusal(at, Fault::NoEnd { has_separator, is_cline, found })
}

/// Reads the content between the markers; `lines` end before the last marker.
fn content<'a>(
    lines: &[&'a str],
    at: usize,
    search: SearchMarker<'a>,
    separator: usize,
) -> Result<MarkedBlock<'a>, Problem> {
    let mut first = at + 1;
    let mut hint = None;
    while let Some((name, number)) = line_hint(lines[first]) {
        match number.trim().parse::<usize>() {
            Ok(number) if name == ":start_line:" => hint = Some(number).filter(|&number| number > 0),
            Ok(_) => {}
            Err(_) => return Err(refusal(first, Fault::NotANumber { name })),
        }
        first += 1;
    }
    // Without a hint before it, this line may be the first of the content.
    if first > at + 1 && lines[first].trim() == "-------" {
        first += 1;
    }
    if let Some(i) = (first..lines.len()).find(|&i| line_hint(lines[i]).is_some()) {
        return Err(refusal(i, Fault::HintInside { text: shorten(lines[i]) }));
    }
    let plain = |lines: &[&'a str]| lines.iter().map(|line| unescaped(line)).collect();
    Ok(MarkedBlock {
        search,
        hint,
        old: plain(&lines[first..separator]),
        new: plain(&lines[separator + 1..]),
    })
}

/// Reads a hint, which may be indented with the content around it.
fn line_hint(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    [":start_line:", ":end_line:"].into_iter().find_map(|name| Some((name, line.strip_prefix(name)?)))
}

/// Strips the backslash that marks a line as no marker; a line that begins with a backslash itself has two.
fn unescaped(line: &str) -> &str {
    const MARKERS: &[&str] = &["<<<<<", "=====", ">>>>>", "-------", "+++++++"];
    let is_marker = |text: &str| {
        let text = text.trim_start_matches('\\');
        MARKERS.iter().any(|marker| text.starts_with(marker)) || line_hint(text).is_some()
    };
    line.strip_prefix('\\').filter(|rest| is_marker(rest)).unwrap_or(line)
}
