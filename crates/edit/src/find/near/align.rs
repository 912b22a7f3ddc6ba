//! Alignment of the request's lines with the file's at one place: which lines correspond, which are missing, and how
//! good the match is.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::fold;
use super::request::RequestLine;
use super::vote::Rarity;
use crate::text::Lines;
use crate::tokens::Tokens;

/// How far forgotten or invented lines may shift the others.
const BAND: usize = 8;
/// How many lines an elision may stand for.
const ELIDED: usize = 80;
/// The least similarity of two lines that correspond, in thousandths.
const ALIKE: u32 = 400;
/// The cost of a line of the file that the request lacks.
const LACKING: i32 = 120;
/// The cost of a line of the request that the file lacks.
const EXTRA: i32 = 60;
/// How many bytes of a line are compared.
const COMPARED: usize = 4096;

/// One step of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlignStep {
    /// These lines correspond.
    Pair { file: usize, request: usize },
    /// The request lacks this line of the file.
    Lacks { file: usize },
    /// The file lacks this line of the request, which would stand before line `before`.
    Extra { request: usize, before: usize },
}

/// The request aligned with one place of the file.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    /// How much of the request matches, in thousandths.
    pub(super) score: u32,
    /// The steps from the first pair to the last, with the lines of the request before and after.
    pub(super) steps: Vec<AlignStep>,
}

impl Alignment {
    /// Returns the lines of the file and of the request that correspond.
    pub(super) fn pairs(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        self.steps.iter().filter_map(|step| match *step {
            AlignStep::Pair { file, request } => Some((file, request)),
            _ => None,
        })
    }

    /// Returns the steps in runs that are all pairs, or have none.
    pub(super) fn runs(&self) -> impl Iterator<Item = &[AlignStep]> {
        runs(&self.steps)
    }

    /// Returns the first and the last line of the file that correspond to a line of the request.
    pub(super) fn ends(&self) -> Option<(usize, usize)> {
        let mut files = self.pairs().map(|(file, _)| file);
        let first = files.next()?;
        Some((first, files.next_back().unwrap_or(first)))
    }

    /// Returns whether a line that the request changes corresponds to one of the file.
    pub(super) fn has_changed(&self, request: &[RequestLine<'_>], new: &[&[u8]]) -> bool {
        let new = &new[..new.len().min(1000)];
        self.pairs().any(|(_, i)| !new.contains(&request[i].sent))
    }
}

/// The request and the file to align.
pub(super) struct Aligner<'a> {
    pub(super) lines: &'a Lines<'a>,
    pub(super) tokens: &'a Tokens,
    pub(super) request: &'a [RequestLine<'a>],
    /// The weight of each line of the request.
    weights: Vec<u32>,
    /// The width of the band, in lines of the file.
    width: usize,
}

