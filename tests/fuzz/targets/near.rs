//! What a refusal shows of a file.

#![no_main]

use emend_fuzz::near::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| check(&input));
