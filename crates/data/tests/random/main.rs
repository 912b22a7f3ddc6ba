//! Random changes of random data files and notebooks. The fuzz target `data` makes the same from other bytes.

mod generator;

use generator::{check_notebook, check_value};

/// Bytes for one case, the same on each run.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    };
    std::iter::repeat_with(next).take(1500).collect()
}

#[test]
fn a_value_changes_and_nothing_else_means_anything_else() {
    for format in 0..5 {
        let made =
            (0..1500).filter(|seed| check_value(format, &bytes(*seed * 5 + u64::from(format)))).count();
        assert!(made > 300, "format {format}: only {made} changes were made");
    }
}

#[test]
fn a_cell_changes_and_no_other_byte() {
    let made = (0..1500).filter(|seed| check_notebook(&bytes(*seed))).count();
    assert!(made > 700, "only {made} changes were made");
}
