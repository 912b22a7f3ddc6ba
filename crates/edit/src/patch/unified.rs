//! Unified diffs, of git, GNU diff and models.
//!
//! ```text
//! text   = (prose | fence | file)*
//! file   = [ header ]  hunk*                         the header: `git.rs`; without one, `path` names the file
//! hunk   = "@@" [ " -" range " +" range ] [ " @@" [ section ] ]  body            the body: `body.rs`
//!        | "@@ ... @@" body  |  "@@ " anchor [ " @@" ] body
//! range  = line [ "," count ]
//! ```
//!
//! Line numbers are hints: a hunk is found by its lines. Only a hunk without any line to find is placed by number. A
//! hunk without numbers may name an anchor as in V4A. Prose around the diffs is ignored, but a line outside of hunks
//! that looks like a changed one is refused, and so is a fence that was cut off. **A text that ends in a changed line
//! of a hunk that is shorter than both of its counts was cut off**, and is refused.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::body::{BodyScope, HunkBody};
use super::git::{self, Header};
use super::lines::{NumberedLine, closes_fence, invalid, numbered, opens_fence, shorten};
use super::target::{Target, target};
use super::{Change, Hunk, Line, LineChange, Operation, Patch, RangeChange, Section};
use crate::problem::Problem;
use crate::problem::malformed::Unified;

/// The byte order mark, as a character.
const MARK: char = '\u{feff}';

/// Reads a unified diff. `path` names the file if the diff does not. All problems are reported, not only the first.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    read(text, path, false)
}

/// Reads a unified diff as the one that takes its changes back.
pub fn parse_reversed(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    read(text, path, true)
}

fn read(text: &str, path: Option<&str>, is_reversed: bool) -> Result<Patch, Vec<Problem>> {
    let lines = numbered(text);
    let mut parser = Parser {
        lines: &lines,
        at: 0,
        fence: None,
        path,
        hunks: 0,
        sections: Vec::new(),
        headerless: false,
        is_reversed,
        problems: Vec::new(),
    };
    parser.read();
    let Parser { mut sections, mut problems, .. } = parser;
    if is_reversed {
        // What was made last is taken back first.
        sections.reverse();
        let hunks = sections.iter_mut().filter_map(|section| match &mut section.operation {
            Operation::Update { hunks, .. } => Some(hunks),
            _ => None,
        });
        hunks.flatten().zip(1..).for_each(|(hunk, number)| hunk.number = number);
    }
    if sections.is_empty() && problems.is_empty() {
        problems.push(invalid(1, Unified::NoDiff));
    }
    if problems.is_empty() { Ok(Patch { sections }) } else { Err(problems) }
}

struct Parser<'a, 'b> {
    lines: &'b [NumberedLine<'a>],
    at: usize,
    /// The number of ticks of the surrounding fence, and the number of the line that opened it.
    fence: Option<(usize, usize)>,
    path: Option<&'b str>,
    hunks: usize,
    sections: Vec<Section>,
    /// Whether the last section had no headers, so that further hunks without headers belong to it.
    headerless: bool,
    /// Whether the sides are exchanged.
    is_reversed: bool,
    problems: Vec<Problem>,
}

/// A parsed hunk.
struct RawHunk {
    number: usize,
    numbers: Option<Numbers>,
    anchor: Option<String>,
    body: HunkBody,
    /// Which lines of the body ended in CRLF though the `@@` line did not.
    crs: Vec<bool>,
}

impl RawHunk {
    /// Exchanges the two sides.
    fn reverse(&mut self) {
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
    fn is_cut_off(&self) -> bool {
        let Some(numbers) = self.numbers.filter(|_| !self.body.counted) else { return false };
        let old = self.body.lines.iter().filter(|line| line.before().is_some()).count();
        let new = self.body.lines.iter().filter(|line| line.after().is_some()).count();
        // A hunk of only added lines is refused for another fault.
        (1..numbers.old.1).contains(&old)
            && new < numbers.new.1
            && self.body.lines.last().is_some_and(|line| matches!(line, Line::Added(_) | Line::Removed(_)))
    }
}

/// The numbers of an `@@` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    old: (usize, usize),
    new: (usize, usize),
}

