//! The layer `indentation`: the same lines, all indented more or less by one uniform amount.
//!
//! The amount is white space that every line has in addition or lacks, or tabs for spaces (or the reverse) by one width
//! that explains every line, or levels of another width. Places of all amounts are collected together, so that two places which differ only in
//! their indentation count as two. The added lines move by the same amount. If that is impossible, or if the request
//! shows no indentation at all though an added line opens a block, the place does not fit.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::block::{
    Block, BlockForm, added, are_in_file, bytes_of, has_substance, indent, is_blank, map_added, starts_of,
    starts_of_trimmed,
};
use super::{Budget, Candidate, Candidates, Haystack, Interpretation};
use crate::patch::Line;
use crate::problem::Kind;

/// The possible widths of a tab.
const WIDTHS: core::ops::RangeInclusive<usize> = 1..=8;
/// How many lines above and below a place show its levels.
const AROUND: usize = 30;
/// How many comparisons it costs to explain one line.
const EXPLAINED: usize = 8;

/// The difference of indentation between the file and the request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum IndentShift {
    /// The file has this much more.
    In(Vec<u8>),
    /// The request has this much more.
    Out(Vec<u8>),
    /// The file has one tab for this number of spaces.
    Tabs(usize),
    /// The file has this number of spaces for one tab.
    Spaces(usize),
    /// The file has levels of `to` spaces where the request has `from`. With `aligned`, a line that is deeper than the one
    /// above by another width keeps that distance.
    Scale { from: usize, to: usize, aligned: bool },
}

pub(super) fn indentation(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let old = block.old();
    if old.iter().all(|line| is_blank(line)) {
        return Ok(vec![]);
    }
    let (mut places, mut few_tabs) = (Vec::new(), None);
    let texts = block.lines.iter().filter_map(|line| line.before().or(line.after()));
    let of_request = level(texts.map(str::as_bytes));
    let same = |_: usize, file: &[u8], wanted: &[u8]| file.trim_ascii() == wanted.trim_ascii();
    for start in starts_of_trimmed(h, old, block.starts, usize::MAX, budget, same)? {
        budget.spend(old.len() * EXPLAINED)?;
        let pairs: Vec<(&[u8], &[u8])> = old
            .iter()
            .enumerate()
            .filter(|(_, wanted)| !is_blank(wanted))
            .map(|(i, wanted)| (indent(h.lines().content(start + i)), indent(wanted)))
            .collect();
        let mut shifts = shifts(&pairs);
        if let Some(from) = of_request {
            budget.spend(old.len() + 2 * AROUND)?;
            let mut scales = scales(h, from, start..start + old.len());
            scales.retain(|scale| scale.explains(&pairs));
            if !scales.is_empty() {
                shifts = scales;
            }
        }
        if shifts.is_empty() {
            continue;
        }
        let keeps_tabs = is_odd(&shifts, &pairs) && *few_tabs.get_or_insert_with(|| has_few_tabs(h));
        let interpretation = if keeps_tabs {
            Interpretation::Rewritten(with_the_lines_of_the_file(h, block, start))
        } else {
            interpretation(block, &shifts)
        };
        places.push(Candidate { range: bytes_of(h, start, old.len()), interpretation });
        if places.len() == most {
            break;
        }
    }
    if let [place] = &mut places[..]
        && is_meant_elsewhere(h, block, &place.range, budget)?
    {
        place.interpretation = Interpretation::Unfit;
    }
    Ok(places)
}

/// Returns whether the request, as it is indented, means another place, where its new lines already stand, or all its
/// context does and only its removed lines differ.
fn is_meant_elsewhere(
    h: &Haystack<'_>,
    block: &Block<'_>,
    found: &Range<usize>,
    budget: &Budget,
) -> Result<bool, Kind> {
    let new: Vec<&[u8]> = block.lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
    if block.added().any(|line| has_substance(line.as_bytes())) && are_in_file(h, &new, budget)? {
        return Ok(true);
    }
    let (old, stays) = (block.old(), block.is_context());
    let telling = (0..old.len()).any(|i| stays[i] && has_substance(old[i]));
    if !telling || stays.iter().all(|stays| *stays) {
        return Ok(false);
    }
    let context = |i: usize, file: &[u8], wanted: &[u8]| !stays[i] || file == wanted;
    let places = starts_of(h, old, &[0..h.lines().len()], 2, budget, context)?;
    Ok(places.iter().any(|&start| h.lines().start(start) != found.start))
}

