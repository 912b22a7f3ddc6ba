//! Checks for new text that its writer cannot have meant.
//!
//! - Elisions ([`crate::elision`]): they would replace the code that they stand for. A change that removes no line loses
//!   no code, so it may contain such a line; a line that only speaks of what stays, or is only dots, counts if the change
//!   loses two lines.
//! - Escaped text: through one JSON or XML encoding too many, `->` became `-&gt;`, `"` became `\"` and `'` became
//!   `\u0027`. This is refused only if all of the new text is escaped so, and nothing in the file.
//! - The signs with which refusals show white space, at the beginning of a line, if the file has none of them.
//! - A sign for a line end (`^M`, `\r` in letters, `␍`, `␊`) at the end of every line, if the file has none.
//! - Line numbers of a reading before every line, if neither the file nor the old text has such lines.
//!
//! Text that the file itself contains is never suspect. Replacements by line number and whole files are not checked for
//! escapes, so that escaped text can be written.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::elision::{is_dots, is_elision, speaks_of_what_stays};
use crate::find::Haystack;
use crate::patch::Line;
use crate::problem::Kind;

/// The lines that a change removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loss {
    /// Whether a line goes that is not blank. Lines far from an elision count too: which of several equal lines stay is the
    /// comparison's choice, not the writer's.
    pub(super) any: bool,
    /// How many more lines go than come, blank ones and those aside that speak of what stays.
    pub(super) lines: usize,
}

/// Refuses suspect added lines. `loss` is what the same change removes.
pub(super) fn check(h: &Haystack<'_>, added: &[&str], loss: impl FnOnce() -> Loss) -> Result<(), Kind> {
    elisions(h, added.iter().copied(), loss)?;
    escapes(h, added)?;
    shown_space(h, added)?;
    shown_endings(h, added)
}

/// Refuses elisions that the file does not contain, if the change removes lines that they may stand for.
pub(super) fn elisions<'l>(
    h: &Haystack<'_>,
    added: impl Iterator<Item = &'l str>,
    loss: impl FnOnce() -> Loss,
) -> Result<(), Kind> {
    // Dots below the head of a block are its body.
    let mut is_body = true;
    let is_suspect = |line: &&str| {
        let is_suspect = is_elision(line) || speaks_of_what_stays(line) || is_dots(line) && !is_body;
        is_body = line.trim().is_empty() || line.trim_end().ends_with([':', '{', '(', '[', ',']);
        is_suspect
    };
    let mut suspects = added.filter(is_suspect).peekable();
    if suspects.peek().is_none() {
        return Ok(());
    }
    let loss = loss();
    let lines = h.lines();
    let known: BTreeSet<&[u8]> = (0..lines.len()).map(|i| lines.content(i).trim_ascii()).collect();
    let stands_for_code = |line: &&str| {
        (is_elision(line) && loss.any || loss.lines > 1) && !known.contains(line.trim().as_bytes())
    };
    match suspects.find(stands_for_code) {
        Some(line) => Err(Kind::OmissionPlaceholder { line: line.trim().into() }),
        None => Ok(()),
    }
}

/// Returns what these lines remove.
pub(super) fn loss(lines: &[Line]) -> Loss {
    let counts = |text: &&str| !text.trim().is_empty() && !speaks_of_what_stays(text) && !is_dots(text);
    let went = || lines.iter().filter(|line| matches!(line, Line::Removed(_))).filter_map(Line::before);
    let came = lines.iter().filter(|line| line.before().is_none()).filter_map(Line::after);
    let lost = went().filter(counts).count();
    Loss {
        any: went().any(|text| !text.trim().is_empty()),
        lines: lost.saturating_sub(came.filter(counts).count()),
    }
}

/// Returns what replacing `old` by `new` removes.
pub(super) fn loss_between(old: &[&str], new: &[&str]) -> Loss {
    loss(&Line::between(old, new))
}

/// The escapes of doubly escaped text, a description of the plain text, and the characters that plain text would have.
const ESCAPES: &[(&[&str], &str, &[char])] = &[
    (
        &["&lt;", "&gt;", "&quot;", "&#39;", "&amp;"],
        "the characters themselves (<, >, \", ', &)",
        &['<', '>'],
    ),
    (&["\\\""], "plain quotation marks", &['"']),
    (
        &["\\u003c", "\\u003C", "\\u003e", "\\u003E", "\\u0026", "\\u0027", "\\u0022"],
        "the characters themselves (<, >, &, ', \")",
        &['<', '>', '&', '\'', '"'],
    ),
];

