//! When nothing matches: the lines of the file that come nearest, so that one more call mends the first.
//!
//! Lines are compared with their outer white space removed. Each line of the file that equals one of the
//! request votes for the place that this would give the whole block; rare lines count more. The place with
//! the most votes is shown, with the first difference named.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Haystack;
use crate::problem::{Near, Relation};

/// A file of at most this many lines is shown whole when nothing in it is near.
const SHOWN_WHOLE: usize = 60;
/// How many of the first lines are shown of a longer one.
const SHOWN_HEAD: usize = 20;
/// How many lines of a near place are shown.
const SHOWN_NEAR: usize = 50;
/// Lines of the request that take part in the vote; a longer request is known by its first ones.
const VOTING: usize = 400;
/// A line that recurs more often in the file says nothing about the place.
const COMMON: usize = 2_000;

/// Longer lines are shown by their beginning.
const SHOWN_LINE: usize = 400;

/// Shows nothing but the version: enough was shown of this file already.
#[must_use]
pub fn nothing(haystack: &Haystack<'_>) -> Near {
    Near {
        version: haystack.text().version(),
        numbers: Vec::new(),
        lines: Vec::new(),
        relation: Relation::Head,
        total: haystack.lines().len(),
    }
}

/// What to show of the file to somebody whose `wanted` lines are not in it and whose `new` lines would
/// have taken their place.
#[must_use]
pub fn near(haystack: &Haystack<'_>, wanted: &[&[u8]], new: &[&[u8]]) -> Near {
    let lines = haystack.lines();
    let total = lines.len();
    let shown = |from: usize, count: usize, relation: Relation| {
        let range = from..(from + count).min(total);
        Near {
            version: haystack.text().version(),
            numbers: range.clone().map(|i| i + 1).collect(),
            lines: range.map(|i| lossy(lines.content(i))).collect(),
            relation,
            total,
        }
    };
    if let Some(at) = stands_at(haystack, new) {
        return shown(at, new.len().min(SHOWN_NEAR), Relation::AlreadyThere);
    }
    match vote(haystack, wanted) {
        Some(at) => {
            let difference = first_difference(haystack, wanted, at);
            shown(at, wanted.len().min(SHOWN_NEAR), difference)
        }
        None if total <= SHOWN_WHOLE => shown(0, total, Relation::WholeFile),
        None => shown(0, SHOWN_HEAD, Relation::Head),
    }
}

fn lossy(bytes: &[u8]) -> String {
    if bytes.len() <= SHOWN_LINE {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut end = SHOWN_LINE;
    // Not inside a character.
    while bytes[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    alloc::format!("{}... ({} bytes)", String::from_utf8_lossy(&bytes[..end]), bytes.len())
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Where these lines stand as they are, if they say anything at all.
fn stands_at(haystack: &Haystack<'_>, new: &[&[u8]]) -> Option<usize> {
    let lines = haystack.lines();
    let telling = new.iter().position(|line| trimmed(line).len() > 3)?;
    let last_start = lines.len().checked_sub(new.len())?;
    (0..=last_start)
        .filter(|at| lines.content(at + telling) == new[telling])
        .take(COMMON)
        .find(|at| new.iter().enumerate().all(|(i, line)| lines.content(at + i) == *line))
}

/// The line at which a block like this most likely starts.
fn vote(haystack: &Haystack<'_>, wanted: &[&[u8]]) -> Option<usize> {
    let lines = haystack.lines();
    let mut where_wanted: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (i, line) in wanted.iter().take(VOTING).enumerate() {
        if trimmed(line).len() > 1 {
            where_wanted.entry(trimmed(line)).or_default().push(i);
        }
    }
    let mut hits: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for i in 0..lines.len() {
        let line = trimmed(lines.content(i));
        if let Some((&line, _)) = where_wanted.get_key_value(line) {
            let of_line = hits.entry(line).or_default();
            if of_line.len() <= COMMON {
                of_line.push(i);
            }
        }
    }
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for (line, in_file) in hits.iter().filter(|(_, in_file)| in_file.len() <= COMMON) {
        let weight = (1_000 * line.len().min(40)) / in_file.len();
        for &at in in_file {
            for &i in &where_wanted[line] {
                *votes.entry(at.saturating_sub(i)).or_default() += weight;
            }
        }
    }
    // The earliest of equals, so that the answer is stable.
    votes.into_iter().rev().max_by_key(|&(_, weight)| weight).map(|(at, _)| at)
}

fn first_difference(haystack: &Haystack<'_>, wanted: &[&[u8]], at: usize) -> Relation {
    let lines = haystack.lines();
    let differs = |i: &usize| at + i >= lines.len() || lines.content(at + i) != wanted[*i];
    let i = (0..wanted.len()).find(differs).unwrap_or(0);
    let file = if at + i < lines.len() { lines.content(at + i) } else { b"" };
    let request = wanted.get(i).copied().unwrap_or(b"");
    Relation::Nearest {
        line: at + i + 1,
        file: lossy(file),
        request: lossy(request),
        difference: name_difference(file, request, at + i >= lines.len()),
    }
}

fn name_difference(file: &[u8], request: &[u8], past_end: bool) -> &'static str {
    let indent = |line: &[u8]| line.len() - line.trim_ascii_start().len();
    if past_end {
        "the file ends before it"
    } else if file == request {
        "the lines are there, but not where the request has them: look at its @@ line, its *** End of File, or \
         where in a line its text begins and ends"
    } else if trimmed(file) == trimmed(request) {
        match (&file[..indent(file)], &request[..indent(request)]) {
            (a, b) if a == b => "white space at the end of the line",
            (a, b) if a.contains(&b'\t') != b.contains(&b'\t') => {
                "the indentation has tabs on one side and spaces on the other"
            }
            _ => "the indentation",
        }
    } else if trimmed(file).is_empty() {
        "the file has a blank line there"
    } else if trimmed(request).is_empty() {
        "the request has a blank line there"
    } else {
        "the words"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::contents;
    use crate::text::Text;

    fn ask(file: &str, wanted: &str, new: &str) -> Near {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        near(&Haystack::new(&text), &contents(wanted.as_bytes()), &contents(new.as_bytes()))
    }

    #[test]
    fn shows_the_place_with_the_rarest_equal_lines() {
        let near = ask("}\nfn a() {\n}\nfn b() {\n\tlet x = 1;\n}\n", "fn b() {\n    let x = 1;\n}\n", "");
        assert_eq!(near.numbers, [4, 5, 6]);
        let Relation::Nearest { line, difference, .. } = near.relation else { panic!("{near:?}") };
        assert_eq!((line, difference), (5, "the indentation has tabs on one side and spaces on the other"));
    }

    #[test]
    fn says_when_the_new_text_is_already_there() {
        let near = ask("a\nlet y = 2;\nb\n", "let x = 1;\n", "let y = 2;\n");
        assert_eq!((near.relation, near.numbers), (Relation::AlreadyThere, alloc::vec![2]));
    }

    #[test]
    fn shows_a_short_file_whole_when_nothing_is_near() {
        assert_eq!(ask("a\nb\n", "zzz", "").relation, Relation::WholeFile);
    }
}