/// The unit of indentation, tabs or spaces, that one hunk of a section reveals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndentUnit(IndentShift);

impl IndentUnit {
    /// Returns the unit that the lines of a hunk at this place reveal, if they explain one width.
    #[must_use]
    pub fn from_hunk(h: &Haystack<'_>, written: &[Line], place: &Range<usize>) -> Option<Self> {
        let first = h.lines().index_of(place.start);
        let old = written.iter().filter_map(Line::before).enumerate();
        let pairs: Vec<(&[u8], &[u8])> = old
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(i, line)| (indent(h.lines().content(first + i)), indent(line.as_bytes())))
            .collect();
        let mut shifts = if pairs.is_empty() { Vec::new() } else { shifts(&pairs) };
        shifts.retain(|shift| matches!(shift, IndentShift::Tabs(_) | IndentShift::Spaces(_)));
        let unit = shifts.pop().filter(|_| shifts.is_empty())?;
        Some(Self(unit))
    }

    /// Converts the added lines of a hunk whose old lines show no indentation; `None` for other hunks.
    #[must_use]
    pub fn apply_to(&self, lines: &[Line]) -> Option<Vec<Line>> {
        let flat = |line: &str| indent(line.as_bytes()).is_empty() || line.trim().is_empty();
        if !lines.iter().filter_map(Line::before).all(flat) {
            return None;
        }
        let moved = |text: &str| {
            let own = indent(text.as_bytes());
            reindented(text, &self.0.apply(own).unwrap_or_else(|| own.into()))
        };
        Some(map_added(lines, moved))
    }
}

/// Returns a line with this indentation.
fn reindented(line: &str, indentation: &[u8]) -> String {
    [&String::from_utf8_lossy(indentation), &line[indent(line.as_bytes()).len()..]].concat()
}

/// Returns every shift that explains all lines; each pair has the file's indentation and the request's.
fn shifts(pairs: &[(&[u8], &[u8])]) -> Vec<IndentShift> {
    let (file, wanted) = pairs[0];
    let uniform = if file.len() > wanted.len() {
        file.strip_suffix(wanted).map(|more| IndentShift::In(more.to_vec()))
    } else {
        wanted.strip_suffix(file).map(|more| IndentShift::Out(more.to_vec()))
    };
    let widths = WIDTHS.flat_map(|width| [IndentShift::Tabs(width), IndentShift::Spaces(width)]);
    uniform.into_iter().chain(widths).filter(|shift| shift.explains(pairs)).collect()
}

/// Returns whether few lines of the file begin with a tab.
fn has_few_tabs(h: &Haystack<'_>) -> bool {
    let count =
        |start: &[u8]| (0..h.lines().len()).filter(|at| h.lines().content(*at).starts_with(start)).count();
    2 * count(b"\t") <= count(b"  ")
}

/// Returns how levels of the request become levels of the lines around a place, if both have spaces, each one width, and
/// the two differ. An amount may explain one old level as well; but then the new levels would not be those of the lines around them.
fn scales(h: &Haystack<'_>, from: usize, place: Range<usize>) -> Vec<IndentShift> {
    let around = place.start.saturating_sub(AROUND)..(place.end + AROUND).min(h.lines().len());
    let is_level = |width: usize| matches!(width, 2 | 3 | 4 | 8);
    match level(around.map(|at| h.lines().content(at))) {
        Some(to) if from != to && is_level(from) && is_level(to) => {
            [false, true].map(|aligned| IndentShift::Scale { from, to, aligned }).into()
        }
        _ => Vec::new(),
    }
}

/// Returns by how many spaces lines are deeper than those above them, if that is one width for all.
fn level<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Option<usize> {
    let (mut width, mut last): (Option<usize>, Option<usize>) = (None, None);
    for line in lines.filter(|line| !is_blank(line)) {
        let own = indent(line);
        if own.contains(&b'\t') {
            return None;
        }
        let step = last.and_then(|last| own.len().checked_sub(last)).filter(|step| (2..9).contains(step));
        match (width, step) {
            (Some(width), Some(step)) if width != step => return None,
            _ => width = width.or(step),
        }
        // The keys of an item stand behind its dash.
        last = Some(own.len()).filter(|_| !line.trim_ascii_start().starts_with(b"- "));
    }
    width
}

