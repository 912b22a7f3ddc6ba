//! Places in a text as a server counts them: lines from zero, and columns in units of its own.

use lsp_types::PositionEncodingKind;

/// A place between two characters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The line, from zero.
    pub(crate) line: u32,
    /// The column from zero, in the units of the server.
    pub(crate) units: u32,
}

/// The units in which a server counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColumnUnits {
    Utf8,
    Utf16,
    Utf32,
}

impl ColumnUnits {
    /// Returns the units that a server has chosen; UTF-16 if it has chosen none.
    pub(crate) fn from_encoding(kind: Option<&PositionEncodingKind>) -> Self {
        match kind.map(PositionEncodingKind::as_str) {
            Some("utf-8") => Self::Utf8,
            Some("utf-32") => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn units_of(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Returns how many whole characters of a line fit into this number of units.
    pub(crate) fn characters(self, line: &str, units: u32) -> u32 {
        let mut left = units as usize;
        let mut characters = 0;
        for character in line.chars() {
            if left < self.units_of(character) {
                break;
            }
            left -= self.units_of(character);
            characters += 1;
        }
        characters
    }

    /// Returns the position of a byte of a text.
    pub(crate) fn position(self, text: &str, offset: usize) -> Position {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default();
        let units: usize = column.chars().map(|character| self.units_of(character)).sum();
        let bounded = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: bounded(line), units: bounded(units) }
    }
}

/// The lines of a text.
pub(crate) struct Lines<'t>(Vec<&'t str>);

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self(text.split('\n').collect())
    }

    /// Returns the byte of the text at a position; `None` where the text has no such place.
    pub(crate) fn offset(&self, units: ColumnUnits, position: Position) -> Option<usize> {
        let (first, line) = (self.0[0], *self.0.get(position.line as usize)?);
        let start = line.as_ptr() as usize - first.as_ptr() as usize;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (mut left, mut offset) = (position.units as usize, start);
        for character in line.chars() {
            if left == 0 {
                break;
            }
            left = left.checked_sub(units.units_of(character))?;
            offset += character.len_utf8();
        }
        (left == 0).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_told_in_characters() {
        let line = "a😀ü x";
        for (units, at) in [(ColumnUnits::Utf8, 8), (ColumnUnits::Utf16, 5), (ColumnUnits::Utf32, 4)] {
            assert_eq!(units.characters(line, at), 4, "{units:?}");
        }
        // In the middle of a character, and behind the end.
        assert_eq!(ColumnUnits::Utf16.characters(line, 2), 1);
        assert_eq!(ColumnUnits::Utf8.characters(line, 99), 5);
    }

    #[test]
    fn a_position_is_a_byte_and_back() {
        let text = "a😀ü x\r\n\nüb";
        for units in [ColumnUnits::Utf8, ColumnUnits::Utf16, ColumnUnits::Utf32] {
            for (offset, character) in text.char_indices() {
                let position = units.position(text, offset);
                let expected = if character == '\n' && offset == 10 { None } else { Some(offset) };
                assert_eq!(Lines::new(text).offset(units, position), expected, "{units:?} {offset}");
            }
            let end = units.position(text, text.len());
            assert_eq!(Lines::new(text).offset(units, end), Some(text.len()));
        }
    }

    #[test]
    fn a_position_that_the_text_does_not_have_is_none() {
        let lines = Lines::new("a😀\nb");
        let at = |line, units| lines.offset(ColumnUnits::Utf16, Position { line, units });
        assert_eq!([at(0, 1), at(0, 3), at(1, 1)], [Some(1), Some(5), Some(7)]);
        // Within a character, behind the end of a line, and behind that of the text.
        assert_eq!([at(0, 2), at(0, 4), at(1, 2), at(2, 0)], [None; 4]);
    }
}
