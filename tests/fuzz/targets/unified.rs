//! Parses any text as a unified diff.

#![no_main]

use emend_edit::patch::recognise::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| emend_fuzz::parsers::check(text, Some(Format::Unified)));
