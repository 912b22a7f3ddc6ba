//! Texts of any bytes, and one edit of them.

#![no_main]

use emend_fuzz::text::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input<'_>| check(&input));
