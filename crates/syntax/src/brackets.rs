//! Search for unmatched brackets.
//!
//! A grammar reports an unclosed bracket wherever the text stops making sense, often hundreds of lines below. Matching
//! the brackets alone, and comparing the indentation of their lines, comes nearer.

use std::cmp::Ordering;
use std::ops::Range;

use tree_sitter::Tree;

use crate::tree::leaves;

/// An unmatched bracket.
#[derive(Debug, Clone)]
pub(crate) struct Single {
    pub(crate) at: Range<usize>,
    pub(crate) opens: bool,
}

/// Returns the unmatched brackets, with those first that the indentation points to.
///
/// Only tokens count: brackets in strings and comments do not.
pub(crate) fn singles(tree: &Tree, text: &[u8]) -> Vec<Single> {
    let mut open: Vec<(u8, Range<usize>)> = Vec::new();
    // How many open brackets wait for each closing one, so that `open` is searched only if there is one to find.
    let mut awaited = [0_usize; 256];
    let mut singles = Vec::new();
    let mut odd_pairs = OddPairs::default();
    for leaf in leaves(tree).filter(|leaf| !leaf.is_named() && !leaf.is_missing()) {
        let at = leaf.byte_range();
        let token = leaf.kind().as_bytes();
        if let Some(partner) = token.last().copied().and_then(partner) {
            awaited[usize::from(partner)] += 1;
            open.push((partner, at));
        } else if let &[bracket @ (b')' | b']' | b'}')] = token {
            let is_awaited = awaited[usize::from(bracket)] > 0;
            let at_partner = || open.iter().rposition(|(partner, _)| *partner == bracket);
            match is_awaited.then(at_partner).flatten() {
                None => singles.push(Single { at, opens: false }),
                Some(partner) => {
                    open[partner..].iter().for_each(|(partner, _)| awaited[usize::from(*partner)] -= 1);
                    singles.extend(open.drain(partner + 1..).map(|(_, at)| Single { at, opens: true }));
                    if let Some((_, opening)) = open.pop() {
                        odd_pairs.see(text, opening, at);
                    }
                }
            }
        }
    }
    singles.extend(open.into_iter().map(|(_, at)| Single { at, opens: true }));
    odd_pairs.put_first(singles)
}

/// Returns the closing bracket for an opening one.
fn partner(opening: u8) -> Option<u8> {
    Some(match opening {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => return None,
    })
}

/// The first pairs whose lines are indented differently, so that one of the two probably belongs to another bracket.
#[derive(Default)]
struct OddPairs {
    unclosed: Option<Range<usize>>,
    unopened: Option<Range<usize>>,
}

impl OddPairs {
    fn see(&mut self, text: &[u8], opening: Range<usize>, closing: Range<usize>) {
        let Some(here) = indentation_alone(text, closing.start) else { return };
        match here.cmp(&indentation(text, opening.start)) {
            Ordering::Less => _ = self.unclosed.get_or_insert(opening),
            Ordering::Greater => _ = self.unopened.get_or_insert(closing),
            Ordering::Equal => {}
        }
    }

    /// Puts the suspects before the unmatched brackets, if one of their kind is unmatched: indentation alone proves
    /// nothing.
    fn put_first(self, singles: Vec<Single>) -> Vec<Single> {
        let known = |opens| singles.iter().any(|single| single.opens == opens);
        let unclosed = self.unclosed.filter(|_| known(true)).map(|at| Single { at, opens: true });
        let unopened = self.unopened.filter(|_| known(false)).map(|at| Single { at, opens: false });
        unclosed.into_iter().chain(unopened).chain(singles).collect()
    }
}

/// Returns how many bytes of white space begin the line that contains this offset.
fn indentation(text: &[u8], at: usize) -> usize {
    let line = line_start(text, at);
    text[line..at].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the indentation of the line if nothing but white space stands before this offset.
fn indentation_alone(text: &[u8], at: usize) -> Option<usize> {
    let line = line_start(text, at);
    text[line..at].iter().all(u8::is_ascii_whitespace).then_some(at - line)
}

fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}
