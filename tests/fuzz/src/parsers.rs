//! The parsers: none panics, and a printed patch parses to the same patch.

use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::{Patch, Section, print, unified};
use emend_edit::problem::Problem;

/// Reads a text in this format, or in the one that it shows, with and without a path.
pub fn check(text: &str, format: Option<Format>) {
    for path in [None, Some("path/to/file")] {
        match recognise::parse(text, format, path) {
            Ok(patch) => read(&patch),
            Err(problems) => {
                assert!(!problems.is_empty(), "a refusal says why");
                for problem in problems {
                    assert!(!problem.to_string().is_empty());
                }
            }
        }
    }
    if format.is_none() {
        assert_eq!(recognise::recognise(text), recognise::recognise(text));
    }
}

fn read(patch: &Patch) {
    assert!(!patch.sections().is_empty(), "a patch of nothing is refused");
    let _ = (patch.hunks(), patch.is_small(), patch.paths().count(), patch.paths_by_line_number().count());
    // Which state of the files the sections refer to is the format's own.
    let sections = |patch: &Patch| -> Vec<Section> {
        patch.sections().iter().map(|section| Section { is_unordered: false, ..section.clone() }).collect()
    };
    let again = |parsed: Result<Patch, Vec<Problem>>, text: &str| match parsed {
        Ok(parsed) => assert_eq!(sections(&parsed), sections(patch), "printed:\n{text}"),
        Err(problems) => panic!("{problems:?} of what was printed:\n{text}"),
    };
    if let Some(text) = print::unified(patch) {
        again(unified::parse(&text, None), &text);
    }
}
