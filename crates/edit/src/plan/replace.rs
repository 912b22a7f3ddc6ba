//! Placing of a text replacement: by a byte-for-byte match, else by whole lines.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::PlanNote;
use super::carry::carry;
use super::forgiven;
use super::place::Placer;
use super::splice::{self, is_telling};
use super::suspect;
use super::words::{check_words, is_in_word, is_word};
use crate::find::{self, BlockForm, LAYERS, LITERAL, Layer, Match, Needle, contents};
use crate::patch::{Line, PlaceChange, TextChange};
use crate::problem::{Kind, NoChange};
use crate::text::{LineEnding, LineEndings, split_ending, split_lines, with_endings};

/// How many occurrences of the old text in the new one are considered.
const REPEATED: usize = 16;
/// How many characters are shown of a line that would be joined to the new text.
const SHOWN: usize = 80;

impl Placer<'_> {
    /// Finds the text of a change, once or everywhere, and replaces it.
    pub(super) fn text(&mut self, number: usize, change: &TextChange) -> Result<(), Kind> {
        let (old, new) = (change.old.as_bytes(), change.new.as_bytes());
        let many = change.all || change.expected.is_some_and(|count| count != 1);
        let matches = if many {
            find::locate_all(&self.haystack, old, self.limits, self.budget)?
        } else {
            let wanted = Needle::Bytes(old);
            let one = find::locate(&self.haystack, &wanted, LITERAL, self.limits, self.budget)?;
            one.into_iter().collect()
        };
        if matches.is_empty() && !many && self.whole_lines(number, &change.old, &change.new)? {
            return Ok(());
        }
        if matches.is_empty() {
            let near = Box::new(self.near(&contents(old), &contents(new)));
            return Err(Kind::SearchNotFound { near });
        }
        if let Some(expected) = change.expected.filter(|&count| count != matches.len()) {
            return Err(Kind::ExpectedCount {
                expected,
                found: matches.len(),
                lines: self.first_lines(&matches),
            });
        }
        if !many && self.already_there(&matches[0].range, old, new) {
            return Err(Kind::NoOp { why: NoChange::AlreadyWrapped });
        }
        let lines = |text| str::lines(text).collect::<Vec<_>>();
        let loss = || suspect::loss_between(&lines(&change.old), &lines(&change.new));
        let added = added_lines(&change.old, &change.new);
        suspect::check(&self.haystack, &added, loss)?;
        suspect::gutters(&self.haystack, change.old.lines(), &added)?;
        let mut in_words = 0;
        for found in &matches {
            self.check_last_line(&found.range, old, new)?;
            if many && !old.contains(&b'\n') {
                in_words += usize::from(is_in_word(&self.haystack, &found.range, old));
            } else {
                check_words(&self.haystack, &found.range, old, new)?;
            }
        }
        if in_words > 0 {
            self.notes.push(PlanNote::InsideWords { hunk: number, places: in_words });
        }
        if !many {
            self.check_edges(&matches[0].range, &change.old, &change.new)?;
            self.check_indentation(&matches[0].range, &change.old, &change.new)?;
        }
        let (base, added) = (self.bytes().len(), new.len().saturating_mul(matches.len()));
        let removed = matches.iter().map(|found| found.range.len()).sum();
        self.limits.check_file(base.saturating_sub(removed).saturating_add(added))?;
        // New text without line endings does not need the file's kind.
        let endings = if new.contains(&b'\n') { self.haystack.endings() } else { LineEndings::None };
        for found in &matches {
            self.builder.claim(number, found.range.clone());
            for (range, text) in carry(self.bytes(), endings, &found.range, old, new) {
                self.builder.replace(number, range, text);
            }
        }
        let lines = split_lines(old).count();
        let first = &matches[0];
        let forgiven = match first.layer {
            Layer::LineEndings => forgiven::endings(&self.haystack, old, &first.range),
            _ => Vec::new(),
        };
        self.record(number, &first.range, first.layer, lines, matches.len(), forgiven);
        Ok(())
    }

    /// Replaces a text at a place that is known already.
    pub(super) fn known_place(&mut self, number: usize, change: &PlaceChange) -> Result<(), Kind> {
        let (old, new) = (change.old.as_bytes(), change.new.as_bytes());
        let place = change.offset..change.offset.saturating_add(old.len());
        if old.is_empty() || self.bytes().get(place.clone()) != Some(old) {
            return Err(Kind::MovedNumbers);
        }
        if !change.is_proven {
            let lines = |text| str::lines(text).collect::<Vec<_>>();
            let loss = || suspect::loss_between(&lines(&change.old), &lines(&change.new));
            suspect::check(&self.haystack, &added_lines(&change.old, &change.new), loss)?;
        }
        self.check_last_line(&place, old, new)?;
        let endings = if new.contains(&b'\n') { self.haystack.endings() } else { LineEndings::None };
        self.builder.claim(number, place.clone());
        for (range, text) in carry(self.bytes(), endings, &place, old, new) {
            self.builder.replace(number, range, text);
        }
        self.record(number, &place, Layer::Exact, split_lines(old).count(), 1, Vec::new());
        Ok(())
    }

    /// Returns the line numbers of the first matches.
    fn first_lines(&self, matches: &[Match]) -> Vec<usize> {
        let listed = matches.iter().take(self.limits.listed);
        listed.map(|found| self.haystack.line_number(found.range.start)).collect()
    }

    /// Places text that has no literal match by its whole lines, with the looser layers.
    fn whole_lines(&mut self, number: usize, old: &str, new: &str) -> Result<bool, Kind> {
        let lines = as_whole_lines(old, new);
        match self.locate_anywhere(&lines, BlockForm::Text, &[], &LAYERS[LITERAL.len()..]) {
            Ok(Some(found)) => {
                self.check_added(&lines)?;
                self.splice(number, &lines, found, None);
                Ok(true)
            }
            Ok(None) | Err(Kind::Unclear) => Ok(false),
            Err(kind) => Err(kind),
        }
    }

    /// Refuses whole lines that grow by a copy of the line beside them.
    fn check_edges(&self, place: &Range<usize>, old: &str, new: &str) -> Result<(), Kind> {
        let (lines, body) = (self.haystack.lines(), self.haystack.text().body());
        let first = lines.index_of(place.start);
        let is_end =
            place.end == body.end || old.ends_with('\n') || self.bytes()[place.end..].starts_with(b"\n");
        match is_end && lines.start(first) == place.start && new.contains('\n') {
            true => splice::check_edges(&self.haystack, first, &as_whole_lines(old, new)),
            false => Ok(()),
        }
    }

    /// Refuses to replace a whole line, given without its indentation, if a later new line is indented less than the
    /// file's line: the new lines may have lost that indentation, or not.
    fn check_indentation(&self, place: &Range<usize>, old: &str, new: &str) -> Result<(), Kind> {
        let (bytes, body) = (self.bytes(), self.haystack.text().body());
        let above = memchr::memrchr(b'\n', &bytes[body.start..place.start]);
        let start = above.map_or(body.start, |newline| body.start + newline + 1);
        let line = &bytes[start
            ..memchr::memchr(b'\n', &bytes[place.start..]).map_or(body.end, |end| place.start + end + 1)];
        let before = &bytes[start..place.start];
        let old = old.strip_suffix('\n').unwrap_or(old);
        let whole = place.start + old.len() >= start + split_ending(line).0.len();
        if before.is_empty() || !before.trim_ascii().is_empty() || old.contains('\n') || !whole {
            return Ok(());
        }
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let shallow = |line: &str| is_telling(line.as_bytes()) && indent(line) < before.len();
        if new.lines().skip(1).any(shallow) {
            let shown = find::shown(&self.haystack, place);
            return Err(Kind::IndentationMismatch { line: self.haystack.line_number(place.start), shown });
        }
        Ok(())
    }

    /// Refuses new text whose last line would be joined to the next one, because the old text ends with a line ending
    /// and the new one does not. Where the match begins inside a line, joining lines may be meant, but not joining
    /// words.
    fn check_last_line(&self, place: &Range<usize>, old: &[u8], new: &[u8]) -> Result<(), Kind> {
        let (bytes, body) = (self.bytes(), self.haystack.text().body());
        let Some(&last) = new.last().filter(|&&last| last != b'\n') else { return Ok(()) };
        // If a blank line follows, its ending ends the last new line.
        let is_blank = |at: usize| matches!(bytes[at], b'\r' | b'\n');
        if !old.ends_with(b"\n") || place.end == body.end || is_blank(place.end) {
            return Ok(());
        }
        let lines = self.haystack.lines();
        let start = lines.start(lines.index_of(place.start));
        let whole_lines = bytes[start..place.start].trim_ascii().is_empty();
        if !(whole_lines || is_word(last) && is_word(bytes[place.end])) {
            return Ok(());
        }
        let next = lines.index_of(place.end);
        let text = String::from_utf8_lossy(lines.content(next)).chars().take(SHOWN).collect();
        Err(Kind::LineEndingLost { line: next + 1, text })
    }

    /// Returns whether `new` contains `old` and the file already has `new` here, in whatever line endings: the edit was
    /// made before, and repeating it would write the added text twice.
    fn already_there(&self, place: &Range<usize>, old: &[u8], new: &[u8]) -> bool {
        let (bytes, body) = (self.bytes(), self.haystack.text().body());
        let (old, new) = (with_endings(old, LineEnding::Lf), with_endings(new, LineEnding::Lf));
        let is_there = |before: usize| {
            let (above, below) = (&new[..before], &new[before + old.len()..]);
            let start = start_of(&bytes[body.start..place.start], above).map(|start| body.start + start);
            // Whole lines that are added before the old text must begin where a line begins.
            let starts =
                |start: usize| !above.contains(&b'\n') || start == body.start || bytes[start - 1] == b'\n';
            // Words are evidence, and so is a separator, which never stands twice; another blank line or another "x"
            // may be meant.
            let tells = |added: &[u8]| is_telling(added) || matches!(added, b"," | b";");
            start.is_some_and(starts)
                && begins_with(&bytes[place.end..], below)
                && (tells(above) || tells(below))
        };
        memchr::memmem::find_iter(&new, &old).take(REPEATED).any(is_there)
    }
}

