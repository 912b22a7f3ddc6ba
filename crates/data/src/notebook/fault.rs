//! Why cells cannot be found.

use super::CellAddress;

/// Why a cell cannot be found.
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
}
