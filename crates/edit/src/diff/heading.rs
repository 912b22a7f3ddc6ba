//! The heading of a hunk: the line that opens the block around the change, such as the head of a function, which a diff shows
//! after the line numbers. It is for reading alone, and no tool searches for it.
//!
//! No language is known here. A line opens the block if it is indented less than the change and is a definition by its words,
//! or begins at the margin with a letter, which is git's rule.

use alloc::string::String;

use super::blocks::line_start;
use crate::text::split_ending;

/// How far up a heading is looked for, in bytes: an edit must not wait for it.
const REACH: usize = 32 * 1024;
/// How many characters of the line are shown.
const COLUMNS: usize = 80;
/// The words by which a definition is known that does not begin at the margin.
const DEFINES: [&str; 24] = [
    "abstract",
    "async",
    "class",
    "constructor",
    "def",
    "enum",
    "export",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "mod",
    "module",
    "namespace",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "struct",
    "trait",
];

/// Returns the heading of a hunk that begins at `top`, for a change at `at` whose first line has this indentation. Empty if
/// there is none, or if the hunk itself shows it.
pub(super) fn heading(bytes: &[u8], top: usize, at: usize, indentation: usize) -> String {
    let mut end = at;
    // The least indentation so far: what is indented as much or more does not contain the change.
    let mut least = indentation;
    while end > 0 && at - end < REACH && least > 0 {
        let start = line_start(bytes, end - 1);
        let line = split_ending(&bytes[start..end]).0;
        end = start;
        let Some(own) = indentation_of(line) else { continue };
        if own >= least {
            continue;
        }
        let content = &line[own..];
        if content.first().is_some_and(|&first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
            && (own == 0 || defines(content))
        {
            let text = if start < top { String::from_utf8_lossy(content) } else { "".into() };
            return text.trim_end().chars().take(COLUMNS).collect();
        }
        least = own.max(1);
    }
    String::new()
}

/// Returns the number of blanks and tabs before the content of a line; `None` if it has no content.
pub(super) fn indentation_of(line: &[u8]) -> Option<usize> {
    line.iter().position(|byte| !byte.is_ascii_whitespace())
}

fn defines(content: &[u8]) -> bool {
    let end = content.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(content.len());
    DEFINES.iter().any(|word| word.as_bytes() == &content[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the heading of a change of the only line with `change` in it.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let top = line_start(text.as_bytes(), text.find("change").unwrap());
        let indentation = indentation_of(&text.as_bytes()[top..]).unwrap();
        assert_eq!(heading(text.as_bytes(), top, top, indentation), expected, "{text}");
        assert_eq!(heading(text.as_bytes(), 0, top, indentation), "", "the hunk shows it");
    }

    #[test]
    fn it_opens_the_block_around_the_change() {
        check("fn a() {\n    x();\n}\n\nfn b() {\n    y();\n    change\n", "fn b() {");
        check(
            "impl A {\n    fn a() {\n        x\n    }\n\n    /// of b\n    pub(crate) fn b() {\r\n        if z {\n            change\n",
            "pub(crate) fn b() {",
        );
        check("class A:\n    def a(self):\n        x\n\n    y = 1\n    change\n", "class A:");
        check("int main(void)\n{\n\tif (x) {\n\t\tchange\n", "int main(void)");
        check("jobs:\n  build:\n    change\n", "jobs:");
    }

    #[test]
    fn there_is_none_at_the_margin_or_where_nothing_opens_a_block() {
        check("fn a() {\n    x\n}\n\nchange\n", "");
        check("{\n  \"a\": 1,\n  change\n", "");
        check("  change\n", "");
        check(&(String::from("fn far() {\n") + &"    x\n".repeat(6_000) + "    change\n"), "");
    }

    #[test]
    fn a_long_one_is_cut() {
        check(
            &(String::from("fn ") + &"ä".repeat(100) + "\n  change\n"),
            &(String::from("fn ") + &"ä".repeat(77)),
        );
    }
}
