//! Transfer of the difference between a request's old and new text to the file's own lines.
//!
//! A match may be looser than equality, so the new text does not simply replace the match. Lines that old and new share
//! keep the file's bytes; a line that replaces another takes that line's ending; an additional line takes the ending of
//! its neighbour.

use alloc::vec::Vec;
use core::ops::Range;

use similar::DiffOp;

use crate::compare::compare;
use crate::text::{LineEnding, LineEndings, ending_near, split_ending, split_lines};

/// The number of line pairs above which the lines of a changed block with mixed line endings are replaced one by one,
/// without a search for shared lines.
const COMPARED: usize = 4_000_000;

/// A range of the file and its new bytes.
pub(super) type Replacement = (Range<usize>, Vec<u8>);

/// Returns the replacements that turn `old` into `new` at `place`, which matched `old` line by line.
pub(super) fn carry(
    bytes: &[u8],
    endings: LineEndings,
    place: &Range<usize>,
    old: &[u8],
    new: &[u8],
) -> Vec<Replacement> {
    let old_lines: Vec<&[u8]> = split_lines(old).collect();
    let new_lines: Vec<&[u8]> = split_lines(new).collect();
    if same_contents(&old_lines, &new_lines) {
        // The request changes only line endings, so they are meant literally.
        return alloc::vec![(place.clone(), new.to_vec())];
    }
    let file_lines = lines_of(bytes, place);
    debug_assert_eq!(file_lines.len(), old_lines.len());
    let equal = |a: &[u8], b: &[u8]| key(a) == key(b);
    let head = old_lines.iter().zip(&new_lines).take_while(|(a, b)| equal(a, b)).count();
    let (old_rest, new_rest) = (&old_lines[head..], &new_lines[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| equal(a, b)).count();
    let (old_mid, new_mid) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let file_mid = &file_lines[head..head + old_mid.len()];
    let at = file_lines.get(head).map_or(place.end, |line| line.start);

    let mixed = file_mid.windows(2).any(|pair| ending(bytes, &pair[0]) != ending(bytes, &pair[1]));
    if !mixed || old_mid.len().saturating_mul(new_mid.len()) > COMPARED {
        return alloc::vec![replace(bytes, endings, at, file_mid, new_mid)];
    }
    let (old_keys, new_keys): (Vec<_>, Vec<_>) =
        (old_mid.iter().map(|l| key(l)).collect(), new_mid.iter().map(|l| key(l)).collect());
    compare(&old_keys, &new_keys)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            let at = file_mid.get(old.start).map_or_else(|| end_of(file_mid, at), |line| line.start);
            replace(bytes, endings, at, &file_mid[old], &new_mid[new])
        })
        .collect()
}

/// Returns the replacement of some lines of the file by new ones, at `at` if there are none to replace.
pub(super) fn replace(
    bytes: &[u8],
    endings: LineEndings,
    at: usize,
    gone: &[Range<usize>],
    new: &[&[u8]],
) -> Replacement {
    let mut text = Vec::new();
    for (i, line) in new.iter().enumerate() {
        let (content, own) = split_ending(line);
        text.extend_from_slice(content);
        if own == LineEnding::None {
            continue;
        }
        let replaced = gone.get(i).or(gone.last()).map(|line| ending(bytes, line));
        let ending = match replaced {
            Some(ending @ (LineEnding::Lf | LineEnding::Crlf)) => ending,
            // Only a file with mixed endings must be searched for the neighbour.
            _ => match endings {
                LineEndings::None => own,
                LineEndings::Lf => LineEnding::Lf,
                LineEndings::Crlf => LineEnding::Crlf,
                LineEndings::Mixed => ending_near(bytes, at).unwrap_or(own),
            },
        };
        text.extend_from_slice(ending.bytes());
    }
    (at..end_of(gone, at), text)
}

fn end_of(lines: &[Range<usize>], at: usize) -> usize {
    lines.last().map_or(at, |line| line.end)
}

fn ending(bytes: &[u8], line: &Range<usize>) -> LineEnding {
    split_ending(&bytes[line.clone()]).1
}

/// Returns the comparison key of a line: its content, and whether it has an ending.
fn key(line: &[u8]) -> (&[u8], bool) {
    let (content, ending) = split_ending(line);
    (content, ending != LineEnding::None)
}

fn same_contents(old: &[&[u8]], new: &[&[u8]]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| key(a) == key(b))
}

/// Returns the lines of the file within `place`, the first and last perhaps only in part.
fn lines_of(bytes: &[u8], place: &Range<usize>) -> Vec<Range<usize>> {
    let mut at = place.start;
    split_lines(&bytes[place.clone()])
        .map(|line| {
            let range = at..at + line.len();
            at = range.end;
            range
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    fn carried(file: &str, place: Range<usize>, old: &str, new: &str) -> Vec<u8> {
        let mut out = file.as_bytes().to_vec();
        let endings = Text::new(out.clone()).unwrap().line_endings();
        let carried = carry(file.as_bytes(), endings, &place, old.as_bytes(), new.as_bytes());
        for (range, text) in carried.into_iter().rev() {
            out.splice(range, text);
        }
        out
    }

    #[test]
    fn new_lines_take_the_ending_of_the_line_they_replace() {
        assert_eq!(carried("a\r\nb\r\nc\r\n", 3..4, "b", "B\nB2"), b"a\r\nB\r\nB2\r\nc\r\n");
        assert_eq!(carried("a\nb\r\n", 0..5, "a\nb\n", "A\nB\nC\n"), b"A\nB\r\nC\r\n");
    }

    #[test]
    fn shared_lines_keep_the_bytes_of_the_file() {
        assert_eq!(carried("a\r\nb\nc\r\nd\n", 0..10, "a\nb\nc\nd\n", "A\nb\nc\nD\n"), b"A\r\nb\nc\r\nD\n");
        assert_eq!(carried("a\r\nb\nc\r\n", 0..8, "a\nb\nc\n", "b\nx\nc\n"), b"b\nx\nc\r\n");
    }

    #[test]
    fn a_change_of_nothing_but_line_endings_is_literal() {
        assert_eq!(carried("a\r\nb\n", 0..3, "a\r\n", "a\n"), b"a\nb\n");
    }

    #[test]
    fn a_file_without_line_endings_takes_those_of_the_request() {
        assert_eq!(carried("ab", 0..1, "a", "1\r\n2"), b"1\r\n2b");
    }
}
