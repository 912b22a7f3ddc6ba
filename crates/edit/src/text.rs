//! A file's content as text: its bytes, its version, and where its lines are.
//!
//! This module alone decides what counts as a line ending, what a BOM is, and which bytes are text at all. Bytes are
//! never rewritten: a [`Text`] hands out views, and an [`crate::edit::Edit`] replaces ranges of them.
//!
//! The content of a file that is not UTF-8 is kept twice: as it is on disk (raw), and as UTF-8 (the view). The version
//! is that of the raw bytes; matching, showing and counting use the view.
//!
//! A line ends in LF or CRLF. A CR that no LF follows is an ordinary character.

mod newlines;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use once_cell::race::OnceBox;

use crate::encoding::Encoding;
use crate::problem::{Kind, NotText};
use crate::tokens::Tokens;
use crate::version::{Blocks, Hashing, Version};

use self::newlines::Newlines;

/// The byte order mark in the view. It belongs to the file, not to its first line.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A file's content, known to be text, with its version.
#[derive(Debug)]
pub struct Text {
    /// The view.
    bytes: Vec<u8>,
    /// The bytes on disk, where they differ from the view.
    raw: Option<Vec<u8>>,
    encoding: Encoding,
    /// Whether the raw bytes are known to be ASCII without NUL, as those of most files are.
    is_ascii: bool,
    version: Version,
    /// The hashes of the blocks of the raw bytes.
    blocks: Blocks,
    /// The newlines of the view.
    newlines: Newlines,
    /// The words of the view, computed when first used.
    tokens: OnceBox<Tokens>,
}

impl Text {
    /// Accepts bytes in UTF-8, in UTF-16 with a byte order mark, or in another encoding that explains every one of
    /// them; anything else, and anything with NUL, is `not-text`.
    pub fn new(raw: Vec<u8>) -> Result<Self, Kind> {
        let mut builder = TextBuilder::default();
        builder.push(&raw);
        Self::from_builder(raw, builder)
    }

    /// Accepts bytes as [`Text::new`] does, all of which `builder` has seen while they were read.
    pub fn from_builder(raw: Vec<u8>, builder: TextBuilder) -> Result<Self, Kind> {
        let TextBuilder { hashing, newlines, has_others, len } = builder;
        debug_assert_eq!(raw.len(), len);
        let seen = hashing.finish_with_blocks();
        if !has_others {
            // ASCII without NUL is UTF-8 and no other encoding.
            return Ok(Self {
                is_ascii: true,
                ..Self::from_parts(raw, None, Encoding::UTF_8, seen, newlines)
            });
        }
        match Encoding::detect(&raw) {
            Ok((encoding, None)) => Ok(Self::from_parts(raw, None, encoding, seen, newlines)),
            Ok((encoding, Some(view))) => {
                let newlines = Newlines::of(&view);
                Ok(Self::from_parts(view, Some(raw), encoding, seen, newlines))
            }
            Err(why) => Err(Kind::NotText { why }),
        }
    }

    /// Makes the text of bytes that are ASCII without NUL, and were hashed.
    pub(crate) fn from_ascii(bytes: Vec<u8>, hashing: Hashing) -> Self {
        debug_assert!(bytes.is_ascii() && !bytes.contains(&0));
        let newlines = Newlines::of(&bytes);
        Self {
            is_ascii: true,
            ..Self::from_parts(bytes, None, Encoding::UTF_8, hashing.finish_with_blocks(), newlines)
        }
    }

    /// Returns whether the raw bytes are known to be ASCII without NUL.
    pub(crate) fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    fn from_parts(
        bytes: Vec<u8>,
        raw: Option<Vec<u8>>,
        encoding: Encoding,
        (version, blocks): (Version, Blocks),
        newlines: Newlines,
    ) -> Self {
        Self { bytes, raw, encoding, is_ascii: false, version, blocks, newlines, tokens: OnceBox::new() }
    }

