//! Following lines from the version of a file in which they were numbered to a later one. There is no guess: lines are
//! found again for certain, or they are not.
//!
//! Two things tell where lines went. A [`LineMap`] says which lines an edit kept and which it wrote anew, so it is exact
//! however often a text recurs. Where only the two contents are known, the lines must stand once in each, together with
//! as many of their neighbours as make them unique, and beside at least one of these; and the comparison of the two as a
//! whole must have them there too, wherever among equal lines it takes others to have come or gone.
//!
//! [`NamedLines`] are numbers of a version that a request names and say nothing of any other. [`CurrentLines`] are lines
//! of the text at hand, and only [`follow`] and [`NamedLines::within`] make them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use crate::edit::Edit;
use crate::text::{Text, split_ending, split_lines};

/// The number of comparisons that finding lines by their content may take.
const WORK: usize = 50_000_000;
/// The number of places that are told where lines stand in several.
const TOLD: usize = 5;

/// Lines by the numbers that they have in a version which a request names. Without any, it is the place before the
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedLines {
    /// Counted from 0.
    first: usize,
    count: usize,
}

/// Lines of the text at hand, or with none of them a place between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentLines {
    /// Counted from 0.
    first: usize,
    count: usize,
}

impl NamedLines {
    /// Creates `count` lines from the number of the first, counted from 1. Returns `None` if that is 0, or if the number
    /// of the last is too large.
    #[must_use]
    pub fn new(first: usize, count: usize) -> Option<Self> {
        let before = first.checked_sub(1)?;
        before.checked_add(count)?;
        Some(Self { first: before, count })
    }

    /// Returns these lines of a text that is the version which the request names, or `None` if its `total` is smaller.
    #[must_use]
    pub fn within(self, total: usize) -> Option<CurrentLines> {
        let Self { first, count } = self;
        (first + count <= total).then_some(CurrentLines { first, count })
    }

    fn range(self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

impl CurrentLines {
    fn of(range: Range<usize>) -> Self {
        Self { first: range.start, count: range.len() }
    }

    /// Returns the index of the first line, or without any of the line that follows the place.
    #[must_use]
    pub fn first(self) -> usize {
        self.first
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn count(self) -> usize {
        self.count
    }

    /// Returns the lines by their numbers in the text at hand, from which they can be followed on.
    #[must_use]
    pub fn named(self) -> NamedLines {
        NamedLines { first: self.first, count: self.count }
    }
}

/// What became of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The lines are there as they were, and together.
    Kept(CurrentLines),
    /// The lines are not there as they were, or not together.
    Changed(Option<Remains>),
    /// The text of the lines stands in several places, these among them, and nothing tells which is meant.
    Several(Vec<CurrentLines>),
    /// The version that is named has only so many lines.
    Missing {
        /// The number of lines that it has.
        total: usize,
    },
}

/// What stands in the place of lines that were changed, where that is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    /// The lines.
    pub lines: CurrentLines,
    /// Whether they take the place of the changed lines alone, and not of others beside them too.
    pub is_tight: bool,
}

/// A step from one version to the next.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// An edit, of which is known what it did.
    Edited(&'a LineMap),
    /// A change of which only the content before and afterwards is known.
    Compared {
        /// The content before.
        then: &'a Text,
        /// The content afterwards.
        now: &'a Text,
        /// The lines that a comparison of the two as a whole takes for changed. It may be wrong, so it only has a veto.
        map: &'a LineMap,
    },
}

/// Follows lines from the version that has their numbers, step by step, to a text of `total` lines. Without a step that
/// text is the version.
#[must_use]
pub fn follow<'a>(named: NamedLines, steps: impl IntoIterator<Item = Step<'a>>, total: usize) -> Followed {
    let mut at = named.range();
    // Once they are changed, what took their place is followed, to be shown.
    let mut changed = None;
    let mut first = true;
    for step in steps {
        let had = step.lines_before();
        if first && at.end > had {
            return Followed::Missing { total: had };
        }
        first = false;
        match step {
            Step::Edited(map) => match map.step(&at) {
                Ok(kept) => at = kept,
                Err((hull, is_tight)) => {
                    at = hull;
                    changed = Some(changed.unwrap_or(true) && is_tight);
                }
            },
            Step::Compared { then, now, map } => match compare(then, now, &at) {
                _ if changed.is_some() => return Followed::Changed(None),
                // Lines that stand once in each may be others: those that are meant were changed, and their like was
                // written elsewhere.
                Occurrences::Once(kept) if map.step(&at).as_ref() == Ok(&kept) => {
                    if map.slides_into(then, now, &at) {
                        return Followed::Several(Vec::from([CurrentLines::of(kept)]));
                    }
                    at = kept;
                }
                Occurrences::Once(_) | Occurrences::Nowhere => return Followed::Changed(None),
                Occurrences::Several(places) => {
                    return Followed::Several(places.into_iter().map(CurrentLines::of).collect());
                }
            },
        }
    }
    match changed {
        Some(is_tight) => Followed::Changed(Some(Remains { lines: CurrentLines::of(at), is_tight })),
        None if at.end > total => Followed::Missing { total },
        None => Followed::Kept(CurrentLines::of(at)),
    }
}

