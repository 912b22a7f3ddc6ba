//! Joining two edits, of which the second was made for the result of the first, into one.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Edit, Span};

impl Edit {
    /// Combines this edit and `next`, which was made for its result, into one edit of this one's base.
    ///
    /// Both edits are walked in step over the content between them. Stretches that `next` leaves alone keep this edit's
    /// changes; stretches that it replaces disappear from this edit's new text or from the base.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut out = Spans::default();
        let mut middle = MiddleWalk::new(self);
        for span in &next.spans {
            middle.keep_to(span.range.start, &mut out);
            let start = middle.base_at();
            middle.drop_to(span.range.end);
            out.push(start..middle.base_at(), &span.new, span.hunk);
        }
        middle.keep_to(next.base_len, &mut out);
        let joined = self.joined || next.joined || out.joined || middle.swallowed;
        let compared = self.compared || next.compared;
        Self {
            base: self.base,
            base_len: self.base_len,
            encoding: next.encoding,
            spans: out.spans,
            joined,
            compared,
        }
    }
}

/// A walk over the content between two edits: stretches of the base, and the first edit's new texts.
struct MiddleWalk<'a> {
    edit: &'a Edit,
    /// The index of the next span.
    span: usize,
    /// How many bytes of its new text were passed; `None` before the span.
    inside: Option<usize>,
    base: usize,
    middle: usize,
    /// Whether a change of the first edit was dropped.
    swallowed: bool,
}

impl<'a> MiddleWalk<'a> {
    fn new(edit: &'a Edit) -> Self {
        Self { edit, span: 0, inside: None, base: 0, middle: 0, swallowed: false }
    }

    fn base_at(&self) -> usize {
        self.base
    }

    /// Advances to `target`, and keeps the first edit's changes.
    fn keep_to(&mut self, target: usize, out: &mut Spans) {
        self.walk(target, Some(out));
    }

    /// Advances to `target`, and drops the first edit's changes.
    fn drop_to(&mut self, target: usize) {
        self.walk(target, None);
    }

    fn walk(&mut self, target: usize, mut out: Option<&mut Spans>) {
        loop {
            let Some(span) = self.edit.spans.get(self.span) else {
                self.base += target - self.middle;
                self.middle = target;
                return;
            };
            if self.inside.is_none() {
                // In the base stretch before the span.
                let step = (span.range.start - self.base).min(target - self.middle);
                self.base += step;
                self.middle += step;
                if self.base < span.range.start || (self.middle == target && out.is_none()) {
                    return;
                }
                // The span's removal takes no bytes of the middle; it belongs to the walk that reaches it first.
                if let Some(out) = out.as_deref_mut() {
                    out.push(span.range.clone(), b"", span.hunk);
                }
                self.base = span.range.end;
                self.inside = Some(0);
            }
            self.swallowed |= out.is_none();
            let passed = self.inside.unwrap_or(0);
            let step = (span.new.len() - passed).min(target - self.middle);
            if let Some(out) = out.as_deref_mut() {
                out.push(self.base..self.base, &span.new[passed..passed + step], span.hunk);
            }
            self.middle += step;
            self.inside = Some(passed + step);
            if passed + step < span.new.len() {
                return;
            }
            self.span += 1;
            self.inside = None;
            if self.middle == target && out.is_none() {
                return;
            }
        }
    }
}

/// A list of spans that merges a new span into the last one if they touch.
#[derive(Default)]
struct Spans {
    spans: Vec<Span>,
    joined: bool,
}

impl Spans {
    fn push(&mut self, range: Range<usize>, new: &[u8], hunk: usize) {
        if range.is_empty() && new.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.range.end >= range.start => {
                last.range.end = last.range.end.max(range.end);
                last.new.extend_from_slice(new);
                self.joined |= last.hunk != hunk;
            }
            _ => self.spans.push(Span { range, new: new.to_vec(), hunk }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit::EditBuilder;
    use crate::encoding::Encoding;
    use crate::text::Text;
    use crate::version::Version;

    #[test]
    fn hunks_that_one_edit_joins_cannot_be_told_apart() {
        let first = Text::new(b"a\nb\nc\n".to_vec()).unwrap();
        let mut one = EditBuilder::new(&first);
        one.replace(1, 0..2, b"A\n".to_vec());
        let one = one.finish().unwrap();
        let middle = Text::new(one.apply(first.bytes())).unwrap();
        let mut two = EditBuilder::new(&middle);
        two.replace(2, 2..4, b"B\n".to_vec());
        let both = one.then(&two.finish().unwrap());
        assert_eq!(both.apply(first.bytes()), b"A\nB\nc\n");
        assert!(!both.is_separable());
    }

    #[test]
    fn a_hunk_that_a_later_one_swallows_cannot_be_taken_alone() {
        let first = Text::new(b"a\nfoo\nc\n".to_vec()).unwrap();
        let mut one = EditBuilder::new(&first);
        one.replace(1, 2..5, b"bar".to_vec());
        let one = one.finish().unwrap();
        let middle = Text::new(one.apply(first.bytes())).unwrap();
        let mut two = EditBuilder::new(&middle);
        two.replace(2, 0..8, b"Z\n".to_vec());
        let both = one.then(&two.finish().unwrap());
        assert_eq!(both.apply(first.bytes()), b"Z\n");
        assert!(!both.is_separable());
    }

    /// A random edit of `base`, by cutting it at sorted positions; spans may touch each other and the ends.
    fn edit_of(base: &[u8], cuts: &[(u8, u8, Vec<u8>)]) -> Edit {
        let mut at = 0;
        let mut spans = Vec::new();
        for (skip, take, new) in cuts {
            let start = (at + *skip as usize % 7).min(base.len());
            let end = (start + *take as usize % 5).min(base.len());
            spans.push(Span { range: start..end, new: new.clone(), hunk: 1 });
            at = end;
        }
        let encoding = Encoding::UTF_8;
        Edit {
            base: Version::hash(base),
            base_len: base.len(),
            encoding,
            spans,
            joined: false,
            compared: false,
        }
    }

    proptest! {
        #[test]
        fn one_edit_after_another_is_one_edit(
            base in proptest::collection::vec(any::<u8>(), 0..60),
            first in proptest::collection::vec((any::<u8>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..6)), 0..6),
            second in proptest::collection::vec((any::<u8>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..6)), 0..6),
        ) {
            let one = edit_of(&base, &first);
            let middle = one.apply(&base);
            let two = edit_of(&middle, &second);
            let expected = two.apply(&middle);
            let both = one.then(&two);
            prop_assert_eq!(both.apply(&base), expected);
            prop_assert!(both.spans().windows(2).all(|w| w[0].range.end < w[1].range.start));
        }
    }
}
