//! Presentation of a place: its lines, up to a limit, and their differences from the request.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::align::{AlignStep, Aligner, Alignment};
use super::difference::{self, NamedDifference};
use super::request::RequestLine;
use crate::excerpt::{around, difference_within};
use crate::find::Haystack;
use crate::problem::{Difference, NearPlace};

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
    let changed = alignment.steps.iter().filter_map(|step| match step {
        AlignStep::Pair { file, request: i } if !kept.contains(request[*i].sent) => Some(*file),
        _ => None,
    });
    let wanted: BTreeSet<usize> = all.iter().map(|d| d.line.saturating_sub(1)).chain(changed).collect();
    let mut shown = place(haystack, first..last + 1, nearest(from..to, &wanted).into_iter(), &|at| {
        let answers = alignment.steps.iter().find_map(|step| match step {
            AlignStep::Pair { file, request } if *file == at => Some(*request),
            _ => None,
        });
        answers.map_or(0, |i| difference_within(haystack.lines().content(at), &request[i].content).0)
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
struct FoundDifference {
    line: usize,
    named: NamedDifference,
    file: Option<usize>,
    request: Option<usize>,
}

struct QuotedDifference<'a> {
    line: usize,
    named: NamedDifference,
    file: Option<&'a [u8]>,
    request: Option<&'a [u8]>,
}

fn differences<'r>(
    haystack: &'r Haystack<'_>,
    request: &'r [RequestLine<'r>],
    alignment: &Alignment,
) -> Vec<QuotedDifference<'r>> {
    let lines = haystack.lines();
    let mut found = Vec::new();
    let mut parts = Vec::new();
    let mut gap: Vec<AlignStep> = Vec::new();
    for &step in &alignment.steps {
        let AlignStep::Pair { file, request: i } = step else {
            gap.push(step);
            continue;
        };
        close(haystack, request, &mut gap, &mut found);
        let part = part_of(lines.content(file), request, i);
        let Some(named) = difference::name(part, &request[i]) else { continue };
        let one = FoundDifference { line: file + 1, named, file: Some(file), request: Some(i) };
        let sent = *request[i].content == *request[i].sent;
        if sent && Aligner::is_part(lines.content(file), request, i) {
            parts.push(one);
        } else {
            found.push(one);
        }
    }
    close(haystack, request, &mut gap, &mut found);
    // A first or last line that is a part of the file's line is no difference for text that begins or ends inside
    // lines, so it is reported only if there is no other.
    if found.is_empty() {
        found = parts;
    }
    if found.is_empty() {
        let line = alignment.ends().map_or(1, |(first, _)| first + 1);
        found.push(FoundDifference {
            line,
            named: NamedDifference { kind: "", what: elsewhere(haystack, alignment) },
            file: None,
            request: None,
        });
    }
    let told = found.into_iter().map(|found| QuotedDifference {
        line: found.line,
        named: found.named,
        file: found.file.map(|at| lines.content(at)),
        request: found.request.map(|i| request[i].sent),
    });
    told.collect()
}

