//! Traversal of the nodes of a tree, in order.

use std::iter;

use tree_sitter::{Node, Tree};

/// Walks a tree in preorder, without the children where `enter` is false. It does not recurse: trees can be deep.
pub(crate) fn walk<'t>(tree: &'t Tree, enter: impl Fn(&Node<'t>) -> bool) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = tree.walk();
    let mut ended = false;
    iter::from_fn(move || {
        if ended {
            return None;
        }
        let node = cursor.node();
        if !(enter(&node) && cursor.goto_first_child()) {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    ended = true;
                    break;
                }
            }
        }
        Some(node)
    })
}

/// Returns the tokens of a tree, in order.
pub(crate) fn leaves(tree: &Tree) -> impl Iterator<Item = Node<'_>> {
    walk(tree, |_| true).filter(|node| node.child_count() == 0)
}
