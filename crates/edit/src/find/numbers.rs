//! The layer `line-numbers`: text copied together with the line numbers with which it was shown.
//!
//! Every line that must be in the file has a prefix of the same form (`  12<tab>`, `12|`, `12:`), and the numbers are
//! consecutive. Either all added lines are numbered or none is: a number that cannot be that of its line is content, and
//! where it might be either, the layer finds nothing. The text without prefixes is searched for by the stricter layers. One
//! or two lines, such as `3: x`, may be content: then they must stand at that very line.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::block::{Block, BlockForm, add_rewritten, is_blank};
use super::{Budget, Candidates, Haystack, Interpretation, Needle};
use crate::patch::Line;
use crate::problem::Kind;

/// The separators between the number and the text, longer forms first.
const SEPARATORS: &[&str] = &["\t", "→", " | ", "| ", "|", ": ", ":"];

pub(super) fn line_numbers(
    h: &Haystack<'_>,
    block: &Block<'_>,
    most: usize,
    budget: &Budget,
) -> Result<Candidates, Kind> {
    if block.old().iter().all(|line| is_blank(line)) {
        return Ok(vec![]);
    }
    let mut found: Candidates = Vec::new();
    for separator in SEPARATORS {
        let Some((lines, first, new_too)) = without_numbers(block, separator) else { continue };
        let alone = block.old().len() < 3;
        let read = Needle::Block(&Block::new(&lines, block.starts, block.form, &[]));
        for layer in super::LAYERS.iter().copied().filter(|layer| layer.matches_without_numbers(new_too)) {
            let mut places = layer.candidates(h, &read, most, budget)?;
            if let [place] = &places[..]
                && alone
                && h.line_number(place.range.start) != first
            {
                places.clear();
            }
            if !places.is_empty() {
                add_rewritten(&mut found, places, &Interpretation::Rewritten(lines));
                break;
            }
        }
    }
    found.truncate(most);
    Ok(found)
}

/// Returns the request without its line numbers, the first of these, and whether the added lines had some.
fn without_numbers(block: &Block<'_>, separator: &str) -> Option<(Vec<Line>, usize, bool)> {
    let old = block.lines.iter().filter_map(Line::before).map(|line| split(line, separator));
    let (numbers, old): (Vec<usize>, Vec<&str>) = old.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let (&first, &last) = numbers.first().zip(numbers.last())?;
    if !numbers.is_sorted_by(|a, b| *a == b - 1) {
        return None;
    }
    // A diff marks each line; in other forms, the numbers themselves made equal lines differ.
    let is_diff = block.form == BlockForm::Diff;
    let new: Vec<&str> =
        if is_diff { block.added().collect() } else { block.lines.iter().filter_map(Line::after).collect() };
    let telling: Vec<&str> = new.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let new_too = telling.is_empty() || are_numbered(&telling, separator, &(first..=last))?;
    let plain = |line| split(line, separator).filter(|_| new_too).map_or(line, |(_, rest)| rest);
    let new: Vec<&str> = new.into_iter().map(plain).collect();
    if !is_diff {
        return Some((Line::between(&old, &new), first, new_too));
    }
    let (mut old, mut new) = (old.into_iter().map(String::from), new.into_iter().map(String::from));
    let lines = block.map(|line| match line {
        Line::Added(_) => new.next().map(Line::Added),
        Line::Removed(_) => old.next().map(Line::Removed),
        Line::Context(_) | Line::Bare(_) => old.next().map(Line::Context),
    })?;
    Some((lines, first, new_too))
}

/// Returns whether new lines, none of them blank, have numbers; `None` if that is not clear. Numbers count up from those of
/// the old lines. Of a line that is nothing but a number, only the others tell what it is.
fn are_numbered(new: &[&str], separator: &str, old: &RangeInclusive<usize>) -> Option<bool> {
    let last = old.end() + new.len() - 1;
    let can_be = |number: usize| (*old.start()..=last).contains(&number);
    let numbers: Vec<Option<usize>> =
        new.iter().map(|line| split(line, separator).map(|(number, _)| number)).collect();
    if !new.iter().any(|line| is_separated(line, separator)) {
        return (!numbers.iter().flatten().any(|number| can_be(*number))).then_some(false);
    }
    let numbers: Vec<usize> = numbers.into_iter().collect::<Option<_>>()?;
    let count_up = numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|number| can_be(*number));
    // What a bar or an arrow parts from the text, line after line, is hardly a column of the file.
    let elsewhere = numbers.len() > 1
        && separator.contains(['|', '→'])
        && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    (count_up || elsewhere).then_some(true)
}

