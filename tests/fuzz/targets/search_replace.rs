//! Parses any text as search-replace blocks.

#![no_main]

use emend_edit::patch::recognise::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| emend_fuzz::parsers::check(text, Some(Format::SearchReplace)));