impl Step<'_> {
    fn lines_before(&self) -> usize {
        match self {
            Self::Edited(map) => map.old,
            Self::Compared { then, .. } => then.line_count(),
        }
    }
}

/// The lines that an edit has written anew; all others are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMap {
    /// The number of lines before and after the edit.
    old: usize,
    new: usize,
    /// Sorted and disjoint.
    blocks: Vec<LineBlock>,
}

/// Old lines that an edit has removed, and the number of new ones in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBlock {
    /// The index of the first removed line, or without any of the one before which the new ones came.
    pub first: usize,
    /// The number of removed lines.
    pub gone: usize,
    /// The number of new lines.
    pub came: usize,
}

impl LineBlock {
    fn end(&self) -> usize {
        self.first + self.gone
    }
}

impl LineMap {
    /// Creates the map of an edit of this text. Returns `None` if the edit was itself found by comparing two contents.
    #[must_use]
    pub fn from_edit(base: &Text, edit: &Edit) -> Option<Self> {
        (!edit.is_compared()).then(|| Self::from_spans(base, edit))
    }

    /// Creates the map of any edit, though which of several equal lines that has kept may be a guess.
    fn from_spans(base: &Text, edit: &Edit) -> Self {
        let blocks = blocks(base, edit);
        let old = base.line_count();
        let new = blocks.iter().fold(old, |lines, block| lines + block.came - block.gone);
        Self { old, new, blocks }
    }

    /// Creates a map of these blocks, which make a text of `new` lines of one of `old`. Returns `None` if they do not
    /// fit together.
    #[must_use]
    pub fn from_blocks(old: usize, new: usize, blocks: Vec<LineBlock>) -> Option<Self> {
        let (mut at, mut came, mut gone) = (0, 0usize, 0usize);
        for block in &blocks {
            if block.first < at || block.gone > old || block.first > old - block.gone {
                return None;
            }
            at = block.end();
            came = came.checked_add(block.came)?;
            gone += block.gone;
        }
        (old.checked_add(came)?.checked_sub(gone)? == new).then_some(Self { old, new, blocks })
    }

    /// Returns the number of lines before the edit.
    #[must_use]
    pub fn lines_before(&self) -> usize {
        self.old
    }

    /// Returns the number of lines after the edit.
    #[must_use]
    pub fn lines_after(&self) -> usize {
        self.new
    }

    /// Returns the blocks, in order.
    #[must_use]
    pub fn blocks(&self) -> &[LineBlock] {
        &self.blocks
    }

    /// Returns where lines are afterwards; or as an error what stands in their place, and whether it does so for them
    /// alone. A place between two lines is only kept while both are, and are neighbours.
    fn step(&self, at: &Range<usize>) -> Result<Range<usize>, (Range<usize>, bool)> {
        let is_before = |block: &&LineBlock| match at.is_empty() {
            true => block.end() < at.start,
            false => block.end() <= at.start,
        };
        let is_after = |block: &LineBlock| match at.is_empty() {
            true => block.first > at.start,
            false => block.first >= at.end,
        };
        let before = self.blocks.partition_point(|block| is_before(&block));
        let (came, gone) = moved(&self.blocks[..before]);
        let touching: Vec<LineBlock> =
            self.blocks[before..].iter().copied().take_while(|block| !is_after(block)).collect();
        let (Some(first), Some(last)) = (touching.first(), touching.last()) else {
            return Ok(at.start + came - gone..at.end + came - gone);
        };
        let hull = first.first.min(at.start)..last.end().max(at.end);
        let (more, less) = moved(&touching);
        let start = hull.start + came - gone;
        Err((start..start + hull.len() + more - less, hull == *at && !at.is_empty()))
    }