impl<'a> Parser<'a, '_> {
    fn scope(&self) -> BodyScope<'a, '_> {
        BodyScope { lines: self.lines, fence: self.fence.map(|(ticks, _)| ticks) }
    }

    fn read(&mut self) {
        // Whether the last hunk ended where its counts say; true before the first one.
        let mut sure = true;
        let mut after_hunk = false;
        while let Some(&line) = self.lines.get(self.at) {
            if git::begins(self.lines, self.at) || line.text.starts_with("@@") {
                let before = self.problems.len();
                sure = self.section();
                after_hunk = true;
                if self.problems.len() > before {
                    self.skip();
                    after_hunk = false;
                }
                continue;
            }
            self.at += 1;
            match self.fence {
                Some((ticks, _)) if closes_fence(line.text, ticks) => {
                    self.fence = None;
                    after_hunk &= !sure;
                }
                None => {
                    if let Some(ticks) = opens_fence(line.text) {
                        self.fence = Some((ticks, line.number));
                        after_hunk = false;
                    }
                }
                Some(_) => {}
            }
            if self.scope().is_signature(self.at - 1) {
                after_hunk = false;
            }
            self.stray(line, after_hunk);
        }
        if let Some((_, opened)) = self.fence
            && !sure
        {
            self.problems.push(invalid(opened, Unified::FenceNotClosed));
        }
    }

    /// Refuses a line outside of hunks that looks like a part of a diff.
    fn stray(&mut self, line: NumberedLine<'_>, after_hunk: bool) {
        let next = self.lines.get(self.at).map_or("", |line| line.text);
        let half = (line.text.starts_with("--- ") || line.text.starts_with("+++ ")) && next.starts_with("@@");
        if half {
            let text = shorten(line.text);
            self.problems.push(invalid(line.number, Unified::OneSideNamed { text }));
            self.skip();
        }
        let mut chars = line.text.chars();
        let changed = matches!(chars.next(), Some('+' | '-'))
            && chars.next().is_some_and(|c| !c.is_whitespace() && c != '-' && c != '+');
        if after_hunk && changed {
            let text = shorten(line.text);
            self.problems.push(invalid(line.number, Unified::ChangeAfterHunk { text }));
            self.skip();
        }
    }

    /// Skips to the next file, so that one mistake is reported once.
    fn skip(&mut self) {
        while let Some(line) = self.lines.get(self.at)
            && !git::begins(self.lines, self.at)
            && !self.fence.is_some_and(|(ticks, _)| closes_fence(line.text, ticks))
        {
            self.at += 1;
        }
    }

    /// Reads the part of one file. Returns whether its last hunk ended where its counts say.
    fn section(&mut self) -> bool {
        let mut header = None;
        if git::begins(self.lines, self.at) {
            match git::read(self.lines, &mut self.at) {
                Ok(found) => header = Some(found),
                Err(problems) => {
                    self.problems.extend(problems);
                    return true;
                }
            }
        }
        let mut raws: Vec<RawHunk> = Vec::new();
        loop {
            let rest = self.lines.get(self.at..).unwrap_or(&[]);
            let blank = rest.iter().take_while(|line| line.text.is_empty()).count();
            let Some(line) = rest.get(blank).filter(|line| line.text.starts_with("@@")) else { break };
            let (number, cr) = (line.number, line.cr);
            let (numbers, anchor) = match at_line(*line) {
                Ok(read) => read,
                Err(problem) => {
                    self.problems.push(problem);
                    return true;
                }
            };
            let from = self.at + blank + 1;
            let mut at = from;
            let counts = numbers.map(|numbers: Numbers| (numbers.old.1, numbers.new.1));
            let body = self.scope().read(&mut at, counts);
            self.at = at;
            match body {
                Ok(body) => {
                    let own =
                        |line: &&NumberedLine<'_>| !line.text.starts_with("\\ ") || line.text.len() < 12;
                    let crs = self.lines[from..at].iter().filter(own).map(|line| line.cr && !cr).collect();
                    if body.lines.is_empty() {
                        self.problems.push(invalid(number, Unified::EmptyHunk));
                    }
                    raws.push(RawHunk { number, numbers, anchor, body, crs });
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        let sure = raws.last().is_none_or(|raw| raw.body.counted);
        let ended = self.lines.get(self.at..).is_none_or(|rest| rest.iter().all(|line| line.text.is_empty()));
        if let Some(raw) = raws.last().filter(|raw| ended && raw.is_cut_off()) {
            self.problems.push(invalid(raw.number, Unified::CutOff));
        }
        if self.is_reversed {
            header.iter_mut().for_each(Header::reverse);
            raws.iter_mut().for_each(RawHunk::reverse);
        }
        match header {
            Some(header) => {
                self.headerless = false;
                self.file(&header, &raws);
            }
            None => self.file_of_path(&raws),
        }
        sure
    }

    /// Adds hunks without headers to the file that the caller named.
    fn file_of_path(&mut self, raws: &[RawHunk]) {
        let Some(path) = self.path else {
            let line = raws.first().map_or(1, |raw| raw.number);
            self.problems.push(invalid(line, Unified::NoFileNamed));
            return;
        };
        if let Some(content) = of_no_lines(raws) {
            self.sections.push(Section::new(path, Operation::Fill(content)));
            return;
        }
        let more = self.update(raws);
        if let Some(Section { operation: Operation::Update { hunks, .. }, .. }) =
            self.sections.last_mut().filter(|_| self.headerless)
        {
            hunks.extend(more);
            return;
        }
        self.headerless = true;
        let operation = Operation::Update { hunks: more, move_to: None };
        self.sections.push(Section::new(path, operation));
    }

    fn file(&mut self, header: &Header, raws: &[RawHunk]) {
        let Target { from, to, mut created, mut deleted } = match target(header, self.path) {
            Ok(target) => target,
            Err(problem) => {
                self.problems.push(problem);
                return;
            }
        };
        if let [RawHunk { numbers: Some(numbers), .. }] = raws {
            created |= header.old_dated_nothing && numbers.old == (0, 0);
            deleted |= header.new_dated_nothing && numbers.new == (0, 0);
        }
        let keeps = |raw: &RawHunk| raw.body.lines.iter().any(|line| !matches!(line, Line::Removed(_)));
        let has_old = |raw: &RawHunk| raw.body.lines.iter().any(|line| line.before().is_some());
        let operation = if deleted {
            if let Some(raw) = raws.iter().find(|raw| keeps(raw)) {
                self.problems.push(invalid(raw.number, Unified::DeletedButKept));
            }
            let content = (!raws.is_empty())
                .then(|| raws.iter().map(|raw| content(raw, raw.body.old_unended)).collect());
            Operation::Delete { content }
        } else if created && !raws.iter().any(has_old) {
            if raws.is_empty() && !header.created {
                self.problems.push(invalid(header.number, Unified::NewWithoutContent));
            }
            Operation::Add(raws.iter().map(|raw| content(raw, raw.body.new_unended)).collect())
        } else if let Some(content) = of_no_lines(raws).filter(|_| from == to) {
            Operation::Fill(content)
        } else {
            let move_to = (from != to).then(|| to.clone());
            if raws.is_empty() && move_to.is_none() && header.executable.is_none() {
                self.problems.push(invalid(header.number, Unified::NoHunk { path: from.clone() }));
            }
            Operation::Update { hunks: self.update(raws), move_to }
        };
        let executable = header.executable;
        self.sections.push(Section { executable, is_unordered: true, ..Section::new(&from, operation) });
    }

    fn update(&mut self, raws: &[RawHunk]) -> Vec<Hunk> {
        let mut hunks = Vec::with_capacity(raws.len());
        for raw in raws {
            self.hunks += 1;
            match change(raw, self.is_reversed) {
                Ok(change) => hunks.push(Hunk { number: self.hunks, change }),
                Err(problem) => self.problems.push(problem.in_hunk(self.hunks)),
            }
        }
        hunks
    }
}

/// Returns the content that the only hunk of a file adds to no line (`@@ -0,0 +1,2 @@`).
fn of_no_lines(raws: &[RawHunk]) -> Option<String> {
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
        text.push_str(if raw.crs.get(i) == Some(&true) { "\r" } else { "" });
        text.push_str(if unended && i + 1 == count { "" } else { "\n" });
    }
    text
}

/// Reads an `@@` line: its numbers, or its anchor.
fn at_line(line: NumberedLine<'_>) -> Result<(Option<Numbers>, Option<String>), Problem> {
    if line.text.starts_with("@@@") {
        return Err(invalid(line.number, Unified::CombinedDiff));
    }
    let text = line.text[2..].trim();
    let (inner, closed) = match text.split_once("@@") {
        Some((inner, _)) => (inner.trim(), true),
        None => (text, false),
    };
    let mut words = inner.split_whitespace();
    if let Some(old) = words.next().and_then(|word| range(word, '-')) {
        let new = words.next().and_then(|word| range(word, '+'));
        return Ok((new.map(|new| Numbers { old, new }), None));
    }
    // Such as `@@ ... @@`, where the model left the numbers open.
    let empty = inner.is_empty() || inner.bytes().all(|b| b == b'.') || inner == "…";
    let open = closed && inner.starts_with('-') && inner.contains('+');
    Ok((None, (!empty && !open).then(|| inner.to_string())))
}

fn range(word: &str, sign: char) -> Option<(usize, usize)> {
    let word = word.strip_prefix(sign)?;
    match word.split_once(',') {
        Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
        None => Some((word.parse().ok()?, 1)),
    }
}

fn change(raw: &RawHunk, is_reversed: bool) -> Result<Change, Problem> {
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
    if no_old && !body.lines.is_empty() && raw.numbers.is_none() && raw.anchor.is_none() {
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

/// Returns the lines without the mark that a file begins with, if the first line of both sides has it: it is none of the file's
/// lines. Where one side alone has it, the diff adds or removes it, which no hunk can.
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
    let lines: Vec<(&Line, bool)> = (body.lines.iter().zip(&raw.crs).enumerate())
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

#[cfg(test)]
mod tests;
