//! Placing the hunks of a section: each is found in the same text, then all become one edit.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::PlacedHunk;
use super::carry::{self, carry};
use crate::edit::{Edit, EditBuilder};
use crate::find::{self, Budget, Haystack, Limits, Match, Wanted, contents};
use crate::patch::{BlockChange, Change, Hunk, Line, LineChange, RangeChange, TextChange};
use crate::problem::{Kind, Near, Problem};
use crate::text::{Ending, Text, line_number, split_lines};

/// Shorter lines recur everywhere: that one stands somewhere says nothing.
const TELLING: usize = 3;
/// For so many hunks that are not in the file, the nearest lines are shown.
const SHOWN_MISSES: usize = 10;

/// The hunks of a section, found.
pub(super) struct Found {
    /// All of them as one edit.
    pub(super) edit: Edit,
    /// Where each landed.
    pub(super) hunks: Vec<PlacedHunk>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

/// Finds every hunk in `text`. All problems are reported, not only the first.
pub(super) fn hunks(
    text: &Text,
    hunks: &[Hunk],
    limits: &Limits,
    budget: &Budget,
) -> Result<Found, Vec<Problem>> {
    let mut placer = Placer {
        haystack: Haystack::new(text),
        limits,
        budget,
        builder: EditBuilder::new(text),
        placed: Vec::new(),
        notes: Vec::new(),
        missed: 0,
    };
    let mut problems = Vec::new();
    for hunk in hunks {
        let placed = match &hunk.change {
            Change::Text(change) => placer.text(hunk.number, change),
            Change::Lines(change) => placer.lines(hunk.number, change),
            Change::Block(change) => placer.block_change(hunk.number, change),
            Change::Range(change) => placer.range(hunk.number, change),
        };
        if let Err(kind) = placed {
            problems.push(Problem::new(kind).in_hunk(hunk.number));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Placer { builder, placed, notes, .. } = placer;
    match builder.finish() {
        Ok(edit) => Ok(Found { edit, hunks: placed, notes }),
        Err(overlap) => Err(alloc::vec![Problem::new(Kind::OverlappingEdits {
            first: overlap.first,
            second: overlap.second,
            line: line_number(text.bytes(), overlap.offset),
        })]),
    }
}

struct Placer<'a> {
    haystack: Haystack<'a>,
    limits: &'a Limits,
    budget: &'a Budget,
    builder: EditBuilder,
    placed: Vec<PlacedHunk>,
    notes: Vec<String>,
    /// How many hunks were not found.
    missed: usize,
}

impl Placer<'_> {
    fn bytes(&self) -> &[u8] {
        self.haystack.text().bytes()
    }

    fn text(&mut self, number: usize, change: &TextChange) -> Result<(), Kind> {
        let (old, new) = (change.old.as_bytes(), change.new.as_bytes());
        let many = change.all || change.expected.is_some_and(|count| count != 1);
        let matches = if many {
            find::locate_all(&self.haystack, old, self.limits, self.budget)?
        } else {
            let one = find::locate(&self.haystack, &Wanted::Bytes(old), self.limits, self.budget)?;
            one.into_iter().collect()
        };
        if matches.is_empty() {
            let near = Box::new(self.near(&contents(old), &contents(new)));
            return Err(Kind::SearchNotFound { near });
        }
        if let Some(expected) = change.expected.filter(|&count| count != matches.len()) {
            return Err(Kind::ExpectedCount { expected, found: matches.len() });
        }
        if !many && self.already_there(&matches[0].range, old, new) {
            return Err(Kind::NoOp {
                reason: "the file already has new_string at that place, around old_string",
            });
        }
        let (base, added) = (self.bytes().len(), new.len().saturating_mul(matches.len()));
        let removed = matches.iter().map(|found| found.range.len()).sum();
        self.limits.check_file(base.saturating_sub(removed).saturating_add(added))?;
        let endings = self.haystack.endings();
        for found in &matches {
            self.builder.claim(number, found.range.clone());
            for (range, text) in carry(self.bytes(), endings, &found.range, old, new) {
                self.builder.replace(number, range, text);
            }
        }
        let lines = split_lines(old).count();
        self.record(number, &matches[0], lines, matches.len());
        Ok(())
    }

    /// What to show of the file to a hunk that is not in it. Looking costs a walk over the file, and nobody
    /// mends more than a few hunks from one answer.
    fn near(&mut self, old: &[&[u8]], new: &[&[u8]]) -> Near {
        self.missed += 1;
        if self.missed > SHOWN_MISSES {
            find::nothing(&self.haystack)
        } else {
            find::near(&self.haystack, old, new)
        }
    }

    /// Whether `new` wraps `old` and the file already has it so: the edit was made before, and making it
    /// again would write the added text twice.
    fn already_there(&self, place: &Range<usize>, old: &[u8], new: &[u8]) -> bool {
        let bytes = self.bytes();
        memchr::memmem::find_iter(new, old).any(|before| {
            let after = new.len() - before - old.len();
            let room = place.start >= before && bytes.len() - place.end >= after;
            // Only lines with words tell: another blank line or another "x" may well be meant.
            let added = [&new[..before], &new[new.len() - after..]];
            let tells = |text: &[u8]| text.contains(&b'\n') && text.trim_ascii().len() > TELLING;
            room && added.iter().any(|text| tells(text))
                && bytes[place.start - before..place.end + after] == *new
        })
    }

    fn lines(&mut self, number: usize, change: &LineChange) -> Result<(), Kind> {
        let scope = find::scope(&self.haystack, &change.anchors, self.budget)?;
        let old: Vec<&[u8]> = change.lines.iter().filter_map(Line::before).map(str::as_bytes).collect();
        if old.is_empty() {
            let (at, line) = self.insertion(change, &scope)?;
            self.insert(number, at, change);
            self.placed.push(PlacedHunk { number, line, lines: 0, layer: Some("exact"), places: 1 });
            return Ok(());
        }
        let found = self.block(number, change, &scope, &old)?;
        let telling = old.iter().filter(|line| !line.trim_ascii().is_empty()).count();
        if let Some(anchor) = scope.unknown.first().filter(|_| telling < 2) {
            // One line that happens to be unique is no proof that the named place was not meant.
            return Err(Kind::AnchorNotFound { anchor: anchor.clone(), total: 0 });
        }
        if !change.lines.iter().any(|line| matches!(line, Line::Removed(_) | Line::Added(_))) {
            return Err(Kind::NoOp { reason: "the hunk has only context lines" });
        }
        for anchor in &scope.unknown {
            self.notes.push(format!(
                "Hunk {number}: '{anchor}' is no line of the file; the hunk's lines stand in one place only, \
                 so it was applied there."
            ));
        }
        self.splice(number, change, &found.range)?;
        self.record(number, &found, old.len(), 1);
        Ok(())
    }

    fn block_change(&mut self, number: usize, change: &BlockChange) -> Result<(), Kind> {
        let Some(piece) = change.pieces.first() else { return Ok(()) };
        let lines = carry::as_lines(&piece.old, &piece.new);
        self.lines(number, &LineChange { lines, hint: change.hint, ..LineChange::default() })
    }

    /// The one place of a hunk's old lines.
    fn block(
        &mut self,
        number: usize,
        change: &LineChange,
        scope: &find::Scope,
        old: &[&[u8]],
    ) -> Result<Match, Kind> {
        let last = self.haystack.lines().len();
        let mut starts = scope.starts.clone();
        if change.at_end {
            let start = last.saturating_sub(old.len());
            starts.retain_mut(|range| {
                *range = range.start.max(start)..range.end.min(start + 1);
                range.start < range.end
            });
        }
        let locate = |starts: &[Range<usize>]| {
            let wanted = Wanted::Lines { lines: old, starts };
            find::locate(&self.haystack, &wanted, self.limits, self.budget)
        };
        if let Some(found) = locate(&starts)? {
            return Ok(found);
        }
        if !change.at_end && !scope.sections.is_empty() {
            if let Some(found) = locate(&scope.sections)? {
                return Ok(found);
            }
            // Like an anchor that is no line of the file: then the whole file must have one place only, and
            // that below the anchor.
            let first = scope.anchor_lines.first().map_or(0, |&anchor| anchor + 1);
            if let Some(found) = locate(core::slice::from_ref(&(0..last)))?
                && let line = self.haystack.line_number(found.range.start)
                && line >= first
            {
                self.notes.push(format!(
                    "Hunk {number}: its lines are not in the block of '{}' but stand in one place only, at \
                     line {line}, so it was applied there.",
                    change.anchors.last().map_or("", String::as_str)
                ));
                return Ok(found);
            }
        }
        if change.at_end
            && let Some(found) = locate(&scope.starts)?
        {
            let line = self.haystack.line_number(found.range.start);
            return Err(Kind::NotAtEndOfFile { line, last });
        }
        let new: Vec<&[u8]> = change.lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
        let expected = change.lines.iter().filter_map(Line::before).take(12).map(String::from).collect();
        Err(Kind::HunkContextMismatch { near: Box::new(self.near(old, &new)), expected })
    }

    /// Where a hunk of only added lines goes, and the number of the line that it follows: right after its
    /// anchor, or at the end of the file.
    fn insertion(&self, change: &LineChange, scope: &find::Scope) -> Result<(usize, usize), Kind> {
        let lines = self.haystack.lines();
        let Some(innermost) = change.anchors.last() else {
            return Ok((self.haystack.text().body().end, lines.len()));
        };
        let unknown = |total: usize| Kind::AnchorNotFound { anchor: innermost.clone(), total };
        if let Some(anchor) = scope.unknown.first() {
            return Err(Kind::AnchorNotFound { anchor: anchor.clone(), total: 0 });
        }
        match scope.anchor_lines[..] {
            [line] if change.at_end && line + 1 != lines.len() => {
                Err(Kind::NotAtEndOfFile { line: line + 1, last: lines.len() })
            }
            [line] => Ok((lines.start(line + 1), line + 1)),
            _ => Err(unknown(scope.anchor_lines.len())),
        }
    }

    /// Replaces each run of removed and added lines; context lines are never written.
    fn splice(&mut self, number: usize, change: &LineChange, place: &Range<usize>) -> Result<(), Kind> {
        self.builder.claim(number, place.clone());
        let first = self.haystack.lines().index_of(place.start);
        let mut line = first;
        let mut replacements = Vec::new();
        for run in change.lines.chunk_by(|a, b| is_context(a) == is_context(b)) {
            if is_context(&run[0]) {
                line += run.len();
                continue;
            }
            let gone = run.iter().filter(|line| matches!(line, Line::Removed(_))).count();
            let added = run.iter().filter_map(Line::after);
            let (range, text) = self.run(line, gone, added);
            if gone == 0 && self.stands_there(&range, &text) {
                return Err(Kind::NoOp { reason: "the added lines already stand at that place" });
            }
            replacements.push((range, text));
            line += gone;
        }
        for (range, text) in replacements {
            self.builder.replace(number, range, text);
        }
        Ok(())
    }

    /// Whether an insertion would repeat several lines that stand right there: it was made before.
    fn stands_there(&self, range: &Range<usize>, text: &[u8]) -> bool {
        let telling = split_lines(text).filter(|line| line.trim_ascii().len() > TELLING).count();
        let bytes = self.bytes();
        telling > 0 && (bytes[range.end..].starts_with(text) || bytes[..range.start].ends_with(text))
    }

    /// Lines by their numbers. The version that has those numbers was asked for elsewhere.
    fn range(&mut self, number: usize, change: &RangeChange) -> Result<(), Kind> {
        let total = self.haystack.lines().len();
        if change.first == 0 || change.first - 1 + change.count > total {
            return Err(Kind::NoSuchLines { first: change.first, count: change.count, total });
        }
        let (range, text) = self.run(change.first - 1, change.count, change.lines.iter().map(String::as_str));
        self.builder.claim(number, range.clone());
        self.builder.replace(number, range, text);
        let (line, lines) = (change.first, change.count);
        self.placed.push(PlacedHunk { number, line, lines, layer: None, places: 1 });
        Ok(())
    }

    fn insert(&mut self, number: usize, at: usize, change: &LineChange) {
        let line = if at == 0 { 0 } else { self.haystack.lines().index_of(at - 1) + 1 };
        let (range, text) = self.run(line, 0, change.lines.iter().filter_map(Line::after));
        let lines = self.haystack.lines();
        if let Some(last) = lines.len().checked_sub(1).filter(|&last| lines.ending(last) == Ending::None) {
            // The new lines begin with the ending that the last line lacks, so that must stay.
            self.builder.claim(number, lines.with_ending(last));
        }
        self.builder.replace(number, range, text);
    }

    /// The replacement of `gone` lines from `line` on by these lines. The file keeps its own state of the
    /// final newline: what comes to stand last takes over what the last line had.
    fn run<'l>(
        &self,
        line: usize,
        gone: usize,
        added: impl Iterator<Item = &'l str>,
    ) -> (Range<usize>, Vec<u8>) {
        let lines = self.haystack.lines();
        let mut added: Vec<Vec<u8>> = added.map(|text| [text.as_bytes(), b"\n"].concat()).collect();
        let removed: Vec<Range<usize>> = (line..line + gone).map(|i| lines.with_ending(i)).collect();
        let last = lines.len().checked_sub(1);
        let unended = last.is_some_and(|last| lines.ending(last) == Ending::None);
        let becomes_last = unended && line + gone == lines.len() && !added.is_empty();
        if becomes_last && let Some(text) = added.last_mut() {
            text.pop();
        }
        let views: Vec<&[u8]> = added.iter().map(Vec::as_slice).collect();
        let (range, mut text) =
            carry::replace(self.bytes(), self.haystack.endings(), lines.start(line), &removed, &views);
        if becomes_last && gone == 0 {
            // The line that was last gets the ending that it lacked.
            let ending = crate::text::ending_near(self.bytes(), range.start).unwrap_or(Ending::Lf);
            text.splice(0..0, ending.bytes().iter().copied());
        }
        (range, text)
    }

    fn record(&mut self, number: usize, found: &Match, lines: usize, places: usize) {
        let line = self.haystack.line_number(found.range.start);
        self.placed.push(PlacedHunk { number, line, lines, layer: Some(found.layer), places });
    }
}

fn is_context(line: &Line) -> bool {
    matches!(line, Line::Context(_) | Line::Bare(_))
}

/// Checks that a file holds this, line endings aside.
pub(super) fn holds(text: &Text, content: &str) -> Result<(), Kind> {
    let haystack = Haystack::new(text);
    let wanted = contents(content.as_bytes());
    let lines = haystack.lines();
    if lines.len() == wanted.len() && (0..wanted.len()).all(|i| lines.content(i) == wanted[i]) {
        return Ok(());
    }
    let near = Box::new(find::near(&haystack, &wanted, &[]));
    Err(Kind::HunkContextMismatch { near, expected: content.lines().take(12).map(String::from).collect() })
}
