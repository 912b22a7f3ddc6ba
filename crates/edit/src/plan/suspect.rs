//! New text that its writer cannot have meant.
//!
//! - Elisions: a line such as `// ... existing code ...` stands for code that was not repeated, and would take
//!   its place. A bare `...` is Python and is none. What takes no line away loses no code, so there it is text.
//! - Escaped text: on its way through JSON or XML once too often, `->` became `-&gt;`, `"` became `\"` and `'`
//!   became `\u0027`. All of the new text must be so, and nothing of the file.
//! - The signs with which refusals show white space, at the beginning of a line, if the file has none of them.
//!
//! What the file itself contains is never suspect. Lines by their numbers and whole files are taken as
//! they are, so there is a way to mean escaped text.

use alloc::collections::BTreeSet;
use alloc::string::String;

use crate::find::Haystack;
use crate::patch::Line;
use crate::problem::Kind;

/// What comments begin with, longer forms first.
const OPENERS: &[&str] = &["{/*", "<!--", "/*", "//", "--", "(*", "#", ";", "%", "*"];
/// And end with.
const CLOSERS: &[&str] = &["*/}", "-->", "*/", "*)"];
/// Words that say what is left out.
const LEFT_OUT: &[&str] = &[
    "existing",
    "rest",
    "remaining",
    "unchanged",
    "same",
    "previous",
    "omitted",
    "other",
    "code",
    "before",
    "keep",
    "imports",
    "methods",
    "functions",
    "implementation",
    "content",
    "stays",
    "remains",
];
/// Without dots a comment must say so more plainly.
const PLAIN: &[&str] = &[
    "existing code",
    "unchanged",
    "unchanged code",
    "rest of code",
    "rest of the code",
    "rest of file",
    "rest of the file",
    "rest of the function",
    "rest of the method",
    "rest of the class",
    "rest of the implementation",
    "rest of the component",
    "code omitted",
    "omitted for brevity",
    "remaining code",
    "same as before",
    "existing code here",
    "existing code unchanged",
    "other code unchanged",
    "previous code",
    "rest unchanged",
];
const PLAIN_ENDS: &[&str] = &[
    "remains unchanged",
    "remain unchanged",
    "remains the same",
    "remain the same",
    "stays the same",
    "stay the same",
    "code unchanged",
    "omitted for brevity",
    "methods unchanged",
];

/// Refuses added lines that are suspect. `takes_away` says whether lines of the file go with the same change.
pub(super) fn check(h: &Haystack<'_>, added: &[&str], takes_away: impl FnOnce() -> bool) -> Result<(), Kind> {
    elisions(h, added.iter().copied(), takes_away)?;
    escapes(h, added)?;
    shown_space(h, added)
}

/// Refuses elisions that the file does not contain, where lines of the file go that they may stand for.
pub(super) fn elisions<'l>(
    h: &Haystack<'_>,
    added: impl Iterator<Item = &'l str>,
    takes_away: impl FnOnce() -> bool,
) -> Result<(), Kind> {
    let mut in_file: Option<BTreeSet<&[u8]>> = None;
    for line in added.filter(|line| is_elision(line)) {
        let lines = h.lines();
        let known =
            in_file.get_or_insert_with(|| (0..lines.len()).map(|i| lines.content(i).trim_ascii()).collect());
        if !known.contains(line.trim().as_bytes()) {
            return match takes_away() {
                true => Err(Kind::OmissionPlaceholder { line: line.trim().into() }),
                false => Ok(()),
            };
        }
    }
    Ok(())
}

/// Whether a line that says something goes.
pub(super) fn takes_away(lines: &[Line]) -> bool {
    lines.iter().any(|line| matches!(line, Line::Removed(text) if !text.trim().is_empty()))
}

/// Whether a line that says something goes where these lines take the place of those. Of all of them, not only of
/// those beside an elision: which of several equal lines stay is the comparison's choice, not the writer's.
pub(super) fn loses(old: &[&str], new: &[&str]) -> bool {
    takes_away(&Line::between(old, new))
}

/// What text looks like that was escaped once too often, what it stands for, and the characters of which
/// unescaped text would have some.
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

/// The signs that a refusal shows in place of white space, and what they stand for.
const SHOWN_SPACE: &[(&str, &str)] = &[("\u{b7}", "spaces"), ("\u{2192}", "tabs")];

/// Refuses lines of which every special character is escaped, if the file has such characters but none that is
/// escaped.
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
        // In markup an entity is how the character is written.
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

/// Refuses lines that begin with such signs right before their first word, if the file has none of them.
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

fn is_elision(line: &str) -> bool {
    let line = line.trim();
    // Almost every line ends here.
    let dots = line.contains("...") || line.contains('…');
    let opener = OPENERS.iter().find_map(|opener| line.strip_prefix(opener));
    if line.len() > 120 || (!dots && opener.is_none()) {
        return false;
    }
    let inner = opener.unwrap_or(line).trim();
    let inner = CLOSERS.iter().find_map(|closer| inner.strip_suffix(closer)).unwrap_or(inner).trim();
    let bracketed = inner.starts_with(['(', '[', '<', '{']) && inner.ends_with([')', ']', '>', '}']);
    let inner = inner.trim_matches(['(', ')', '[', ']', '<', '>', '{', '}']).trim();
    let starts = inner.starts_with("...") || inner.starts_with('…');
    let ends = inner.ends_with("...") || inner.ends_with('…');
    // `{...rest}` is how code is written.
    let spread = bracketed && inner.trim_start_matches(['.', '…']).starts_with(|c: char| c.is_alphabetic());
    if opener.is_none() && spread {
        return false;
    }
    let words = inner.trim_matches(['.', '…', ' ', '(', ')', '[', ']', ':']).to_lowercase();
    let says = |words: &str| words.split(|c: char| !c.is_alphanumeric()).any(|word| LEFT_OUT.contains(&word));
    let plainly = || PLAIN.contains(&words.as_str()) || PLAIN_ENDS.iter().any(|end| words.ends_with(end));
    if words.is_empty() {
        // `// ...` stands for code, a bare `...` does not.
        return opener.is_some() && dots && !line.starts_with('#');
    }
    match opener {
        Some(_) => (starts && says(&words)) || plainly(),
        None => (starts && (ends || bracketed) && says(&words)) || (starts && plainly()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn elisions_are_recognised() {
        for line in [
            "// ... existing code ...",
            "    # ... rest of the function ...",
            "/* ... unchanged ... */",
            "<!-- ... rest of the page ... -->",
            "{/* ... existing code ... */}",
            "// … existing code …",
            "// rest of the code",
            "# rest of the file remains unchanged",
            "// ... (unchanged) ...",
            "-- ... same as before",
            "[... existing code ...]",
            "... existing code ...",
            "// ...",
            "# [... existing code ...]",
        ] {
            assert!(is_elision(line), "{line}");
        }
    }

    #[test]
    fn ordinary_code_is_not() {
        for line in [
            "...",
            "    ...",
            "foo(...args)",
            "// the rest of the arguments",
            "# same as above, but for bytes",
            "print('loading ...')",
            "// waiting...",
            "def f(self): ...",
            "// ... and the key is \"a\"",
            "* other methods are slower",
            "return [...existing, item];",
            "{...rest}",
            "[...rest]",
            "# ...",
            "# Remaining items are kept.",
        ] {
            assert!(!is_elision(line), "{line}");
        }
    }

    fn escaped(file: &str, added: &[&str]) -> bool {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        matches!(check(&Haystack::new(&text), added, || true), Err(Kind::EscapedText { .. }))
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
