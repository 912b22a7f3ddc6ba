//! The comparison of two lists, of lines or of characters.
//!
//! All comparisons go through one function over numbers. The algorithm is generic, and compiling it for each kind of item
//! took a third of the time that this crate takes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

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
