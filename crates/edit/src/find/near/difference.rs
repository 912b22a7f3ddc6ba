//! Names for the difference between a line of the file and the corresponding line of the request.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::fold::{self, equal_but_composition};
use super::request::{ESCAPES, RequestLine, without_number};
use crate::problem::{DifferenceKind, DifferingWords};

const ELLIPSIS: char = '\u{2026}';
/// How many bytes of a line are compared.
const COMPARED: usize = 4096;
/// How many bytes of a difference are quoted; longer ones are only shown with their lines.
const QUOTED: usize = 60;

/// A view of a line that hides one kind of difference.
struct LineView {
    look: fn(&str) -> String,
    name: fn(&str, &str) -> DifferenceKind,
}

/// The views, from the most to the least precise; all but the last can be combined.
const VIEWS: &[LineView] = &[
    LineView { look: |line| line.trim_end().into(), name: end },
    LineView { look: |line| line.trim_start().into(), name: indentation },
    LineView {
        look: |line| map(line, fold::space),
        name: |a, b| DifferenceKind::Spaces(first_pair(a, b, fold::space, ' ')),
    },
    LineView { look: |line| map(line, fold::quote), name: quotes },
    LineView {
        look: |line| map(line, fold::dash),
        name: |a, b| DifferenceKind::Dashes(first_pair(a, b, fold::dash, '-')),
    },
    LineView {
        look: |line| line.replace(ELLIPSIS, "..."),
        name: |file, _| DifferenceKind::Ellipsis { is_in_file: file.contains(ELLIPSIS) },
    },
    LineView { look: visible, name: invisible },
    LineView { look: str::to_lowercase, name: |a, b| DifferenceKind::LetterCase(words(a, b)) },
    LineView { look: fold::without_space, name: |_, _| DifferenceKind::InnerSpace },
];

/// Names the differences between these lines; none if they are equal.
pub(super) fn name(file: &[u8], line: &RequestLine<'_>) -> Vec<DifferenceKind> {
    if file == line.sent {
        return Vec::new();
    }
    let mut kinds = mended(line);
    if *file != *line.content {
        kinds.extend(compare(&lossy(file), &lossy(&line.content)));
    }
    kinds
}

fn lossy(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&line[..line.len().min(COMPARED)])
}

/// Names the corrections that turn the line as sent into the line as it may have been meant.
fn mended(line: &RequestLine<'_>) -> Vec<DifferenceKind> {
    let mut kinds = Vec::new();
    if line.sent == &*line.content {
        return kinds;
    }
    let sent = lossy(line.sent);
    if let Some(rest) = without_number(line.sent).filter(|rest| {
        // It is a copied line number, not one that the file contains.
        !line.content.trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
            || rest.trim_ascii().starts_with(&line.content)
    }) {
        let prefix = String::from_utf8_lossy(&line.sent[..line.sent.len() - rest.len()]);
        kinds.push(DifferenceKind::LineNumber { prefix: prefix.into() });
    }
    for &(escape, stands_for) in ESCAPES {
        if sent.contains(escape) {
            kinds.push(DifferenceKind::Escape { escape, stands_for });
        }
    }
    kinds
}

fn compare(file: &str, request: &str) -> Vec<DifferenceKind> {
    if file == request {
        return vec![DifferenceKind::AfterCompared(COMPARED)];
    }
    let blank = |line: &str| line.trim().is_empty();
    if blank(request) && !blank(file) {
        return vec![DifferenceKind::BlankInRequest];
    }
    if blank(file) && !blank(request) {
        return vec![DifferenceKind::BlankInFile];
    }
    if let Some(kind) = framed(file, request) {
        return vec![kind];
    }
    for view in VIEWS {
        if (view.look)(file) == (view.look)(request) {
            return vec![(view.name)(file, request)];
        }
    }
    if equal_but_composition(file, request) {
        return vec![DifferenceKind::Composition];
    }
    let look = |line: &str, views: &[&LineView]| {
        views.iter().fold(line.to_string(), |line, view| (view.look)(&line))
    };
    let mut views: Vec<&LineView> = VIEWS.iter().collect();
    if look(file, &views) == look(request, &views) {
        // Of those that it takes, the first.
        for left_out in (0..views.len()).rev() {
            let mut fewer = views.clone();
            fewer.remove(left_out);
            if look(file, &fewer) == look(request, &fewer) {
                views = fewer;
            }
        }
        return views.iter().map(|view| (view.name)(file, request)).collect();
    }
    vec![DifferenceKind::Words(words(file, request))]
}

