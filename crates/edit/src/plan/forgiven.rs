//! What a layer forgave: the lines of the file that it took for other ones of the request.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use similar::DiffOp;

use crate::compare::compare;
use crate::find::{Haystack, Layer};
use crate::patch::Line;
use crate::text::{LineEnding, split_ending, split_lines};

/// The number of line pairs above which the lines of a hunk are compared one by one.
const COMPARED: usize = 1_000_000;

/// A difference between the request and the place where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forgiven {
    /// A line of the file stands for another one of the request, or one of the two has no counterpart.
    Line {
        /// The number of the line in the file, or of the line before which it lacks one.
        line: usize,
        /// The line in the file.
        file: Option<String>,
        /// The line in the request.
        request: Option<String>,
    },
    /// A line ends otherwise, as do others below it.
    Ending {
        /// The number of the line in the file.
        line: usize,
        /// Its ending in the file.
        file: LineEnding,
        /// Its ending in the request.
        request: LineEnding,
    },
}

/// Returns how the lines at `place` differ from the lines that the request has for them.
pub(super) fn lines(h: &Haystack<'_>, written: &[Line], place: &Range<usize>, layer: Layer) -> Vec<Forgiven> {
    let request: Vec<&str> = written.iter().filter_map(Line::before).collect();
    let bytes = &h.text().bytes()[place.clone()];
    let file: Vec<String> =
        split_lines(bytes).map(|line| String::from_utf8_lossy(split_ending(line).0).into_owned()).collect();
    let first = h.line_number(place.start);
    let line = |at: usize, file: Option<&String>, request: Option<&&str>| Forgiven::Line {
        line: first + at,
        file: file.cloned(),
        request: request.map(|line| (*line).into()),
    };
    let counts_differ = matches!(layer, Layer::EdgeBlanks | Layer::InnerBlanks | Layer::ContextDrift);
    if !counts_differ || file.len().saturating_mul(request.len()) > COMPARED {
        let pairs = file.iter().zip(&request).enumerate();
        let others = pairs.filter(|(_, (file, request))| file.as_str() != **request);
        return others.map(|(at, (file, request))| line(at, Some(file), Some(request))).collect();
    }
    let known: Vec<&str> = file.iter().map(String::as_str).collect();
    let mut forgiven = Vec::new();
    for op in compare(&known, &request) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (of_file, of_request) = (op.old_range(), op.new_range());
        for at in 0..of_file.len().max(of_request.len()) {
            let file = file[of_file.clone()].get(at);
            forgiven.push(line(
                of_file.start + at.min(of_file.len()),
                file,
                request[of_request.clone()].get(at),
            ));
        }
    }
    forgiven
}

/// Returns how the endings of the lines at `place` differ from those in the request, each difference once.
pub(super) fn endings(h: &Haystack<'_>, request: &[u8], place: &Range<usize>) -> Vec<Forgiven> {
    let mut forgiven: Vec<Forgiven> = Vec::new();
    let first = h.line_number(place.start);
    let pairs = split_lines(&h.text().bytes()[place.clone()]).zip(split_lines(request));
    for (at, (file, request)) in pairs.enumerate() {
        let (file, request) = (split_ending(file).1, split_ending(request).1);
        let is_it = |known: &Forgiven| matches!(known, Forgiven::Ending { file: a, request: b, .. } if (*a, *b) == (file, request));
        if file != request && !forgiven.iter().any(is_it) {
            forgiven.push(Forgiven::Ending { line: first + at, file, request });
        }
    }
    forgiven
}
