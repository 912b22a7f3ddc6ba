//! Elisions: lines such as `// ... existing code ...`, which stand for code that was not repeated.
//!
//! A bare `...` is Python and no elision. In a [sketch](crate::patch::sketch) elisions are meant, and there `# ...` is
//! one too; a comment with dots that says `removed` stands for code that goes.

/// The beginnings of comments, longer forms first.
const OPENERS: &[&str] = &["{/*", "<!--", "/*", "//", "--", "(*", "#", ";", "%", "*"];
/// The endings of comments.
const CLOSERS: &[&str] = &["*/}", "-->", "*/", "*)"];
/// The words that name omitted code.
const LEFT_OUT: &str = "existing rest remaining unchanged same previous omitted other code before keep imports methods functions \
implementation content stays remains";
/// The comments that are elisions even without dots.
const PLAIN: &str = "existing code|unchanged|unchanged code|rest of code|rest of the code|rest of file|rest of the file\
|rest of the function|rest of the method|rest of the class|rest of the implementation\
|rest of the component|code omitted|omitted for brevity|remaining code|same as before\
|existing code here|existing code unchanged|other code unchanged|previous code|rest unchanged";
const PLAIN_ENDS: &str = "remains unchanged|remain unchanged|remains the same|remain the same|stays the same|stay the same\
|code unchanged|omitted for brevity|methods unchanged";

/// The words by which a comment with dots says that code goes.
const REMOVED: &[&str] = &["removed", "deleted", "remove", "delete"];

/// The beginnings of words that say of code that it stays as it is.
const STAYS: &str =
    "continu elided etc exist keep kept omit remain rest same snip stay unaltered unchang unmodif untouch";
/// Words that strengthen one of these.
const WEAKER: &str = "above before else everything nothing original other others previous";
/// The other words of a placeholder. A line with further words says something about the code.
const BESIDE: &str = "a all and any are as at be below block body change changed changes class code content contents does \
entries fields file for from function functions goes here implementation imports in is it item items its \
keys line lines logic method methods no not of on part parts section so stuff that the they this to todo \
with";

/// What a line of a sketch stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Lines that stay.
    Kept,
    /// Lines that go.
    Removed,
}

/// Returns what a line of a sketch stands for, if it is a marker.
#[must_use]
pub fn mark(line: &str) -> Option<Mark> {
    let Some((opener, inner)) = comment(line) else { return is_elision(line).then_some(Mark::Kept) };
    let words = inner.trim_matches(['.', '…', ' ', '(', ')', '[', ']', ':']).to_lowercase();
    let first = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let dotted = starts_with_dots(inner);
    if opener == "*" {
        // It is a line of a comment that goes on around it.
        None
    } else if dotted && REMOVED.contains(&first) {
        Some(Mark::Removed)
    } else if (dotted && words.is_empty()) || is_elision(line) {
        Some(Mark::Kept)
    } else {
        None
    }
}

/// Returns whether a line of a sketch may stand for code that was not repeated, though it is no marker: it has other text
/// too, or no comment around it, or no word that says so.
#[must_use]
pub fn may_stand_for_code(line: &str) -> bool {
    if mark(line).is_some() || !(line.contains("...") || line.contains('…')) {
        return is_elision(line);
    }
    let line = line.trim();
    let bare = line.trim_matches(['(', ')', '[', ']', '{', '}', ',', ';', ' ']);
    let is_dots = |text: &str| !text.is_empty() && text.trim_matches(['.', '…']).is_empty();
    let in_braces = ["{...}", "{ ... }", "{…}", "{ … }"].iter().any(|braces| line.contains(braces));
    let starts_comment = |(at, _): (usize, char)| {
        let rest = &line[at..];
        let begins_word = at == 0 || !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == ':');
        begins_word && comment(rest).is_some_and(|(_, inner)| starts_with_dots(inner))
    };
    is_elision(line) || is_dots(bare) || in_braces || line.char_indices().any(starts_comment)
}

/// Returns whether a line is nothing but dots, which in Python is a body too.
#[must_use]
pub fn is_dots(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

/// Returns whether a line says that code stays as it is, and little else, or is a comment of dots. A real comment can say
/// the same, so this counts only where the line replaces code.
#[must_use]
pub fn speaks_of_what_stays(line: &str) -> bool {
    let line = line.trim();
    let comment = comment(line).filter(|(opener, _)| *opener != "*").map(|(_, inner)| inner);
    let inner = comment.unwrap_or(line);
    let is_dotted = starts_with_dots(inner) || inner.ends_with("...") || inner.ends_with('…');
    if comment.is_some_and(is_dots) {
        return true;
    }
    let is_bracketed = inner.starts_with(['(', '[', '<', '{']) && inner.ends_with([')', ']', '>', '}']);
    let is_prose = |c: char| c.is_alphanumeric() || c.is_whitespace() || ".…,:;-!'()[]<>{}".contains(c);
    let (mut strong, mut weak, mut unknown) = (0, 0, 0);
    let text = inner.to_lowercase().replace("no change", "unchanged change");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if STAYS.split(' ').any(|stem| word.starts_with(stem)) {
            strong += 1;
        } else if WEAKER.split(' ').any(|other| other == word) {
            weak += 1;
        } else if !BESIDE.split(' ').any(|other| other == word)
            && !word.starts_with(|c: char| c.is_ascii_digit())
        {
            unknown += 1;
        }
    }
    // Text outside a comment needs two such words, or dots or brackets.
    let is_marked = comment.is_some() || is_dotted || is_bracketed;
    let needed = if is_marked { 1 } else { 2 };
    inner.len() <= 80
        && (is_marked || !inner.contains(['(', '[', '<', '{']))
        && inner.chars().all(is_prose)
        && strong > 0
        && strong + weak >= needed
        && (unknown == 0 || unknown < strong + weak)
}

