//! Why cells cannot be changed.

use super::CellAddress;

/// Why a cell cannot be found or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellFault {
    /// There is no such cell.
    NoCell {
        /// The address.
        address: CellAddress,
        /// Ids that are like the one that was asked for, the most alike first.
        nearest: Vec<String>,
        /// How many cells there are.
        count: usize,
    },
    /// There is no such place for a cell.
    NoPlace {
        /// The position.
        position: usize,
        /// How many cells there are, without the one that moves.
        count: usize,
    },
    /// It is so already: the source, the kind or the place is this, or there are no outputs to clear.
    Same(Already),
    /// The cell has attachments, which code cells have not: they would be lost.
    Attachments,
    /// The text would not have the cells that were asked for.
    Breaks,
}

/// What is so already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Already {
    /// The source is this text.
    Source,
    /// It is of this kind.
    Kind,
    /// It stands there.
    Place,
    /// There are no outputs to clear.
    Outputs,
}
