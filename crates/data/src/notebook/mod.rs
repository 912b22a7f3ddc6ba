//! Jupyter notebooks (`.ipynb`, nbformat 4): their cells, and changes of these. No I/O.
//!
//! A notebook is read with the place of each cell. A change is made in the text alone, where the cell stands, so that every byte
//! of the other cells, of metadata and of outputs stays. Then the text is read again: unless it has just the cells that were
//! meant, nothing is changed.

mod address;
mod change;
mod draft;
mod fault;
mod outputs;
mod proof;
mod read;
mod sequence;
mod source;
mod style;
#[cfg(test)]
mod tests;
mod write;

use std::ops::Range;

pub use address::{CellAddress, CellPlace};
pub use change::CellChange;
pub use fault::{Already, CellFault};
pub use outputs::Image;

use crate::fault::Unread;
use crate::node::{Kind, Node};
use style::Style;

/// A notebook that was read from a text.
#[derive(Debug)]
pub struct Notebook<'a> {
    text: &'a str,
    /// The list of cells, as it stands in the text.
    list: Node,
    cells: Vec<Cell>,
    /// Whether cells have ids in this version of the format: 4.5 and later.
    has_ids: bool,
    style: Style,
}

/// A cell of a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Which one it is, counted from 0.
    pub position: usize,
    /// Its id, which cells have since nbformat 4.5.
    pub id: Option<String>,
    /// What it holds.
    pub kind: CellKind,
    /// Its source as one text, whether it is written as one or as a list of lines.
    pub source: String,
    /// Where the value of its source stands, in bytes.
    pub source_range: Range<usize>,
    /// Where the cell stands, braces included, in bytes.
    pub range: Range<usize>,
    /// What a code cell has put out, in a few words; `None` for other cells, which put out nothing.
    pub outputs: Option<String>,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Code, with outputs.
    Code,
    /// Text in Markdown.
    Markdown,
    /// Text that is passed on as it is.
    Raw,
}

impl CellKind {
    /// Returns the word that notebooks have for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }

    /// Returns the kind that this word names.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Code, Self::Markdown, Self::Raw].into_iter().find(|kind| kind.name() == name)
    }
}

impl<'a> Notebook<'a> {
    /// Reads a notebook of nbformat 4. The error says what is no notebook about the text: it is no JSON, it is of another
    /// nbformat, it has no list of cells, a key comes twice in a cell, or two cells have one id.
    pub fn read(text: &'a str) -> Result<Self, Unread> {
        read::read(text)
    }

    /// Returns the cells in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns whether its cells have ids: they do since nbformat 4.5.
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// Returns the cell of an address. The error has the nearest ids, and how many cells there are.
    pub fn find(&self, address: &CellAddress) -> Result<&Cell, CellFault> {
        let ids: Vec<Option<&str>> = self.cells.iter().map(|cell| cell.id.as_deref()).collect();
        position(address, &ids).map(|position| &self.cells[position])
    }

    /// Returns the images that the cell of a position has put out, in order.
    pub fn images(&self, position: usize) -> Vec<Image> {
        let is_cell = position < self.cells.len();
        if is_cell { outputs::images(self.list.child(position)) } else { Vec::new() }
    }
}

/// Finds the position of a cell among cells of these ids.
fn position(address: &CellAddress, ids: &[Option<&str>]) -> Result<usize, CellFault> {
    address.find(ids).ok_or_else(|| CellFault::NoCell {
        address: address.clone(),
        nearest: address.nearest(ids),
        count: ids.len(),
    })
}

/// Returns the value of a key.
fn field<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries, _) = &node.kind else { return None };
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}
