//! The layer `context-drift`: the removed lines match at one place, but a few context lines around them differ.
//!
//! This is the only layer that tolerates other words, so everything that changes must be certain: removed lines are
//! equal and adjacent, and an insertion stands between two adjacent equal lines. At most a third of the context may
//! differ (one line always may); additional lines of the file count too. The place is refused if
//!
//! - another place has as many of the request's distinctive lines, or more of its context, within a few lines of drift;
//! - the added lines, or all lines of the result, already stand in the file: the request was probably made before;
//! - a missing context line is equal to one that must match: which of the two the file has is a guess;
//! - a line differs only in white space, escapes or entities: then the new text has the same fault.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::block::{Block, added, are_in_file, bytes_of, has_substance};
use super::{Budget, Candidate, Candidates, Haystack, Interpretation};
use crate::patch::Line;
use crate::problem::Kind;

/// How far a context line may stand from where the request has it.
const DRIFT: usize = 6;
/// How often a line may occur to be a starting point.
const COMMON: usize = 1_000;
/// The number of equal lines elsewhere above which a rival is assumed.
const VOTES: usize = 1_000_000;
/// How often a line may occur in the file to show that a place nearly has a block.
const RARE: usize = 3;
/// How many distinctive lines must match at the place.
const PROOF: usize = 2;

pub(super) fn context_drift(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let Some(core) = RequiredLines::from_block(block) else { return Ok(vec![]) };
    let old = block.old();
    if memmem::find(h.text().bytes(), old[core.start]).is_none() {
        return Ok(vec![]);
    }
    let equal: Vec<usize> = block
        .starts
        .iter()
        .flat_map(|range| range.start..(range.end + old.len()).min(h.lines().len()))
        .filter(|&at| h.lines().content(at) == old[core.start])
        .take(COMMON + 1)
        .collect();
    budget.spend(h.lines().len())?;
    if equal.len() > COMMON {
        return Ok(vec![]);
    }
    let may_start = |aligned: &Alignment| block.starts.iter().any(|range| range.contains(&aligned.span().0));
    let mut found: Vec<Alignment> = Vec::new();
    for at in equal {
        budget.spend(old.len() * (2 * DRIFT + 1) * 2)?;
        let Some(aligned) = core.align(h, old, at).filter(may_start) else { continue };
        if found.iter().all(|other| other.at != aligned.at) {
            found.push(aligned);
        }
        if found.len() == most {
            break;
        }
    }
    let alone = found.len() == 1;
    let place = |aligned: Alignment| {
        let fits = !alone || certain(h, block, &core, &aligned, budget)?;
        let (first, last) = aligned.span();
        let interpretation = if fits { interpretation(h, block, &aligned) } else { Interpretation::Unfit };
        Ok(Candidate { range: bytes_of(h, first, last + 1 - first), interpretation })
    };
    found.into_iter().map(place).collect()
}

/// The lines of a block that must match exactly.
struct RequiredLines<'a> {
    /// Which old lines must match.
    must: Vec<bool>,
    /// The removed lines that are not blank.
    removed: BTreeSet<&'a [u8]>,
    /// Which old lines are followed immediately by the next one.
    joined: Vec<bool>,
    /// The old line to search for first.
    start: usize,
    /// How many context lines may differ.
    may_differ: usize,
}

