//! Changes one cell of a notebook, and compares its cells then with those that it should have.

#![no_main]

use emend_fuzz::data::check_notebook;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_notebook(bytes));
