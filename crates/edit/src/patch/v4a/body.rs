//! The lines between Begin and End of a V4A patch, without the wrapping that models add. `v4a` has the grammar and the
//! tests.

use alloc::string::String;
use alloc::vec::Vec;

use super::super::lines::{invalid, invalid_text, shorten};
use super::{ADD, DELETE, Fault, MOVE, UPDATE};
use crate::problem::Problem;

pub(super) const BEGIN: &str = "*** Begin Patch";
pub(super) const END: &str = "*** End Patch";

/// A line of the patch with its one-based number, without its CR.
#[derive(Clone, Copy)]
pub(super) struct V4aLine<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
}

/// Returns the lines between Begin and End, without any wrapping.
pub(super) fn read(text: &str) -> Result<Vec<V4aLine<'_>>, Problem> {
    let mut lines: Vec<V4aLine<'_>> = text
        .split('\n')
        .enumerate()
        .map(|(i, line)| V4aLine { number: i + 1, text: line.strip_suffix('\r').unwrap_or(line) })
        .collect();
    trim_blank(&mut lines);
    strip_fence(&mut lines);
    strip_here_document(&mut lines);
    strip_prose(&mut lines)?;
    let Some(first) = lines.first() else {
        return Err(invalid_text(Fault::NoBegin { first: None }));
    };
    if is_marker(first.text, BEGIN) {
        lines.remove(0);
    } else if !is_section_header(first.text) {
        return Err(invalid(first.number, Fault::NoBegin { first: Some(shorten(first.text)) }));
    }
    match lines.last() {
        Some(last) if is_marker(last.text, END) => {
            lines.pop();
        }
        last => {
            return Err(match last {
                Some(last) => invalid(last.number, Fault::NoEnd { last: shorten(last.text) }),
                None => invalid_text(Fault::NoEnd { last: String::new() }),
            });
        }
    }
    Ok(lines)
}

fn trim_blank(lines: &mut Vec<V4aLine<'_>>) {
    while lines.last().is_some_and(|line| line.text.trim().is_empty()) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.text.trim().is_empty()).count();
    lines.drain(..blank);
}

fn strip_fence(lines: &mut Vec<V4aLine<'_>>) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    let ticks = first.text.trim().bytes().take_while(|&b| b == b'`').count();
    let closing = last.text.trim();
    if lines.len() > 1 && ticks >= 3 && closing.len() == ticks && closing.bytes().all(|b| b == b'`') {
        lines.pop();
        lines.remove(0);
        trim_blank(lines);
    }
}

/// Strips `<<EOF`, `<<'EOF'` or `<<"EOF"`, also after `apply_patch`, and `EOF` as the last line.
fn strip_here_document(lines: &mut Vec<V4aLine<'_>>) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    if opens_here_document(first.text.trim()) && lines.len() > 1 && last.text.trim() == "EOF" {
        lines.pop();
        lines.remove(0);
        trim_blank(lines);
    }
}

fn opens_here_document(line: &str) -> bool {
    let opening = line.strip_prefix("apply_patch").unwrap_or(line).trim();
    matches!(opening, "<<EOF" | "<<'EOF'" | "<<\"EOF\"")
}

/// Strips the prose before and after the only patch.
fn strip_prose(lines: &mut Vec<V4aLine<'_>>) -> Result<(), Problem> {
    let at_margin = |marker: &'static str| {
        let is_it = move |line: &V4aLine<'_>| {
            !line.text.starts_with(char::is_whitespace) && is_marker(line.text, marker)
        };
        let mut places = lines.iter().enumerate().filter(move |(_, line)| is_it(line)).map(|(i, _)| i);
        (places.next(), places.next())
    };
    let ((Some(begin), second_begin), (Some(end), second_end)) = (at_margin(BEGIN), at_margin(END)) else {
        return Ok(());
    };
    if let Some(second) = second_begin.or(second_end) {
        return Err(invalid(lines[second].number, Fault::SecondPatch));
    }
    if begin > end {
        return Ok(());
    }
    let (before, after) = (&lines[..begin], &lines[end + 1..]);
    if let Some(astray) = before.iter().chain(after).find(|line| opens(line.text)) {
        return Err(invalid(astray.number, Fault::SectionOutside { text: shorten(astray.text) }));
    }
    let parts = |line: &V4aLine<'_>| {
        let text = line.text.trim();
        text.is_empty() || text.starts_with("```") || text == "EOF" || opens_here_document(text)
    };
    if before.last().is_none_or(parts) && after.first().is_none_or(parts) {
        lines.truncate(end + 1);
        lines.drain(..begin);
    }
    Ok(())
}

/// Returns whether this line begins a patch, or a section of one.
pub(in crate::patch) fn opens(line: &str) -> bool {
    line.starts_with("*** ") && (is_marker(line, BEGIN) || is_section_header(line))
}

/// Returns whether this is Begin or End, which may be padded and closed by a second `***`.
fn is_marker(line: &str, marker: &str) -> bool {
    let line = line.trim();
    line == marker || line.strip_suffix("***").is_some_and(|line| line.trim_end() == marker)
}

pub(super) fn is_section_header(line: &str) -> bool {
    let line = line.trim();
    [ADD, DELETE, UPDATE, MOVE].iter().any(|header| line.starts_with(header))
}