impl<'a> RequiredLines<'a> {
    /// Returns `None` for a block without context, or without a distinctive line that must match.
    fn from_block(block: &Block<'a>) -> Option<Self> {
        let old = block.old();
        let mut must = vec![false; old.len()];
        let mut joined = vec![false; old.len()];
        let mut at = 0;
        let mut contexts = 0;
        for run in block.lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
            if run[0].is_context() {
                at += run.len();
                contexts += run.len();
                continue;
            }
            let gone = run.iter().filter(|line| line.before().is_some()).count();
            if gone == 0 {
                // Both neighbours of an insertion must match.
                if at == 0 || at == old.len() {
                    return None;
                }
                (must[at - 1], must[at], joined[at - 1]) = (true, true, true);
            }
            for line in at..at + gone {
                must[line] = true;
                joined[line] = line + 1 < at + gone;
            }
            at += gone;
        }
        let certain = (0..old.len()).filter(|&i| must[i] && has_substance(old[i]));
        let start = certain.max_by_key(|&i| old[i].trim_ascii().len())?;
        let is_removed = |line: &&'a Line| matches!(line, Line::Removed(text) if !text.trim().is_empty());
        let removed = block.lines.iter().filter(is_removed).filter_map(Line::before).map(str::as_bytes);
        let may_differ = (contexts / 3).max(1);
        (contexts > 0).then_some(Self { must, removed: removed.collect(), joined, start, may_differ })
    }

    /// Aligns the block around this line of the file, if it fits well enough.
    fn align(&self, h: &Haystack<'_>, old: &[&[u8]], at: usize) -> Option<Alignment> {
        let lines = h.lines();
        let total = lines.len();
        let row = |i: usize, joined: bool| RequestRow { text: old[i], must: self.must[i], joined };
        let after: Vec<RequestRow<'_>> =
            (self.start + 1..old.len()).map(|i| row(i, self.joined[i - 1])).collect();
        let before: Vec<RequestRow<'_>> = (0..self.start).rev().map(|i| row(i, self.joined[i])).collect();
        let (below, cost_below) = walk(&after, |j| (at + 1 + j < total).then(|| lines.content(at + 1 + j)))?;
        let (above, cost_above) = walk(&before, |j| at.checked_sub(j + 1).map(|i| lines.content(i)))?;
        if cost_below + cost_above > self.may_differ {
            return None;
        }
        let above = above.into_iter().rev().map(|j| j.map(|j| at - 1 - j));
        let below = below.into_iter().map(|j| j.map(|j| at + 1 + j));
        Some(Alignment { at: above.chain([Some(at)]).chain(below).collect() })
    }

    /// Returns whether a line that must match occurs again within reach, or is equal to a missing line of the request:
    /// then the choice between them is a guess.
    fn has_choice(&self, h: &Haystack<'_>, old: &[&[u8]], aligned: &Alignment) -> bool {
        let musts: BTreeSet<&[u8]> =
            (0..old.len()).filter(|&i| self.must[i] && has_substance(old[i])).map(|i| old[i]).collect();
        aligned.free_lines(h, DRIFT).any(|at| musts.contains(h.lines().content(at)))
            || aligned.missing().any(|i| musts.contains(old[i]) || self.removed.contains(old[i]))
    }
}

/// The line of the file for each old line of a block; `None` for missing ones.
struct Alignment {
    at: Vec<Option<usize>>,
}

impl Alignment {
    /// Returns the first and the last line of the file that the alignment covers.
    fn span(&self) -> (usize, usize) {
        let mut stand = self.at.iter().flatten();
        let first = stand.next().copied().unwrap_or_default();
        (first, stand.next_back().copied().unwrap_or(first))
    }

    /// Returns the lines of the file on which no old line stands, so many lines around those that the alignment covers.
    fn free_lines(&self, h: &Haystack<'_>, reach: usize) -> impl Iterator<Item = usize> {
        let (first, last) = self.span();
        let taken: Vec<usize> = self.at.iter().flatten().copied().collect();
        let around = first.saturating_sub(reach)..(last + 1 + reach).min(h.lines().len());
        around.filter(move |at| taken.binary_search(at).is_err())
    }

    /// Returns the old lines that the file lacks.
    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.at.len()).filter(|&i| self.at[i].is_none())
    }
}

/// An old line, in the order of a walk through the file.
struct RequestRow<'a> {
    text: &'a [u8],
    must: bool,
    /// Whether it must be adjacent to the previous line of the walk.
    joined: bool,
}

