//! Sketches: new text with markers such as `// ... existing code ...` in place of what stays as it is.
//!
//! ```text
//! sketch   = [marker] segment *(1*marker segment) [marker]
//! segment  = 1*(line / removal)
//! marker   = a comment that stands for lines that stay           ; elision::mark
//! removal  = a comment that stands for lines that go             ; elision::mark
//! line     = any other line
//! ```
//!
//! Blank lines beside a marker, and at the beginning and the end, are layout and belong to no segment. Parsing decides
//! nothing about a file: a line that looks like a marker may stand in the file, and planning refuses that.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::elision::{self, Mark};

/// How many open blocks are compared with the end of one.
const DEEPEST: usize = 100;

/// A parsed sketch: segments of new text, between which lines of the file stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    segments: Vec<Segment>,
    kept_above: bool,
    kept_below: bool,
    markers: Vec<Marker>,
    text: String,
    replaced: Vec<String>,
}

/// A line that stands for lines of the file that stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The number of the line in the sketch, counted from 1.
    pub line: usize,
    /// The line, with its indentation.
    pub text: String,
}

/// A stretch of new text without a marker. Its first and its last line are not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of its first line in the sketch, counted from 1.
    pub first: usize,
    /// Its lines.
    pub lines: Vec<SketchLine>,
}

/// A line of a segment, without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SketchLine {
    /// A line that will be in the file, whether or not it is there.
    Text(String),
    /// A comment that says that lines of the file are left out here on purpose.
    Removed(String),
}

impl Sketch {
    /// Parses the text of a sketch. Every text is one; without markers it is a single segment.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut sketch = Self { text: text.into(), ..Self::default() };
        let mut open: Option<Segment> = None;
        for (i, line) in text.lines().enumerate() {
            match elision::mark(line) {
                Some(Mark::Kept) => {
                    sketch.close(open.take());
                    sketch.kept_above |= sketch.segments.is_empty();
                    sketch.kept_below = true;
                    sketch.markers.push(Marker { line: i + 1, text: line.into() });
                }
                mark => {
                    let is_blank = line.trim().is_empty();
                    if is_blank && open.is_none() {
                        continue;
                    }
                    sketch.kept_below &= is_blank;
                    let line = match mark {
                        Some(_) => SketchLine::Removed(line.into()),
                        None => SketchLine::Text(line.into()),
                    };
                    open.get_or_insert_with(|| Segment { first: i + 1, lines: Vec::new() }).lines.push(line);
                }
            }
        }
        sketch.close(open);
        sketch
    }

    /// Lets the definitions with these names lose any of their lines.
    #[must_use]
    pub fn replacing(self, replaced: Vec<String>) -> Self {
        Self { replaced, ..self }
    }

    /// Returns whether the definition with this path may lose any of its lines.
    #[must_use]
    pub fn replaces(&self, path: &str) -> bool {
        self.replaced.iter().any(|name| is_named(path, name))
    }

    fn close(&mut self, segment: Option<Segment>) {
        let Some(mut segment) = segment else { return };
        while segment.lines.last().is_some_and(SketchLine::is_blank) {
            segment.lines.pop();
        }
        self.segments.push(segment);
    }

    /// Returns the segments, in order. Between each two of them lines of the file stay.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns whether a marker stands above the first segment.
    #[must_use]
    pub fn is_kept_above(&self) -> bool {
        self.kept_above
    }

    /// Returns whether a marker stands below the last segment.
    #[must_use]
    pub fn is_kept_below(&self) -> bool {
        self.kept_below
    }

    /// Returns the lines that were taken for markers.
    #[must_use]
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// Returns the text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text with an empty line in the place of what is code to nobody: each marker, which would be the comment of a
    /// definition below, and the beginnings and ends of blocks that the sketch does not show to the other end.
    #[must_use]
    pub fn code(&self) -> String {
        let mut lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        for marker in &self.markers {
            lines[marker.line - 1] = "\n";
        }
        // The indentation of each block that is open, and the lines that begin it.
        let nearest = |open: &[(usize, Range<usize>)], indent: usize| {
            let from = open.len().saturating_sub(DEEPEST);
            open[from..].iter().rposition(|(other, _)| *other == indent).map(|place| from + place)
        };
        let mut open: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, line) in lines.iter_mut().enumerate() {
            let (text, indent) = (line.trim(), line.len() - line.trim_start().len());
            let (opens, closes) =
                (text.matches(['(', '[', '{']).count(), text.matches([')', ']', '}']).count());
            if !text.starts_with([')', ']', '}']) {
                open.truncate(open.len().saturating_sub(closes.saturating_sub(opens)));
                open.extend((opens > closes).then_some((indent, at..at + 1)));
            } else if let Some(place) = nearest(&open, indent) {
                let first = open[place].1.start;
                open.truncate(place);
                open.extend(text.ends_with(['(', '[', '{']).then_some((indent, first..at + 1)));
            } else {
                *line = "\n";
            }
        }
        for (_, head) in open {
            lines[head].fill("\n");
        }
        lines.concat()
    }

    /// Returns the lines that will be in the file, each with its number in the sketch, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.segments.iter().flat_map(|segment| {
            let lines = segment.lines.iter().enumerate();
            lines.filter_map(|(i, line)| Some((segment.first + i, line.text()?)))
        })
    }
}

