//! Checks the nearest lines that a refusal shows.

#![no_main]

use emend_fuzz::near::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| check(&input));
