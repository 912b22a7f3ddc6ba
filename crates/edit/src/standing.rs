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
        let made = changes(before, after);
        let since = changes(after, now);
        if !made.is_empty() && made.iter().all(|change| is_intact(&change.new, &since)) {
            return Self::Stands;
        }
        let from_before = changes(before, now);
        if made.iter().all(|change| is_intact(&change.old, &from_before)) {
            return Self::IsGone;
        }
        Self::Unclear
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

/// What differs between two texts. Within changed lines, the bytes that both share at their ends are no change.
fn changes(old: &Text, new: &Text) -> Vec<Change> {
    let (old_bytes, new_bytes) = (old.bytes(), new.bytes());
    let (mut came, mut went) = (0, 0);
    let mut changes = Vec::new();
    for span in rewrite_between(old, new).spans() {
        let new_start = span.range.start + came - went;
        let (gone, put) = (&old_bytes[span.range.clone()], &new_bytes[new_start..new_start + span.new.len()]);
        let head = gone.iter().zip(put).take_while(|(a, b)| a == b).count();
        let (gone_rest, put_rest) = (&gone[head..], &put[head..]);
        let tail = gone_rest.iter().rev().zip(put_rest.iter().rev()).take_while(|(a, b)| a == b).count();
        changes.push(Change {
            old: span.range.start + head..span.range.end - tail,
            new: new_start + head..new_start + put.len() - tail,
        });
        came += span.new.len();
        went += span.range.len();
    }
    changes
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
            above in "([abc]{0,2}\n){0,3}",
        ) {
            prop_assume!(before != after);
            prop_assert_eq!(standing(&before, &after, &after), Standing::Stands);
            prop_assert_eq!(standing(&before, &after, &before), Standing::IsGone);
            let below = |text: &str| format!("{text}end\n");
            let now = format!("{above}start\n{}", below(&after));
            let (before, after) = (format!("start\n{}", below(&before)), format!("start\n{}", below(&after)));
            prop_assert_eq!(standing(&before, &after, &now), Standing::Stands);
        }
    }
}
