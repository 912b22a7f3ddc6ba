//! Presentation of a place: its lines, up to a limit, and their differences from the request.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use super::align::{AlignStep, Aligner, Alignment, part_start, unpaired};
use super::difference;
use super::request::RequestLine;
use crate::excerpt::{around, difference_within};
use crate::find::Haystack;
use crate::problem::{Difference, DifferenceKind, NearPlace};

/// How many lines of the best place are shown.
const SHOWN: usize = 42;
/// How many lines of another place are shown.
const SHOWN_OTHER: usize = 2;
/// How many differences are named.
const NAMED: usize = 3;
/// How many further lines the shown region has for unmatched lines of the request.
const REACH: usize = 3;
/// How many bytes of a line are shown; of longer ones, the stretch that matters.
const SHOWN_LINE: usize = 400;

/// Shows lines without differences.
pub(super) fn plain(haystack: &Haystack<'_>, at: usize, count: usize) -> NearPlace {
    let to = (at + count).min(haystack.lines().len());
    place(haystack, at..to, (at..to).take(SHOWN), &|_| 0)
}

/// Shows another place that is about as good.
pub(super) fn other(haystack: &Haystack<'_>, alignment: &Alignment) -> NearPlace {
    let (first, last) = alignment.ends().unwrap_or_default();
    let telling = |at: &usize| !haystack.lines().content(*at).trim_ascii().is_empty();
    place(haystack, first..last + 1, (first..=last).filter(telling).take(SHOWN_OTHER), &|_| 0)
}

/// Shows the best place, with its differences named.
pub(super) fn best(
    haystack: &Haystack<'_>,
    request: &[RequestLine<'_>],
    alignment: &Alignment,
    new: &[&[u8]],
) -> NearPlace {
    let total = haystack.lines().len();
    let (first, last) = alignment.ends().unwrap_or_default();
    let is_extra = |step: &&AlignStep| matches!(step, AlignStep::Extra { .. });
    let before = alignment.steps.iter().take_while(is_extra).count().min(REACH);
    let after = alignment.steps.iter().rev().take_while(is_extra).count().min(REACH);
    let from = first.saturating_sub(before + 1);
    let to = (last + 1 + after + 1).min(total);
    let all = differences(haystack, request, alignment);

    let kept: BTreeSet<&[u8]> = new.iter().take(1000).copied().collect();
    let changed = alignment.pairs().filter(|&(_, i)| !kept.contains(request[i].sent)).map(|(file, _)| file);
    let wanted: BTreeSet<usize> = all.iter().map(|d| d.line.saturating_sub(1)).chain(changed).collect();
    let mut shown = place(haystack, first..last + 1, nearest(from..to, &wanted).into_iter(), &|at| {
        let pair = alignment.pairs().find(|&(file, _)| file == at);
        pair.map_or(0, |(_, i)| difference_within(haystack.lines().content(at), &request[i].content).0)
    });
    let (differences, more) = grouped_by_kind(all);
    shown.differences = differences;
    shown.more = more;
    shown
}

/// Returns the lines of a region that are shown: those nearest to lines that matter.
fn nearest(region: Range<usize>, wanted: &BTreeSet<usize>) -> Vec<usize> {
    let distance = |at: usize| {
        let before = wanted.range(..=at).next_back().map_or(usize::MAX, |&other| at - other);
        before.min(wanted.range(at..).next().map_or(usize::MAX, |&other| other - at))
    };
    let mut lines: Vec<usize> = region.collect();
    if lines.len() > SHOWN {
        lines.sort_by_cached_key(|&at| (distance(at), at));
        lines.truncate(SHOWN);
        lines.sort_unstable();
    }
    lines
}

/// Makes a place with the `shown` lines; `matters` returns the offset around which a long line is shown.
fn place(
    haystack: &Haystack<'_>,
    at: Range<usize>,
    shown: impl Iterator<Item = usize>,
    matters: &dyn Fn(usize) -> usize,
) -> NearPlace {
    let show = |i: usize| match haystack.lines().content(i) {
        line if line.len() <= SHOWN_LINE => around(line, 0, SHOWN_LINE),
        line => around(line, matters(i), SHOWN_LINE),
    };
    let (numbers, lines) = shown.map(|i| (i + 1, show(i))).unzip();
    NearPlace { first: at.start + 1, last: at.end, numbers, lines, differences: Vec::new(), more: 0 }
}

/// A difference that may be reported.
struct FoundDifference<'a> {
    line: usize,
    kinds: Vec<DifferenceKind>,
    file: Option<&'a [u8]>,
    request: Option<&'a [u8]>,
}

