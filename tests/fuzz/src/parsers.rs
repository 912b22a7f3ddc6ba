//! The parsers: none panics, and a printed patch parses to the same patch.

use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::{Patch, print, unified, v4a};

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
    if let Some(text) = print::v4a(patch) {
        assert_eq!(v4a::parse(&text).as_ref(), Ok(patch), "printed as V4A:\n{text}");
    }
    if let Some(text) = print::unified(patch) {
        assert_eq!(unified::parse(&text, None).as_ref(), Ok(patch), "printed as a diff:\n{text}");
    }
}
