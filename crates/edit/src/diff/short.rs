//! The form in which an answer shows a diff: to somebody who knows what they asked for, and pays for each line.
//!
//! There is one line of context around a change. Of a long line the stretch around the change is shown, of many lines in a
//! row that all come or all go the first and the last. The names of the file are not in it: the answer says them.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Diff, DiffHunk};
use crate::excerpt::{around, first_difference};

/// Lines of context around a change.
const CONTEXT: usize = 1;
/// How many bytes of a changed line are shown, and of one that is context.
const CHANGED_COLUMNS: usize = 200;
const CONTEXT_COLUMNS: usize = 100;
/// A line that is longer by less than this is shown whole: to say what is left out takes room too.
const TOLERANCE: usize = 40;
/// A longer row of lines is shown by this many at either end.
const ROW: usize = 16;
const ROW_ENDS: usize = 5;
/// A longer row of lines that the edit only moves is shown by this many at either end.
const MOVED_ROW: usize = 4;
const MOVED_ROW_ENDS: usize = 1;
/// Lines that are shorter in all are shown: to say that they are not takes more.
const HIDDEN: usize = 100;
/// With less room than this no part of a hunk is shown: it could be what goes without what comes for it.
const PART: usize = 1_000;

/// A diff as an answer shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShortDiff {
    /// The hunks, each with its header, and what becomes of the file's mode.
    pub text: String,
    /// How many changed lines are left out.
    pub left_out: usize,
    /// Whether lines, or parts of lines, are left out.
    pub is_shortened: bool,
}

impl Diff {
    /// Returns the diff as an answer shows it.
    #[must_use]
    pub fn short(&self) -> ShortDiff {
        self.short_with(&BTreeSet::new())
    }

    /// Returns the diff as an answer shows it, of an edit that moves these lines, without their indentation.
    #[must_use]
    pub fn short_with(&self, moved: &BTreeSet<&str>) -> ShortDiff {
        let mut short = ShortDiff::default();
        if let Some(mode) = self.modes.lines().last() {
            short.text = format!("{mode}\n");
        }
        for hunk in self.hunks.iter().flat_map(|hunk| hunk.with_context(CONTEXT)) {
            short.push(&hunk, moved);
        }
        short
    }

    /// Returns of the diff as an answer shows it the hunks that have one of these old lines, counted from one.
    #[must_use]
    pub fn short_at(&self, lines: &[usize]) -> ShortDiff {
        let mut short = ShortDiff::default();
        for hunk in self.hunks.iter().flat_map(|hunk| hunk.with_context(CONTEXT)) {
            if lines.iter().any(|line| hunk.old.contains(&(line - 1))) {
                short.push(&hunk, &BTreeSet::new());
            }
        }
        short
    }

    /// Returns the lines that come or go, by their sign, without their indentation.
    pub fn lines(&self, sign: char) -> impl Iterator<Item = &str> {
        let lines = self.hunks.iter().flat_map(|hunk| hunk.body.lines());
        lines.filter_map(move |line| line.strip_prefix(sign)).map(str::trim)
    }

    /// Returns the changed lines alone, row by row, each with the number of the old line at which it begins. What becomes of
    /// the file's mode comes first, at 0.
    #[must_use]
    pub fn rows(&self) -> Vec<(usize, String)> {
        let modes = (!self.modes.is_empty()).then(|| (0, self.modes.clone()));
        let rows = self.hunks.iter().flat_map(|hunk| hunk.with_context(0));
        modes.into_iter().chain(rows.map(|row| (row.old.start + 1, row.body))).collect()
    }
}

impl ShortDiff {
    /// Returns as many of its hunks as have room, of which each line takes what `length` says. Of a first hunk that has none
    /// the first lines are left, if they are more than a few.
    #[must_use]
    pub fn within(mut self, room: usize, length: impl Fn(&str) -> usize) -> Self {
        let is_change = |line: &&str| line.starts_with(['+', '-']);
        let (mut left, mut at, mut end) = (room, 0, 0);
        for line in self.text.split_inclusive('\n') {
            let is_first = end == 0 && room >= PART;
            // Up to a header all hunks are whole.
            if line.starts_with("@@ -") && at > 0 {
                end = at;
            }
            match left.checked_sub(length(line)) {
                Some(rest) => (left, at) = (rest, at + line.len()),
                None => {
                    end = if is_first && self.text[..at].lines().any(|line| is_change(&line)) {
                        at
                    } else {
                        end
                    };
                    break;
                }
            }
        }
        if at == self.text.len() {
            return self;
        }
        self.left_out += self.text[end..].lines().filter(is_change).count();
        self.text.truncate(end);
        self.is_shortened = true;
        self
    }

