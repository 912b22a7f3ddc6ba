//! The text of a file as a reading shows it, without the data that only edits need.

use emend_edit::Text;

/// The number of bytes of a large file that are examined first.
pub(super) const PEEKED: u64 = 16 * 1024;

/// Returns whether these first bytes show a binary file: a NUL without a UTF-16 byte order mark.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    !has_utf_16_mark(bytes) && memchr::memchr(0, bytes).is_some()
}

fn has_utf_16_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// The decoded text of a file.
pub(super) enum View {
    /// UTF-8 bytes, as in nearly all files.
    Plain(Vec<u8>),
    Decoded(Box<Text>),
}

impl View {
    pub(super) fn of(bytes: Vec<u8>) -> Option<Self> {
        if is_binary(&bytes) {
            return None;
        }
        if std::str::from_utf8(&bytes).is_ok() {
            return Some(Self::Plain(bytes));
        }
        Text::new(bytes).ok().map(|text| Self::Decoded(Box::new(text)))
    }

    /// Returns the whole text, with its version; nothing if it cannot be edited.
    pub(super) fn into_text(self) -> Option<Text> {
        match self {
            Self::Plain(bytes) => Text::new(bytes).ok(),
            Self::Decoded(text) => Some(*text),
        }
    }

    /// Returns the text without the byte order mark, which is not part of the first line.
    pub(super) fn body(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            Self::Decoded(text) => &text.bytes()[text.body()],
        }
    }
}
