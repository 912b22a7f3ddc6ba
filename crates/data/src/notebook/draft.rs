//! A cell as it is to be: what several changes leave of it, before anything is written.

use super::{Cell, CellKind};

/// A cell as it is to be.
pub(super) struct Draft {
    /// Which cell of the notebook it was; `None` for a new one.
    pub(super) origin: Option<usize>,
    pub(super) id: Option<String>,
    pub(super) kind: CellKind,
    pub(super) source: String,
    /// Whether the outputs are cleared that the cell of the notebook has.
    pub(super) is_cleared: bool,
}

impl Draft {
    /// Makes a draft of a cell as it is.
    pub(super) fn from_cell(cell: &Cell) -> Self {
        Self {
            origin: Some(cell.position),
            id: cell.id.clone(),
            kind: cell.kind,
            source: cell.source.clone(),
            is_cleared: false,
        }
    }

    /// Returns whether it is as this cell of the notebook is.
    pub(super) fn is_as(&self, cell: &Cell) -> bool {
        let is_cleared = self.is_cleared && cell.kind == CellKind::Code;
        self.kind == cell.kind && self.source == cell.source && !is_cleared
    }
}