impl<'a> Aligner<'a> {
    pub(super) fn new(
        lines: &'a Lines<'a>,
        tokens: &'a Tokens,
        request: &'a [RequestLine<'a>],
        rarity: &Rarity,
    ) -> Self {
        let weights = request.iter().map(|line| weight(line, rarity)).collect();
        let elided = if request.iter().any(|line| line.elision) { ELIDED } else { 0 };
        Self { lines, tokens, request, weights, width: 2 * BAND + 1 + elided }
    }

    /// Returns the best alignment of the request along this diagonal.
    pub(super) fn align(&self, diagonal: isize) -> Alignment {
        let (height, width) = (self.request.len(), self.width);
        let total = self.lines.len() as isize;
        let file_at = |i: usize, k: usize| i as isize + diagonal - BAND as isize + k as isize;
        const START: u8 = 0;
        const PAIR: u8 = 1;
        const LACKS: u8 = 2;
        const SKIP: u8 = 3;
        let mut came = vec![START; (height + 1) * width];
        let mut above = vec![0i32; width];
        let mut row = vec![0i32; width];
        for i in 1..=height {
            let line = &self.request[i - 1];
            let free = line.elision || i < height && self.request[i].elision;
            for k in 0..width {
                let (mut best, mut how) = (i32::MIN / 2, SKIP);
                if k + 1 < width {
                    best = above[k + 1] - if line.elision || line.is_blank() { 0 } else { EXTRA };
                }
                let file = file_at(i - 1, k);
                if (0..total).contains(&file) {
                    let alike = self.similarity(file as usize, i - 1);
                    let gain = above[k] + (self.weights[i - 1] * alike / 1000) as i32;
                    if alike >= ALIKE && gain > best {
                        (best, how) = (gain, PAIR);
                    }
                }
                let file = file_at(i, k) - 1;
                if k > 0 && (0..total).contains(&file) {
                    let price = if free || i == height { 0 } else { LACKING };
                    if row[k - 1] - price > best {
                        (best, how) = (row[k - 1] - price, LACKS);
                    }
                }
                row[k] = best;
                came[i * width + k] = how;
            }
            core::mem::swap(&mut row, &mut above);
        }
        // Among equal scores, the end nearest to the diagonal itself: the others have their own diagonals.
        let best = above.iter().enumerate().max_by_key(|&(k, &score)| (score, Reverse(k.abs_diff(BAND))));
        let (mut k, score) = best.map_or((0, 0), |(k, &score)| (k, score));
        let mut steps = Vec::new();
        let mut i = height;
        while i > 0 {
            match came[i * width + k] {
                PAIR => {
                    i -= 1;
                    steps.push(AlignStep::Pair { file: file_at(i, k) as usize, request: i });
                }
                LACKS => {
                    steps.push(AlignStep::Lacks { file: (file_at(i, k) - 1) as usize });
                    k -= 1;
                }
                _ => {
                    let before = file_at(i, k).clamp(0, total) as usize;
                    i -= 1;
                    k = (k + 1).min(width - 1);
                    steps.push(AlignStep::Extra { request: i, before });
                }
            }
        }
        steps.reverse();
        let whole: u32 = self.weights.iter().sum();
        Alignment { score: (score.max(0) as u32).saturating_mul(1000) / whole.max(1), steps: tidy(steps) }
    }

    /// Returns the similarity of a line of the file and one of the request, in thousandths.
    pub(super) fn similarity(&self, file: usize, request: usize) -> u32 {
        let (theirs, line) = (self.lines.content(file), &self.request[request]);
        let ours = &*line.content;
        let blank = theirs.trim_ascii().is_empty();
        if blank || line.is_blank() {
            return if blank && line.is_blank() { 980 } else { 0 };
        }
        if theirs.len() == ours.len() && cut(theirs) == cut(ours) {
            return 1000;
        }
        if fold::loosely_equal(cut(theirs), cut(ours)) {
            return 950;
        }
        if line.elision {
            return 0;
        }
        let (first, last) = (request == 0, request + 1 == self.request.len());
        let mut alike = alike_ends(theirs, ours).max(alike_words(self.tokens.line(file), &line.words, false));
        if first || last {
            if Self::is_part(theirs, self.request, request) {
                return 940;
            }
            // The first or last line may be a part of a line, so only its own words are compared.
            alike = alike.max(alike_words(self.tokens.line(file), &line.words, true));
        }
        alike
    }

    /// Returns whether the request's first or last line is the matching part of a line of the file.
    pub(super) fn is_part(theirs: &[u8], request: &[RequestLine<'_>], i: usize) -> bool {
        let theirs = &theirs[..theirs.len().min(1 << 16)];
        part_start(theirs, &request[i].content, i == 0, i + 1 == request.len()).is_some()
    }
}

/// Returns where a line of the file has this line of the request as a part: the request's first line ends there, its
/// last one begins, and a single one is anywhere.
pub(super) fn part_start(theirs: &[u8], ours: &[u8], first: bool, last: bool) -> Option<usize> {
    match (first, last) {
        (true, true) => memchr::memmem::find(theirs, ours),
        (true, false) => theirs.ends_with(ours).then(|| theirs.len() - ours.len()),
        (false, true) => theirs.starts_with(ours).then_some(0),
        (false, false) => None,
    }
}

fn cut(line: &[u8]) -> &[u8] {
    &line[..line.len().min(COMPARED)]
}

/// Returns the weight of a line: many rare words count more than a lone brace.
fn weight(line: &RequestLine<'_>, rarity: &Rarity) -> u32 {
    if line.elision || line.is_blank() {
        return 60;
    }
    let punctuation = !line.content.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    let base = if punctuation { 100 } else { 300 };
    let words = line.words.iter().map(|&word| 60 * rarity.weight(word).unwrap_or(3));
    base + words.sum::<u32>().min(if punctuation { 100 } else { 1700 })
}

/// How many words of a file's line are compared with a whole line, and how many with a part of one.
const WORDS: (usize, usize) = (64, 16_384);

