//! Which cell is meant, and where one goes.

use crate::distance::distance;

/// How many ids are named that are like the one that was asked for.
const NEAREST: usize = 3;

/// Which cell is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellAddress {
    /// The one with this id, exactly.
    Id(String),
    /// The one at this position, counted from 0.
    Index(usize),
}

/// Where a cell goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellPlace {
    /// Before this cell.
    Before(CellAddress),
    /// Behind this cell.
    After(CellAddress),
    /// There: this is its position then. As many as there are cells means the end.
    At(usize),
}

impl CellAddress {
    /// Returns the position of the cell among cells of these ids.
    pub(super) fn find(&self, ids: &[Option<&str>]) -> Option<usize> {
        match self {
            Self::Id(asked) => ids.iter().position(|id| *id == Some(asked)),
            Self::Index(position) => Some(*position).filter(|position| *position < ids.len()),
        }
    }

    /// Returns the ids that are most like the one that is asked for.
    pub(super) fn nearest(&self, ids: &[Option<&str>]) -> Vec<String> {
        match self {
            Self::Id(asked) => nearest(asked, ids.iter().copied().flatten()),
            Self::Index(_) => Vec::new(),
        }
    }
}

/// Returns the ids that differ least from one.
fn nearest<'i>(asked: &str, ids: impl Iterator<Item = &'i str>) -> Vec<String> {
    let mut ids: Vec<(usize, &str)> = ids.map(|id| (distance(asked, id), id)).collect();
    // Those of the same distance stay in the order of the cells.
    ids.sort_by_key(|(distance, _)| *distance);
    ids.into_iter().take(NEAREST).map(|(_, id)| id.to_owned()).collect()
}