/// Returns whether tabs explain only the smaller part of the lines that are indented by a tab or more, and the others are
/// equal: then an odd line of the file has one, and new lines stay as they are.
fn is_odd(shifts: &[IndentShift], pairs: &[(&[u8], &[u8])]) -> bool {
    shifts.iter().all(|shift| {
        let IndentShift::Tabs(width) = shift else { return false };
        let indented = pairs.iter().filter(|(_, wanted)| wanted.len() >= *width || wanted.len() > 3);
        let equal = indented.clone().filter(|(file, wanted)| file == wanted).count();
        2 * equal > indented.count()
    })
}

/// Returns the request with new lines that are equal to old ones as the file has those.
fn with_the_lines_of_the_file(h: &Haystack<'_>, block: &Block<'_>, start: usize) -> Vec<Line> {
    let file = |text: &str| match block.old().iter().position(|old| *old == text.as_bytes()) {
        Some(at) => String::from_utf8_lossy(h.lines().content(start + at)).into_owned(),
        None => text.into(),
    };
    map_added(block.lines, file)
}

impl IndentShift {
    /// Returns whether the shift explains each pair of the file's indentation and the request's, of which one differs.
    fn explains(&self, pairs: &[(&[u8], &[u8])]) -> bool {
        pairs.iter().any(|(file, wanted)| file != wanted)
            && self
                .apply_to_all(pairs.iter().map(|(_, wanted)| *wanted))
                .is_some_and(|all| all.iter().zip(pairs).all(|(own, (file, _))| own == file))
    }

    /// Returns the indentation in the file of lines that follow one another.
    fn apply_to_all<'l>(&self, wanted: impl Iterator<Item = &'l [u8]>) -> Option<Vec<Vec<u8>>> {
        let mut last: Option<(usize, usize)> = None;
        let one = |wanted: &'l [u8]| {
            let deeper = last.and_then(|(own, file)| Some((wanted.len().checked_sub(own)?, file)));
            let own = match (self, deeper) {
                (Self::Scale { from, aligned: true, .. }, Some((by, file))) if by > 0 && by != *from => {
                    b" ".repeat(file + by)
                }
                _ => self.apply(wanted)?,
            };
            last = Some((wanted.len(), own.len()));
            Some(own)
        };
        wanted.map(one).collect()
    }

    /// Returns the indentation in the file for this one in the request.
    fn apply(&self, wanted: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::In(more) => Some([more, wanted].concat()),
            Self::Out(more) => wanted.strip_prefix(&more[..]).map(<[u8]>::to_vec),
            Self::Tabs(width) => {
                let columns: usize = wanted.iter().map(|&b| if b == b'\t' { *width } else { 1 }).sum();
                Some([b"\t".repeat(columns / width), b" ".repeat(columns % width)].concat())
            }
            Self::Spaces(width) => {
                let columns = wanted.iter().map(|&b| if b == b'\t' { *width } else { 1 }).sum();
                Some(b" ".repeat(columns))
            }
            // The remainder aligns a line with the one above.
            Self::Scale { from, to, .. } => Some(b" ".repeat(wanted.len() / from * to + wanted.len() % from)),
        }
    }
}

/// Rewrites the request with its added lines moved. Several shifts may explain the old lines; they must agree about the
/// new ones.
fn interpretation(block: &Block<'_>, shifts: &[IndentShift]) -> Interpretation {
    if is_flat(block) && opens_a_block(block) {
        return Interpretation::Unfit;
    }
    let is_unclear = |shift: &IndentShift| match shift {
        IndentShift::In(more) => {
            is_moved_already(block, more.len() as isize) || only_the_first_may_be_flat(block)
        }
        IndentShift::Out(less) => is_moved_already(block, -(less.len() as isize)) || is_shallower(block),
        // A tab behind a space says nothing of levels.
        IndentShift::Tabs(_) | IndentShift::Spaces(_) => {
            block.added().any(|line| memchr::memmem::find(indent(line.as_bytes()), b" \t").is_some())
        }
        IndentShift::Scale { .. } => is_shallower(block),
    };
    if shifts.iter().any(is_unclear) {
        return Interpretation::Unfit;
    }
    let moved = |shift: &IndentShift| {
        // Lines of only white space are not moved, but tabs and spaces are converted in them too.
        let whole = matches!(shift, IndentShift::Tabs(_) | IndentShift::Spaces(_));
        let moves = |line: &&Line| matches!(line, Line::Added(text) if whole || !text.trim().is_empty());
        let shown = |line: &&Line| moves(line) || line.before().is_some_and(|text| !text.trim().is_empty());
        let texts = block.lines.iter().filter(shown).filter_map(|line| line.before().or(line.after()));
        let mut all = shift.apply_to_all(texts.map(|text| indent(text.as_bytes())))?.into_iter();
        let line = |line: &Line| match (line, if shown(&line) { all.next() } else { None }) {
            (Line::Added(text), Some(moved)) => Line::Added(reindented(text, &moved)),
            (line, _) => line.clone(),
        };
        Some(block.lines.iter().map(line).collect::<Vec<Line>>())
    };
    let mut readings: Vec<Option<Vec<Line>>> = shifts.iter().map(moved).collect();
    readings.dedup();
    match (readings.pop(), readings.is_empty()) {
        (Some(Some(lines)), true) => Interpretation::Rewritten(lines),
        _ => Interpretation::Unfit,
    }
}

