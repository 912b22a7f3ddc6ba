//! An edit: sorted, disjoint byte ranges of one version of a file, each with its new bytes.
//!
//! Hunks become an edit only through [`EditBuilder::finish`], which refuses overlaps. So an [`Edit`] can be applied in
//! one pass, and no hunk undoes another. Overlap comes from a model's input, so it is an error value, never an
//! assertion.
//!
//! Ranges and new bytes are those of the view; [`Edit::raw_spans`] gives the changes of the raw bytes.

mod join;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use crate::encoding::Encoding;
use crate::text::Text;
use crate::version::{Hashing, Version};

/// One replaced range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The replaced bytes of the old content; empty for an insertion.
    pub range: Range<usize>,
    /// The new bytes.
    pub new: Vec<u8>,
    /// The hunk of the request that this belongs to, counted from 1.
    pub hunk: usize,
}

/// The changes to one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    base: Version,
    base_len: usize,
    /// The encoding of the result: the base's, unless another file takes its place.
    encoding: Encoding,
    /// Invariant: sorted and disjoint, and within `base_len`.
    spans: Vec<Span>,
    /// Whether some span comes from several hunks, so that none of them can be left out.
    joined: bool,
    /// Whether some span was found by comparing two contents.
    compared: bool,
}

impl Edit {
    /// Makes an edit that changes nothing in this text.
    #[must_use]
    pub fn empty(text: &Text) -> Self {
        Self {
            base: text.version(),
            base_len: text.bytes().len(),
            encoding: text.encoding(),
            spans: Vec::new(),
            joined: false,
            compared: false,
        }
    }

    /// Returns the version that this edit was made for.
    #[must_use]
    pub fn base(&self) -> Version {
        self.base
    }

    /// Returns the replaced ranges, in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the encoding of the new content.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns whether the edit leaves the file as it is.
    #[must_use]
    pub fn is_no_op(&self, base: &Text) -> bool {
        let same_encoding = self.encoding == base.encoding() || self.is_all_view(base);
        same_encoding && self.spans.iter().all(|span| base.bytes()[span.range.clone()] == span.new[..])
    }

    /// Returns whether view and raw bytes are equal, before and after the edit.
    fn is_all_view(&self, base: &Text) -> bool {
        self.encoding.is_view() && base.encoding().is_view()
    }

    /// Returns the hunks with characters that the encoding lacks, each with its first such character.
    #[must_use]
    pub fn not_encodable(&self) -> Vec<(usize, char)> {
        let mut lacking: Vec<(usize, char)> = Vec::new();
        if self.encoding.is_view() {
            return lacking;
        }
        for span in &self.spans {
            if lacking.iter().any(|(hunk, _)| *hunk == span.hunk) {
                continue;
            }
            let text = core::str::from_utf8(&span.new).map_err(|_| char::REPLACEMENT_CHARACTER);
            if let Err(character) = text.and_then(|text| self.encoding.encode(text)) {
                lacking.push((span.hunk, character));
            }
        }
        lacking
    }

    /// Returns the new content.
    ///
    /// # Panics
    ///
    /// If the encoding lacks a character: planning has asked [`Edit::not_encodable`] before.
    #[must_use]
    pub fn result(&self, base: &Text) -> Text {
        match Text::with_encoding(self.apply(base.bytes()), self.encoding) {
            Ok(text) => text,
            Err(character) => self.lacks(character),
        }
    }

