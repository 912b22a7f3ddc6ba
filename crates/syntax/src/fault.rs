//! Choice of the one error to report: what is wrong and in which line, for a tree that may have many errors.

use std::iter;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::Language;
use crate::brackets::{self, Single};
use crate::python;
use crate::tree::walk;

/// How many characters of the text near an error are shown.
const SHOWN: usize = 40;

pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) what: String,
    /// Whether the error is an unmatched bracket, which is strong evidence.
    pub(crate) is_bracket: bool,
}

/// Returns whether the syntax is sound, of a text that was sound before these parts changed, if any are given.
pub(crate) fn is_whole(
    language: Language,
    tree: &Tree,
    text: &[u8],
    changed: Option<&[Range<usize>]>,
) -> bool {
    !tree.root_node().has_error() && misindented(language, tree, text, changed).is_none()
}

/// Finds the fault of `after`, if there is one, in the lines that `before` does not have, since the rest was sound.
pub(crate) fn find(language: Language, tree: &Tree, before: &[u8], after: &[u8]) -> Option<Fault> {
    if !tree.root_node().has_error() {
        let (at, what) = misindented(language, tree, after, None)?;
        return Some(Fault { line: line(after, at), what: what.to_owned(), is_bracket: false });
    }
    let changed = changed(before, after);
    if language.pairs_brackets() {
        let singles = brackets::singles(tree, after);
        let within = |at: &Range<usize>| changed.start <= at.start && at.start < changed.end;
        if let Some(single) = singles.iter().find(|single| within(&single.at)).or(singles.first()) {
            return Some(of_bracket(single, after));
        }
    }
    let errors =
        || errors(tree).filter(|node| node.start_byte() < changed.end && changed.start <= node.end_byte());
    let Some(error) = errors().find(Node::is_missing).or_else(|| errors().next()) else {
        return Some(unexpected(changed.start, after));
    };
    Some(match error.is_missing() {
        true => missing(&error, after),
        false => unexpected(error.start_byte().max(changed.start), after),
    })
}

fn misindented(
    language: Language,
    tree: &Tree,
    text: &[u8],
    changed: Option<&[Range<usize>]>,
) -> Option<(usize, &'static str)> {
    match language {
        Language::Python => python::misindented(tree, text, changed),
        _ => None,
    }
}

fn of_bracket(single: &Single, text: &[u8]) -> Fault {
    let bracket = String::from_utf8_lossy(&text[single.at.clone()]);
    let what = match single.opens {
        true => format!("`{bracket}` is not closed"),
        false => format!("`{bracket}` closes nothing"),
    };
    Fault { line: line(text, single.at.start), what, is_bracket: true }
}

fn missing(node: &Node<'_>, text: &[u8]) -> Fault {
    let kind = node.kind().replace('_', " ");
    let what = match node.is_named() {
        true => format!("something is missing: {kind}"),
        false => format!("something is missing: `{}`", node.kind()),
    };
    Fault { line: line(text, node.start_byte()), what, is_bracket: false }
}

fn unexpected(at: usize, text: &[u8]) -> Fault {
    // An error may begin with the white space before it.
    let at = at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = text[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let near = String::from_utf8_lossy(&rest[..rest.len().min(4 * SHOWN)]);
    let near: String = near.trim_end().chars().take_while(|char| !char.is_control()).take(SHOWN).collect();
    let what = match (near.is_empty(), at == text.len()) {
        (false, _) => format!("unexpected text near `{near}`"),
        (true, true) => "unexpected end".to_owned(),
        (true, false) => "unexpected text".to_owned(),
    };
    Fault { line: line(text, at), what, is_bracket: false }
}

/// Returns the whole lines of `after` between its common prefix and its common suffix with `before`.
fn changed(before: &[u8], after: &[u8]) -> Range<usize> {
    let same = |(one, other): &(&u8, &u8)| one == other;
    let prefix = iter::zip(before, after).take_while(same).count();
    let suffix =
        iter::zip(before[prefix..].iter().rev(), after[prefix..].iter().rev()).take_while(same).count();
    let start = memchr::memrchr(b'\n', &after[..prefix]).map_or(0, |newline| newline + 1);
    let end = after.len() - suffix;
    let end = memchr::memchr(b'\n', &after[end..]).map_or(after.len(), |newline| end + newline + 1);
    start..end
}

fn line(text: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text[..at]).count()
}

/// Returns the nodes that are errors or stand for missing tokens, in order.
fn errors(tree: &Tree) -> impl Iterator<Item = Node<'_>> {
    walk(tree, Node::has_error).filter(|node| node.is_error() || node.is_missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_told_in_whole_lines() {
        assert_eq!(changed(b"one\ntwo\nthree\n", b"one\ntow\nthree\n"), 4..8);
        assert_eq!(changed(b"", b"one\ntwo"), 0..7);
        assert_eq!(changed(b"one\ntwo\n", b"one\n"), 4..4);
        assert_eq!(changed(b"aaaa", b"aa"), 0..2);
    }

    #[test]
    fn lines_begin_with_one() {
        assert_eq!([0, 1, 2].map(|at| line(b"a\nb", at)), [1, 1, 2]);
    }
}
