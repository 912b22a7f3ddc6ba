//! Leads: the comments and attributes above a definition, and what of them belongs to it.

use std::ops::Range;

use super::banner::{Use, is_documentation};

/// Words of a comment that is about its file: a licence, an instruction to a tool.
const OF_FILES: [&[u8]; 13] = [
    b"@file",
    b"@overview",
    b"@module",
    b"@package",
    b"@license",
    b"@preserve",
    b"@jest",
    b"@jsx",
    b"@flow",
    b"@ts-",
    b"copyright",
    b"spdx",
    b"licen",
];

/// Comments and attributes that stand together.
#[derive(Debug, Clone)]
pub(super) struct Lead {
    range: Range<usize>,
    /// The start of the part that belongs to the next definition: below the last banner, or the end if nothing does.
    start_of_documentation: usize,
    /// Whether an attribute is among them, so that nothing parts them from the next definition.
    holds: bool,
    /// Whether they are at the top of the file, and may be about the file.
    is_header: bool,
    begins_with_banner: bool,
    /// Whether the last banner is a row that has no title above it.
    is_below_row: bool,
    /// How many lines say something.
    said: usize,
    /// How many of these a banner parts from what belongs to the definition.
    parted: usize,
}

impl Lead {
    /// Creates a lead that begins with a comment of this many lines.
    pub(super) fn from_comment(range: &Range<usize>, use_of_it: Use, is_header: bool, lines: usize) -> Self {
        let nothing = Self {
            range: range.start..range.start,
            start_of_documentation: range.start,
            holds: false,
            is_header,
            begins_with_banner: matches!(use_of_it, Use::Banner | Use::Row),
            is_below_row: false,
            said: 0,
            parted: 0,
        };
        nothing.with_comment(range, use_of_it, lines)
    }

    /// Creates a lead that ends with an attribute and includes what belongs to that; more may belong to it if it is open.
    pub(super) fn from_attribute(range: Range<usize>, is_open: bool) -> Self {
        let (start_of_documentation, parted) = (range.start, usize::from(is_open));
        Self {
            range,
            start_of_documentation,
            holds: true,
            is_header: false,
            begins_with_banner: false,
            is_below_row: false,
            said: 0,
            parted,
        }
    }

    /// Adds a comment of this many lines below.
    pub(super) fn with_comment(mut self, range: &Range<usize>, use_of_it: Use, lines: usize) -> Self {
        let is_empty = self.start_of_documentation().is_none();
        self.range.end = range.end;
        if self.holds {
            return self;
        }
        self.said += if matches!(use_of_it, Use::Banner | Use::Row) { 0 } else { lines };
        if use_of_it != Use::Remark {
            self.is_below_row = use_of_it == Use::Row && self.said == 0;
            self.start_of_documentation = range.end;
            self.parted = self.said;
        } else if is_empty {
            self.start_of_documentation = range.start;
        }
        self
    }

    /// Decides what of a comment at the top of a file belongs to the definition directly below it: all of one that is
    /// clearly its documentation, and nothing of any other.
    pub(super) fn resolved(mut self, text: &[u8]) -> Self {
        let said = &text[self.range.clone()];
        if self.is_header && !is_of_definition(said) {
            self.start_of_documentation = self.range.end;
            let is_shebang = said.starts_with(b"#!") && !said.contains(&b'\n');
            self.parted = if is_shebang { 0 } else { self.said };
        }
        self
    }

    pub(super) fn range(&self) -> &Range<usize> {
        &self.range
    }

    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Returns the start of the part that belongs to the next definition, if anything does.
    pub(super) fn start_of_documentation(&self) -> Option<usize> {
        (self.start_of_documentation < self.range.end).then_some(self.start_of_documentation)
    }

    /// Returns whether more of it may belong to the definition: a banner may stand in the middle of its comment. What is
    /// certain is one line between two banners, with a comment of the definition below: the title of a part of the file.
    ///
    /// The doc comment of Rust, which is an attribute, is such a comment as well, and no part of the file's own.
    pub(super) fn is_open(&self, text: &[u8], is_documented: bool) -> bool {
        let has_comment = is_documented || self.start_of_documentation().is_some();
        let is_title = self.parted == 1 && self.begins_with_banner && has_comment;
        let is_of_file = self.is_header && is_documented;
        // A title below a row that no second one closes, unless it is clearly documentation.
        let below = self.start_of_documentation().map(|start| text[start..self.range.end].trim_ascii_start());
        let may_be_title = self.is_below_row
            && below.is_some_and(|below| !is_documentation(below) && !below.starts_with(b"///"));
        may_be_title || (self.parted > 0 && !is_title && !is_of_file)
    }
}

/// Returns whether a comment at the top of a file is clearly about the definition below it.
fn is_of_definition(comment: &[u8]) -> bool {
    let comment = comment.trim_ascii();
    let is_one = is_documentation(comment)
        && memchr::memmem::find(comment, b"*/").is_some_and(|end| end + 2 == comment.len());
    let is_rows = || comment.split(|byte| *byte == b'\n').all(|line| line.trim_ascii().starts_with(b"///"));
    let lower = comment.to_ascii_lowercase();
    (is_one || is_rows()) && !OF_FILES.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}
