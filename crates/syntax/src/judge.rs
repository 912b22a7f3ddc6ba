//! Checks of edit after edit, which reuse the tree of the previous text.
//!
//! Only a good result is taken from an incremental parse. Where it shows an error, the text is parsed again from the
//! start.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

use tree_sitter::{InputEdit, Point, Tree};

use crate::{Language, Limits, Verdict, broken, fault, parse};

/// How many files are cached.
const FILES: usize = 16;
/// How many bytes of text are cached in all. The trees take some ten times as much.
const BYTES: usize = 256 * 1024;

/// A file whose syntax was sound.
struct Whole {
    language: Language,
    text: Vec<u8>,
    tree: Tree,
}

/// Checks edits, and caches some files whose syntax was sound.
#[derive(Default)]
pub struct Judge(VecDeque<Whole>);

impl Judge {
    /// Returns whether an edit broke a file, as [`broken`] does, and mostly with much less work. Calls `doubt` before
    /// the full parse of a file that may be broken, which takes longer.
    pub fn broken(
        &mut self,
        language: Language,
        before: Option<&[u8]>,
        after: Vec<u8>,
        limits: &Limits,
        doubt: impl FnOnce(),
    ) -> Verdict {
        let old = before.and_then(|before| self.take(language, before));
        let (tree, changed) = match old {
            Some(mut old) => {
                let edit = difference(&old.text, &after);
                old.tree.edit(&edit);
                let tree = parse::tree(language, &after, limits, Some(&old.tree));
                let changed = tree.as_ref().map(|tree| changed(&old.tree, tree, &edit));
                (tree, changed)
            }
            None => (parse::tree(language, &after, limits, None), None),
        };
        match tree {
            Some(tree) if fault::is_whole(language, &tree, &after, changed.as_deref()) => {
                self.keep(Whole { language, text: after, tree });
                Verdict::Fine
            }
            Some(_) => {
                doubt();
                broken(language, before, &after, limits)
            }
            None => Verdict::Unknown,
        }
    }

    fn take(&mut self, language: Language, text: &[u8]) -> Option<Whole> {
        let at = self.0.iter().position(|whole| whole.language == language && whole.text == text)?;
        self.0.remove(at)
    }

    fn keep(&mut self, whole: Whole) {
        self.0.push_back(whole);
        let bytes = |kept: &VecDeque<Whole>| kept.iter().map(|whole| whole.text.len()).sum::<usize>();
        while self.0.len() > FILES || bytes(&self.0) > BYTES {
            self.0.pop_front();
        }
    }
}

/// Returns the parts of the new text that an edit changed, or that have another place in the tree by it.
fn changed(old: &Tree, new: &Tree, edit: &InputEdit) -> Vec<Range<usize>> {
    let moved = old.changed_ranges(new).map(|range| range.start_byte..range.end_byte);
    iter::once(edit.start_byte..edit.new_end_byte).chain(moved).collect()
}

/// Returns the change between the common prefix and the common suffix of two texts.
fn difference(old: &[u8], new: &[u8]) -> InputEdit {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = (&old[start..], &new[start..]);
    let end = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    InputEdit {
        start_byte: start,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point(old, start),
        old_end_position: point(old, old_end),
        new_end_position: point(new, new_end),
    }
}

fn point(text: &[u8], at: usize) -> Point {
    let before = &text[..at];
    let column = at - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    Point { row: memchr::memchr_iter(b'\n', before).count(), column }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::PATIENT;

    #[test]
    fn it_judges_as_if_it_had_seen_nothing_before() {
        let texts = [
            "def f():\n    return 1\n",
            "def f():\n    return [1, 2]\n",
            "def f():\n    return [1, 2\n",
            "def f():\n    return [1, 2]\n\n\ndef g():\n    pass\n",
            "def f():\n  return [1, 2]\n\n\ndef g():\n    pass\n",
        ];
        let mut judge = Judge::default();
        let limits = PATIENT;
        for pair in texts.windows(2).cycle().take(12) {
            let (before, after) = (pair[0].as_bytes(), pair[1].as_bytes());
            let verdict = judge.broken(Language::Python, Some(before), after.to_vec(), &limits, || {});
            assert_eq!(verdict, broken(Language::Python, Some(before), after, &limits));
        }
    }

    #[test]
    fn it_remembers_no_more_than_it_may() {
        let mut judge = Judge::default();
        for number in 0..100 {
            let text = format!("let a{number} = 1;\n").repeat(1_000);
            judge.broken(Language::JavaScript, None, text.into_bytes(), &PATIENT, || {});
        }
        assert!(
            judge.0.len() <= FILES && judge.0.iter().map(|whole| whole.text.len()).sum::<usize>() <= BYTES
        );
        let huge = "a();\n".repeat(BYTES);
        judge.broken(
            Language::JavaScript,
            None,
            huge.into_bytes(),
            &Limits { bytes: 1 << 30, ..PATIENT },
            || {},
        );
        assert!(judge.0.iter().map(|whole| whole.text.len()).sum::<usize>() <= BYTES);
    }

    proptest! {
        /// Whatever an edit does to the indentation of Python, looking at what it changed finds what looking at all finds.
        #[test]
        fn a_changed_part_is_judged_as_the_whole_is(
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, 0..4_usize, 0..6_usize), 1..8),
        ) {
            const LINES: [&str; 6] = ["x = 1", "if x:", "else:", "def f():", "pass", "# note"];
            let line = |depth: usize, kind: usize| format!("{}{}\n", "  ".repeat(depth), LINES[kind]);
            let sound = [(0, 3), (1, 1), (2, 0), (1, 2), (2, 4), (1, 0), (0, 5), (0, 1), (1, 3), (2, 0), (0, 2), (1, 4)];
            let mut lines: Vec<String> = sound.map(|(depth, kind)| line(depth, kind)).into();
            let mut judge = Judge::default();
            let _ = judge.broken(Language::Python, None, lines.concat().into_bytes(), &PATIENT, || {});
            for (at, what, depth, kind) in edits {
                let before = lines.clone();
                let at = at.index(lines.len());
                let new = (what > 0).then(|| line(depth, kind));
                lines.splice(at..at + usize::from(what < 2), new);
                let (old, new) = (before.concat(), lines.concat());
                let verdict = judge.broken(Language::Python, Some(old.as_bytes()), new.clone().into(), &PATIENT, || {});
                let alone = broken(Language::Python, Some(old.as_bytes()), new.as_bytes(), &PATIENT);
                if matches!(verdict, Verdict::Broken { .. }) || lines.is_empty() {
                    lines = before;
                }
                prop_assert_eq!(verdict, alone, "{:?} -> {:?}", old, new);
            }
        }

        #[test]
        fn a_row_of_edits_gets_no_alarm_that_one_alone_would_not_get(
            texts in prop::collection::vec("[a(){};=\n \"]{0,40}", 1..8),
        ) {
            let mut judge = Judge::default();
            let limits = PATIENT;
            let mut before: Option<&String> = None;
            for after in &texts {
                let bytes = before.map(String::as_bytes);
                let verdict = judge.broken(Language::JavaScript, bytes, after.clone().into_bytes(), &limits, || {});
                if matches!(verdict, Verdict::Broken { .. }) {
                    prop_assert_eq!(verdict, broken(Language::JavaScript, bytes, after.as_bytes(), &limits));
                }
                before = Some(after);
            }
        }
    }
}
