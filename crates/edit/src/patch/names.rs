//! The names in the headers of a diff: their quoting, prefixes and timestamps, and whether two of them agree.
//!
//! ```text
//! name   = path [ TAB timestamp ]  |  '"' escaped '"'  |  "/dev/null"
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The name that git and GNU diff write for an absent file.
const NOTHING: &str = "/dev/null";
/// A date as diff writes it, with a 0 for each digit.
const DATE: &str = "0000-00-00 00:00:00";

/// One side of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderName {
    /// No file, on one side of a creation or deletion.
    Nothing,
    /// A path with its prefix.
    Path(String),
}

impl fmt::Display for HeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => NOTHING,
            Self::Path(name) => name,
        })
    }
}

/// Reads the name after `--- ` or `+++ `, without quotes and timestamp.
pub(super) fn read(text: &str) -> HeaderName {
    let text = text.trim_start();
    let name = match unquote(text) {
        Some((name, _)) => name,
        None => parted(text).0.to_string(),
    };
    side(&name)
}

/// Returns the side that a name without quotes and timestamp stands for.
pub(super) fn side(name: &str) -> HeaderName {
    if name == NOTHING { HeaderName::Nothing } else { HeaderName::Path(name.into()) }
}

/// Parts a name and its timestamp. A name may have blanks, tabs and dates itself, so the last tab before a date ends it, or
/// an only tab after which nothing comes, as git writes it. Without such a tab a date at the end counts, since tabs become
/// blanks in copies, and then the first tab.
fn parted(text: &str) -> (&str, &str) {
    let dated = text.rsplit_once('\t').filter(|(_, rest)| is_date(rest));
    let first = text.split_once('\t');
    if let Some(parted) = dated.or_else(|| first.filter(|(_, rest)| rest.trim().is_empty())) {
        return parted;
    }
    let after_blank = |(at, _): (usize, &str)| at + 1;
    match text.rmatch_indices([' ', '\t']).map(after_blank).find(|at| is_date(&text[*at..])) {
        Some(at) => (text[..at].trim_end(), &text[at..]),
        None => first.unwrap_or((text.trim_end(), "")),
    }
}

/// Returns whether this is a date as diff writes it: a day and a time, perhaps with a fraction of a second and a zone.
fn is_date(text: &str) -> bool {
    let text = text.trim();
    let fits = |(shape, byte): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { shape == byte };
    let Some(rest) = text.get(DATE.len()..).filter(|_| DATE.bytes().zip(text.bytes()).all(fits)) else {
        return false;
    };
    let fraction =
        rest.strip_prefix('.').map(|digits| digits.trim_start_matches(|c: char| c.is_ascii_digit()));
    let zone = fraction.filter(|after| after.len() + 1 < rest.len()).unwrap_or(rest);
    match zone.trim_start().strip_prefix(['+', '-']) {
        Some(hours) => {
            matches!(hours.len(), 4 | 5) && hours.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        }
        None => {
            let is_name = |zone: &str| zone.bytes().all(|byte| byte.is_ascii_uppercase());
            matches!(zone, "" | "Z") || zone.strip_prefix(' ').is_some_and(is_name)
        }
    }
}

/// Returns whether the timestamp after a name is the Unix epoch, in any time zone.
pub(super) fn is_dated_nothing(text: &str) -> bool {
    let (_, date) = parted(text);
    let is = |iso: &str, day: &str, year: &str| {
        date.starts_with(iso) || (date.contains(day) && date.trim_end().ends_with(year))
    };
    is("1970-01-01 ", " Jan  1 ", " 1970") || is("1969-12-31 ", " Dec 31 ", " 1969")
}

/// Reads a whole path as in the extended headers: perhaps quoted, without prefix and timestamp.
pub(crate) fn plain(text: &str) -> String {
    unquote(text).map_or_else(|| text.trim_end().to_string(), |(name, _)| name)
}

/// Reads a C-quoted name at the start of `text`, and returns it with the rest. Escapes that git does not write, and
/// bytes that are not UTF-8, are refused.
fn unquote(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let (mut name, mut at) = (Vec::new(), 0);
    loop {
        match *bytes.get(at)? {
            b'"' => return Some((String::from_utf8(name).ok()?, &inner[at + 1..])),
            b'\\' => {
                let escape = *bytes.get(at + 1)?;
                at += 2;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let digits = bytes.get(at - 1..at + 2)?;
                        at += 2;
                        let mut value = 0u8;
                        for digit in digits {
                            value = value * 8 + digit.checked_sub(b'0').filter(|&digit| digit < 8)?;
                        }
                        value
                    }
                    _ => return None,
                });
            }
            byte => {
                name.push(byte);
                at += 1;
            }
        }
    }
}

