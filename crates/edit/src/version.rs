//! The identity of a file's content: the blake3 hash of its bytes.
//!
//! A version answers "is this the content that I saw?", whatever happened to times, inodes or names. Answers show its
//! first twelve hex digits ([`Version::short`]); a caller may send those or more of them.
//!
//! A blake3 hash is a tree: large contents are hashed block by block ([`Hashing`]), and an edited content reuses the
//! hashes of all blocks that stay in place ([`Blocks`]).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The blake3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u8; 32]);

/// How many hex digits answers show.
const SHOWN: usize = 12;

/// How many bytes a block has; a power of two, as the tree requires.
const BLOCK: usize = 128 * 1024;

impl Version {
    /// Hashes a content.
    #[must_use]
    pub fn hash(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Returns the twelve hex digits that stand for this version in answers.
    #[must_use]
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(SHOWN);
        hex
    }

    /// Returns all sixty-four hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
    }

    /// Reads a version of which all hex digits are written.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        Some(Self(*blake3::Hash::from_hex(hex).ok()?.as_bytes()))
    }

    /// Returns whether `claimed` names this version: it has at least the digits that answers show and at most all, in
    /// upper or lower case.
    #[must_use]
    pub fn is_named_by(&self, claimed: &str) -> bool {
        Self::is_prefix(claimed, &self.hex())
    }

    /// Returns whether `claimed` names the version with these sixty-four digits.
    #[must_use]
    pub fn is_prefix(claimed: &str, hex: &str) -> bool {
        let claimed = claimed.trim();
        (SHOWN..=64).contains(&claimed.len())
            && claimed.is_ascii()
            && hex.starts_with(&claimed.to_ascii_lowercase())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// The hashes of the full blocks of a content; empty for one that fits into a single block.
#[derive(Debug, Default)]
pub(crate) struct Blocks(Vec<ChainingValue>);

/// An incremental computation of a version.
#[derive(Clone, Debug, Default)]
pub struct Hashing {
    /// The hashes of the finished blocks.
    blocks: Vec<ChainingValue>,
    /// The current block. A full block stays here until more bytes come: a single block is hashed as a whole.
    block: blake3::Hasher,
    /// The length of the current block.
    len: usize,
    /// Whether the length is known to exceed one block.
    is_long: bool,
}

impl Hashing {
    /// Starts on a content of known length, without which [`Hashing::keep`] saves no work.
    pub(crate) fn of_len(len: usize) -> Self {
        Self { is_long: len > BLOCK, ..Self::default() }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            self.end_block_if_full();
            if self.len == 0 && !self.blocks.is_empty() {
                self.block = blake3::Hasher::new();
                self.block.set_input_offset((self.blocks.len() * BLOCK) as u64);
            }
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.len));
            self.block.update(now);
            self.len += now.len();
            bytes = later;
        }
    }

    /// Adds this range of `base`, whose blocks are `known`. Blocks that keep their offset are not hashed again.
    pub(crate) fn keep(&mut self, base: &[u8], range: Range<usize>, known: &Blocks) {
        let mut at = range.start;
        while at < range.end {
            let next = (at / BLOCK + 1) * BLOCK;
            let stays =
                self.is_long && self.blocks.len() * BLOCK + self.len == at && at.is_multiple_of(BLOCK);
            let block = known.0.get(at / BLOCK).filter(|_| stays && next <= range.end);
            if let Some(block) = block {
                self.end_block_if_full();
                self.blocks.push(*block);
            } else {
                self.update(&base[at..next.min(range.end)]);
            }
            at = next.min(range.end);
        }
    }

    fn end_block_if_full(&mut self) {
        if self.len == BLOCK {
            self.blocks.push(self.block.finalize_non_root());
            self.len = 0;
        }
    }

    /// Returns the version of all added bytes.
    #[must_use]
    pub fn finish(self) -> Version {
        self.finish_with_blocks().0
    }

    pub(crate) fn finish_with_blocks(mut self) -> (Version, Blocks) {
        if self.blocks.is_empty() {
            return (Version(*self.block.finalize().as_bytes()), Blocks::default());
        }
        let full = self.blocks.len() + usize::from(self.len == BLOCK);
        if self.len > 0 {
            self.blocks.push(self.block.finalize_non_root());
        }
        let (left, right) = halves(&self.blocks);
        let root = merge_subtrees_root(&merged(left), &merged(right), Mode::Hash);
        self.blocks.truncate(full);
        (Version(*root.as_bytes()), Blocks(self.blocks))
    }
}

/// Splits a tree of several blocks: its left side is the largest complete subtree.
fn halves(blocks: &[ChainingValue]) -> (&[ChainingValue], &[ChainingValue]) {
    blocks.split_at(blocks.len().next_power_of_two() / 2)
}

fn merged(blocks: &[ChainingValue]) -> ChainingValue {
    if let [block] = blocks {
        return *block;
    }
    let (left, right) = halves(blocks);
    merge_subtrees_non_root(&merged(left), &merged(right), Mode::Hash)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    /// Makes bytes that differ from block to block.
    fn content(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i / 1000 * 7 + i) as u8).collect()
    }

    #[test]
    fn hashing_by_blocks_is_hashing() {
        for blocks in 0..6 {
            for around in [0, 1, 1024, BLOCK / 2, BLOCK - 1] {
                let content = content(blocks * BLOCK + around);
                let mut hashing = Hashing::default();
                content.chunks(50_000).for_each(|piece| hashing.update(piece));
                let (version, known) = hashing.finish_with_blocks();
                assert_eq!(version, Version::hash(&content), "{blocks} {around}");
                let full = if content.len() > BLOCK { content.len() / BLOCK } else { 0 };
                assert_eq!(known.0.len(), full, "{blocks} {around}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_stays_where_it_was_need_not_be_hashed_again(
            len in BLOCK + 1..5 * BLOCK,
            at in 0..5 * BLOCK,
            gone in prop_oneof![0..10usize, 0..2 * BLOCK],
            come in prop_oneof![0..10usize, 0..2 * BLOCK],
            same in any::<bool>(),
        ) {
            let base = content(len);
            let mut hashing = Hashing::default();
            hashing.update(&base);
            let known = hashing.finish_with_blocks().1;
            let at = at.min(len);
            let end = (at + gone).min(len);
            // A replacement of another length moves the bytes that follow.
            let new = vec![b'x'; if same { end - at } else { come }];
            let result = [&base[..at], &new, &base[end..]].concat();
            let mut hashing = Hashing::of_len(result.len());
            hashing.keep(&base, 0..at, &known);
            hashing.update(&new);
            hashing.keep(&base, end..len, &known);
            let (version, blocks) = hashing.finish_with_blocks();
            prop_assert_eq!(version, Version::hash(&result));
            prop_assert_eq!(blocks.0.len(), if result.len() > BLOCK { result.len() / BLOCK } else { 0 });
        }
    }

    #[test]
    fn a_short_form_names_its_version_and_a_shorter_one_does_not() {
        let version = Version::hash(b"x");
        assert!(version.is_named_by(&version.short()));
        assert!(version.is_named_by(&version.hex().to_uppercase()));
        assert!(!version.is_named_by(&version.short()[..11]));
        assert!(!version.is_named_by(&Version::hash(b"y").short()));
        assert!(!version.is_named_by(""));
    }
}
