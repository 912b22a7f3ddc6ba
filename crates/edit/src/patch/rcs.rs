//! RCS scripts, as `diff -n` writes them.
//!
//! ```text
//! script  = ("a" line " " count  (line){count}  |  "d" line " " count)+
//! ```
//!
//! One code fence may stand around it. All line numbers are those of the original file, in ascending order: `dN M`
//! removes M lines from N on, `aN M` inserts the next M lines after line N. A deletion and an addition at its end are
//! one replacement. A script has no text to search for, so it is only right for the version that it was made for.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::lines::{NumberedLine, invalid, numbered, shorten, without_fence};
use super::{Change, Hunk, Patch, RangeChange, Section};
use crate::problem::Problem;
use crate::problem::malformed::Rcs;

/// Reads an RCS script for the file at `path`. All problems are reported, not only the first.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let lines = numbered(text);
    let lines = without_fence(&lines, Rcs::FenceNotAround).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    if path.is_none() {
        problems.push(invalid(1, Rcs::NoFileNamed));
    }
    let changes = changes(lines, &mut problems);
    if changes.is_empty() && problems.is_empty() {
        problems.push(invalid(1, Rcs::NoCommands));
    }
    match path {
        Some(path) if problems.is_empty() => Ok(addressed(path, changes)),
        _ => Err(problems),
    }
}

/// Makes a patch of one file by line numbers.
pub(super) fn addressed(path: &str, changes: Vec<RangeChange>) -> Patch {
    let number = |(i, change)| Hunk { number: i + 1, change: Change::Range(change) };
    let hunks = changes.into_iter().enumerate().map(number).collect();
    Patch { sections: vec![Section::update(path, hunks)] }
}

fn changes(lines: &[NumberedLine<'_>], problems: &mut Vec<Problem>) -> Vec<RangeChange> {
    let mut changes: Vec<RangeChange> = Vec::new();
    let (mut at, mut done) = (0, 0);
    while let Some(&line) = lines.get(at) {
        at += 1;
        if line.text.trim().is_empty() {
            continue;
        }
        let Some((is_added, number, count)) = command(line.text) else {
            problems.push(invalid(line.number, Rcs::NoCommand { text: shorten(line.text) }));
            // The following lines may be its text.
            return changes;
        };
        // The last affected line; an addition that completes a replacement follows the last deleted one.
        let last = if is_added { number } else { number.saturating_add(count - 1) };
        let follows = changes.last().is_some_and(|last| is_added && last.lines.is_empty() && done == number);
        if (!is_added && number <= done)
            || (is_added && number < done)
            || (is_added && number == done && done > 0 && !follows)
        {
            problems.push(invalid(line.number, Rcs::NotDownwards { line: number, done }));
        }
        done = done.max(last);
        if !is_added {
            changes.push(RangeChange { first: number, count, lines: Vec::new() });
            continue;
        }
        let Some(text) = lines.get(at..at.saturating_add(count)) else {
            problems.push(invalid(line.number, Rcs::LinesMissing { count, left: lines.len() - at }));
            return changes;
        };
        at += count;
        let text: Vec<String> = text.iter().map(|line| line.text.into()).collect();
        match changes.last_mut().filter(|_| follows) {
            Some(last) => last.lines = text,
            None => changes.push(RangeChange { first: number.saturating_add(1), count: 0, lines: text }),
        }
    }
    changes
}

/// Reads `aN M` or `dN M`; returns whether it adds, N, and M.
fn command(line: &str) -> Option<(bool, usize, usize)> {
    let (is_added, rest) = match line.as_bytes().first()? {
        b'a' => (true, &line[1..]),
        b'd' => (false, &line[1..]),
        _ => return None,
    };
    let (number, count) = rest.trim_end().split_once(' ')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (number, count) = Some((number, count)).filter(|(a, b)| digits(a) && digits(b))?;
    let (number, count) = (number.parse().ok()?, count.parse().ok()?);
    (count > 0 && (is_added || number > 0)).then_some((is_added, number, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Operation;

    fn ranges(text: &str) -> Vec<(usize, usize, Vec<String>)> {
        let patch = parse(text, Some("f")).unwrap();
        let Operation::Update { hunks, .. } = &patch.sections()[0].operation else { panic!() };
        let range = |hunk: &Hunk| match &hunk.change {
            Change::Range(change) => (change.first, change.count, change.lines.clone()),
            change => panic!("{change:?}"),
        };
        hunks.iter().map(range).collect()
    }

    #[test]
    fn additions_deletions_and_replacements_are_read() {
        let found = ranges("a0 1\nnew\nd2 2\na3 2\nd9 9\nx\nd5 1\na7 1\nend\n");
        let lines = |text: &[&str]| text.iter().map(|line| String::from(*line)).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                (1, 0, lines(&["new"])),
                (2, 2, lines(&["d9 9", "x"])),
                (5, 1, lines(&[])),
                (8, 0, lines(&["end"]))
            ]
        );
        assert_eq!(ranges("d1 1\na1 1\nonly, without a newline").len(), 1);
    }

    #[test]
    fn one_fence_may_stand_around_the_script() {
        assert_eq!(parse("```\na1 1\n```\n```\n", Some("f")), parse("a1 1\n```\n", Some("f")));
        assert!(parse("```\nd1 1\n", Some("f")).is_err(), "it was cut off");
    }

    #[test]
    fn every_problem_is_reported() {
        let refused = |text: &str, path| parse(text, path).unwrap_err().len();
        assert_eq!(refused("d3 1\nd3 1\na1 1\nx\n", Some("f")), 2);
        assert_eq!(refused("a1 1\nx\na1 1\ny\n", Some("f")), 1);
        assert_eq!(refused("a1 3\nx\n", None), 2);
        assert_eq!(refused("", Some("f")), 1);
        for wrong in ["d0 1", "d1 0", "b1 1", "d1", "d+1 1", "d99999999999999999999 1"] {
            assert_eq!(refused(wrong, Some("f")), 1, "{wrong}");
        }
    }
}
