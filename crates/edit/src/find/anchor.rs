//! Anchors (`@@` lines), each of which narrows the search to the block that it opens.
//!
//! An anchor is a whole line of the file, whatever its outer white space. Its block reaches to the next line that is
//! indented no deeper. Lines that only continue a block do not end it: an opening brace or a closing bracket of the
//! signature, a preprocessor line or comment (`#`), a label. The hunk may begin with the anchor line itself.
//!
//! Models also write the line that git shows as a hunk's function: the nearest one above that begins with a letter. If
//! the block has no match, [`SearchScope::sections`] reach to the next such line.
//!
//! An anchor that is no line of the file narrows nothing: then at least two lines of the hunk must make it unique in
//! the whole file, and the answer says so.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Budget, Haystack};
use crate::problem::Kind;

/// The lines on which a hunk may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchScope {
    /// The zero-based lines on which the hunk may start; sorted and disjoint.
    pub starts: Vec<Range<usize>>,
    /// The lines equal to the innermost anchor; empty if there is no anchor or it is not in the file.
    pub anchor_lines: Vec<usize>,
    /// The anchors that are no line of the file.
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
    let mut scope = SearchScope {
        starts: vec![0..lines.len()],
        anchor_lines: Vec::new(),
        unknown: Vec::new(),
        sections: Vec::new(),
    };
    for anchor in anchors {
        budget.spend(lines.len())?;
        let wanted = anchor.trim().as_bytes();
        let in_scope = scope.starts.iter().cloned().flatten();
        let found: Vec<usize> = in_scope.filter(|&i| lines.content(i).trim_ascii() == wanted).collect();
        if found.is_empty() {
            scope.unknown.push(anchor.to_string());
            scope.anchor_lines.clear();
            scope.sections.clear();
            continue;
        }
        scope.starts = reaches(haystack, &found, budget, |text| !continues(text))?;
        scope.sections = reaches(haystack, &found, budget, heads_a_section)?;
        scope.anchor_lines = found;
    }
    Ok(scope)
}

/// Returns the ranges from each of these lines to the end of its block.
fn reaches(
    haystack: &Haystack<'_>,
    found: &[usize],
    budget: &Budget,
    ends: fn(&[u8]) -> bool,
) -> Result<Vec<Range<usize>>, Kind> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for &line in found {
        let end = block_end(haystack, line, ends);
        budget.spend(end - line)?;
        match merged.last_mut() {
            Some(last) if last.end >= line => last.end = last.end.max(end),
            _ => merged.push(line..end),
        }
    }
    Ok(merged)
}

fn indentation(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Returns the end of the block of `line`: the next line indented no deeper for which `ends` is true.
fn block_end(haystack: &Haystack<'_>, line: usize, ends: fn(&[u8]) -> bool) -> usize {
    let lines = haystack.lines();
    let depth = indentation(lines.content(line));
    let is_end = |i: &usize| {
        let content = lines.content(*i);
        let text = content.trim_ascii();
        !text.is_empty() && indentation(content) <= depth && ends(text)
    };
    let end = (line + 1..lines.len()).find(is_end).unwrap_or(lines.len());
    // The hunk may also follow an anchor that opens no block.
    end.max((line + 2).min(lines.len()))
}

/// Returns whether a line continues the block before it though it is not indented.
fn continues(text: &[u8]) -> bool {
    let label = || {
        text.strip_suffix(b":")
            .is_some_and(|name| name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'))
    };
    matches!(text[0], b'{' | b')' | b']' | b'#') || label()
}

/// Returns whether git would take a line for the head of a section.
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