/// Returns the share of common words, among those of both lines, or of the request's alone if `part` is set.
fn alike_words(theirs: &[u32], ours: &[u32], part: bool) -> u32 {
    let theirs = &theirs[..theirs.len().min(if part { WORDS.1 } else { WORDS.0 })];
    let mut is_shared = vec![false; ours.len()];
    for word in theirs {
        if let Ok(at) = ours.binary_search(word) {
            is_shared[at] = true;
        }
    }
    let shared = is_shared.into_iter().filter(|shared| *shared).count();
    if shared == 0 {
        return 0;
    }
    if part {
        (850 * shared / ours.len()) as u32
    } else {
        (900 * 2 * shared / (theirs.len() + ours.len())) as u32
    }
}

/// Returns the share of the lines that is equal before and after one change, such as a misspelt word.
pub(super) fn alike_ends(theirs: &[u8], ours: &[u8]) -> u32 {
    let (theirs, ours) = (cut(theirs).trim_ascii(), cut(ours).trim_ascii());
    let prefix = theirs.iter().zip(ours).take_while(|(a, b)| a == b).count();
    let (theirs_left, ours_left) = (&theirs[prefix..], &ours[prefix..]);
    let suffix = theirs_left.iter().rev().zip(ours_left.iter().rev()).take_while(|(a, b)| a == b).count();
    (900 * (prefix + suffix) / theirs.len().max(ours.len()).max(1)) as u32
}

/// Drops the file's unmatched lines before the first pair and after the last, and pairs the lines of each gap that has
/// as many lines on both sides.
fn tidy(steps: Vec<AlignStep>) -> Vec<AlignStep> {
    let (Some(first), Some(last)) = (steps.iter().position(is_pair), steps.iter().rposition(is_pair)) else {
        return steps;
    };
    let is_kept = |at: usize| (first..=last).contains(&at) || !matches!(steps[at], AlignStep::Lacks { .. });
    let kept: Vec<AlignStep> = (0..steps.len()).filter(|&at| is_kept(at)).map(|at| steps[at]).collect();
    let mut out: Vec<AlignStep> = Vec::with_capacity(kept.len());
    for run in runs(&kept) {
        let (files, requests) = unpaired(run);
        if files.len() == requests.len() && !files.is_empty() {
            let pairs = files.into_iter().zip(requests);
            out.extend(pairs.map(|(file, (request, _))| AlignStep::Pair { file, request }));
        } else {
            out.extend(run);
        }
    }
    out
}

fn is_pair(step: &AlignStep) -> bool {
    matches!(step, AlignStep::Pair { .. })
}

fn runs(steps: &[AlignStep]) -> impl Iterator<Item = &[AlignStep]> {
    steps.chunk_by(|a, b| is_pair(a) == is_pair(b))
}