/// Returns whether a line has a number and, visibly, the separator.
fn is_separated(line: &str, separator: &str) -> bool {
    let after = line.trim_start().trim_start_matches(|digit: char| digit.is_ascii_digit());
    let visible = separator.trim_end();
    split(line, separator).is_some()
        && (after.starts_with(separator) || !visible.is_empty() && after.starts_with(visible))
}

/// Splits a line into its number and its text. A blank line may have lost the white space of its separator.
fn split<'l>(line: &'l str, separator: &str) -> Option<(usize, &'l str)> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line[..digits].parse().ok().filter(|&number| number > 0)?;
    let after = &line[digits..];
    match after.strip_prefix(separator) {
        Some(rest) => Some((number, rest)),
        None if after.trim_end() == separator.trim_end() => Some((number, "")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, refused};

    const FILE: &str = "fn a() {\n    b();\n\n    c();\n}\n";

    #[test]
    fn prefixes_on_every_line_are_taken_off() {
        for request in [
            "-     2\t    b();\n      3\t\n-     4\t    c();\n+     2\t    d();\n",
            "-2|    b();\n 3|\n-4|    c();\n+    d();\n",
            "-2:     b();\n 3:\n-4:     c();\n+2:     d();\n",
        ] {
            let (layer, new) = read(FILE, request).unwrap_or_else(|| panic!("{request}"));
            assert_eq!((layer, new.trim()), ("line-numbers", "d();"), "{request}");
        }
    }

    #[test]
    fn numbers_that_do_not_count_up_or_are_not_everywhere_are_content() {
        assert!(refused(FILE, "-2\t    b();\n 4\t\n-5\t    c();\n+x\n"));
        assert!(refused(FILE, "-2\t    b();\n \n-4\t    c();\n+x\n"));
        assert!(refused(FILE, "-2\t    b();\n+2\t    d();\n+    e();\n"));
    }

    #[test]
    fn new_lines_that_are_numbers_are_content_unless_they_may_be_those_of_their_lines() {
        let file = "[server]\n8080\n20\nend\n";
        for (request, expected) in [
            ("-     2\t8080\n+9090\n", "9090"),
            ("-2\t8080\n-3\t20\n+10\n+25\n", "10\n25"),
            ("-     2\t8080\n+     2\t9090\n", "9090"),
            ("-2\t8080\n-3\t20\n+2\t10\n+3\t25\n", "10\n25"),
            ("-2|8080\n+9090\n", "9090"),
        ] {
            let (layer, new) = read(file, request).unwrap_or_else(|| panic!("{request}"));
            assert_eq!((layer, new.trim()), ("line-numbers", expected), "{request}");
        }
        // It may be the number of a blank line, or all that the line shall say.
        assert!(refused(file, "-     2\t8080\n+2\n"));
        // A column of the file's own.
        let table = "name\n7\tapple\nend\n";
        assert!(refused(table, "-     2\t7\tapple\n+8\tpear\n"));
        assert!(
            read(table, "-     2\t7\tapple\n+     2\t8\tpear\n")
                .is_some_and(|(_, new)| new.trim() == "8\tpear")
        );
        // With a bar, several lines may be numbered from anywhere.
        assert!(read(FILE, "-2|    b();\n 3|\n-4|    c();\n+20|    d();\n+21|    e();\n").is_some());
        assert!(refused(FILE, "-2\t    b();\n 3\t\n-4\t    c();\n+20\t    d();\n+21\t    e();\n"));
        // Numbers that go on where others ended, and one of a blank line.
        assert!(read(FILE, "-4\t    c();\n+4\t    d();\n+5\n+6\t    e();\n").is_some());
        assert!(refused(FILE, "-4\t    c();\n+5\t    d();\n+4\t    e();\n"));
    }

    #[test]
    fn one_or_two_numbered_lines_must_stand_at_their_numbers() {
        assert!(read(FILE, "-2:     b();\n+2:     d();\n").is_some());
        assert!(refused(FILE, "-3:     b();\n+3:     d();\n"));
        assert!(refused("x\ny\none\ntwo\n", "-1: one\n-2: two\n+1: uno\n+2: dos\n"));
        assert!(refused("7\tapple pie\napple\n", "-3\tapple\n+3\tpear\n"));
    }

    #[test]
    fn the_indentation_may_differ_only_if_the_new_text_was_numbered_too() {
        assert!(read(FILE, "-2\tb();\n+2\td();\n").is_some());
        assert!(refused(FILE, "-2\tb();\n+d();\n"));
    }
}
