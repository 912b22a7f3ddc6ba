//! Sketches: which lines of the file each segment replaces, and whether that is certain.
//!
//! A segment replaces the lines from the one where it begins to the one where it ends ([`anchors`]); whatever lies
//! outside stays. Both ends must be certain, and nothing may go of which the sketch does not say so ([`loss`]). Three
//! things are taken for granted, and docs/FORMATS.md says them to whoever writes a sketch: the line beside a marker
//! stands in the file, a line that stands in the file once is not repeated elsewhere by the sketch, and what goes is
//! replaced or said to go.

mod anchors;
mod beside;
mod loss;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use self::loss::Dropped;
use super::PlanNote;
use super::numbering::{DefinitionPlace, Numbering};
use super::place::Placer;
use super::splice::{self, is_telling};
use crate::elision;
use crate::excerpt::around;
use crate::find::{Haystack, Layer};
use crate::patch::Line;
use crate::patch::sketch::{Sketch, SketchLine, is_named};
use crate::problem::{Kind, NoChange, SketchDoubt, UncertainSketch};
use crate::text::Text;
use crate::tokens::push_words;

/// How many lines are shown of those that a refusal is about, and how many of each line.
const SHOWN: usize = 12;
const SHOWN_COLUMNS: usize = 200;
/// How many words of a line are compared.
const WORDS: usize = 64;
/// A line that no file has, in the place of a comment that says that lines go.
const REMOVAL: &str = "\0";

/// The definitions of a file and of a sketch for it, where they are known.
#[derive(Clone, Copy, Debug, Default)]
struct Outlines<'a> {
    file: &'a [DefinitionPlace],
    sketch: &'a [DefinitionPlace],
}

/// Lines of the file, counted from 0, and what becomes of them.
struct Stretch {
    range: Range<usize>,
    lines: Vec<Line>,
    /// The lines that definitions lose which the sketch shows as a whole.
    dropped: Vec<Dropped>,
}

impl Placer<'_> {
    /// Places the segments of a sketch that change lines.
    pub(in crate::plan) fn sketch(&mut self, number: usize, sketch: &Sketch) -> Result<(), Kind> {
        self.budget.spend(self.bytes().len().saturating_add(sketch.text().len()))?;
        let Numbering { sources, name, .. } = self.numbering;
        let outline = |text: &[u8]| sources.places.map(|places| places(name, text)).unwrap_or_default();
        let (file, shown) = (outline(self.bytes()), outline(sketch.code().as_bytes()));
        let stretches = read(&self.haystack, sketch, Outlines { file: &file, sketch: &shown })?;
        let mut place = None;
        for Stretch { range, lines, dropped } in stretches {
            let note = |Dropped { title, lines }| PlanNote::DroppedLines { title, lines };
            self.notes.extend(dropped.into_iter().map(note));
            self.check_added(&lines)?;
            let all = self.haystack.lines();
            let bytes = all.start(range.start)..all.start(range.end);
            for (range, text) in splice::block(&self.haystack, &lines, &bytes, None)? {
                self.builder.replace(number, range, text);
            }
            self.builder.claim(number, bytes);
            place = Some(place.map_or(range.clone(), |place: Range<usize>| place.start..range.end));
        }
        let place = place.unwrap_or_default();
        let start = self.haystack.lines().start(place.start);
        self.record(number, &(start..start), Layer::Exact, place.len(), 1, Vec::new());
        Ok(())
    }
}

/// Returns what a sketch changes in a file, if that is certain.
fn read(h: &Haystack<'_>, sketch: &Sketch, outlines: Outlines<'_>) -> Result<Vec<Stretch>, Kind> {
    let file = (0..h.lines().len()).map(|line| h.lines().content(line)).collect();
    let reader = Reader::new(h.text(), file, sketch, outlines);
    reader.check_markers()?;
    let anchored = reader.anchor()?;
    let mut stretches = Vec::new();
    for (i, range) in anchored.into_iter().enumerate() {
        let stretch = reader.stretch(i, range)?;
        stretches.extend(Some(stretch).filter(|stretch| !stretch.lines.iter().all(Line::is_context)));
    }
    reader.check_balance(&stretches)?;
    reader.check_moved(&stretches)?;
    match stretches.is_empty() {
        true => Err(Kind::NoOp { why: NoChange::AlreadyHeld }),
        false => Ok(stretches),
    }
}