    /// Makes a text with this view in this encoding; the error is the first character that the encoding lacks.
    pub(crate) fn with_encoding(view: Vec<u8>, encoding: Encoding) -> Result<Self, char> {
        let raw = if encoding.is_view() {
            None
        } else {
            let text = core::str::from_utf8(&view).map_err(|_| char::REPLACEMENT_CHARACTER)?;
            Some(encoding.encode(text)?)
        };
        let mut hashing = Hashing::default();
        hashing.update(raw.as_deref().unwrap_or(&view));
        let newlines = Newlines::of(&view);
        Ok(Self::from_parts(view, raw, encoding, hashing.finish_with_blocks(), newlines))
    }

    /// Returns the view: all of the file as UTF-8, with the BOM. The view of a file in UTF-8 with invalid bytes keeps
    /// those.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns all bytes of the file as they are on disk.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(&self.bytes)
    }

    /// Returns the encoding of the raw bytes.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the view without its BOM, for use outside this file. A guessed encoding is an error: it does no harm to
    /// the file, which keeps its bytes, but a copy of wrong characters would go unnoticed.
    pub fn known_characters(&self) -> Result<&str, Kind> {
        let text = core::str::from_utf8(&self.bytes[self.body()]).ok();
        text.filter(|_| self.encoding.is_unicode()).ok_or(Kind::NotText { why: NotText::Uncertain })
    }

    /// Returns how many bytes of memory the content takes.
    #[must_use]
    pub fn footprint(&self) -> usize {
        self.bytes.len() + self.raw.as_ref().map_or(0, Vec::len)
    }

    /// Returns the version of the raw bytes.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the hashes of the blocks of the raw bytes.
    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Returns whether the file starts with a BOM.
    #[must_use]
    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// Returns the range that edits may touch: everything but the BOM.
    #[must_use]
    pub fn body(&self) -> Range<usize> {
        let start = if self.has_bom() { BOM.len() } else { 0 };
        start..self.bytes.len()
    }

    /// Returns the lines of the body.
    #[must_use]
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(&self.bytes, self.body())
    }

    /// Returns the number of lines of the body, without the index of all of them.
    #[must_use]
    pub fn line_count(&self) -> usize {
        let is_unended = !self.body().is_empty() && self.bytes.last() != Some(&b'\n');
        self.newlines.total() + usize::from(is_unended)
    }

    /// Returns the index of the line that holds the byte at `offset`, as [`Lines::index_of`] does.
    #[must_use]
    pub fn line_index(&self, offset: usize) -> usize {
        self.newlines.before(&self.bytes, offset).min(self.line_count().saturating_sub(1))
    }

    /// Returns the one-based number of the line that begins at `offset` or holds the byte there.
    #[must_use]
    pub fn line_number(&self, offset: usize) -> usize {
        self.newlines.before(&self.bytes, offset) + 1
    }

    /// Returns the offset of line `index`, as [`Lines::start`] does.
    #[must_use]
    pub fn line_start(&self, index: usize) -> usize {
        match index {
            0 => self.body().start,
            _ => self.newlines.end_of(&self.bytes, index).unwrap_or(self.bytes.len()),
        }
    }

    /// Returns the words of each line of the body.
    pub(crate) fn tokens(&self) -> &Tokens {
        self.tokens.get_or_init(|| {
            let lines = split_lines(&self.bytes[self.body()]);
            Box::new(Tokens::from_lines(lines.map(|line| split_ending(line).0)))
        })
    }

    /// Returns the kind of line endings that the file uses.
    #[must_use]
    pub fn line_endings(&self) -> LineEndings {
        if memchr::memchr(b'\r', &self.bytes).is_none() {
            let ends = memchr::memchr(b'\n', &self.bytes).is_some();
            return if ends { LineEndings::Lf } else { LineEndings::None };
        }
        let (mut lf, mut crlf) = (false, false);
        for at in memchr::memchr_iter(b'\n', &self.bytes) {
            if at > 0 && self.bytes[at - 1] == b'\r' {
                crlf = true;
            } else {
                lf = true;
            }
            if lf && crlf {
                return LineEndings::Mixed;
            }
        }
        match (lf, crlf) {
            (_, false) if lf => LineEndings::Lf,
            (false, true) => LineEndings::Crlf,
            _ => LineEndings::None,
        }
    }
}

