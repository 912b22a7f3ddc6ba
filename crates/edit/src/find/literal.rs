//! The first two layers for text, `exact` and `line-endings`: the same text, byte for byte or except for its line endings.
//!
//! Text may begin and end anywhere in a line, and every place counts, even inside words.
//!
//! A shown file shows no line endings, so two places that differ only in these look the same to the writer of a
//! request. If such a twin exists, `exact` therefore finds both places of a text of several lines.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::{Budget, Candidate, Candidates, Haystack};
use crate::problem::Kind;

/// How many bytes are searched in the time of one comparison.
const SEARCHED: usize = 32;

pub(super) fn exact(h: &Haystack<'_>, old: &[u8], most: usize, budget: &Budget) -> Result<Candidates, Kind> {
    let literal = |place: &Range<usize>| h.text().bytes()[place.clone()] == *old;
    // Text without line endings has no twins, and CRLF in the request chooses between them.
    if !old.contains(&b'\n') || memmem::find(old, b"\r\n").is_some() {
        return Segments::from_text(old).occurrences(h, most, budget, literal);
    }
    let twins = line_endings(h, old, most, budget)?;
    Ok(if twins.iter().any(|twin| literal(&twin.range)) { twins } else { vec![] })
}

pub(super) fn line_endings(
    h: &Haystack<'_>,
    old: &[u8],
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    // `exact` has already handled text without line endings.
    if !old.contains(&b'\n') {
        return Ok(vec![]);
    }
    Segments::from_text(old).occurrences(h, most, budget, |_| true)
}

/// Returns whether `at` lies between the two bytes of a CRLF.
fn splits_crlf(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes.get(at) == Some(&b'\n') && bytes[at - 1] == b'\r'
}

/// Text, split at its line endings: a part of a line; or the end of one line, whole lines, and the beginning of another.
/// The segments match with any line ending between them.
struct Segments<'a> {
    segments: Vec<&'a [u8]>,
    /// The index of the longest segment, which is searched for; the others are compared around it.
    pivot: usize,
}

impl<'a> Segments<'a> {
    fn from_text(old: &'a [u8]) -> Self {
        let mut segments: Vec<&[u8]> = old.split(|&byte| byte == b'\n').collect();
        let last = segments.len() - 1;
        for segment in &mut segments[..last] {
            *segment = segment.strip_suffix(b"\r").unwrap_or(segment);
        }
        // The first of the longest: if all are empty, a line ending follows it.
        let pivot = (0..segments.len()).rev().max_by_key(|&i| segments[i].len()).unwrap_or(0);
        Self { segments, pivot }
    }

    /// Finds every place that `counts` accepts, also overlapping ones, but none that splits a CRLF.
    fn occurrences(
        &self,
        h: &Haystack<'_>,
        most: usize,
        budget: &Budget,
        counts: impl Fn(&Range<usize>) -> bool,
    ) -> Result<Candidates, Kind> {
        let (bytes, body) = (h.text().bytes(), h.text().body());
        let mut places = Vec::new();
        let pivot = self.segments[self.pivot];
        // Of empty lines, only the line endings can be searched for.
        let needle = if pivot.is_empty() { &b"\n"[..] } else { pivot };
        let finder = memmem::Finder::new(needle);
        budget.spend(body.len() / SEARCHED)?;
        let mut from = body.start;
        while let Some(at) = finder.find(&bytes[from..body.end]) {
            let hit = from + at;
            from = hit + 1;
            let start = if pivot.is_empty() { self.before_ending(bytes, hit) } else { hit };
            budget.spend(pivot.len())?;
            if let Some(place) = self.around(bytes, &body, start, budget)?.filter(&counts) {
                places.push(Candidate::as_written(place));
                if places.len() == most {
                    break;
                }
            }
        }
        Ok(places)
    }

    /// Returns the start of the line ending whose LF is at `newline`.
    fn before_ending(&self, bytes: &[u8], newline: usize) -> usize {
        if newline > 0 && bytes[newline - 1] == b'\r' { newline - 1 } else { newline }
    }

