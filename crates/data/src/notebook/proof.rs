//! Reads what changes have come to, and compares it with what was meant.

use super::draft::Draft;
use super::{Cell, CellKind, Notebook, field};
use crate::node::{Data, Entry, Kind, Node};

impl Notebook<'_> {
    /// Returns whether a text is this notebook with these cells, and every other byte of it as it was.
    pub(super) fn is_proven(&self, drafts: &[Draft], text: &str) -> bool {
        let Ok(new) = Notebook::read(text) else { return false };
        let (before, behind) = (&self.text[..self.list.range.start], &self.text[self.list.range.end..]);
        text[..new.list.range.start] == *before
            && text[new.list.range.end..] == *behind
            && new.cells.len() == drafts.len()
            && drafts.iter().zip(&new.cells).all(|(draft, cell)| self.is_meant(draft, &new, cell))
    }

    fn is_meant(&self, draft: &Draft, new: &Notebook<'_>, cell: &Cell) -> bool {
        let node = new.list.child(cell.position);
        let origin = draft.origin.map(|origin| (&self.cells[origin], self.list.child(origin)));
        if let Some((old, _)) = origin
            && draft.is_as(old)
        {
            return new.text[cell.range.clone()] == self.text[old.range.clone()];
        }
        let is_asked = cell.kind == draft.kind && cell.source == draft.source && cell.id == draft.id;
        let is_code = draft.kind == CellKind::Code;
        let is_empty = |key| match field(node, key).map(Node::data) {
            Some(Data::Null) => is_code && key == "execution_count",
            Some(Data::List(outputs)) => is_code && key == "outputs" && outputs.is_empty(),
            Some(_) => false,
            None => true,
        };
        let Some((old, old_node)) = origin else {
            let keys = 3 + usize::from(draft.id.is_some()) + if is_code { 2 } else { 0 };
            let metadata = field(node, "metadata").map(Node::data);
            return is_asked
                && node.len() == keys
                && metadata == Some(Data::Map(Vec::new()))
                && is_empty("outputs")
                && is_empty("execution_count");
        };
        // Outputs are as they were, unless they were cleared or the cell was or is no code.
        let keeps_outputs = old.kind == draft.kind && !(is_code && draft.is_cleared)
            || !is_code && old.kind != CellKind::Code;
        let kept = |entry: &&Entry| match entry.key.as_str() {
            "cell_type" | "source" => false,
            "outputs" | "execution_count" => keeps_outputs,
            "attachments" => !(is_code && old.kind != CellKind::Code),
            _ => true,
        };
        let old_entries = entries(old_node).iter().filter(kept).map(|entry| &self.text[entry.range()]);
        let new_entries = entries(node).iter().filter(kept).map(|entry| &new.text[entry.range()]);
        is_asked
            && old_entries.eq(new_entries)
            && (keeps_outputs || is_empty("outputs") && is_empty("execution_count"))
    }
}

fn entries(node: &Node) -> &[Entry] {
    match &node.kind {
        Kind::Map(entries, _) => entries,
        _ => &[],
    }
}