fn differences<'r>(
    haystack: &'r Haystack<'_>,
    request: &'r [RequestLine<'r>],
    alignment: &Alignment,
) -> Vec<FoundDifference<'r>> {
    let lines = haystack.lines();
    let mut found = Vec::new();
    let mut parts = Vec::new();
    for run in alignment.runs() {
        name_unpaired(haystack, request, run, &mut found);
        for &step in run {
            let AlignStep::Pair { file, request: i } = step else { continue };
            let (theirs, ours) = (lines.content(file), &request[i]);
            let kinds = difference::name(part_of(theirs, request, i), ours);
            if kinds.is_empty() {
                continue;
            }
            let one = FoundDifference { line: file + 1, kinds, file: Some(theirs), request: Some(ours.sent) };
            if *ours.content == *ours.sent && Aligner::is_part(theirs, request, i) {
                parts.push(one);
            } else {
                found.push(one);
            }
        }
    }
    // A first or last line that is a part of the file's line is no difference for text that begins or ends inside
    // lines, so it is reported only if there is no other.
    if found.is_empty() {
        found = parts;
    }
    if found.is_empty() {
        let line = alignment.ends().map_or(1, |(first, _)| first + 1);
        let kinds = vec![elsewhere(haystack, alignment)];
        found.push(FoundDifference { line, kinds, file: None, request: None });
    }
    found
}

/// Returns the part of a line of the file that equals the request's first or last line except for white space; else the
/// whole line.
fn part_of<'r>(theirs: &'r [u8], request: &[RequestLine<'_>], i: usize) -> &'r [u8] {
    let ours = request[i].content.trim_ascii();
    if ours.is_empty() || theirs.len() > 1 << 16 || Aligner::is_part(theirs, request, i) {
        return theirs;
    }
    let indented = theirs.len() - theirs.trim_ascii_start().len();
    let place = part_start(theirs.trim_ascii(), ours, i == 0, i + 1 == request.len());
    let Some(start) = place.map(|at| indented + at) else { return theirs };
    let before = theirs[..start].trim_ascii_end().len();
    let ends_in_space = request[i].content.last().is_some_and(u8::is_ascii_whitespace);
    let end = start + ours.len();
    let after = if ends_in_space { theirs.len() - theirs[end..].trim_ascii_start().len() } else { end };
    &theirs[before..after]
}

/// Names the possible reasons if all lines are there.
fn elsewhere(haystack: &Haystack<'_>, alignment: &Alignment) -> DifferenceKind {
    let at_end = alignment.ends().is_some_and(|(_, last)| last + 1 == haystack.lines().len());
    let ended = haystack.text().bytes().ends_with(b"\n");
    DifferenceKind::Elsewhere { is_unended: at_end && !ended }
}

/// Names the lines of a run that only one side has.
fn name_unpaired<'r>(
    haystack: &'r Haystack<'_>,
    request: &'r [RequestLine<'r>],
    run: &[AlignStep],
    found: &mut Vec<FoundDifference<'r>>,
) {
    let (lacking, extra) = unpaired(run);
    let place = extra.last().map_or(0, |&(_, before)| before);
    let lines = haystack.lines();
    let (elisions, extra): (Vec<usize>, Vec<usize>) =
        extra.into_iter().map(|(i, _)| i).partition(|&i| request[i].elision);
    let mut push = |line: usize, kind: DifferenceKind, file: Option<usize>, ours: Option<usize>| {
        let (file, request) = (file.map(|at| lines.content(at)), ours.map(|i| request[i].sent));
        found.push(FoundDifference { line, kinds: vec![kind], file, request });
    };
    if let Some(&i) = elisions.first() {
        let stands_for = lacking.first().zip(lacking.last()).map(|(first, last)| (first + 1, last + 1));
        let line = stands_for.map_or((place + 1).min(lines.len()), |(first, _)| first);
        push(line, DifferenceKind::Elision { lines: stands_for }, None, Some(i));
    } else if let (Some(&first), Some(&last)) = (lacking.first(), lacking.last()) {
        let is_blank = lacking.iter().all(|&at| lines.content(at).trim_ascii().is_empty());
        let kind = DifferenceKind::Lacking { first: first + 1, last: last + 1, is_blank };
        push(first + 1, kind, (!is_blank).then_some(first), None);
    }
    if let Some(&first) = extra.first() {
        let is_blank = extra.iter().all(|&i| request[i].is_blank());
        let after = (place >= lines.len()).then_some(lines.len());
        let kind = DifferenceKind::Extra { lines: extra.len(), is_blank, after };
        push((place + 1).min(lines.len().max(1)), kind, None, (!is_blank).then_some(first));
    }
}