/// Returns whether no line of the request is indented.
fn is_flat(block: &Block<'_>) -> bool {
    let texts = block.lines.iter().filter_map(|line| line.before().or(line.after()));
    texts.filter(|text| !text.trim().is_empty()).all(|text| indent(text.as_bytes()).is_empty())
}

/// Returns the least indentation of the lines with text.
fn least<'l>(lines: impl Iterator<Item = &'l str>) -> Option<usize> {
    lines.filter(|text| !text.trim().is_empty()).map(|text| indent(text.as_bytes()).len()).min()
}

/// Returns whether new lines already differ in indentation from those that they replace by exactly this amount: then
/// only the old lines may be indented wrongly, and moving the new ones would be wrong.
fn is_moved_already(block: &Block<'_>, by: isize) -> bool {
    let runs: Vec<&[Line]> = block.lines.chunk_by(|a, b| a.is_context() == b.is_context()).collect();
    let level = |line: Option<&Line>| least(line.and_then(Line::before).into_iter());
    let opens = |line: Option<&Line>| {
        let text = line.and_then(Line::before).unwrap_or_default();
        matches!(without_comment(text.as_bytes()).last(), Some(b':' | b'{'))
    };
    (0..runs.len()).any(|i| {
        let old = if runs[i].iter().any(|line| line.before().is_some()) {
            least(runs[i].iter().filter_map(Line::before))
        } else {
            // Both neighbours are on one level, and the new lines already where the file has that level.
            let before = i.checked_sub(1).and_then(|above| runs[above].last());
            let after = runs.get(i + 1).and_then(|below| below.first());
            level(before).filter(|own| Some(*own) == level(after) && !opens(before))
        };
        old.zip(least(added(runs[i]))).is_some_and(|(old, new)| new as isize == old as isize + by)
    })
}

/// Returns whether a new line is indented less than every old one: its indentation may be right as it is.
fn is_shallower(block: &Block<'_>) -> bool {
    let old = least(block.lines.iter().filter_map(Line::before));
    old.zip(least(block.added())).is_some_and(|(old, added)| added < old)
}

/// Returns whether a block of one old line may have lost only the indentation of its first line: then moving the other
/// lines would be wrong.
fn only_the_first_may_be_flat(block: &Block<'_>) -> bool {
    let telling = |text: fn(&Line) -> Option<&str>| {
        block.lines.iter().filter_map(text).filter(|text| !text.trim().is_empty()).count()
    };
    block.form == BlockForm::Block && telling(Line::before) == 1 && telling(Line::after) > 1
}

