//! Lines that are taken from one place to another, in the same file or in a second one.
//!
//! Their characters stay. In a file whose lines all end alike they take its ending; in one with mixed endings, or with none
//! at all, they keep their own, so that a move inside a file never changes a byte of them. A file that is created of them
//! gets their bytes as they are.
//!
//! What is taken from a file whose encoding is a guess may be other characters than it seems. It is carried only where its
//! bytes stay the same: into the same encoding, or if it is ASCII.

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::repeat_n;
use core::ops::Range;

use super::carry::Replacement;
use super::splice::is_unended;
use super::{NamedAs, apart, splice};
use crate::edit::{Edit, EditBuilder};
use crate::find::Haystack;
use crate::follow::CurrentLines;
use crate::problem::{CannotPut, CannotTake, Kind, NoChange};
use crate::text::{LineEnding, LineEndings, Text, ending_near};

/// The other side of a hunk that copies or moves lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The lines come from there.
    From(TakenFrom),
    /// The lines go to the file of this name.
    To(String),
}

/// Where lines come from that are copied or moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenFrom {
    /// The name of the file.
    pub name: String,
    /// The first of them before the edit, counted from 1.
    pub first: usize,
    /// How many they are.
    pub count: usize,
    /// Whether they are removed from there.
    pub is_moved: bool,
    /// How the request names the lines, where that is not by these numbers.
    pub named: Option<NamedAs>,
}

/// Lines on their way from a file to their new place.
pub(super) struct TakenText {
    pub(super) origin: TakenFrom,
    /// Where they are in the text from which they are taken, if the new place is in that text too.
    pub(super) here: Option<CurrentLines>,
    /// Each of them without its ending, shifted, and the ending.
    lines: Vec<(Vec<u8>, LineEnding)>,
    is_shifted: bool,
}

impl TakenText {
    /// Takes lines of a text, and shifts them. The problem is one of the text.
    pub(super) fn new(
        text: &Text,
        at: CurrentLines,
        origin: TakenFrom,
        shift: isize,
        target: &Text,
    ) -> Result<Self, Kind> {
        let all = text.lines();
        let range = at.first()..at.first() + at.count();
        let found: Vec<&[u8]> = range.clone().map(|line| all.content(line)).collect();
        let shifted = shifted(&found, shift, target)
            .map_err(|(line, why)| Kind::CannotTake { line: at.first() + line + 1, why })?;
        let lines = shifted.into_iter().zip(range.map(|line| all.ending(line))).collect();
        Ok(Self { origin, here: None, lines, is_shifted: shift != 0 })
    }

    /// Returns how many bytes shifting adds at most.
    pub(super) fn growth(at: CurrentLines, shift: isize) -> usize {
        at.count().saturating_mul(usize::try_from(shift).unwrap_or(0))
    }

    /// Checks that the lines can be put into a file that is there. The problem is one of the text that they are from.
    pub(super) fn check_characters(&self, from: &Text, into: &Text) -> Result<(), Kind> {
        let refused = |line, why| Err(Kind::CannotTake { line: self.origin.first + line, why });
        let is_certain = from.encoding() == into.encoding() || from.encoding().is_unicode();
        let endings = into.line_endings();
        for (at, (content, _)) in self.lines.iter().enumerate() {
            if !is_certain && !content.is_ascii() {
                let (encoding, into) = (from.encoding().name(), into.encoding().name());
                return refused(
                    at,
                    match from.encoding().is_view() {
                        true => CannotTake::InvalidBytes { into },
                        false => CannotTake::Uncertain { encoding, into },
                    },
                );
            }
            // With another line ending it would be a part of that.
            if content.ends_with(b"\r") && endings != LineEndings::Crlf {
                return refused(at, CannotTake::CarriageReturn);
            }
        }
        Ok(())
    }

    /// Checks that the lines can be put there as they are, and are not moved into themselves or to where they are.
    /// Beside a definition that stands apart, blank lines do not count as another place.
    pub(super) fn check_place(&self, h: &Haystack<'_>, at: CurrentLines, is_apart: bool) -> Result<(), Kind> {
        if at.first() == 0 {
            self.check_mark(h.text())?;
        }
        if at.count() == 0 {
            splice::check_end(h, at.first())?;
        }
        let Some(here) = self.here.filter(|_| self.origin.is_moved) else { return Ok(()) };
        let (first, end) = (here.first(), here.first() + here.count());
        let is_inside = match at.count() {
            0 => first < at.first() && at.first() < end,
            count => at.first() < end && first < at.first() + count,
        };
        if is_inside {
            return Err(Kind::MovedIntoItself { first: first + 1, count: here.count() });
        }
        let between = if at.first() < first { at.first()..first } else { end..at.first() };
        let is_beside = between.is_empty() || (is_apart && apart::are_blank(h.lines(), between));
        if at.count() == 0 && is_beside && !self.is_shifted {
            return Err(Kind::NoOp { why: NoChange::SamePlace });
        }
        Ok(())
    }