/// Finds the cheapest alignment of these rows with the lines that follow, and its cost: one for each missing row, each
/// skipped line, and each line that replaces a row.
fn walk<'f>(
    rows: &[RequestRow<'_>],
    file: impl Fn(usize) -> Option<&'f [u8]>,
) -> Option<(Vec<Option<usize>>, usize)> {
    const FAR: usize = usize::MAX / 2;
    // Among equal costs, the alignment that finds more rows wins, however long the block.
    const DIFFERENT: usize = 1 << 24;
    const LOST: usize = DIFFERENT + 1;
    let width = 2 * DRIFT + 1;
    // cost[i][k]: the first i rows against the first i + k - DRIFT lines.
    let mut cost = vec![vec![FAR; width]; rows.len() + 1];
    let lines_at = |i: usize, k: usize| (i + k).checked_sub(DRIFT);
    // Lines may be skipped before the first row, unless it must be adjacent.
    for (k, cell) in cost[0].iter_mut().enumerate().skip(DRIFT) {
        if k == DRIFT || rows.first().is_some_and(|row| !row.joined) {
            *cell = (k - DRIFT) * DIFFERENT;
        }
    }
    let mut steps = vec![vec![DriftStep::Match; width]; rows.len() + 1];
    for (i, row) in rows.iter().enumerate() {
        let next_joined = rows.get(i + 1).is_some_and(|next| next.joined);
        for k in 0..width {
            let Some(j) = lines_at(i + 1, k) else { continue };
            let line = j.checked_sub(1).and_then(&file);
            let mut best = (FAR, DriftStep::Match);
            let mut offer = |cost: usize, step: DriftStep| {
                if cost < best.0 {
                    best = (cost, step);
                }
            };
            if let Some(line) = line {
                if line == row.text {
                    offer(cost[i][k], DriftStep::Match);
                } else if !row.must {
                    offer(cost[i][k].saturating_add(LOST), DriftStep::Other);
                }
            }
            if !row.must && k + 1 < width {
                offer(cost[i][k + 1].saturating_add(LOST), DriftStep::Missing);
            }
            if k > 0 && line.is_some() && !next_joined {
                offer(cost[i + 1][k - 1].saturating_add(DIFFERENT), DriftStep::Passed);
            }
            (cost[i + 1][k], steps[i + 1][k]) = best;
        }
    }
    // Among the cheapest ends, the one nearest to the expected line.
    let ends = (0..width).filter(|&k| cost[rows.len()][k] < FAR);
    let mut k = ends.min_by_key(|&k| (cost[rows.len()][k], k.abs_diff(DRIFT)))?;
    let total = cost[rows.len()][k];
    let mut stand = vec![None; rows.len()];
    let mut i = rows.len();
    while i > 0 {
        match steps[i][k] {
            DriftStep::Match => {
                stand[i - 1] = lines_at(i, k).and_then(|j| j.checked_sub(1));
                i -= 1;
            }
            DriftStep::Other => i -= 1,
            DriftStep::Missing => {
                i -= 1;
                k += 1;
            }
            DriftStep::Passed => k -= 1,
        }
    }
    Some((stand, total / DIFFERENT))
}

#[derive(Clone, Copy)]
enum DriftStep {
    /// The row matches the line.
    Match,
    /// The file has another line in place of the row.
    Other,
    /// The file lacks the row.
    Missing,
    /// The file has a line that the request lacks.
    Passed,
}

