//! The layer `lookalikes`: the same lines, except for characters that look the same or are the same character in
//! another encoding: curly and straight quotes, dashes, non-breaking and other spaces, NFC and NFD.
//!
//! The file keeps its own characters. Text that an added line shares with the removed line that it replaces is taken
//! from the file. If the file consistently writes a character of the request in one other way, the added lines get the
//! file's.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use similar::DiffOp;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::block::{Block, added, bytes_of, starts_of};
use super::{Budget, Candidate, Candidates, Haystack, Interpretation};
use crate::compare::compare;
use crate::patch::Line;
use crate::problem::Kind;

/// How many characters of a line are compared with the line that it replaces; longer lines are not compared.
const COMPARED: usize = 2_000;
/// The number of pairs of removed and added lines above which they are not paired by similarity.
const PAIRED: usize = 1_000_000;
/// How many comparisons it costs to fold one byte.
const FOLDED: usize = 4;

pub(super) fn lookalikes(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    let folded: Vec<Cow<'_, [u8]>> = block.old().iter().map(|line| fold(line)).collect();
    let same = |i: usize, file: &[u8], _: &[u8]| {
        // An ASCII line of the file is its own fold.
        if file.is_ascii() {
            return *file == *folded[i];
        }
        // An exhausted budget is reported below.
        budget.spend(file.len() * FOLDED).is_ok() && fold(file) == folded[i]
    };
    let found = starts_of(h, block.old(), block.starts, most, budget, same)?;
    // A line that could not be folded may have been another place.
    budget.spend(0)?;
    let place = |start: usize| {
        let file: Option<Vec<&str>> = (start..start + block.old().len())
            .map(|i| core::str::from_utf8(h.lines().content(i)).ok())
            .collect();
        let interpretation = file.map_or(Interpretation::Unfit, |file| {
            Interpretation::Rewritten(in_the_files_characters(block, &file))
        });
        Candidate { range: bytes_of(h, start, block.old().len()), interpretation }
    };
    Ok(found.into_iter().map(place).collect())
}

/// Replaces each character that has lookalikes by the plainest of them.
fn fold(line: &[u8]) -> Cow<'_, [u8]> {
    match core::str::from_utf8(line) {
        Ok(text) if !text.is_ascii() => Cow::Owned(text.nfc().map(plainest).collect::<String>().into_bytes()),
        _ => Cow::Borrowed(line),
    }
}

fn plainest(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2036}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        c => c,
    }
}

/// Splits a line into characters with the marks that combine with them.
fn clusters(line: &str) -> Vec<&str> {
    let starts = line.char_indices().filter(|&(at, c)| at == 0 || canonical_combining_class(c) == 0);
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &line[start..end]).collect()
}

/// Rewrites the added lines of the request in the characters of the file; `file` has the lines that match its old ones.
fn in_the_files_characters(block: &Block<'_>, file: &[&str]) -> Vec<Line> {
    let theirs = other_spellings(block, file);
    let mut out = Vec::with_capacity(block.lines.len());
    let mut in_file = file.iter();
    for run in block.lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
        // The removed lines, as the request and as the file writes them.
        let gone: Vec<(&str, &str)> =
            run.iter().filter_map(Line::before).zip(in_file.by_ref().copied()).collect();
        let count = added(run).count();
        let few = count.saturating_mul(gone.len()) <= PAIRED;
        let mut number = 0;
        for line in run {
            out.push(match line {
                Line::Added(text) => {
                    let pair = if count == gone.len() {
                        gone.get(number)
                    } else if few {
                        closest(text, &gone)
                    } else {
                        None
                    };
                    number += 1;
                    Line::Added(respelt(text, pair.copied(), &theirs))
                }
                line => line.clone(),
            });
        }
    }
    out
}