    /// Returns whether lines that came or went beside these lines may as well have done so among them, or on their other side:
    /// where lines are equal, a comparison cannot tell.
    fn slides_into(&self, then: &Text, now: &Text, at: &Range<usize>) -> bool {
        let (mut came, mut gone) = (0, 0);
        let mut above = 0;
        self.blocks.iter().enumerate().any(|(i, block)| {
            let below = self.blocks.get(i + 1).map_or(self.old, |next| next.first);
            let (first, start) = (block.first, block.first + came - gone);
            (came, gone) = (came + block.came, gone + block.gone);
            let floor = core::mem::replace(&mut above, block.end());
            // The side that has the lines, where they stand in it, and how far they can slide in the other.
            let (text, lines) = match (block.gone, block.came) {
                (0, count) => (now, start..start + count),
                (count, 0) => (then, first..first + count),
                _ => return false,
            };
            let same = |one: usize, other: usize| line(text, one) == line(text, other);
            let up = (1..=first - floor).take_while(|by| same(lines.start - by, lines.end - by)).count();
            let room = below - block.end();
            let down = (0..room).take_while(|by| same(lines.start + by, lines.end + by)).count();
            let (top, end) = (first - up, block.end() + down);
            let touches = match at.is_empty() {
                true => top <= at.start && end >= at.start,
                false => top < at.end && end > at.start,
            };
            touches && up + down > 0
        })
    }
}

/// Returns a line without its ending.
fn line(text: &Text, index: usize) -> &[u8] {
    split_ending(&text.bytes()[text.line_start(index)..text.line_start(index + 1)]).0
}

/// Returns the numbers of new and of removed lines in these blocks.
fn moved(blocks: &[LineBlock]) -> (usize, usize) {
    blocks.iter().fold((0, 0), |(came, gone), block| (came + block.came, gone + block.gone))
}

/// Returns the blocks of lines that the spans of an edit touch.
fn blocks(base: &Text, edit: &Edit) -> Vec<LineBlock> {
    let bytes = base.bytes();
    let (len, end_of_body) = (base.line_count(), base.body().end);
    let is_ended = bytes.last().is_none_or(|last| *last == b'\n') || len == 0;
    let mut open: Option<OpenBlock> = None;
    let mut done = Vec::new();
    let line_of = |offset: usize| if offset >= end_of_body { len } else { base.line_index(offset) };
    for (i, span) in edit.spans().iter().enumerate() {
        // The mark before the first line is none of the lines.
        let (start, end) = (span.range.start.max(base.line_start(0)), span.range.end.max(base.line_start(0)));
        if start == end && span.new.is_empty() {
            continue;
        }
        let is_at_end = start == end_of_body;
        let is_open_there = open.as_ref().is_some_and(|block| block.until == end_of_body);
        // Lines after a last one without an ending begin with the ending that it lacks.
        let appended = match i + 1 == edit.spans().len() && is_at_end && !is_ended && !is_open_there {
            true => after_ending(&span.new),
            false => None,
        };
        let joins = |block: &OpenBlock| {
            start < block.ends_at || is_at_end && appended.is_none() && block.ends_at == end_of_body
        };
        if !open.as_ref().is_some_and(joins) {
            done.extend(open.take().map(|block| block.close(bytes)));
        }
        if let Some(appended) = appended {
            let came = split_lines(appended).count();
            done.extend((came > 0).then_some(LineBlock { first: len, gone: 0, came }));
            continue;
        }
        let mut block = open.take().unwrap_or_else(|| {
            let line = match line_of(start) {
                line if line == len && !is_ended => len - 1,
                line => line,
            };
            OpenBlock {
                first: line,
                end: line,
                until: base.line_start(line),
                ends_at: 0,
                content: Vec::new(),
            }
        });
        block.content.extend_from_slice(&bytes[block.until..start]);
        block.content.extend_from_slice(&span.new);
        block.until = end;
        let whole = block.content.last().is_none_or(|last| *last == b'\n');
        // The line in which the span ends is touched, unless both that and what takes its place end there.
        let touched = match line_of(end) {
            line if line == len => len,
            line if base.line_start(line) == end && whole => line,
            line => line + 1,
        };
        block.end = block.end.max(touched);
        block.ends_at = base.line_start(block.end);
        open = Some(block);
    }
    done.extend(open.map(|block| block.close(bytes)));
    done
}

