//! Names for the difference between a line of the file and the corresponding line of the request.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fold::{self, equal_but_composition};
use super::request::{RequestLine, without_number};

/// How many bytes of a line are compared.
const COMPARED: usize = 4096;
/// How many bytes of a difference are quoted; longer ones are only shown with their lines.
const QUOTED: usize = 60;

/// One difference in words, and its kind: differences of one kind are reported once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedDifference {
    /// The kind; empty for a difference that is always reported.
    pub(super) kind: &'static str,
    pub(super) what: String,
}

/// A view of a line that hides one kind of difference.
struct LineView {
    kind: &'static str,
    look: fn(&str) -> String,
    tell: fn(&str, &str) -> String,
}

/// The views, from the most to the least precise; all but the last can be combined.
const VIEWS: &[LineView] = &[
    LineView { kind: "end", look: |line| line.trim_end().into(), tell: end },
    LineView { kind: "indentation", look: |line| line.trim_start().into(), tell: indentation },
    LineView {
        kind: "space",
        look: |line| map(line, fold::space),
        tell: |a, b| chars(a, b, fold::space, ' '),
    },
    LineView { kind: "quotes", look: |line| map(line, fold::quote), tell: quotes },
    LineView {
        kind: "dashes",
        look: |line| map(line, fold::dash),
        tell: |a, b| chars(a, b, fold::dash, '-'),
    },
    LineView { kind: "dots", look: |line| line.replace('\u{2026}', "..."), tell: dots },
    LineView { kind: "invisible", look: visible, tell: invisible },
    LineView { kind: "case", look: str::to_lowercase, tell: |a, b| words(a, b, "letter case: ") },
    LineView {
        kind: "inner",
        look: fold::without_space,
        tell: |_, _| "the white space inside the line differs".into(),
    },
];

/// Names the difference between these lines; `None` if they are equal.
pub(super) fn name(file: &[u8], line: &RequestLine<'_>) -> Option<NamedDifference> {
    if file == line.sent {
        return None;
    }
    let rest = if *file == *line.content { None } else { Some(compare(&lossy(file), &lossy(&line.content))) };
    let Some(mut mended) = mend(line) else { return rest };
    if let Some(rest) = rest {
        mended.what = format!("{}; and {}", mended.what, rest.what);
    }
    Some(mended)
}

fn lossy(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&line[..line.len().min(COMPARED)])
}

/// Names the corrections that turn the line as sent into the line as it may have been meant.
fn mend(line: &RequestLine<'_>) -> Option<NamedDifference> {
    if line.sent == &*line.content {
        return None;
    }
    let sent = lossy(line.sent);
    let mut whats = Vec::new();
    let mut kind = "escapes";
    if let Some(rest) = without_number(line.sent).filter(|rest| {
        // It is a copied line number, not one that the file contains.
        !line.content.trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
            || rest.trim_ascii().starts_with(&line.content)
    }) {
        kind = "numbers";
        let prefix = String::from_utf8_lossy(&line.sent[..line.sent.len() - rest.len()]);
        whats.push(format!("the request has the line number {} of a reading", quoted(&prefix)));
    }
    for (escape, stands_for) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("\\n", "a line break"),
        ("\\t", "a tab"),
        ("\\\"", "\""),
        ("\\'", "'"),
        ("\\\\", "\\"),
    ] {
        if sent.contains(escape) {
            whats.push(format!("the request has {escape} where the file has {stands_for}"));
        }
    }
    if whats.is_empty() { None } else { Some(NamedDifference { kind, what: whats.join("; ") }) }
}

