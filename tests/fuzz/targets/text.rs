//! Makes one edit in a text of any bytes.

#![no_main]

use emend_fuzz::text::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input<'_>| check(&input));
