//! The lines between Begin and End of a V4A patch, without the wrapping that models add. `v4a` has the grammar and the
//! tests.

use alloc::string::String;

use super::super::envelope::Fence;
use super::super::lines::{NumberedLine, invalid, invalid_text, shorten, trimmed, unwrapped};
use super::super::wrapper::Wrapper;
use super::{ADD, DELETE, Fault, MOVE, UPDATE};
use crate::problem::Problem;

pub(super) const BEGIN: &str = "*** Begin Patch";
pub(super) const END: &str = "*** End Patch";

/// Returns the lines between Begin and End, without any wrapping.
pub(super) fn between<'a, 'b>(lines: &'b [NumberedLine<'a>]) -> Result<&'b [NumberedLine<'a>], Problem> {
    let lines = without_prose(trimmed(unwrapped(lines)))?;
    let Some((first, rest)) = lines.split_first() else {
        return Err(invalid_text(Fault::NoBegin { first: None }));
    };
    let is_begun = is_marker(first.text, BEGIN);
    if !is_begun && !is_section_header(first.text) {
        return Err(invalid(first.number, Fault::NoBegin { first: Some(shorten(first.text)) }));
    }
    match if is_begun { rest } else { lines } {
        [patch @ .., last] if is_marker(last.text, END) => Ok(patch),
        [.., last] => Err(invalid(last.number, Fault::NoEnd { last: shorten(last.text) })),
        [] => Err(invalid_text(Fault::NoEnd { last: String::new() })),
    }
}

/// Strips the prose before and after the only patch.
fn without_prose<'a, 'b>(lines: &'b [NumberedLine<'a>]) -> Result<&'b [NumberedLine<'a>], Problem> {
    let at_margin = |marker: &'static str| {
        let is_it = move |line: &NumberedLine<'_>| {
            !line.text.starts_with(char::is_whitespace) && is_marker(line.text, marker)
        };
        let mut places = lines.iter().enumerate().filter(move |(_, line)| is_it(line)).map(|(i, _)| i);
        (places.next(), places.next())
    };
    let ((Some(begin), second_begin), (Some(end), second_end)) = (at_margin(BEGIN), at_margin(END)) else {
        return Ok(lines);
    };
    if let Some(second) = second_begin.or(second_end) {
        return Err(invalid(lines[second].number, Fault::SecondPatch));
    }
    if begin > end {
        return Ok(lines);
    }
    let (before, after) = (&lines[..begin], &lines[end + 1..]);
    if let Some(astray) = before.iter().chain(after).find(|line| opens(line.text)) {
        return Err(invalid(astray.number, Fault::SectionOutside { text: shorten(astray.text) }));
    }
    let wrapper = before.last().and_then(|line| Wrapper::opened_by(line.text));
    let is_blank = |line: &NumberedLine<'_>| line.text.trim().is_empty();
    let ends = |line: &NumberedLine<'_>| {
        is_blank(line)
            || Fence::opened_by(line.text).is_some()
            || wrapper.is_some_and(|wrapper| wrapper.is_closed_by(line.text))
            || line.text.trim() == "EOF"
    };
    let is_parted = before.last().is_none_or(|line| is_blank(line) || wrapper.is_some())
        && after.first().is_none_or(ends);
    Ok(if is_parted { &lines[begin..=end] } else { lines })
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