fn starts_with_dots(text: &str) -> bool {
    let text = text.trim_start_matches(['(', '[', '<', '{']).trim_start();
    text.starts_with("...") || text.starts_with('…')
}

/// Returns the beginning of a comment of one line, and what it says.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim();
    let (opener, inner) =
        OPENERS.iter().find_map(|opener| Some((*opener, line.strip_prefix(opener)?.trim())))?;
    let inner = CLOSERS.iter().find_map(|closer| inner.strip_suffix(closer)).unwrap_or(inner).trim();
    Some((opener, inner))
}

/// Returns whether a line stands for code that was not repeated.
#[must_use]
pub fn is_elision(line: &str) -> bool {
    let line = line.trim();
    // Almost every line returns here.
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
    // `{...rest}` is ordinary code.
    let spread = bracketed && inner.trim_start_matches(['.', '…']).starts_with(|c: char| c.is_alphabetic());
    if opener.is_none() && spread {
        return false;
    }
    let words = inner.trim_matches(['.', '…', ' ', '(', ')', '[', ']', ':']).to_lowercase();
    let says = |words: &str| {
        words.split(|c: char| !c.is_alphanumeric()).any(|word| LEFT_OUT.split(' ').any(|other| other == word))
    };
    let plainly = || {
        PLAIN.split('|').any(|phrase| phrase == words)
            || PLAIN_ENDS.split('|').any(|end| words.ends_with(end))
    };
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
            "(... existing code ...)",
            "... rest of the code",
            "\u{2026} unchanged \u{2026}",
            "; ...",
            "% ... other methods",
            "(* ... imports ... *)",
            "* ... rest",
            "// [...]",
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
            "...options",
            "...existing,",
            "...existing",
            "...",
            "(...)",
            "... and so on ...",
            "rest of the code",
            "[unchanged]",
            "//",
            "/* */",
            "#",
            "",
        ] {
            assert!(!is_elision(line), "{line}");
        }
    }

    #[test]
    fn marks_of_a_sketch_are_comments_that_stand_for_lines() {
        for line in [
            "# ...",
            "  // ...",
            "{/* ... existing code ... */}",
            "/* … rest of the rules … */",
            "-- ... existing columns ...",
            "// rest of the function",
            "# (... existing code ...)",
        ] {
            assert_eq!(mark(line), Some(Mark::Kept), "{line}");
            assert!(!may_stand_for_code(line) || is_elision(line), "{line}");
        }
        for line in ["// ... removed ...", "# ... deleted: old_name ...", "<!-- ... removed code ... -->"] {
            assert_eq!(mark(line), Some(Mark::Removed), "{line}");
        }
        for line in
            ["...", "# removed", "// remove the listener", "x = 1", "", "* ... rest", "# and so on..."]
        {
            assert_eq!(mark(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_may_stand_for_code_though_it_is_no_marker() {
        for line in [
            "...",
            "    ...,",
            "* ... rest",
            "function f() { ... }",
            "f() { /* ... existing code ... */ }",
            "x = 1  # ... rest",
            "// ... validation logic ...",
            "... existing code ...",
            "def f(): # ...",
        ] {
            assert!(may_stand_for_code(line), "{line}");
        }
        for line in
            ["f(...args)", "def f(self): ...", "print('waiting ...')", "// wait...", "x[..., 1]", "", "a"]
        {
            assert!(!may_stand_for_code(line), "{line}");
        }
    }

    #[test]
    fn a_line_speaks_of_what_stays_and_of_little_else() {
        for line in [
            "# (no changes below)",
            "// [existing implementation]",
            "<!-- [rest of section omitted] -->",
            "# all other keys stay as they are",
            "  // continues as before",
            "-- keep existing logic here",
            "% remaining columns as before",
            "// <remaining items>",
            "# ... etc ...",
            "# other handlers remain untouched",
            "... (lines 40-60 unchanged)",
            "(rest of function unchanged)",
            "rest stays the same",
            "TODO: keep the rest",
        ] {
            assert!(speaks_of_what_stays(line), "{line}");
        }
        for line in [
            "# Keep the connection open for the next call",
            "# same rules for the parser and the printer",
            "// the rest of the arguments",
            "// other options",
            "rest = items[1:]",
            "existing",
            "keep(rest)",
            "remaining -= 1",
            "* existing",
            "# before",
            "",
        ] {
            assert!(!speaks_of_what_stays(line), "{line}");
        }
    }

    #[test]
    fn a_line_of_more_than_120_bytes_is_no_elision() {
        let line = |length: usize| ["// ... existing", &" ".repeat(length - 19), "code"].concat();
        assert!(is_elision(&line(120)) && !is_elision(&line(121)));
    }
}
