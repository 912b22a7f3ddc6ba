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
    /// Returns the first and the last line of the file that correspond to a line of the request.
    pub(super) fn ends(&self) -> Option<(usize, usize)> {
        let mut files = self.steps.iter().filter_map(|step| match step {
            AlignStep::Pair { file, .. } => Some(*file),
            _ => None,
        });
        let first = files.next()?;
        Some((first, files.next_back().unwrap_or(first)))
    }

    /// Returns whether a line that the request changes corresponds to one of the file.
    pub(super) fn has_changed(&self, request: &[RequestLine<'_>], new: &[&[u8]]) -> bool {
        let new = &new[..new.len().min(1000)];
        self.steps.iter().any(|step| match step {
            AlignStep::Pair { request: i, .. } => !new.contains(&request[*i].sent),
            _ => false,
        })
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
        let (first, last) = (i == 0, i + 1 == request.len());
        let theirs = &theirs[..theirs.len().min(1 << 16)];
        let ours = &*request[i].content;
        match (first, last) {
            (true, true) => memchr::memmem::find(theirs, ours).is_some(),
            (true, false) => theirs.ends_with(ours),
            (false, true) => theirs.starts_with(ours),
            (false, false) => false,
        }
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
    let is_pair = |step: &AlignStep| matches!(step, AlignStep::Pair { .. });
    let (Some(first), Some(last)) = (steps.iter().position(is_pair), steps.iter().rposition(is_pair)) else {
        return steps;
    };
    let mut out: Vec<AlignStep> = Vec::with_capacity(steps.len());
    let mut gap: Vec<AlignStep> = Vec::new();
    for (at, &step) in steps.iter().enumerate() {
        match step {
            AlignStep::Pair { .. } => {
                close(&mut gap, &mut out);
                out.push(step);
            }
            AlignStep::Lacks { .. } if at < first || at > last => {}
            _ => gap.push(step),
        }
    }
    close(&mut gap, &mut out);
    out
}

fn close(gap: &mut Vec<AlignStep>, out: &mut Vec<AlignStep>) {
    let files: Vec<usize> = gap
        .iter()
        .filter_map(|step| if let AlignStep::Lacks { file } = step { Some(*file) } else { None })
        .collect();
    let requests: Vec<usize> = gap
        .iter()
        .filter_map(|step| if let AlignStep::Extra { request, .. } = step { Some(*request) } else { None })
        .collect();
    if files.len() == requests.len() {
        gap.clear();
        out.extend(files.into_iter().zip(requests).map(|(file, request)| AlignStep::Pair { file, request }));
    } else {
        out.append(gap);
    }
}
