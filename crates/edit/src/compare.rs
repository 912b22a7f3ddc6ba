//! The comparison of two lists, of lines or of characters.
//!
//! All comparisons go through one function over numbers. The algorithm is generic, and compiling it for each kind of item
//! took a third of the time that this crate takes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

/// Returns the operations that turn `old` into `new`, in order. Together they cover both lists.
pub(crate) fn compare<T: Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut known = BTreeMap::new();
    let mut number = |item| {
        let next = known.len();
        *known.entry(item).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(&mut number).collect();
    let new: Vec<usize> = new.iter().map(&mut number).collect();
    compare_numbers(&old, &new)
}

/// Compares what is left between the lines with which both lists begin and end. If that is more than `most` pairs, all of it
/// counts as changed.
pub(crate) fn compare_middle<T: Ord>(old: &[T], new: &[T], most: usize) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    let middle = if old_len.saturating_mul(new_len) > most {
        alloc::vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
    } else {
        compare(&old_rest[..old_len], &new_rest[..new_len])
    };
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    let tail = [equal(head + old_len, head + new_len, tail)];
    let ops =
        [equal(0, 0, head)].into_iter().chain(middle.into_iter().map(|op| shifted(op, head))).chain(tail);
    ops.filter(|op| !(op.old_range().is_empty() && op.new_range().is_empty())).collect()
}

/// Returns an operation further down in both lists.
fn shifted(op: DiffOp, by: usize) -> DiffOp {
    let (tag, old, new) = op.as_tag_tuple();
    let (old_index, new_index) = (old.start + by, new.start + by);
    let (old_len, new_len) = (old.len(), new.len());
    match tag {
        DiffTag::Equal => DiffOp::Equal { old_index, new_index, len: old_len },
        DiffTag::Delete => DiffOp::Delete { old_index, old_len, new_index },
        DiffTag::Insert => DiffOp::Insert { old_index, new_index, new_len },
        DiffTag::Replace => DiffOp::Replace { old_index, old_len, new_index, new_len },
    }
}

fn compare_numbers(old: &[usize], new: &[usize]) -> Vec<DiffOp> {
    let mut operations = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut operations, old, 0..old.len(), new, 0..new.len());
    operations.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::{Algorithm, capture_diff_slices};

    use super::*;

    proptest! {
        #[test]
        fn the_operations_are_those_of_the_items_themselves(
            old in prop::collection::vec("[abc]{0,2}", 0..40), new in prop::collection::vec("[abc]{0,2}", 0..40),
        ) {
            prop_assert_eq!(compare(&old, &new), capture_diff_slices(Algorithm::Myers, &old, &new));
        }
    }
}
