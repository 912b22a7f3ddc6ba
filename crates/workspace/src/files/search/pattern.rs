//! What a replacement in many files looks for, and what it puts there.
//!
//! A regular expression is matched by the matcher of a search, line by line, so what a search shows is what is replaced.
//! A literal text may span lines, whose endings may be LF or CRLF. `$1`, `$name` and `${name}` in the new text of an
//! expression stand for its groups and `$$` for a `$`. A reference to a group that the expression does not have is
//! refused, and so is an expression that matches empty text: neither is meant.

use std::ops::Range;

use emend_edit::problem::NoChange;
use grep_matcher::{Captures, Matcher};
use grep_regex::{RegexCaptures, RegexMatcher, RegexMatcherBuilder};

use crate::problem::{EditKind, Kind, Problem};

use super::{COMPILED, PATTERN, invalid};

/// What a replacement in many files looks for, and what it puts there.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// The text to find, or a regular expression.
    pub old: &'a str,
    /// The text that replaces it. With a regular expression, `$1` in it stands for a group.
    pub new: &'a str,
    /// Whether `old` is a regular expression.
    pub is_regex: bool,
    /// Whether only whole words are found.
    pub whole_words: bool,
    /// Whether upper and lower case are the same.
    pub ignore_case: bool,
    /// Whether both texts are code with variables, and `old` is found by its structure.
    pub is_structure: bool,
}

/// A replacement, ready to be matched.
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    /// Whether it is matched line by line.
    pub(super) by_line: bool,
    /// Whether two matches might overlap where only one of them is found.
    may_overlap: bool,
    new: Vec<Part>,
}

/// A part of the new text.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

/// A match and the text that replaces it.
pub(super) struct Replaced {
    pub(super) range: Range<usize>,
    pub(super) old: String,
    pub(super) new: String,
}

impl Pattern {
    pub(super) fn new(asked: &Replacement<'_>) -> Result<Self, Problem> {
        let &Replacement { old, new, is_regex, whole_words, ignore_case, .. } = asked;
        if old.is_empty() {
            return Err(invalid("old_string", "it is empty, so there is nothing to find".into()));
        }
        if old.len() > PATTERN {
            return Err(invalid(
                "old_string",
                format!("it has more than {PATTERN} bytes; look for less of it"),
            ));
        }
        if !is_regex && lines_of(old).eq(lines_of(new)) {
            return Err(EditKind::NoOp { why: NoChange::SameText }.into());
        }
        if is_regex && has_start_of_file(old) {
            let message = "each line is matched by itself, so \\A is no start of a file; to put lines there, send edit_files \
                           with an edit for each file: tool str_replace, path, and insert_before without old_string (^ is \
                           the start of a line)";
            return Err(invalid("old_string", message.into()));
        }
        let by_line = is_regex || !old.contains(['\r', '\n']);
        let mut builder = RegexMatcherBuilder::new();
        builder.size_limit(COMPILED).dfa_size_limit(COMPILED);
        builder.multi_line(true).crlf(by_line).word(whole_words).case_insensitive(ignore_case);
        let written = if is_regex { old.to_owned() } else { literal(old) };
        let matcher = builder.build(&written).map_err(|error| {
            let hint = "lines are matched one by one; put \\ before characters such as ( [ { . * + ? that are meant as \
                        they are, or leave regex out";
            invalid("old_string", format!("{error} ({hint})"))
        })?;
        let new = if is_regex { template(new, &matcher)? } else { vec![Part::Text(new.to_owned())] };
        Ok(Self { may_overlap: !is_regex && may_overlap(old), matcher, by_line, new })
    }

    /// Calls `found` with each match in a text, as long as it returns true. The text is a line without its ending, or
    /// the whole of a file if the pattern is not matched by line.
    pub(super) fn each(
        &self,
        text: &[u8],
        found: &mut dyn FnMut(Replaced) -> Result<(), Kind>,
    ) -> Result<(), Kind> {
        let Ok(mut captures) = self.matcher.new_captures() else { return Ok(()) };
        let mut result = Ok(());
        let _ = self.matcher.captures_iter(text, &mut captures, |captures| {
            result = self.replaced(text, captures).and_then(|replaced| replaced.map_or(Ok(()), &mut *found));
            result.is_ok()
        });
        result
    }

