//! Terminal colours around the lines of a diff, as `git diff --color=always` writes them.
//!
//! ```text
//! line   = (colour text reset)+                of a line that comes or goes: its sign, its text, white space at its end
//!        | " " text reset                      of context
//! colour = ESC "[" (digit | ";")+ "m"
//! reset  = ESC "[m"
//! ```
//!
//! A file may contain such escapes itself, so colours are stripped only if every coloured line of a hunk has exactly
//! this shape. Outside of hunks, escapes may stand anywhere.

use alloc::string::String;

const ESCAPE: char = '\u{1b}';
const RESET: &str = "\u{1b}[m";

/// Returns the text without its colours; `None` if it has none, or has escapes that may be content.
pub(super) fn strip(text: &str) -> Option<String> {
    if !text.contains(ESCAPE) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let start = plain.len();
        let mut rest = content;
        while let Some(at) = rest.find(ESCAPE) {
            plain.push_str(&rest[..at]);
            rest = &rest[at + colour(&rest[at..])?..];
        }
        plain.push_str(rest);
        let of_a_hunk = plain[start..].starts_with(['+', '-', ' ']) && content.contains(ESCAPE);
        let is_context = content.strip_suffix(RESET) == Some(&plain[start..]) && content.starts_with(' ');
        if of_a_hunk && !is_context && !is_coloured(content) {
            return None;
        }
        plain.push_str(&line[content.len()..]);
    }
    Some(plain)
}

/// Returns whether a line consists of coloured texts, each with its reset.
fn is_coloured(mut line: &str) -> bool {
    while !line.is_empty() {
        let Some(length) = colour(line).filter(|_| !line.starts_with(RESET)) else { return false };
        line = &line[length..];
        let Some(rest) = line.find(ESCAPE).and_then(|end| line[end..].strip_prefix(RESET)) else {
            return false;
        };
        line = rest;
    }
    true
}

/// Returns the length of the colour or reset at the beginning of this text.
fn colour(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(ESCAPE)?.strip_prefix('[')?;
    let numbers = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    (rest.as_bytes().get(numbers) == Some(&b'm')).then_some(numbers + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_colours_is_plain_again() {
        for (coloured, plain) in [
            ("\x1b[1m--- a/x\x1b[m\n", "--- a/x\n"),
            ("\x1b[36m@@ -1 +1 @@\x1b[m \x1b[mfn f()\x1b[m\n", "@@ -1 +1 @@ fn f()\n"),
            (" a\x1b[m\r\n", " a\r\n"),
            ("\x1b[31m-b\x1b[m", "-b"),
            ("\x1b[32m+\x1b[m\x1b[32mc\x1b[m\x1b[41m \r\x1b[m\n+d\n", "+c \r\n+d\n"),
            ("\x1b[1;32m+\x1b[m\n", "+\n"),
        ] {
            assert_eq!(strip(coloured).as_deref(), Some(plain), "{coloured:?}");
        }
    }

    #[test]
    fn escapes_that_may_be_content_stay() {
        for text in [
            "no escape at all\n",
            "+\x1b[32mgreen\x1b[m\n",
            "\x1b[32m+\x1b[m\x1b[32m\x1b[1mbold\x1b[0m\x1b[m\n",
            "\x1b[31m-\x1b[1mbold\x1b[m\n",
            " \x1b[1mbold\x1b[m\n",
            "\x1b[2J\n",
            "+\x1b\n",
        ] {
            assert_eq!(strip(text), None, "{text:?}");
        }
    }
}
