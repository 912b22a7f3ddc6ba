//! The wording of a difference between a file's line and the request's.

use std::fmt;

use emend_edit::problem::{DifferenceKind, DifferingWords};

const LEAVE_OUT: &str = " (leave such out of the old and of the new lines)";

/// Writes the kinds one after another: what was sent, and then what differs beside that.
pub(super) fn write(kinds: &[DifferenceKind], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut last: Option<&DifferenceKind> = None;
    for kind in kinds {
        f.write_str(match last {
            None => "",
            Some(last) if last.is_as_sent() && !kind.is_as_sent() => "; and ",
            Some(_) => "; ",
        })?;
        write_kind(kind, f)?;
        last = Some(kind);
    }
    Ok(())
}

fn write_kind(kind: &DifferenceKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        DifferenceKind::LineNumber { prefix } => {
            write!(f, "the request has the line number {} of a reading", quoted(prefix))?;
            f.write_str(LEAVE_OUT)
        }
        DifferenceKind::Frame { text, is_before } => {
            let side = if *is_before { "before the line" } else { "at the end of the line" };
            write!(f, "the request has {} {side}, and the file does not{LEAVE_OUT}", quoted(text))
        }
        DifferenceKind::Escape { escape, stands_for } => {
            write!(f, "the request has {escape} where the file has ")?;
            match stands_for {
                '\n' => f.write_str("a line break"),
                '\t' => f.write_str("a tab"),
                c => write!(f, "{c}"),
            }
        }
        DifferenceKind::AfterCompared(bytes) => {
            write!(f, "the lines differ after their first {bytes} bytes")
        }
        DifferenceKind::BlankInRequest => f.write_str("the request has a blank line there"),
        DifferenceKind::BlankInFile => f.write_str("the file has a blank line there"),
        DifferenceKind::LineEnd { file, request } => {
            let (file, request) = (blanks(file), blanks(request));
            write!(f, "at the end of the line the file has {file}, the request {request}")
        }
        DifferenceKind::Indentation { file, request } => {
            write!(f, "indentation: the file has {}, the request {}", blanks(file), blanks(request))
        }
        DifferenceKind::Spaces(pair) | DifferenceKind::Dashes(pair) => match pair {
            Some((file, request)) => {
                write!(f, "the file has {}, the request {}", char_name(*file), char_name(*request))
            }
            None => f.write_str("the spaces or dashes differ"),
        },
        DifferenceKind::Quotes { file, request } => match (file.is_empty(), request.is_empty()) {
            (false, true) => write!(f, "the file has curly quotes ({file}), the request straight ones"),
            (true, false) => write!(f, "the file has straight quotes, the request curly ones ({request})"),
            _ => write!(f, "the file has other curly quotes ({file}) than the request ({request})"),
        },
        DifferenceKind::Ellipsis { is_in_file: true } => {
            f.write_str("the file has the one character \u{2026}, the request three dots")
        }
        DifferenceKind::Ellipsis { is_in_file: false } => {
            f.write_str("the file has three dots, the request the one character \u{2026}")
        }
        DifferenceKind::Invisible { file, request } => match (file, request) {
            (Some(c), None) => {
                let number = u32::from(*c);
                write!(f, "the file has the invisible character U+{number:04X}, the request does not")
            }
            (_, Some(c)) => write!(f, "the request has the invisible character U+{:04X}", u32::from(*c)),
            (None, None) => f.write_str("the invisible characters differ"),
        },
        DifferenceKind::LetterCase(words) => {
            f.write_str("letter case: ")?;
            write_words(words.as_ref(), f)
        }
        DifferenceKind::InnerSpace => f.write_str("the white space inside the line differs"),
        DifferenceKind::Composition => f.write_str(
            "accented letters that look the same are composed of other characters (Unicode NFC and NFD)",
        ),
        DifferenceKind::Words(words) => write_words(words.as_ref(), f),
        DifferenceKind::Elision { lines } => {
            f.write_str("the request has an elision")?;
            if let Some((first, last)) = *lines {
                write!(f, " where the file has {}", numbers(first, last))?;
            }
            f.write_str("; send the lines themselves, or fewer")
        }
        DifferenceKind::Lacking { first, last, is_blank } => {
            let blank = if *is_blank { ", blank in the file" } else { "" };
            write!(f, "the request lacks {}{blank}", numbers(*first, *last))
        }
        DifferenceKind::Extra { lines, is_blank, after } => write_extra(*lines, *is_blank, *after, f),
        DifferenceKind::Elsewhere { is_unended } => {
            if *is_unended {
                f.write_str("the file's last line has no newline at its end; or ")?;
            }
            f.write_str(
                "the lines are there, but not where the request has them: look at its @@ line, its *** End of \
                 File, or where in a line its text begins and ends",
            )
        }
    }
}