/// Quotes a name as git does, if it must be quoted: also where blanks at its ends would get lost.
pub(crate) fn quote(name: &str) -> String {
    let special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\' || byte == 127;
    if !name.bytes().any(special) && name.trim() == name {
        return name.into();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\{:03o}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads the two names of a `diff --git` line. Unquoted names may contain spaces; then they can be told apart only if
/// they are equal but for their prefixes, as they are for everything except renames.
pub(crate) fn from_git_line(text: &str) -> Option<(String, String)> {
    if let Some((old, rest)) = unquote(text) {
        return Some((old, plain(rest.strip_prefix(' ')?)));
    }
    if text.ends_with('"') {
        let (old, new) = text.split_once(" \"")?;
        return Some((old.into(), unquote(&format!("\"{new}"))?.0));
    }
    let text = text.trim_end();
    let splits = || text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let tail = |name: &'_ str| -> usize { name.find('/').map_or(0, |slash| slash + 1) };
    let same =
        splits().find(|(old, new)| old == new || (tail(old) > 0 && old[tail(old)..] == new[tail(new)..]));
    let (old, new) = same.or_else(|| splits().next().filter(|_| splits().count() == 1))?;
    Some((old.into(), new.into()))
}

/// Splits a `diff --git` line without quotes where another header gives the new name.
pub(super) fn split_git_line(text: &str, new: &str) -> Option<(String, String)> {
    let text = text.trim_end();
    if text.starts_with('"') || text.ends_with('"') {
        return None;
    }
    let (old, prefix) = text.strip_suffix(new)?.rsplit_once(' ')?;
    Some((old.into(), format!("{prefix}{new}")))
}

/// Strips `a/` and `b/`, or another of git's pairs, from two names, if both have them or the other is no file. A folder
/// may be called `a`.
pub(super) fn without_prefixes(old: HeaderName, new: HeaderName) -> (HeaderName, HeaderName) {
    let prefix = |name: &HeaderName| match name {
        HeaderName::Path(path) if path.as_bytes().get(1) == Some(&b'/') && path.len() > 2 => {
            path.bytes().next()
        }
        _ => None,
    };
    // Prefixes of git's diff.mnemonicPrefix (index, worktree, commit, object), and those of --no-index.
    let mnemonic = |byte: u8| b"iwco12".contains(&byte);
    let strip = match (prefix(&old), prefix(&new)) {
        (Some(a), Some(b)) => {
            matches!((a, b), (b'a', b'b') | (b'b', b'a')) || (a != b && mnemonic(a) && mnemonic(b))
        }
        (Some(a), None) => new == HeaderName::Nothing && matches!(a, b'a' | b'b'),
        (None, Some(b)) => old == HeaderName::Nothing && matches!(b, b'a' | b'b'),
        (None, None) => false,
    };
    let cut = |name: HeaderName| match name {
        HeaderName::Path(path) if strip => HeaderName::Path(path[2..].into()),
        name => name,
    };
    (cut(old), cut(new))
}

/// Returns whether the old name is the new one with the suffix of a backup.
pub(super) fn is_backup(old: &str, new: &str) -> bool {
    [".orig", ".old", ".bak"].iter().any(|suffix| old.strip_suffix(suffix) == Some(new))
}

/// Returns whether one of the two names equals the other or its end, folder by folder.
pub(super) fn agree(a: &str, b: &str) -> bool {
    let parts = |path: &'_ str| -> Vec<String> {
        path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(Into::into).collect()
    };
    let (a, b) = (parts(a), parts(b));
    !a.is_empty() && !b.is_empty() && (a.ends_with(&b) || b.ends_with(&a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> HeaderName {
        HeaderName::Path(text.into())
    }

    #[test]
    fn quotes_escapes_and_timestamps_are_taken_off() {
        assert_eq!(read("a/x y.txt\t2024-01-01 00:00:00 +0000"), path("a/x y.txt"));
        assert_eq!(read("\"a/caf\\303\\251 \\\"q\\\".txt\""), path("a/café \"q\".txt"));
        assert_eq!(read("/dev/null\tThu Jan  1"), HeaderName::Nothing);
        assert_eq!(read("a/x\ty.txt\t2024-01-01 00:00:00 +0000"), path("a/x\ty.txt"));
        assert_eq!(read("x.txt\t(.../trunk)\t(revision 1)"), path("x.txt"));
        assert_eq!(read("x.txt\t1234-5-67"), path("x.txt"));
        assert_eq!(read("a/x y.txt     1969-12-31 18:00:00.000000000 -0600"), path("a/x y.txt"));
        assert!(is_dated_nothing("a/x y.txt     1969-12-31 18:00:00.000000000 -0600"));
        assert_eq!(read("notes 2024-01-01 x"), path("notes 2024-01-01 x"));
        assert_eq!(read("\"broken"), path("\"broken"));
        for date in ["1970-01-01 02:00:00.0 +0200", "Thu Jan  1 00:00:00 1970", "Wed Dec 31 19:00:00 1969"] {
            assert!(is_dated_nothing(&format!("a/x\t{date}")), "{date}");
        }
        assert!(!is_dated_nothing("a/x\tThu Jan  1 00:00:00 2026") && !is_dated_nothing("1970-01-01 x"));
        assert_eq!(read(&quote("tab\there")), path("tab\there"));
    }

    #[test]
    fn a_date_in_a_name_is_no_timestamp() {
        let log = || path("a/log 2024-01-01 00:00:00.txt");
        for after in ["", "\t", "\t2024-02-02 00:00:00", "  2024-02-02 00:00:00.5 +0200"] {
            assert_eq!(read(&format!("a/log 2024-01-01 00:00:00.txt{after}")), log(), "{after:?}");
        }
        assert_eq!(read("a/log 2024-01-01 00:00:00\t"), path("a/log 2024-01-01 00:00:00"));
        let dated = "a/log 2024-01-01 00:00:00";
        assert_eq!(read(&format!("{dated}\t2024-02-02 00:00:00 UTC")), path(dated));
        for name in [".TXT", ".5.txt", "-1", "Zoo", " and more", " +02", "x"] {
            assert_eq!(read(&format!("{dated}{name}")), path(&format!("{dated}{name}")), "{name}");
        }
        for zone in ["", "Z", ".123", ".123Z", " UTC", ".1 +0200", "-06:00", " "] {
            assert_eq!(read(&format!("{dated}{zone}")), path("a/log"), "{zone:?}");
        }
    }

    #[test]
    fn prefixes_go_only_in_pairs() {
        let stripped = |old: &str, new: &str| without_prefixes(read(old), read(new));
        assert_eq!(stripped("a/x", "b/x"), (path("x"), path("x")));
        assert_eq!(stripped("i/x", "w/x"), (path("x"), path("x")));
        assert_eq!(stripped("/dev/null", "b/x"), (HeaderName::Nothing, path("x")));
        assert_eq!(stripped("a/x", "a/x"), (path("a/x"), path("a/x")));
        assert_eq!(stripped("a/x", "x"), (path("a/x"), path("x")));
        assert_eq!(stripped("/dev/null", "w/x"), (HeaderName::Nothing, path("w/x")));
    }

    #[test]
    fn a_git_line_is_split_where_both_names_are_the_same() {
        let names = |text: &str| from_git_line(text).unwrap();
        assert_eq!(names("a/x y b/x y"), ("a/x y".into(), "b/x y".into()));
        assert_eq!(names("a/old b/new"), ("a/old".into(), "b/new".into()));
        assert_eq!(names("\"a/\\\"q\" \"b/\\\"q\""), ("a/\"q".into(), "b/\"q".into()));
        assert_eq!(names("a/x \"b/\\t\""), ("a/x".into(), "b/\t".into()));
        assert_eq!(from_git_line("a/x y b/z w"), None);
        assert_eq!(split_git_line("a/x y b/z w ", "z w"), Some(("a/x y".into(), "b/z w".into())));
        assert_eq!(split_git_line("x y z w", "z w"), Some(("x y".into(), "z w".into())));
        assert_eq!(split_git_line("a/ba a b/ba", "ba"), Some(("a/ba a".into(), "b/ba".into())));
        assert_eq!([split_git_line("a/x y b/z w", "y w"), split_git_line("\"a/x\" b/x", "x")], [None, None]);
        // Without its prefix it may be a file of another folder, or of none.
        assert_eq!(from_git_line("x y b/x y"), None);
    }

    #[test]
    fn names_agree_by_their_end() {
        assert!(
            agree("./src/x.rs", "src/x.rs") && agree("/home/u/src/x.rs", "src/x.rs") && agree("x", "a/x")
        );
        assert!(!agree("src/x.rs", "lib/x.rs") && !agree("ax.rs", "x.rs") && !agree("", "x"));
    }

    #[test]
    fn a_quoted_name_has_the_escapes_that_git_writes_and_no_others() {
        let named = |text: &str| unquote(text).map(|(name, rest)| (name, rest.to_string()));
        let all = Some(("\u{7}\u{8}\t\n\u{b}\u{c}\r\"\\".to_string(), " rest".to_string()));
        assert_eq!(named("\"\\a\\b\\t\\n\\v\\f\\r\\\"\\\\\" rest"), all);
        assert_eq!(named("\"\\101\\0012\""), Some(("A\u{1}2".into(), String::new())));
        assert_eq!(named("\"\\377\""), None, "it is not UTF-8");
        for text in ["a", "\"a", "\"\\x41\"", "\"\\400\"", "\"\\18\"", "\"\\181\"", "\"\\1", "\"\\"] {
            assert_eq!(named(text), None, "{text}");
        }
        assert_eq!(plain("\"a b\" x"), "a b");
        assert_eq!(plain("a b \t"), "a b");
    }

    #[test]
    fn a_name_is_quoted_only_if_it_must_be() {
        for name in ["a b", "caf\u{e9}", "~", "a'b"] {
            assert_eq!(quote(name), name);
        }
        for (name, quoted) in [
            ("a\tb", "\"a\\011b\""),
            ("a\u{7f}", "\"a\\177\""),
            ("a\u{1f}", "\"a\\037\""),
            ("a\"b", "\"a\\\"b\""),
            ("a ", "\"a \""),
            ("a\\\u{e9}", "\"a\\\\\u{e9}\""),
        ] {
            assert_eq!(quote(name), quoted);
            assert_eq!(unquote(quoted), Some((name.into(), "")));
        }
    }

    #[test]
    fn a_side_without_a_file_has_the_date_of_the_epoch() {
        for date in ["1970-01-01 00:00:00", "1969-12-31 19:00:00 -0500", "Thu Jan  1 00:00:00 1970 "] {
            assert!(is_dated_nothing(&format!("a/x\t{date}")), "{date}");
        }
        for date in [
            "1970-01-02 00:00:00",
            "1971-01-01 00:00:00",
            "Thu Jan  1 00:00:00 1971",
            "Mon Dec 30 00:00:00 1969",
            "",
        ] {
            assert!(!is_dated_nothing(&format!("a/x\t{date}")), "{date}");
        }
    }

    #[test]
    fn the_prefixes_of_git_and_no_others_are_taken_off() {
        let stripped = |old: &str, new: &str| without_prefixes(read(old), read(new));
        let both = (path("x"), path("x"));
        for (old, new) in [("b/x", "a/x"), ("c/x", "o/x"), ("1/x", "2/x"), ("w/x", "i/x")] {
            assert_eq!(stripped(old, new), both, "{old} {new}");
        }
        for (old, new) in
            [("i/x", "i/x"), ("a/x", "w/x"), ("w/x", "b/x"), ("d/x", "e/x"), ("x", "b/x"), ("a/", "b/x")]
        {
            assert_eq!(stripped(old, new), (path(old), path(new)), "{old} {new}");
        }
        assert_eq!(stripped("a/x", "/dev/null"), (path("x"), HeaderName::Nothing));
        assert_eq!(stripped("b/x", "/dev/null"), (path("x"), HeaderName::Nothing));
        assert_eq!(stripped("i/x", "/dev/null"), (path("i/x"), HeaderName::Nothing));
        assert_eq!(stripped("/dev/null", "a/x"), (HeaderName::Nothing, path("x")));
        for name in ["x.orig", "x.old", "x.bak"] {
            assert!(is_backup(name, "x") && !is_backup("x", name) && !is_backup(name, "y"));
        }
    }

    #[test]
    fn the_names_of_a_git_line_may_be_quoted_each_on_its_own() {
        let names = |text: &str| from_git_line(text);
        let both = |old: &str, new: &str| Some((old.to_string(), new.to_string()));
        assert_eq!(names("\"a/\\t\" b/x"), both("a/\t", "b/x"));
        assert_eq!(names("a/x y z b/x y z"), both("a/x y z", "b/x y z"));
        assert_eq!(names("x y x y"), both("x y", "x y"), "without prefixes");
        assert_eq!(names("a/x b/x  "), both("a/x", "b/x"));
        assert_eq!([names("\"a/x\"b/x"), names("a/x"), names("x\"")], [None, None, None]);
    }
}
