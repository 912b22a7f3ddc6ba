//! Whole lines of a request, and the layers that compare them line by line: `exact`, `line-endings`, `trailing-space`,
//! `edge-blanks` and `bare-context`.
//!
//! Only if no whole lines match may a block without markers start after the white space of its first line, which models
//! lose.
//!
//! A loose layer returns with each place an [`Interpretation`] of the request, whose old lines correspond to the file's
//! lines, one to one. So splicing need not know the layers.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::{Budget, Candidate, Candidates, Haystack, Interpretation};
use crate::patch::Line;
use crate::problem::Kind;

/// The form of a request's lines, which decides which deviations are tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockForm {
    /// A diff: each line has a marker, or has lost it.
    Diff,
    /// Old and new lines, whole.
    Block,
    /// Old and new text that has no literal match, tried as whole lines.
    Text,
}

/// Whole lines of a request, and where they may start.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// All lines of the block, in order.
    pub lines: &'a [Line],
    /// The lines that must be in the file.
    old: Vec<&'a [u8]>,
    /// The zero-based lines of the file on which the block may start.
    pub starts: &'a [Range<usize>],
    /// The form of the lines.
    pub form: BlockForm,
    /// The lines, counted from 1, of which the request places the block at one.
    pub hints: &'a [usize],
}

impl<'a> Block<'a> {
    /// Makes a block of these lines.
    #[must_use]
    pub fn new(lines: &'a [Line], starts: &'a [Range<usize>], form: BlockForm, hints: &'a [usize]) -> Self {
        let old = lines.iter().filter_map(Line::before).map(str::as_bytes).collect();
        Self { lines, old, starts, form, hints }
    }

    /// The lines that must be in the file.
    #[must_use]
    pub fn old(&self) -> &[&'a [u8]] {
        &self.old
    }

    /// Returns whether a line has lost its marker; then only `bare-context` may match.
    pub(super) fn has_bare_context(&self) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Bare(_)))
    }

    /// Returns the added lines.
    pub(super) fn added(&self) -> impl Iterator<Item = &'a str> {
        added(self.lines)
    }

    /// Returns which of the old lines are context.
    pub(super) fn is_context(&self) -> Vec<bool> {
        self.lines.iter().filter(|line| line.before().is_some()).map(Line::is_context).collect()
    }

    /// Returns the lines, each changed by `change`; `None` if that fails for one.
    pub(super) fn map(&self, mut change: impl FnMut(&Line) -> Option<Line>) -> Option<Vec<Line>> {
        self.lines.iter().map(&mut change).collect()
    }

    /// Interprets the block as one whose first line has lost this indentation.
    pub(super) fn with_first_indented(&self, indent: &[u8]) -> Interpretation {
        let indent = String::from_utf8_lossy(indent);
        let mut lines = self.lines.to_vec();
        let indented = |text: &str| [&indent, text].concat();
        match &mut lines[0] {
            Line::Context(text) => *text = indented(text),
            Line::Removed(text) => {
                *text = indented(text);
                let mut run = lines.iter_mut().take_while(|line| !matches!(line, Line::Context(_)));
                match run.find(|line| matches!(line, Line::Added(_))) {
                    // The new line has an indentation, so only the old line has lost it.
                    Some(Line::Added(text)) if text.starts_with([' ', '\t']) => return Interpretation::Unfit,
                    Some(Line::Added(text)) => *text = indented(text),
                    _ => {}
                }
            }
            Line::Added(_) | Line::Bare(_) => return Interpretation::Unfit,
        }
        Interpretation::Rewritten(lines)
    }
}

/// Returns the added lines of these.
pub(super) fn added(lines: &[Line]) -> impl Iterator<Item = &str> {
    lines.iter().filter(|line| line.before().is_none()).filter_map(Line::after)
}

/// Returns the lines, with the text of the added ones changed.
pub(super) fn map_added(lines: &[Line], change: impl Fn(&str) -> String) -> Vec<Line> {
    let changed = |line: &Line| match line {
        Line::Added(text) => Line::Added(change(text)),
        line => line.clone(),
    };
    lines.iter().map(changed).collect()
}

/// Returns the white space at the beginning of a line.
pub(super) fn indent(line: &[u8]) -> &[u8] {
    &line[..line.len() - line.trim_ascii_start().len()]
}