/// Names what a viewer has put around the line: a line number with its signs before it, or a sign for its end behind it.
fn framed(file: &str, request: &str) -> Option<DifferenceKind> {
    let is_short = |text: &&str| (1..=QUOTED).contains(&text.len());
    let is_gutter = |text: &str| {
        text.contains(|c: char| c.is_ascii_digit()) && !text.trim().contains(char::is_whitespace)
    };
    let (before, after) = match (request.strip_suffix(file), request.strip_prefix(file)) {
        (Some(before), _) if is_gutter(before) => (before, ""),
        (_, Some(after)) if matches!(after, "^M" | "\\r" | "\u{240d}" | "\u{240a}") => ("", after),
        _ => return None,
    };
    let text = [before, after].into_iter().find(is_short)?;
    Some(DifferenceKind::Frame { text: text.into(), is_before: after.is_empty() })
}

fn map(line: &str, char: fn(char) -> char) -> String {
    line.chars().map(char).collect()
}

fn visible(line: &str) -> String {
    line.chars().filter(|&c| !fold::is_invisible(c)).collect()
}

fn invisible(file: &str, request: &str) -> DifferenceKind {
    let first = |line: &str| line.chars().find(|&c| fold::is_invisible(c));
    DifferenceKind::Invisible { file: first(file), request: first(request) }
}

fn indentation(file: &str, request: &str) -> DifferenceKind {
    let space = |line: &str| line[..line.len() - line.trim_start().len()].into();
    DifferenceKind::Indentation { file: space(file), request: space(request) }
}

fn end(file: &str, request: &str) -> DifferenceKind {
    let space = |line: &str| line[line.trim_end().len()..].into();
    DifferenceKind::LineEnd { file: space(file), request: space(request) }
}

fn quotes(file: &str, request: &str) -> DifferenceKind {
    DifferenceKind::Quotes { file: curls(file), request: curls(request) }
}

fn curls(line: &str) -> String {
    let mut curls: Vec<char> = line.chars().filter(|&c| fold::quote(c) != c).collect();
    curls.sort_unstable();
    curls.dedup();
    curls.truncate(4);
    curls.into_iter().collect()
}

/// Returns the first characters of a family that differ.
fn first_pair(file: &str, request: &str, fold: fn(char) -> char, plain: char) -> Option<(char, char)> {
    let family = |line: &str| line.chars().filter(|&c| fold(c) == plain).collect::<Vec<char>>();
    family(file).into_iter().zip(family(request)).find(|(a, b)| a != b)
}