/// Returns whether an added line opens a block, whose lines belong deeper. An ending that an old line of a flat request
/// has too opens nothing: the row of a table, a sentence.
fn opens_a_block(block: &Block<'_>) -> bool {
    let old = block.old();
    let harmless =
        |ending: u8| old.iter().rev().skip(1).any(|line| without_comment(line).last() == Some(&ending));
    let added: Vec<&str> = block.added().filter(|line| !line.trim().is_empty()).collect();
    let opens = |line: &&str| {
        let line = without_comment(line.as_bytes());
        let scalar = line.trim_ascii_end().iter().rposition(|b| !matches!(b, b'-' | b'+' | b'0'..=b'9'));
        let folded = scalar.is_some_and(|at| matches!(line[at], b'|' | b'>') && line[..at].ends_with(b" "));
        let word_start = line.iter().rposition(|b| !b.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let keyword = matches!(
            &line[word_start..],
            b"then" | b"do" | b"else" | b"begin" | b"try" | b"of" | b"where" | b"with"
        );
        let ending = line.last().copied().unwrap_or_default();
        let opener = matches!(ending, b'{' | b'(' | b'[' | b':' | b'>' | b'|' | b'\\');
        folded || keyword || (opener && !harmless(ending))
    };
    // `- key: value`, and a further key of the same list item.
    let item = |pair: &[&str]| {
        pair[0].starts_with("- ")
            && pair[0].contains(':')
            && !pair[1].starts_with("- ")
            && pair[1].contains(':')
    };
    added.iter().any(opens) || added.windows(2).any(item)
}

/// Strips a comment at the end of a line.
fn without_comment(line: &[u8]) -> &[u8] {
    let at = [&b" #"[..], b" //"].iter().filter_map(|sign| memchr::memmem::find(line, sign)).min();
    line[..at.unwrap_or(line.len())].trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::tests::{hunk, read, refused};
    use super::*;
    use crate::find::FindLimits;
    use crate::find::block::BlockForm;
    use crate::text::Text;

    #[test]
    fn to_explain_a_place_costs_several_comparisons_for_each_line() {
        let text = Text::new(b"  a\n      b\n".repeat(1_000)).unwrap();
        let haystack = Haystack::new(&text);
        let (lines, starts) = (hunk("-a\n-b\n+c\n"), [0..haystack.lines().len()]);
        let block = Block::new(&lines, &starts, BlockForm::Diff, &[]);
        let found = |work| {
            let budget = Budget::new(&FindLimits { work, ..FindLimits::default() });
            indentation(&haystack, &block, 2, &budget)
        };
        assert_eq!(found(40_000).map(|places| places.len()), Ok(0));
        assert!(matches!(found(10_000), Err(Kind::WorkLimit { .. })));
    }

    #[test]
    fn new_lines_move_by_the_same_amount() {
        let file = "a:\n    if x:\n        y()\n";
        let placed = read(file, "-if x:\n-    y()\n+if z:\n+    y()\n+\n+    w()\n").unwrap();
        assert_eq!(placed, ("indentation", "    if z:\n        y()\n\n        w()\n".into()));
        let placed = read(file, "-        if x:\n-            y()\n+        z()\n").unwrap();
        assert_eq!(placed, ("indentation", "    z()\n".into()));
    }

    #[test]
    fn one_width_must_explain_every_line() {
        let file = "f {\n\tif x {\n\t\ty();\n\t\t * z\n\t}\n}\n";
        let request =
            "-    if x {\n-        y();\n-         * z\n-    }\n+    if w {\n+        v();\n+    }\n";
        assert_eq!(read(file, request).unwrap(), ("indentation", "\tif w {\n\t\tv();\n\t}\n".into()));
        assert!(refused(file, "-    if x {\n-       y();\n+    if w {\n"));
    }

    #[test]
    fn levels_of_another_width_become_those_of_the_file() {
        let file = "m {\n  a = 1\n  n {\n    b = 2\n  }\n}\n";
        let placed = |request: &str| read(file, request).map(|(_, new)| new);
        let nested = "     a = 1\n+    c = {\n+        d = 1\n+    }\n";
        assert_eq!(placed(nested).as_deref(), Some("  a = 1\n  c = {\n    d = 1\n  }\n"));
        assert_eq!(
            placed("     n {\n-        b = 2\n+        b = 3\n").as_deref(),
            Some("  n {\n    b = 3\n")
        );
        // The request has the levels of the file, and all of it is deeper.
        let moved = "     a = 1\n+    c = {\n+      d = 1\n+    }\n";
        assert_eq!(placed(moved).as_deref(), Some("  a = 1\n  c = {\n    d = 1\n  }\n"));
        // The second line may be aligned, or three levels deeper.
        let aligned = "     n {\n-        b = 2\n+        b = f(1,\n+                2)\n";
        assert_eq!(placed(aligned), None);
        let aligned = "     n {\n-        b = 2\n+        b = f(1,\n+              2)\n";
        assert_eq!(placed(aligned), None);
    }

    #[test]
    fn an_odd_tab_turns_no_other_line_into_tabs() {
        let file = "x\n    a\n\t b\n    c\ny\n";
        let request = " x\n-    a\n-         b\n-    c\n+        a\n+         b\n+        c\n y\n";
        assert_eq!(read(file, request).unwrap().1, "x\n        a\n\t b\n        c\ny\n");
        assert!(refused("f {\n\t28\n}\n", " f {\n- 28\n+ \t28\n }\n"), "a tab behind a space");
    }

    #[test]
    fn an_amount_that_is_not_uniform_does_not_match() {
        assert!(refused("if x:\n    y()\n    z()\n", "-  if x:\n-    y()\n+  if w:\n"));
    }

    #[test]
    fn places_at_different_depths_are_rivals() {
        assert!(refused("  a();\nb();\n    a();\n", "-   a();\n+   c();\n"));
    }

    #[test]
    fn a_new_line_with_too_little_indentation_is_refused() {
        assert!(refused("a:\n  b\n", "-      b\n+      c\n+ d\n"));
    }

    #[test]
    fn what_is_meant_elsewhere_is_not_moved_here() {
        let file = "a:\n    - uses: x@v2\n      with: q\nb:\n  k:\n      - uses: x@v1\n        with: q\n";
        let request = "-    - uses: x@v1\n+    - uses: x@v2\n       with: q\n";
        assert!(refused(file, request), "made before");
        assert!(refused(&file.replace("v2", "v3"), request), "the target has changed");
        let other = "c:\nb:\n  k:\n      - uses: x@v1\n        with: q\n";
        assert!(read(other, request).is_some());
    }

    #[test]
    fn new_lines_that_have_the_lost_indentation_are_not_moved_again() {
        assert!(refused("if x:\n  a()\n", "-a()\n+  b()\n"));
        assert!(read("if x:\n  a()\n", "-a()\n+b()\n").is_some());
    }

    #[test]
    fn a_flat_request_must_not_open_a_block() {
        assert!(refused("def f():\n    x = 1\n", "-x = 1\n+if y:\n+x = 2\n"));
        assert!(read("def f():\n    x = 1\n    y = 2\n", "-x = 1\n-y = 2\n+x = 2\n").is_some());
    }

    #[test]
    fn new_lines_that_stand_deeper_by_just_so_much_are_moved_already() {
        use super::super::block::{Block, BlockForm};
        let is_moved = |request: &str, by: isize| {
            let (lines, starts) = (super::super::tests::hunk(request), [0..9]);
            super::is_moved_already(&Block::new(&lines, &starts, BlockForm::Diff, &[]), by)
        };
        assert!(is_moved("-a\n+  b\n", 2) && is_moved("-   a\n+ b\n", -2));
        assert!(!is_moved("-a\n+  b\n", -2) && !is_moved("-a\n+  b\n", 4) && !is_moved("-a\n+  b\n", 0));
        // The least indentation of each side counts, and blank lines do not.
        assert!(is_moved("-    a\n-  a\n+\n+    b\n+      b\n", 2));
        // The insertion stands between two lines of one level.
        let insertion = " a\n+    b\n+      c\n d\n";
        assert!(is_moved(insertion, 4) && !is_moved(insertion, 2) && !is_moved(insertion, -4));
        for request in [
            " a:\n+    b\n d\n",
            " a: # why\n+    b\n d\n",
            " a {\n+    b\n d\n",
            " a\n+    b\n   d\n",
            " a\n+    b\n",
            "+    b\n d\n",
            " \n+    b\n \n",
        ] {
            assert!(!is_moved(request, 4), "{request}");
        }
    }

    fn ask<T>(request: &str, form: super::BlockForm, ask: fn(&super::Block<'_>) -> T) -> T {
        let (lines, starts) = (super::super::tests::hunk(request), [0..9]);
        ask(&super::Block::new(&lines, &starts, form, &[]))
    }

    #[test]
    fn a_new_line_opens_a_block_by_its_end() {
        let opens = |request: &str| ask(request, super::BlockForm::Diff, super::opens_a_block);
        for line in [
            "if x:",
            "f {",
            "f(",
            "[",
            "<a>",
            "x |",
            "x \\",
            "if x then",
            "do",
            "x: |",
            "x: >-",
            "x: |2",
            "x: # why",
            "f { // why",
        ] {
            assert!(opens(&alloc::format!("-a\n+{line}\n")), "{line}");
        }
        for line in ["x", "f()", "x = {}", "undo", "a>1", "x|2", "x |y"] {
            assert!(!opens(&alloc::format!("-a\n+{line}\n")), "{line}");
        }
        // An ending that an old line above another has opens nothing.
        assert!(!opens("-<a>\n-<b>\n+<c>\n") && opens("-a\n-<b>\n+<c>\n"));
        // A further key of the same item of a list belongs deeper.
        assert!(opens("-a\n+- b: c\n+d: e\n"));
        assert!(
            !opens("-a\n+- b: c\n+- d: e\n") && !opens("-a\n+- b\n+d: e\n") && !opens("-a\n+- b: c\n+d\n")
        );
        assert!(!opens("-a\n+b: c\n+d: e\n") && !opens(" if x:\n-a\n"));
    }

    #[test]
    fn only_one_old_line_with_text_may_be_flat_alone() {
        let may = |request: &str, form| ask(request, form, super::only_the_first_may_be_flat);
        let block = super::BlockForm::Block;
        assert!(may("-a\n+b\n+c\n", block) && may("-a\n-\n+b\n+\n+c\n", block));
        assert!(!may("-a\n+b\n", block) && !may("-a\n-d\n+b\n+c\n", block) && !may("-a\n+b\n+\n", block));
        assert!(!may("-a\n+b\n+c\n", super::BlockForm::Diff));
    }

    #[test]
    fn a_new_line_is_shallower_than_every_old_one_or_not() {
        let is_shallower = |request: &str| ask(request, super::BlockForm::Diff, super::is_shallower);
        assert!(is_shallower("-  a\n-   b\n+ c\n+    d\n"));
        assert!(
            !is_shallower("-  a\n+  b\n") && !is_shallower("-  a\n- b\n+ c\n") && !is_shallower("-  a\n+\n")
        );
        let is_flat = |request: &str| ask(request, super::BlockForm::Diff, super::is_flat);
        assert!(is_flat("-a\n+b\n+  \n") && !is_flat("-a\n+ b\n") && !is_flat("- a\n+b\n"));
    }

    #[test]
    fn tabs_and_spaces_are_converted_by_the_width_that_the_lines_show() {
        use super::IndentShift::{In, Out, Spaces, Tabs};
        let shifts = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(&[u8], &[u8])> =
                pairs.iter().map(|(file, wanted)| (file.as_bytes(), wanted.as_bytes())).collect();
            super::shifts(&pairs)
        };
        assert_eq!(shifts(&[("    ", "  "), ("  ", "")]), [In(b"  ".into())]);
        assert_eq!(shifts(&[("", "  "), ("  ", "    ")]), [Out(b"  ".into())]);
        assert_eq!(shifts(&[("\t", "    "), ("\t\t", "        ")]), [Tabs(4)]);
        assert_eq!(shifts(&[("\t ", "   ")]), [Tabs(2)]);
        assert_eq!(shifts(&[("    ", "\t"), ("     ", "\t ")]), [Spaces(4)]);
        assert_eq!(shifts(&[("  ", "  ")]), [], "nothing differs");
        assert_eq!(shifts(&[("    ", "  "), ("   ", "")]), [], "not by one amount");
        assert_eq!(shifts(&[("\t", "    "), ("\t\t", "      ")]), [], "not by one width");
        // One tab for one space, or one more.
        assert_eq!(shifts(&[("\t", " ")]), [Tabs(1)]);
    }

    #[test]
    fn the_unit_that_one_hunk_shows_converts_the_new_lines_of_a_flat_one() {
        use super::super::tests::hunk;
        use super::IndentShift::{Spaces, Tabs};
        let (tabs, spaces) = (super::IndentUnit(Tabs(4)), super::IndentUnit(Spaces(2)));
        assert_eq!(tabs.apply_to(&hunk(" a\n-b\n+c\n+      d\n")), Some(hunk(" a\n-b\n+c\n+\t  d\n")));
        assert_eq!(spaces.apply_to(&hunk(" a\n+\tb\n")), Some(hunk(" a\n+  b\n")));
        assert_eq!(
            tabs.apply_to(&hunk("   \n+    b\n")),
            Some(hunk("   \n+\tb\n")),
            "a blank line shows nothing"
        );
        assert_eq!(tabs.apply_to(&hunk("  a\n+    b\n")), None, "the hunk shows an indentation");
    }
}