/// Returns whether a line has only white space.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns whether a line is distinctive: brackets and short words recur everywhere.
pub(super) fn has_substance(line: &[u8]) -> bool {
    line.iter().filter(|b| b.is_ascii_alphanumeric() || **b >= 0x80).count() >= 4
}

/// Returns whether two lines are equal except for trailing white space.
pub(super) fn same_but_for_trailing_space(file: &[u8], wanted: &[u8]) -> bool {
    file.trim_ascii_end() == wanted.trim_ascii_end()
}

/// Returns the zero-based lines on which `wanted` starts, with lines that `same` takes for equal to the file's. `same`
/// also gets the index of the line in the request.
pub(super) fn starts_of(
    h: &Haystack<'_>,
    wanted: &[&[u8]],
    starts: &[Range<usize>],
    most: usize,
    budget: &Budget,
    same: impl Fn(usize, &[u8], &[u8]) -> bool,
) -> Result<Vec<usize>, Kind> {
    let lines = h.lines();
    let mut found = Vec::new();
    let Some(last_start) = lines.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty()) else {
        return Ok(found);
    };
    let pivot = pivot(wanted);
    for start in starts.iter().flat_map(|range| range.start..range.end.min(last_start + 1)) {
        budget.spend(0)?;
        if !same(pivot, lines.content(start + pivot), wanted[pivot]) {
            continue;
        }
        if stands(h, wanted, start, budget, &same)? {
            found.push(start);
            if found.len() == most {
                break;
            }
        }
    }
    Ok(found)
}

/// The shortest line that is worth a search; shorter ones occur too often.
const TELLING: usize = 4;
/// How many lines are searched for a text in the time in which one is compared.
const SEARCHED: usize = 8;