impl SketchLine {
    /// Returns the line, if it will be in the file.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(line) => Some(line),
            Self::Removed(_) => None,
        }
    }

    /// Returns whether it is a line without anything but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text().is_some_and(|line| line.trim().is_empty())
    }
}

/// Returns whether a definition with this path may have this name, in which the beginning of the path may be missing.
pub(crate) fn is_named(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    /// The segments as texts, `|` for a marker, and `-` for a removal.
    fn shape(text: &str) -> String {
        let sketch = Sketch::parse(text);
        let shown = |segment: &Segment| {
            let lines = segment.lines.iter().map(|line| line.text().unwrap_or("-").trim().to_string());
            format!("{}:{}", segment.first, lines.collect::<Vec<_>>().join(","))
        };
        let segments: Vec<String> = sketch.segments().iter().map(shown).collect();
        let edge = |kept: bool| if kept { "|" } else { "" };
        format!("{}{}{}", edge(sketch.is_kept_above()), segments.join("|"), edge(sketch.is_kept_below()))
    }

    #[test]
    fn markers_part_segments() {
        for (text, wanted) in [
            ("a\nb\n", "1:a,b"),
            ("// ... existing code ...\na\n// ... rest ...\n", "|2:a|"),
            ("a\n# ... existing code ...\nb\n", "1:a|3:b"),
            ("a\n// ...\n// ... other methods ...\n\nb", "1:a|5:b"),
            ("<!-- ... existing markup ... -->\n<b/>\n", "|2:<b/>"),
            ("a\n    # ... rest of the class\n", "1:a|"),
            ("", ""),
            ("// ... existing code ...\n", "||"),
            ("\n\n", ""),
        ] {
            assert_eq!(shape(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn blank_lines_beside_markers_belong_to_no_segment() {
        assert_eq!(shape("\na\n\nb\n\n// ...\n\nc\n\n"), "2:a,,b|8:c");
        assert_eq!(shape("a\n// ... existing code ...\n\n\n"), "1:a|");
        assert_eq!(shape("a\r\n\r\n// ... rest\r\nb\r\n"), "1:a|4:b");
    }

    #[test]
    fn a_removal_is_a_line_of_its_segment() {
        assert_eq!(shape("a\n// ... removed ...\nb\n// ... existing code ...\n"), "1:a,-,b|");
    }

    #[test]
    fn blocks_that_are_not_shown_to_both_ends_are_no_code() {
        for (text, wanted) in [
            (
                "// ...\n}\n\nfn a() {\n    b();\n}\n\nfn c(\n    d: u8,\n) {\n// ...\n",
                "\n\n\nfn a() {\n    b();\n}\n\n\n\n\n\n",
            ),
            (
                "class A {\n  // ...\n  }\n\n  b() {\n    if (c) {\n    } else {\n    }\n  }\n}\n",
                "class A {\n\n\n\n  b() {\n    if (c) {\n    } else {\n    }\n  }\n}\n",
            ),
            ("f(g(\n  1))\n", "f(g(\n  1))\n"),
        ] {
            assert_eq!(Sketch::parse(text).code(), wanted, "{text}");
        }
    }

    #[test]
    fn the_lines_that_will_be_in_the_file_have_their_numbers() {
        let sketch = Sketch::parse("// ...\na\n# ... removed ...\n  b\n// ... rest\n\nc\n");
        assert_eq!(sketch.lines().collect::<Vec<_>>(), [(2, "a"), (4, "  b"), (7, "c")]);
        let markers = sketch.markers().iter().map(|marker| (marker.line, marker.text.as_str()));
        assert_eq!(markers.collect::<Vec<_>>(), [(1, "// ..."), (5, "// ... rest")]);
    }
}
