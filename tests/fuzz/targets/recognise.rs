//! Parses any text in the format that is recognised.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| emend_fuzz::parsers::check(text, None));
