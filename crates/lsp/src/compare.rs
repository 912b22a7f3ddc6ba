//! What an edit changed: what a server found before is carried along with the lines that the edit kept, and what stands
//! there afterwards cancels it out.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::finding::Finding;

/// How far apart two findings with the same words may stand and be one.
const NEARBY: u32 = 10;
/// Lines between the first and the last that differ, above which they all count as changed.
const COMPARED: usize = 20_000;

/// What came and how many went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) new: Vec<Finding>,
    pub(crate) gone: usize,
}

/// Compares what was found in the old text with what was found in the new.
pub(crate) fn compare(old: &[Finding], new: Vec<Finding>, carry: &Carry) -> Difference {
    let mut old: Vec<(u32, &Finding)> = old.iter().map(|old| (carry.line(old.line), old)).collect();
    let mut left = new;
    // What is exactly where it was goes first, so that what is nearby is not taken for it.
    for within in [0, NEARBY] {
        left.retain(|new| {
            let same = |(line, old): &(u32, &Finding)| {
                line.abs_diff(new.line) <= within
                    && (old.severity, &old.code, &old.message) == (new.severity, &new.code, &new.message)
            };
            let nearest =
                (0..old.len()).filter(|&at| same(&old[at])).min_by_key(|&at| old[at].0.abs_diff(new.line));
            nearest.map(|at| old.swap_remove(at)).is_none()
        });
    }
    Difference { new: left, gone: old.len() }
}

/// Where the lines of an old text stand in a new one.
#[derive(Debug, Default)]
pub(crate) struct Carry {
    /// From its first old line each: the first new line, the old lines, the new lines. In order.
    pieces: Vec<(u32, u32, u32, u32)>,
}

impl Carry {
    pub(crate) fn new(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[before..], &new[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
        let mut carry = Self::default();
        carry.push(0..before, 0..before);
        if old.len().max(new.len()) > COMPARED {
            carry.push(before..before + old.len(), before..before + new.len());
        } else {
            for operation in capture_diff_slices(Algorithm::Myers, old, new) {
                let (tag, old, new) = operation.as_tag_tuple();
                if tag != DiffTag::Insert {
                    carry.push(old.start + before..old.end + before, new.start + before..new.end + before);
                }
            }
        }
        let (old, new) = (before + old.len(), before + new.len());
        carry.push(old..old + after, new..new + after);
        carry
    }

    fn push(&mut self, old: std::ops::Range<usize>, new: std::ops::Range<usize>) {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.pieces.push((number(old.start), number(new.start), number(old.len()), number(new.len())));
    }

    /// Where this line stands now. One that was replaced is taken to stand as far down in what replaced it, one behind
    /// the end as far behind the new end.
    fn line(&self, line: u32) -> u32 {
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
        let make = |all: &[(u32, &str)]| -> Vec<Finding> {
            all.iter().map(|(line, message)| Finding::error(*line, message)).collect()
        };
        let difference = compare(&make(old), make(new), &Carry::new(texts.0, texts.1));
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