/// Returns whether nothing speaks against this place.
fn certain(
    h: &Haystack<'_>,
    block: &Block<'_>,
    core: &RequiredLines<'_>,
    aligned: &Alignment,
    budget: &Budget,
) -> Result<bool, Kind> {
    let old = block.old();
    let is_context = block.is_context();
    let matched: Vec<usize> =
        (0..old.len()).filter(|&i| aligned.at[i].is_some() && has_substance(old[i])).collect();
    let own = Score { lines: matched.len(), context: matched.iter().filter(|&&i| is_context[i]).count() };
    Ok(own.lines >= PROOF
        && !core.has_choice(h, old, aligned)
        && !differs_in_spelling_alone(h, old, aligned)
        && !adds_what_it_passes(h, block, aligned)
        && !uses_a_missing_word(h, block, aligned)
        && !stands_already(h, block, budget)?
        && !is_made_already(h, block, budget)?
        && !has_rival(h, old, &is_context, aligned, own, budget)?)
}

/// Returns whether a missing line resembles a skipped one too much.
fn differs_in_spelling_alone(h: &Haystack<'_>, old: &[&[u8]], aligned: &Alignment) -> bool {
    let passed: Vec<String> = aligned
        .free_lines(h, DRIFT)
        .map(|at| plain(h.lines().content(at)))
        .filter(|text| !text.is_empty())
        .collect();
    // A bare elision stands for unknown lines.
    aligned.missing().map(|i| plain(old[i])).any(|text| text == "..." || passed.contains(&text))
}

/// Returns whether an added line is one of the file's that the request lacks: it would be there twice.
fn adds_what_it_passes(h: &Haystack<'_>, block: &Block<'_>, aligned: &Alignment) -> bool {
    let passed: BTreeSet<&[u8]> =
        aligned.free_lines(h, 0).map(|at| h.lines().content(at).trim_ascii()).collect();
    let mut added = block.added().map(|line| line.as_bytes().trim_ascii());
    added.any(|line| !line.is_empty() && passed.contains(line))
}

/// Returns whether an added line has a word of a missing line that is nowhere in the file: what it names may have another
/// name by now.
fn uses_a_missing_word(h: &Haystack<'_>, block: &Block<'_>, aligned: &Alignment) -> bool {
    let words = |line: &[u8]| -> BTreeSet<Vec<u8>> {
        let words = line.split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') || *b >= 0x80));
        words.filter(|word| word.len() > 2).map(<[u8]>::to_vec).collect()
    };
    let missing: BTreeSet<Vec<u8>> = aligned.missing().flat_map(|i| words(block.old()[i])).collect();
    let mut used = block.added().flat_map(|line| words(line.as_bytes()));
    let is_gone = |word: &Vec<u8>| memmem::find(h.text().bytes(), word).is_none();
    used.any(|word| missing.contains(&word) && is_gone(&word))
}

/// Strips a line of what is often lost or added in transit: white space and the signs that show it, escapes, entities.
fn plain(line: &[u8]) -> String {
    let mut text = unescaped(&String::from_utf8_lossy(line)).replace("\\n", "").replace("\\t", "");
    for (entity, c) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&")]
    {
        if text.contains(entity) {
            text = text.replace(entity, c);
        }
    }
    text.retain(|c| !c.is_whitespace() && !matches!(c, '\\' | '\u{b7}' | '\u{2192}'));
    text
}

/// Replaces `\uXXXX` and `\xXX` by their characters.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let escape = [("\\u", 4), ("\\x", 2)].into_iter().find_map(|(mark, digits)| {
            let hex = rest.strip_prefix(mark)?.get(..digits)?;
            // A sign would be read as part of the number.
            let is_hex = hex.bytes().all(|digit| digit.is_ascii_hexdigit());
            let c = char::from_u32(u32::from_str_radix(hex, 16).ok().filter(|_| is_hex)?)?;
            Some((c, mark.len() + digits))
        });
        let (c, length) = escape.unwrap_or(('\\', 1));
        plain.push(c);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

