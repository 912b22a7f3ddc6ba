//! The headings of a Markdown text, read by hand: lines that begin with `#`, and lines underlined by `=` or `-`.
//!
//! What stands in fenced or indented code, in HTML or in the front matter is no heading. A section reaches up to the
//! next heading of its level or above.

use super::{Definition, Doubts};

/// A heading.
struct Heading {
    level: usize,
    name: String,
    line: usize,
}

/// What the lines before have begun.
enum Block<'t> {
    Nothing,
    /// A paragraph, by its first line; it may yet become a heading.
    Paragraph(usize),
    /// A list, a quotation: text that an underline does not turn into a heading.
    Other,
    /// A fence of code, up to one of the same characters that is at least as long.
    Fence(&'t [u8]),
    /// HTML, up to this text, or to a blank line.
    Html(Option<&'static [u8]>),
}

/// Returns whether a file is Markdown, by its name.
pub(super) fn has_name(path: &str) -> bool {
    let extension = path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.'));
    extension.is_some_and(|(_, extension)| matches!(extension, "md" | "mdx" | "markdown"))
}

/// Returns the sections of a text, in order.
pub(super) fn headings(text: &[u8]) -> Vec<Definition> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let mut found: Vec<Definition> = Vec::new();
    // The headings whose sections are open, with their levels.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let end_before = |line: usize| {
        let blank = lines[..line - 1].iter().rev().take_while(|line| line.is_empty()).count();
        line - 1 - blank
    };
    for heading in find(&lines) {
        while let Some((_, at)) = open.pop_if(|(level, _)| *level >= heading.level) {
            let start = *found[at].lines.start();
            found[at].lines = start..=end_before(heading.line).max(start);
        }
        open.push((heading.level, found.len()));
        found.push(Definition {
            name: heading.name,
            kind: super::HEADING,
            lines: heading.line..=heading.line,
            name_line: heading.line,
            depth: open.len() - 1,
            doubts: Doubts::default(),
            label: None,
            scope: None,
            parent: open.len().checked_sub(2).map(|outer| open[outer].1),
        });
    }
    for (_, at) in open {
        let start = *found[at].lines.start();
        found[at].lines = start..=end_before(lines.len() + 1).max(start);
    }
    found
}

fn find(lines: &[&[u8]]) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut block = Block::Nothing;
    let skipped = front_matter(lines);
    for (at, line) in lines.iter().enumerate().skip(skipped) {
        let content = line.trim_ascii_start();
        let is_indented = line.starts_with(b"\t") || line.len() - content.len() > 3;
        block = match block {
            Block::Fence(fence) if !is_indented && closes(fence, content) => Block::Nothing,
            Block::Html(Some(end)) if memchr::memmem::find(content, end).is_some() => Block::Nothing,
            Block::Html(None) if content.is_empty() => Block::Nothing,
            Block::Fence(_) | Block::Html(_) => block,
            _ if content.is_empty() => Block::Nothing,
            // Indented code, or more of what stands above.
            _ if is_indented => block,
            Block::Paragraph(first) if underline(content).is_some() => {
                let name =
                    lines[first..at].iter().map(|line| line.trim_ascii()).collect::<Vec<_>>().join(&b' ');
                let level = underline(content).unwrap_or(2);
                found.push(Heading { level, name: shown(&name), line: first + 1 });
                Block::Nothing
            }
            above => match begun(content, &above, at) {
                Ok(block) => block,
                Err((level, name)) => {
                    found.push(Heading { level, name: shown(name), line: at + 1 });
                    Block::Nothing
                }
            },
        };
    }
    found
}

/// Returns what a line begins, or the level and the text of a heading.
fn begun<'t>(content: &'t [u8], above: &Block<'t>, at: usize) -> Result<Block<'t>, (usize, &'t [u8])> {
    if let Some(heading) = marked(content) {
        return Err(heading);
    }
    if let Some(fence) = fence(content) {
        return Ok(Block::Fence(fence));
    }
    Ok(match (html(content), above) {
        (Some(end @ Some(text)), _) => match memchr::memmem::find(content, text) {
            Some(_) => Block::Nothing,
            None => Block::Html(end),
        },
        (Some(None), _) => Block::Html(None),
        (None, Block::Paragraph(first)) => Block::Paragraph(*first),
        (None, Block::Other) => Block::Other,
        (None, _) if is_item(content) => Block::Other,
        (None, _) => Block::Paragraph(at),
    })
}

/// Returns how many lines the front matter has.
fn front_matter(lines: &[&[u8]]) -> usize {
    let fence: &[u8] = match lines.first() {
        Some(&b"---") => b"---",
        Some(&b"+++") => b"+++",
        _ => return 0,
    };
    lines.iter().skip(1).position(|line| *line == fence).map_or(0, |end| end + 2)
}

/// Returns the level and the text of a line that is marked as a heading.
fn marked(content: &[u8]) -> Option<(usize, &[u8])> {
    let level = content.iter().take_while(|byte| **byte == b'#').count();
    let rest = &content[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(b" ") || rest.starts_with(b"\t")) {
        return None;
    }
    let rest = rest.trim_ascii();
    let closing = rest.iter().rev().take_while(|byte| **byte == b'#').count();
    let before = &rest[..rest.len() - closing];
    let is_closed = before.is_empty() || before.last().is_some_and(u8::is_ascii_whitespace);
    Some((level, if is_closed { before.trim_ascii_end() } else { rest }))
}

/// Returns the level of a heading that this line underlines.
fn underline(content: &[u8]) -> Option<usize> {
    let all = |mark: u8| content.iter().all(|byte| *byte == mark);
    if content.is_empty() {
        None
    } else if all(b'=') {
        Some(1)
    } else {
        all(b'-').then_some(2)
    }
}

/// Returns the characters of a fence that a line opens.
fn fence(content: &[u8]) -> Option<&[u8]> {
    let mark = *content.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = content.iter().take_while(|byte| **byte == mark).count();
    let is_inline = mark == b'`' && content[length..].contains(&b'`');
    (length >= 3 && !is_inline).then_some(&content[..length])
}

fn closes(fence: &[u8], content: &[u8]) -> bool {
    content.len() >= fence.len() && content.iter().all(|byte| fence.first() == Some(byte))
}

/// Returns up to what the HTML reaches that a line begins.
fn html(content: &[u8]) -> Option<Option<&'static [u8]>> {
    const PARTS: [(&str, &[u8]); 5] = [
        ("<!--", b"-->"),
        ("<pre", b"</pre>"),
        ("<script", b"</script>"),
        ("<style", b"</style>"),
        ("<textarea", b"</textarea>"),
    ];
    let begins =
        |tag: &str| content.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()));
    if let Some((_, end)) = PARTS.iter().find(|(tag, _)| begins(tag)) {
        return Some(Some(end));
    }
    // Not an address in brackets, which is text.
    let name = content.strip_prefix(b"<")?;
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let ends = matches!(name.get(length), None | Some(b' ' | b'\t' | b'>' | b'/'));
    (length > 0 && ends).then_some(None)
}

/// Returns whether a line begins an item of a list, a quotation or a table.
fn is_item(content: &[u8]) -> bool {
    let digits = content.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let bullet = |rest: &[u8], marks: &[u8]| {
        rest.first().is_some_and(|mark| marks.contains(mark))
            && matches!(rest.get(1), None | Some(b' ' | b'\t'))
    };
    content.starts_with(b">")
        || content.starts_with(b"|")
        || bullet(content, b"-+*")
        || (digits > 0 && bullet(&content[digits..], b".)"))
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