/// Returns the lines of the file that the request lacks, and those of the request that the file lacks, with the line of
/// the file before which they would stand.
pub(super) fn unpaired(run: &[AlignStep]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let (mut files, mut requests) = (Vec::new(), Vec::new());
    for step in run {
        match *step {
            AlignStep::Pair { .. } => {}
            AlignStep::Lacks { file } => files.push(file),
            AlignStep::Extra { request, before } => requests.push((request, before)),
        }
    }
    (files, requests)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::super::request::interpretations;
    use super::super::vote::diagonals;
    use super::*;
    use crate::text::Text;

    /// Calls `ask` with the aligner of a request with a file, both given by their lines.
    fn with<T>(file: &[&str], wanted: &[&str], ask: impl FnOnce(&Aligner<'_>) -> T) -> T {
        let text: String = file.iter().map(|line| format!("{line}\n")).collect();
        let text = Text::new(text.into_bytes()).unwrap();
        let (lines, tokens) = (text.lines(), text.tokens());
        let wanted: Vec<&[u8]> = wanted.iter().map(|line| line.as_bytes()).collect();
        let request = interpretations(&wanted).swap_remove(0);
        let (_, rarity) = diagonals(tokens, &request, 1);
        ask(&Aligner::new(&lines, tokens, &request, &rarity))
    }

    fn pair(file: usize, request: usize) -> AlignStep {
        AlignStep::Pair { file, request }
    }

    fn lacks(file: usize) -> AlignStep {
        AlignStep::Lacks { file }
    }

    fn extra(request: usize, before: usize) -> AlignStep {
        AlignStep::Extra { request, before }
    }

    const FILE: [&str; 5] = [
        "fn main() {",
        "    let total = sum(items);",
        "    print(total);",
        "    let other = count(items);",
        "}",
    ];

    fn steps(file: &[&str], wanted: &[&str], diagonal: isize) -> Vec<AlignStep> {
        with(file, wanted, |aligner| aligner.align(diagonal).steps)
    }

    fn score(file: &[&str], wanted: &[&str], diagonal: isize) -> u32 {
        with(file, wanted, |aligner| aligner.align(diagonal).score)
    }

    #[test]
    fn lines_that_correspond_are_paired_and_the_others_named() {
        assert_eq!(steps(&FILE, &FILE, 0), (0..5).map(|at| pair(at, at)).collect::<Vec<_>>());
        assert_eq!(steps(&FILE, &FILE[1..3], 1), [pair(1, 0), pair(2, 1)]);
        // A place that is off by one is the same place.
        assert_eq!(steps(&FILE, &FILE[1..3], 0), [pair(1, 0), pair(2, 1)]);
        assert_eq!(steps(&FILE, &FILE[1..3], 2), [pair(1, 0), pair(2, 1)]);
        let forgotten = [FILE[1], FILE[3]];
        assert_eq!(steps(&FILE, &forgotten, 1), [pair(1, 0), lacks(2), pair(3, 1)]);
        let invented = [FILE[1], "    nothing_of_the_kind();", FILE[2]];
        assert_eq!(steps(&FILE, &invented, 1), [pair(1, 0), extra(1, 2), pair(2, 2)]);
        let around = ["what is it", FILE[1], FILE[2], "not here", "nor that"];
        assert_eq!(steps(&FILE, &around, 0), [extra(0, 1), pair(1, 1), pair(2, 2), extra(3, 3), extra(4, 3)]);
        // Where both sides have as many lines, they stand for each other.
        let replaced = [FILE[1], "what is it", FILE[3]];
        assert_eq!(steps(&FILE, &replaced, 1), [pair(1, 0), pair(2, 1), pair(3, 2)]);
        let with_more = [FILE[1], "what is it", "not here", FILE[3]];
        assert_eq!(steps(&FILE, &with_more, 1), [pair(1, 0), lacks(2), extra(1, 3), extra(2, 3), pair(3, 3)]);
    }

    #[test]
    fn lines_are_found_as_far_as_the_band_and_an_elision_reaches() {
        let first = "let alpha = beta(gamma, delta, epsilon, zeta);";
        let last = "let eta = theta(iota, kappa, lambda, mu);";
        let apart = |between: usize| {
            let mut file = alloc::vec!["x"; between + 2];
            (file[0], file[between + 1]) = (first, last);
            file
        };
        let paired = |between: usize, wanted: &[&str]| {
            let steps = steps(&apart(between), wanted, 0);
            steps.first() == Some(&pair(0, 0)) && steps.last() == Some(&pair(between + 1, wanted.len() - 1))
        };
        assert!(paired(1, &[first, last]) && paired(BAND, &[first, last]));
        assert!(!paired(BAND + 1, &[first, last]));
        let elided = [first, "// ... existing code ...", last];
        assert!(paired(BAND + 1, &elided) && paired(ELIDED, &elided));
        assert!(!paired(ELIDED + BAND + 2, &elided));
    }

    #[test]
    fn a_place_is_as_good_as_the_part_of_the_request_that_it_has() {
        assert_eq!(score(&FILE, &FILE, 0), 1000);
        assert_eq!(score(&FILE, &FILE[1..4], 1), 1000);
        assert_eq!(score(&FILE, &["what is it"], 0), 0);
        let missing = score(&FILE, &[FILE[0], FILE[1], FILE[3]], 0);
        let more_missing = score(&FILE, &[FILE[0], FILE[3]], 0);
        let invented = score(&FILE, &[FILE[0], FILE[1], "what is it", FILE[2]], 0);
        let misspelt = score(&FILE, &[FILE[0], "    let totl = sum(items);", FILE[2]], 0);
        for partly in [missing, more_missing, invented, misspelt] {
            assert!((500..1000).contains(&partly), "{partly}");
        }
        assert!(more_missing < missing);
        // A distinctive line counts more than a bracket or a blank one.
        let without = |line: usize| {
            let wanted: Vec<&str> = (0..5).map(|at| if at == line { "%" } else { FILE[at] }).collect();
            score(&FILE, &wanted, 0)
        };
        assert!(
            without(4) > without(2) && without(2) > without(1),
            "{} {} {}",
            without(4),
            without(2),
            without(1)
        );
    }

    #[test]
    fn a_line_weighs_by_its_words_and_how_rare_they_are() {
        let weights = |file: &[&str], wanted: &[&str]| with(file, wanted, |aligner| aligner.weights.clone());
        assert_eq!(weights(&["}", "", "a"], &["}", "", "// ... rest", "a"]), [160, 60, 60, 360]);
        // Words that the file lacks weigh like those on one line of eight.
        assert_eq!(weights(&["a"; 8], &["a", "b", "a b", "\u{e9}"]), [300, 480, 480, 480]);
        let file = ["a b", "b", "c", "d"];
        assert_eq!(weights(&file, &["a", "b", "a b"]), [420, 360, 480]);
        let many: Vec<String> = (0..30).map(|number| format!("word{number}")).collect();
        assert_eq!(weights(&["a"], &[&many.join(" "), "a"]), [2000, 300]);
        assert_eq!(weights(&["{"; 9], &["{"]), [100]);
    }

    #[test]
    fn two_lines_are_as_similar_as_what_they_share() {
        let alike = |theirs: &str, ours: &str| {
            with(&[theirs], &["before it", ours, "after it"], |aligner| aligner.similarity(0, 1))
        };
        assert_eq!(alike("let a = 1;", "let a = 1;"), 1000);
        assert_eq!(alike("let a = 1;", "  LET a=1;"), 950);
        assert_eq!(alike("", " "), 980);
        assert_eq!([alike("", "a"), alike("a", "")], [0, 0]);
        assert_eq!(alike("... rest", "// ... rest"), 0, "an elision is like no other line");
        assert_eq!(alike("// ... rest", "// ... rest"), 1000);
        // The ends, or the words, in thousandths of nine tenths.
        assert_eq!(alike("abcdefghij", "abcdeXghij"), 810);
        assert_eq!(alike("abcdefghij", "XXcdefghij"), 720);
        assert_eq!(alike("alpha beta", "beta alpha gamma"), 720);
        assert_eq!(alike("one", "two"), 0);
        assert_eq!(alike("alpha beta gamma", "gamma of"), 360);
    }

    #[test]
    fn the_first_and_the_last_line_may_be_a_part_of_a_line() {
        let alike = |theirs: &str, wanted: &[&str], request: usize| {
            with(&[theirs], wanted, |aligner| aligner.similarity(0, request))
        };
        let line = "let total = sum(items);";
        assert_eq!(alike(line, &["sum(items);", "after it"], 0), 940);
        assert_eq!(alike(line, &["before it", "let total = "], 1), 940);
        assert_eq!(alike(line, &["total = sum"], 0), 940);
        // What is cut off elsewhere is no such part, but its words are.
        assert_eq!(alike(line, &["let total = ", "after it"], 0), 850);
        assert_eq!(alike(line, &["before it", "sum(items);"], 1), 850);
        assert_eq!(alike(line, &["total = sums"], 0), 425);
        assert_eq!(alike(line, &["before it", "sum(items);", "after it"], 1), 600);
    }

    #[test]
    fn the_ends_of_lines_are_compared_without_the_space_around_them() {
        assert_eq!(alike_ends(b"  abcd", b"abcd\t"), 900);
        assert_eq!(alike_ends(b"abcd", b"abXcd"), 720);
        assert_eq!(alike_ends(b"aaaa", b"aa"), 450, "no byte counts twice");
        assert_eq!([alike_ends(b"", b""), alike_ends(b"abc", b""), alike_ends(b"abc", b"xyz")], [0; 3]);
        let long = [b'a'; COMPARED];
        assert_eq!(alike_ends(&[&long[..], b"b"].concat(), &[&long[..], b"c"].concat()), 900);
    }

    #[test]
    fn the_ends_of_a_place_are_those_of_its_pairs() {
        let ends = |steps: &[AlignStep]| Alignment { score: 0, steps: steps.to_vec() }.ends();
        assert_eq!(ends(&[extra(0, 3), pair(3, 1), lacks(4), pair(5, 2), extra(3, 6)]), Some((3, 5)));
        assert_eq!(ends(&[pair(3, 0)]), Some((3, 3)));
        assert_eq!(ends(&[extra(0, 3)]), None);
    }

    #[test]
    fn a_place_has_what_changes_if_a_paired_line_is_not_among_the_new_ones() {
        let has_changed = |wanted: &[&str], new: &[&str]| {
            let new: Vec<&[u8]> = new.iter().map(|line| line.as_bytes()).collect();
            with(&FILE, wanted, |aligner| aligner.align(1).has_changed(aligner.request, &new))
        };
        assert!(has_changed(&FILE[1..3], &FILE[1..2]) && has_changed(&FILE[1..3], &[]));
        assert!(!has_changed(&FILE[1..3], &FILE[1..3]));
        assert!(!has_changed(&[FILE[1], "what is it", "not here", FILE[2]], &FILE[1..3]));
    }
}
