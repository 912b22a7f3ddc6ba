//! Hunks as a diff gives them, and what they change: the same for unified and context diffs.

use alloc::string::String;
use alloc::vec::Vec;

use super::body::HunkBody;
use super::git::Header;
use super::lines::invalid;
use super::target::Target;
use super::{Change, Hunk, Line, LineChange, Operation, RangeChange, Section};
use crate::problem::Problem;
use crate::problem::malformed::Unified;

/// The byte order mark, as a character.
const MARK: char = '\u{feff}';

/// A parsed hunk.
pub(super) struct RawHunk {
    pub(super) number: usize,
    pub(super) numbers: Option<Numbers>,
    pub(super) anchor: Option<String>,
    pub(super) body: HunkBody,
}

impl RawHunk {
    /// Exchanges the two sides.
    pub(super) fn reverse(&mut self) {
        self.numbers = self.numbers.map(|Numbers { old, new }| Numbers { old: new, new: old });
        core::mem::swap(&mut self.body.old_unended, &mut self.body.new_unended);
        for line in &mut self.body.lines {
            *line = match core::mem::replace(line, Line::Bare(String::new())) {
                Line::Added(text) => Line::Removed(text),
                Line::Removed(text) => Line::Added(text),
                line => line,
            };
        }
    }

    /// Returns whether both sides lack lines and the last line is a change: a diff ends with context, or where its
    /// counts say.
    pub(super) fn is_cut_off(&self) -> bool {
        let Some(numbers) = self.numbers.filter(|_| !self.body.counted) else { return false };
        let old = self.body.lines.iter().filter(|line| line.before().is_some()).count();
        let new = self.body.lines.iter().filter(|line| line.after().is_some()).count();
        // A hunk of only added lines is refused for another fault.
        (1..numbers.old.1).contains(&old)
            && new < numbers.new.1
            && self.body.lines.last().is_some_and(|line| matches!(line, Line::Added(_) | Line::Removed(_)))
    }
}

/// The first line of each side, and how many lines it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
}

/// A maker of hunks, which numbers them.
#[derive(Default)]
pub(super) struct HunkCounter {
    pub(super) hunks: usize,
    /// Whether the sides are exchanged.
    pub(super) is_reversed: bool,
}

impl HunkCounter {
    /// Returns the section of the file with these headers and hunks.
    pub(super) fn section(
        &mut self,
        header: &Header,
        target: Target,
        raws: &[RawHunk],
        problems: &mut Vec<Problem>,
    ) -> Section {
        let Target { from, to, mut created, mut deleted } = target;
        if let [RawHunk { numbers: Some(numbers), .. }] = raws {
            created |= header.old_dated_nothing && numbers.old == (0, 0);
            deleted |= header.new_dated_nothing && numbers.new == (0, 0);
        }
        let keeps = |raw: &RawHunk| raw.body.lines.iter().any(|line| !matches!(line, Line::Removed(_)));
        let has_old = |raw: &RawHunk| raw.body.lines.iter().any(|line| line.before().is_some());
        let operation = if deleted {
            if let Some(raw) = raws.iter().find(|raw| keeps(raw)) {
                problems.push(invalid(raw.number, Unified::DeletedButKept));
            }
            let content = (!raws.is_empty())
                .then(|| raws.iter().map(|raw| content(raw, raw.body.old_unended)).collect());
            Operation::Delete { content }
        } else if created && !raws.iter().any(has_old) {
            if raws.is_empty() && !header.created {
                problems.push(invalid(header.number, Unified::NewWithoutContent));
            }
            Operation::Add(raws.iter().map(|raw| content(raw, raw.body.new_unended)).collect())
        } else if let Some(content) = of_no_lines(raws).filter(|_| from == to) {
            Operation::Fill(content)
        } else {
            let move_to = (from != to).then(|| to.clone());
            if raws.is_empty() && move_to.is_none() && header.executable.is_none() {
                problems.push(invalid(header.number, Unified::NoHunk { path: from.clone() }));
            }
            Operation::Update { hunks: self.update(raws, problems), move_to }
        };
        let executable = header.executable;
        Section { executable, ..Section::new(&from, operation) }
    }

    /// Returns the changes of these hunks.
    pub(super) fn update(&mut self, raws: &[RawHunk], problems: &mut Vec<Problem>) -> Vec<Hunk> {
        let mut hunks = Vec::with_capacity(raws.len());
        for (at, raw) in raws.iter().enumerate() {
            self.hunks += 1;
            match change(raw, self.is_reversed, at > 0 && at + 1 < raws.len()) {
                Ok(change) => hunks.push(Hunk { number: self.hunks, change }),
                Err(problem) => problems.push(problem.in_hunk(self.hunks)),
            }
        }
        hunks
    }
}

/// Returns the content that the only hunk of a file adds to no line (`@@ -0,0 +1,2 @@`).
pub(super) fn of_no_lines(raws: &[RawHunk]) -> Option<String> {
    let [raw] = raws else { return None };
    let is_new = raw.numbers.is_some_and(|numbers| numbers.old == (0, 0));
    let adds = |line: &Line| line.before().is_none();
    (is_new && raw.body.lines.iter().all(adds)).then(|| content(raw, raw.body.new_unended))
}

