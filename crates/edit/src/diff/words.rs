//! The words that differ between two lines, for whoever shows a diff in colours.

use alloc::vec::Vec;

use similar::DiffTag;

use crate::compare::compare as compare_lists;

/// Longer lines are not compared.
const LONGEST: usize = 2_000;

/// Parts of a line, and whether each differs from the other line.
pub type Parts<'a> = Vec<(bool, &'a str)>;

/// Compares two lines word by word; `None` if they are too different for that to show anything.
pub fn compare<'a>(old: &'a str, new: &'a str) -> Option<(Parts<'a>, Parts<'a>)> {
    if old.len().max(new.len()) > LONGEST || old == new {
        return None;
    }
    let (old_words, new_words) = (words(old), words(new));
    let (mut before, mut after) = (Parts::new(), Parts::new());
    let (mut old_at, mut new_at, mut same) = (0, 0, 0);
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    for part in compare_lists(&old_words, &new_words) {
        let differs = part.tag() != DiffTag::Equal;
        let (old_end, new_end) =
            (old_at + length(&old_words[part.old_range()]), new_at + length(&new_words[part.new_range()]));
        if !differs {
            same += old[old_at..old_end].trim().len();
        }
        if old_end > old_at {
            before.push((differs, &old[old_at..old_end]));
        }
        if new_end > new_at {
            after.push((differs, &new[new_at..new_end]));
        }
        (old_at, new_at) = (old_end, new_end);
    }
    let longest = old.trim().len().max(new.trim().len());
    (same * 3 >= longest && same > 0).then_some((before, after))
}

/// Splits a line into words, white space and single other characters.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        if last.is_some_and(|last| last != kind(c) || last == 2) {
            words.push(&line[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_differ_are_told_apart() {
        let (old, new) = compare("let x = old(1);", "let x = new(1, é);").unwrap();
        assert_eq!(old, [(false, "let x = "), (true, "old"), (false, "(1"), (false, ");")]);
        assert_eq!(new, [(false, "let x = "), (true, "new"), (false, "(1"), (true, ", é"), (false, ");")]);
        for (old, new) in [("one", "two"), ("same", "same"), ("", "new"), ("a long line of words", "a b")] {
            assert_eq!(compare(old, new), None, "{old}");
        }
    }
}
