//! Compares planning and applying with a naive second version.

#![no_main]

use emend_fuzz::plan::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| check(&input));