/// Returns the text of a hunk that is one whole side of a file.
fn content(raw: &RawHunk, unended: bool) -> String {
    let mut text = String::new();
    let count = raw.body.lines.len();
    for (i, line) in raw.body.lines.iter().enumerate() {
        text.push_str(line.before().or(line.after()).unwrap_or_default());
        // If the diff's own lines have no CR, this one belongs to the file.
        text.push_str(if raw.body.crs.get(i) == Some(&true) { "\r" } else { "" });
        text.push_str(if unended && i + 1 == count { "" } else { "\n" });
    }
    text
}

fn change(raw: &RawHunk, is_reversed: bool, is_between: bool) -> Result<Change, Problem> {
    let body = &raw.body;
    keeps_endings(raw, is_reversed)?;
    let no_old = body.lines.iter().all(|line| line.before().is_none());
    let hint = raw.numbers.map(|numbers| numbers.old.0).filter(|&line| line > 0);
    if let Some(Numbers { old: (line, count), .. }) = raw.numbers.filter(|_| no_old) {
        if count > 0 {
            return Err(invalid(raw.number, Unified::OldLinesMissing));
        }
        // Lines added at the end may lack the final newline, which a range cannot express.
        if !body.new_unended {
            let lines = body.lines.iter().filter_map(Line::after).map(String::from).collect();
            return Ok(Change::Range(RangeChange { first: line.saturating_add(1), count: 0, lines }));
        }
    }
    // Added lines alone between two hunks go between their places.
    if no_old && !is_between && !body.lines.is_empty() && raw.numbers.is_none() && raw.anchor.is_none() {
        return Err(invalid(raw.number, Unified::NoPlace));
    }
    // A file that becomes empty has no final newline to consider.
    let emptied = raw.numbers.is_some_and(|numbers| numbers.new == (0, 0));
    let final_newline = match (body.old_unended, body.new_unended) {
        (true, false) if !emptied => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    Ok(Change::Lines(LineChange {
        anchors: raw.anchor.iter().cloned().collect(),
        lines: without_mark(&body.lines),
        at_end: body.old_unended,
        hint,
        final_newline,
    }))
}

/// Returns the lines without the mark that a file begins with, if the first line of both sides has it: it belongs to no
/// line. Where one side alone has it, the diff adds or removes it, which no hunk can.
fn without_mark(lines: &[Line]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    let is_marked = |line: &Line| line.before().or(line.after()).is_some_and(|text| text.starts_with(MARK));
    let old = lines.iter().position(|line| line.before().is_some());
    let new = lines.iter().position(|line| line.after().is_some());
    if let (Some(old), Some(new)) = (old, new)
        && is_marked(&lines[old])
        && is_marked(&lines[new])
    {
        for at in [old, new] {
            let (Line::Context(text) | Line::Added(text) | Line::Removed(text) | Line::Bare(text)) =
                &mut lines[at];
            if text.starts_with(MARK) {
                text.drain(..MARK.len_utf8());
            }
        }
    }
    lines
}

/// Refuses a hunk whose new lines have other endings than those that they replace, or stand beside if they replace none: a
/// file keeps its own, so the hunk would only seem to be applied as it is written.
fn keeps_endings(raw: &RawHunk, is_reversed: bool) -> Result<(), Problem> {
    let body = &raw.body;
    // A last line without an ending has no ending to change.
    let last_old = body.lines.iter().rposition(|line| line.before().is_some()).filter(|_| body.old_unended);
    let last_new = body.lines.iter().rposition(|line| line.after().is_some()).filter(|_| body.new_unended);
    let ended = |i: usize| Some(i) != last_old && Some(i) != last_new;
    let lines: Vec<(&Line, bool)> = (body.lines.iter().zip(&body.crs).enumerate())
        .filter(|(i, _)| ended(*i))
        .map(|(_, (line, cr))| (line, *cr))
        .collect();
    let is_kept = |line: &Line| line.before().is_some() && line.after().is_some();
    let mut at = 0;
    while at < lines.len() {
        let kept = lines[at..].iter().take_while(|(line, _)| is_kept(line)).count();
        let first = at + kept;
        let end = first + lines[first..].iter().take_while(|(line, _)| !is_kept(line)).count();
        let changed = &lines[first..end];
        let (added, removed): (Vec<_>, Vec<_>) =
            changed.iter().partition(|(line, _)| line.before().is_none());
        let beside = lines[..first].last().into_iter().chain(lines[end..].first());
        let theirs: Vec<bool> = match removed.is_empty() {
            true => beside.map(|(_, cr)| *cr).collect(),
            false => removed.iter().map(|(_, cr)| *cr).collect(),
        };
        let is_other = |(line, cr): &(&Line, bool)| {
            let text = line.after();
            let of_same: Vec<bool> =
                removed.iter().filter(|(line, _)| line.before() == text).map(|(_, cr)| *cr).collect();
            let theirs = if of_same.is_empty() { &theirs } else { &of_same };
            // What becomes of a CRLF in a file that has no line ending is not what a diff that is turned round says.
            if theirs.is_empty() { *cr && is_reversed } else { !theirs.contains(cr) }
        };
        if added.iter().any(is_other) {
            return Err(invalid(raw.number, Unified::LineEndings));
        }
        at = end;
    }
    Ok(())
}