fn compare(file: &str, request: &str) -> NamedDifference {
    if file == request {
        return NamedDifference {
            kind: "",
            what: format!("the lines differ after their first {COMPARED} bytes"),
        };
    }
    let blank = |line: &str| line.trim().is_empty();
    if blank(request) && !blank(file) {
        return NamedDifference { kind: "", what: "the request has a blank line there".into() };
    }
    if blank(file) && !blank(request) {
        return NamedDifference { kind: "", what: "the file has a blank line there".into() };
    }
    for view in VIEWS {
        if (view.look)(file) == (view.look)(request) {
            return NamedDifference { kind: view.kind, what: (view.tell)(file, request) };
        }
    }
    if equal_but_composition(file, request) {
        let what =
            "accented letters that look the same are composed of other characters (Unicode NFC and NFD)";
        return NamedDifference { kind: "composition", what: what.into() };
    }
    let look = |line: &str, views: &[&LineView]| {
        views.iter().fold(line.to_string(), |line, view| (view.look)(&line))
    };
    for count in [VIEWS.len() - 1, VIEWS.len()] {
        let mut views: Vec<&LineView> = VIEWS[..count].iter().collect();
        if look(file, &views) != look(request, &views) {
            continue;
        }
        for left_out in (0..views.len()).rev() {
            let mut fewer = views.clone();
            fewer.remove(left_out);
            if look(file, &fewer) == look(request, &fewer) {
                views = fewer;
            }
        }
        let whats: Vec<String> = views.iter().map(|view| (view.tell)(file, request)).collect();
        return NamedDifference { kind: views.first().map_or("", |view| view.kind), what: whats.join("; ") };
    }
    NamedDifference { kind: "", what: words(file, request, "") }
}

fn map(line: &str, char: fn(char) -> char) -> String {
    line.chars().map(char).collect()
}

fn visible(line: &str) -> String {
    line.chars().filter(|&c| !fold::is_invisible(c)).collect()
}

fn invisible(file: &str, request: &str) -> String {
    let of = |line: &str| line.chars().find(|&c| fold::is_invisible(c));
    match (of(file), of(request)) {
        (Some(c), None) => {
            format!("the file has the invisible character U+{:04X}, the request does not", c as u32)
        }
        (_, Some(c)) => format!("the request has the invisible character U+{:04X}", c as u32),
        (None, None) => "the invisible characters differ".into(),
    }
}

fn indentation(file: &str, request: &str) -> String {
    let of = |line: &str| spaces(&line[..line.len() - line.trim_start().len()]);
    let (file, request) = (of(file), of(request));
    format!("indentation: the file has {file}, the request {request}")
}

fn end(file: &str, request: &str) -> String {
    let of = |line: &str| spaces(&line[line.trim_end().len()..]);
    format!("at the end of the line the file has {}, the request {}", of(file), of(request))
}

