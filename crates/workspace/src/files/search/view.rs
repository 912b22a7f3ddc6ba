//! The text of a file as a reading shows it, without what only an edit needs of it.

use emend_edit::Text;

/// So much of a large file is looked at first.
pub(super) const PEEKED: u64 = 16 * 1024;

/// Whether these first bytes show that the file is no text: a NUL, and no mark of UTF-16.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    !has_utf_16_mark(bytes) && memchr::memchr(0, bytes).is_some()
}

fn has_utf_16_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// The text of a file as it is read.
pub(super) enum View {
    /// UTF-8, which is nearly all there is.
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

    /// Without the byte order mark, which is not in the first line.
    pub(super) fn body(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            Self::Decoded(text) => &text.bytes()[text.body()],
        }
    }
}