/// The signs that a refusal shows in place of white space, and the names of what they stand for.
const SHOWN_SPACE: &[(&str, &str)] = &[("\u{b7}", "spaces"), ("\u{2192}", "tabs")];

/// Refuses lines whose special characters are all escaped, if the file has such characters but no escapes.
fn escapes(h: &Haystack<'_>, added: &[&str]) -> Result<(), Kind> {
    let bytes = h.text().bytes();
    for (escapes, instead, plain) in ESCAPES {
        let Some((line, escape)) = added.iter().find_map(|line| {
            escapes.iter().find(|escape| line.contains(**escape)).map(|escape| (line, escape))
        }) else {
            continue;
        };
        let without =
            |line: &str| escapes.iter().fold(String::from(line), |line, escape| line.replace(escape, ""));
        let has = |needle: &str| memchr::memmem::find(bytes, needle.as_bytes()).is_some();
        // Markup needs entities for these characters.
        if has("</") && escape.starts_with('&') {
            continue;
        }
        let mut one = [0; 4];
        if !added.iter().any(|line| without(line).contains(*plain))
            && !escapes.iter().any(|escape| has(escape))
            && plain.iter().any(|c| has(c.encode_utf8(&mut one)))
        {
            return Err(Kind::EscapedText { line: line.trim().into(), escape, instead });
        }
    }
    Ok(())
}

/// Refuses lines that begin with a sign for white space right before their first word, if the file has no such sign.
fn shown_space(h: &Haystack<'_>, added: &[&str]) -> Result<(), Kind> {
    for &(sign, instead) in SHOWN_SPACE {
        let is_shown = |line: &&&str| {
            let rest = line.trim_start_matches(['\u{b7}', '\u{2192}']);
            line.starts_with(sign) && !rest.is_empty() && !rest.starts_with(char::is_whitespace)
        };
        if let Some(line) = added.iter().find(is_shown)
            && memchr::memmem::find(h.text().bytes(), sign.as_bytes()).is_none()
        {
            return Err(Kind::EscapedText { line: (*line).into(), escape: sign, instead });
        }
    }
    Ok(())
}

/// The signs with which programs show the end of a line of a CRLF file.
const SHOWN_ENDINGS: &[&str] = &["^M", "\\r", "\u{240d}", "\u{240a}"];

/// Refuses lines that all end with a sign for a carriage return, if the file has no such sign.
fn shown_endings(h: &Haystack<'_>, added: &[&str]) -> Result<(), Kind> {
    for &sign in SHOWN_ENDINGS {
        let mut telling = added.iter().filter(|line| !line.trim().is_empty()).peekable();
        let Some(&&line) = telling.peek() else { return Ok(()) };
        if telling.all(|line| line.ends_with(sign))
            && memchr::memmem::find(h.text().bytes(), sign.as_bytes()).is_none()
        {
            return Err(Kind::EscapedText { line: line.into(), escape: sign, instead: "real line endings" });
        }
    }
    Ok(())
}

/// A line number before a line: what stands before it, the number, and the character after it.
#[derive(PartialEq, Eq)]
struct Gutter<'l> {
    head: &'l str,
    number: usize,
    end: Option<char>,
}

impl<'l> Gutter<'l> {
    /// Reads signs, a number and a sign, such as `//12 `, `<12>` or `12-`. What lists, times, keys and their values have there is
    /// no gutter.
    fn before(line: &'l str) -> Option<Self> {
        let line = line.trim_start();
        let (head, rest) = line.split_at(line.find(char::is_alphanumeric)?);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut after = rest[digits..].chars();
        let end = after.next();
        let is_value = |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, '"' | '\'');
        if end == Some(':') && after.next().is_some_and(is_value) {
            return None;
        }
        let is_sign = |c: char| !c.is_alphanumeric() && !",.;)_".contains(c);
        let number = rest[..digits].parse().ok()?;
        end.is_none_or(is_sign).then_some(Self { head, number, end })
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.head == other.head && (self.end == other.end || self.end.is_none() || other.end.is_none())
    }
}

/// How many lines the numbers of a reading may be off: the file may have changed since.
const DRIFT: usize = 10;