/// Returns the removed line that a new one most likely replaces: at least half of the new one is equal at its ends.
fn closest<'p, 'l>(text: &str, gone: &'p [(&'l str, &'l str)]) -> Option<&'p (&'l str, &'l str)> {
    let shared = |old: &str| {
        let head = old.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let tail = old.bytes().rev().zip(text.bytes().rev()).take_while(|(a, b)| a == b).count();
        (head + tail).min(old.len()).min(text.len())
    };
    let best = gone.iter().max_by_key(|(old, _)| shared(old))?;
    (shared(best.0) * 2 >= text.len()).then_some(best)
}

/// Returns the non-ASCII characters of the request that the file consistently writes in one other way.
fn other_spellings<'f>(block: &Block<'_>, file: &[&'f str]) -> BTreeMap<String, &'f str> {
    let mut spellings: BTreeMap<String, Option<&'f str>> = BTreeMap::new();
    for (old, file) in block.lines.iter().filter_map(Line::before).zip(file) {
        if old.is_ascii() {
            continue;
        }
        let (old, file) = (clusters(old), clusters(file));
        let pairs = old.iter().zip(&file).filter(|_| old.len() == file.len());
        for (&old, &file) in pairs.filter(|(old, _)| !old.is_ascii()) {
            let spelling = spellings.entry(old.into()).or_insert(Some(file));
            *spelling = spelling.filter(|known| *known == file);
        }
    }
    spellings.into_iter().filter_map(|(old, file)| Some((old, file?))).collect()
}

/// Rewrites a new line in the file's characters: those shared with the replaced line, and those that the file always
/// writes another way.
fn respelt(text: &str, replaced: Option<(&str, &str)>, theirs: &BTreeMap<String, &str>) -> String {
    let new = clusters(text);
    let own = |cluster| theirs.get(cluster).copied().unwrap_or(cluster);
    let (old, file) = replaced.map(|(old, file)| (clusters(old), clusters(file))).unwrap_or_default();
    if old.len() != file.len() || old.len().max(new.len()) > COMPARED {
        return new.into_iter().map(own).collect();
    }
    let mut out = String::with_capacity(text.len());
    for op in compare(&old, &new) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                out.extend(file[old_index..old_index + len].iter().copied());
            }
            op => out.extend(new[op.new_range()].iter().copied().map(own)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, refused};

    #[test]
    fn the_file_keeps_its_own_characters() {
        let file = "say(“hello”) – it’s\n";
        let placed = read(file, "-say(\"hello\") - it's\n+say(\"hello\", x) - it's\n").unwrap();
        assert_eq!(placed, ("lookalikes", "say(“hello”, x) – it’s\n".into()));
    }

    #[test]
    fn what_the_file_always_writes_another_way_is_written_so_in_new_lines() {
        let file = "  \"a\": 1,\n  \"b\": 2\n";
        let request = "   “a”: 1,\n+  “c”: 3,\n   “b”: 2\n";
        assert_eq!(read(file, request).unwrap().1, "  \"a\": 1,\n  \"c\": 3,\n  \"b\": 2\n");
        let nbsp = "-\u{a0}\u{a0}x = 1\n+\u{a0}\u{a0}y = 1\n+\u{a0}\u{a0}z = 2\n";
        assert_eq!(read("  x = 1\n", nbsp).unwrap().1, "  y = 1\n  z = 2\n");
    }

    #[test]
    fn nfc_and_nfd_are_the_same_text() {
        let placed = read("cafe\u{301} = 1\n", "-café = 1\n+café = 2\n").unwrap();
        assert_eq!(placed, ("lookalikes", "cafe\u{301} = 2\n".into()));
    }

    #[test]
    fn other_differences_are_not_forgiven() {
        assert!(refused("say(“hello”)\n", "-say(\"hallo\")\n+x\n"));
        assert!(refused("“a”\n", "- \"a\"\n+x\n"));
    }

    #[test]
    fn a_new_line_pairs_with_the_line_that_goes_which_has_most_of_its_beginning_and_end() {
        let gone = [("one two three", "1"), ("four two six", "2"), ("one five", "3")];
        let pair = |text| super::closest(text, &gone).map(|pair| pair.1);
        for (text, file) in [
            ("one two nine", Some("1")),
            ("four two six seven", Some("2")),
            ("eight two six", Some("2")),
            ("one nine five", Some("3")),
            // Half of the line is enough, less is not.
            ("one 1234", Some("3")),
            ("one 12345", None),
            ("seven", None),
        ] {
            assert_eq!(pair(text), file, "{text}");
        }
    }
}