    /// Returns a match with its new text, unless that is what stands there.
    fn replaced(&self, text: &[u8], captures: &RegexCaptures) -> Result<Option<Replaced>, Kind> {
        let Some(place) = captures.get(0) else { return Ok(None) };
        let invalid =
            |message: &str| Err(Kind::InvalidArgument { name: "old_string".into(), message: message.into() });
        if place.is_empty() {
            return invalid(
                "it matches empty text here, where nothing can be replaced; match what stands beside it too, and put that \
                 back with $0 or a group",
            );
        }
        if self.may_overlap
            && let Ok(Some(other)) = self.matcher.find_at(text, place.start() + 1)
            && other.start() < place.end()
        {
            return invalid("it stands here twice, and the two overlap; give more of the text around it");
        }
        let mut new = Vec::new();
        for part in &self.new {
            match part {
                Part::Text(text) => new.extend_from_slice(text.as_bytes()),
                Part::Group(number) => {
                    new.extend(captures.get(*number).into_iter().flat_map(|group| &text[group]));
                }
            }
        }
        let old = text[place].to_vec();
        let (Ok(old), Ok(new)) = (String::from_utf8(old), String::from_utf8(new)) else {
            return invalid("it matches a part of a character here; leave (?-u) out");
        };
        let is_same = lines_of(&old).eq(lines_of(&new));
        Ok((!is_same).then_some(Replaced { range: place.start()..place.end(), old, new }))
    }
}

/// Returns whether an expression has a `\A`.
fn has_start_of_file(expression: &str) -> bool {
    let mut signs = expression.chars();
    std::iter::from_fn(|| signs.find(|sign| *sign == '\\').and_then(|_| signs.next())).any(|sign| sign == 'A')
}

/// Returns the lines of a text, whatever their endings. A CR that no LF follows ends no line.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split_inclusive('\n');
    let lines =
        lines.map(|line| line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line));
    lines.chain(text.ends_with('\n').then_some(""))
}

/// Returns an expression that matches this text with any line endings.
fn literal(text: &str) -> String {
    let escaped = lines_of(text).map(|line| {
        let mut escaped = String::with_capacity(line.len());
        for character in line.chars() {
            if character.is_ascii_punctuation() {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        escaped
    });
    escaped.collect::<Vec<_>>().join("\\r?\\n")
}

/// Returns whether a text ends as it begins, so that two places of it may overlap. Case does not count, to be safe.
fn may_overlap(text: &str) -> bool {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    (1..text.len()).any(|at| text[at..] == text[..text.len() - at])
}

/// Parses a new text with references to groups.
fn template(written: &str, matcher: &RegexMatcher) -> Result<Vec<Part>, Problem> {
    let backslashed = |(at, _): (usize, &str)| {
        let number = written[at + 1..].chars().next()?.to_digit(10)?;
        (1..matcher.capture_count()).contains(&(number as usize)).then_some(number)
    };
    if let Some(number) = written.match_indices('\\').find_map(backslashed) {
        let message = format!(
            "a group is ${number} here, and \\{number} would be put in as it stands; if that is meant, write the group in \
             old_string as (?:...)"
        );
        return Err(invalid("new_string", message));
    }
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            rest = after;
            continue;
        }
        let Some((name, after)) = reference(after) else {
            text.push('$');
            rest = after;
            continue;
        };
        parts.push(Part::Text(std::mem::take(&mut text)));
        parts.push(Part::Group(group(name, matcher)?));
        rest = after;
    }
    text.push_str(rest);
    parts.push(Part::Text(text));
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    Ok(parts)
}

/// Returns the name of a group after a `$`, and the text after it.
fn reference(after: &str) -> Option<(&str, &str)> {
    if let Some(braced) = after.strip_prefix('{') {
        return braced.split_once('}');
    }
    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
    (end > 0).then(|| after.split_at(end))
}

