//! Whether what an edit did to a text still stands in a later text.
//!
//! A call that is sent again must not edit twice, and an edit that was taken back may be made again. Both are decided by
//! content alone, not by who changed what: the changes of the edit are looked for in the later text, and so is what was
//! there before them. Where neither is there whole, nobody can tell, and the answer is [`Standing::Unclear`].

use alloc::vec::Vec;
use core::ops::Range;

use crate::plan::rewrite_between;
use crate::text::Text;

/// What has become of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Everything that it put there is still there.
    Stands,
    /// At each of its places there is again what was there before it.
    IsGone,
    /// Neither: some of its places were changed since.
    Unclear,
}

impl Standing {
    /// Judges the edit that made `after` of `before` by what the file holds `now`.
    #[must_use]
    pub fn of_edit(before: &Text, after: &Text, now: &Text) -> Self {
        // Two comparisons need not choose the same lines; where it is the same content, none is needed.
        if now.bytes() == after.bytes() && before.bytes() != after.bytes() {
            return Self::Stands;
        }
        if now.bytes() == before.bytes() {
            return Self::IsGone;
        }
        let made = changes(before, after);
        let (since, from_before) = (changes(after, now), changes(before, now));
        let stands = !made.is_empty() && made.iter().all(|change| is_intact(&change.new, &since));
        let is_gone = made.iter().all(|change| is_intact(&change.old, &from_before));
        match (stands, is_gone) {
            (true, false) => Self::Stands,
            (false, true) => Self::IsGone,
            // Where a text recurs, it can look like both.
            _ => Self::Unclear,
        }
    }

    /// Judges several files of one edit together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Unclear }
    }
}

/// A stretch of an old text, and the stretch of a new one that took its place.
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// What differs between two texts. Within changed lines, the words that both share at their ends are no change.
fn changes(old: &Text, new: &Text) -> Vec<Change> {
    let (old_bytes, new_bytes) = (old.bytes(), new.bytes());
    let rewrite = rewrite_between(old, new);
    let (mut came, mut went) = (0, 0);
    let mut changes = Vec::new();
    for (number, span) in rewrite.spans().iter().enumerate() {
        let new_start = span.range.start + came - went;
        let whole = Change { old: span.range.clone(), new: new_start..new_start + span.new.len() };
        let next = rewrite.spans().get(number + 1).map_or(old_bytes.len(), |next| next.range.start);
        changes.push(whole.narrowed(old_bytes, new_bytes).slid(old_bytes, new_bytes, next));
        came += span.new.len();
        went += span.range.len();
    }
    changes
}

impl Change {
    /// Leaves out the words that both sides share at their ends.
    fn narrowed(self, old: &[u8], new: &[u8]) -> Self {
        let (gone, put) = (&old[self.old.clone()], &new[self.new.clone()]);
        let head = gone.iter().zip(put).take_while(|(a, b)| a == b).count();
        let head = (0..=head).rev().find(|at| !cuts_word(gone, *at) && !cuts_word(put, *at)).unwrap_or(0);
        let (gone_rest, put_rest) = (&gone[head..], &put[head..]);
        let tail = gone_rest.iter().rev().zip(put_rest.iter().rev()).take_while(|(a, b)| a == b).count();
        let cuts = |tail: usize| cuts_word(gone, gone.len() - tail) || cuts_word(put, put.len() - tail);
        let tail = (0..=tail).rev().find(|tail| !cuts(*tail)).unwrap_or(0);
        Self {
            old: self.old.start + head..self.old.end - tail,
            new: self.new.start + head..self.new.end - tail,
        }
    }

    /// Moves an insertion or deletion down as far as it means the same, at most to `limit` of the old text: among equal
    /// lines, all comparisons then choose the same one.
    fn slid(mut self, old: &[u8], new: &[u8], limit: usize) -> Self {
        let is_same = |change: &Self| match (change.old.is_empty(), change.new.is_empty()) {
            (true, false) => old[change.old.end] == new[change.new.start],
            (false, true) => old[change.old.end] == old[change.old.start],
            _ => false,
        };
        while self.old.end < limit && is_same(&self) {
            self =
                Self { old: self.old.start + 1..self.old.end + 1, new: self.new.start + 1..self.new.end + 1 };
        }
        self
    }
}

