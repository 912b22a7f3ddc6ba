//! Random changes of data files, as in the tests of the crate.

#[path = "../../../crates/data/tests/random/generator.rs"]
mod generator;

/// Makes a change of a value, in a file of the format that the first byte names.
pub fn check_value(bytes: &[u8]) {
    if let Some((format, bytes)) = bytes.split_first() {
        generator::check_value(*format, bytes);
    }
}

/// Makes a change of a notebook.
pub fn check_notebook(bytes: &[u8]) {
    generator::check_notebook(bytes);
}
