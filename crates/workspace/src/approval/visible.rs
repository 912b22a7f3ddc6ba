//! Text as a person must see it who decides by it.
//!
//! What a file holds may be meant to deceive: a control sequence that rubs out a line on a terminal, a character that
//! turns the order of the others around, one that shows nothing at all. All of these are written out.

use std::fmt::Write;

use crate::policy::folded::is_ignorable;

/// The text with everything that a terminal would not show as it stands written as an escape, such as `\u{1b}`. Line
/// feeds and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' => shown.push_str("\\r"),
            _ if character.is_control() || is_unseen(character) => {
                let _ = write!(shown, "{}", character.escape_unicode());
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// The same of what belongs on one line, such as a name.
#[must_use]
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// Characters of no width, and those that change how their neighbours are shown.
fn is_unseen(character: char) -> bool {
    is_ignorable(character)
        || matches!(
            character,
            '\u{2028}'..='\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(visible_line("a\nb\r"), "a\\nb\\r");
    }

    #[test]
    fn what_would_deceive_the_eye_is_written_out() {
        assert_eq!(visible("-a\tb\n+ü 漢 🙂\n"), "-a\tb\n+ü 漢 🙂\n");
        assert_eq!(visible("+x\u{1b}[1A\u{1b}[2K\r\n"), "+x\\u{1b}[1A\\u{1b}[2K\\r\n");
        assert_eq!(visible("a\u{202e}b\u{200b}c\u{9b}\u{7f}\0"), "a\\u{202e}b\\u{200b}c\\u{9b}\\u{7f}\\u{0}");
    }
}