    /// Returns the replaced ranges of the raw bytes with their new bytes. Other raw bytes stay as they are.
    ///
    /// # Panics
    ///
    /// If the encoding lacks a character: planning has asked [`Edit::not_encodable`] before.
    #[must_use]
    pub fn raw_spans<'a>(&'a self, base: &Text) -> Vec<(Range<usize>, Cow<'a, [u8]>)> {
        if self.is_all_view(base) {
            let spans = self.spans.iter();
            return spans.map(|span| (span.range.clone(), Cow::Borrowed(&span.new[..]))).collect();
        }
        if self.encoding != base.encoding() {
            return alloc::vec![(0..base.raw().len(), Cow::Owned(self.result(base).raw().to_vec()))];
        }
        // The offsets reached so far in the view and, in step, in the raw bytes.
        let (mut view, mut raw) = (0, 0);
        let mut advance = |to: usize| {
            // A range that splits a character has no counterpart in the raw bytes.
            assert!(base.bytes().get(to).is_none_or(|byte| byte & 0xc0 != 0x80), "cut at {to}");
            raw += self.encoding.raw_len(&base.bytes()[view..to]);
            view = to;
            raw
        };
        let encoded = |span: &Span| {
            let text = core::str::from_utf8(&span.new).map_err(|_| char::REPLACEMENT_CHARACTER);
            match text.and_then(|text| self.encoding.encode(text)) {
                Ok(new) => Cow::Owned(new),
                Err(character) => self.lacks(character),
            }
        };
        let spans = self.spans.iter();
        spans.map(|span| (advance(span.range.start)..advance(span.range.end), encoded(span))).collect()
    }

    /// Panics rather than writing a substitute; no file was changed yet.
    fn lacks(&self, character: char) -> ! {
        panic!("{character:?} was planned into a file in {}", self.encoding.name())
    }

    /// Returns the version of the new content. Blocks that stay in place are not hashed again.
    ///
    /// # Panics
    ///
    /// If the encoding lacks a character: planning has asked [`Edit::not_encodable`] before.
    #[must_use]
    pub fn version(&self, base: &Text) -> Version {
        self.hashing(base).finish()
    }

    /// Returns the new content; `None` for what is no text. Of an ASCII text that stays one, only what the edit changes and
    /// moves is hashed.
    #[must_use]
    pub fn text(&self, base: &Text) -> Option<Text> {
        let content = self.raw_pieces(base).concat();
        let is_ascii = |span: &Span| span.new.is_ascii() && !span.new.contains(&0);
        if base.is_ascii() && self.encoding == base.encoding() && self.spans.iter().all(is_ascii) {
            return Some(Text::from_ascii(content, self.hashing(base)));
        }
        Text::new(content).ok()
    }

    fn hashing(&self, base: &Text) -> Hashing {
        let (raw, spans) = (base.raw(), self.raw_spans(base));
        let len = spans.iter().fold(raw.len(), |len, (range, new)| len - range.len() + new.len());
        let mut hashing = Hashing::of_len(len);
        let mut at = 0;
        for (range, new) in spans {
            hashing.keep(raw, at..range.start, base.blocks());
            hashing.update(&new);
            at = range.end;
        }
        hashing.keep(raw, at..raw.len(), base.blocks());
        hashing
    }

    /// Returns the raw bytes of the new content in pieces.
    #[must_use]
    pub fn raw_pieces<'a>(&'a self, base: &'a Text) -> Vec<Cow<'a, [u8]>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for (range, new) in self.raw_spans(base) {
            pieces.extend([Cow::Borrowed(&base.raw()[at..range.start]), new]);
            at = range.end;
        }
        pieces.push(Cow::Borrowed(&base.raw()[at..]));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Returns the view of the new content in pieces: unchanged stretches of `base` between the new texts.
    pub fn pieces<'a>(&'a self, base: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + 'a {
        debug_assert_eq!(base.len(), self.base_len);
        let mut at = 0;
        let spans = self.spans.iter().flat_map(move |span| {
            let kept = &base[at..span.range.start];
            at = span.range.end;
            [kept, &span.new[..]]
        });
        let tail = self.spans.last().map_or(0, |span| span.range.end);
        spans.chain(core::iter::once(&base[tail..])).filter(|piece| !piece.is_empty())
    }

    /// Returns the view of the new content.
    #[must_use]
    pub fn apply(&self, base: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.new_len());
        self.pieces(base).for_each(|piece| out.extend_from_slice(piece));
        out
    }

    /// Returns the length of the new content's view.
    #[must_use]
    pub fn new_len(&self) -> usize {
        self.spans.iter().fold(self.base_len, |len, span| len - span.range.len() + span.new.len())
    }

    /// Returns whether each span comes from one hunk, so that some can be left out.
    #[must_use]
    pub fn is_separable(&self) -> bool {
        !self.joined
    }

    /// Returns whether its spans were found by comparing two contents. Then it is a guess which of several equal lines it
    /// keeps.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.compared
    }

    /// Returns the edit in which a hunk replaces this range and nothing else of what is shown of it; `None` if it changes
    /// nothing there.
    pub(crate) fn with_hunk(
        &self,
        hunk: usize,
        shown: &Range<usize>,
        range: Range<usize>,
        new: Vec<u8>,
    ) -> Option<Result<Self, Overlap>> {
        let is_own = |span: &&Span| {
            span.hunk == hunk && shown.start <= span.range.start && span.range.end <= shown.end
        };
        let place = self.spans.iter().position(|span| is_own(&span))?;
        let others: Vec<Span> = self.spans.iter().filter(|span| !is_own(span)).cloned().collect();
        let count = others.len();
        let mut builder = EditBuilder { spans: others, ..EditBuilder::of(self) };
        builder.claim(hunk, range.clone());
        builder.replace(hunk, range, new);
        // Insertions at one offset keep their order.
        if builder.spans.len() > count {
            builder.spans[place..].rotate_right(1);
        }
        Some(builder.finish().map(|edit| Self { joined: self.joined, compared: self.compared, ..edit }))
    }

    /// Drops the spans of all other hunks, or nothing if the hunks are not separable.
    pub(crate) fn retain(&mut self, hunks: &[usize]) {
        if self.is_separable() {
            self.spans.retain(|span| hunks.contains(&span.hunk));
        }
    }

    /// Returns the edit of each hunk alone, by its number. Only of separable hunks each is an edit of its own.
    pub(crate) fn by_hunk(&self) -> BTreeMap<usize, Self> {
        let mut edits: BTreeMap<usize, Self> = BTreeMap::new();
        for span in &self.spans {
            edits.entry(span.hunk).or_insert_with(|| self.without_spans()).spans.push(span.clone());
        }
        edits
    }

    fn without_spans(&self) -> Self {
        let Self { base, base_len, encoding, joined, compared, .. } = *self;
        Self { base, base_len, encoding, spans: Vec::new(), joined, compared }
    }

    /// Marks all hunks of the edit as inseparable.
    pub(crate) fn into_joined(mut self) -> Self {
        self.joined = true;
        self
    }

    /// Marks the edit as one that was found by comparing two contents.
    pub(crate) fn into_compared(mut self) -> Self {
        self.compared = true;
        self
    }

    /// Removes the spans that replace bytes by equal ones.
    pub(crate) fn without_no_ops(mut self, base: &Text) -> Self {
        if self.encoding == base.encoding() {
            self.spans.retain(|span| base.bytes()[span.range.clone()] != span.new[..]);
        }
        self
    }

    /// Changes the encoding of the result, for an edit by which another file takes the place of the base.
    pub(crate) fn into_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Attributes all spans to one hunk.
    pub(crate) fn renumber(&mut self, hunk: usize) {
        self.spans.iter_mut().for_each(|span| span.hunk = hunk);
    }
}