fn write_words(words: Option<&DifferingWords>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(DifferingWords { file, request }) = words else { return f.write_str("the words differ") };
    match (file.as_str(), request.as_str()) {
        ("", "") => f.write_str("the white space inside the line differs"),
        ("", request) => {
            write!(f, "the request has {} there, the file does not", quoted(request))
        }
        (file, "") => write!(f, "the file has {} there, the request does not", quoted(file)),
        (file, request) => write!(f, "the file has {}, the request {}", quoted(file), quoted(request)),
    }
}

fn write_extra(
    lines: usize,
    is_blank: bool,
    after: Option<usize>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (extra, them) = match (lines, is_blank) {
        (1, true) => ("a blank line".into(), "it"),
        (1, false) => ("a line".into(), "it"),
        (n, true) => (format!("{n} blank lines"), "them"),
        (n, false) => (format!("{n} lines"), "them"),
    };
    match after {
        Some(last) => write!(f, "the file ends at line {last}, the request has {extra} after it"),
        None => write!(f, "the request has {extra} before this line, the file does not have {them} there"),
    }
}

fn numbers(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// White space in words: `2 tabs and 1 space`.
fn blanks(space: &str) -> String {
    let mut parts = Vec::new();
    let mut count = |what: &str, is: fn(char) -> bool| match space.chars().filter(|&c| is(c)).count() {
        0 => {}
        1 => parts.push(format!("1 {what}")),
        n => parts.push(format!("{n} {what}s")),
    };
    count("tab", |c| c == '\t');
    count("space", |c| c == ' ');
    count("carriage return", |c| c == '\r');
    count("non-breaking space", |c| c == '\u{a0}');
    count("other blank", |c| !matches!(c, '\t' | ' ' | '\r' | '\u{a0}'));
    if parts.is_empty() { "none".into() } else { parts.join(" and ") }
}

fn char_name(c: char) -> String {
    match c {
        ' ' => "a space".into(),
        '-' => "a hyphen".into(),
        '\u{a0}' => "a non-breaking space (U+00A0)".into(),
        '\u{2013}' => "an en dash (U+2013)".into(),
        '\u{2014}' => "an em dash (U+2014)".into(),
        c => format!("U+{:04X}", u32::from(c)),
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('\t', "\u{2192}"))
}

#[cfg(test)]
mod tests {
    use emend_edit::Text;
    use emend_edit::find::{Haystack, contents, near};

    use super::*;

    struct Told<'a>(&'a [DifferenceKind]);

    impl fmt::Display for Told<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write(self.0, f)
        }
    }

    /// What is told of the first line that differs.
    fn told(file: &str, request: &str) -> String {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        let near = near(&Haystack::new(&text), &contents(request.as_bytes()), &[]);
        Told(&near.places[0].differences[0].kinds).to_string()
    }

    #[test]
    fn each_difference_has_its_words() {
        for (file, request, words) in [
            ("\t\ta", "        a", "indentation: the file has 2 tabs, the request 8 spaces"),
            ("a", "\t a", "indentation: the file has none, the request 1 tab and 1 space"),
            ("a", "a  ", "at the end of the line the file has none, the request 2 spaces"),
            (
                "'a'",
                "\u{2018}a\u{2019}",
                "the file has straight quotes, the request curly ones (\u{2018}\u{2019})",
            ),
            (
                "\u{201c}a\u{201d}",
                "\"a\"",
                "the file has curly quotes (\u{201c}\u{201d}), the request straight ones",
            ),
            ("a\u{a0}b", "a b", "the file has a non-breaking space (U+00A0), the request a space"),
            ("a - b", "a \u{2014} b", "the file has a hyphen, the request an em dash (U+2014)"),
            ("a...", "a\u{2026}", "the file has three dots, the request the one character \u{2026}"),
            ("a", "a\u{200b}", "the request has the invisible character U+200B"),
            ("let Foo = 1", "let foo = 1", "letter case: the file has `Foo`, the request `foo`"),
            ("a  b", "a b", "the white space inside the line differs"),
            (
                "caf\u{e9}",
                "cafe\u{301}",
                "accented letters that look the same are composed of other characters (Unicode NFC and NFD)",
            ),
            ("let total = 1;", "let totl = 1;", "the file has `total`, the request `totl`"),
            ("foo(a, b)", "foo(a)", "the file has `, b` there, the request does not"),
            (
                "\tsay \"a\"",
                "    say \u{201c}a\u{201d} ",
                "at the end of the line the file has none, the request 1 space; indentation: the file has 1 tab, the \
                 request 4 spaces; the file has straight quotes, the request curly ones (\u{201c}\u{201d})",
            ),
            ("a < b", "a &lt; b", "the request has &lt; where the file has <"),
            ("say \"a\"", "say \\\"a\\\"", "the request has \\\" where the file has \""),
        ] {
            let around = |line: &str| format!("the line before it\n{line}\nthe line after it\n");
            assert_eq!(told(&around(file), &around(request)), words, "{file:?} {request:?}");
        }
    }

    #[test]
    fn what_was_sent_is_told_before_what_differs_beside_it() {
        let number = DifferenceKind::LineNumber { prefix: "  12\t".into() };
        let line_break = DifferenceKind::Escape { escape: "\\n", stands_for: '\n' };
        let less = DifferenceKind::Escape { escape: "&lt;", stands_for: '<' };
        let words = DifferingWords { file: "ab".into(), request: "a".into() };
        for (kinds, words) in [
            (
                vec![number, line_break.clone()],
                "the request has the line number `  12\u{2192}` of a reading (leave such out of the old and of the new lines); \
                 the request has \\n where the file has a line break",
            ),
            (vec![line_break], "the request has \\n where the file has a line break"),
            (
                vec![less, DifferenceKind::Words(Some(words)), DifferenceKind::InnerSpace],
                "the request has &lt; where the file has <; and the file has `ab`, the request `a`; the white space inside \
              the line differs",
            ),
        ] {
            assert_eq!(Told(&kinds).to_string(), words);
        }
    }

    #[test]
    fn lines_without_a_counterpart_have_their_words() {
        let file = "fn main() {\n    first();\n    second();\n\n    third();\n}\n";
        for (request, words) in [
            ("fn main() {\n    second();\n\n    third();\n}\n", "the request lacks line 2"),
            ("fn main() {\n\n    third();\n}\n", "the request lacks lines 2 to 3"),
            (
                "fn main() {\n    first();\n    second();\n    third();\n}\n",
                "the request lacks line 4, blank in the file",
            ),
            (
                "fn main() {\n    // ...\n\n    third();\n}\n",
                "the request has an elision where the file has lines 2 to 3; send the lines themselves, or fewer",
            ),
            (
                "fn main() {\n    first();\n\n    second();\n",
                "the request has a blank line before this line, the file does not have it there",
            ),
            ("    third();\n}\n\n\n", "the file ends at line 6, the request has 2 blank lines after it"),
        ] {
            assert_eq!(told(file, request), words, "{request:?}");
        }
        let words = "the file's last line has no newline at its end; or the lines are there, but not where the \
                     request has them: look at its @@ line, its *** End of File, or where in a line its text begins and ends";
        assert_eq!(told("alpha\ngamma", "gamma\n"), words);
    }
}