/// Returns the words that differ, from the first to the last; `None` if they are too long.
fn words(file: &str, request: &str) -> Option<DifferingWords> {
    let (theirs, ours) = middles(file.trim(), request.trim());
    let is_short = theirs.len().max(ours.len()) <= QUOTED;
    is_short.then(|| DifferingWords { file: theirs.trim().into(), request: ours.trim().into() })
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
    use alloc::format;

    use super::super::request::interpretations;
    use super::*;

    fn named(file: &str, request: &str) -> Vec<DifferenceKind> {
        let wanted = [request.as_bytes()];
        name(file.as_bytes(), &interpretations(&wanted)[0][0])
    }

    /// Names the differences of a request that is corrected before it is compared.
    fn of_mended(file: &str, request: &str) -> Vec<DifferenceKind> {
        let wanted = [request.as_bytes()];
        name(file.as_bytes(), &interpretations(&wanted)[1][0])
    }

    fn differing(file: &str, request: &str) -> Option<DifferingWords> {
        Some(DifferingWords { file: file.into(), request: request.into() })
    }

    #[test]
    fn each_difference_is_named() {
        use DifferenceKind::*;
        let space = |file: &str, request: &str| (file.into(), request.into());
        let indentation = |file, request| {
            let (file, request) = space(file, request);
            Indentation { file, request }
        };
        let end = |file, request| {
            let (file, request) = space(file, request);
            LineEnd { file, request }
        };
        let quotes = |file, request| {
            let (file, request) = space(file, request);
            Quotes { file, request }
        };
        for (file, request, kinds) in [
            ("a", "a", vec![]),
            ("\t\ta", "        a", vec![indentation("\t\t", "        ")]),
            ("a", "\t a", vec![indentation("", "\t ")]),
            ("a", "a  ", vec![end("", "  ")]),
            ("'a'", "\u{2018}a\u{2019}", vec![quotes("", "\u{2018}\u{2019}")]),
            ("\u{201c}a\u{201d}", "\"a\"", vec![quotes("\u{201c}\u{201d}", "")]),
            ("a\u{a0}b", "a b", vec![Spaces(Some(('\u{a0}', ' ')))]),
            ("a - b", "a \u{2014} b", vec![Dashes(Some(('-', '\u{2014}')))]),
            ("a...", "a\u{2026}", vec![Ellipsis { is_in_file: false }]),
            ("a", "a\u{200b}", vec![Invisible { file: None, request: Some('\u{200b}') }]),
            ("let Foo = 1", "let foo = 1", vec![LetterCase(differing("Foo", "foo"))]),
            ("a  b", "a b", vec![InnerSpace]),
            ("caf\u{e9}", "cafe\u{301}", vec![Composition]),
            ("cafe\u{301}", "caf\u{e9}", vec![Composition]),
            ("cafe\u{301}", "cafe", vec![Words(differing("\u{301}", ""))]),
            ("cafe", "cafe\u{301}", vec![Words(differing("", "\u{301}"))]),
            ("", "a", vec![BlankInFile]),
            ("a", " ", vec![BlankInRequest]),
            ("let total = 1;", "let totl = 1;", vec![Words(differing("total", "totl"))]),
            ("foo(a, b)", "foo(a)", vec![Words(differing(", b", ""))]),
            ("a = 1; // why", "b = 1; // why", vec![Words(differing("a", "b"))]),
            ("xfoo = 1", "foo = 1", vec![Words(differing("xfoo", "foo"))]),
            ("foo = 1", "xfoo = 1", vec![Words(differing("foo", "xfoo"))]),
            ("a = retr", "a = retries", vec![Words(differing("retr", "retries"))]),
            ("a = retries", "a = retr", vec![Words(differing("retries", "retr"))]),
            ("caf\u{e9}", "caf\u{e8}", vec![Words(differing("caf\u{e9}", "caf\u{e8}"))]),
            ("\u{e9}", "e", vec![Words(differing("\u{e9}", "e"))]),
            ("e\u{301}", "a\u{301}", vec![Words(differing("e", "a"))]),
            ("e\u{301}\u{323}", "e\u{301}", vec![Words(differing("\u{323}", ""))]),
            ("  ", "\t", vec![end("  ", "\t")]),
            ("a\u{2026}", "a...", vec![Ellipsis { is_in_file: true }]),
            ("a\u{200b}", "a", vec![Invisible { file: Some('\u{200b}'), request: None }]),
            ("'a' 'b'", "'a' \u{2018}b\u{2018}", vec![quotes("", "\u{2018}")]),
            ("Foo  Bar", "foo bar", vec![LetterCase(differing("Foo  Bar", "foo bar")), InnerSpace]),
            (
                "\tsay \"a\"",
                "    say \u{201c}a\u{201d} ",
                vec![end("", " "), indentation("\t", "    "), quotes("", "\u{201c}\u{201d}")],
            ),
        ] {
            assert_eq!(named(file, request), kinds, "{file:?} {request:?}");
        }
    }

    #[test]
    fn of_a_long_line_only_a_short_difference_is_quoted_and_what_comes_late_is_not_compared() {
        use DifferenceKind::*;
        let (short, long) = ("a".repeat(QUOTED), "a".repeat(QUOTED + 1));
        assert_eq!(named(&format!("{short} = 1"), "b = 1"), [Words(differing(&short, "b"))]);
        assert_eq!(named("b = 1", &format!("{short} = 1")), [Words(differing("b", &short))]);
        assert_eq!(named(&format!("{long} = 1"), "b = 1"), [Words(None)]);
        assert_eq!(named("b = 1", &format!("{long} = 1")), [Words(None)]);
        let same = "a".repeat(COMPARED);
        assert_eq!(named(&format!("{same}b"), &format!("{same}c")), [AfterCompared(COMPARED)]);
        assert_eq!(named(&format!("{same}b"), &format!(" {same}c")).len(), 1);
    }

    #[test]
    fn what_a_viewer_puts_around_a_line_is_named_as_such() {
        use DifferenceKind::*;
        let frame = |text: &str, is_before| [Frame { text: text.into(), is_before }];
        assert_eq!(named("  x = 1", "73#ab|  x = 1"), frame("73#ab|", true));
        assert_eq!(named("x = 1", "//7 x = 1"), frame("//7 ", true));
        assert_eq!(named("x = 1", "x = 1^M"), frame("^M", false));
        assert_eq!(named("x = 1", "x = 1\\r"), frame("\\r", false));
        assert_eq!(named("x = 1", "let x = 1"), [Words(differing("", "let"))]);
        assert_eq!(named("x = 1", "f(1) + x = 1"), [Words(differing("", "f(1) +"))]);
        assert_eq!(named("x = 1", "x = 12"), [Words(differing("1", "12"))]);
    }

    #[test]
    fn a_number_is_a_line_number_unless_the_line_begins_with_it() {
        use DifferenceKind::*;
        let of_first = |file: &str, wanted: [&str; 2]| {
            name(file.as_bytes(), &interpretations(&wanted.map(str::as_bytes))[1][0])
        };
        assert_eq!(of_mended("12 a", "3\t12 a"), [LineNumber { prefix: "3\t".into() }]);
        assert_eq!(
            of_mended("12 b", "3\t12 a"),
            [LineNumber { prefix: "3\t".into() }, Words(differing("b", "a"))]
        );
        let escape = || Escape { escape: "&lt;", stands_for: '<' };
        assert_eq!(of_first("12: a < b", ["12: a &lt; b", "c"]), [escape()]);
        assert_eq!(
            of_first("a < b", ["12: a &lt; b", "13: c"]),
            [LineNumber { prefix: "12:".into() }, escape()]
        );
    }

    #[test]
    fn what_was_mended_is_named_with_what_is_left() {
        use DifferenceKind::*;
        let escape = |escape, stands_for| Escape { escape, stands_for };
        for (file, request, kinds) in [
            ("a < b", "a &lt; b", vec![escape("&lt;", '<')]),
            ("say \"a\"", "say \\\"a\\\"", vec![escape("\\\"", '"')]),
            ("a > b", "a &gt; b", vec![escape("&gt;", '>')]),
            ("a & b", "a &amp; b", vec![escape("&amp;", '&')]),
            ("\"a\"", "&quot;a&quot;", vec![escape("&quot;", '"')]),
            ("'a'", "&#39;a&apos;", vec![escape("&#39;", '\''), escape("&apos;", '\'')]),
            ("\"a", "&#34;a", vec![escape("&#34;", '"')]),
            ("\ta", "\\ta", vec![escape("\\t", '\t')]),
            ("'a'", "\\'a\\'", vec![escape("\\'", '\'')]),
            ("a \\ b", "a \\\\ b", vec![escape("\\\\", '\\')]),
            ("a", "a\\nb", vec![escape("\\n", '\n')]),
            ("\ta", "  12\t\ta", vec![LineNumber { prefix: "  12\t".into() }]),
            ("ab < c", "a &lt; c", vec![escape("&lt;", '<'), Words(differing("ab", "a"))]),
        ] {
            assert_eq!(of_mended(file, request), kinds, "{file:?} {request:?}");
        }
    }
}