/// Whether this place is within a word, or within a character.
fn cuts_word(text: &[u8], at: usize) -> bool {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    at > 0 && at < text.len() && is_in_word(&text[at - 1]) && is_in_word(&text[at])
}

/// Whether none of these changes touches this stretch of their old text. A place that holds nothing is touched by whatever
/// comes or goes right beside it, too.
fn is_intact(range: &Range<usize>, changes: &[Change]) -> bool {
    changes.iter().all(|Change { old, .. }| match range.is_empty() {
        true => old.end < range.start || range.start < old.start,
        false => old.end <= range.start || range.end <= old.start,
    })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    fn standing(before: &str, after: &str, now: &str) -> Standing {
        let text = |text: &str| Text::new(text.as_bytes().to_vec()).unwrap();
        Standing::of_edit(&text(before), &text(after), &text(now))
    }

    #[test]
    fn what_was_put_there_stands_whatever_is_changed_elsewhere() {
        for now in ["x = 11\n", "a\nx = 11\n", "x = 11\nb\n", "x = 11 # c\n", "  x = 11\n"] {
            assert_eq!(standing("x = 1\n", "x = 11\n", now), Standing::Stands, "{now:?}");
        }
        assert_eq!(standing("a\nb\nc\nd\n", "a\nb\nd\n", "A\nb\nd\ne\n"), Standing::Stands);
        assert_eq!(standing("", "new\n", "new\nmore\n"), Standing::Stands);
    }

    #[test]
    fn what_was_taken_back_is_gone() {
        for now in ["x = 1\n", "a\nx = 1\n", "y\nx = 1\nb\n"] {
            assert_eq!(standing("x = 1\n", "x = 11\n", now), Standing::IsGone, "{now:?}");
        }
        assert_eq!(standing("a\nb\nc\nd\n", "a\nb\nd\n", "A\nb\nc\nd\ne\n"), Standing::IsGone);
    }

    #[test]
    fn what_was_changed_again_is_unclear() {
        assert_eq!(standing("x = 1\n", "x = 11\n", "x = 12\n"), Standing::Unclear);
        assert_eq!(standing("a\nb\nc\n", "A\nb\nC\n", "a\nb\nC\n"), Standing::Unclear);
        assert_eq!(standing("a\nb\nc\n", "a\nc\n", "a\nx\nc\n"), Standing::Unclear);
        assert_eq!(standing("x = 1\n", "x = 11\n", ""), Standing::Unclear);
        // `z a q` may have come of either.
        assert_eq!(standing("p a q\n", "p a a q\n", "z a q\n"), Standing::Unclear);
    }

    #[test]
    fn several_files_are_judged_together() {
        use Standing::{IsGone, Stands, Unclear};
        assert_eq!((Stands.and(Stands), IsGone.and(IsGone)), (Stands, IsGone));
        assert_eq!((Stands.and(IsGone), Unclear.and(Stands)), (Unclear, Unclear));
    }

    proptest! {
        #[test]
        fn an_edit_that_nobody_touched_stands_and_one_that_was_taken_back_is_gone(
            before in "([abc]{0,2}\n){0,8}",
            after in "([abc]{0,2}\n){0,8}",
            above in "([de]{1,2}\n){0,3}",
        ) {
            prop_assume!(before != after);
            prop_assert_eq!(standing(&before, &after, &after), Standing::Stands);
            prop_assert_eq!(standing(&before, &after, &before), Standing::IsGone);
            // Below other lines, what recurs may look like both, but never like the other alone.
            let framed = |text: &str| format!("start\n{text}end\n");
            let (before, after) = (framed(&before), framed(&after));
            let below = |text: &str| standing(&before, &after, &format!("{above}{text}"));
            prop_assert_ne!(below(&after), Standing::IsGone);
            prop_assert_ne!(below(&before), Standing::Stands);
        }
    }
}