    /// Returns the whole place, if all segments stand around the pivot at `at`.
    fn around(
        &self,
        bytes: &[u8],
        body: &Range<usize>,
        at: usize,
        budget: &Budget,
    ) -> Result<Option<Range<usize>>, Kind> {
        let mut start = at;
        for segment in self.segments[..self.pivot].iter().rev() {
            budget.spend(0)?;
            let Some(ending) = start.checked_sub(1).filter(|&i| i >= body.start && bytes[i] == b'\n') else {
                return Ok(None);
            };
            let ending = self.before_ending(bytes, ending).max(body.start);
            if !bytes[body.start..ending].ends_with(segment) {
                return Ok(None);
            }
            start = ending - segment.len();
        }
        let mut end = at + self.segments[self.pivot].len();
        for segment in &self.segments[self.pivot + 1..] {
            budget.spend(0)?;
            end += match &bytes[end..body.end] {
                // After a segment that ends in CR, this LF only completes a CRLF.
                [b'\n', ..] if !splits_crlf(bytes, end) => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return Ok(None),
            };
            if !bytes[end..body.end].starts_with(segment) {
                return Ok(None);
            }
            end += segment.len();
        }
        Ok((!splits_crlf(bytes, start) && !splits_crlf(bytes, end)).then_some(start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{FindLimits, LITERAL, Match, Needle, locate, locate_all};
    use crate::problem::Work;
    use crate::text::{LineEnding, Text};
    use proptest::prelude::*;

    fn find(file: &[u8], old: &[u8]) -> Result<Option<Match>, Kind> {
        let text = Text::new(file.to_vec()).unwrap();
        let limits = FindLimits::default();
        locate(&Haystack::new(&text), &Needle::Bytes(old), LITERAL, &limits, &Budget::new(&limits))
    }

    fn found(file: &[u8], old: &[u8]) -> (&'static str, Range<usize>) {
        let found = find(file, old).unwrap().unwrap();
        (found.layer.name(), found.range)
    }

    #[test]
    fn what_a_search_costs_grows_with_the_file_and_is_far_below_a_comparison_for_each_byte() {
        let file = [&b"x\n".repeat(1 << 15)[..], b"needle\nend\n"].concat();
        let text = Text::new(file.clone()).unwrap();
        for old in [&b"needle"[..], b"needle\nend"] {
            let found = |work: usize| {
                let limits = FindLimits { work: work as u64, ..FindLimits::default() };
                locate(&Haystack::new(&text), &Needle::Bytes(old), LITERAL, &limits, &Budget::new(&limits))
            };
            assert!(matches!(found(file.len() / SEARCHED / 2), Err(Kind::WorkLimit { .. })));
            assert!(found(file.len() / SEARCHED * 4).unwrap().is_some());
        }
    }

    #[test]
    fn a_crlf_is_never_split() {
        assert_eq!(found(b"a\r\nb\r\n", b"\nb"), ("line-endings", 1..4));
        assert_eq!(found(b"a\r\nb\r\n", b"a\n"), ("line-endings", 0..3));
        assert_eq!(found(b"a\r\nb\r\n", b"b\r\n"), ("exact", 3..6));
        assert_eq!(find(b"a\r\nb\r\n", b"a\r").unwrap(), None);
    }

    #[test]
    fn places_that_split_a_word_count_like_all_others() {
        let file = b"end)\n\nx('detect_a')\nend)\n\nx('detect')\nend)\n\nx('detect_b')\n";
        let several = find(file, b"end)\n\nx('detect");
        assert!(matches!(several, Err(Kind::AmbiguousMatch { ref lines, .. }) if lines == &[1, 4, 7]));
        assert_eq!(found(file, b"end)\n\nx('detect'"), ("exact", 20..36));
        let text = Text::new(file.to_vec()).unwrap();
        let limits = FindLimits::default();
        let all = |old: &[u8]| locate_all(&Haystack::new(&text), old, &limits, &Budget::new(&limits));
        for old in [&b"end)\n\nx('detect"[..], b"x('detect"] {
            assert_eq!(all(old).map(|places| places.len()), Ok(3));
        }
    }

    #[test]
    fn the_cr_of_a_line_ending_is_not_taken_for_content() {
        assert_eq!(find(b"a\r\nb\n", b"a\r\r\nb").unwrap(), None);
        assert_eq!(found(b"a\r\r\nb\n", b"a\r\r\nb"), ("exact", 0..5));
        assert_eq!(find(b"a\r\r\nb\n", b"a\r\nb").unwrap(), None);
    }

    #[test]
    fn overlapping_occurrences_count() {
        assert!(matches!(find(b"aXaXa", b"aXa"), Err(Kind::AmbiguousMatch { total: 2, .. })));
    }

    #[test]
    fn places_that_differ_in_line_endings_alone_are_twins() {
        let twins = find(b"a\nb\nx\na\r\nb\r\n", b"a\nb");
        assert!(matches!(twins, Err(Kind::AmbiguousMatch { ref lines, .. }) if lines == &[1, 4]));
        assert_eq!(found(b"a\nb\nx\na\r\nb\r\n", b"a\r\nb"), ("exact", 6..10));
    }

    #[test]
    fn a_literal_crlf_is_counted_among_any_number_of_twins() {
        let file = |lf: usize, crlf: usize| ["x = 1\n".repeat(lf), "x = 1\r\n".repeat(crlf)].concat();
        let old = b"x = 1\r\n";
        assert!(matches!(find(file(20, 2).as_bytes(), old), Err(Kind::AmbiguousMatch { total: 2, .. })));
        assert_eq!(found(file(30, 1).as_bytes(), old), ("exact", 180..187));
    }

    #[test]
    fn blank_lines_alone_are_found_by_their_endings() {
        assert_eq!(found(b"a\r\n\r\nb\n", b"\n\n"), ("line-endings", 1..5));
        assert_eq!(found(b"a\n\nb\n", b"\n\n"), ("exact", 1..3));
    }

    #[test]
    fn replace_all_refuses_overlapping_places() {
        let text = Text::new(b"aaaa".to_vec()).unwrap();
        let limits = FindLimits::default();
        let all = locate_all(&Haystack::new(&text), b"aa", &limits, &Budget::new(&limits));
        assert!(matches!(all, Err(Kind::OverlappingPlaces { .. })));
    }

    #[test]
    fn replace_all_refuses_more_places_than_its_limit() {
        let text = Text::new(b"a b a b a".to_vec()).unwrap();
        let all = |replaced: usize| {
            let limits = FindLimits { replaced, ..FindLimits::default() };
            locate_all(&Haystack::new(&text), b"a", &limits, &Budget::new(&limits)).map(|places| places.len())
        };
        assert_eq!(all(3), Ok(3));
        assert_eq!(all(2), Err(Kind::WorkLimit { work: Work::Replacing }));
    }

    #[test]
    fn the_bom_is_not_searched() {
        assert_eq!(find("\u{feff}a".as_bytes(), "\u{feff}a".as_bytes()).unwrap(), None);
    }

    #[test]
    fn hostile_repetition_runs_into_the_work_limit() {
        let file = alloc::vec![b'}'; 400_000];
        let mut old = alloc::vec![b'}'; 100_000];
        old.push(b'\n');
        let limits = FindLimits { work: 50_000_000, ..FindLimits::default() };
        let text = Text::new(file).unwrap();
        let outcome =
            locate(&Haystack::new(&text), &Needle::Bytes(&old), LITERAL, &limits, &Budget::new(&limits));
        assert!(matches!(outcome, Err(Kind::WorkLimit { .. })), "{outcome:?}");
    }

    /// Counts the places by brute force: at every offset of the file's bytes, with CRLF read as LF.
    fn oracle(file: &[u8], old: &[u8]) -> usize {
        let plain = |bytes: &[u8]| crate::text::with_endings(bytes, LineEnding::Lf);
        let old = plain(old);
        let lf = plain(file);
        (0..lf.len()).filter(|&i| lf[i..].starts_with(&old)).count()
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force(
            file in "[ab\r]{0,3}(\r?\n[ab]{0,2}){0,8}",
            old in "[ab]{0,2}(\r?\n[ab]{0,2}){1,3}",
        ) {
            let literal_crlf = old.contains("\r\n");
            let count = oracle(file.as_bytes(), old.as_bytes());
            match find(file.as_bytes(), old.as_bytes()) {
                Ok(None) => prop_assert_eq!(count, 0),
                Ok(Some(place)) => {
                    let lf = |b: &[u8]| crate::text::with_endings(b, LineEnding::Lf);
                    prop_assert_eq!(lf(&file.as_bytes()[place.range.clone()]), lf(old.as_bytes()));
                    prop_assert!(count == 1 || literal_crlf);
                }
                Err(Kind::AmbiguousMatch { .. }) => prop_assert!(count > 1),
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