/// A sketch beside the file that it is for.
struct Reader<'a> {
    text: &'a Text,
    file: Vec<&'a [u8]>,
    sketch: &'a Sketch,
    /// The lines of the sketch, markers and all.
    shown: Vec<&'a str>,
    segments: Vec<SegmentText<'a>>,
    outlines: Outlines<'a>,
    /// Where each line of the sketch stands in the file.
    places: BTreeMap<&'a [u8], Vec<usize>>,
}

/// The lines of a segment; none for a comment that says that lines go.
struct SegmentText<'a> {
    first: usize,
    lines: Vec<Option<&'a str>>,
}

impl SegmentText<'_> {
    /// Returns those of its lines that are in this part of the sketch, from one number to before another.
    fn between(&self, first: usize, end: usize) -> impl Iterator<Item = &str> {
        let numbered = (self.first..).zip(&self.lines);
        numbered.filter(move |(number, _)| (first..end).contains(number)).filter_map(|(_, line)| *line)
    }

    /// Returns the number in the sketch of the first line with this text.
    fn number(&self, text: &str) -> usize {
        self.first + self.lines.iter().position(|line| *line == Some(text)).unwrap_or(0)
    }

    /// Returns the number in the sketch of its last line.
    fn last(&self) -> usize {
        self.first + self.lines.len() - 1
    }
}

impl<'a> Reader<'a> {
    fn new(text: &'a Text, file: Vec<&'a [u8]>, sketch: &'a Sketch, outlines: Outlines<'a>) -> Self {
        let mut places: BTreeMap<&[u8], Vec<usize>> =
            sketch.lines().map(|(_, line)| (line.as_bytes(), Vec::new())).collect();
        for (at, line) in file.iter().enumerate() {
            if let Some(places) = places.get_mut(line) {
                places.push(at);
            }
        }
        let segments = sketch.segments().iter().map(|segment| SegmentText {
            first: segment.first,
            lines: segment.lines.iter().map(SketchLine::text).collect(),
        });
        let segments = segments.collect();
        Self { text, file, sketch, shown: sketch.text().lines().collect(), segments, outlines, places }
    }

