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
    /// Where that begins which belongs to the next definition: below the last banner, or at the end.
    belonging: usize,
    /// Whether an attribute is among them, so that nothing parts them from the next definition.
    holds: bool,
    /// Whether they are at the top of the file, and may be about the file.
    is_header: bool,
    begins_with_banner: bool,
    /// How many lines say something.
    said: usize,
    /// How many of these a banner parts from what belongs to the definition.
    parted: usize,
}

impl Lead {
    /// Begins with a comment of so many lines.
    pub(super) fn begun(range: &Range<usize>, use_of_it: Use, is_header: bool, lines: usize) -> Self {
        let nothing = Self {
            range: range.start..range.start,
            belonging: range.start,
            holds: false,
            is_header,
            begins_with_banner: use_of_it == Use::Banner,
            said: 0,
            parted: 0,
        };
        nothing.and_comment(range, use_of_it, lines)
    }

    /// Begins with an attribute, with what belongs to it, and more above it if that is open.
    pub(super) fn held(range: Range<usize>, is_open: bool) -> Self {
        let (belonging, parted) = (range.start, usize::from(is_open));
        Self { range, belonging, holds: true, is_header: false, begins_with_banner: false, said: 0, parted }
    }

    /// Adds a comment of so many lines.
    pub(super) fn and_comment(mut self, range: &Range<usize>, use_of_it: Use, lines: usize) -> Self {
        let is_empty = self.belonging().is_none();
        self.range.end = range.end;
        if self.holds {
            return self;
        }
        self.said += if use_of_it == Use::Banner { 0 } else { lines };
        if use_of_it != Use::Remark {
            self.belonging = range.end;
            self.parted = self.said;
        } else if is_empty {
            self.belonging = range.start;
        }
        self
    }

    /// Decides what of a comment at the top of a file belongs to the definition directly below it: all of one that is
    /// clearly its documentation, and nothing of any other.
    pub(super) fn resolved(mut self, text: &[u8]) -> Self {
        let said = &text[self.range.clone()];
        if self.is_header && !is_of_definition(said) {
            self.belonging = self.range.end;
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

    /// Returns where that begins which belongs to the next definition, if anything does.
    pub(super) fn belonging(&self) -> Option<usize> {
        (self.belonging < self.range.end).then_some(self.belonging)
    }

    /// Returns whether more of it may belong to the definition: a banner may stand in the middle of its comment. What is
    /// certain is one line between two banners, with a comment of the definition below: the title of a part of the file.
    ///
    /// The doc comment of Rust, which is an attribute, is such a comment as well, and no part of the file's own.
    pub(super) fn is_open(&self, is_documented: bool) -> bool {
        let has_comment = is_documented || self.belonging().is_some();
        let is_title = self.parted == 1 && self.begins_with_banner && has_comment;
        let is_of_file = self.is_header && is_documented;
        self.parted > 0 && !is_title && !is_of_file
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
