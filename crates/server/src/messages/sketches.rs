//! The messages about sketches of which it is not certain what they mean.

use std::fmt;

use emend_workspace::problem::{SketchDoubt, UncertainSketch};

use super::{Message, write_lines, write_numbers};

pub(super) fn write(
    message: &Message<'_>,
    uncertain: &UncertainSketch,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let UncertainSketch { line, text, doubt, version, shown } = uncertain;
    let (path, version) = (message.path(), version.short());
    if *doubt == SketchDoubt::OnlyMarkers {
        return write!(
            f,
            "The sketch has no line but markers. Give the new lines with the lines of {path} around them."
        );
    }
    write!(
        f,
        "Nothing was changed in {path} (version {version}). Line {line} of the sketch, '{}', ",
        text.trim()
    )?;
    match doubt {
        SketchDoubt::OnlyMarkers => {}
        SketchDoubt::MarkerInFile => f.write_str(
            "is a marker, and the file has the same line. Write the marker in other words, such as \
             '... unchanged code ...' in a comment:",
        )?,
        SketchDoubt::LikeMarker => f.write_str(
            "would be written as it is, and seems to stand for code. A marker is a comment alone on its line, such as \
             '// ... existing code ...'; or give the code.",
        )?,
        SketchDoubt::NothingAbove => f.write_str(
            "is not where the file begins, and no marker above it says that these lines stay. Put \
             '... existing code ...' above it, in a comment:",
        )?,
        SketchDoubt::NothingBelow => f.write_str(
            "is not where the file ends, and no marker below it says that these lines stay. Put \
             '... existing code ...' below it, in a comment:",
        )?,
        SketchDoubt::NoAnchor => f.write_str(
            "begins a part of which no line stands in the file exactly once, so its place is not known. Repeat a line of the \
             file that stands there once, above or below the new lines.",
        )?,
        SketchDoubt::Several { lines } => {
            f.write_str("stands beside a marker and at several places: ")?;
            write_numbers(lines, f)?;
            f.write_str(". Begin or end the part with a line that stands once, such as the next one in the file.")?;
        }
        SketchDoubt::OtherIndentation { has_tabs } => {
            let (theirs, own) = if *has_tabs { ("tabs", "blanks") } else { ("blanks", "tabs") };
            write!(f, "is indented with {own}, and the file with {theirs}. Send the new lines with {theirs}.")?;
        }
        SketchDoubt::NewAtEdge { is_above } => {
            let side = if *is_above { "above" } else { "below" };
            write!(
                f,
                "is new beside a marker, so it may be an insertion or replace a line. Repeat the line of the file \
                 {side} it, between it and the marker. The nearest line that is certain:"
            )?;
        }
        SketchDoubt::OutOfOrder { at } => write!(
            f,
            "stands in line {at} of the file, and other parts of the sketch leave no room for it there. Keep the order of \
             the file; to move or copy lines, use replace_lines with from:"
        )?,
        SketchDoubt::Deletes => f.write_str(
            "follows lines that the sketch leaves out without a word. If they are to go, put '... removed ...' in their \
             place, in a comment; if they stay, give them or a marker:",
        )?,
        SketchDoubt::Replaces => f.write_str(
            "would replace more lines than there are new ones, and they are not like each other. If they are to go, put \
             '... removed ...' in their place, in a comment, beside the new lines; if they stay, give them or a marker:",
        )?,
        SketchDoubt::LosesDefinition { title } => write!(
            f,
            "would replace lines with the name of {}, which the sketch does not define. If it is to go or to get another \
             name, put '... removed ...' in its place, in a comment, beside the new lines; if it stays, give it or a marker:",
            super::symbols::title(title)
        )?,
        SketchDoubt::DropsLines { title, dropped, filled } => {
            let title = super::symbols::title(title);
            write!(
                f,
                "begins {title} as a whole, and {dropped} of its {filled} lines neither stay nor have a like line in their \
                 place. If they are to go, send replace_whole with its name; if they stay, give them or a marker:"
            )?;
        }
        SketchDoubt::RemovesNothing => {
            f.write_str("says that lines go, but between the lines around it there are none:")?;
        }
        SketchDoubt::NothingKept => f.write_str(
            "stands below a marker, and in the file nothing is between it and the line that ends the part above. Leave the \
             marker out if no line should be there; else end the part above with a line that stands once:",
        )?,
    }
    write_lines(shown, f)
}