/// Describes white space in words: `2 tabs and 1 space`.
fn spaces(space: &str) -> String {
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

fn quotes(file: &str, request: &str) -> String {
    let curly = |line: &str| line.chars().any(|c| fold::quote(c) != c);
    match (curly(file), curly(request)) {
        (true, false) => format!("the file has curly quotes ({}), the request straight ones", curls(file)),
        (false, true) => format!("the file has straight quotes, the request curly ones ({})", curls(request)),
        _ => {
            format!("the file has other curly quotes ({}) than the request ({})", curls(file), curls(request))
        }
    }
}

fn curls(line: &str) -> String {
    let mut curls: Vec<char> = line.chars().filter(|&c| fold::quote(c) != c).collect();
    curls.sort_unstable();
    curls.dedup();
    curls.truncate(4);
    curls.into_iter().collect()
}

fn dots(file: &str, _: &str) -> String {
    if file.contains('\u{2026}') {
        "the file has the one character \u{2026}, the request three dots".into()
    } else {
        "the file has three dots, the request the one character \u{2026}".into()
    }
}

/// Names the first character of a family that differs.
fn chars(file: &str, request: &str, fold: fn(char) -> char, plain: char) -> String {
    let of = |line: &str| line.chars().filter(|&c| fold(c) == plain).collect::<Vec<char>>();
    let (file, request) = (of(file), of(request));
    let pair = file.iter().zip(&request).find(|(a, b)| a != b);
    match pair {
        Some((a, b)) => format!("the file has {}, the request {}", char_name(*a), char_name(*b)),
        None => "the spaces or dashes differ".into(),
    }
}

fn char_name(c: char) -> String {
    match c {
        ' ' => "a space".into(),
        '-' => "a hyphen".into(),
        '\u{a0}' => "a non-breaking space (U+00A0)".into(),
        '\u{2013}' => "an en dash (U+2013)".into(),
        '\u{2014}' => "an em dash (U+2014)".into(),
        c => format!("U+{:04X}", c as u32),
    }
}

/// Names the differing words, from the first to the last.
fn words(file: &str, request: &str, before: &str) -> String {
    let (theirs, ours) = middles(file.trim(), request.trim());
    let whole = theirs.len() == file.trim().len() && ours.len() == request.trim().len();
    let long = theirs.len().max(ours.len()) > QUOTED;
    match (theirs.trim(), ours.trim()) {
        _ if whole && long => format!("{before}the words differ"),
        ("", "") => format!("{before}the white space inside the line differs"),
        ("", ours) if !long => format!("{before}the request has {} there, the file does not", quoted(ours)),
        (theirs, "") if !long => {
            format!("{before}the file has {} there, the request does not", quoted(theirs))
        }
        (theirs, ours) if !long => {
            format!("{before}the file has {}, the request {}", quoted(theirs), quoted(ours))
        }
        _ => format!("{before}the words differ"),
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('\t', "\u{2192}"))
}

/// Returns the lines without the whole words that they share at both ends.
fn middles<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let inside = |text: &str, at: usize| {
        text[..at].chars().next_back().is_some_and(is_word) && text[at..].chars().next().is_some_and(is_word)
    };
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y);
    let mut start: usize = common.map(|(c, _)| c.len_utf8()).sum();
    while start > 0 && (inside(a, start) || inside(b, start)) {
        start -= a[..start].chars().next_back().map_or(1, char::len_utf8);
    }
    let (a, b) = (&a[start..], &b[start..]);
    let common = a.chars().rev().zip(b.chars().rev()).take_while(|(x, y)| x == y);
    let mut end: usize = common.map(|(c, _)| c.len_utf8()).sum();
    while end > 0 && (inside(a, a.len() - end) || inside(b, b.len() - end)) {
        end -= a[a.len() - end..].chars().next().map_or(1, char::len_utf8);
    }
    (&a[..a.len() - end], &b[..b.len() - end])
}

#[cfg(test)]
mod tests {
    use super::super::request::interpretations;
    use super::*;

    fn named(file: &str, request: &str) -> String {
        let wanted = [request.as_bytes()];
        name(file.as_bytes(), &interpretations(&wanted)[0][0]).map_or("".into(), |named| named.what)
    }

    /// Names the differences of a request that is corrected before it is compared.
    fn of_mended(file: &str, request: &str) -> String {
        let wanted = [request.as_bytes()];
        name(file.as_bytes(), &interpretations(&wanted)[1][0]).map_or("".into(), |named| named.what)
    }

    #[test]
    fn each_difference_has_its_words() {
        for (file, request, what) in [
            ("a", "a", ""),
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
            ("", "a", "the file has a blank line there"),
            ("a", " ", "the request has a blank line there"),
            ("let total = 1;", "let totl = 1;", "the file has `total`, the request `totl`"),
            ("foo(a, b)", "foo(a)", "the file has `, b` there, the request does not"),
            (
                "\tsay \"a\"",
                "    say \u{201c}a\u{201d} ",
                "at the end of the line the file has none, the request 1 space; indentation: the file has 1 tab, the request 4 spaces; the file has straight quotes, the request curly ones (\u{201c}\u{201d})",
            ),
        ] {
            assert_eq!(named(file, request), what, "{file:?} {request:?}");
        }
    }

    #[test]
    fn what_was_mended_is_named_with_what_is_left() {
        for (file, request, what) in [
            ("a < b", "a &lt; b", "the request has &lt; where the file has <"),
            ("say \"a\"", "say \\\"a\\\"", "the request has \\\" where the file has \""),
            ("a", "a\\nb", "the request has \\n where the file has a line break"),
            ("\ta", "  12\t\ta", "the request has the line number `  12\u{2192}` of a reading"),
            (
                "ab < c",
                "a &lt; c",
                "the request has &lt; where the file has <; and the file has `ab`, the request `a`",
            ),
        ] {
            assert_eq!(of_mended(file, request), what, "{file:?} {request:?}");
        }
    }
}
