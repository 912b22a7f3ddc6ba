//! Search for likely places of a block: each word that the request shares with the file votes for the place that it
//! implies.
//!
//! A place is a diagonal: the number of a line of the file minus that of a line of the request. Rare words count more,
//! and neighbouring diagonals support each other, since a forgotten line shifts all lines after it. The number of votes
//! is bounded; the rarest words vote first.

use alloc::vec;
use alloc::vec::Vec;

use super::request::RequestLine;
use crate::tokens::Tokens;

/// How many votes are counted.
const VOTES: usize = 1_500_000;
/// How many different words of a request vote.
const WORDS: usize = 4_096;
/// How far diagonals support each other.
const DRIFT: usize = 4;

/// The number of lines of the file on which each word of a request occurs.
pub(super) struct Rarity {
    /// The words with their counts, sorted by word.
    words: Vec<(u32, u32)>,
    lines: usize,
}

impl Rarity {
    /// Returns the weight of a word, from 0 (on every line) to about 20; `None` if the file does not have it.
    pub(super) fn weight(&self, word: u32) -> Option<u32> {
        let at = self.words.binary_search_by_key(&word, |&(word, _)| word).ok()?;
        let count = self.words[at].1;
        (count > 0).then(|| telling(count, self.lines))
    }
}

fn telling(count: u32, lines: usize) -> u32 {
    (lines as u64 / u64::from(count.max(1))).max(1).ilog2()
}

/// A hash table of the request's words, which is queried once for each word of the file.
struct WordTable {
    slots: Vec<(u32, u32)>,
    mask: usize,
}

const NONE: u32 = u32::MAX;

impl WordTable {
    fn new(words: &[u32]) -> Self {
        let size = (words.len() * 4).next_power_of_two().max(64);
        let mut table = Self { slots: vec![(0, NONE); size], mask: size - 1 };
        for (id, &word) in words.iter().enumerate() {
            let mut at = word as usize & table.mask;
            while table.slots[at].1 != NONE {
                at = (at + 1) & table.mask;
            }
            table.slots[at] = (word, id as u32);
        }
        table
    }