/// Refuses lines that all have the line numbers of a reading before them, if no line of the file and of the old text looks
/// so. The numbers follow each other but for the lines that stay between them, and are near those of the old lines. Numbers
/// of lists begin at 0 or 1, and others can be larger than any number of a line.
pub(super) fn gutters<'l>(
    h: &Haystack<'_>,
    old: impl Iterator<Item = &'l str>,
    added: &[&str],
) -> Result<(), Kind> {
    let telling = added.iter().filter(|line| !line.trim().is_empty());
    let Some(gutters) = telling.map(|line| Gutter::before(line)).collect::<Option<Vec<Gutter<'_>>>>() else {
        return Ok(());
    };
    let [first, .., last] = &gutters[..] else { return Ok(()) };
    let old: Vec<&str> = old.collect();
    let counts = |pair: &[Gutter<'_>]| pair[0].is_alike(&pair[1]) && pair[0].number <= pair[1].number;
    let lines = h.lines();
    let is_number = first.number > 1
        && first.number < last.number
        && last.number - first.number < added.len() + old.len()
        && last.number <= lines.len() + added.len();
    if !is_number || !gutters.windows(2).all(counts) {
        return Ok(());
    }
    let is_such = |line: &str| Gutter::before(line).is_some_and(|gutter| gutter.is_alike(first));
    let is_of_file = || (0..lines.len()).any(|i| is_such(&String::from_utf8_lossy(lines.content(i))));
    let reach = added.len() + old.len() + DRIFT;
    if old.iter().any(|line| is_such(line)) || is_of_file() || !are_near(h, &old, first.number, reach) {
        return Ok(());
    }
    let line = added.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    Err(Kind::ShownNumbers { line: line.into() })
}

