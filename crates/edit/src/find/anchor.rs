//! Anchors (`@@` lines), each of which narrows the search to the block that it opens.
//!
//! An anchor is a whole line of the file, whatever its outer white space, or else a part of lines that open a block, from
//! word to word. Its block ends before the next line that is indented no deeper and does not continue it, and with the
//! block of the anchor before it. The hunk may begin with the anchor line itself. Where the block lacks the hunk, the
//! caller asks for the block that the language gives to that line ([`SearchScope::anchor_lines`]).
//!
//! Models also write the line that git shows as a hunk's function: the nearest one above that begins with a letter. If
//! the block has no match, [`SearchScope::sections`] reach to the next such line.
//!
//! An anchor that is in no line of the file narrows nothing: then at least two lines of the hunk must make it unique in
//! the whole file, and the answer says so.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::block::{has_substance, indent, is_blank};
use super::{Budget, Haystack};
use crate::problem::Kind;

/// The lines on which a hunk may start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchScope {
    /// The zero-based lines on which the hunk may start; sorted and disjoint.
    pub starts: Vec<Range<usize>>,
    /// The lines equal to the innermost anchor; empty if there is no anchor or it is not in the file.
    pub anchor_lines: Vec<usize>,
    /// Whether the innermost anchor is only a part of these lines.
    pub is_part: bool,
    /// The anchors that are in no line of the file.
    pub unknown: Vec<String>,
    /// The lines from each of `anchor_lines` to the next one that could head another section.
    pub sections: Vec<Range<usize>>,
}

/// Narrows the search by these anchors, outermost first.
pub fn search_scope(
    haystack: &Haystack<'_>,
    anchors: &[String],
    budget: &Budget,
) -> Result<SearchScope, Kind> {
    let lines = haystack.lines();
    let mut scope = SearchScope { starts: vec![0..lines.len()], ..SearchScope::default() };
    for anchor in anchors {
        budget.spend(lines.len())?;
        let wanted = anchor.trim().as_bytes();
        let in_scope = |is_it: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
            scope.starts.iter().cloned().flatten().filter(|&i| is_it(lines.content(i).trim_ascii())).collect()
        };
        let mut found = in_scope(&|line| line == wanted);
        scope.is_part = found.is_empty() && has_substance(wanted);
        if scope.is_part {
            let finder = memmem::Finder::new(wanted);
            found = in_scope(&|line| is_part(line, &finder));
            found.retain(|&line| opens_block(haystack, line));
        }
        if found.is_empty() {
            scope.unknown.push(anchor.to_string());
            scope.anchor_lines.clear();
            scope.sections.clear();
            continue;
        }
        let outer = |line: usize| {
            scope.starts.iter().find(|range| range.contains(&line)).map_or(line, |range| range.end)
        };
        let starts = reaches(&found, budget, |line| block_end(haystack, line).min(outer(line)))?;
        let section_end = |line: usize| end_of(haystack, line, heads_a_section);
        scope.sections = reaches(&found, budget, |line| section_end(line).min(outer(line)))?;
        scope.starts = starts;
        scope.anchor_lines = found;
    }
    Ok(scope)
}

/// Returns the ranges from each of these lines to its end.
fn reaches(
    found: &[usize],
    budget: &Budget,
    end: impl Fn(usize) -> usize,
) -> Result<Vec<Range<usize>>, Kind> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for &line in found {
        let end = end(line);
        budget.spend(end - line)?;
        match merged.last_mut() {
            Some(last) if last.end >= line => last.end = last.end.max(end),
            _ => merged.push(line..end),
        }
    }
    Ok(merged)
}

/// Returns whether a line has this text, from the beginning or end of a word to another.
fn is_part(line: &[u8], finder: &memmem::Finder<'_>) -> bool {
    let text = finder.needle();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    finder.find_iter(line).any(|at| {
        let (before, after) = (&line[..at], &line[at + text.len()..]);
        !(is_word(before.last()) && is_word(text.first()) || is_word(text.last()) && is_word(after.first()))
    })
}

/// Returns whether a line opens a block: deeper lines follow, or a brace.
fn opens_block(haystack: &Haystack<'_>, line: usize) -> bool {
    let lines = haystack.lines();
    let next = (line + 1..lines.len()).map(|at| lines.content(at)).find(|next| !is_blank(next));
    let depth = indent(lines.content(line)).len();
    next.is_some_and(|next| indent(next).len() > depth || next.trim_ascii().starts_with(b"{"))
}

/// Returns the end of the block that `line` opens. Braces, brackets of the signature, preprocessor lines and comments
/// continue it though they are indented no deeper, and so do the items of a list below a key, and labels inside of braces.
fn block_end(haystack: &Haystack<'_>, line: usize) -> usize {
    let anchor = haystack.lines().content(line).trim_ascii();
    let (is_key, mut in_braces) = (anchor.ends_with(b":"), anchor.ends_with(b"{"));
    let is_end = |text: &[u8]| {
        let continues = match text[0] {
            b'{' | b')' | b']' | b'#' => true,
            b'-' => is_key,
            _ => in_braces && is_label(text),
        };
        in_braces |= continues && (text[0] == b'{' || text.ends_with(b"{"));
        !continues
    };
    end_of(haystack, line, is_end)
}

