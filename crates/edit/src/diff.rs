//! The unified diff of an edit, built from its spans without comparing the two contents.
//!
//! Spans are widened to whole lines, equal lines at their edges are cut off, and three lines of context are added. The
//! cost depends on the change, not on the file.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::edit::Edit;
use crate::plan::{Action, FilePlan};
use crate::text::{Text, split_lines};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// A unified diff of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The text, with its `---` and `+++` lines.
    pub text: String,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are removed.
    pub removed: usize,
}

/// Returns the diff of a plan's changes to one file.
#[must_use]
pub fn from_plan(file: &FilePlan) -> Diff {
    let mut diff = of_content(file);
    if let Some(executable) = file.executable {
        let mode = |executable| if executable { "100755" } else { "100644" };
        let modes = match &file.action {
            Action::Create { .. } => format!("new file mode {}\n", mode(executable)),
            _ => format!("old mode {}\nnew mode {}\n", mode(!executable), mode(executable)),
        };
        diff.text = format!("diff --git a/{0} b/{0}\n{modes}{1}", file.name, diff.text);
    }
    diff
}

fn of_content(file: &FilePlan) -> Diff {
    let name = &file.name;
    match &file.action {
        Action::Create { content } => whole(None, Some(name), content.bytes()),
        Action::Delete { base } => whole(Some(name), None, base.bytes()),
        Action::Modify { base, edit } => changed(name, name, base.bytes(), edit),
        Action::Move { from, base, edit } => {
            let mut diff = changed(from, name, base.bytes(), edit);
            diff.text = format!("rename from {from}\nrename to {name}\n{}", diff.text);
            diff
        }
    }
}

/// Returns the diff between two contents whose relation is not known, as after another program's change.
#[must_use]
pub fn between(name: &str, old: &Text, new: &Text) -> Diff {
    changed(name, name, old.bytes(), &crate::plan::rewrite_between(old, new))
}

/// Applies a diff of this module to the content that it was made for. The caller compares the outcome with the version that
/// it expects; what is no such diff gives `None` or anything.
#[must_use]
pub fn apply(old: &[u8], diff: &str) -> Option<Vec<u8>> {
    let mut rest = split_lines(old);
    let mut applied: Vec<u8> = Vec::with_capacity(old.len());
    let mut at = 0;
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(numbers) = line.strip_prefix("@@ -") else { continue };
        let (old_side, new_side) = numbers.split_once(" +")?;
        let (first, mut gone) = side(old_side)?;
        let (_, mut come) = side(new_side.split(' ').next()?)?;
        while at < first {
            applied.extend_from_slice(rest.next()?);
            at += 1;
        }
        while gone > 0 || come > 0 {
            let line = lines.next()?;
            let (sign, content) = line.split_at_checked(1)?;
            let is_unended = lines.next_if(|next| next.starts_with('\\')).is_some();
            let content = if is_unended { content.strip_suffix('\n')? } else { content };
            match sign {
                " " | "-" => {
                    let own = rest.next()?;
                    (at, gone) = (at + 1, gone.checked_sub(1)?);
                    if sign == " " {
                        come = come.checked_sub(1)?;
                        applied.extend_from_slice(own);
                    }
                }
                "+" => {
                    come = come.checked_sub(1)?;
                    applied.extend_from_slice(content.as_bytes());
                }
                _ => return None,
            }
        }
    }
    rest.for_each(|line| applied.extend_from_slice(line));
    Some(applied)
}

/// One side of a hunk's header: how many lines come before it, and how many it has.
fn side(text: &str) -> Option<(usize, usize)> {
    let (line, count) = text.split_once(',').unwrap_or((text, "1"));
    let (line, count): (usize, usize) = (line.parse().ok()?, count.parse().ok()?);
    Some((if count == 0 { line } else { line.checked_sub(1)? }, count))
}

fn whole(old: Option<&String>, new: Option<&String>, content: &[u8]) -> Diff {
    let sign = if old.is_some() { '-' } else { '+' };
    let lines = split_lines(content).count();
    let side = |name: Option<&String>, prefix: &str| match name {
        Some(name) => format!("{prefix}/{name}"),
        None => "/dev/null".into(),
    };
    let mut text = format!("--- {}\n+++ {}\n", side(old, "a"), side(new, "b"));
    if lines > 0 {
        let (gone, come) = if old.is_some() { (lines, 0) } else { (0, lines) };
        text.push_str(&header(0, gone, 0, come));
        split_lines(content).for_each(|line| push_line(&mut text, sign, line));
    }
    let (added, removed) = if old.is_some() { (0, lines) } else { (lines, 0) };
    Diff { text, added, removed }
}

/// Whole lines of the old content and the lines that replace them.
struct LineBlock<'a> {
    range: Range<usize>,
    new: Vec<u8>,
    old: &'a [u8],
}