/// The facts about the bytes of a file that are collected while it is read, in one pass.
#[derive(Clone, Debug, Default)]
pub struct TextBuilder {
    hashing: Hashing,
    newlines: Newlines,
    /// Whether some byte was not ASCII, or was NUL.
    has_others: bool,
    len: usize,
}

/// How many bytes are examined and hashed at a time, so that they stay in the processor's cache.
const CHUNK: usize = 64 * 1024;

impl TextBuilder {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        for chunk in bytes.chunks(CHUNK) {
            self.has_others = self.has_others || !chunk.is_ascii() || memchr::memchr(0, chunk).is_some();
            self.newlines.push(chunk);
            self.hashing.update(chunk);
        }
    }
}

/// The line endings of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEndings {
    /// There are no line endings.
    None,
    /// Every line ends in LF.
    Lf,
    /// Every line ends in CRLF.
    Crlf,
    /// Some lines end in LF and some in CRLF.
    Mixed,
}

/// The ending of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// No ending, as the last line of a file may have.
    None,
    /// `\n`
    Lf,
    /// `\r\n`
    Crlf,
}

impl LineEnding {
    /// Returns the bytes of this ending.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Lf => b"\n",
            Self::Crlf => b"\r\n",
        }
    }
}

/// An index of where each line of some bytes starts.
#[derive(Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    /// The offset of each line; u32, since files over 4 GiB are refused earlier.
    starts: Vec<u32>,
    end: usize,
}

impl<'a> Lines<'a> {
    /// Indexes the lines within `body`.
    #[must_use]
    pub fn new(bytes: &'a [u8], body: Range<usize>) -> Self {
        debug_assert!(u32::try_from(bytes.len()).is_ok(), "files over 4 GiB are refused before this");
        let mut starts = Vec::new();
        if !body.is_empty() {
            starts.push(body.start as u32);
            for at in memchr::memchr_iter(b'\n', &bytes[body.clone()]) {
                let next = body.start + at + 1;
                if next < body.end {
                    starts.push(next as u32);
                }
            }
        }
        Self { bytes, starts, end: body.end }
    }

    /// Returns the number of lines. A final newline ends the last line and does not begin another.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no line at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the offset of line `index`; for the line after the last, the end of the body.
    #[must_use]
    pub fn start(&self, index: usize) -> usize {
        self.starts.get(index).map_or(self.end, |&start| start as usize)
    }

    /// Returns the range of line `index` with its ending.
    #[must_use]
    pub fn with_ending(&self, index: usize) -> Range<usize> {
        self.start(index)..self.start(index + 1)
    }

    /// Returns line `index` without its ending.
    #[must_use]
    pub fn content(&self, index: usize) -> &'a [u8] {
        split_ending(&self.bytes[self.with_ending(index)]).0
    }

    /// Returns the ending of line `index`.
    #[must_use]
    pub fn ending(&self, index: usize) -> LineEnding {
        split_ending(&self.bytes[self.with_ending(index)]).1
    }

    /// Returns the index of the line that holds the byte at `offset` (the last line for the end of the body).
    #[must_use]
    pub fn index_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }
}

/// Splits a line into its content and its ending.
#[must_use]
pub fn split_ending(line: &[u8]) -> (&[u8], LineEnding) {
    match line {
        [content @ .., b'\r', b'\n'] => (content, LineEnding::Crlf),
        [content @ .., b'\n'] => (content, LineEnding::Lf),
        content => (content, LineEnding::None),
    }
}

/// Splits text into lines with their endings. Empty text has no lines.
pub fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n')
}

