//! Whether a change that a server proposes is one of a renaming, and does nothing else.
//!
//! A server that counts columns in other units, or answers for another text, names places that are a little off. So a
//! change is judged by the words that it touches, before and after: a name becomes the new one, perhaps with what some
//! languages write beside it (`old as new`, `old: new`), and every other word stays.

use std::ops::Range;

use emend_lsp::TextChange;

use super::symbol_address::is_of_word;

/// What a renaming may write between the old name and the new one: `{ old }` becomes `{ old: new }` in JavaScript.
const SIGNS: &str = " :=#'@";
/// The words that it may write or take away there: `import { old as new }`, and Rust's `r#type`.
const WORDS: [&str; 2] = ["as", "r"];

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Renames,
    Other,
}

/// Returns the words that a range of a text touches.
pub(super) fn touched(text: &str, range: &Range<usize>) -> Range<usize> {
    let before = text[..range.start].trim_end_matches(is_of_word).len();
    let after = text.len() - text[range.end..].trim_start_matches(is_of_word).len();
    before..after
}

/// Returns what a change does that shall give a name another one.
pub(super) fn effect(text: &str, change: &TextChange, name: &str, new_name: &str) -> Effect {
    let TextChange { range, new } = change;
    let around = touched(text, range);
    let old = &text[around.clone()];
    let new = format!("{}{new}{}", &text[around.start..range.start], &text[range.end..around.end]);
    if old == new {
        return Effect::Nothing;
    }
    // The new name may have a sign before it, which the old one has too.
    let bare = new_name.rsplit(|sign| !is_of_word(sign)).next().unwrap_or(new_name);
    let (old, new): (Vec<&str>, Vec<&str>) = (tokens(old).collect(), tokens(&new).collect());
    let is_replaced = |(old, new): (&&str, &&str)| old == new || (*old == name && *new == bare);
    if old.len() == new.len() && old.iter().zip(&new).all(is_replaced) {
        return Effect::Renames;
    }
    let same_start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (gone, came) = (&old_rest[..old_rest.len() - same_end], &new_rest[..new_rest.len() - same_end]);
    let is_sign = |token: &str| token.chars().all(|sign| SIGNS.contains(sign));
    let is_beside =
        |token: &str, names: &[&str]| is_sign(token) || WORDS.contains(&token) || names.contains(&token);
    let is_renaming = old.contains(&name)
        && came.contains(&bare)
        && gone.iter().all(|token| is_beside(token, &[name]))
        && came.iter().all(|token| is_beside(token, &[name, bare]));
    if is_renaming { Effect::Renames } else { Effect::Other }
}

/// Returns the words of a text, and each character between them.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_of_word(first) {
            rest.find(|sign| !is_of_word(sign)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, old: &str, nth: usize, new: &str) -> Effect {
        let (start, _) = text.match_indices(old).nth(nth).expect("it stands there");
        effect(text, &TextChange { range: start..start + old.len(), new: new.into() }, "old", "new")
    }

    #[test]
    fn a_name_becomes_another_and_nothing_else_changes() {
        for (text, old, new) in [
            ("x old(y)", "old", "new"),
            ("x old(y)", "x old(y)", "x new(y)"),
            ("old\nb old\n", "old\nb old\n", "new\nb new\n"),
            ("{ old }", "old", "old: new"),
            ("{ old }", "old", "new: old"),
            ("import { old } from 'a'", "old", "old as new"),
            ("import { old } from 'a'", "old", "new as old"),
            ("this.#old", "#old", "#new"),
            ("import './old.js'", "./old", "./new"),
            ("r#old + 1", "r#old", "new"),
        ] {
            assert_eq!(of(text, old, 0, new), Effect::Renames, "{text}: {old} to {new}");
        }
        let inserted = TextChange { range: 2..2, new: "new: ".into() };
        assert_eq!(effect("{ old }", &inserted, "old", "new"), Effect::Renames);
        assert_eq!(of("old two", "old", 0, "old"), Effect::Nothing);
    }

    #[test]
    fn a_place_that_is_a_little_off_or_another_text_is_no_renaming() {
        for (text, old, new) in [
            // Columns in other units, or from one.
            ("é old x", "ld ", "new"),
            ("+ old(x)", " ol", "new"),
            ("x old(y)", "ld(", "new"),
            ("a old  old", "d  ", "new"),
            // Other words than the name.
            ("x old(y)", "old", "evil(); import os\n"),
            ("x old(y)\n", "x old(y)\n", ""),
            ("x old(y)\n", "x old(y)\n", "all gone\n"),
            ("x other(y)", "other", "new"),
            ("x older(y)", "old", "new"),
            ("x old(y)", "old", "newer"),
        ] {
            assert_eq!(of(text, old, 0, new), Effect::Other, "{text}: {old} to {new}");
        }
    }
}
