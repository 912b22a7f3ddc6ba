//! The wording of the differences that a layer accepted, in full: no reader of an answer can know them otherwise.

use std::fmt::Write;

use emend_edit::plan::{Forgiven, PlacedHunk};
use emend_edit::text::LineEnding;

use super::near::visible;

/// Returns the differences that the layer accepted for a hunk; `None` if it was found as it is written.
pub(crate) fn forgiven(hunk: &PlacedHunk) -> Option<String> {
    let layer = hunk.layer.filter(|_| !hunk.forgiven.is_empty())?;
    let mut text = format!("Hunk {} was found by the layer {layer}, which took", hunk.number);
    for (at, forgiven) in hunk.forgiven.iter().enumerate() {
        text.push_str(if hunk.forgiven.len() == 1 {
            " "
        } else if at == 0 {
            ":\n"
        } else {
            "\n"
        });
        let _ = match forgiven {
            Forgiven::Line { line, file, request } => {
                let side = |text: &Option<String>| text.as_deref().map_or("nothing".into(), visible);
                write!(text, "line {line} {} for {}", side(file), side(request))
            }
            Forgiven::Ending { line, file, request } => {
                write!(text, "{} in line {line} for {}", ending(*file), ending(*request))
            }
        };
    }
    Some(text)
}

fn ending(ending: LineEnding) -> &'static str {
    match ending {
        LineEnding::None => "no line ending",
        LineEnding::Lf => "LF",
        LineEnding::Crlf => "CRLF",
    }
}
