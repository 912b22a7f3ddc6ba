//! Whole-file replacement: the one case where the changed places are not known and must be found.
//!
//! The common prefix and suffix of lines are cut off, and the lines between them are compared. The result is an
//! ordinary [`Edit`], so that the diff, the preview and the commit need no special case.

use alloc::vec::Vec;

use similar::DiffOp;

use crate::compare::compare_middle;
use crate::edit::{Edit, EditBuilder};
use crate::follow::{LineBlock, LineMap};
use crate::text::{LineEnding, LineEndings, Text, split_ending, split_lines, with_endings};

/// The number of line pairs above which the middle is replaced as one block: it would be a rewrite anyway.
const COMPARED: usize = 25_000_000;

/// Returns the edit that gives the file a request's content. The BOM stays. In a CRLF file, content without any CRLF
/// gets CRLF: its writer saw no line endings.
pub(super) fn replacement(text: &Text, content: &str) -> Edit {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content).as_bytes();
    let adapt = text.line_endings() == LineEndings::Crlf && !content.windows(2).any(|w| w == b"\r\n");
    let mut wanted = text.bytes()[..text.body().start].to_vec();
    if adapt {
        wanted.extend(with_endings(content, LineEnding::Crlf));
    } else {
        wanted.extend_from_slice(content);
    }
    if text.line_endings() == LineEndings::Mixed {
        wanted = keep_shared_endings(text, &wanted);
    }
    rewrite(text, &wanted)
}

/// Gives the lines that stay in a file of mixed line endings their own endings back.
fn keep_shared_endings(text: &Text, wanted: &[u8]) -> Vec<u8> {
    let old: Vec<&[u8]> = split_lines(text.bytes()).collect();
    let new: Vec<&[u8]> = split_lines(wanted).collect();
    let keys = |lines: &[&[u8]]| lines.iter().map(|line| split_ending(line).0.to_vec()).collect::<Vec<_>>();
    let mut out = Vec::with_capacity(wanted.len());
    for op in compare_middle(&keys(&old), &keys(&new), COMPARED) {
        for i in op.new_range() {
            let (content, own) = split_ending(new[i]);
            let kept = match op {
                DiffOp::Equal { old_index, new_index, .. } => split_ending(old[old_index + i - new_index]).1,
                _ => own,
            };
            out.extend_from_slice(content);
            // The request decides about the final newline.
            let ending = if own == LineEnding::None || kept == LineEnding::None { own } else { kept };
            out.extend_from_slice(ending.bytes());
        }
    }
    out
}

/// Returns the edit that turns the whole file into exactly these bytes.
pub(super) fn rewrite(text: &Text, wanted: &[u8]) -> Edit {
    let old: Vec<&[u8]> = split_lines(text.bytes()).collect();
    let new: Vec<&[u8]> = split_lines(wanted).collect();
    let mut builder = EditBuilder::new(text);
    let mut at = 0;
    let offsets: Vec<usize> = core::iter::once(0)
        .chain(old.iter().map(|line| {
            at += line.len();
            at
        }))
        .collect();
    for op in compare_middle(&old, &new, COMPARED) {
        if !matches!(op, DiffOp::Equal { .. }) {
            let gone = op.old_range();
            builder.replace(1, offsets[gone.start]..offsets[gone.end], new[op.new_range()].concat());
        }
    }
    // The pieces of one comparison are disjoint by construction.
    builder.finish().unwrap_or_else(|_| Edit::empty(text)).into_compared()
}

/// Returns which lines a comparison of two contents takes for changed. Line endings do not count.
pub(crate) fn changed_lines(old: &Text, new: &Text) -> Option<LineMap> {
    let contents = |text: &Text| -> Vec<Vec<u8>> {
        split_lines(&text.bytes()[text.body()]).map(|line| split_ending(line).0.to_vec()).collect()
    };
    let (old, new) = (contents(old), contents(new));
    let is_changed = |op: &DiffOp| !matches!(op, DiffOp::Equal { .. });
    let block = |op: DiffOp| {
        let (gone, came) = (op.old_range(), op.new_range().len());
        LineBlock { first: gone.start, gone: gone.len(), came }
    };
    let blocks = compare_middle(&old, &new, COMPARED).into_iter().filter(is_changed).map(block).collect();
    LineMap::from_blocks(old.len(), new.len(), blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(file: &[u8], content: &str) -> Vec<u8> {
        let text = Text::new(file.to_vec()).unwrap();
        replacement(&text, content).apply(text.bytes())
    }

    #[test]
    fn a_crlf_file_stays_one_and_keeps_its_bom() {
        assert_eq!(written(b"\xef\xbb\xbfa\r\nb\r\n", "a\nB\nc\n"), b"\xef\xbb\xbfa\r\nB\r\nc\r\n");
        assert_eq!(written(b"a\nb\n", "a\r\nB\r\n"), b"a\r\nB\r\n");
    }

    #[test]
    fn lines_of_a_mixed_file_that_stay_keep_their_endings() {
        assert_eq!(written(b"a\r\nb\nc\r\n", "a\nb\nx\nc\n"), b"a\r\nb\nx\nc\r\n");
    }

    proptest! {
        #[test]
        fn a_rewrite_yields_exactly_the_wanted_bytes(
            old in "[ab\r\n]{0,40}",
            new in "[ab\r\n]{0,40}",
        ) {
            let text = Text::new(old.into_bytes()).unwrap();
            prop_assert_eq!(rewrite(&text, new.as_bytes()).apply(text.bytes()), new.into_bytes());
        }
    }
}
