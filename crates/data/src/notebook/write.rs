//! Cells written into the text of a notebook: new ones whole, and of the others just what changes.

use super::draft::Draft;
use super::sequence::{Item, Sequence, applied, changed, in_order};
use super::style::{Lines, Style};
use super::{CellKind, Notebook, source};
use crate::layout::{is_alone_before, line_indent};
use crate::node::{Entry, Kind};
use crate::pieces::Splice;

/// What nbformat has in code cells alone.
const OF_CODE: [(&str, &str); 2] = [("execution_count", "null"), ("outputs", "[]")];

impl Notebook<'_> {
    /// Returns what changes in the text if these are the cells.
    pub(super) fn splices(&self, drafts: &[Draft]) -> Vec<Splice> {
        let mut splices = Vec::new();
        let mut items = Vec::new();
        for (draft, stays) in drafts.iter().zip(staying(drafts)) {
            let Some(origin) = draft.origin else {
                items.push(Item::New(new_cell(&self.style, draft)));
                continue;
            };
            let own = in_order(self.cell_splices(draft, origin));
            if stays {
                splices.extend(own);
                items.push(Item::Kept(origin));
            } else {
                items.push(Item::New(applied(self.text, self.cells[origin].range.clone(), &own)));
            }
        }
        let style = &self.style;
        splices.extend(Sequence::new(self.text, &self.list, style, style.list.as_ref()).splices(&items));
        in_order(splices)
    }

    /// Returns what changes within a cell.
    fn cell_splices(&self, draft: &Draft, origin: usize) -> Vec<Splice> {
        let (cell, node) = (&self.cells[origin], self.list.child(origin));
        let Kind::Map(entries, _) = &node.kind else { return Vec::new() };
        if draft.is_as(cell) {
            return Vec::new();
        }
        // A cell that becomes code has put out nothing, whatever stands there.
        let is_empty = draft.kind == CellKind::Code && (draft.is_cleared || cell.kind != CellKind::Code);
        let mut splices = Vec::new();
        for Entry { key, key_range, value } in entries {
            let range = value.range.clone();
            match key.as_str() {
                "cell_type" if draft.kind != cell.kind => {
                    splices.extend(changed(self.text, range, format!("\"{}\"", draft.kind.name())));
                }
                "source" if draft.source != cell.source => {
                    let lines = self.source_lines(key_range.start);
                    let source = &draft.source;
                    splices.extend(source::splices(self.text, value, source, &self.style, lines.as_ref()));
                }
                "outputs" if is_empty && value.len() > 0 => {
                    splices.extend(changed(self.text, range, "[]".to_owned()));
                }
                "execution_count" if is_empty => {
                    splices.extend(changed(self.text, range, "null".to_owned()));
                }
                _ => {}
            }
        }
        if (draft.kind == CellKind::Code) != (cell.kind == CellKind::Code) {
            let items = self.keys(entries, draft.kind == CellKind::Code);
            let lines = self.style.cell.as_ref();
            splices.extend(Sequence::new(self.text, node, &self.style, lines).splices(&items));
        }
        splices
    }

    /// Returns the keys of a cell that has become code, or is code no more.
    fn keys(&self, entries: &[Entry], is_code: bool) -> Vec<Item> {
        let goes = |key: &str| match is_code {
            // It is empty: others are refused.
            true => key == "attachments",
            false => OF_CODE.iter().any(|(own, _)| *own == key),
        };
        let is_sorted = entries.is_sorted_by(|one, other| one.key < other.key);
        let mut items: Vec<(&str, Item)> = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| !goes(&entry.key))
            .map(|(at, entry)| (entry.key.as_str(), Item::Kept(at)))
            .collect();
        for (key, value) in OF_CODE {
            if !is_code || entries.iter().any(|entry| entry.key == key) {
                continue;
            }
            // Where Jupyter has it, unless this is of another writer.
            let at = items.iter().position(|(other, _)| is_sorted && *other > key).unwrap_or(items.len());
            items.insert(at, (key, Item::New(self.style.entry(key, value))));
        }
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// Returns how the lines of a source begin whose key is here.
    fn source_lines(&self, key: usize) -> Option<Lines> {
        let unit = self.style.cell.as_ref().map_or(" ", |lines| &lines.unit).to_owned();
        let outer = line_indent(self.text, key).to_owned();
        is_alone_before(self.text, key).then_some(Lines { outer, unit })
    }
}

/// Writes a cell as Jupyter does: its keys are in the order of the alphabet.
fn new_cell(style: &Style, draft: &Draft) -> String {
    let lines = style.cell.as_ref();
    let deeper = lines.map(Lines::deeper);
    let mut entries = vec![("cell_type", format!("\"{}\"", draft.kind.name()))];
    entries.push(("metadata", "{}".to_owned()));
    entries.push(("source", source::written(style, &draft.source, style.is_one_text, deeper.as_ref())));
    entries.extend(draft.id.iter().map(|id| ("id", format!("\"{id}\""))));
    if draft.kind == CellKind::Code {
        entries.extend(OF_CODE.map(|(key, value)| (key, value.to_owned())));
    }
    entries.sort_by_key(|(key, _)| *key);
    let entries: Vec<String> = entries.into_iter().map(|(key, value)| style.entry(key, &value)).collect();
    style.bracketed(["{", "}"], &entries, lines)
}

/// Says which cells stay where they stand: as many as are in their order still. The others move, or are new.
fn staying(drafts: &[Draft]) -> Vec<bool> {
    // For each length, where the row of cells ends that has the least last one; and for each cell the one before it in its row.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; drafts.len()];
    for (at, draft) in drafts.iter().enumerate() {
        let Some(origin) = draft.origin else { continue };
        let length = ends.partition_point(|(end, _)| *end < origin);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter].1);
        match ends.get_mut(length) {
            Some(end) => *end = (origin, at),
            None => ends.push((origin, at)),
        }
    }
    let mut stays = vec![false; drafts.len()];
    let mut next = ends.last().map(|(_, at)| *at);
    while let Some(at) = next {
        stays[at] = true;
        next = before[at];
    }
    stays
}