/// Returns whether the lines of an added run stand together somewhere in the file.
fn stands_already(h: &Haystack<'_>, block: &Block<'_>, budget: &Budget) -> Result<bool, Kind> {
    for run in block.lines.split(|line| line.before().is_some()) {
        let added: Vec<&[u8]> = added(run).map(str::as_bytes).collect();
        if added.iter().any(|line| has_substance(line)) && are_in_file(h, &added, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether all lines of the result, context included, already stand together in the file.
fn is_made_already(h: &Haystack<'_>, block: &Block<'_>, budget: &Budget) -> Result<bool, Kind> {
    let after: Vec<&[u8]> = block.lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
    let telling = after.iter().filter(|line| has_substance(line)).count();
    Ok(telling >= PROOF && are_in_file(h, &after, budget)?)
}

/// Returns whether as many distinctive lines stand near each other elsewhere, or more of the context.
fn has_rival(
    h: &Haystack<'_>,
    old: &[&[u8]],
    is_context: &[bool],
    aligned: &Alignment,
    score: Score,
    budget: &Budget,
) -> Result<bool, Kind> {
    // A block whose lines occur everywhere has a rival.
    let Some(votes) = votes(h, old, aligned.free_lines(h, h.lines().len()), budget)? else { return Ok(true) };
    let of_context: Vec<Vote> = votes.iter().copied().filter(|vote| is_context[vote.1]).collect();
    let most = |votes: &[Vote]| most_together(votes, old.len(), 2 * DRIFT).map_or(0, |(_, rows)| rows);
    Ok(most(&votes) >= score.lines || most(&of_context) > score.context)
}

/// A line of the file that is equal to a distinctive line of a block: the line on which the block would start, counted from
/// `old.len()` before the file, and the row in the block.
type Vote = (usize, usize);

/// Returns the votes of these lines of the file, sorted; `None` if there are too many.
fn votes(
    h: &Haystack<'_>,
    old: &[&[u8]],
    lines: impl Iterator<Item = usize>,
    budget: &Budget,
) -> Result<Option<Vec<Vote>>, Kind> {
    let mut rows: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (i, line) in old.iter().enumerate().filter(|(_, line)| has_substance(line)) {
        rows.entry(line).or_default().push(i);
    }
    let mut votes: Vec<Vote> = Vec::new();
    for at in lines {
        budget.spend(0)?;
        for &row in rows.get(h.lines().content(at)).map_or(&[][..], Vec::as_slice) {
            budget.spend(8)?;
            votes.push((at + old.len() - row, row));
            if votes.len() > VOTES {
                return Ok(None);
            }
        }
    }
    votes.sort_unstable();
    Ok(Some(votes))
}

/// Returns where most rows stand together, so that their starts differ by no more than `reach`, and how many do.
fn most_together(votes: &[Vote], rows: usize, reach: usize) -> Option<(usize, usize)> {
    let mut counts = vec![0usize; rows];
    let (mut there, mut low, mut most) = (0, 0, None);
    for &(start, row) in votes {
        while votes[low].0 + reach < start {
            counts[votes[low].1] -= 1;
            there -= usize::from(counts[votes[low].1] == 0);
            low += 1;
        }
        there += usize::from(counts[row] == 0);
        counts[row] += 1;
        if most.is_none_or(|(_, most)| there > most) {
            most = Some((start, there));
        }
    }
    most
}

/// How much of a block a named place must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Half of its distinctive lines, about where it would have them: the place is a block.
    Half,
    /// All but one of its distinctive lines, and three, just where it has them: the place is a line, and numbers are often
    /// wrong.
    Almost,
}

/// Returns the line on which a block nearly stands that starts in one of these ranges, beside the `found` lines.
pub fn nearly_in(
    h: &Haystack<'_>,
    old: &[&[u8]],
    starts: &[Range<usize>],
    found: &Range<usize>,
    nearness: Nearness,
    budget: &Budget,
) -> Result<Option<usize>, Kind> {
    let total = h.lines().len();
    let stands = |start: usize| {
        let rows =
            (start..total).zip(old).filter(|(at, row)| has_substance(row) && h.lines().content(*at) == **row);
        rows.count()
    };
    // Most numbers that are wrong are beside nothing like the block.
    if nearness == Nearness::Almost && starts.iter().all(|range| stands(range.start) < 3) {
        return budget.spend(old.len()).map(|()| None);
    }
    let lines: BTreeSet<usize> = starts
        .iter()
        .flat_map(|range| range.start..range.end.saturating_add(old.len()).saturating_sub(1).min(total))
        .filter(|at| !found.contains(at))
        .collect();
    // Lines that recur throughout the file prove nothing.
    let mut rare: BTreeMap<&[u8], usize> =
        old.iter().filter(|line| has_substance(line)).map(|line| (*line, 0)).collect();
    budget.spend(total)?;
    for at in 0..total {
        if let Some(count) = rare.get_mut(h.lines().content(at)) {
            *count += 1;
        }
    }
    rare.retain(|_, count| *count <= RARE);
    let telling = old.iter().filter(|line| rare.contains_key(*line)).count();
    let (reach, least) = match nearness {
        Nearness::Half => (2, telling.div_ceil(2).max(1)),
        Nearness::Almost => (0, telling.saturating_sub(1).max(3)),
    };
    let mut votes = votes(h, old, lines.into_iter(), budget)?.unwrap_or_default();
    votes.retain(|(start, row)| {
        let start = start.saturating_sub(old.len());
        rare.contains_key(old[*row])
            && starts
                .iter()
                .any(|range| (range.start.saturating_sub(reach)..range.end + reach).contains(&start))
    });
    let most = most_together(&votes, old.len(), reach).filter(|(_, rows)| *rows >= least);
    Ok(most.map(|(start, _)| start.saturating_sub(old.len())))
}

/// How many of the request's distinctive lines stand at a place.
#[derive(Clone, Copy, Default)]
struct Score {
    lines: usize,
    /// The number of context lines among them.
    context: usize,
}

/// Rewrites the request with the file's context.
fn interpretation(h: &Haystack<'_>, block: &Block<'_>, aligned: &Alignment) -> Interpretation {
    let (first, _) = aligned.span();
    let mut lines = Vec::new();
    let mut row = 0;
    let mut at = first;
    // Adds the file's lines up to this one as context.
    let catch_up = |lines: &mut Vec<Line>, at: &mut usize, to: usize| {
        let context = |i: usize| Line::Context(String::from_utf8_lossy(h.lines().content(i)).into_owned());
        lines.extend((*at..to).map(context));
        *at = (*at).max(to);
    };
    for run in block.lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
        let old = run.iter().filter(|line| line.before().is_some()).count();
        if !run[0].is_context() && old > 0 {
            let Some(to) = aligned.at[row] else { return Interpretation::Unfit };
            catch_up(&mut lines, &mut at, to);
        }
        for line in run {
            if line.before().is_none() {
                lines.push(line.clone());
                continue;
            }
            if let Some(stands) = aligned.at[row] {
                catch_up(&mut lines, &mut at, stands);
                lines.push(line.clone());
                at = stands + 1;
            }
            row += 1;
        }
    }
    Interpretation::Rewritten(lines)
}

#[cfg(test)]
mod tests {
    mod naive;

    use super::super::tests::{read, refused};
    use alloc::string::String;

    const FILE: &str = "fn start() {\n    // Open it.\n    let a = open(1);\n    let b = a.next();\n    close(a);\n    done(b);\n}\n";

    fn drifted(request: &str) -> Option<String> {
        let (layer, new) = read(FILE, request)?;
        assert_eq!(layer, "context-drift");
        Some(new)
    }

    #[test]
    fn a_line_of_the_context_may_be_misremembered_missing_or_too_much() {
        let expected = FILE.replace("close(a)", "shut(a)");
        for request in [
            "     let a = open(2);\n     let b = a.next();\n-    close(a);\n+    shut(a);\n     done(b);\n",
            "     // Open it.\n     let b = a.next();\n-    close(a);\n+    shut(a);\n     done(b);\n",
            "     let b = a.next();\n-    close(a);\n+    shut(a);\n     log(b);\n     done(b);\n",
        ] {
            assert_eq!(drifted(request).as_deref(), Some(&expected[..]), "{request}");
        }
    }

    #[test]
    fn removed_lines_and_the_neighbours_of_an_insertion_must_be_equal() {
        assert!(refused(FILE, "     let b = a.next();\n-    close(b);\n+    shut(a);\n     done(b);\n"));
        assert!(refused(
            FILE,
            "     let a = open(2);\n+    check(a);\n     let b = a.next();\n     close(a);\n"
        ));
        let insertion = "     // Close it.\n     let a = open(1);\n+    check(a);\n     let b = a.next();\n     close(a);\n";
        assert!(drifted(insertion).is_some());
    }

    #[test]
    fn too_much_drift_is_no_match() {
        assert!(refused(
            FILE,
            "     let a = open(2);\n     let b = a.last();\n-    close(a);\n+    shut(a);\n"
        ));
    }

    #[test]
    fn another_place_with_as_many_lines_is_a_rival() {
        let twin = FILE.replace("close(a)", "close(c)");
        let request =
            "     let a = open(9);\n     let b = a.next();\n-    close(a);\n+    shut(a);\n     done(b);\n";
        assert!(read(&[FILE, &twin].concat(), request).is_some());
        let request =
            "     let a = open(1);\n     let b = a.first();\n-    close(a);\n+    shut(a);\n     done(c);\n";
        assert!(refused(&[FILE, &twin].concat(), request));
    }

    #[test]
    fn a_place_with_more_of_the_context_is_a_rival_without_the_removed_lines() {
        let first = FILE.replace("close(a)", "hand(a)");
        let request = "     // Open it.\n     let a = open(1);\n     let b = a.next();\n-    close(a);\n+    shut(a);\n";
        let second = FILE.replace("open(1)", "open(2)");
        assert!(read(&second, request).is_some());
        assert!(refused(&[&first, &second[..]].concat(), request));
    }

    #[test]
    fn a_removed_line_whose_twin_is_gone_may_be_the_twin() {
        let file = FILE.replace("    // Open it.\n", "");
        let request = "     let a = open(1);\n-    let b = a.next();\n     let b = a.next();\n     close(a);\n     done(b);\n";
        assert!(refused(&file, request));
    }

    #[test]
    fn what_is_made_already_is_not_made_again_further_on() {
        let after = "    let a = open(1);\n    let b = a.next();\n    done(b);\n";
        let request =
            "     let a = open(1);\n     let b = a.next();\n-    close(a);\n     done(b);\n     log(b);\n";
        assert!(read(FILE, request).is_some());
        assert!(refused(&[after, "    log(b);\n", FILE].concat(), request));
    }

    #[test]
    fn an_escape_is_read_by_its_digits_alone() {
        assert_eq!(super::unescaped("\\u0041\\x42 \\u+041 \\x-1 \\u00"), "AB \\u+041 \\x-1 \\u00");
    }

    #[test]
    fn escapes_entities_and_what_stands_already_are_refused() {
        let file = FILE.replace("open(1)", "open(\"<a>\")");
        for open in [
            "open(\\\"<a>\\\")",
            "open(\"&lt;a&gt;\")",
            "open( \"<a>\" )",
            "open(\\u0022<a>\\u0022)",
            "open(\\x22<a\\x3e\")",
            "\u{b7}open(\"<a>\")",
            "\u{2192}open(\"<a>\")",
        ] {
            let request = alloc::format!(
                "     let a = {open};\n     let b = a.next();\n-    close(a);\n+    shut(a);\n     done(b);\n"
            );
            assert!(refused(&file, &request), "{open}");
        }
        let made =
            "     let a = open(2);\n     let b = a.next();\n-    close(a);\n+    done(b);\n     done(b);\n";
        assert!(refused(FILE, made));
    }
}