/// Returns the differences to report, each kind once, and the number of the others.
fn grouped_by_kind(all: Vec<FoundDifference<'_>>) -> (Vec<Difference>, usize) {
    let mut told: Vec<Difference> = Vec::new();
    let mut more = 0;
    for one in all {
        if let Some(known) = told.iter_mut().find(|known| is_like(&known.kinds, &one.kinds)) {
            known.again += 1;
        } else if told.len() < NAMED {
            let (theirs, ours) = match (one.file, one.request) {
                (Some(file), Some(request)) => difference_within(file, request),
                _ => (0, 0),
            };
            told.push(Difference {
                line: one.line,
                kinds: one.kinds,
                file: one.file.map(|line| around(line, theirs, SHOWN_LINE)),
                request: one.request.map(|line| around(line, ours, SHOWN_LINE)),
                again: 0,
            });
        } else {
            more += 1;
        }
    }
    (told, more)
}

/// Whether one of them stands for the other, too.
fn is_like(told: &[DifferenceKind], other: &[DifferenceKind]) -> bool {
    told.first().zip(other.first()).is_some_and(|(told, other)| {
        told.is_told_once() && mem::discriminant(told) == mem::discriminant(other)
    })
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::super::near;
    use super::super::request::interpretations;
    use super::*;
    use crate::find::contents;
    use crate::problem::{DifferingWords, Near};
    use crate::text::Text;

    fn ask(file: &str, wanted: &str, new: &str) -> Near {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        near(&Haystack::new(&text), &contents(wanted.as_bytes()), &contents(new.as_bytes()))
    }

    /// Returns the differences of the best place: the line, the first kind, and the lines of both sides.
    fn told(file: &str, wanted: &str) -> Vec<(usize, DifferenceKind, Option<String>, Option<String>)> {
        let differences = ask(file, wanted, "").places.remove(0).differences;
        differences.into_iter().map(|mut d| (d.line, d.kinds.remove(0), d.file, d.request)).collect()
    }

    fn some(line: &str) -> Option<String> {
        Some(line.into())
    }

    const FILE: &str =
        "zero()\none(alpha)\ntwo(beta)\nthree(gamma)\nfour(delta)\nfive(epsilon)\nsix(zeta)\nseven(eta)\n";

    #[test]
    fn one_line_around_the_place_is_shown_and_one_for_each_line_that_is_not_there() {
        let shown = |wanted: &str| ask(FILE, wanted, "").numbers().to_vec();
        assert_eq!(shown("three(gama)\nfour(delta)\n"), [3, 4, 5, 6]);
        assert_eq!(shown("what\nthree(gamma)\nfour(delta)\n"), [2, 3, 4, 5, 6]);
        assert_eq!(shown("three(gamma)\nfour(delta)\nwhat\nelse\n"), [3, 4, 5, 6, 7, 8]);
        assert_eq!(shown("three(gamma)\nfour(delta)\nwhat\nelse\nis\nthere\n"), [3, 4, 5, 6, 7, 8]);
        assert_eq!(shown("what\nelse\nis\nthere\nsix(zeta)\nseven(eta)\n"), [3, 4, 5, 6, 7, 8]);
        assert_eq!(shown("zero()\none(alfa)\n"), [1, 2, 3]);
        assert_eq!(shown("six(zeta)\nseven(etta)\n"), [6, 7, 8]);
    }

    #[test]
    fn of_a_long_place_the_lines_nearest_to_what_matters_are_shown() {
        let wanted = |lines: &[usize]| lines.iter().copied().collect::<BTreeSet<usize>>();
        let all: Vec<usize> = (10..10 + SHOWN).collect();
        assert_eq!(nearest(10..10 + SHOWN, &wanted(&[10])), all);
        assert_eq!(nearest(10..10 + SHOWN + 1, &wanted(&[10])), all);
        let last: Vec<usize> = (11..11 + SHOWN).collect();
        assert_eq!(nearest(10..10 + SHOWN + 1, &wanted(&[10 + SHOWN])), last);
        let both: Vec<usize> = (0..SHOWN / 2).chain(200 - SHOWN / 2..200).collect();
        assert_eq!(nearest(0..200, &wanted(&[0, 199])), both);
        let half: Vec<usize> = (100 - SHOWN / 2..100 + SHOWN / 2).collect();
        assert_eq!(nearest(0..200, &wanted(&[100])), half);
        assert_eq!(nearest(0..200, &wanted(&[])), (0..SHOWN).collect::<Vec<_>>());
    }

    #[test]
    fn lines_that_one_side_lacks_are_shown_with_their_text_unless_they_are_blank() {
        let lacking = |first, last, is_blank| DifferenceKind::Lacking { first, last, is_blank };
        let extra = |lines, is_blank, after| DifferenceKind::Extra { lines, is_blank, after };
        assert_eq!(
            told(FILE, "one(alpha)\nfour(delta)\n"),
            [(3, lacking(3, 4, false), some("two(beta)"), None)]
        );
        assert_eq!(
            told("one(alpha)\n\n \ntwo(beta)\n", "one(alpha)\ntwo(beta)\n"),
            [(2, lacking(2, 3, true), None, None)]
        );
        assert_eq!(
            told("one(alpha)\n\nwhat\ntwo(beta)\n", "one(alpha)\ntwo(beta)\n"),
            [(2, lacking(2, 3, false), some(""), None)]
        );
        assert_eq!(
            told(FILE, "one(alpha)\nwhat\nelse\ntwo(beta)\n"),
            [(3, extra(2, false, None), None, some("what"))]
        );
        assert_eq!(told(FILE, "one(alpha)\n\n\ntwo(beta)\n"), [(3, extra(2, true, None), None, None)]);
        assert_eq!(
            told(FILE, "\nwhat\none(alpha)\ntwo(beta)\n"),
            [(2, extra(2, false, None), None, some(""))]
        );
        assert_eq!(
            told(FILE, "six(zeta)\nseven(eta)\nwhat\n"),
            [(8, extra(1, false, Some(8)), None, some("what"))]
        );
    }

    #[test]
    fn an_elision_is_named_instead_of_the_lines_that_it_stands_for() {
        let elision = |lines| DifferenceKind::Elision { lines };
        assert_eq!(
            told(FILE, "one(alpha)\n// ... existing code ...\nsix(zeta)\n"),
            [(3, elision(Some((3, 6))), None, some("// ... existing code ..."))]
        );
        assert_eq!(
            told(FILE, "one(alpha)\n// ... existing code ...\ntwo(beta)\n"),
            [(3, elision(None), None, some("// ... existing code ..."))]
        );
        assert_eq!(
            told(FILE, "six(zeta)\nseven(eta)\n// ... existing code ...\n"),
            [(8, elision(None), None, some("// ... existing code ..."))]
        );
    }

    #[test]
    fn a_line_that_is_part_of_the_files_is_a_difference_only_if_there_is_no_other() {
        let words = |file: &str, request: &str| {
            DifferenceKind::Words(Some(DifferingWords { file: file.into(), request: request.into() }))
        };
        let file = "let a = compute(alpha, beta);\nlet b = other(gamma);\nlet c = third(delta);\n";
        assert_eq!(
            told(file, "alpha, beta);\nlet b = othr(gamma);\nlet c = third"),
            [(2, words("other", "othr"), some("let b = other(gamma);"), some("let b = othr(gamma);"))]
        );
        let parts = told(file, "alpha, beta);\nlet b = other(gamma);\nlet c = third");
        assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn the_part_of_a_line_that_equals_the_request_but_for_space_is_compared_with_it() {
        let part = |theirs: &str, wanted: &[&str], i: usize| {
            let wanted: Vec<&[u8]> = wanted.iter().map(|line| line.as_bytes()).collect();
            let request = interpretations(&wanted).swap_remove(0);
            String::from_utf8(part_of(theirs.as_bytes(), &request, i).to_vec()).unwrap()
        };
        let line = "\treturn total( items )  ";
        for (wanted, i, expected) in [
            // The last line is the beginning of the file's, the first one the end.
            (&["before", "    return"][..], 1, "\treturn"),
            (&["before", "    return "], 1, "\treturn "),
            (&["before", "    return total"], 1, "\treturn total"),
            (&["  items )", "after"], 0, " items )"),
            (&["\titems ) ", "after"], 0, " items )  "),
            (&["    return", "after"], 0, line),
            (&["before", "items )"], 1, line),
            // A single line may be any part.
            (&["\ttotal("], 0, " total("),
            (&["  items  "], 0, " items "),
            // It is a part as it stands, or is none, or is between others.
            (&["total("], 0, line),
            (&["before", "\treturn"], 1, line),
            (&["    other"], 0, line),
            (&["before", "    return", "after"], 1, line),
            (&["before", "   "], 1, line),
        ] {
            assert_eq!(part(line, wanted, i), expected, "{wanted:?}");
        }
        let long = |length: usize| [&"x".repeat(length - 4), "\tone"].concat();
        assert_eq!(part(&long(1 << 16), &["  one"], 0), "\tone");
        assert_eq!(part(&long((1 << 16) + 1), &["  one"], 0), long((1 << 16) + 1));
    }

    #[test]
    fn a_kind_that_is_told_once_stands_for_all_of_its_kind() {
        let one = |line, kind| FoundDifference { line, kinds: vec![kind], file: None, request: None };
        let space = |file: &str| DifferenceKind::Indentation { file: file.into(), request: String::new() };
        let words = || DifferenceKind::Words(None);
        let grouped = |kinds: Vec<DifferenceKind>| {
            let all = kinds.into_iter().enumerate().map(|(line, kind)| one(line, kind)).collect();
            let (told, more) = grouped_by_kind(all);
            (told.iter().map(|told| (told.line, told.again)).collect::<Vec<_>>(), more)
        };
        assert_eq!(
            grouped(vec![space(" "), words(), space("\t"), words()]),
            (vec![(0, 1), (1, 0), (3, 0)], 0)
        );
        assert_eq!(
            grouped(vec![words(), words(), words(), words(), DifferenceKind::InnerSpace]),
            (vec![(0, 0), (1, 0), (2, 0)], 2)
        );
        assert_eq!(
            grouped(vec![space(" "), DifferenceKind::InnerSpace, DifferenceKind::InnerSpace, space(" ")]),
            (vec![(0, 1), (1, 1)], 0)
        );
    }

    #[test]
    fn of_another_place_two_lines_with_text_are_shown_and_of_lines_without_differences_all_that_have_room() {
        let text = Text::new(FILE.replace("two(beta)", "").into_bytes()).unwrap();
        let haystack = Haystack::new(&text);
        let pair = |file: usize, request: usize| AlignStep::Pair { file, request };
        let other =
            other(&haystack, &Alignment { score: 0, steps: vec![pair(1, 0), pair(3, 1), pair(4, 2)] });
        assert_eq!((other.first, other.last, other.numbers), (2, 5, vec![2, 4]));
        assert_eq!(other.lines, ["one(alpha)", "three(gamma)"]);
        let plain_of = |at, count| {
            let place = plain(&haystack, at, count);
            (place.first, place.last, place.numbers)
        };
        assert_eq!(plain_of(2, 3), (3, 5, vec![3, 4, 5]));
        assert_eq!(plain_of(6, 5), (7, 8, vec![7, 8]));
        let long = Text::new("x\n".repeat(60).into_bytes()).unwrap();
        let place = plain(&Haystack::new(&long), 0, 60);
        assert_eq!((place.first, place.last, place.numbers.len()), (1, 60, SHOWN));
        // A line is cut where it has no room.
        let lines = [SHOWN_LINE, SHOWN_LINE + 1].map(|length| "x".repeat(length));
        let text = Text::new(lines.join("\n").into_bytes()).unwrap();
        let shown = plain(&Haystack::new(&text), 0, 2).lines;
        assert_eq!(shown[0], lines[0]);
        assert_eq!(shown[1], format!("{}... (1 bytes)", lines[0]));
    }

    #[test]
    fn where_all_lines_are_there_the_end_of_the_file_may_be_the_reason() {
        let why = |file: &str, last: usize| {
            let text = Text::new(file.into()).unwrap();
            let steps = vec![AlignStep::Pair { file: last, request: 0 }];
            elsewhere(&Haystack::new(&text), &Alignment { score: 0, steps })
        };
        let elsewhere = |is_unended| DifferenceKind::Elsewhere { is_unended };
        assert_eq!([why("a\nb", 1), why("a\nb\n", 1), why("a\nb", 0)], [true, false, false].map(elsewhere));
    }
}
