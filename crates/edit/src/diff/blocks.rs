//! The changed lines of an edit as blocks: the edit's spans are widened to whole lines, and what old and new text share
//! is no change, be it at the edges of a block or inside it.
//!
//! Only the text of the spans is compared, never two files.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use similar::DiffOp;

use crate::compare::compare;
use crate::edit::Edit;
use crate::text::split_lines;

/// The number of line pairs above which the lines inside a block are not compared.
const COMPARED: usize = 4_000_000;

/// Whole lines of the old content and the lines that replace them.
pub(super) struct LineBlock<'a> {
    pub(super) range: Range<usize>,
    pub(super) new: Vec<u8>,
    pub(super) old: &'a [u8],
}

/// Returns the edit's changes as blocks of whole lines that stand apart, none of which has a line that old and new share.
pub(super) fn blocks<'a>(bytes: &'a [u8], edit: &Edit) -> Vec<LineBlock<'a>> {
    let mut done: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    let mut open: Option<OpenBlock> = None;
    for span in edit.spans() {
        let joins = open.as_mut().is_some_and(|block| block.reaches(bytes, span.range.start));
        if !joins {
            done.extend(open.take().map(|block| block.close(bytes)));
        }
        let mut block = open.take().unwrap_or_else(|| {
            let start = line_start(bytes, span.range.start);
            OpenBlock { start, at: start, new: Vec::new(), line_end: None }
        });
        block.new.extend_from_slice(&bytes[block.at..span.range.start]);
        block.new.extend_from_slice(&span.new);
        block.at = span.range.end;
        open = Some(block);
    }
    done.extend(open.map(|block| block.close(bytes)));
    let trimmed = done.into_iter().filter_map(|(range, new)| trimmed(bytes, &range, &new));
    let mut blocks: Vec<LineBlock<'a>> = Vec::new();
    for block in trimmed {
        match blocks.last_mut().filter(|last| last.range.end == block.range.start) {
            Some(last) => {
                last.range.end = block.range.end;
                last.old = &bytes[last.range.clone()];
                last.new.extend(block.new);
            }
            None => blocks.push(block),
        }
    }
    blocks.into_iter().flat_map(|block| without_shared_lines(bytes, block)).collect()
}

/// An unfinished block: the next span may stand on its last line.
struct OpenBlock {
    start: usize,
    /// The offset up to which the old content is processed.
    at: usize,
    new: Vec<u8>,
    /// The end of the line at `at`, cached.
    line_end: Option<usize>,
}

impl OpenBlock {
    /// Returns whether old and new both end with a whole line here, so that the next line is not part of the block.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        let old_ends = self.at == 0 || bytes[self.at - 1] == b'\n';
        old_ends && self.new.last().is_none_or(|last| *last == b'\n')
    }

    /// Returns where this block ends if no span joins it.
    fn end(&mut self, bytes: &[u8]) -> usize {
        if self.is_whole(bytes) {
            return self.at;
        }
        match self.line_end {
            Some(end) if end > self.at => end,
            _ => *self.line_end.insert(line_end(bytes, self.at)),
        }
    }

    /// Returns whether `offset` belongs to this block's last line.
    fn reaches(&mut self, bytes: &[u8], offset: usize) -> bool {
        let end = self.end(bytes);
        offset < end || (offset == end && end == bytes.len() && !self.is_whole(bytes))
    }

    fn close(mut self, bytes: &[u8]) -> (Range<usize>, Vec<u8>) {
        let end = self.end(bytes);
        self.new.extend_from_slice(&bytes[self.at..end]);
        (self.start..end, self.new)
    }
}

fn trimmed<'a>(bytes: &'a [u8], range: &Range<usize>, new: &[u8]) -> Option<LineBlock<'a>> {
    let old = &bytes[range.clone()];
    let head: usize =
        split_lines(old).zip(split_lines(new)).take_while(|(a, b)| a == b).map(|(line, _)| line.len()).sum();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let old_lines: Vec<&[u8]> = split_lines(old_rest).collect();
    let new_lines: Vec<&[u8]> = split_lines(new_rest).collect();
    let tail: usize = old_lines
        .iter()
        .rev()
        .zip(new_lines.iter().rev())
        .take_while(|(a, b)| a == b)
        .map(|(line, _)| line.len())
        .sum();
    if old_rest.len() == tail && new_rest.len() == tail {
        return None;
    }
    let range = range.start + head..range.end - tail;
    let kept = new_rest[..new_rest.len() - tail].to_vec();
    Some(LineBlock { old: &bytes[range.clone()], range, new: kept })
}

/// Splits a block around the lines that its old and new text share.
fn without_shared_lines<'a>(bytes: &'a [u8], block: LineBlock<'a>) -> Vec<LineBlock<'a>> {
    let old: Vec<&[u8]> = split_lines(block.old).collect();
    let new: Vec<&[u8]> = split_lines(&block.new).collect();
    let known: BTreeSet<&[u8]> = old.iter().copied().collect();
    let shares_none = !new.iter().any(|line| known.contains(line));
    if shares_none || old.len().saturating_mul(new.len()) > COMPARED {
        return vec![block];
    }
    let mut ends = Vec::with_capacity(old.len() + 1);
    ends.push(block.range.start);
    for line in &old {
        ends.push(ends[ends.len() - 1] + line.len());
    }
    let changed = compare(&old, &new).into_iter();
    let changed = changed.filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed
        .map(|op| {
            let gone = op.old_range();
            let range = ends[gone.start]..ends[gone.end];
            LineBlock { old: &bytes[range.clone()], range, new: new[op.new_range()].concat() }
        })
        .collect()
}

pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1)
}

pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline + 1)
}
