//! The layer `inner-blanks`: all lines with text match, but between them the file has more or fewer blank context lines
//! than the request.
//!
//! A gap in which the request removes a blank line does not fit, nor one that leaves open where an insertion goes.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use memchr::memmem;

use super::block::{Block, bytes_of, is_blank};
use super::{Budget, Candidate, Candidates, Haystack, Interpretation};
use crate::patch::Line;
use crate::problem::Kind;

pub(super) fn inner_blanks(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let telling: Vec<&[u8]> = block.old().iter().filter(|line| !is_blank(line)).copied().collect();
    if telling.len() < 2 {
        return Ok(vec![]);
    }
    let pivot = (0..telling.len()).max_by_key(|&i| telling[i].len()).unwrap_or(0);
    if memmem::find(h.text().bytes(), telling[pivot]).is_none() {
        return Ok(vec![]);
    }
    let lines = h.lines();
    budget.spend(lines.len())?;
    let in_file: Vec<usize> = (0..lines.len()).filter(|&i| !is_blank(lines.content(i))).collect();
    let mut places = Vec::new();
    let Some(last) = in_file.len().checked_sub(telling.len()) else { return Ok(places) };
    for first in 0..=last {
        budget.spend(0)?;
        let starts_here = |start: &core::ops::Range<usize>| start.contains(&in_file[first]);
        if lines.content(in_file[first + pivot]) != telling[pivot] || !block.starts.iter().any(starts_here) {
            continue;
        }
        let stand = &in_file[first..first + telling.len()];
        budget.spend(stand.len())?;
        if stand.iter().zip(&telling).any(|(&at, line)| lines.content(at) != *line) {
            continue;
        }
        let (start, end) = (stand[0], stand[stand.len() - 1] + 1);
        places.push(Candidate {
            range: bytes_of(h, start, end - start),
            interpretation: interpretation(block, stand),
        });
        if places.len() == most {
            break;
        }
    }
    Ok(places)
}

/// Rewrites the request with the file's blank lines; `stand` are the lines of the file that match its lines with text.
fn interpretation(block: &Block<'_>, stand: &[usize]) -> Interpretation {
    let is_text = |line: &Line| line.before().is_some_and(|text| !text.trim().is_empty());
    let mut lines = Vec::new();
    // Blank context before the first and after the last line with text is ignored.
    let mut rest = block.lines;
    let mut number = 0;
    while !rest.is_empty() {
        let gap = rest.iter().take_while(|line| !is_text(line)).count();
        let (between, after) = rest.split_at(gap);
        let is_edge = number == 0 || after.is_empty();
        let blanks = if is_edge { 0 } else { stand[number] - stand[number - 1] - 1 };
        match gap_as_in_file(between, blanks, is_edge) {
            Some(between) => lines.extend(between),
            None => return Interpretation::Unfit,
        }
        lines.extend(after.first().cloned());
        number += usize::from(!after.is_empty());
        rest = after.get(1..).unwrap_or_default();
    }
    Interpretation::Rewritten(lines)
}

/// Rewrites the lines between two lines with text, with as many blank context lines as the file has.
fn gap_as_in_file(between: &[Line], blanks: usize, is_edge: bool) -> Option<Vec<Line>> {
    let is_context = |line: &&Line| matches!(line, Line::Context(_));
    let own = between.iter().filter(|line| line.before().is_some()).count();
    if own == blanks {
        return Some(between.to_vec());
    }
    if between.iter().any(|line| matches!(line, Line::Removed(_))) {
        return None;
    }
    let added: Vec<Line> = between.iter().filter(|line| !is_context(line)).cloned().collect();
    let before = between.iter().take_while(is_context).count();
    let after = between.iter().rev().take_while(is_context).count();
    // A blank line between added ones may be meant to be added too.
    let is_parted = before + added.len() + after < between.len();
    if is_parted || (is_edge && !added.is_empty()) {
        // At an edge, the number of the file's blank lines is unknown.
        return None;
    }
    if is_edge {
        return Some(Vec::new());
    }
    let in_file = || (0..blanks).map(|_| Line::Context(String::new()));
    if added.is_empty() || blanks == 0 || (before == 0 && after > 0) {
        Some(added.into_iter().chain(in_file()).collect())
    } else if after == 0 && before > 0 {
        Some(in_file().chain(added).collect())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, refused};

    #[test]
    fn blank_context_may_be_more_or_less_than_in_the_file() {
        let file = "a\n\n\nb\nc\nd\n";
        assert_eq!(read(file, " a\n \n b\n \n-c\n+C\n"), Some(("inner-blanks", "a\n\n\nb\nC\n".into())));
    }

    #[test]
    fn blank_lines_that_go_must_be_there() {
        assert!(refused("a\nb\nc\n", " a\n-\n b\n-c\n+C\n"));
    }

    #[test]
    fn a_blank_line_between_the_text_and_an_insertion_at_the_edge_must_be_there() {
        assert!(refused("alpha\nbeta\ngamma\n", " alpha\n beta\n \n+new\n"));
        assert!(refused("a1\n\nb1\n\nc1\n", " a1\n b1\n \n+x1\n"));
    }

    #[test]
    fn a_blank_line_among_added_ones_is_not_left_out() {
        assert!(refused("# T\nold para\n## N\n", " # T\n-old para\n+para one\n \n+para two\n ## N\n"));
    }

    #[test]
    fn an_insertion_beside_the_gap_needs_one_place() {
        let file = "a\n\n\nb\n";
        assert_eq!(read(file, " a\n+x\n \n b\n"), Some(("inner-blanks", "a\nx\n\n\nb\n".into())));
        assert_eq!(read(file, " a\n \n+x\n b\n"), Some(("inner-blanks", "a\n\n\nx\nb\n".into())));
        assert!(refused(file, " a\n+x\n b\n"));
        assert!(refused(file, " a\n \n+x\n \n \n b\n"));
    }
}