/// Returns what follows the line ending at the beginning of a text, if it begins with one.
fn after_ending(new: &[u8]) -> Option<&[u8]> {
    new.strip_prefix(b"\n").or_else(|| new.strip_prefix(b"\r\n"))
}

/// A block of touched lines, with what becomes of them so far.
struct OpenBlock {
    first: usize,
    end: usize,
    /// The offset up to which the old bytes are dealt with.
    until: usize,
    /// The offset at which its last line ends.
    ends_at: usize,
    content: Vec<u8>,
}

impl OpenBlock {
    fn close(mut self, bytes: &[u8]) -> LineBlock {
        self.content.extend_from_slice(&bytes[self.until..self.ends_at.max(self.until)]);
        let came = split_lines(&self.content).count();
        LineBlock { first: self.first, gone: self.end - self.first, came }
    }
}

/// The places of some lines of an older content in a newer one.
#[derive(Debug, PartialEq, Eq)]
enum Occurrences {
    Once(Range<usize>),
    Nowhere,
    Several(Vec<Range<usize>>),
}

/// Finds lines of an older content in a newer one by their text.
fn compare(then: &Text, now: &Text, at: &Range<usize>) -> Occurrences {
    let mut known = BTreeMap::new();
    let (then, now) = (Numbered::new(then, &mut known), Numbered::new(now, &mut known));
    let mut work = WORK;
    // Both begin and end with a line that stands for the edge of the file.
    let (start, count) = (at.start + 1, at.len());
    let wanted = &then.0[start..start + count];
    let (Some(mut places), Some(mut found)) = (then.places(wanted, &mut work), now.places(wanted, &mut work))
    else {
        return Occurrences::Several(Vec::new());
    };
    let mut margin = 0;
    while count == 0 && margin == 0 || places.len() > 1 {
        margin += 1;
        let (before, after) = (start.checked_sub(margin), start + count + margin - 1);
        let before = before.map(|at| then.0[at]);
        let after = then.0.get(after).copied();
        let cost = places.len() + found.len();
        if before.is_none() && after.is_none() || work < cost {
            return told(&found, count);
        }
        work -= cost;
        let fits = |lines: &Numbered, place: usize| {
            let is = |at: Option<usize>, wanted: Option<u32>| match wanted {
                Some(wanted) => at.and_then(|at| lines.0.get(at)) == Some(&wanted),
                None => true,
            };
            is(place.checked_sub(margin), before) && is(Some(place + count + margin - 1), after)
        };
        places.retain(|place| fits(&then, *place));
        found.retain(|place| fits(&now, *place));
    }
    match found[..] {
        [] => Occurrences::Nowhere,
        [place] => {
            let beside =
                then.0[start - 1] == now.0[place - 1] || then.0[start + count] == now.0[place + count];
            if beside { Occurrences::Once(place - 1..place - 1 + count) } else { Occurrences::Nowhere }
        }
        _ => told(&found, count),
    }
}

fn told(places: &[usize], count: usize) -> Occurrences {
    Occurrences::Several(places.iter().take(TOLD).map(|place| place - 1..place - 1 + count).collect())
}

/// The lines of a text as numbers, equal for equal lines, between two that stand for its edges.
struct Numbered(Vec<u32>);

/// The numbers of the edges.
const TOP: u32 = 0;
const BOTTOM: u32 = 1;

impl Numbered {
    fn new<'a>(text: &'a Text, known: &mut BTreeMap<&'a [u8], u32>) -> Self {
        let mut numbers = Vec::from([TOP]);
        for line in split_lines(&text.bytes()[text.body()]) {
            let next = known.len() as u32 + BOTTOM + 1;
            numbers.push(*known.entry(split_ending(line).0).or_insert(next));
        }
        numbers.push(BOTTOM);
        Self(numbers)
    }

    /// Returns every place of these lines, but for those beyond the edges, or `None` if that is too much work.
    fn places(&self, wanted: &[u32], work: &mut usize) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        for at in 1..self.0.len() - wanted.len().min(self.0.len() - 1) {
            let same = wanted.iter().zip(&self.0[at..]).take_while(|(a, b)| a == b).count();
            *work = work.checked_sub(same + 1)?;
            if same == wanted.len() {
                places.push(at);
            }
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests;
