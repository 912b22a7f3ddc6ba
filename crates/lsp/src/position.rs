//! The columns of a server, which counts them in units of its own.

use lsp_types::PositionEncodingKind;

/// The units in which a server counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}