    fn id(&self, word: u32) -> Option<usize> {
        let mut at = word as usize & self.mask;
        loop {
            let (key, id) = self.slots[at];
            if id == NONE {
                return None;
            }
            if key == word {
                return Some(id as usize);
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Calls `visit` with each line of the file and the index of each of the request's `words` that is on it.
    fn visit(&self, tokens: &Tokens, words: usize, mut visit: impl FnMut(usize, usize)) {
        let mut last = vec![NONE; words];
        for line in 0..tokens.len() {
            for id in tokens.line(line).iter().filter_map(|&word| self.id(word)) {
                if last[id] != line as u32 {
                    last[id] = line as u32;
                    visit(line, id);
                }
            }
        }
    }
}

/// Returns the most likely diagonals, best first, at most `count`, and the rarity of the request's words.
pub(super) fn diagonals(tokens: &Tokens, request: &[RequestLine<'_>], count: usize) -> (Vec<isize>, Rarity) {
    let mut words: Vec<u32> = request.iter().flat_map(|line| line.words.iter().copied()).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(WORDS);
    let mut in_request: Vec<Vec<u32>> = vec![Vec::new(); words.len()];
    for (i, line) in request.iter().enumerate().filter(|(_, line)| !line.elision) {
        for word in &line.words {
            if let Ok(id) = words.binary_search(word) {
                in_request[id].push(i as u32);
            }
        }
    }
    let table = WordTable::new(&words);
    let frequency = frequency(tokens, &table, words.len());
    let weights = weights(&frequency, &in_request, tokens.len());
    if weights.iter().all(|&weight| weight == 0) {
        return (Vec::new(), Rarity { words: Vec::new(), lines: tokens.len() });
    }
    let votes = vote(tokens, &table, &in_request, &weights, request.len());
    let rarity = Rarity { words: words.into_iter().zip(frequency).collect(), lines: tokens.len() };
    (best(&votes, request.len(), count), rarity)
}

/// Returns the number of lines on which each word occurs.
fn frequency(tokens: &Tokens, table: &WordTable, words: usize) -> Vec<u32> {
    let mut frequency = vec![0; words];
    table.visit(tokens, words, |_, id| frequency[id] += 1);
    frequency
}

/// Returns the weight of each word's votes; 0 for words beyond the limit of votes.
fn weights(frequency: &[u32], in_request: &[Vec<u32>], lines: usize) -> Vec<u32> {
    let mut by_rarity: Vec<usize> = (0..frequency.len()).filter(|&id| frequency[id] > 0).collect();
    by_rarity.sort_by_key(|&id| (frequency[id], id));
    let mut weights = vec![0; frequency.len()];
    let mut left = VOTES;
    for id in by_rarity {
        let votes = frequency[id] as usize * in_request[id].len();
        if votes > left {
            break;
        }
        left -= votes;
        let telling = telling(frequency[id], lines);
        // The weight is never 0: in a file of one line, every word is on all lines.
        weights[id] = 1 + telling * telling;
    }
    weights
}

/// Returns the votes by diagonal. On the diagonal of index 0, the request's last line is on the first of the file.
fn vote(
    tokens: &Tokens,
    table: &WordTable,
    in_request: &[Vec<u32>],
    weights: &[u32],
    height: usize,
) -> Vec<u32> {
    let mut votes = vec![0u32; tokens.len() + height];
    table.visit(tokens, weights.len(), |line, id| {
        // The words beyond the limit of votes take no time.
        if weights[id] > 0 {
            for &i in &in_request[id] {
                votes[line + height - 1 - i as usize] += weights[id];
            }
        }
    });
    votes
}

/// Returns the diagonals with most support, best first, no two of them close to each other. Among equals, the earliest
/// wins, so that the answer is stable.
fn best(votes: &[u32], height: usize, count: usize) -> Vec<isize> {
    // In a single line, nothing can be shifted.
    let drift = DRIFT.min(height.saturating_sub(1));
    let mut support: Vec<u64> = Vec::with_capacity(votes.len());
    let mut window: u64 = votes.iter().take(drift).map(|&vote| u64::from(vote)).sum();
    for (at, &vote) in votes.iter().enumerate() {
        window += votes.get(at + drift).map_or(0, |&vote| u64::from(vote));
        window -= at.checked_sub(drift + 1).map_or(0, |gone| u64::from(votes[gone]));
        // A diagonal without its own votes is no place, however good its neighbours are.
        support.push(if vote == 0 { 0 } else { window + 2 * u64::from(vote) });
    }
    let mut found = Vec::new();
    for _ in 0..count {
        let best = support.iter().enumerate().rev().max_by_key(|&(_, &votes)| votes);
        let Some((at, _)) = best.filter(|&(_, &votes)| votes > 0) else { break };
        found.push(at as isize - (height as isize - 1));
        let end = (at + drift + 1).min(support.len());
        support[at.saturating_sub(drift)..end].fill(0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::request::interpretations;
    use super::*;

    fn diagonals_of(file: &[&str], wanted: &[&str]) -> Vec<isize> {
        let tokens = Tokens::from_lines(file.iter().map(|line| line.as_bytes()));
        let wanted: Vec<&[u8]> = wanted.iter().map(|line| line.as_bytes()).collect();
        diagonals(&tokens, &interpretations(&wanted)[0], 3).0
    }

    #[test]
    fn rare_words_decide() {
        let mut file = ["let x = common();"; 40];
        file[20] = "let x = rare();";
        assert_eq!(diagonals_of(&file, &["let y = common();", "let y = rare();"])[0], 19);
    }

    #[test]
    fn the_first_of_equal_places_comes_first_and_nothing_is_no_place() {
        assert_eq!(diagonals_of(&["a"; 30], &["a"]), [0, 1, 2]);
        assert!(diagonals_of(&["a", "b"], &["c"]).is_empty());
    }

    #[test]
    fn a_word_tells_the_more_the_fewer_lines_it_is_on() {
        let rarity = Rarity { words: alloc::vec![(3, 0), (5, 1), (7, 4), (9, 16)], lines: 16 };
        let told = [3, 4, 5, 7, 9].map(|word| rarity.weight(word));
        assert_eq!(told, [None, None, Some(4), Some(2), Some(0)]);
    }

    #[test]
    fn a_word_is_found_among_all_that_share_its_slot() {
        let words = [5, 5 + 64, 5 + 128, 63];
        let table = WordTable::new(&words);
        assert_eq!(words.map(|word| table.id(word)), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!([4, 6, 9, 5 + 256].map(|word| table.id(word)), [None; 4]);
    }

    #[test]
    fn a_word_votes_once_for_each_line_that_it_is_on() {
        let tokens = Tokens::from_lines([&b"alpha alpha beta"[..], b"", b"beta alpha"].into_iter());
        let mut words = tokens.line(0).to_vec();
        words.sort_unstable();
        words.dedup();
        let table = WordTable::new(&words);
        assert_eq!(frequency(&tokens, &table, 2), [2, 2]);
        let [alpha, beta] = [tokens.line(2)[1], tokens.line(2)[0]].map(|word| table.id(word).unwrap());
        let (mut weights, mut in_request) = (alloc::vec![0; 2], alloc::vec![Vec::new(); 2]);
        (weights[alpha], weights[beta]) = (10, 1);
        (in_request[alpha], in_request[beta]) = (alloc::vec![0, 1], alloc::vec![1]);
        // Index 1 is the diagonal on which the first lines of both stand together.
        assert_eq!(vote(&tokens, &table, &in_request, &weights, 2), [11, 10, 11, 10, 0]);
        weights[alpha] = 0;
        assert_eq!(vote(&tokens, &table, &in_request, &weights, 2), [1, 0, 1, 0, 0]);
    }

    #[test]
    fn near_diagonals_support_each_other_and_only_one_of_them_is_a_place() {
        let votes = |given: &[(usize, u32)]| {
            let mut votes = alloc::vec![0; 30];
            given.iter().for_each(|&(at, vote)| votes[at] = vote);
            votes
        };
        let best_of = |given: &[(usize, u32)], count| best(&votes(given), 5, count);
        // A lone place has three times its votes; another within reach adds its own.
        assert_eq!(best_of(&[(2, 4), (12, 3), (17, 3)], 3), [-2, 8, 13]);
        assert_eq!(best_of(&[(2, 4), (12, 3), (16, 3)], 3), [-2, 8]);
        assert_eq!(best_of(&[(2, 4), (12, 3), (16, 4)], 3), [12, -2]);
        assert_eq!(best_of(&[(2, 4), (25, 3), (29, 4)], 3), [25, -2]);
        assert_eq!(best_of(&[(0, 4), (4, 3), (12, 4)], 3), [-4, 8]);
        assert_eq!(best_of(&[(2, 4), (12, 3), (17, 3)], 1), [-2]);
        // As far as the request is high, less one: the lines of one can only be shifted by so much.
        assert_eq!(best(&votes(&[(2, 4), (12, 3), (13, 3)]), 1, 3), [2, 12, 13]);
        assert_eq!(best(&votes(&[(2, 4), (12, 3), (14, 3)]), 2, 3), [1, 11, 13]);
        assert_eq!(best(&votes(&[(2, 4), (12, 3), (14, 4)]), 3, 3), [12, 0]);
        assert!(best(&votes(&[]), 5, 3).is_empty());
    }

    #[test]
    fn a_vote_counts_by_how_rare_the_word_is_and_what_costs_too_much_nothing() {
        let in_request = |times: usize| alloc::vec![0; times];
        let weights_of = |frequency: &[u32], times: &[usize]| {
            let requests: Vec<Vec<u32>> = times.iter().map(|&times| in_request(times)).collect();
            weights(frequency, &requests, 1_024)
        };
        assert_eq!(weights_of(&[1, 32, 1_024, 0], &[1, 1, 1, 1]), [101, 26, 1, 0]);
        // The rarest words vote first; from the first word that exceeds the limit on, none does.
        assert_eq!(weights_of(&[1_000, 2, 100], &[1, 3, VOTES]), [0, 82, 0]);
    }
}
