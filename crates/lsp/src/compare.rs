//! Comparison of diagnostics before and after an edit: an old diagnostic moves with the lines that the edit kept, and
//! an equal one at its new place cancels it.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

use crate::raw_diagnostic::RawDiagnostic;

/// How many lines apart two equal diagnostics may stand and still count as one.
const NEARBY_LINES: u32 = 10;
/// The largest changed region, in lines, that is compared line by line; all lines of a larger one count as changed.
const MAX_COMPARED_LINES: usize = 20_000;

/// The diagnostics that an edit brought, and how many it removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DiagnosticDifference {
    pub(crate) new: Vec<RawDiagnostic>,
    pub(crate) gone: usize,
}

/// Compares the diagnostics of the old text with those of the new one.
pub(crate) fn compare(
    old: &[RawDiagnostic],
    new: Vec<RawDiagnostic>,
    line_map: &LineMap,
) -> DiagnosticDifference {
    let mut old: Vec<(u32, &RawDiagnostic)> =
        old.iter().map(|old| (line_map.new_line(old.line), old)).collect();
    let mut left = new;
    // Exact places go first, so that a diagnostic nearby is not taken for one that has not moved.
    for within in [0, NEARBY_LINES] {
        left.retain(|new| {
            let same = |(line, old): &(u32, &RawDiagnostic)| {
                line.abs_diff(new.line) <= within
                    && (old.severity, &old.code, &old.message) == (new.severity, &new.code, &new.message)
            };
            let nearest =
                (0..old.len()).filter(|&at| same(&old[at])).min_by_key(|&at| old[at].0.abs_diff(new.line));
            nearest.map(|at| old.swap_remove(at)).is_none()
        });
    }
    DiagnosticDifference { new: left, gone: old.len() }
}

/// Returns the operations that turn one list of lines into another. The algorithm is named here and not chosen while the
/// program runs, so that the others need not be compiled.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut operations = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut operations, old, 0..old.len(), new, 0..new.len());
    operations.into_inner().into_inner().into_ops()
}

/// Maps the lines of an old text to those of a new one.
#[derive(Debug, Default)]
pub(crate) struct LineMap {
    /// Pieces in order, each with its first old line, its first new line, and how many old and new lines it has.
    pieces: Vec<(u32, u32, u32, u32)>,
}

impl LineMap {
    pub(crate) fn new(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[before..], &new[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
        let mut line_map = Self::default();
        line_map.push(0..before, 0..before);
        if old.len().max(new.len()) > MAX_COMPARED_LINES {
            line_map.push(before..before + old.len(), before..before + new.len());
        } else {
            for operation in operations(old, new) {
                let (tag, old, new) = operation.as_tag_tuple();
                if tag != DiffTag::Insert {
                    line_map.push(old.start + before..old.end + before, new.start + before..new.end + before);
                }
            }
        }
        let (old, new) = (before + old.len(), before + new.len());
        line_map.push(old..old + after, new..new + after);
        line_map
    }

    fn push(&mut self, old: std::ops::Range<usize>, new: std::ops::Range<usize>) {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.pieces.push((number(old.start), number(new.start), number(old.len()), number(new.len())));
    }

    /// Returns where an old line stands in the new text. A replaced line keeps its distance from the start of its
    /// piece, and a line behind the end its distance from the end.
    fn new_line(&self, line: u32) -> u32 {
        let at = self.pieces.partition_point(|piece| piece.0 <= line);
        let Some(&(old, new, old_lines, new_lines)) = at.checked_sub(1).and_then(|at| self.pieces.get(at))
        else {
            return line;
        };
        let down = line - old;
        if down < old_lines {
            new + down.min(new_lines.saturating_sub(1))
        } else {
            new + new_lines + (down - old_lines)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(old: &[(u32, &str)], new: &[(u32, &str)], texts: (&str, &str)) -> (Vec<u32>, usize) {
        let make = |all: &[(u32, &str)]| -> Vec<RawDiagnostic> {
            all.iter().map(|(line, message)| RawDiagnostic::error(*line, message)).collect()
        };
        let difference = compare(&make(old), make(new), &LineMap::new(texts.0, texts.1));
        (difference.new.iter().map(|new| new.line).collect(), difference.gone)
    }

    #[test]
    fn findings_move_with_their_lines() {
        let texts = ("a\nb\nc\nd\n", "new\nnew\na\nb\nc\nnew\nd\n");
        assert_eq!(compared(&[(1, "x"), (3, "y")], &[(3, "x"), (6, "y")], texts), (vec![], 0));
        let far = "0\n".repeat(50) + "a\nb\n";
        assert_eq!(compared(&[(1, "x")], &[(51, "x")], ("a\nb\n", &far)), (vec![], 0));
    }

    #[test]
    fn what_came_is_new_and_what_went_is_gone() {
        let texts = ("a\nb\n", "a\nB\n");
        assert_eq!(compared(&[], &[(1, "x")], texts), (vec![1], 0));
        assert_eq!(compared(&[(1, "x")], &[], texts), (vec![], 1));
        assert_eq!(compared(&[(1, "x")], &[(1, "other")], texts), (vec![1], 1));
    }

    #[test]
    fn equal_findings_cancel_one_for_one() {
        let texts = ("a\nb\nc\n", "a\nb\nc\nd\n");
        assert_eq!(compared(&[(0, "x"), (1, "x")], &[(0, "x"), (1, "x"), (3, "x")], texts), (vec![3], 0));
        assert_eq!(compared(&[(0, "x"), (1, "x")], &[(1, "x")], texts), (vec![], 1));
    }

    #[test]
    fn what_is_far_away_is_another() {
        let text = "a\n".repeat(100);
        assert_eq!(compared(&[(5, "x")], &[(90, "x")], (&text, &text)), (vec![90], 1));
        assert_eq!(compared(&[(5, "x")], &[(8, "x")], (&text, &text)), (vec![], 0));
    }

    #[test]
    fn an_end_of_file_is_carried_to_the_new_end() {
        assert_eq!(compared(&[(2, "x")], &[(0, "x")], ("a\nb\n", "")), (vec![], 0));
        assert_eq!(compared(&[(0, "x")], &[(1, "x")], ("", "a\n")), (vec![], 0));
    }
}