/// Returns what [`starts_of`] does, for a `same` that holds only for lines that are equal except for leading and
/// trailing white space. So the file can be searched for one of them instead of compared line by line.
pub(super) fn starts_of_trimmed(
    h: &Haystack<'_>,
    wanted: &[&[u8]],
    starts: &[Range<usize>],
    most: usize,
    budget: &Budget,
    same: impl Fn(usize, &[u8], &[u8]) -> bool,
) -> Result<Vec<usize>, Kind> {
    let pivot = pivot(wanted);
    let needle = wanted.get(pivot).map_or(&[][..], |line| line.trim_ascii());
    if needle.len() < TELLING {
        return starts_of(h, wanted, starts, most, budget, same);
    }
    let (lines, bytes) = (h.lines(), h.text().bytes());
    let mut found = Vec::new();
    let Some(last_start) = lines.len().checked_sub(wanted.len()) else { return Ok(found) };
    let finder = memmem::Finder::new(needle);
    for range in starts {
        let (first, end) = (range.start, range.end.min(last_start + 1));
        if first >= end {
            continue;
        }
        budget.spend((end - first) / SEARCHED)?;
        let (mut at, end) = (lines.start(first + pivot), lines.start(end + pivot));
        while let Some(hit) = finder.find(&bytes[at..end]) {
            let line = lines.index_of(at + hit);
            at = lines.start(line + 1);
            budget.spend(0)?;
            if stands(h, wanted, line - pivot, budget, &same)? {
                found.push(line - pivot);
                if found.len() == most {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Returns the line on which these lines start in one of the ranges, white space at their ends aside.
pub fn stands_in(
    h: &Haystack<'_>,
    wanted: &[&[u8]],
    starts: &[Range<usize>],
    budget: &Budget,
) -> Result<Option<usize>, Kind> {
    let same = |_: usize, file: &[u8], wanted: &[u8]| same_but_for_trailing_space(file, wanted);
    Ok(starts_of_trimmed(h, wanted, starts, 1, budget, same)?.first().copied())
}

/// Returns whether these lines stand together anywhere in the file.
pub(super) fn are_in_file(h: &Haystack<'_>, wanted: &[&[u8]], budget: &Budget) -> Result<bool, Kind> {
    let everywhere = [0..h.lines().len()];
    let equal = |_: usize, file: &[u8], wanted: &[u8]| file == wanted;
    Ok(!starts_of_trimmed(h, wanted, &everywhere, 1, budget, equal)?.is_empty())
}

/// Returns the line to compare first: the longest, since short ones ("}") recur everywhere.
fn pivot(wanted: &[&[u8]]) -> usize {
    (0..wanted.len()).max_by_key(|&i| wanted[i].trim_ascii().len()).unwrap_or(0)
}

/// Returns whether all lines of the request match from this line of the file on.
fn stands(
    h: &Haystack<'_>,
    wanted: &[&[u8]],
    start: usize,
    budget: &Budget,
    same: &impl Fn(usize, &[u8], &[u8]) -> bool,
) -> Result<bool, Kind> {
    for (i, content) in wanted.iter().enumerate() {
        budget.spend(0)?;
        if !same(i, h.lines().content(start + i), content) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds the places of a block as written. `same` holds only for lines that are equal except for leading and trailing
/// white space.
pub(super) fn candidates(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
    same: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<Candidates, Kind> {
    let same = |_: usize, file: &[u8], wanted: &[u8]| same(file, wanted);
    let found = starts_of_trimmed(h, block.old(), block.starts, most, budget, same)?;
    let count = block.old().len();
    Ok(found.into_iter().map(|start| Candidate::as_written(bytes_of(h, start, count))).collect())
}

/// Returns the range of `count` lines.
pub(super) fn bytes_of(h: &Haystack<'_>, start: usize, count: usize) -> Range<usize> {
    h.lines().start(start)..h.lines().start(start + count)
}

pub(super) fn exact(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let places = line_endings(h, block, most, budget)?;
    let has_crlf =
        |place: &Candidate| memmem::find(&h.text().bytes()[place.range.clone()], b"\r\n").is_some();
    // Lines of a patch have LF; a place with CRLF is left to the next layer, unless it has rivals.
    Ok(if places.len() == 1 && places.iter().any(has_crlf) { vec![] } else { places })
}

pub(super) fn line_endings(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let places = candidates(h, block, most, budget, |file, wanted| file == wanted)?;
    match block.form {
        BlockForm::Block if places.is_empty() => after_indentation(h, block, most, budget),
        _ => Ok(places),
    }
}

/// Finds the places where the block starts after the white space of its first line. Its first new line then starts
/// there too; if it is unclear which line that is, the place does not fit.
fn after_indentation(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let old = block.old();
    let is_flat = |line: &&[u8]| !line.is_empty() && indent(line).is_empty();
    // A single line may as well have been indented differently with its replacement: `indentation` handles that.
    if !old.first().is_some_and(is_flat) || old.iter().filter(|line| !is_blank(line)).count() < 2 {
        return Ok(vec![]);
    }
    let same = |i: usize, file: &[u8], wanted: &[u8]| match i {
        0 => file.trim_ascii_start() == wanted,
        _ => file == wanted,
    };
    let found = starts_of_trimmed(h, old, block.starts, most, budget, same)?;
    let place = |start: usize| Candidate {
        range: bytes_of(h, start, old.len()),
        interpretation: block.with_first_indented(indent(h.lines().content(start))),
    };
    Ok(found.into_iter().map(place).collect())
}

pub(super) fn trailing_space(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let mut places = candidates(h, block, most, budget, same_but_for_trailing_space)?;
    let ends_blank = |line: &[u8]| line.last().is_some_and(u8::is_ascii_whitespace);
    if block.old().iter().all(|line| is_blank(line) || ends_blank(line))
        && block.added().all(|line| line.trim().is_empty() || ends_blank(line.as_bytes()))
    {
        // Blanks that all lines of the request have are not meant where no line of the file has them.
        for place in &mut places {
            let first = h.lines().index_of(place.range.start);
            if (first..first + block.old().len()).all(|at| !ends_blank(h.lines().content(at))) {
                let lines = map_added(block.lines, |text| text.trim_end().into());
                place.interpretation = Interpretation::Rewritten(lines);
            }
        }
    }
    Ok(places)
}

pub(super) fn edge_blanks(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let mut lines = block.lines.to_vec();
    if block.form != BlockForm::Diff {
        end_with_context(&mut lines);
    }
    let Some(kept) = without_edge_blanks(&lines) else { return Ok(vec![]) };
    let within = Block::new(&kept, block.starts, block.form, &[]);
    let mut found = Vec::new();
    let places = candidates(h, &within, most, budget, same_but_for_trailing_space)?;
    add_rewritten(&mut found, places, &Interpretation::Rewritten(kept));
    Ok(found)
}

/// Adds the places of a rewritten request, each once, with this interpretation where it matches as it was rewritten.
pub(super) fn add_rewritten(found: &mut Candidates, places: Candidates, rewritten: &Interpretation) {
    for mut place in places {
        if found.iter().all(|other| other.range != place.range) {
            if place.interpretation == Interpretation::AsWritten {
                place.interpretation = rewritten.clone();
            }
            found.push(place);
        }
    }
}

/// If old and new text both end with blank lines, makes these the context, rather than blank lines with which the added
/// lines begin: the comparison's choice between them is arbitrary. In a diff, the writer has chosen.
fn end_with_context(lines: &mut [Line]) {
    let blank = |line: &Line| line.before().or(line.after()).is_some_and(|text| text.trim().is_empty());
    let kept = |line: &Line| !matches!(line, Line::Added(_));
    let mut end = lines.len();
    while let Some(stays) = lines[..end].iter().rposition(kept)
        && stays + 1 < end
        && matches!(lines[stays], Line::Context(_))
        && blank(&lines[stays])
        && blank(&lines[end - 1])
    {
        end -= 1;
        let exchange = |line: &Line| match line {
            Line::Context(text) => Line::Added(text.clone()),
            line => Line::Context(line.after().unwrap_or_default().into()),
        };
        (lines[stays], lines[end]) = (exchange(&lines[stays]), exchange(&lines[end]));
    }
}

/// Returns the lines without blank context at the edges; `None` if there is none.
fn without_edge_blanks(lines: &[Line]) -> Option<Vec<Line>> {
    let is_edge = |line: &&Line| matches!(line, Line::Context(text) if text.trim().is_empty());
    let head = lines.iter().take_while(is_edge).count();
    let tail = lines[head..].iter().rev().take_while(is_edge).count();
    (head + tail > 0).then(|| lines[head..lines.len() - tail].to_vec())
}

pub(super) fn bare_context(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    if block.form != BlockForm::Diff {
        return Ok(vec![]);
    }
    // Either the lines without a marker lost it, or all context lines did and some begin with their own space.
    let bare = |all: bool| {
        block.map(|line| {
            Some(match line {
                Line::Bare(text) => Line::Context(text.clone()),
                Line::Context(text) if all && !text.is_empty() => Line::Context([" ", text].concat()),
                line => line.clone(),
            })
        })
    };
    let mut found: Candidates = Vec::new();
    for reading in [bare(false).filter(|_| block.has_bare_context()), bare(true)].into_iter().flatten() {
        if reading == block.lines {
            continue;
        }
        let read = Block::new(&reading, block.starts, block.form, &[]);
        let fits = !has_a_blank_too_many(&read) && (block.has_bare_context() || !is_shallow(&read));
        let places = candidates(h, &read, most, budget, |file, wanted| file == wanted)?;
        let interpretation = if fits { Interpretation::Rewritten(reading) } else { Interpretation::Unfit };
        add_rewritten(&mut found, places, &interpretation);
    }
    found.truncate(most);
    Ok(found)
}

/// Returns whether an added line is indented less than all the context, which then has not lost its markers.
fn is_shallow(block: &Block<'_>) -> bool {
    let least = |lines: &mut dyn Iterator<Item = &[u8]>| {
        lines.filter(|line| !is_blank(line)).map(|line| indent(line).len()).min()
    };
    let added = least(&mut block.added().map(str::as_bytes));
    added.zip(least(&mut block.old().iter().copied())).is_some_and(|(added, old)| added < old)
}

/// Returns whether the added lines may have been written with a space after the sign: they are one column deeper than a
/// level of the context without markers, and no removed line shows what is meant.
fn has_a_blank_too_many(block: &Block<'_>) -> bool {
    let removes = block.lines.iter().any(|line| matches!(line, Line::Removed(_)));
    let mut levels = block.old().iter().filter(|line| !is_blank(line)).map(|line| indent(line).len());
    let first = block.added().find(|line| !line.trim().is_empty()).map(|line| indent(line.as_bytes()).len());
    let all_blank = block.added().all(|line| line.is_empty() || line.starts_with(' '));
    !removes && all_blank && first.is_some_and(|first| levels.any(|level| level + 1 == first))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::super::FindLimits;
    use super::*;
    use crate::text::Text;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn searching_finds_what_walking_finds(
            file in proptest::collection::vec("[ \t]{0,2}(abcd|abcde|bcda bcda|\\}|)[ \r]{0,2}", 0..30),
            place in 0..30usize,
            height in 0..4usize,
            starts in proptest::collection::vec((0..30usize, 0..30usize), 1..3),
            ending in prop_oneof![Just("\n"), Just("\r\n")],
            most in 1..5usize,
        ) {
            let text = Text::new(file.iter().map(|line| format!("{line}{ending}")).collect::<String>().into());
            let text = text.unwrap();
            let h = Haystack::new(&text);
            let height = height.min(file.len().saturating_sub(place));
            let wanted: Vec<&[u8]> = file.iter().skip(place).take(height).map(|line| line.trim().as_bytes()).collect();
            let starts: Vec<Range<usize>> = starts.into_iter().map(|(a, b)| a..b).collect();
            let budget = Budget::new(&FindLimits::default());
            type Same = fn(usize, &[u8], &[u8]) -> bool;
            let ways: [Same; 4] = [
                |_, file, wanted| file == wanted,
                |_, file, wanted| same_but_for_trailing_space(file, wanted),
                |_, file, wanted| file.trim_ascii() == wanted.trim_ascii(),
                |i, file, wanted| if i == 0 { file.trim_ascii_start() == wanted } else { file == wanted },
            ];
            for same in ways {
                let searched = starts_of_trimmed(&h, &wanted, &starts, most, &budget, same).unwrap();
                let walked = starts_of(&h, &wanted, &starts, most, &budget, same).unwrap();
                prop_assert_eq!(searched, walked);
            }
        }
    }

    #[test]
    fn lines_without_blank_context_at_their_edges_have_none_to_leave_out() {
        let edges = |request: &str| without_edge_blanks(&super::super::tests::hunk(request));
        let hunk = super::super::tests::hunk;
        assert_eq!(edges(" a\n \n-b\n"), None);
        assert_eq!(edges("-\n a\n+\n"), None, "only context is left out");
        assert_eq!(edges(" \n-a\n"), Some(hunk("-a\n")));
        assert_eq!(edges("-a\n \n \n"), Some(hunk("-a\n")));
        assert_eq!(edges(" \n \n-a\n \n"), Some(hunk("-a\n")));
        assert_eq!(edges(" \n \n"), Some(Vec::new()));
    }

    #[test]
    fn context_that_lost_its_marker_is_not_less_indented_than_what_is_added() {
        use super::super::tests::{hunk, read};
        let shallow = |request: &str| {
            let (lines, starts) = (hunk(request), [0..9]);
            is_shallow(&Block::new(&lines, &starts, BlockForm::Diff, &[]))
        };
        assert!(shallow("   a\n+ b\n   c\n"));
        assert!(!shallow("   a\n+  b\n   c\n") && !shallow("   a\n+   b\n c\n"));
        assert!(!shallow("   a\n-  b\n") && !shallow("+ b\n"), "blank or absent lines say nothing");
        let deep = "   one of it\n   two of it\n";
        assert_eq!(read(deep, "   one of it\n+ new\n   two of it\n"), None);
        // If all context lines lost their marker, added lines are taken as they are.
        let file = " one of it\n two of it\n";
        assert_eq!(
            read(file, " one of it\n+ new\n two of it\n"),
            Some(("bare-context", " one of it\n new\n two of it\n".into()))
        );
    }

    #[test]
    fn a_distinctive_line_has_four_letters_or_digits() {
        for (line, is_distinctive) in
            [("abcd", true), ("a1-b2", true), ("\u{e9}\u{e9}", true), ("abc", false), ("} + [] - {}", false)]
        {
            assert_eq!(has_substance(line.as_bytes()), is_distinctive, "{line}");
        }
        assert!(is_blank(b" \t") && is_blank(b"") && !is_blank(b" x"));
        assert_eq!([indent(b" \tx "), indent(b"x"), indent(b"  ")], [&b" \t"[..], b"", b"  "]);
    }

    #[test]
    fn added_lines_may_have_a_space_after_their_sign_where_context_has_lost_its_marker() {
        use super::super::tests::hunk;
        let is_too_deep = |request: &str| {
            let (lines, starts) = (hunk(request), [0..9]);
            has_a_blank_too_many(&Block::new(&lines, &starts, BlockForm::Diff, &[]))
        };
        assert!(is_too_deep(" a\n+ b\n c\n") && is_too_deep("   a\n+   b\n"));
        assert!(is_too_deep(" a\n+\n+ b\n"), "blank lines say nothing");
        assert!(!is_too_deep(" a\n+b\n") && !is_too_deep(" a\n+  b\n") && !is_too_deep("  a\n+ b\n"));
        assert!(!is_too_deep(" a\n- d\n+ b\n"), "the removed line shows what is meant");
        assert!(!is_too_deep(" a\n+ b\n+c\n"), "not every line has it");
        assert!(!is_too_deep(" a\n") && !is_too_deep(" a\n+\n"));
    }

    #[test]
    fn blank_lines_with_which_both_texts_end_are_context() {
        use super::super::tests::hunk;
        let ended = |request: &str| {
            let mut lines = hunk(request);
            end_with_context(&mut lines);
            lines
        };
        assert_eq!(ended(" a\n \n+b\n+\n"), hunk(" a\n+\n+b\n \n"));
        assert_eq!(ended(" a\n \n \n+b\n+\n+\n"), hunk(" a\n+\n+\n+b\n \n \n"));
        for stays in [" a\n \n", " a\n \n+b\n", " a\n+\n", " a\n-\n+b\n+\n", "+\n", ""] {
            assert_eq!(ended(stays), hunk(stays), "{stays:?}");
        }
    }

    #[test]
    fn a_first_line_that_lost_its_indentation_gets_it_back_with_the_line_that_replaces_it() {
        use super::super::tests::hunk;
        let indented = |request: &str| {
            let (lines, starts) = (hunk(request), [0..9]);
            Block::new(&lines, &starts, BlockForm::Block, &[]).with_first_indented(b"  ")
        };
        let rewritten = |lines: &str| Interpretation::Rewritten(hunk(lines));
        assert_eq!(indented(" a\n-b\n+c\n"), rewritten("   a\n-b\n+c\n"));
        assert_eq!(indented("-a\n-b\n+c\n+d\n e\n+f\n"), rewritten("-  a\n-b\n+  c\n+d\n e\n+f\n"));
        assert_eq!(indented("-a\n+c\n+ d\n"), rewritten("-  a\n+  c\n+ d\n"));
        assert_eq!(indented("-a\n b\n+ c\n"), rewritten("-  a\n b\n+ c\n"));
        for request in ["-a\n+ c\n", "-a\n+\tc\n", "+c\n a\n", "a\n"] {
            assert_eq!(indented(request), Interpretation::Unfit, "{request}");
        }
    }

    #[test]
    fn a_block_may_have_lost_the_indentation_of_its_first_line() {
        use super::super::tests::read_block;
        let file = "def f():\n    a = 1\n    b = 2\n";
        let exact = |lines: &str| Some(("exact", lines.into()));
        assert_eq!(
            read_block(file, "a = 1\n    b = 2\n", "a = 3\n    b = 4\n"),
            exact("    a = 3\n    b = 4\n")
        );
        assert_eq!(
            read_block(file, "a = 1\n    b = 2\n", "a = 1\n    b = 4\n"),
            exact("    a = 1\n    b = 4\n")
        );
        assert_eq!(read_block(file, "a = 1\n    b = 2\n", "    b = 2\n"), exact("    b = 2\n"));
        // The first new line is indented, so only the old one has lost it; or it is unclear which line is first.
        assert_eq!(read_block(file, "a = 1\n    b = 2\n", "    a = 3\n    b = 4\n"), None);
        assert_eq!(read_block(file, "a = 1\n    b = 2\n", "x\na = 1\n    b = 2\n"), None);
        // Another line may not differ, nor the first where it is not flat; blank lines do not count.
        assert_eq!(read_block(file, "a = 1\n   b = 2\n", "x\n"), None);
        assert_eq!(read_block(file, "  a = 1\n    b = 2\n", "  x\n"), None);
        let twice = [file, file].concat();
        assert_eq!(read_block(&twice, "a = 1\n    b = 2\n", "a = 3\n    b = 4\n"), None);
    }
}
