//! The unified diff of an edit, built from its spans without comparing the two contents.
//!
//! `blocks` widens the spans to whole lines and leaves out the lines that both sides share; three lines of context are
//! added here. The cost depends on the change, not on the file. `short` has the form in which an answer shows a diff, `parts`
//! that for somebody who chooses among the hunks of a request; `words` finds what differs inside lines.

mod blocks;
mod heading;
mod parts;
mod recorded;
mod short;
pub mod words;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use self::blocks::{LineBlock, blocks, line_end, line_start};
use self::heading::{heading, indentation_of};
use crate::edit::Edit;
use crate::patch::names::quote;
use crate::plan::{Action, FilePlan};
use crate::text::{Text, split_lines};

pub use self::parts::{DiffPart, parts};
pub use self::recorded::from_text;
pub use self::short::ShortDiff;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The line below a line that has no ending.
const UNENDED: &str = "\\ No newline at end of file\n";

/// A unified diff of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The name of the file before; `None` for a new one.
    old_name: Option<String>,
    /// Its name afterwards; `None` for a deleted one.
    new_name: Option<String>,
    /// The lines about the file's mode, as git writes them.
    modes: String,
    /// The changed lines with their context.
    hunks: Vec<DiffHunk>,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are removed.
    pub removed: usize,
}

/// Changed lines of a diff that stand near each other, with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffHunk {
    /// The lines of the old content, counted from 0.
    old: Range<usize>,
    /// The lines of the new content, counted from 0.
    new: Range<usize>,
    /// The line that opens the block around the change, or nothing.
    heading: String,
    /// The lines with their signs, each ended.
    body: String,
}

/// Returns the diff of a plan's changes to one file.
#[must_use]
pub fn from_plan(file: &FilePlan) -> Diff {
    let mut diff = of_content(file);
    if let Some(executable) = file.executable {
        let mode = |executable| if executable { "100755" } else { "100644" };
        diff.modes = match &file.action {
            Action::Create { .. } => format!("new file mode {}\n", mode(executable)),
            _ => format!("old mode {}\nnew mode {}\n", mode(!executable), mode(executable)),
        };
    }
    diff
}

fn of_content(file: &FilePlan) -> Diff {
    let name = &file.name;
    match &file.action {
        Action::Create { content } => whole(None, Some(name), content.bytes()),
        Action::Delete { base } => whole(Some(name), None, base.bytes()),
        Action::Modify { base, edit } => changed(name, name, base, edit),
        Action::Move { from, base, edit } => changed(from, name, base, edit),
    }
}

/// Returns the diff between two contents whose relation is not known, as after another program's change.
#[must_use]
pub fn between(name: &str, old: &Text, new: &Text) -> Diff {
    changed(name, name, old, &crate::plan::rewrite_between(old, new))
}

impl Diff {
    /// Returns the whole diff as text, with the names of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let name = self.new_name.as_ref().or(self.old_name.as_ref()).map_or("", String::as_str);
        if !self.modes.is_empty() {
            let [old, new] = ["a", "b"].map(|side| quote(&format!("{side}/{name}")));
            text = format!("diff --git {old} {new}\n{}", self.modes);
        }
        if let (Some(from), Some(to)) = (&self.old_name, &self.new_name)
            && from != to
        {
            text.push_str(&format!("rename from {}\nrename to {}\n", quote(from), quote(to)));
        }
        let is_whole = self.old_name.is_none() != self.new_name.is_none();
        if is_whole || !self.hunks.is_empty() {
            let side = |name: &Option<String>, prefix: &str| match name {
                Some(name) => quote(&format!("{prefix}/{name}")),
                None => "/dev/null".into(),
            };
            let (old, new) = (side(&self.old_name, "a"), side(&self.new_name, "b"));
            text.push_str(&format!("--- {old}\n+++ {new}\n"));
        }
        for hunk in &self.hunks {
            text.push_str(&hunk.header());
            if !hunk.heading.is_empty() {
                text.insert_str(text.len() - 1, &format!(" {}", hunk.heading));
            }
            text.push_str(&hunk.body);
        }
        text
    }
}

impl DiffHunk {
    /// Returns its first line, which says where it stands. An empty side names the line before it, as in every diff.
    fn header(&self) -> String {
        let side = |lines: &Range<usize>| match lines.len() {
            0 => format!("{},0", lines.start),
            1 => format!("{}", lines.start + 1),
            count => format!("{},{count}", lines.start + 1),
        };
        format!("@@ -{} +{} @@\n", side(&self.old), side(&self.new))
    }
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
    let (removed, added) = if old.is_some() { (lines, 0) } else { (0, lines) };
    let mut diff = Diff { old_name: old.cloned(), new_name: new.cloned(), added, removed, ..Diff::default() };
    if lines > 0 {
        let mut body = String::with_capacity(content.len() + lines);
        push_lines(&mut body, sign, content);
        diff.hunks.push(DiffHunk { old: 0..removed, new: 0..added, heading: String::new(), body });
    }
    diff
}