    /// Checks that the lines make no byte order mark at the start of a file with the mark of this text, or none.
    fn check_mark(&self, text: &Text) -> Result<(), Kind> {
        let begins = self.lines.first().is_some_and(|(line, _)| line.starts_with("\u{feff}".as_bytes()));
        match begins && text.body().start == 0 {
            true => Err(Kind::CannotPut { line: 1, why: CannotPut::ByteOrderMark }),
            false => Ok(()),
        }
    }

    /// Returns the content of a file that holds these lines of `text` and nothing else.
    pub(super) fn content(&self, text: &Text) -> Result<Vec<u8>, Kind> {
        self.check_mark(text)?;
        let mut content = text.bytes()[..text.body().start].to_vec();
        for (line, ending) in &self.lines {
            content.extend_from_slice(line);
            content.extend_from_slice(ending.bytes());
        }
        Ok(content)
    }

    /// Returns the lines, shifted and without their endings.
    pub(super) fn contents(&self) -> Vec<&[u8]> {
        self.lines.iter().map(|(line, _)| line.as_slice()).collect()
    }

    /// Returns the replacement that puts the lines into a file, in the place of some of its lines or of none, with so many
    /// blank lines above and below them.
    pub(super) fn put(
        &self,
        h: &Haystack<'_>,
        at: CurrentLines,
        (above, below): (usize, usize),
    ) -> Replacement {
        let (bytes, all) = (h.text().bytes(), h.lines());
        let (start, end) = (all.start(at.first()), all.start(at.first() + at.count()));
        let own = self.lines.iter().map(|(_, ending)| *ending).find(|ending| *ending != LineEnding::None);
        let near = ending_near(bytes, start).or(own).unwrap_or(LineEnding::Lf);
        let ending = |own: LineEnding| match (h.endings(), own) {
            (LineEndings::Lf, _) => LineEnding::Lf,
            (LineEndings::Crlf, _) => LineEnding::Crlf,
            (LineEndings::Mixed | LineEndings::None, LineEnding::None) => near,
            (LineEndings::Mixed | LineEndings::None, own) => own,
        };
        let becomes_last = is_unended(h) && at.first() + at.count() == all.len();
        let mut text = Vec::new();
        if becomes_last && at.count() == 0 && !self.lines.is_empty() {
            // The previously last line gets the ending that it lacked.
            text.extend_from_slice(near.bytes());
        }
        let blank = |count| repeat_n((&[][..], LineEnding::None), count);
        let own = self.lines.iter().map(|(line, own)| (line.as_slice(), *own));
        let all_lines = blank(above).chain(own).chain(blank(below));
        let count = above + self.lines.len() + below;
        for (i, (line, own)) in all_lines.enumerate() {
            text.extend_from_slice(line);
            // A blank line without an ending would be none.
            if !becomes_last || i + 1 < count || line.is_empty() {
                text.extend_from_slice(ending(own).bytes());
            }
        }
        (start..end, text)
    }
}

/// Returns the edit that removes lines of a text.
pub(super) fn removal(text: &Text, at: Range<usize>, number: usize) -> Result<Edit, Kind> {
    let (range, new) = splice::lines(&Haystack::new(text), at.start, at.len(), core::iter::empty(), None)?;
    let mut builder = EditBuilder::new(text);
    builder.replace(number, range, new);
    builder.finish().map_err(|_| Kind::MovedIntoItself { first: at.start + 1, count: at.len() })
}

/// Returns these lines with their indentation changed by as many characters of the kind that they have. Blank lines stay.
/// The error is a line that cannot be shifted so: the least indented, if they are to lose more than it has.
fn shifted(lines: &[&[u8]], by: isize, target: &Text) -> Result<Vec<Vec<u8>>, (usize, CannotTake)> {
    if by == 0 {
        return Ok(lines.iter().map(|line| line.to_vec()).collect());
    }
    let mut kind = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !is_blank(line)) {
        for byte in indentation(line) {
            if *kind.get_or_insert(*byte) != *byte {
                return Err((at, CannotTake::MixedIndentation));
            }
        }
    }
    let kind = match kind {
        Some(kind) => kind,
        None => kind_of(target).ok_or((0, CannotTake::MixedIndentation))?,
    };
    let columns = by.unsigned_abs();
    let has = |(at, line): (usize, &&[u8])| (!is_blank(line)).then(|| (indentation(line).len(), at));
    if by < 0
        && let Some((has, at)) = lines.iter().enumerate().filter_map(has).min()
        && has < columns
    {
        return Err((at, CannotTake::LessIndented { has }));
    }
    let shift = |line: &&[u8]| match is_blank(line) {
        true => line.to_vec(),
        false if by > 0 => [&alloc::vec![kind; columns][..], line].concat(),
        false => line[columns..].to_vec(),
    };
    Ok(lines.iter().map(shift).collect())
}

/// Returns what a text is indented with: spaces if nothing is indented, `None` if both spaces and tabs are used.
fn kind_of(text: &Text) -> Option<u8> {
    let lines = text.lines();
    let mut firsts = (0..lines.len())
        .map(|line| lines.content(line))
        .filter(|line| !is_blank(line))
        .filter_map(|line| indentation(line).first().copied());
    let first = firsts.next().unwrap_or(b' ');
    firsts.all(|other| other == first).then_some(first)
}

fn indentation(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[..end]
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests;
