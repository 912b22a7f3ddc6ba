//! Applies a sketch of a known change, and compares the file then with what it should be.

#![no_main]

use emend_fuzz::sketch::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(bytes));
