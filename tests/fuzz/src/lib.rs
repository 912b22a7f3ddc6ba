//! The checks of the fuzz targets. Each is a function of its input that panics when a promise is broken. A target only
//! calls it.

extern crate alloc;

pub mod data;
pub mod finder;
pub mod near;
pub mod parsers;
pub mod plan;
pub mod sketch;
pub mod text;

use arbitrary::{Arbitrary, Result, Unstructured};

/// Lines that repeat, nearly repeat, and look like the markers of some format: random bytes would match nothing.
const LINES: &[&str] = &[
    "a",
    "b",
    "c",
    "",
    "}",
    "  }",
    "    a = 1",
    "    b = 2",
    "\tb = 2",
    "fn f() {",
    "fn g() {",
    "def f():",
    "...",
    "@@",
    "---",
    "+++ b/x",
    "*** x",
    "```",
    "a = \"x\"",
    "a = \"\\nab\"",
    "a = \u{201c}x\u{201d}",
    "\u{e9}",
    "e\u{301}",
    "  ",
    "a ",
    "12: a",
    "a\r",
    "// ... existing code ...",
    "&lt;",
    "the same long line of words",
    "the same long line of word",
];

/// A line of a file or of a request.
pub fn line(u: &mut Unstructured<'_>) -> Result<String> {
    if u.ratio(1, 12)? {
        let short: Vec<char> = Vec::arbitrary(u)?;
        return Ok(short.into_iter().filter(|c| *c != '\n').take(12).collect());
    }
    Ok(u.choose(LINES)?.to_string())
}

/// Some lines, each with an ending but perhaps the last.
pub fn content(u: &mut Unstructured<'_>, most: usize) -> Result<String> {
    let endings = u.int_in_range(0..=5)?;
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=most)? {
        text.push_str(&line(u)?);
        let crlf = match endings {
            0 => true,
            1 => bool::arbitrary(u)?,
            _ => false,
        };
        text.push_str(if crlf { "\r\n" } else { "\n" });
    }
    if u.ratio(1, 4)? {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    Ok(text)
}