/// Returns the number of the group of this name or number.
fn group(name: &str, matcher: &RegexMatcher) -> Result<usize, Problem> {
    let numbered = name.parse().ok().filter(|number| *number < matcher.capture_count());
    let known = numbered.or_else(|| matcher.capture_index(name));
    known.ok_or_else(|| {
        let digits = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
        let hint = match name.split_at(digits) {
            (number @ ("0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"), rest)
                if !rest.is_empty() =>
            {
                format!("for group {number} before {rest}, write ${{{number}}}{rest}")
            }
            _ => format!("for a $ itself, write $${name}"),
        };
        invalid("new_string", format!("the expression has no group {name}; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacement<'a>(old: &'a str, new: &'a str) -> Replacement<'a> {
        Replacement { old, new, is_regex: true, whole_words: false, ignore_case: false, is_structure: false }
    }

    /// Replaces in a text.
    fn replaced(asked: Replacement<'_>, text: &str) -> Result<String, Kind> {
        let pattern = Pattern::new(&asked).map_err(|problem| *problem.kind)?;
        let (mut result, mut end) = (String::new(), 0);
        pattern.each(text.as_bytes(), &mut |found| {
            assert_eq!(text[found.range.clone()], found.old);
            result += &text[end..found.range.start];
            result += &found.new;
            end = found.range.end;
            Ok(())
        })?;
        Ok(result + &text[end..])
    }

    #[track_caller]
    fn check(asked: Replacement<'_>, text: &str, expected: &str) {
        assert_eq!(replaced(asked, text).as_deref(), Ok(expected));
    }

    #[track_caller]
    fn check_refused(asked: Replacement<'_>, text: &str, argument: &str, said: &str) {
        match replaced(asked, text) {
            Err(Kind::InvalidArgument { name, message }) => {
                assert!(name == argument && message.contains(said), "{name}: {message}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn groups_are_put_in_by_number_and_by_name() {
        check(replacement("(a)(b)?", "$1-$2."), "ab a", "a-b. a-.");
        check(replacement("(?<first>\\w)(\\w)", "$2${first}"), "ab", "ba");
        check(replacement("\\w", "$0$0"), "ab", "aabb");
        check(replacement("(a)", "${1}x$$1 $ ${1"), "a", "ax$1 $ ${1");
    }

    #[test]
    fn a_carriage_return_that_ends_no_line_is_text() {
        let literal = |old, new| Replacement { is_regex: false, ..replacement(old, new) };
        check(literal("foo\r", "bar"), "foo\rx foo\n", "barx foo\n");
        check(literal("foo\r", "foo"), "foo\rx\n", "foox\n");
        check(literal("a\nb", "c"), "a\r\nb a\nb", "c c");
    }

    #[test]
    fn a_group_that_is_not_there_is_refused() {
        check_refused(
            replacement("(a)", "$1x"),
            "a",
            "new_string",
            "has no group 1x; for group 1 before x, write ${1}x",
        );
        check_refused(
            replacement("(a)", "$2"),
            "a",
            "new_string",
            "has no group 2; for a $ itself, write $$2",
        );
        check_refused(replacement("(a)", "${b}"), "a", "new_string", "has no group b");
    }

    #[test]
    fn a_literal_text_is_taken_as_it_is() {
        let literally = |old, new| Replacement { is_regex: false, ..replacement(old, new) };
        check(literally("a.b(", "$1"), "a.b( axb(", "$1 axb(");
        check(literally("\u{e4}-#&~ x", "y"), "\u{e4}-#&~ x", "y");
        check(literally("a\nb", "c\nd"), "a\r\nb a\nb", "c\nd c\nd");
        check(Replacement { whole_words: true, ..literally("$x", "y") }, "$x $xx a$x ($x)", "y $xx a$x (y)");
        check(Replacement { ignore_case: true, ..literally("ab", "y") }, "AB aB", "y y");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        check_refused(replacement("x*", "y"), "ab", "old_string", "matches empty text");
        check_refused(replacement("", "y"), "ab", "old_string", "empty");
        check_refused(replacement("(", "y"), "ab", "old_string", "leave regex out");
        check_refused(replacement("a\\nb", "y"), "ab", "old_string", "lines are matched one by one");
        check_refused(replacement("(?-u:\\xc3)", "y"), "\u{e4}", "old_string", "a part of a character");
        let literally = |old, new| Replacement { is_regex: false, ..replacement(old, new) };
        for start in ["\\A", "(\\A)use", "\\\\\\Ax"] {
            check_refused(replacement(start, "y"), "use", "old_string", "insert_before without old_string");
        }
        check(replacement("\\\\A", "y"), "\\A", "y");
        check(literally("\\A", "y"), "\\A", "y");
        check_refused(literally("aa", "b"), "aaa", "old_string", "overlap");
        check(literally("aa", "b"), "aa aaa".split_at(3).0, "b ");
        assert_eq!(
            replaced(literally("a", "a"), "a").unwrap_err(),
            EditKind::NoOp { why: NoChange::SameText }.into()
        );
        let large = "(\\w{1000}){10}";
        assert!(replaced(replacement(large, "y"), "a").is_err(), "a compiled pattern has a bound");
    }

    #[test]
    fn what_stands_there_already_is_no_place() {
        check(replacement("(a|b)", "a"), "ab", "aa");
        let pattern = Pattern::new(&replacement("(a|b)", "a")).unwrap();
        let mut places = 0;
        pattern
            .each(b"ab", &mut |_| {
                places += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(places, 1);
    }
}
