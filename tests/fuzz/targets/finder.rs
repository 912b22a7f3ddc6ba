//! Compares finding with a naive second version.

#![no_main]

use emend_fuzz::finder::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| check(&input));