/// Returns whether each of these lines that the file has is at most `reach` lines from the one with this number.
fn are_near(h: &Haystack<'_>, old: &[&str], number: usize, reach: usize) -> bool {
    let wanted: BTreeSet<&[u8]> = old.iter().map(|line| line.trim().as_bytes()).collect();
    let (mut near, mut far) = (BTreeSet::new(), BTreeSet::new());
    let lines = h.lines();
    for i in 0..lines.len() {
        let line = lines.content(i).trim_ascii();
        if wanted.contains(line) {
            let found = if number.abs_diff(i + 1) <= reach { &mut near } else { &mut far };
            found.insert(line);
        }
    }
    far.is_subset(&near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn an_elision_is_refused_if_it_is_new_and_something_is_taken_away() {
        let text = Text::new(b"a\n  // ... rest\n".to_vec()).unwrap();
        let refused = |added: &[&str], any: bool| match check(&Haystack::new(&text), added, || Loss {
            any,
            lines: 1,
        }) {
            Err(Kind::OmissionPlaceholder { line }) => Some(line),
            other => other.map(|()| None).unwrap(),
        };
        assert_eq!(refused(&["b", " // ... existing code "], true), Some("// ... existing code".into()));
        assert_eq!(refused(&["b", "// ... existing code"], false), None);
        assert_eq!(refused(&["// ... rest"], true), None, "the file has it");
        assert_eq!(refused(&["// ... rest", "# ... rest"], true), Some("# ... rest".into()));
        let loses = |old: &[&str], new: &[&str]| loss_between(old, new).any;
        assert!(loses(&["a", "b"], &["a"]) && !loses(&["a", " "], &["a"]) && !loses(&["a"], &["b", "a"]));
    }

    #[test]
    fn a_comment_on_what_stays_is_refused_where_it_takes_the_place_of_lines() {
        let text = Text::new(b"a\nb\nc\n// same as before\n".to_vec()).unwrap();
        let refused = |old: &[&str], new: &[&str]| {
            matches!(
                check(&Haystack::new(&text), new, || loss_between(old, new)),
                Err(Kind::OmissionPlaceholder { .. })
            )
        };
        assert!(refused(&["a", "b", "c"], &["x", "// continues as before"]));
        assert!(refused(&["a", "b", "c"], &["x", "(rest of function unchanged)"]));
        assert!(!refused(&["a", "b"], &["x", "// continues as before"]), "one line is lost");
        assert!(refused(&["a", "// b", "// c"], &["// continues as before"]));
        assert!(!refused(&["a", "b", "c"], &["x", "y", "// continues as before"]));
        assert!(!refused(&["a", "b", "c"], &["// same as before"]), "the file has it");
        assert!(refused(&["a", "b", "c"], &["x", "# ..."]) && refused(&["a", "b", "c"], &["x", "..."]));
        assert!(!refused(&["a", "b", "c"], &["x:", "..."]) && !refused(&["a", "b"], &["x", "..."]));
    }

    fn escaped(file: &str, added: &[&str]) -> bool {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        matches!(
            check(&Haystack::new(&text), added, || Loss { any: true, lines: 2 }),
            Err(Kind::EscapedText { .. })
        )
    }

    #[test]
    fn text_that_is_escaped_throughout_is_suspect() {
        assert!(escaped("fn f() -> T {\n", &["fn g() -&gt; T {"]));
        assert!(escaped("say(\"a\")\n", &["say(\\\"b\\\")"]));
        assert!(escaped("say('a')\n", &["say(\\u0027b\\u0027)"]));
        assert!(escaped("if a {\n", &["\u{b7}\u{b7}b", "c"]) && escaped("a\n", &["\u{2192}b"]));
    }

    #[test]
    fn signs_for_white_space_may_be_meant() {
        assert!(!escaped("\u{b7} a\n", &["\u{b7}b"]));
        assert!(!escaped("a\n", &["\u{b7} b", "a \u{2192}b", "\u{2192}"]));
    }

    #[test]
    fn shown_line_ends_and_line_numbers_are_suspect_if_every_line_has_them() {
        assert!(
            escaped("a\nb\n", &["x^M", "", "y^M"])
                && escaped("a\n", &["x\\r"])
                && escaped("a\n", &["x\u{240d}"])
        );
        assert!(!escaped("a\n", &["x^M", "y"]) && !escaped("type ^M\n", &["x^M"]) && !escaped("a\n", &[""]));
        let file = "a\n".repeat(99);
        let text = Text::new(file.clone().into_bytes()).unwrap();
        let numbered = |added: &[&str]| gutters(&Haystack::new(&text), ["a"; 3].into_iter(), added).is_err();
        for added in [
            &["12|x", "", "13|y"][..],
            &["//72 x", "//73 y", "//73 z"],
            &["<26>  x", "<27>", "<28>y"],
            &["73#ab|x", "74#ab|y"],
            &["16\u{a0}x", "17\u{a0}"],
            &["  9- x", " 10- y"],
            &["12|x", "15|y"],
            &["12:x", "13:", "14:y"],
        ] {
            assert!(numbered(added), "{added:?}");
        }
        for added in [
            &["12|x"][..],
            &["1|x", "2|y"],
            &["2. x", "3. y"],
            &["14|x", "12|y"],
            &["14|x", "14|y"],
            &["12|x", "y"],
            &["404: x", "405: y"],
            &["x2 = 1", "x3 = 1"],
            &["2x", "3x"],
            &["12|x", "13-y"],
            &["12|x", "19|y"],
            &["12: x", "13: y"],
            &["12:'x'", "13:\"y\""],
            &["12:30 x", "13:30 y"],
        ] {
            assert!(!numbered(added), "{added:?}");
        }
        let text = Text::new((file + "7|a\n").into_bytes()).unwrap();
        assert_eq!(gutters(&Haystack::new(&text), [].into_iter(), &["8|x", "9|y"]), Ok(()));
        let text = Text::new(b"a\n".repeat(99)).unwrap();
        assert_eq!(gutters(&Haystack::new(&text), ["8|x"].into_iter(), &["8|x", "9|y"]), Ok(()));
    }

    #[test]
    fn shown_numbers_follow_each_other_and_are_those_of_the_place() {
        let file: String = (1..=520).map(|number| alloc::format!("line_{number}()\n\n")).collect();
        let text = Text::new(file.into_bytes()).unwrap();
        let refused =
            |old: &[&str], added: &[&str]| match gutters(&Haystack::new(&text), old.iter().copied(), added) {
                Err(Kind::ShownNumbers { line }) => Some(line),
                other => other.map(|()| None).unwrap(),
            };
        assert_eq!(refused(&[], &["    200: \"OK\",", "    404: \"missing\","]), None);
        assert_eq!(refused(&[], &["200 OK", "404 missing"]), None);
        assert_eq!(refused(&[], &["09:30 coffee", "10:15 talk", "12:00 lunch"]), None);
        assert_eq!(refused(&[], &["200|x", "201|y"]), Some("200|x".into()), "the place is not known");
        let at_200 = ["line_100()", ""];
        assert_eq!(refused(&at_200, &["199|x", "", "201|y"]), Some("199|x".into()));
        assert_eq!(refused(&at_200, &["401|x", "402|y"]), None, "a blank line is near, and the other is not");
        assert_eq!(refused(&["line_999()"], &["401|x", "402|y"]), Some("401|x".into()));
    }

    #[test]
    fn escapes_beside_plain_characters_or_in_such_a_file_are_meant() {
        assert!(!escaped("fn f() -> T {\n", &["s.replace('>', \"&gt;\")"]));
        assert!(!escaped("a > b &gt;\n", &["b &gt; c"]));
        assert!(!escaped("say(\"a\")\n", &["say(\"a \\\"b\\\"\")"]));
        assert!(!escaped("no such characters\n", &["a &gt; b"]));
    }
}