    fn push(&mut self, hunk: &DiffHunk, moved: &BTreeSet<&str>) {
        self.text.push_str(&hunk.header());
        let lines = lines_of(&hunk.body);
        let mut rest = &lines[..];
        while !rest.is_empty() {
            let (context, others) = split_while(rest, ' ');
            let (gone, others) = split_while(others, '-');
            let (come, others) = split_while(others, '+');
            context.iter().for_each(|line| self.push_line(line, 0, CONTEXT_COLUMNS));
            self.push_row(gone, come, moved);
            self.push_row(come, gone, moved);
            rest = others;
        }
    }

    /// Adds lines that all come or all go, beside those that go or come for them.
    fn push_row(&mut self, row: &[&str], others: &[&str], moved: &BTreeSet<&str>) {
        let is_moved = !moved.is_empty() && row.iter().all(|line| moved.contains(line[1..].trim()));
        let (most, ends) = if is_moved { (MOVED_ROW, MOVED_ROW_ENDS) } else { (ROW, ROW_ENDS) };
        let inner = if row.len() > most { ends..row.len() - ends } else { 0..0 };
        let is_hidden = row[inner.clone()].iter().map(|line| line.len()).sum::<usize>() > HIDDEN;
        for (at, line) in row.iter().enumerate() {
            if !is_hidden || !inner.contains(&at) {
                let differs = |other: &&str| first_difference(content(line), content(other));
                self.push_line(line, others.get(at).map_or(0, differs), CHANGED_COLUMNS);
            } else if at == inner.start {
                let (count, what) = (inner.len(), if is_moved { "moved " } else { "" });
                self.text.push_str(&format!("\\ {count} {what}lines\n"));
                self.left_out += if is_moved { 0 } else { count };
                self.is_shortened |= !is_moved;
            }
        }
    }

    fn push_line(&mut self, line: &str, at: usize, columns: usize) {
        let content = content(line);
        if content.len() <= columns + TOLERANCE {
            self.text.push_str(line);
            return;
        }
        self.text.push_str(&line[..1]);
        self.text.push_str(&around(content, at, columns));
        // The line's ending, and what is said of a line that has none.
        self.text.push_str(&line[1 + content.len()..]);
        self.is_shortened = true;
    }
}

impl DiffHunk {
    /// Returns the same changes with at most so many lines of context, as several hunks where they are far apart.
    fn with_context(&self, context: usize) -> Vec<Self> {
        let lines = lines_of(&self.body);
        let is_change = |at: &usize| !lines[*at].starts_with(' ');
        let mut groups: Vec<Range<usize>> = Vec::new();
        for at in (0..lines.len()).filter(is_change) {
            match groups.last_mut() {
                Some(group) if at <= group.end + 2 * context => group.end = at + 1,
                _ => groups.push(at..at + 1),
            }
        }
        let count = |range: Range<usize>, side: char| {
            lines[range].iter().filter(|line| line.starts_with([' ', side])).count()
        };
        let hunk = |group: Range<usize>| {
            let (start, end) = (group.start.saturating_sub(context), (group.end + context).min(lines.len()));
            let side = |whole: &Range<usize>, sign| {
                let first = whole.start + count(0..start, sign);
                first..first + count(start..end, sign)
            };
            let body = lines[start..end].concat();
            Self { old: side(&self.old, '-'), new: side(&self.new, '+'), heading: String::new(), body }
        };
        groups.into_iter().map(hunk).collect()
    }
}

/// Returns the lines of a hunk with their signs and endings, and what stands below a line that has none.
fn lines_of(body: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if !line.starts_with('\\') && at > 0 {
            lines.push(&body[start..at]);
            start = at;
        }
        at += line.len();
    }
    lines.extend((at > 0).then(|| &body[start..at]));
    lines
}

/// Returns the line without its sign and its ending.
fn content(line: &str) -> &[u8] {
    let end = line.find('\n').unwrap_or(line.len());
    line[1..end].trim_end_matches('\r').as_bytes()
}