/// Returns the next line that is indented no deeper than `line`, and whose text is an end.
fn end_of(haystack: &Haystack<'_>, line: usize, mut is_end: impl FnMut(&[u8]) -> bool) -> usize {
    let lines = haystack.lines();
    let depth = indent(lines.content(line)).len();
    let mut ends = |i: &usize| {
        let content = lines.content(*i);
        !is_blank(content) && indent(content).len() <= depth && is_end(content.trim_ascii())
    };
    let end = (line + 1..lines.len()).find(|i| ends(i)).unwrap_or(lines.len());
    // The hunk may also follow an anchor that opens no block.
    end.max((line + 2).min(lines.len()))
}

/// Returns whether a line is a label to jump to, as `out:`.
fn is_label(text: &[u8]) -> bool {
    text.strip_suffix(b":").is_some_and(|name| name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'))
}

/// Returns whether git would take a line with this text for the head of a section.
fn heads_a_section(text: &[u8]) -> bool {
    matches!(text[0], b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::FindLimits;
    use crate::text::Text;

    fn narrowed(file: &str, anchors: &[&str]) -> SearchScope {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        let anchors: Vec<String> = anchors.iter().map(|a| (*a).into()).collect();
        search_scope(&Haystack::new(&text), &anchors, &Budget::new(&FindLimits::default())).unwrap()
    }

    #[test]
    fn a_block_ends_at_the_next_line_indented_no_deeper() {
        let file = "def f():\n    a\n\n    b\ndef g():\n    a\n";
        assert_eq!(narrowed(file, &["def g():"]).starts, [4..6]);
        assert_eq!(narrowed(file, &["def f():"]).starts, [0..4]);
    }

    #[test]
    fn braces_brackets_labels_and_preprocessor_lines_do_not_end_it() {
        let file = "int f(\n  int a\n)\n{\n#ifdef X\n  x;\n#endif\nout:\n  y;\n}\nint g;\n";
        assert_eq!(narrowed(file, &["int f("]).starts, [0..9]);
        assert_eq!(narrowed("int f() {\n  x;\nout:\n  y;\n}\n", &["int f() {"]).starts, [0..4]);
    }

    #[test]
    fn a_key_and_a_target_end_the_block_of_another() {
        let file = "jobs:\n  build:\n    a: 1\n\n# Other.\nother:\n  build:\n    a: 1\n";
        assert_eq!(narrowed(file, &["jobs:"]).starts, [0..5]);
        assert_eq!(narrowed(file, &["other:", "build:"]).starts, [6..8]);
        let file = "build:\n\techo 1\n\ntest:\n\techo 1\n";
        assert_eq!(narrowed(file, &["build:"]).starts, [0..3]);
        assert_eq!(narrowed("steps:\n- a: 1\n  b: 2\n- c\nenv:\n- d\n", &["steps:"]).starts, [0..4]);
        assert_eq!(narrowed("if a:\n  x\nelse:\n  x\n", &["if a:"]).starts, [0..2]);
    }

    #[test]
    fn no_block_reaches_out_of_another() {
        let file = "def a():\n    # limit\n    x = 1\n\ndef b():\n    x = 2\n# other\n";
        assert_eq!(narrowed(file, &["# limit"]).starts, [1..3]);
        let file = "class A:\n  x = [\n  1, 2\n]\nclass B:\n  y\n";
        assert_eq!(narrowed(file, &["class A:", "1, 2"]).starts, [2..4]);
    }

    #[test]
    fn a_part_of_a_line_that_ends_at_words_is_an_anchor() {
        let file = "def load(path):\n  a\ndef loader():\n  a\n";
        assert_eq!(narrowed(file, &["def load"]).starts, [0..2]);
        assert_eq!(narrowed(file, &["def lo"]).unknown, ["def lo"]);
        assert_eq!(narrowed("x = 1:\n  y = 1\n", &["= 1:"]).unknown, ["= 1:"], "it says too little");
        assert_eq!(narrowed("x = load(1)\ny\n", &["load(1)"]).unknown, ["load(1)"], "it opens no block");
    }

    #[test]
    fn stacked_anchors_narrow_one_after_another() {
        let file = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n";
        let scope = narrowed(file, &["class B:", "def f():"]);
        assert_eq!((scope.starts, scope.anchor_lines), (vec![4..6], vec![4]));
    }

    #[test]
    fn a_section_reaches_to_the_next_line_that_could_head_one() {
        let file = "- a\n- b\n\n- c\nText\n- b\n";
        assert_eq!(narrowed(file, &["- a"]).starts, [0..2]);
        assert_eq!(narrowed(file, &["- a"]).sections, [0..4]);
    }

    #[test]
    fn an_unknown_anchor_narrows_nothing() {
        let scope = narrowed("a\nb\n", &["nowhere"]);
        assert_eq!((scope.starts, scope.unknown.len()), (vec![0..2], 1));
    }
}