/// A collection of the spans of several hunks, all placed in the same text.
#[derive(Debug)]
pub struct EditBuilder {
    base: Version,
    base_len: usize,
    encoding: Encoding,
    spans: Vec<Span>,
    /// The ranges that each hunk relies on: those that it matched.
    claims: Vec<(usize, Range<usize>)>,
    /// The hunks that insert whole lines, where, and where the line above begins.
    insertions: Vec<(usize, usize, usize)>,
}

/// A conflict of two hunks over the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The earlier hunk of the request.
    pub first: usize,
    /// The later hunk.
    pub second: usize,
    /// The offset in the base where they meet.
    pub offset: usize,
}

impl EditBuilder {
    /// Starts an edit of this text.
    #[must_use]
    pub fn new(text: &Text) -> Self {
        Self {
            base: text.version(),
            base_len: text.bytes().len(),
            encoding: text.encoding(),
            spans: Vec::new(),
            claims: Vec::new(),
            insertions: Vec::new(),
        }
    }

    /// Starts another edit of the text that this one is for.
    fn of(edit: &Edit) -> Self {
        let Edit { base, base_len, encoding, .. } = *edit;
        Self { base, base_len, encoding, spans: Vec::new(), claims: Vec::new(), insertions: Vec::new() }
    }

    /// Records that `hunk` relies on these bytes being as they are.
    pub fn claim(&mut self, hunk: usize, range: Range<usize>) {
        self.claims.push((hunk, range));
    }

