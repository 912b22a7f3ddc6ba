//! Text made visible for a person who must decide by it.
//!
//! A file's content may be meant to deceive: a control sequence that erases a line on a terminal, a character that
//! reverses the order of others, one without any width. All of these are escaped.

use std::fmt::Write;

use crate::policy::folded::is_ignorable;

/// The longest run of blanks that is shown; longer runs are counted instead.
const LONGEST_RUN: usize = 100;
/// The longest line that is not pointed out.
const LONGEST_LINE: usize = 500;
/// The number of long lines that are pointed out.
const SHOWN: usize = 5;

/// Escapes everything that a terminal would not show as it is, such as `\u{1b}`. Line feeds and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            // Text after so many blanks would be out of sight.
            ' ' | '\t' if run(&text[at..], character) > LONGEST_RUN => {
                let length = run(&text[at..], character);
                let _ = write!(shown, "[{length} times {}]", character.escape_unicode());
                rest.nth(length - 2);
            }
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

/// Returns how often a text repeats this character at its beginning.
fn run(text: &str, character: char) -> usize {
    text.chars().take_while(|&other| other == character).count()
}

/// Returns remarks on what may deceive a person in these names and this diff: very long lines, and letters in names
/// that look like others.
#[must_use]
pub fn pointed_out<'a>(names: impl IntoIterator<Item = &'a str>, diff: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    for name in names {
        let words = name.split(|character: char| !character.is_alphabetic());
        for word in words.filter(|word| is_deceptive(word)) {
            let letters = word.chars().filter(|&letter| looks_like_another(letter));
            let letters: Vec<String> = letters.map(|letter| letter.escape_unicode().to_string()).collect();
            let remark =
                format!("A name has letters that look like others: {} in {word}", letters.join(", "));
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    let lengths = diff.lines().map(|line| line.chars().count()).enumerate();
    let long: Vec<_> = lengths.filter(|&(_, length)| length > LONGEST_LINE).take(SHOWN + 1).collect();
    for (at, length) in long.iter().take(SHOWN) {
        remarks.push(format!("Line {} of the diff has {length} characters: look at it to its end", at + 1));
    }
    if long.len() > SHOWN {
        remarks.push("More lines of the diff are as long".into());
    }
    remarks
}

/// Returns whether a word has non-ASCII letters and all of them look like ASCII ones. In another language, they
/// stand among others.
fn is_deceptive(word: &str) -> bool {
    let foreign = || word.chars().filter(|letter| !letter.is_ascii());
    foreign().next().is_some() && foreign().all(looks_like_another)
}

/// Returns whether a letter can be mistaken for an ASCII one: Cyrillic, Greek and Armenian letters, full-width and
/// mathematical ones.
fn looks_like_another(letter: char) -> bool {
    "асеһіјкорԛѕухуԁԝѵАВЕНІЈКМОРЅТУХԌԚԜαγικνορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսօցհıɑɡℓ".contains(letter)
        || matches!(letter, '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}' | '\u{2160}'..='\u{217f}')
}

/// Escapes like [`visible`], and line feeds too, for text on one line, such as a name.
#[must_use]
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// Returns whether a character has no width or changes how its neighbours are shown.
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
    fn what_stands_far_to_the_right_is_pointed_out() {
        let (blanks, few) = (" ".repeat(3000), " ".repeat(100));
        assert_eq!(visible(&format!("x{blanks}y\n{few}z")), format!("x[3000 times \\u{{20}}]y\n{few}z"));
        assert_eq!(visible(&"\t".repeat(101)), "[101 times \\u{9}]");
        assert_eq!(pointed_out([], &format!("-a\n+{blanks}y\n")).len(), 1);
        assert_eq!(pointed_out(["src/main.rs"], "-a\n+b\n").len(), 0);
        assert_eq!(pointed_out([], &format!("{blanks}\n").repeat(9)).len(), SHOWN + 1);
    }

    #[test]
    fn letters_that_look_like_others_are_pointed_out_where_they_can_deceive() {
        for name in ["sub/\u{430}.txt", "p\u{430}ypal.rs", "\u{ff41}.txt", "\u{3bf}.md"] {
            assert_eq!(pointed_out([name], "").len(), 1, "{name}");
        }
        for name in ["документ.txt", "ελληνικά.md", "café.txt", "漢字.txt", "straße.rs"] {
            assert_eq!(pointed_out([name], "").len(), 0, "{name}");
        }
    }

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
