//! Rules that the grammar for Python does not check: blocks have statements, and statements the indentation of their
//! block.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::tree::walk;

/// Returns where a tree without errors breaks the rules of indentation, and how. With parts of the text outside of which
/// nothing has changed since it broke none, only they are looked at: each rule concerns a node and its children alone.
pub(crate) fn misindented(
    tree: &Tree,
    text: &[u8],
    changed: Option<&[Range<usize>]>,
) -> Option<(usize, &'static str)> {
    let may_have_changed = |node: &Node<'_>| {
        let touches = |part: &Range<usize>| node.start_byte() <= part.end && part.start <= node.end_byte();
        changed.is_none_or(|changed| changed.iter().any(touches))
    };
    let is_entered = |node: &Node<'_>| holds_blocks(node.kind()) && may_have_changed(node);
    walk(tree, is_entered).find_map(|node| match node.kind() {
        "module" => misaligned(&node, text, b""),
        "block" => block(&node, text),
        "elif_clause" | "else_clause" | "except_clause" | "except_group_clause" | "finally_clause" => {
            clause(&node, text)
        }
        _ => None,
    })
}

/// Returns whether a node of this kind may contain blocks: most nodes are parts of expressions, which do not.
fn holds_blocks(kind: &str) -> bool {
    matches!(
        kind,
        "module"
            | "block"
            | "decorated_definition"
            | "class_definition"
            | "function_definition"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "for_statement"
            | "while_statement"
            | "try_statement"
            | "except_clause"
            | "except_group_clause"
            | "finally_clause"
            | "with_statement"
            | "match_statement"
            | "case_clause"
    )
}

fn block(node: &Node<'_>, text: &[u8]) -> Option<(usize, &'static str)> {
    let owner = node.parent()?;
    let Some(first) = statements(node).next() else {
        return Some((owner.start_byte(), "a block has no statement"));
    };
    // A block that follows its colon on the same line has no indentation.
    let own = alone(text, first)?;
    let around = indentation(text, owner.start_byte());
    if !(own.starts_with(around) && own.len() > around.len()) {
        return Some((first, "a block is not indented"));
    }
    misaligned(node, text, own)
}

/// Finds a statement that begins its line with an indentation other than its block's.
fn misaligned(node: &Node<'_>, text: &[u8], own: &[u8]) -> Option<(usize, &'static str)> {
    let odd = statements(node).find(|at| alone(text, *at).is_some_and(|indentation| indentation != own))?;
    Some((odd, "the indentation is not that of the block"))
}

/// Checks that an `else` or similar clause is indented like its statement.
fn clause(node: &Node<'_>, text: &[u8]) -> Option<(usize, &'static str)> {
    let own = alone(text, node.start_byte())?;
    let statement = node.parent().filter(|parent| parent.kind().ends_with("_statement"))?;
    let around = alone(text, statement.start_byte())?;
    (own != around).then_some((node.start_byte(), "the indentation is not that of the statement"))
}

/// Returns the offsets at which the statements of a block begin.
fn statements<'t>(block: &Node<'t>) -> impl Iterator<Item = usize> + use<'t> {
    let mut cursor = block.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while more {
            let node = cursor.node();
            more = cursor.goto_next_sibling();
            if node.is_named() && !node.is_extra() {
                return Some(node.start_byte());
            }
        }
        None
    })
}

/// Returns the white space that begins the line of this offset.
fn indentation(text: &[u8], at: usize) -> &[u8] {
    let line = before_in_line(text, at);
    let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &line[..length]
}

/// Returns the indentation if nothing else stands before this offset in its line.
fn alone(text: &[u8], at: usize) -> Option<&[u8]> {
    let line = before_in_line(text, at);
    (indentation(text, at).len() == line.len()).then_some(line)
}

/// Returns the text before this offset in its line. Python counts a form feed as the beginning of a line.
fn before_in_line(text: &[u8], at: usize) -> &[u8] {
    let start = memchr::memrchr3(b'\n', b'\r', 0x0c, &text[..at]).map_or(0, |end| end + 1);
    &text[start..at]
}