/// Returns the part of a line of the file that equals the request's first or last line except for white space; else the
/// whole line.
fn part_of<'r>(theirs: &'r [u8], request: &[RequestLine<'_>], i: usize) -> &'r [u8] {
    let (first, last) = (i == 0, i + 1 == request.len());
    let ours = request[i].content.trim_ascii();
    if !first && !last || ours.is_empty() || theirs.len() > 1 << 16 || Aligner::is_part(theirs, request, i) {
        return theirs;
    }
    let trimmed = theirs.trim_ascii();
    let indented = theirs.len() - theirs.trim_ascii_start().len();
    let place = match (first, last) {
        (true, true) => memchr::memmem::find(trimmed, ours),
        (true, false) => trimmed.ends_with(ours).then(|| trimmed.len() - ours.len()),
        _ => trimmed.starts_with(ours).then_some(0),
    };
    let Some(start) = place.map(|at| indented + at) else { return theirs };
    let before = theirs[..start].trim_ascii_end().len();
    let ends_in_space = request[i].content.last().is_some_and(u8::is_ascii_whitespace);
    let end = start + ours.len();
    let after = if ends_in_space { theirs.len() - theirs[end..].trim_ascii_start().len() } else { end };
    &theirs[before..after]
}

/// Names the possible reasons if all lines are there.
fn elsewhere(haystack: &Haystack<'_>, alignment: &Alignment) -> String {
    let at_end = alignment.ends().is_some_and(|(_, last)| last + 1 == haystack.lines().len());
    let ended = haystack.text().bytes().ends_with(b"\n");
    let what = if at_end && !ended { "the file's last line has no newline at its end; or " } else { "" };
    format!(
        "{what}the lines are there, but not where the request has them: look at its @@ line, its *** End of \
         File, or where in a line its text begins and ends"
    )
}

/// Names the lines of a gap that only one side has.
fn close(
    haystack: &Haystack<'_>,
    request: &[RequestLine<'_>],
    gap: &mut Vec<AlignStep>,
    found: &mut Vec<FoundDifference>,
) {
    let (mut lacking, mut extra) = (Vec::new(), Vec::new());
    let mut place = 0;
    for step in gap.drain(..) {
        match step {
            AlignStep::Lacks { file } => lacking.push(file),
            AlignStep::Extra { request, before } => {
                place = before;
                extra.push(request);
            }
            AlignStep::Pair { .. } => {}
        }
    }
    let lines = haystack.lines();
    let elision = extra.iter().copied().find(|&i| request[i].elision);
    extra.retain(|&i| !request[i].elision);
    let mut push = |line: usize, kind: &'static str, what: String, file, request| {
        found.push(FoundDifference { line, named: NamedDifference { kind, what }, file, request });
    };
    if let Some(i) = elision {
        let (line, stands_for) = match (lacking.first(), lacking.last()) {
            (Some(first), Some(last)) => {
                (first + 1, format!(" where the file has {}", numbers(*first, *last)))
            }
            _ => ((place + 1).min(lines.len()), String::new()),
        };
        let what = format!("the request has an elision{stands_for}; send the lines themselves, or fewer");
        push(line, "elision", what, None, Some(i));
    } else if let (Some(&first), Some(&last)) = (lacking.first(), lacking.last()) {
        let blank = lacking.iter().all(|&at| lines.content(at).trim_ascii().is_empty());
        let blank = if blank { ", blank in the file" } else { "" };
        let what = format!("the request lacks {}{blank}", numbers(first, last));
        push(first + 1, "", what, blank.is_empty().then_some(first), None);
    }
    if let Some(&first) = extra.first() {
        let blank = extra.iter().all(|&i| request[i].is_blank());
        let (a, them) = match (extra.len(), blank) {
            (1, true) => ("a blank line".into(), "it"),
            (1, false) => ("a line".into(), "it"),
            (n, true) => (format!("{n} blank lines"), "them"),
            (n, false) => (format!("{n} lines"), "them"),
        };
        let what = if place >= lines.len() {
            format!("the file ends at line {}, the request has {a} after it", lines.len())
        } else {
            format!("the request has {a} before this line, the file does not have {them} there")
        };
        push((place + 1).min(lines.len().max(1)), "", what, None, (!blank).then_some(first));
    }
}

fn numbers(first: usize, last: usize) -> String {
    if first == last { format!("line {}", first + 1) } else { format!("lines {} to {}", first + 1, last + 1) }
}

/// Returns the differences to report, each kind once, and the number of the others.
fn grouped_by_kind(all: Vec<QuotedDifference<'_>>) -> (Vec<Difference>, usize) {
    let mut told: Vec<(Difference, &'static str)> = Vec::new();
    let mut more = 0;
    for one in all {
        let known = told.iter_mut().find(|(_, kind)| !kind.is_empty() && *kind == one.named.kind);
        if let Some((difference, _)) = known {
            difference.again += 1;
        } else if told.len() < NAMED {
            let (theirs, ours) = match (one.file, one.request) {
                (Some(file), Some(request)) => difference_within(file, request),
                _ => (0, 0),
            };
            let difference = Difference {
                line: one.line,
                what: one.named.what,
                file: one.file.map(|line| around(line, theirs, SHOWN_LINE)),
                request: one.request.map(|line| around(line, ours, SHOWN_LINE)),
                again: 0,
            };
            told.push((difference, one.named.kind));
        } else {
            more += 1;
        }
    }
    (told.into_iter().map(|(difference, _)| difference).collect(), more)
}
