//! Parses any text as V4A.

#![no_main]

use emend_edit::patch::recognise::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| emend_fuzz::parsers::check(text, Some(Format::V4a)));
