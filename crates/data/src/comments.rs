//! What belongs to an entry beside its own bytes: the comment directly above it, and blank lines that part it from others.

use std::ops::Range;

use crate::format::Format;
use crate::layout::{is_alone_before, line_end, line_indent, line_start, next_line};

/// How a comment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    Slashes,
    Hash,
}

impl Comments {
    /// The format in which comments begin so.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Slashes => Format::Json,
            Self::Hash => Format::Toml,
        }
    }

    /// Returns where a comment ends that begins here.
    pub(crate) fn end(self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let to_line_end = || Some(at + rest.find(['\r', '\n']).unwrap_or(rest.len()));
        match self {
            Self::Hash if rest.starts_with('#') => to_line_end(),
            Self::Slashes if rest.starts_with("//") => to_line_end(),
            Self::Slashes if rest.starts_with("/*") => Some(at + rest.find("*/")? + 2),
            _ => None,
        }
    }

    /// Skips blanks, line endings and comments.
    pub(crate) fn skip(self, text: &str, mut at: usize) -> usize {
        loop {
            let rest = &text[at..];
            let blank = rest.len() - rest.trim_start().len();
            match self.end(text, at + blank) {
                Some(end) => at = end,
                None => return at + blank,
            }
        }
    }

    /// Returns whether a text is comments and nothing else.
    pub(crate) fn is_all(self, text: &str) -> bool {
        !text.trim().is_empty() && self.skip(text, 0) == text.len()
    }

    /// Returns the end of the comments behind this place in its line.
    pub(crate) fn in_line(self, text: &str, mut at: usize) -> usize {
        loop {
            let blank = text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
            match self.end(text, at + blank) {
                Some(end) if !text[at..end].contains('\n') => at = end,
                _ => return at,
            }
        }
    }
}

/// What a comment at the top of a text has in it that is about the whole file, and not about the first key.
const OF_THE_FILE: [&str; 9] =
    ["#!", "#:schema", "spdx", "copyright", "license", "-*-", "vim:", "yaml-language-server", "generated"];

/// Returns how comments on lines of their own begin.
fn signs(format: Format) -> &'static [char] {
    match format {
        Format::Ini => &['#', ';'],
        _ => &['#'],
    }
}

/// Returns where the line of an entry begins that begins here, or that of the comment above it: one of the same indentation
/// with no blank line between belongs to it.
pub(crate) fn owned_start(format: Format, text: &str, entry: usize) -> usize {
    let own = line_start(text, entry);
    if !is_alone_before(text, entry) && format != Format::Env {
        return entry;
    }
    let indent = line_indent(text, entry);
    let mut start = own;
    while start > 0 {
        let mut above = line_start(text, start - 1);
        let line = text[above..start].trim();
        if format == Format::Json && line.ends_with("*/") && !line.starts_with("/*") {
            let Some(open) = text[..start].rfind("/*") else { break };
            above = line_start(text, open);
        }
        let content = text[above..start].trim_start_matches([' ', '\t']);
        // A comment of JSON can end before its line does, with an entry behind it.
        let is_comment = match format {
            Format::Json => Comments::Slashes.is_all(content),
            _ => content.starts_with(signs(format)),
        };
        if line_indent(text, above) != indent || !is_comment {
            break;
        }
        start = above;
    }
    let about = text[start..own].to_lowercase();
    if start == 0 && OF_THE_FILE.iter().any(|word| about.contains(word)) { own } else { start }
}

/// Takes a blank line along with lines that go, where two would meet.
pub(crate) fn with_blank(text: &str, lines: Range<usize>) -> Range<usize> {
    let is_blank = |at: usize| text[at..next_line(text, at)].trim().is_empty();
    let is_parted = lines.start == 0 || is_blank(line_start(text, lines.start - 1));
    if is_parted && lines.end < text.len() && is_blank(lines.end) {
        return lines.start..next_line(text, lines.end);
    }
    lines
}

/// Does the same, and leaves no blank line at the end of the text.
pub(crate) fn with_blank_or_end(text: &str, lines: Range<usize>) -> Range<usize> {
    let is_last = lines.end == text.len() && lines.start > 0;
    if is_last && text[line_start(text, lines.start - 1)..lines.start].trim().is_empty() {
        return line_start(text, lines.start - 1)..lines.end;
    }
    with_blank(text, lines)
}

/// Returns whether a blank line parts all these entries from each other. There must be two of them.
pub(crate) fn are_parted(text: &str, entries: &[Range<usize>]) -> bool {
    let is_parted = |pair: &[Range<usize>]| {
        let between = text.get(pair[0].end..pair[1].start).unwrap_or_default();
        // The rest of a line, whole ones, and the blanks before the next entry.
        let whole = between.split_once('\n').and_then(|(_, rest)| rest.rsplit_once('\n'));
        whole.is_some_and(|(whole, _)| whole.split('\n').any(|line| line.trim().is_empty()))
    };
    entries.len() > 1 && entries.windows(2).all(is_parted)
}

/// Returns the end of the line of a place, and of the comment directly below it, if that is above a blank line or the end: it is
/// about nothing that follows.
pub(crate) fn below_own_comment(text: &str, at: usize) -> usize {
    let end = next_line(text, at);
    let mut next = end;
    while next < text.len() && text[next..].trim_start_matches([' ', '\t']).starts_with('#') {
        next = next_line(text, next);
    }
    let is_free = next == text.len() || line_end(text, next) == next;
    if is_free { next } else { end }
}