    /// Replaces a range on behalf of `hunk`.
    pub fn replace(&mut self, hunk: usize, range: Range<usize>, new: Vec<u8>) {
        debug_assert!(range.start <= range.end && range.end <= self.base_len);
        self.spans.push(Span { range, new, hunk });
    }

    /// Records that `hunk` inserts lines at this offset, where a line must begin; `above` is where the line above begins.
    pub fn claim_line_start(&mut self, hunk: usize, at: usize, above: usize) {
        self.insertions.push((hunk, at, above));
    }

    /// Returns the ranges that a hunk replaces, as far as they were recorded.
    pub(crate) fn ranges_of(&self, hunk: usize) -> impl Iterator<Item = Range<usize>> {
        self.spans.iter().filter(move |span| span.hunk == hunk).map(|span| span.range.clone())
    }

    /// Returns the hunks that make the same changes as one before them, each with that one.
    pub(crate) fn hunks_made_twice(&self) -> Vec<(usize, usize)> {
        type Change<'a> = Vec<(usize, usize, &'a [u8])>;
        let mut changes: BTreeMap<usize, Change<'_>> = BTreeMap::new();
        for Span { range, new, hunk } in &self.spans {
            changes.entry(*hunk).or_default().push((range.start, range.end, new));
        }
        let mut first: BTreeMap<Change<'_>, usize> = BTreeMap::new();
        let mut twice = Vec::new();
        for (hunk, change) in changes {
            match first.get(&change) {
                Some(&first) => twice.push((first, hunk)),
                None => drop(first.insert(change, hunk)),
            }
        }
        twice
    }

    /// Returns the edit, if no two replacements overlap and none touches a range that another hunk relies on.
    /// Insertions at one offset come in the order of their hunks.
    pub fn finish(mut self) -> Result<Edit, Overlap> {
        self.spans.sort_by_key(|span| (span.range.start, span.range.end, span.hunk));
        for pair in self.spans.windows(2) {
            if pair[0].range.end > pair[1].range.start {
                return Err(overlap(pair[0].hunk, pair[1].hunk, pair[1].range.start));
            }
        }
        for (hunk, at, above) in &self.insertions {
            // The spans that end there, of which one may have taken the line break away.
            let ending = self.spans.partition_point(|span| span.range.start < *at);
            let glues = |span: &&Span| {
                let keeps_break =
                    span.new.ends_with(b"\n") || span.new.is_empty() && span.range.start == *above;
                span.range.end == *at && span.hunk != *hunk && !keeps_break
            };
            if let Some(span) = self.spans[..ending].last().filter(glues) {
                return Err(overlap(*hunk, span.hunk, *at));
            }
        }
        self.claims.sort_by_key(|(_, range)| (range.start, range.end));
        // A sweep over both sorted lists: only claims that a span can still reach are checked.
        let mut first_live = 0;
        for span in &self.spans {
            let longest = |claim: &(usize, Range<usize>)| claim.1.end <= span.range.start;
            while self.claims.get(first_live).is_some_and(longest) {
                first_live += 1;
            }
            for (hunk, claim) in &self.claims[first_live..] {
                if claim.start >= span.range.end.max(span.range.start + 1) {
                    break;
                }
                let touches = if span.range.is_empty() {
                    claim.start < span.range.start && span.range.start < claim.end
                } else {
                    claim.start < span.range.end && span.range.start < claim.end
                };
                if touches && *hunk != span.hunk {
                    return Err(overlap(*hunk, span.hunk, span.range.start.max(claim.start)));
                }
            }
        }
        let Self { base, base_len, encoding, spans, .. } = self;
        Ok(Edit { base, base_len, encoding, spans, joined: false, compared: false })
    }
}

