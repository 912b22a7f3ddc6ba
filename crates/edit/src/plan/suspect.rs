//! Checks for new text that its writer cannot have meant.
//!
//! - Elisions ([`crate::elision`]): they would replace the code that they stand for. A change that removes no line loses
//!   no code, so it may contain such a line; a line that only speaks of what stays counts if the change loses two lines.
//! - Escaped text: through one JSON or XML encoding too many, `->` became `-&gt;`, `"` became `\"` and `'` became
//!   `\u0027`. This is refused only if all of the new text is escaped so, and nothing in the file.
//! - The signs with which refusals show white space, at the beginning of a line, if the file has none of them.
//!
//! Text that the file itself contains is never suspect. Replacements by line number and whole files are not checked for
//! escapes, so that escaped text can be written.

use alloc::collections::BTreeSet;
use alloc::string::String;

use crate::elision::{is_elision, speaks_of_what_stays};
use crate::find::Haystack;
use crate::patch::Line;
use crate::problem::Kind;

/// What a change removes.
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
    shown_space(h, added)
}

/// Refuses elisions that the file does not contain, if the change removes lines that they may stand for.
pub(super) fn elisions<'l>(
    h: &Haystack<'_>,
    added: impl Iterator<Item = &'l str>,
    loss: impl FnOnce() -> Loss,
) -> Result<(), Kind> {
    let mut suspects = added.filter(|line| is_elision(line) || speaks_of_what_stays(line)).peekable();
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
    let counts = |text: &&str| !text.trim().is_empty() && !speaks_of_what_stays(text);
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
    fn escapes_beside_plain_characters_or_in_such_a_file_are_meant() {
        assert!(!escaped("fn f() -> T {\n", &["s.replace('>', \"&gt;\")"]));
        assert!(!escaped("a > b &gt;\n", &["b &gt; c"]));
        assert!(!escaped("say(\"a\")\n", &["say(\"a \\\"b\\\"\")"]));
        assert!(!escaped("no such characters\n", &["a &gt; b"]));
    }
}