/// Splits off the lines that begin with this sign.
fn split_while<'l, 'a>(lines: &'l [&'a str], sign: char) -> (&'l [&'a str], &'l [&'a str]) {
    lines.split_at(lines.iter().take_while(|line| line.starts_with(sign)).count())
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::diff::between;
    use crate::text::Text;

    fn diff(old: &str, new: &str) -> Diff {
        let text = |s: &str| Text::new(s.as_bytes().to_vec()).unwrap();
        between("f", &text(old), &text(new))
    }

    #[test]
    fn rows_are_the_changed_lines_with_their_places() {
        let rows = diff("a\nb\nc\nd\ne", "A\nb\nnew\nc\nd\nE").rows();
        let rows: Vec<(usize, &str)> = rows.iter().map(|(line, row)| (*line, row.as_str())).collect();
        let end = "-e\n\\ No newline at end of file\n+E\n\\ No newline at end of file\n";
        assert_eq!(rows, [(1, "-a\n+A\n"), (3, "+new\n"), (5, end)]);
    }

    fn numbered(lines: Range<usize>) -> String {
        lines.map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn there_is_one_line_of_context_and_a_hunk_for_each_place() {
        let old = numbered(0..12);
        let new = old.replace("line 2\n", "two\n").replace("line 6\n", "six\n").replace("line 9\n", "");
        let shown = "@@ -2,3 +2,3 @@\n line 1\n-line 2\n+two\n line 3\n@@ -6,6 +6,5 @@\n line 5\n-line 6\n+six\n line 7\n \
                     line 8\n-line 9\n line 10\n";
        assert_eq!(diff(&old, &new).short(), ShortDiff { text: shown.into(), ..ShortDiff::default() });
        assert_eq!(diff(&old, &old).short(), ShortDiff::default());
    }

    #[test]
    fn a_missing_final_newline_is_told() {
        let shown = diff("a\nb\nc", "a\nB\nc").short().text;
        assert_eq!(shown, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n");
    }

    #[test]
    fn a_long_line_is_shown_around_its_change() {
        let line = |word: &str| format!("{}{word}{}\n", "x".repeat(5_000), "y".repeat(5_000));
        let short = diff(&line("old"), &line("new")).short();
        assert!(short.is_shortened && short.left_out == 0);
        assert!(
            short.text.len() < 600 && short.text.contains("xoldy") && short.text.contains("xnewy"),
            "{}",
            short.text
        );
    }

    #[test]
    fn a_long_row_of_lines_is_shown_by_its_ends() {
        let short = diff("a\n", &["a\n", &numbered(0..40)].concat()).short();
        assert_eq!((short.left_out, short.is_shortened), (30, true));
        assert!(
            short.text.contains("+line 4\n\\ 30 lines\n+line 35\n") && short.text.ends_with("+line 39\n")
        );
        let whole = diff("a\n", &["a\n", &numbered(0..ROW)].concat()).short();
        assert!(!whole.is_shortened);
        let little = diff("a\n", &["a\n", &"x\n".repeat(30)].concat()).short();
        assert!(!little.is_shortened, "a note would be longer");
    }

    #[test]
    fn lines_that_are_only_moved_are_shown_by_their_ends() {
        let block: String = (0..9).map(|line| format!("    a line of a block {line}\n")).collect();
        let (gone, come) =
            (diff(&["a\n", &block].concat(), "a\n"), diff("b\n", &["b\n", &block, "c\n"].concat()));
        let moved: BTreeSet<&str> = gone.lines('-').collect();
        assert_eq!(moved.len(), 9);
        for short in [gone.short_with(&moved), diff("b\n", &["b\n", &block].concat()).short_with(&moved)] {
            assert!(!short.is_shortened && short.text.contains("\\ 7 moved lines\n"), "{}", short.text);
        }
        assert!(!come.short_with(&moved).text.contains("moved"), "new lines among them are shown");
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let old = numbered(0..40);
        let new = old.replace("line 2\n", "two\n").replace("line 20\n", "twenty\n");
        let short = diff(&old, &new).short();
        for room in 0..short.text.len() {
            let cut = short.clone().within(room, str::len);
            assert!(cut.text.len() <= room && cut.is_shortened, "{room}");
            let shown = cut.text.lines().filter(|line| line.starts_with(['+', '-'])).count();
            assert_eq!(shown + cut.left_out, 4, "{room}");
            assert_eq!(shown % 2, 0, "a hunk is shown whole: {}", cut.text);
        }
        assert_eq!(short.clone().within(short.text.len(), str::len), short);
    }

    #[test]
    fn of_one_hunk_that_has_no_room_the_first_lines_are_shown() {
        let alternating: String =
            (0..400).map(|line| if line % 2 == 0 { "same\n".into() } else { format!("{line}\n") }).collect();
        let short = diff(&alternating, &alternating.replace("1\n", "one\n")).short();
        let cut = short.clone().within(PART, str::len);
        assert!(cut.text.len() > PART / 2 && cut.text.len() <= PART && cut.left_out > 0, "{}", cut.text);
    }

    #[test]
    fn a_change_of_the_mode_is_told() {
        let short =
            Diff { modes: "old mode 100644\nnew mode 100755\n".to_string(), ..Diff::default() }.short();
        assert_eq!(short.text, "new mode 100755\n");
    }
}