/// Returns where `text` begins if these bytes end with it. The text has only LF; the bytes may have CRLF instead.
fn start_of(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = bytes.len();
    for &byte in text.iter().rev() {
        at = at.checked_sub(1).filter(|&at| bytes[at] == byte)?;
        if byte == b'\n' && at > 0 && bytes[at - 1] == b'\r' {
            at -= 1;
        }
    }
    Some(at)
}

/// Returns whether these bytes begin with `text`, which has only LF where they may have CRLF.
fn begins_with(bytes: &[u8], text: &[u8]) -> bool {
    let mut rest = bytes;
    text.iter().all(|&byte| {
        if byte == b'\n' {
            rest = rest.strip_prefix(b"\r").filter(|rest| rest.starts_with(b"\n")).unwrap_or(rest);
        }
        let fits = rest.first() == Some(&byte);
        rest = rest.get(1..).unwrap_or_default();
        fits
    })
}

/// Returns the lines of `new` that `old` has nowhere.
fn added_lines<'l>(old: &'l str, new: &'l str) -> Vec<&'l str> {
    let old: BTreeSet<&str> = old.lines().collect();
    new.lines().filter(|line| !old.contains(line)).collect()
}

/// Returns old and new text as lines. If only the old text ends with a line ending, the new one is joined to the next
/// line, which must then be blank and counts as the last of the old lines.
fn as_whole_lines(old: &str, new: &str) -> Vec<Line> {
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, Some(new)),
        (Some(old), None) if new.is_empty() => (old, None),
        _ => (old, Some(new)),
    };
    let split = |text| -> Vec<&str> {
        str::split(text, '\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
    };
    Line::between(&split(old), &new.map_or_else(Vec::new, split))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{edited, of_patch};
    use super::*;
    use crate::find::FindLimits;
    use crate::patch::Patch;

    fn replaced(file: &str, old: &str, new: &str) -> Result<String, Kind> {
        let change = TextChange { old: old.into(), new: new.into(), ..TextChange::default() };
        of_patch(file, &Patch::replace("f", alloc::vec![change]).unwrap())
    }

    #[test]
    fn a_line_that_stands_for_others_is_suspect_only_if_it_is_new() {
        let file = "a\n# ... existing code ...\nb\nc\n";
        let elision = |line: &str| Err(Kind::OmissionPlaceholder { line: line.into() });
        assert_eq!(replaced("a\nb\n", "a\nb\n", "a\n# ... rest ...\n"), elision("# ... rest ..."));
        assert_eq!(replaced(file, "b\nc\n", "b\n# ... rest ...\n"), elision("# ... rest ..."));
        let kept = replaced(file, "# ... existing code ...\nb\n", "# ... existing code ...\n");
        assert_eq!(kept, Ok("a\n# ... existing code ...\nc\n".into()));
    }

    #[test]
    fn later_new_lines_are_indented_like_the_line_whose_indentation_the_old_text_leaves_out() {
        let file = "if a:\n    b = one()\n    c\n";
        let line = |old: &str, new: &str| match replaced(file, old, new) {
            Err(Kind::IndentationMismatch { line, .. }) => Some(line),
            Ok(_) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(line("b = one()", "b = two()\nd = three()"), Some(2));
        assert_eq!(line("b = one()\n", "b = two()\nd = three()\n"), Some(2));
        assert_eq!(line("b = one()", "b = two()\n   d = three()"), Some(2));
        assert_eq!(line("b = one()", "b = two()\n    d = three()"), None);
        assert_eq!(line("b = one()", "b = two()\n\td = three()"), Some(2));
        assert_eq!(line("b = one()", "b = two(\n)"), None, "a bracket says nothing");
        assert_eq!(line("    b = one()", "    b = two()\nd = three()"), None, "nothing is left out");
        assert_eq!(line("if a:", "if b:\nd = three()"), None, "there is nothing to leave out");
        assert_eq!(line("one()", "two()\nd = three()"), None, "it begins inside of the line");
        assert_eq!(line("b = one", "b = two\nd = three"), None, "it ends inside of the line");
        assert_eq!(line("b = one()\n    c", "b = two()\nd = three()"), None, "it shows the indentation");
    }

    #[test]
    fn a_last_line_that_loses_its_ending_is_not_joined_to_the_next_one() {
        let lost = |line, text: &str| Err(Kind::LineEndingLost { line, text: text.into() });
        assert_eq!(replaced("one\ntwo\nthree\n", "two\n", "TWO"), lost(3, "three"));
        assert_eq!(replaced("one\n  two\n)\n", "two\n", "TWO"), lost(3, ")"));
        assert_eq!(replaced("f(one\ntwo)\n", "one\n", "x"), lost(2, "two)"), "words are not joined");
        assert_eq!(replaced("f(one\ntwo)\n", "one\n", "one, "), Ok("f(one, two)\n".into()));
        assert_eq!(replaced("f(one\n)\n", "one\n", "x"), Ok("f(x)\n".into()));
        assert_eq!(replaced("one\ntwo\n\nthree\n", "two\n", "TWO"), Ok("one\nTWO\nthree\n".into()));
        assert_eq!(
            replaced("one\r\ntwo\r\n\r\nthree\r\n", "two\n", "TWO"),
            Ok("one\r\nTWO\r\nthree\r\n".into())
        );
        assert_eq!(replaced("one\ntwo\n", "two\n", "TWO"), Ok("one\nTWO".into()));
        assert_eq!(replaced("one\ntwo\nthree\n", "two\n", ""), Ok("one\nthree\n".into()));
        assert_eq!(replaced("one\ntwo\nthree\n", "two\n", "2\n"), Ok("one\n2\nthree\n".into()));
        // Of a long next line, only the beginning is shown.
        let long = "x".repeat(SHOWN + 1);
        assert_eq!(replaced(&["one\n", &long].concat(), "one\n", "1"), lost(2, &long[..SHOWN]));
    }

    #[test]
    fn text_that_is_added_to_the_old_one_is_not_written_twice() {
        let made = || Err(Kind::NoOp { why: NoChange::AlreadyWrapped });
        let file = "alpha();\nnew_line();\nbeta();\n";
        for file in [file.into(), file.replace('\n', "\r\n")] {
            for (old, new) in [
                ("beta();\n", "new_line();\nbeta();\n"),
                ("alpha();\n", "alpha();\nnew_line();\n"),
                ("new_line();", "alpha();\nnew_line();\nbeta();"),
            ] {
                assert_eq!(replaced(&file, old, new), made(), "{file:?} {old:?}");
            }
        }
        assert_eq!(replaced("let mut x = 1;\n", "x", "mut x"), made());
        assert_eq!(replaced("f(a,)\n", "a", "a,"), made());
        assert_eq!(replaced("a;\n", "a", "a;"), made());
        // Only a part of it is there, or it says nothing, or it is not a whole line.
        assert_eq!(
            replaced(file, "new_line();", "alpha();\nnew_line();\ngamma();"),
            Err(Kind::LineThere { line: 1, text: "alpha();".into() })
        );
        assert_eq!(replaced("x\nb\n", "b", "x\nb"), Ok("x\nx\nb\n".into()));
        assert_eq!(replaced("a.\n", "a", "a."), Ok("a..\n".into()));
        assert_eq!(
            replaced("my_new_line();\nbeta();\n", "beta();\n", "new_line();\nbeta();\n"),
            Ok("my_new_line();\nnew_line();\nbeta();\n".into())
        );
    }

    #[test]
    fn a_text_stands_as_often_as_the_request_says() {
        let times = |expected, all| {
            let (old, new) = ("a".into(), "b".into());
            let change = TextChange { old, new, expected, all };
            of_patch("a.\n.\na.\n", &Patch::replace("f", alloc::vec![change]).unwrap())
        };
        let count = |expected| Err(Kind::ExpectedCount { expected, found: 2, lines: [1, 3].to_vec() });
        assert_eq!(times(Some(2), false), Ok("b.\n.\nb.\n".into()));
        assert_eq!(times(None, true), Ok("b.\n.\nb.\n".into()));
        assert_eq!([times(Some(3), false), times(Some(1), true)], [count(3), count(1)]);
        assert!(matches!(times(Some(1), false), Err(Kind::AmbiguousMatch { total: 2, .. })));
    }

    #[test]
    fn a_file_may_become_as_large_as_the_limit() {
        let change = TextChange { old: "a".into(), new: "bbb".into(), all: true, ..TextChange::default() };
        let patch = Patch::replace("f", alloc::vec![change]).unwrap();
        let at_most =
            |file_bytes| edited("a.a.\n", &patch, &FindLimits { file_bytes, ..FindLimits::default() });
        assert_eq!(at_most(9), Ok("bbb.bbb.\n".into()));
        assert_eq!(at_most(8), Err(Kind::TooLarge { bytes: 9, limit: 8 }));
    }
}
