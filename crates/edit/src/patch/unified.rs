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

use super::body::BodyScope;
use super::git::{self, Header};
use super::lines::{NumberedLine, invalid, numbered, shorten};
use super::raw::{HunkCounter, Numbers, RawHunk, of_no_lines};
use super::target::target;
use super::wrapper::Wrapper;
use super::{Operation, Patch, Section};
use crate::problem::Problem;
use crate::problem::malformed::Unified;

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
        wrappers: Vec::new(),
        path,
        hunks: HunkCounter { is_reversed, ..HunkCounter::default() },
        sections: Vec::new(),
        headerless: false,
        problems: Vec::new(),
    };
    parser.read();
    let Parser { mut sections, mut problems, .. } = parser;
    if is_reversed {
        // What was made last is taken back first.
        sections.reverse();
        let hunks = sections.iter_mut().flat_map(|section| match &mut section.operation {
            Operation::Update { hunks, .. } => &mut hunks[..],
            _ => &mut [],
        });
        hunks.zip(1..).for_each(|(hunk, number)| hunk.number = number);
    }
    if sections.is_empty() && problems.is_empty() {
        problems.push(invalid(1, Unified::NoDiff));
    }
    if problems.is_empty() { Ok(Patch { sections }) } else { Err(problems) }
}

struct Parser<'a, 'b> {
    lines: &'b [NumberedLine<'a>],
    at: usize,
    /// What is opened around the hunks, outermost first, each with the number of the line that opened it.
    wrappers: Vec<(Wrapper<'a>, usize)>,
    path: Option<&'b str>,
    hunks: HunkCounter,
    sections: Vec<Section>,
    /// Whether the last section had no headers, so that further hunks without headers belong to it.
    headerless: bool,
    problems: Vec<Problem>,
}

impl<'a> Parser<'a, '_> {
    fn scope(&self) -> BodyScope<'a, '_> {
        BodyScope { lines: self.lines, wrappers: &self.wrappers }
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
            if let Some(closed) =
                self.wrappers.iter().rposition(|(wrapper, _)| wrapper.is_closed_by(line.text))
            {
                self.wrappers.truncate(closed);
                after_hunk &= !sure;
            } else if let Some(wrapper) = Wrapper::opened_by(line.text)
                && !(wrapper.is_fence() && self.wrappers.iter().any(|(outer, _)| outer.is_fence()))
            {
                self.wrappers.push((wrapper, line.number));
                after_hunk = false;
            }
            if self.scope().is_signature(self.at - 1) {
                after_hunk = false;
            }
            self.stray(line, after_hunk);
        }
        if let Some((_, opened)) = self.wrappers.iter().find(|(wrapper, _)| wrapper.is_fence() && !sure) {
            self.problems.push(invalid(*opened, Unified::FenceNotClosed));
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
            && !self.wrappers.iter().any(|(wrapper, _)| wrapper.is_closed_by(line.text))
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
            let number = line.number;
            let (numbers, anchor) = match at_line(*line) {
                Ok(read) => read,
                Err(problem) => {
                    self.problems.push(problem);
                    return true;
                }
            };
            let mut at = self.at + blank + 1;
            let counts = numbers.map(|numbers: Numbers| (numbers.old.1, numbers.new.1));
            let body = self.scope().read(&mut at, counts);
            self.at = at;
            match body {
                Ok(body) => {
                    if body.lines.is_empty() {
                        self.problems.push(invalid(number, Unified::EmptyHunk));
                    }
                    raws.push(RawHunk { number, numbers, anchor, body });
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        let sure = raws.last().is_none_or(|raw| raw.body.counted);
        let ended = self.lines.get(self.at..).is_none_or(|rest| rest.iter().all(|line| line.text.is_empty()));
        if let Some(raw) = raws.last().filter(|raw| ended && raw.is_cut_off()) {
            self.problems.push(invalid(raw.number, Unified::CutOff));
        }
        if self.hunks.is_reversed {
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
        let more = self.hunks.update(raws, &mut self.problems);
        if let Some(Section { operation: Operation::Update { hunks, .. }, .. }) =
            self.sections.last_mut().filter(|_| self.headerless)
        {
            hunks.extend(more);
            return;
        }
        self.headerless = true;
        self.sections.push(Section::update(path, more));
    }

    fn file(&mut self, header: &Header, raws: &[RawHunk]) {
        match target(header, self.path) {
            Ok(target) => {
                let section = self.hunks.section(header, target, raws, &mut self.problems);
                self.sections.push(Section { is_unordered: true, ..section });
            }
            Err(problem) => self.problems.push(problem),
        }
    }
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

#[cfg(test)]
mod tests;