    /// Returns the line of the sketch with this number, counted from 1.
    fn shown_line(&self, number: usize) -> Option<&'a str> {
        self.shown.get(number.checked_sub(1)?).copied()
    }

    /// Refuses markers that the file has too, and a sketch of nothing else.
    fn check_markers(&self) -> Result<(), Kind> {
        if self.segments.is_empty() {
            return Err(self.uncertain(1, SketchDoubt::OnlyMarkers, 0..0));
        }
        for marker in self.sketch.markers() {
            let same = |line: &[u8]| line.trim_ascii() == marker.text.trim().as_bytes();
            if let Some(at) = self.file.iter().position(|line| same(line)) {
                return Err(self.uncertain(marker.line, SketchDoubt::MarkerInFile, at..at + 1));
            }
        }
        Ok(())
    }

    /// Compares lines of the file with lines of a segment.
    fn changes(&self, i: usize, own: Range<usize>, range: Range<usize>) -> Vec<Line> {
        let old: Vec<_> = self.file[range].iter().map(|line| String::from_utf8_lossy(line)).collect();
        let old: Vec<&str> = old.iter().map(AsRef::as_ref).collect();
        let new: Vec<&str> = self.segments[i].lines[own].iter().map(|line| line.unwrap_or(REMOVAL)).collect();
        Line::between(&old, &new)
    }

    /// Returns what becomes of the lines that a segment replaces.
    fn stretch(&self, i: usize, range: Range<usize>) -> Result<Stretch, Kind> {
        let segment = &self.segments[i];
        let mut lines = self.changes(i, 0..segment.lines.len(), range.clone());
        let dropped = self.check_loss(i, (0, range.start), &lines)?;
        self.check_indentation(i, &lines)?;
        lines.retain(|line| !matches!(line, Line::Added(text) if text == REMOVAL));
        // A new line that stands right outside, behind a marker, would be there twice.
        let filled = |at: &usize| !is_blank(self.file[*at]);
        let beside = [(0..range.start).rev().find(filled), (range.end..self.file.len()).find(filled)];
        let is_once = |at: &usize| {
            is_telling(self.file[*at]) && self.places.get(self.file[*at]).is_some_and(|all| all.len() == 1)
        };
        for at in beside.into_iter().flatten().filter(is_once) {
            let is_it = |line: &&Line| matches!(line, Line::Added(text) if text.as_bytes() == self.file[at]);
            if let Some(text) = lines.iter().find(is_it).and_then(Line::after) {
                let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
                return Err(self.uncertain(segment.number(text), doubt, at..at + 1));
            }
        }
        for line in &lines {
            if let Line::Added(text) = line
                && elision::may_stand_for_code(text)
            {
                return Err(self.uncertain(segment.number(text), SketchDoubt::LikeMarker, 0..0));
            }
        }
        Ok(Stretch { range, lines, dropped })
    }

    /// Refuses to leave brackets open or to close too many where the file is in balance: a marker may be missing.
    fn check_balance(&self, stretches: &[Stretch]) -> Result<(), Kind> {
        let is_balanced = self.file.iter().map(|line| beside::net(line)).sum::<isize>() == 0;
        let net = |side: fn(&Line) -> Option<&str>, stretch: &Stretch| -> isize {
            stretch.lines.iter().filter_map(side).map(|line| beside::net(line.as_bytes())).sum()
        };
        let change = |stretch: &Stretch| net(Line::after, stretch) - net(Line::before, stretch);
        if !is_balanced || stretches.iter().map(change).sum::<isize>() == 0 {
            return Ok(());
        }
        let Some(stretch) = stretches.iter().find(|stretch| change(stretch) != 0) else { return Ok(()) };
        let added = stretch.lines.iter().find(|line| !line.is_context()).and_then(Line::after);
        let number =
            self.sketch.lines().find(|(_, line)| added == Some(*line)).map_or(1, |(number, _)| number);
        Err(self.uncertain(number, SketchDoubt::Replaces, stretch.range.clone()))
    }

    /// Refuses new lines that are indented with blanks where the file has tabs alone, or the other way round. One blank is no
    /// indentation: the lines of a comment have it.
    fn check_indentation(&self, i: usize, lines: &[Line]) -> Result<(), Kind> {
        let by_tabs = |line: &[u8]| line.starts_with(b"\t");
        let by_blanks = |line: &[u8]| line.starts_with(b"  ");
        let has_tabs = self.file.iter().any(|line| by_tabs(line));
        if has_tabs == self.file.iter().any(|line| by_blanks(line)) {
            return Ok(());
        }
        let is_other = |line: &&Line| match line {
            Line::Added(text) if has_tabs => by_blanks(text.as_bytes()),
            Line::Added(text) => by_tabs(text.as_bytes()),
            _ => false,
        };
        let Some(other) = lines.iter().find(is_other).and_then(Line::after) else { return Ok(()) };
        Err(self.uncertain(self.segments[i].number(other), SketchDoubt::OtherIndentation { has_tabs }, 0..0))
    }

    /// Returns where a line of the sketch stands within these lines of the file.
    fn places(&self, line: &str, within: Range<usize>) -> &[usize] {
        let Some(places) = self.places.get(line.as_bytes()) else { return &[] };
        let first = places.partition_point(|at| *at < within.start);
        let end = places.partition_point(|at| *at < within.end);
        places.get(first..end).unwrap_or(&[])
    }

    /// Returns the definition of the file that a definition of the sketch means, if it is one. They are indented alike: a
    /// sketch that shows another indentation means another place, or would be put there with a wrong one.
    fn counterpart(&self, of_sketch: &DefinitionPlace) -> Option<&'a DefinitionPlace> {
        let mut same = self.outlines.file.iter().filter(|one| is_same(one, of_sketch));
        let one = same.next().filter(|_| same.next().is_none())?;
        let shown = self.shown_line(of_sketch.name_line)?;
        let there = self.file.get(one.name_line - 1)?;
        let indented = there.len() - there.trim_ascii_start().len();
        (&there[..indented] == indentation(shown).as_bytes()).then_some(one)
    }

    /// Refuses a definition that is new here while the file keeps it, under the same head, elsewhere.
    fn check_moved(&self, stretches: &[Stretch]) -> Result<(), Kind> {
        let (mut gone, mut come) = (BTreeSet::new(), BTreeSet::new());
        for Stretch { range, lines, .. } in stretches {
            let mut at = range.start;
            for line in lines {
                match line {
                    Line::Added(text) => drop(come.insert(text.as_str())),
                    Line::Removed(_) => drop(gone.insert(at)),
                    Line::Context(_) | Line::Bare(_) => {}
                }
                at += usize::from(line.before().is_some());
            }
        }
        for shown in self.outlines.sketch {
            let Some(one) = self.counterpart(shown) else { continue };
            let (text, at) = (self.shown_line(shown.name_line).unwrap_or_default(), one.name_line - 1);
            if come.contains(text) && text.as_bytes() == self.file[at] && !gone.contains(&at) {
                let doubt = SketchDoubt::OutOfOrder { at: at + 1 };
                return Err(self.uncertain(shown.name_line, doubt, at..at + 1));
            }
        }
        Ok(())
    }

    /// Returns whether a definition of the sketch is whole in a segment: nothing of it is behind a marker.
    fn is_whole(&self, definition: &DefinitionPlace, segment: &SegmentText<'_>) -> bool {
        definition.is_certain
            && definition.first >= segment.first
            && definition.last <= segment.last()
            && self.is_ended(definition, segment)
    }

    /// Returns whether a definition whose last line is in a segment ends there: what a marker below stands for may belong to
    /// one that only its indentation ends, and to a section that not even that ends.
    fn is_ended(&self, definition: &DefinitionPlace, segment: &SegmentText<'_>) -> bool {
        let line = |number: usize| self.shown_line(number).unwrap_or_default();
        let closes = |line: &str| line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
        let next = self.sketch.markers().iter().find(|marker| marker.line > definition.last);
        let own = indentation(line(definition.name_line));
        let is_indented =
            definition.last == definition.name_line || indentation(line(definition.last)).len() > own.len();
        definition.last < segment.last()
            || closes(line(definition.last))
            || next.is_none_or(|marker| is_indented && own.starts_with(indentation(&marker.text)))
    }

    /// Makes the problem that a line of the sketch is not certain, with these lines of the file.
    fn uncertain(&self, line: usize, doubt: SketchDoubt, lines: Range<usize>) -> Kind {
        let text = self.shown_line(line).unwrap_or_default();
        let end = lines.end.min(self.file.len()).min(lines.start + SHOWN);
        let shown = (lines.start..end).map(|at| (at + 1, around(self.file[at], 0, SHOWN_COLUMNS)));
        Kind::UncertainSketch(Box::new(UncertainSketch {
            line,
            text: around(text.as_bytes(), 0, SHOWN_COLUMNS),
            doubt,
            version: self.text.version(),
            shown: shown.collect(),
        }))
    }
}

/// Returns whether a definition of the sketch, of whose path the beginning may not be shown, may be this one of the file.
fn is_same(of_file: &DefinitionPlace, of_sketch: &DefinitionPlace) -> bool {
    is_named(&of_file.path, &of_sketch.path)
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns whether two lines share at least half of their words.
fn are_alike(a: &[u8], b: &[u8]) -> bool {
    likeness(a, b).is_ge()
}

/// Compares the words that two lines share with half of their words.
fn likeness(a: &[u8], b: &[u8]) -> Ordering {
    let words = |line: &[u8]| {
        let mut words = Vec::new();
        push_words(line, WORDS, &mut words);
        words.sort_unstable();
        words.dedup();
        words
    };
    let (a, b) = (words(a), words(b));
    let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    if shared > 0 { (4 * shared).cmp(&(a.len() + b.len())) } else { Ordering::Less }
}

#[cfg(test)]
mod tests;
