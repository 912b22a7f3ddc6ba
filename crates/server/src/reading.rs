//! Readings: numbered lines of a file under a header with all that an edit needs to know.

use std::fmt::Write;
use std::ops::Range;

use emend_edit::Text;
use emend_edit::text::LineEndings;
use emend_workspace::problem::{Kind, Problem};

/// The default number of lines.
const LINES: usize = 2_000;
/// The most bytes of lines that are shown; some clients put longer answers into a file.
const BYTES: usize = 48_000;

/// Some lines of a file as text.
#[derive(Debug)]
pub struct Reading {
    /// The header and the numbered lines.
    pub text: String,
    /// The lines that are shown in full, zero-based.
    pub shown: Range<usize>,
    /// The number of lines of the file.
    pub total: usize,
}

/// Shows `limit` lines of the file from the one-based line `offset` on.
pub fn show(
    name: &str,
    text: &Text,
    offset: Option<usize>,
    limit: Option<usize>,
) -> Result<Reading, Problem> {
    let lines = text.lines();
    let total = lines.len();
    let first = offset.unwrap_or(1).max(1) - 1;
    if first > 0 && first >= total {
        let message = format!("the file has {total} lines");
        return Err(Problem::new(Kind::InvalidArgument { name: "offset".into(), message }).at(name));
    }
    let mut body = String::new();
    let mut next = first;
    let last = total.min(first.saturating_add(limit.unwrap_or(LINES).max(1)));
    let mut note = String::new();
    while next < last {
        let content = String::from_utf8_lossy(lines.content(next));
        if body.len() + content.len() > BYTES {
            if next == first {
                // A single line is too long for an answer, which shows its beginning.
                let end = content.char_indices().map(|(i, _)| i).take_while(|&i| i <= BYTES).last();
                let _ = writeln!(body, "{:>6}\t{}", next + 1, &content[..end.unwrap_or(0)]);
                note = format!("Line {} goes on; it has {} bytes in all.\n", next + 1, content.len());
            }
            break;
        }
        let _ = writeln!(body, "{:>6}\t{content}", next + 1);
        next += 1;
    }
    let through = next.max(first + usize::from(!note.is_empty()));
    if through < total {
        let _ = writeln!(note, "There is more: read_file with offset {}.", through + 1);
    }
    if total > 0 && next == total && !text.bytes().ends_with(b"\n") {
        note.push_str("The last line has no line ending.\n");
    }
    let range = match total {
        0 => "empty".to_owned(),
        _ => format!("lines {}-{through} of {total}", first + 1),
    };
    let header = format!(
        "{name} · {range} · {}{} · {} · version {}\n",
        text.encoding().name(),
        if text.has_bom() { " with BOM" } else { "" },
        endings(text),
        text.version().short()
    );
    Ok(Reading { text: header + &body + &note, shown: first..next, total })
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
        show("a.txt", &Text::new(content.into()).unwrap(), offset, limit).unwrap()
    }

    #[test]
    fn lines_are_numbered_under_a_header() {
        let reading = read("a\r\nb\r\nlast", None, None);
        let version = Text::new(b"a\r\nb\r\nlast".to_vec()).unwrap().version().short();
        assert_eq!(
            reading.text,
            format!(
                "a.txt · lines 1-3 of 3 · utf-8 · CRLF · version {version}\n     1\ta\n     2\tb\n     \
                 3\tlast\nThe last line has no line ending.\n"
            )
        );
        assert_eq!(reading.shown, 0..3);
    }

    #[test]
    fn a_part_says_how_to_go_on() {
        let reading = read("1\n2\n3\n4\n", Some(2), Some(2));
        assert!(reading.text.ends_with("There is more: read_file with offset 4.\n"), "{}", reading.text);
        assert_eq!(reading.shown, 1..3);
    }

    #[test]
    fn a_huge_line_is_cut_and_not_counted_as_seen() {
        let reading = read(&"x".repeat(100_000), None, None);
        assert!(reading.text.contains("Line 1 goes on; it has 100000 bytes in all."));
        assert_eq!(reading.shown, 0..0);
    }

    #[test]
    fn an_empty_file_is_read() {
        assert!(read("", None, None).text.contains("empty"));
    }
}