/// Returns the ending for a new line at `offset`: that of the line before it, else that of the line after it. `None` in
/// a file without line endings.
#[must_use]
pub fn ending_near(bytes: &[u8], offset: usize) -> Option<LineEnding> {
    let at = match memchr::memrchr(b'\n', &bytes[..offset]) {
        Some(at) => at,
        None => offset + memchr::memchr(b'\n', &bytes[offset..])?,
    };
    Some(if at > 0 && bytes[at - 1] == b'\r' { LineEnding::Crlf } else { LineEnding::Lf })
}

/// Returns `bytes` with every line ending replaced by `ending`.
#[must_use]
pub fn with_endings(bytes: &[u8], ending: LineEnding) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for line in split_lines(bytes) {
        let (content, own) = split_ending(line);
        out.extend_from_slice(content);
        if own != LineEnding::None {
            out.extend_from_slice(ending.bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        Text::new(bytes.to_vec()).unwrap()
    }

    #[test]
    fn lines_end_in_lf_or_crlf_and_a_lone_cr_is_content() {
        let text = text(b"a\r\nb\rc\n\nlast");
        let lines = text.lines();
        let contents: Vec<&[u8]> = (0..lines.len()).map(|i| lines.content(i)).collect();
        assert_eq!(contents, [&b"a"[..], b"b\rc", b"", b"last"]);
        assert_eq!(lines.ending(0), LineEnding::Crlf);
        assert_eq!(lines.ending(3), LineEnding::None);
        assert_eq!(lines.index_of(3), 1);
        assert_eq!(lines.start(4), text.bytes().len());
        assert_eq!(text.line_endings(), LineEndings::Mixed);
    }

    #[test]
    fn the_bom_is_outside_the_body_and_an_empty_body_has_no_lines() {
        let text = text(b"\xef\xbb\xbf");
        assert_eq!(text.body(), 3..3);
        assert!(text.lines().is_empty());
    }

    #[test]
    fn what_is_counted_while_reading_agrees_with_the_index_of_all_lines() {
        let long = |ends: &str| "a line\n".repeat(3_000) + &"x".repeat(9_000) + "\n\n" + ends;
        for content in
            ["", "\u{feff}", "\n", "\u{feff}a\n\nb", &long(""), &long("last"), &long("\u{feff}é\r\n")]
        {
            let text = text(content.as_bytes());
            let lines = text.lines();
            assert_eq!(text.line_count(), lines.len());
            for index in (0..lines.len() + 2).filter(|index| *index < 9 || index % 100 > 97) {
                assert_eq!(text.line_start(index), lines.start(index), "{index}");
            }
            for offset in (0..=text.bytes().len()).filter(|offset| *offset < 9 || offset % 512 > 509) {
                assert_eq!(text.line_index(offset), lines.index_of(offset), "{offset}");
            }
            assert_eq!(text.line_index(text.bytes().len()), lines.index_of(text.bytes().len()));
        }
    }

    #[test]
    fn the_version_is_that_of_the_raw_bytes_and_the_bom_is_outside_of_the_body_in_utf_16_too() {
        let raw = b"\xff\xfea\0\r\0\n\0";
        let text = text(raw);
        assert_eq!((text.bytes(), text.body()), (&b"\xef\xbb\xbfa\r\n"[..], 3..6));
        assert_eq!((text.raw(), text.version()), (&raw[..], Version::hash(raw)));
        assert_eq!(text.line_endings(), LineEndings::Crlf);
    }

    #[test]
    fn a_new_line_takes_the_ending_of_the_line_before_it() {
        assert_eq!(ending_near(b"a\r\nb\n", 3), Some(LineEnding::Crlf));
        assert_eq!(ending_near(b"a\r\nb\n", 1), Some(LineEnding::Crlf));
        assert_eq!(ending_near(b"a\r\nb\nc", 5), Some(LineEnding::Lf));
        assert_eq!(ending_near(b"abc", 1), None);
    }
}