fn overlap(a: usize, b: usize, offset: usize) -> Overlap {
    Overlap { first: a.min(b), second: a.max(b), offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;

    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> Text {
        Text::new(bytes.to_vec()).unwrap()
    }

    #[test]
    fn overlapping_replacements_are_refused() {
        let text = text(b"abcdef");
        let mut builder = EditBuilder::new(&text);
        builder.replace(2, 2..4, b"x".to_vec());
        builder.replace(1, 3..5, b"y".to_vec());
        assert_eq!(builder.finish(), Err(Overlap { first: 1, second: 2, offset: 3 }));
    }

    #[test]
    fn a_hunk_that_writes_something_else_keeps_its_place_among_insertions() {
        let text = text(b"one\ntwo\n");
        let mut builder = EditBuilder::new(&text);
        for (hunk, new) in [(1, "A\n"), (2, "B\n"), (3, "C\n")] {
            builder.replace(hunk, 4..4, new.into());
        }
        let edit = builder.finish().unwrap();
        for (hunk, expected) in
            [(1, "one\nX\nB\nC\ntwo\n"), (2, "one\nA\nX\nC\ntwo\n"), (3, "one\nA\nB\nX\ntwo\n")]
        {
            let by = edit.with_hunk(hunk, &(0..8), 4..4, b"X\n".to_vec()).unwrap().unwrap();
            assert_eq!(by.apply(text.bytes()), expected.as_bytes(), "{hunk}");
        }
    }

    #[test]
    fn a_replacement_of_what_another_hunk_relies_on_is_refused() {
        let text = text(b"a\nb\nc\n");
        let mut builder = EditBuilder::new(&text);
        builder.claim(1, 0..4);
        builder.replace(1, 0..2, b"A\n".to_vec());
        builder.claim(2, 2..6);
        builder.replace(2, 2..4, b"B\n".to_vec());
        assert_eq!(builder.finish(), Err(Overlap { first: 1, second: 2, offset: 2 }));
    }

    #[test]
    fn neighbours_and_insertions_at_one_place_keep_their_order() {
        let text = text(b"a\nb\n");
        let mut builder = EditBuilder::new(&text);
        builder.replace(1, 2..2, b"1\n".to_vec());
        builder.replace(2, 2..2, b"2\n".to_vec());
        builder.replace(3, 0..2, b"A\n".to_vec());
        assert_eq!(builder.finish().unwrap().apply(text.bytes()), b"A\n1\n2\nb\n");
    }

    #[test]
    fn retain_keeps_the_named_hunks() {
        let text = text(b"a\nb\n");
        let mut builder = EditBuilder::new(&text);
        builder.replace(1, 0..1, b"A".to_vec());
        builder.replace(2, 2..3, vec![b'B']);
        let mut edit = builder.finish().unwrap();
        edit.retain(&[2]);
        assert_eq!(edit.apply(text.bytes()), b"a\nB\n");
    }

    proptest! {
        /// What is kept of an edited text is what a reading would find, also where it grows beyond a block of the hash.
        #[test]
        fn the_text_after_an_edit_is_the_text_of_its_bytes(
            old in "[ab\n\u{e4}]{0,30}",
            is_ascii in any::<bool>(),
            repeated in prop_oneof![3 => Just(1), 1 => 8_000..12_000usize],
            cut in (0usize..30, 0usize..9),
            new in "[ab\n\u{0}\u{e4}]{0,6}",
        ) {
            let ascii = |text: &str| text.replace('\u{e4}', if is_ascii { "c" } else { "\u{e4}" });
            let base: String = ascii(&old).repeat(repeated);
            let starts: Vec<usize> = base.char_indices().map(|(at, _)| at).chain([base.len()]).collect();
            let start = starts[cut.0.min(starts.len() - 1)];
            let end = starts[(cut.0 + cut.1).min(starts.len() - 1)];
            let base = text(base.as_bytes());
            let mut builder = EditBuilder::new(&base);
            builder.replace(1, start..end, ascii(&new).into_bytes());
            let edit = builder.finish().unwrap();
            let read = Text::new(edit.raw_pieces(&base).concat()).ok();
            let after = edit.text(&base);
            let facts = |text: &Option<Text>| {
                text.as_ref().map(|text| {
                    (text.raw().to_vec(), text.version(), text.encoding(), text.line_count(), text.is_ascii())
                })
            };
            prop_assert_eq!(facts(&after), facts(&read));
            // Its blocks are those of its bytes, too.
            if let Some(after) = after {
                let again = EditBuilder::new(&after).finish().unwrap();
                prop_assert_eq!(again.version(&after), after.version());
            }
        }
    }
}
