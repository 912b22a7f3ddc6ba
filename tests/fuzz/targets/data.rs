//! Changes one value of a data file, and compares what the file means then with what it should.

#![no_main]

use emend_fuzz::data::check_value;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_value(bytes));