fn changed(old_name: &str, new_name: &str, bytes: &[u8], edit: &Edit) -> Diff {
    let mut diff = Diff::default();
    let blocks = blocks(bytes, edit);
    if blocks.is_empty() {
        return diff;
    }
    diff.text = format!("--- a/{old_name}\n+++ b/{new_name}\n");
    // `old_line` is the index of the line at `counted`; `shift` is how many more lines the new side has so far.
    let (mut counted, mut old_line, mut shift) = (0, 0usize, 0isize);
    for group in groups(bytes, &blocks) {
        let before = lines_before(bytes, group[0].range.start, CONTEXT);
        let after = lines_after(bytes, group[group.len() - 1].range.end, CONTEXT);
        old_line += memchr::memchr_iter(b'\n', &bytes[counted..before]).count();
        counted = before;
        let mut body = String::new();
        let (mut at, mut gone, mut come) = (before, 0, 0);
        for block in group {
            let kept = count_lines(&bytes[at..block.range.start]);
            push_lines(&mut body, ' ', &bytes[at..block.range.start]);
            push_lines(&mut body, '-', block.old);
            push_lines(&mut body, '+', &block.new);
            let (removed, added) = (count_lines(block.old), count_lines(&block.new));
            gone += kept + removed;
            come += kept + added;
            diff.removed += removed;
            diff.added += added;
            at = block.range.end;
        }
        push_lines(&mut body, ' ', &bytes[at..after]);
        let kept = count_lines(&bytes[at..after]);
        let new_line = (old_line as isize + shift).max(0) as usize;
        diff.text.push_str(&header(old_line, gone + kept, new_line, come + kept));
        diff.text.push_str(&body);
        shift += come as isize - gone as isize;
    }
    diff
}

/// Formats a hunk header. `old` and `new` are zero-based; an empty side names the line before it, as in every diff.
fn header(old: usize, old_count: usize, new: usize, new_count: usize) -> String {
    let side = |line: usize, count: usize| match count {
        0 => format!("{line},0"),
        1 => format!("{}", line + 1),
        count => format!("{},{count}", line + 1),
    };
    format!("@@ -{} +{} @@\n", side(old, old_count), side(new, new_count))
}

/// Returns the edit's spans as blocks of whole lines, without the equal lines at their edges.
fn blocks<'a>(bytes: &'a [u8], edit: &Edit) -> Vec<LineBlock<'a>> {
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
    done.into_iter().filter_map(|(range, new)| trimmed(bytes, &range, &new)).collect()
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

/// Groups the blocks into hunks: those whose contexts would touch or overlap share one.
fn groups<'b, 'a>(bytes: &[u8], blocks: &'b [LineBlock<'a>]) -> Vec<&'b [LineBlock<'a>]> {
    blocks.chunk_by(|a, b| lines_after(bytes, a.range.end, CONTEXT * 2) >= b.range.start).collect()
}

fn count_lines(bytes: &[u8]) -> usize {
    let newlines = memchr::memchr_iter(b'\n', bytes).count();
    newlines + usize::from(bytes.last().is_some_and(|&last| last != b'\n'))
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline + 1)
}

fn lines_before(bytes: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at = line_start(bytes, at - 1);
    }
    at
}

fn lines_after(bytes: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == bytes.len() {
            break;
        }
        at = line_end(bytes, at);
    }
    at
}

fn push_lines(text: &mut String, sign: char, bytes: &[u8]) {
    split_lines(bytes).for_each(|line| push_line(text, sign, line));
}

fn push_line(text: &mut String, sign: char, line: &[u8]) {
    text.push(sign);
    text.push_str(&String::from_utf8_lossy(line));
    if line.last() != Some(&b'\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::EditBuilder;
    use proptest::prelude::*;

    fn diff(old: &str, new: &str) -> Diff {
        let text = |s: &str| Text::new(s.as_bytes().to_vec()).unwrap();
        between("f", &text(old), &text(new))
    }

    #[test]
    fn shows_the_change_with_three_lines_of_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let shown = diff(old, "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
        assert_eq!(shown.text, "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!((shown.added, shown.removed), (1, 1));
    }

    #[test]
    fn a_missing_final_newline_is_told() {
        let shown = diff("a\nb", "a\nb\n");
        assert_eq!(
            shown.text,
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn two_spans_on_one_line_are_one_change() {
        let text = Text::new(b"one two three\nnext\n".to_vec()).unwrap();
        let mut builder = EditBuilder::new(&text);
        builder.replace(1, 0..3, b"1".to_vec());
        builder.replace(2, 8..13, b"3".to_vec());
        let shown = changed("f", "f", text.bytes(), &builder.finish().unwrap());
        assert_eq!(shown.text, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one two three\n+1 two 3\n next\n");
    }

    proptest! {
        #[test]
        fn applying_the_diff_of_two_texts_to_the_one_gives_the_other(
            old in "([ab]{0,2}\n){0,20}[ab]{0,2}",
            new in "([ab]{0,2}\n){0,20}[ab]{0,2}",
        ) {
            let shown = diff(&old, &new);
            prop_assert_eq!(apply(old.as_bytes(), &shown.text), Some(new.into_bytes()));
        }

        #[test]
        fn a_diff_from_spans_is_right_whatever_the_spans(
            old in "([ab]{0,2}\n){0,20}[ab]{0,2}",
            cuts in proptest::collection::vec((0usize..60, 0usize..6, "[ab\n]{0,4}"), 0..5),
        ) {
            let text = Text::new(old.clone().into_bytes()).unwrap();
            let mut builder = EditBuilder::new(&text);
            let mut at = 0;
            for (skip, take, new) in cuts {
                let start = (at + skip % 9).min(old.len());
                let end = (start + take).min(old.len());
                builder.replace(1, start..end, new.into_bytes());
                at = end;
            }
            // Spans may touch; overlapping ones cannot be built.
            let edit = builder.finish().unwrap();
            let new = String::from_utf8(edit.apply(text.bytes())).unwrap();
            let shown = changed("f", "f", text.bytes(), &edit);
            prop_assert_eq!(apply(old.as_bytes(), &shown.text), Some(new.into_bytes()));
        }
    }
}
