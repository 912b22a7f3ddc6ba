//! Reads notebooks, and refuses those whose cells could be taken for something else than they are.

use std::collections::BTreeSet;

use super::outputs::{joined, summary, text as text_of};
use super::style::Style;
use super::{Cell, CellKind, Notebook, field};
use crate::fault::Unread;
use crate::json;
use crate::node::{Data, Entry, Kind, Node};

pub(super) fn read(text: &str) -> Result<Notebook<'_>, Unread> {
    let top = json::read_strict(text)?;
    let refuse = |why: &str| Unread::at(text, top.range.start, why);
    let Kind::Map(entries, _) = &top.kind else { return Err(refuse("it is JSON, but no notebook")) };
    let own = |entry: &&Entry| ["cells", "nbformat", "nbformat_minor"].contains(&entry.key.as_str());
    check_keys(text, entries.iter().filter(own), "the notebook")?;
    check_version(text, &top)?;
    let list = field(&top, "cells").ok_or_else(|| refuse("it has no list of cells, so it is no notebook"))?;
    let Kind::List(nodes, _) = &list.kind else {
        return Err(Unread::at(text, list.range.start, "its cells are no list"));
    };
    let mut cells = Vec::new();
    let mut ids = BTreeSet::new();
    for (position, node) in nodes.iter().enumerate() {
        let cell = cell(text, position, node)?;
        if let Some(id) = cell.id.clone()
            && !ids.insert(id.clone())
        {
            let why = format!("the cell at index {position} has the id {id:?} of another cell");
            return Err(Unread::at(text, node.range.start, &why));
        }
        cells.push(cell);
    }
    let minor = field(&top, "nbformat_minor").and_then(whole).unwrap_or(0);
    let style = Style::read(text, &top, list);
    Ok(Notebook { text, has_ids: minor >= 5, cells, style, list: list.clone() })
}

fn check_version(text: &str, top: &Node) -> Result<(), Unread> {
    let refuse = |why: &str| Err(Unread::at(text, top.range.start, why));
    match field(top, "nbformat").and_then(whole) {
        Some(4) => Ok(()),
        Some(0..4) => refuse(
            "it is of an nbformat before 4, whose cells are in worksheets; Jupyter writes it as nbformat 4 when it saves it",
        ),
        Some(other) => refuse(&format!("it is of nbformat {other}, and only 4 is known")),
        None => refuse("it has no number as nbformat, so it is no notebook"),
    }
}

fn whole(node: &Node) -> Option<u64> {
    match &node.kind {
        Kind::Scalar(Data::Number(number), _) => number.parse().ok(),
        _ => None,
    }
}

/// Refuses a key that comes twice: programs differ in which one they take.
fn check_keys<'n>(text: &str, entries: impl Iterator<Item = &'n Entry>, place: &str) -> Result<(), Unread> {
    let mut keys = BTreeSet::new();
    for Entry { key, key_range, .. } in entries {
        if !keys.insert(key) {
            return Err(Unread::at(text, key_range.start, &format!("{place} has the key {key:?} twice")));
        }
    }
    Ok(())
}

fn cell(text: &str, position: usize, node: &Node) -> Result<Cell, Unread> {
    let place = format!("the cell at index {position}");
    let refuse = |node: &Node, why: &str| Unread::at(text, node.range.start, &format!("{place} {why}"));
    let Kind::Map(entries, _) = &node.kind else { return Err(refuse(node, "is no object")) };
    check_keys(text, entries.iter(), &place)?;
    let kind = field(node, "cell_type").ok_or_else(|| refuse(node, "has no cell_type"))?;
    let kind = text_of(kind)
        .and_then(CellKind::from_name)
        .ok_or_else(|| refuse(kind, "has a cell_type other than code, markdown and raw"))?;
    let id = match field(node, "id") {
        Some(id) => Some(text_of(id).ok_or_else(|| refuse(id, "has an id that is no string"))?.to_owned()),
        None => None,
    };
    let written = field(node, "source").ok_or_else(|| refuse(node, "has no source"))?;
    let source = joined(written)
        .ok_or_else(|| refuse(written, "has a source that is neither a string nor a list of strings"))?;
    if let Some(outputs) = field(node, "outputs")
        && !matches!(outputs.kind, Kind::List(..))
    {
        return Err(refuse(outputs, "has outputs that are no list"));
    }
    Ok(Cell {
        position,
        id,
        kind,
        source,
        source_range: written.range.clone(),
        range: node.range.clone(),
        outputs: (kind == CellKind::Code).then(|| summary(node)),
    })
}