fn changed(old_name: &str, new_name: &str, base: &Text, edit: &Edit) -> Diff {
    let bytes = base.bytes();
    let (old_name, new_name) = (Some(old_name.into()), Some(new_name.into()));
    let mut diff = Diff { old_name, new_name, ..Diff::default() };
    let blocks = blocks(bytes, edit);
    // How many more lines the new side has so far.
    let mut shift = 0isize;
    for group in groups(bytes, &blocks) {
        let before = lines_before(bytes, group[0].range.start, CONTEXT);
        let after = lines_after(bytes, group[group.len() - 1].range.end, CONTEXT);
        let old_line = base.line_number(before) - 1;
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
        let (old, new) = (old_line..old_line + gone + kept, new_line..new_line + come + kept);
        // An insertion is indented as its lines are.
        let changed = if group[0].old.is_empty() { &group[0].new[..] } else { group[0].old };
        let indentation = split_lines(changed).find_map(indentation_of).unwrap_or(0);
        let heading = heading(bytes, before, group[0].range.start, indentation);
        diff.hunks.push(DiffHunk { old, new, heading, body });
        shift += come as isize - gone as isize;
    }
    diff
}

/// Groups the blocks into hunks: those whose contexts would touch or overlap share one.
fn groups<'b, 'a>(bytes: &[u8], blocks: &'b [LineBlock<'a>]) -> Vec<&'b [LineBlock<'a>]> {
    blocks.chunk_by(|a, b| lines_after(bytes, a.range.end, CONTEXT * 2) >= b.range.start).collect()
}

fn count_lines(bytes: &[u8]) -> usize {
    let newlines = memchr::memchr_iter(b'\n', bytes).count();
    newlines + usize::from(bytes.last().is_some_and(|&last| last != b'\n'))
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
        text.push('\n');
        text.push_str(UNENDED);
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
        assert_eq!(shown.text(), "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!((shown.added, shown.removed), (1, 1));
    }

    #[test]
    fn the_diff_of_a_file_is_of_no_other_file_whatever_its_name() {
        let (old, new) = (Text::new(b"a\n".to_vec()).unwrap(), Text::new(b"b\n".to_vec()).unwrap());
        for name in [
            "f",
            "f\tlocal",
            "f\n@@ -0,0 +1 @@\n+x",
            "f ",
            " f",
            "f\u{a0}",
            "\"f\"",
            "f\\n",
            "\u{e9} x",
            "a\r",
        ] {
            let text = between(name, &old, &new).text();
            let patch = crate::patch::unified::parse(&text, None).unwrap();
            assert_eq!(patch.paths().collect::<Vec<_>>(), [name], "{text}");
            assert_eq!(text.lines().count(), 5, "{text}");
            let known = from_text(&text);
            assert_eq!((known.len(), known[0].hunks().len()), (1, 1), "{text}");
        }
        let names = ("old\tname", "new\tname");
        let moved = changed(names.0, names.1, &old, &crate::plan::rewrite_between(&old, &new)).text();
        let patch = crate::patch::unified::parse(&moved, None).unwrap();
        assert_eq!(patch.paths().collect::<Vec<_>>(), [names.0, names.1], "{moved}");
        assert_eq!(from_text(&moved).len(), 1, "{moved}");
    }

    #[test]
    fn a_missing_final_newline_is_told() {
        let shown = diff("a\nb", "a\nb\n");
        assert_eq!(
            shown.text(),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn two_spans_on_one_line_are_one_change() {
        let text = Text::new(b"one two three\nnext\n".to_vec()).unwrap();
        let mut builder = EditBuilder::new(&text);
        builder.replace(1, 0..3, b"1".to_vec());
        builder.replace(2, 8..13, b"3".to_vec());
        let shown = changed("f", "f", &text, &builder.finish().unwrap());
        assert_eq!(shown.text(), "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one two three\n+1 two 3\n next\n");
    }

    proptest! {
        #[test]
        fn no_line_that_both_sides_share_is_a_change(
            old in "([abc]{0,2}\n){0,12}",
            new in "([abc]{0,2}\n){0,12}",
        ) {
            let text = Text::new(old.clone().into_bytes()).unwrap();
            let mut builder = EditBuilder::new(&text);
            builder.replace(1, 0..old.len(), new.clone().into_bytes());
            let from_span = changed("f", "f", &text, &builder.finish().unwrap());
            let compared = diff(&old, &new);
            prop_assert_eq!((from_span.added, from_span.removed), (compared.added, compared.removed));
            prop_assert_eq!(apply(old.as_bytes(), &from_span.text()), Some(new.clone().into_bytes()));
            let short = ["--- a/f\n+++ b/f\n", &from_span.short().text].concat();
            prop_assert_eq!(apply(old.as_bytes(), &short), Some(new.into_bytes()));
        }

        #[test]
        fn applying_the_diff_of_two_texts_to_the_one_gives_the_other(
            old in "([ab]{0,2}\n){0,20}[ab]{0,2}",
            new in "([ab]{0,2}\n){0,20}[ab]{0,2}",
        ) {
            let shown = diff(&old, &new);
            prop_assert_eq!(apply(old.as_bytes(), &shown.text()), Some(new.into_bytes()));
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
            let shown = changed("f", "f", &text, &edit);
            prop_assert_eq!(apply(old.as_bytes(), &shown.text()), Some(new.into_bytes()));
        }
    }
}
